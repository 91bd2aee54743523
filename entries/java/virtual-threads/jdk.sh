#!/bin/sh
# Finds a JDK that has virtual threads and becomes one of its programs: `sh jdk.sh java -version`.
# Without arguments it prints where the JDK is.
#
# Many systems have an older JDK as `java`, so it looks at JAVA_HOME, at the JDK on the search path
# and in Debian's folder of JDKs, in this order.
set -eu
least=21

# Prints the first number of the version of the JDK in folder $1, or 0 when there is none.
version() {
    number=0
    if [ -x "$1/bin/javac" ] && [ -r "$1/release" ]; then
        number=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
    fi
    echo "${number:-0}"
}

on_path=$(readlink -f "$(command -v javac || true)" || true)
for jdk in "${JAVA_HOME:-}" "${on_path%/bin/javac}" /usr/lib/jvm/*; do
    if [ "$(version "$jdk")" -ge "$least" ]; then
        if [ $# -eq 0 ]; then
            echo "$jdk"
            exit
        fi
        program=$1
        shift
        exec "$jdk/bin/$program" "$@"
    fi
done
echo "no JDK $least or later was found; JAVA_HOME may name its folder" >&2
exit 1
