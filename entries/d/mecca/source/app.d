/*
 * mecca: one fiber per connection on the reactor of a single thread.
 *
 * It is deliberately not a web server: it only looks for the end of each request head.
 */
module app;

import core.stdc.stdlib : exit;
import core.sys.posix.sys.socket : listen, MSG_NOSIGNAL;
import core.sys.posix.unistd : dup, dup2, STDERR_FILENO, STDOUT_FILENO;
import core.time : msecs;
import mecca.lib.exception : ErrnoException;
import mecca.lib.net : SockAddr;
import mecca.lib.time : Timeout;
import mecca.reactor;
import mecca.reactor.io.fd;
import options : Options, parseOptions, Scenario;
import protocol : bufferBytes, Debt, HeadCounter;
import std.algorithm.mutation : move;
import std.algorithm.searching : canFind;
import std.stdio : File, stderr;

/* The reactor makes all its fibers at the start, so their number is the limit of connections. */
enum mostFibers = 16 * 1024;
enum fiberStackBytes = 64 * 1024;
enum acceptRetry = 50.msecs;
enum backlog = 4096;

private __gshared Options options;
private __gshared File readyLine;

/* mecca logs to standard output, which is for the ready line: its messages go to standard error. */
void partLogFromReadyLine() {
    readyLine.fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* A timeout belongs to one operation: some bytes are progress. */
Timeout limit() {
    return options.scenario == Scenario.helloTimeout ? Timeout(options.timeout) : Timeout.infinite;
}

void serveHello(ref ConnectedSocket socket) {
    ubyte[bufferBytes] buffer = void;
    HeadCounter counter;
    Debt debt;
    for (;;) {
        immutable length = socket.read(buffer[], limit());
        if (length <= 0)
            return;
        debt.add(counter.count(buffer[0 .. length]));
        while (debt.due.length > 0)
            debt.pay(socket.send(debt.due, MSG_NOSIGNAL, limit()));
    }
}

void serveEcho(ref ConnectedSocket socket) {
    ubyte[bufferBytes] buffer = void;
    for (;;) {
        immutable length = socket.read(buffer[]);
        if (length <= 0)
            return;
        const(ubyte)[] unsent = buffer[0 .. length];
        while (unsent.length > 0)
            unsent = unsent[socket.send(unsent, MSG_NOSIGNAL) .. $];
    }
}

/* The socket closes itself when the fiber ends. */
void serveConnection(ConnectedSocket socket) {
    try {
        if (options.scenario == Scenario.echo)
            serveEcho(socket);
        else
            serveHello(socket);
    } catch (ErrnoException) {
        /* A reset is one of the ways in which a connection ends. */
    } catch (TimeoutExpired) {
        /* So is a client that makes no progress. */
    }
}

void acceptForever() {
    auto address = SockAddr(options.address.name, options.address.nameLen);
    auto listener = ConnectedSocket.listen(address, true);
    /* mecca listens with a backlog of 10, and whoever finds it full waits for seconds. */
    listen(listener.sock.get.fileNo, backlog);
    auto bound = listener.getLocalAddress();
    immutable host = bound.toStringAddr();
    immutable bracketed = host.canFind(':') ? "[" ~ host ~ "]" : host;
    readyLine.writeln("listening ", bracketed, ":", bound.toStringPort());
    readyLine.flush();
    for (;;) {
        SockAddr client;
        try {
            auto socket = listener.accept(client);
            theReactor.spawnFiber!serveConnection(move(socket));
        } catch (ErrnoException) {
            /* Out of descriptors or memory: the next accept would fail at once as well. */
            theReactor.sleep(acceptRetry);
        }
    }
}

int main(string[] arguments) {
    try {
        options = parseOptions(arguments[1 .. $], 1);
    } catch (Exception failure) {
        stderr.writeln(failure.msg);
        exit(2);
    }
    partLogFromReadyLine();
    theReactor.setup(Reactor.OpenOptions(mostFibers, fiberStackBytes));
    theReactor.spawnFiber!acceptForever();
    return theReactor.start();
}
