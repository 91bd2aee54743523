/*
 * photon: one fiber per connection over blocking calls, which photon replaces by its own.
 *
 * It is deliberately not a web server: it only looks for the end of each request head.
 */
module app;

import core.stdc.errno : EINTR, errno;
import core.stdc.stdlib : exit;
import core.sys.posix.signal : SIG_IGN, signal, SIGPIPE;
import core.sys.posix.unistd : read, write;
import core.time : msecs;
import options : Options, parseOptions, Scenario;
import photon;
import protocol : bufferBytes, Debt, HeadCounter;
import std.algorithm.searching : canFind;
import std.format : format;
import std.socket;
import std.stdio : stderr, stdout;

version (Published)
    static import published;

enum backlog = 4096;
enum acceptRetry = 50.msecs;

/* The result is 0 at the end of the stream and negative when the connection is broken. */
ptrdiff_t readSome(Socket client, ubyte[] buffer) {
    ptrdiff_t length;
    do
        length = read(client.handle, buffer.ptr, buffer.length);
    while (length < 0 && errno == EINTR);
    return length;
}

/* The result is negative when the connection is broken. */
ptrdiff_t writeSome(Socket client, const(ubyte)[] bytes) {
    ptrdiff_t length;
    do
        length = write(client.handle, bytes.ptr, bytes.length);
    while (length < 0 && errno == EINTR);
    return length;
}

void serveHello(Socket client) {
    /* The stack of a fiber is too small for it. */
    auto buffer = new ubyte[bufferBytes];
    HeadCounter counter;
    Debt debt;
    for (;;) {
        immutable length = readSome(client, buffer);
        if (length <= 0)
            return;
        debt.add(counter.count(buffer[0 .. length]));
        while (debt.due.length > 0) {
            immutable sent = writeSome(client, debt.due);
            if (sent < 0)
                return;
            debt.pay(sent);
        }
    }
}

void serveEcho(Socket client) {
    auto buffer = new ubyte[bufferBytes];
    for (;;) {
        immutable length = readSome(client, buffer);
        if (length <= 0)
            return;
        const(ubyte)[] unsent = buffer[0 .. length];
        while (unsent.length > 0) {
            immutable sent = writeSome(client, unsent);
            if (sent < 0)
                return;
            unsent = unsent[sent .. $];
        }
    }
}

void serveConnection(Socket client, Scenario scenario) {
    scope (exit)
        client.close();
    if (scenario == Scenario.echo)
        return serveEcho(client);
    version (Published)
        return published.serve(client);
    else
        return serveHello(client);
}

/* A function of its own, so that each fiber captures its own socket. */
void spawn(Socket client, Scenario scenario) {
    go(() => serveConnection(client, scenario));
}

void acceptForever(Socket listener, Scenario scenario) {
    /* Made here, as there may be no descriptor for it when it is needed. */
    auto retry = timer();
    for (;;) {
        try {
            auto client = listener.accept();
            client.setOption(SocketOptionLevel.TCP, SocketOption.TCP_NODELAY, true);
            spawn(client, scenario);
        } catch (SocketException) {
            /* Out of descriptors or memory: the next accept would fail at once as well. */
            retry.wait(acceptRetry);
        }
    }
}

Socket listen(Address address) {
    auto listener = new TcpSocket(address.addressFamily);
    listener.setOption(SocketOptionLevel.SOCKET, SocketOption.REUSEADDR, true);
    listener.bind(address);
    listener.listen(backlog);
    return listener;
}

void printReady(Socket listener) {
    const bound = listener.localAddress;
    immutable host = bound.toAddrString;
    stdout.writefln("listening %s:%s", host.canFind(':') ? format!"[%s]"(host) : host,
        bound.toPortString);
    stdout.flush();
}

void fail(Exception failure, int code) {
    stderr.writeln(failure.msg);
    exit(code);
}

void main(string[] arguments) {
    Options options;
    Socket listener;
    try
        options = parseOptions(arguments[1 .. $]);
    catch (Exception failure)
        fail(failure, 2);
    /* The number of workers is only checked: photon has no option for its number of threads. */
    if (options.scenario == Scenario.helloTimeout)
        fail(new Exception("unknown scenario `hello-timeout`"), 2);
    try
        listener = listen(options.address);
    catch (Exception failure)
        fail(failure, 1);
    /* A write to a connection that the client has reset is an error, not the end of the server. */
    signal(SIGPIPE, SIG_IGN);
    version (Published)
        published.startDate();
    startloop();
    go(() => acceptForever(listener, options.scenario));
    printReady(listener);
    runFibers();
}
