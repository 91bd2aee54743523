/*
 * The variant with fibers: each connection is a loop that reads and writes in order, on a fiber of
 * the D runtime that rests while eventcore has an operation under way.
 */
module fibers;

import core.thread : Fiber;
import core.time : Duration;
import eventcore.core;
import options : Options, Scenario;
import protocol : bufferBytes, Debt, HeadCounter;
static import published;

@safe nothrow:

void serve(StreamSocketFD socket, const ref Options options) {
    start(socket, options, false);
}

/* The form `published-fibers`. */
void serveLines(StreamSocketFD socket, const ref Options options) {
    start(socket, options, true);
}

private void start(StreamSocketFD socket, const ref Options options, bool readsLines) {
    auto fiber = ConnectionFiber.take();
    fiber.readsLines = readsLines;
    fiber.socket = socket;
    fiber.timeout = options.timeout;
    fiber.scenario = options.scenario;
    () @trusted { fiber.call!(Fiber.Rethrow.no)(); }();
}

/* What has come of an operation. */
private struct Ended {
    IOStatus status;
    size_t length;
}

private final class ConnectionFiber : Fiber {
@safe nothrow:
    /* Fibers that rest between two connections, one list per thread: their stacks are used again.
     * All are listed, as nothing else may refer to a fiber that waits. */
    private static ConnectionFiber[] idle;
    private static ConnectionFiber[] all;

    private StreamSocketFD socket;
    private TimerID timer = TimerID.invalid;
    private Duration timeout;
    private Scenario scenario;
    private bool readsLines;
    private bool waiting;
    private bool done;
    private Ended ended;
    private ubyte[bufferBytes] buffer;

    static ConnectionFiber take() {
        if (idle.length == 0) {
            auto fiber = new ConnectionFiber;
            all ~= fiber;
            return fiber;
        }
        auto fiber = idle[$ - 1];
        idle = idle[0 .. $ - 1];
        return fiber;
    }

    private this() @trusted {
        super(&runForever);
    }

    private void runForever() {
        for (;;) {
            serveOne();
            /* No other slice looks at what follows the list, so it grows in place. */
            () @trusted { idle.assumeSafeAppend() ~= this; }();
            () @trusted { Fiber.yield(); }();
        }
    }

    private void serveOne() {
        if (scenario == Scenario.helloTimeout)
            timer = eventDriver.timers.create();
        if (scenario == Scenario.echo)
            serveEcho();
        else if (readsLines)
            serveLines();
        else
            serveHello();
        eventDriver.timers.stop(timer);
        eventDriver.timers.releaseRef(timer);
        timer = TimerID.invalid;
        eventDriver.sockets.releaseRef(socket);
    }

    private void serveHello() {
        HeadCounter counter;
        Debt debt;
        for (;;) {
            immutable input = read(buffer);
            if (input.status != IOStatus.ok)
                return;
            debt.add(counter.count(buffer[0 .. input.length]));
            while (debt.due.length > 0) {
                immutable output = write(debt.due);
                if (output.status != IOStatus.ok)
                    return;
                debt.pay(output.length);
            }
        }
    }

    private void serveLines() {
        published.Lines lines;
        while (lines.free.length > 0) {
            immutable input = read(lines.free);
            if (input.status != IOStatus.ok)
                return;
            lines.add(input.length);
            while (lines.takeHead()) {
                const(ubyte)[] unsent = published.reply;
                while (unsent.length > 0) {
                    immutable output = write(unsent);
                    if (output.status != IOStatus.ok)
                        return;
                    unsent = unsent[output.length .. $];
                }
            }
        }
    }

    private void serveEcho() {
        for (;;) {
            immutable input = read(buffer);
            if (input.status != IOStatus.ok)
                return;
            const(ubyte)[] unsent = buffer[0 .. input.length];
            while (unsent.length > 0) {
                immutable output = write(unsent);
                if (output.status != IOStatus.ok)
                    return;
                unsent = unsent[output.length .. $];
            }
        }
    }

    private Ended read(ubyte[] buffer) {
        start();
        eventDriver.sockets.read(socket, buffer, IOMode.once, &onEnded);
        if (rest())
            return ended;
        eventDriver.sockets.cancelRead(socket);
        return Ended(IOStatus.error, 0);
    }

    private Ended write(const(ubyte)[] bytes) {
        start();
        eventDriver.sockets.write(socket, bytes, IOMode.once, &onEnded);
        if (rest())
            return ended;
        eventDriver.sockets.cancelWrite(socket);
        return Ended(IOStatus.error, 0);
    }

    private void start() {
        done = false;
        /* Setting a timer anew tells the earlier wait that it did not fire. */
        eventDriver.timers.set(timer, timeout, Duration.zero);
        eventDriver.timers.wait(timer, &onTimer);
    }

    /* Whether the operation has ended, and not the time for it. */
    private bool rest() {
        if (!done) {
            waiting = true;
            () @trusted { Fiber.yield(); }();
            waiting = false;
        }
        return done;
    }

    private void onEnded(StreamSocketFD, IOStatus status, size_t length) {
        ended = Ended(status, length);
        done = true;
        if (waiting)
            () @trusted { call!(Fiber.Rethrow.no)(); }();
    }

    private void onTimer(TimerID, bool fired) {
        if (fired && waiting)
            () @trusted { call!(Fiber.Rethrow.no)(); }();
    }
}
