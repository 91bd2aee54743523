/*
 * arsd.cgi with its embedded web server, in the build that the variant names.
 *
 * It deliberately has no scenario but `hello`: the timeouts of the library are fixed.
 */
module app;

import arsd.cgi;
import core.stdc.stdlib : exit;
import std.algorithm.searching : canFind;
import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.socket : parseAddress, SocketException;
import std.stdio : stderr;

void hello(Cgi cgi) {
    if (cgi.pathInfo != "/") {
        cgi.setResponseStatus("404 Not Found");
        return;
    }
    cgi.setResponseContentType("text/plain");
    cgi.write("Hello world!", true);
}

uint parseNumber(string text, string name, uint least, uint most) {
    uint value;
    try
        value = text.to!uint;
    catch (ConvException)
        value = uint.max;
    enforce(value >= least && value <= most,
        format!"%s must be a number from %s to %s, not `%s`"(name, least, most, text));
    return value;
}

string parseHost(string text) {
    try
        return parseAddress(text).toAddrString;
    catch (SocketException)
        throw new Exception(format!"HOST must be an IPv4 or IPv6 address, not `%s`"(text));
}

version (embedded_httpd_processes) {
    import core.sys.linux.sys.prctl : PR_SET_PDEATHSIG, prctl;
    import core.sys.posix.pthread : pthread_atfork;
    import core.sys.posix.signal : SIGKILL;

    extern (C) void dieWithParent() nothrow @nogc {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    }
}

RequestServer configure(const string[] arguments) {
    enforce(arguments.length == 4 || arguments.length == 5,
        "usage: server hello HOST PORT WORKERS [TIMEOUT_MS]");
    enforce(arguments[0] == "hello",
        format!"unknown scenario `%s`: this server knows hello"(arguments[0]));
    immutable host = parseHost(arguments[1]);
    immutable port = parseNumber(arguments[2], "PORT", 1, ushort.max);
    version (Published) {
        /* Only checked: the document's version of the library had these numbers fixed. */
        parseNumber(arguments[3], "WORKERS", 1, 1024);
        version (embedded_httpd_processes)
            enum workers = 8;
        else
            enum workers = 16;
    } else {
        immutable workers = parseNumber(arguments[3], "WORKERS", 1, 1024);
    }
    /* Accepted like everywhere, although only `hello-timeout` would use it. */
    if (arguments.length == 5)
        parseNumber(arguments[4], "TIMEOUT_MS", 1, int.max);
    RequestServer server;
    version (embedded_httpd_processes) {
        server.listeningHost = host;
        server.listeningPort = cast(ushort) port;
        processPoolSize = workers;
        /* The library forks its workers and leaves them behind when it is ended. */
        pthread_atfork(null, null, &dieWithParent);
    } else {
        immutable address = host.canFind(':') ? "[" ~ host ~ "]" : host;
        server.listenSpec = [format!"http://%s:%s"(address, port)];
        server.numberOfThreads = workers;
        /* The fork would double the number of workers. */
        server.useFork = false;
    }
    return server;
}

void main(string[] arguments) {
    RequestServer server;
    try
        server = configure(arguments[1 .. $]);
    catch (Exception failure) {
        stderr.writeln(failure.msg);
        exit(2);
    }
    server.serve!hello();
}
