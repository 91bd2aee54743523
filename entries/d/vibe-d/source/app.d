/*
 * vibe.d: its web server with its own parser and router, one event loop per thread.
 *
 * It deliberately has no scenario but `hello`: see the README for what vibe.d lacks for the others.
 */
module app;

import core.stdc.stdlib : exit;
import core.sync.semaphore : Semaphore;
import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.socket : parseAddress, SocketException;
import std.stdio : stderr, stdout;
import vibe.core.core;
import vibe.core.log : LogLevel, setLogLevel;
import vibe.core.net : NetworkAddress;
import vibe.http.router : URLRouter;
import vibe.http.server;

private __gshared Semaphore listening;

struct Options {
    string host;
    ushort port;
    uint workers;
}

@safe:

void hello(HTTPServerRequest request, HTTPServerResponse response) {
    response.writeBody("Hello world!", "text/plain");
}

HTTPListener listen(const Options options) {
    auto settings = new HTTPServerSettings;
    settings.bindAddresses = [options.host];
    settings.port = options.port;
    /* A head may be longer than vibe.d takes by default. */
    settings.maxRequestHeaderSize = 16 * 1024;
    settings.maxRequestHeaderLineSize = 16 * 1024;
    if (options.workers > 1)
        settings.options |= HTTPServerOption.reusePort;
    version (Published) {
        return listenHTTP(settings, &hello);
    } else {
        auto router = new URLRouter;
        router.get("/", &hello);
        return listenHTTP(settings, router);
    }
}

/* Runs in each thread of the worker pool, whose event loop then owns the listener. */
void listenInWorker(Options options) nothrow {
    try {
        listen(options);
        () @trusted { listening.notify(); }();
    } catch (Exception failure) {
        fail(failure, 1);
    }
}

void fail(Exception failure, int code) nothrow @trusted {
    try
        stderr.writeln(failure.msg);
    catch (Exception) {
        /* The error cannot be reported. */
    }
    exit(code);
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
    options.port = cast(ushort) parseNumber(arguments[2], "PORT", 0, ushort.max);
    options.workers = parseNumber(arguments[3], "WORKERS", 1, 1024);
    /* Accepted like everywhere, although only `hello-timeout` would use it. */
    if (arguments.length == 5)
        parseNumber(arguments[4], "TIMEOUT_MS", 1, int.max);
    return options;
}

/* The main thread is one of the workers. */
void main(string[] arguments) @system {
    Options options;
    try
        options = parseOptions(arguments[1 .. $]);
    catch (Exception failure)
        fail(failure, 2);
    /* Standard output is for the ready line, and lesser messages of vibe.d go there too. */
    setLogLevel(LogLevel.warn);
    NetworkAddress bound;
    try
        bound = listen(options).bindAddresses[0];
    catch (Exception failure)
        fail(failure, 1);
    options.port = bound.port;
    if (options.workers > 1) {
        listening = new Semaphore;
        setupWorkerThreads(options.workers - 1);
        runWorkerTaskDist(&listenInWorker, options);
        foreach (_; 1 .. options.workers)
            listening.wait();
    }
    stdout.writeln("listening ", bound.toString());
    stdout.flush();
    runEventLoop();
}
