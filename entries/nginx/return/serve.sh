#!/bin/sh
# Becomes nginx with a configuration for `hello`: `sh serve.sh BUILD SCENARIO HOST PORT WORKERS`.
# With the one argument -v it shows nginx's version.
#
# Address and workers stand in the configuration, because nginx takes neither from its command line.
# It is written into BUILD, where nginx keeps its files as well.
set -eu
# Debian's folder of nginx is not on the search path of ordinary users.
PATH=$PATH:/usr/sbin

refuse() {
    echo "$1" >&2
    exit 2
}

# Refuses $2, which is called $1, unless it is a number from $3 to $4.
number() {
    case $2 in
        '' | *[!0-9]* | ??????*) refuse "$1 must be a number from $3 to $4, not $2" ;;
    esac
    if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
        refuse "$1 must be a number from $3 to $4, not $2"
    fi
}

if [ "$*" = -v ]; then
    exec nginx -v
fi
[ $# -eq 5 ] || refuse "usage: serve.sh BUILD SCENARIO HOST PORT WORKERS"
build=$1 scenario=$2 host=$3 port=$4 workers=$5
[ "$scenario" = hello ] || refuse "unknown scenario $scenario"
case $host in
    *[!0-9A-Fa-f.:]*) refuse "HOST must be an IPv4 or IPv6 address, not $host" ;;
    *:*) host="[$host]" ;;
    *[!0-9.]*) refuse "HOST must be an IPv4 or IPv6 address, not $host" ;;
esac
# nginx does not tell which port the kernel would have chosen.
number PORT "$port" 1 65535
number WORKERS "$workers" 1 1024
mkdir -p "$build"

cat >"$build/nginx-$port.conf" <<END
daemon off;
worker_processes $workers;
pid nginx-$port.pid;
error_log stderr;

events {
    worker_connections 16384;
}

http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    scgi_temp_path scgi;
    uwsgi_temp_path uwsgi;

    keepalive_requests 1000000000;

    server {
        listen $host:$port backlog=4096 reuseport;
        location / {
            default_type text/plain;
            return 200 "Hello world!";
        }
    }
}
END
exec nginx -p "$build/" -c "nginx-$port.conf" -e stderr
