/*
 * The variant with callbacks: each connection is an object whose methods eventcore calls when an
 * operation has ended.
 */
module callbacks;

import core.time : Duration;
import eventcore.core;
import options : Options, Scenario;
import protocol : bufferBytes, Debt, HeadCounter;

@safe nothrow:

void serve(StreamSocketFD socket, const ref Options options) {
    new Connection(socket, options).run();
}

private final class Connection {
@safe nothrow:
    private enum Step { read, write, closed }

    private StreamSocketFD socket;
    private TimerID timer = TimerID.invalid;
    private const Duration timeout;
    private const bool echoes;
    private Step under;
    private bool issuing;   /* An operation is being asked for, */
    private bool ended;     /* and it has ended before that call returned. */
    private HeadCounter counter;
    private Debt debt;      /* hello: the replies that are still to be sent. */
    private const(ubyte)[] unsent; /* echo: the part of `buffer` that is still to be sent. */
    private ubyte[bufferBytes] buffer;

    this(StreamSocketFD socket, const ref Options options) {
        this.socket = socket;
        timeout = options.timeout;
        echoes = options.scenario == Scenario.echo;
        if (options.scenario == Scenario.helloTimeout)
            timer = eventDriver.timers.create();
    }

    /* An operation that ends at once calls back from within: going on there would let the stack
     * grow with each request of a fast client, so this loop goes on instead. */
    void run() {
        do {
            ended = false;
            issuing = true;
            issue();
            issuing = false;
        } while (ended && under != Step.closed);
    }

    private void issue() {
        /* Setting a timer anew tells the earlier wait that it did not fire. */
        eventDriver.timers.set(timer, timeout, Duration.zero);
        eventDriver.timers.wait(timer, &onTimer);
        const due = echoes ? unsent : debt.due;
        if (due.length > 0) {
            under = Step.write;
            eventDriver.sockets.write(socket, due, IOMode.once, &onWritten);
        } else {
            under = Step.read;
            eventDriver.sockets.read(socket, buffer, IOMode.once, &onRead);
        }
    }

    private void onRead(StreamSocketFD, IOStatus status, size_t length) {
        if (status != IOStatus.ok)
            return close();
        if (echoes)
            unsent = buffer[0 .. length];
        else
            debt.add(counter.count(buffer[0 .. length]));
        proceed();
    }

    private void onWritten(StreamSocketFD, IOStatus status, size_t length) {
        if (status != IOStatus.ok)
            return close();
        if (echoes)
            unsent = unsent[length .. $];
        else
            debt.pay(length);
        proceed();
    }

    private void proceed() {
        if (issuing)
            ended = true;
        else
            run();
    }

    private void onTimer(TimerID, bool fired) {
        if (!fired || under == Step.closed)
            return;
        if (under == Step.read)
            eventDriver.sockets.cancelRead(socket);
        else
            eventDriver.sockets.cancelWrite(socket);
        close();
    }

    private void close() {
        under = Step.closed;
        eventDriver.timers.stop(timer);
        eventDriver.timers.releaseRef(timer);
        eventDriver.sockets.releaseRef(socket);
    }
}
