/*
 * vibe-core: one task, which is a fiber, per connection and one event loop per thread.
 *
 * It is deliberately not the web server of vibe.d: it only looks for the end of each request head.
 */
module app;

import core.stdc.stdlib : exit;
import core.sync.semaphore : Semaphore;
import core.time : Duration;
import options : Options, parseOptions, Scenario;
import protocol : Debt, HeadCounter;
import std.exception : enforce;
import std.stdio : stderr, stdout;
import vibe.core.core;
import vibe.core.log : LogLevel, setLogLevel;
import vibe.core.net;
import vibe.core.stream : IOMode;
import vibe.core.task : Task;

version (Published)
    import published : serveLines;

/* Written before the workers start, only read afterwards. */
private __gshared Options options;
private __gshared Semaphore listening;

@safe:

/* At least one byte: a connection that the client has reset takes none, and says no more. */
size_t writeSome(ref TCPConnection connection, scope const(ubyte)[] bytes) {
    immutable length = connection.write(bytes, IOMode.once);
    enforce(length > 0, "the connection is closed");
    return length;
}

void serveHello(ref TCPConnection connection) {
    HeadCounter counter;
    Debt debt;
    while (!connection.empty) {
        const input = connection.peek();
        debt.add(counter.count(input));
        connection.skip(input.length);
        while (debt.due.length > 0)
            debt.pay(writeSome(connection, debt.due));
    }
}

/* vibe-core has a timeout for reading only, so a timer interrupts the task when it cannot write. */
void serveHelloTimeout(ref TCPConnection connection, Duration timeout) {
    HeadCounter counter;
    Debt debt;
    auto task = Task.getThis();
    auto writeTimer = createTimer(() @safe nothrow { task.interrupt(); });
    connection.readTimeout = timeout;
    while (!connection.empty) {
        const input = connection.peek();
        debt.add(counter.count(input));
        connection.skip(input.length);
        while (debt.due.length > 0) {
            writeTimer.rearm(timeout);
            debt.pay(writeSome(connection, debt.due));
        }
        writeTimer.stop();
    }
}

void serveEcho(ref TCPConnection connection) {
    while (!connection.empty) {
        const input = connection.peek();
        connection.write(input);
        connection.skip(input.length);
    }
}

/* The connection is closed when its task returns. */
void serve(TCPConnection connection) nothrow {
    connection.tcpNoDelay = true;
    try {
        version (Published) {
            serveLines(connection);
        } else {
            immutable scenario = (() @trusted => options.scenario)();
            final switch (scenario) {
                case Scenario.hello: return serveHello(connection);
                case Scenario.helloTimeout:
                    return serveHelloTimeout(connection, (() @trusted => options.timeout)());
                case Scenario.echo: return serveEcho(connection);
            }
        }
    } catch (Exception) {
        /* A reset or a timeout is one of the ways in which a connection ends. */
    }
}

TCPListener listen(string host, ushort port, uint workers) {
    auto flags = TCPListenOptions.defaults;
    if (workers > 1)
        flags |= TCPListenOptions.reusePort;
    return listenTCP(port, (connection) @safe nothrow => serve(connection), host, flags);
}

/* Runs in each thread of the worker pool, whose event loop then owns the listener. */
void listenInWorker(string host, ushort port, uint workers) nothrow {
    try {
        listen(host, port, workers);
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

/* The main thread is one of the workers. */
void main(string[] arguments) @system {
    try
        options = parseOptions(arguments[1 .. $]);
    catch (Exception failure)
        fail(failure, 2);
    version (Published)
        if (options.scenario != Scenario.hello)
            fail(new Exception("unknown scenario: the published form knows hello"), 2);
    /* Standard output is for the ready line, and lesser messages of vibe-core go there too. */
    setLogLevel(LogLevel.warn);
    immutable host = options.address.toAddrString;
    NetworkAddress bound;
    try
        bound = listen(host, options.port, options.workers).bindAddress;
    catch (Exception failure)
        fail(failure, 1);
    if (options.workers > 1) {
        listening = new Semaphore;
        setupWorkerThreads(options.workers - 1);
        runWorkerTaskDist(&listenInWorker, host, bound.port, options.workers);
        foreach (_; 1 .. options.workers)
            listening.wait();
    }
    stdout.writeln("listening ", bound.toString());
    stdout.flush();
    runEventLoop();
}
