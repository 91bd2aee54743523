/*
 * lighttp: a small web server over libasync with its own parser and router, on one event loop.
 *
 * It deliberately has no scenario but `hello`: the library has no timeouts.
 */
module app;

import lighttp;
import core.stdc.stdlib : exit;
import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.socket : parseAddress, SocketException;
import std.stdio : stderr;

struct Options {
    string host;
    ushort port;
    uint workers;
}

final class Router {
    @Get("") void hello(ServerResponse response) {
        response.headers["Content-Type"] = "text/plain";
        response.body = "Hello world!";
    }
}

void serve(const Options options) {
    auto server = new Server();
    server.host(options.host, options.port);
    server.router.add(new Router());
    server.run();
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
    options.workers = parseNumber(arguments[3], "WORKERS", 1, 1);
    /* Accepted like everywhere, although only `hello-timeout` would use it. */
    if (arguments.length == 5)
        parseNumber(arguments[4], "TIMEOUT_MS", 1, int.max);
    return options;
}

void main(string[] arguments) {
    Options options;
    try {
        options = parseOptions(arguments[1 .. $]);
    } catch (Exception failure) {
        stderr.writeln(failure.msg);
        exit(2);
    }
    serve(options);
}
