/*
 * hunt-http: its web server with its own parser and router, one event loop per worker.
 *
 * It deliberately has no scenario but `hello`: see the README for what is missing for the others.
 */
module app;

import hunt.http;
import core.stdc.stdlib : exit;
import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.socket : parseAddress, SocketException;
import std.stdio : stderr;

version (Published)
    static import pico;

struct Options {
    string host;
    ushort port;
    uint workers;
}

enum greeting = "Hello world!";

void hello(RoutingContext context) {
    context.responseHeader(HttpHeader.CONTENT_TYPE, MimeType.TEXT_PLAIN_VALUE);
    /* Without a length hunt-http sends the body in chunks. */
    version (Published)
        context.responseHeader("X-Test", "0123456789012345678901234567890123456789012");
    else
        context.responseHeader(HttpHeader.CONTENT_LENGTH, greeting.length.to!string);
    context.end(greeting);
}

/* The main thread accepts, the event loops do all the rest. */
void serve(const Options options) {
    auto httpOptions = new HttpServerOptions();
    /* A head may be longer than hunt-http takes by default. */
    httpOptions.setMaxRequestHeadLength(16 * 1024);
    HttpServer.builder(httpOptions)
        .setListener(options.port, options.host)
        .ioThreadSize(options.workers)
        .addRoute("/", (RoutingContext context) => hello(context))
        .build()
        .start();
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

Options parseOptions(const string[] arguments) {
    enforce(arguments.length == 4 || arguments.length == 5,
        "usage: server hello HOST PORT WORKERS [TIMEOUT_MS]");
    enforce(arguments[0] == "hello",
        format!"unknown scenario `%s`: this server knows hello"(arguments[0]));
    Options options;
    try
        options.host = parseAddress(arguments[1]).toAddrString;
    catch (SocketException)
        throw new Exception(format!"HOST must be an IP address, not `%s`"(arguments[1]));
    options.port = cast(ushort) parseNumber(arguments[2], "PORT", 1, ushort.max);
    options.workers = parseNumber(arguments[3], "WORKERS", 1, 1024);
    /* Accepted like everywhere, although only `hello-timeout` would use it. */
    if (arguments.length == 5)
        parseNumber(arguments[4], "TIMEOUT_MS", 1, int.max);
    return options;
}

void main(string[] arguments) {
    Options options;
    version (Published) {
        /* One build has both published forms, and the first argument names the variant. */
        immutable isPico = arguments.length > 1 && arguments[1] == "published-pico";
        arguments = arguments.length > 1 ? arguments[1 .. $] : arguments;
    }
    try {
        options = parseOptions(arguments[1 .. $]);
    } catch (Exception failure) {
        stderr.writeln(failure.msg);
        exit(2);
    }
    version (Published)
        if (isPico)
            return pico.serve(options.host, options.port, options.workers);
    serve(options);
}
