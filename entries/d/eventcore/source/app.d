/*
 * eventcore: the event loop beneath vibe.d, used directly. This file opens the listeners and runs
 * one event loop per thread; `callbacks.d` and `fibers.d` are the two variants.
 *
 * It is deliberately not a web server: it only looks for the end of each request head.
 */
module app;

import core.stdc.stdlib : exit;
import core.sync.semaphore : Semaphore;
import core.sys.posix.sys.socket : sockaddr, sockaddr_storage;
import core.thread : Thread;
import core.time : Duration;
import eventcore.core;
import options : Options, parseOptions, Scenario;
import std.algorithm.searching : startsWith;
import std.exception : enforce;
import std.socket : Address, parseAddress;
import std.stdio : stderr, stdout;

static import callbacks;
static import fibers;
static import published;

alias Serve = void function(StreamSocketFD, const ref Options) @safe nothrow;

Serve parseVariant(string name) {
    switch (name) {
        case "callbacks": return &callbacks.serve;
        case "fibers": return &fibers.serve;
        case "published-callbacks": return &published.serve;
        case "published-fibers": return &fibers.serveLines;
        default: throw new Exception("unknown VARIANT `" ~ name ~ "`");
    }
}

StreamListenSocketFD listen(Serve serve, const ref Options options) {
    auto flags = StreamListenOptions.reuseAddress;
    if (options.workers > 1)
        flags |= StreamListenOptions.reusePort;
    auto address = (() @trusted => cast(Address) options.address)();
    auto listener = eventDriver.sockets.listenStream(address, flags,
        (StreamListenSocketFD, StreamSocketFD socket, scope RefAddress) @safe nothrow {
            eventDriver.sockets.setTCPNoDelay(socket, true);
            serve(socket, options);
        });
    enforce(listener != StreamListenSocketFD.invalid, "cannot listen on " ~ address.toString);
    return listener;
}

/* Port 0 lets the kernel choose; the other workers need the chosen one. */
Address boundAddress(StreamListenSocketFD listener) {
    sockaddr_storage storage;
    scope reference = (() @trusted =>
        new RefAddress(cast(sockaddr*) &storage, storage.sizeof))();
    enforce(eventDriver.sockets.getLocalAddress(listener, reference), "getsockname failed");
    return parseAddress(reference.toAddrString, reference.toPortString);
}

void runLoop() {
    while (eventDriver.core.processEvents(Duration.max) != ExitReason.exited)
        continue;
}

/* Each event loop belongs to the thread that made it, hence a listener in each thread. */
void startWorker(Serve serve, const ref Options options, Semaphore listening) {
    auto worker = new Thread({
        try
            listen(serve, options);
        catch (Exception failure) {
            stderr.writeln(failure.msg);
            exit(1);
        }
        listening.notify();
        runLoop();
    });
    worker.start();
}

void main(string[] arguments) {
    Serve serve;
    Options options;
    try {
        enforce(arguments.length > 1, "usage: server VARIANT SCENARIO HOST PORT WORKERS ...");
        serve = parseVariant(arguments[1]);
        options = parseOptions(arguments[2 .. $]);
        enforce(!arguments[1].startsWith("published") || options.scenario == Scenario.hello,
            "unknown scenario: the published forms know hello");
    } catch (Exception failure) {
        stderr.writeln(failure.msg);
        exit(2);
    }
    options.address = boundAddress(listen(serve, options));
    auto listening = new Semaphore;
    foreach (_; 1 .. options.workers)
        startWorker(serve, options, listening);
    foreach (_; 1 .. options.workers)
        listening.wait();
    stdout.writeln("listening ", options.address);
    stdout.flush();
    runLoop();
}
