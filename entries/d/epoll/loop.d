/*
 * The event loop of the raw epoll server in D: one read and one write per request, edge-triggered.
 * This file is all that is measured; `main.d` only starts it.
 *
 * It deliberately knows nothing of HTTP but where a request head ends.
 */
module loop;

import core.stdc.errno : EAGAIN, ECONNABORTED, EINTR, errno;
import core.stdc.stdio : perror;
import core.stdc.stdlib : calloc, exit, free, malloc;
import core.stdc.string : memchr;
import core.sys.linux.epoll;
import core.sys.posix.sys.socket;
import core.sys.posix.unistd : close;

nothrow @nogc:

enum Scenario { hello, echo }

/* The bindings of the runtime lack this flag and this call of Linux. */
enum SOCK_NONBLOCK = 0x800;
extern (C) int accept4(int, sockaddr*, socklen_t*, int);

private:

immutable string reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    ~ "Content-Length: 12\r\n\r\nHello world!";
immutable string terminator = "\r\n\r\n";

enum repliesPerBlock = 1024;
enum blockBytes = reply.length * repliesPerBlock;
enum readBytes = 64 * 1024;
enum readsPerEvent = 16;
enum eventsPerWait = 512;
enum acceptRetryMs = 50;

/* EPOLLRDHUP tells of an end of stream behind the data, so that a short read needs no second one.
 */
enum uint reading = EPOLLIN | EPOLLRDHUP | EPOLLET;
enum uint writing = EPOLLOUT | EPOLLET;

enum Outcome { done, blocked, broken }
enum AcceptState { allDone, later }

struct Connection {
    int fd;
    Outcome lastWrite;    /* blocked: waits for EPOLLOUT and reads nothing meanwhile. */
    uint terminatorSeen;  /* hello: how many bytes of the terminator the input ends with. */
    size_t owedBytes;     /* What is still to be sent. */
    size_t offset;        /* hello: position within the reply; echo: position within `held`. */
    ubyte* held;          /* echo: what could not be sent; null on all but slow connections. */
}

/* One of each per process is enough: nothing stays in the read buffer between two events. They are
 * shared by name only, as a process has one thread: this spares the lookup of thread-local data. */
__gshared ubyte[readBytes] readBuffer;
__gshared char[blockBytes] replyBlock;
__gshared Scenario scenario;

/* Counts the heads that end in these bytes; a terminator may be split over any number of reads. */
size_t countHeads(ref uint terminatorSeen, const(ubyte)[] bytes) {
    uint seen = terminatorSeen;
    size_t heads = 0;
    while (bytes.length > 0) {
        if (seen == 0) {
            auto found = cast(const(ubyte)*) memchr(bytes.ptr, '\r', bytes.length);
            if (found is null)
                break;
            bytes = bytes[found - bytes.ptr .. $];
        }
        if (bytes[0] == terminator[seen])
            seen++;
        else
            seen = bytes[0] == '\r' ? 1 : 0;
        if (seen == terminator.length) {
            seen = 0;
            heads++;
        }
        bytes = bytes[1 .. $];
    }
    terminatorSeen = seen;
    return heads;
}

/* Returns how much the socket took, less than there is when it is full, or -1 when it is broken. */
ptrdiff_t sendSome(int fd, const(void)[] bytes) {
    size_t sent = 0;
    while (sent < bytes.length) {
        immutable result = send(fd, bytes.ptr + sent, bytes.length - sent, MSG_NOSIGNAL);
        if (result >= 0)
            sent += result;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return -1;
    }
    return sent;
}

/* All replies are equal, so what a connection is owed is a number and never a buffer. */
Outcome flushHello(Connection* connection) {
    while (connection.owedBytes > 0) {
        size_t length = blockBytes - connection.offset;
        if (length > connection.owedBytes)
            length = connection.owedBytes;
        const block = replyBlock[connection.offset .. connection.offset + length];
        immutable sent = sendSome(connection.fd, block);
        if (sent < 0)
            return Outcome.broken;
        connection.owedBytes -= sent;
        connection.offset = (connection.offset + sent) % reply.length;
        if (sent < length)
            return Outcome.blocked;
    }
    return Outcome.done;
}

Outcome flushEcho(Connection* connection) {
    const rest = connection.held[connection.offset .. connection.offset + connection.owedBytes];
    immutable sent = sendSome(connection.fd, rest);
    if (sent < 0)
        return Outcome.broken;
    connection.offset += sent;
    connection.owedBytes -= sent;
    if (connection.owedBytes > 0)
        return Outcome.blocked;
    free(connection.held);
    connection.held = null;
    return Outcome.done;
}

/* Sends straight out of the read buffer; only what the socket refuses is copied and held. */
Outcome answerEcho(Connection* connection, const(ubyte)[] bytes) {
    immutable sent = sendSome(connection.fd, bytes);
    if (sent < 0)
        return Outcome.broken;
    const rest = bytes[sent .. $];
    if (rest.length == 0)
        return Outcome.done;
    connection.held = cast(ubyte*) malloc(rest.length);
    if (connection.held is null)
        return Outcome.broken;
    connection.held[0 .. rest.length] = rest[];
    connection.owedBytes = rest.length;
    connection.offset = 0;
    return Outcome.blocked;
}

Outcome answer(Connection* connection, const(ubyte)[] bytes) {
    if (scenario == Scenario.echo)
        return answerEcho(connection, bytes);
    connection.owedBytes += reply.length * countHeads(connection.terminatorSeen, bytes);
    return flushHello(connection);
}

void closeConnection(Connection* connection) {
    close(connection.fd);
    free(connection.held);
    free(connection);
}

/* Modifying an interest also reports it anew if it holds already, so no edge is ever missed. */
void waitFor(int epoll, Connection* connection, uint interest) {
    epoll_event event = {events: interest};
    event.data.ptr = connection;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, connection.fd, &event) < 0)
        closeConnection(connection);
}

void onReadable(int epoll, Connection* connection, uint events) {
    foreach (_; 0 .. readsPerEvent) {
        immutable length = recv(connection.fd, readBuffer.ptr, readBytes, 0);
        if (length < 0 && errno == EAGAIN)
            return;
        if (length < 0 && errno == EINTR)
            continue;
        /* The end of the stream or a reset count like an answer that could not be written. */
        connection.lastWrite =
            length > 0 ? answer(connection, readBuffer[0 .. length]) : Outcome.broken;
        if (connection.lastWrite == Outcome.broken) {
            closeConnection(connection);
            return;
        }
        if (connection.lastWrite == Outcome.blocked) {
            waitFor(epoll, connection, writing);
            return;
        }
        /* A short read has emptied the socket: what comes later is a new edge. */
        if (length < readBytes && !(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
            return;
    }
    /* A client that sends faster than this loop reads goes to the back of the queue. */
    waitFor(epoll, connection, reading);
}

void onWritable(int epoll, Connection* connection) {
    connection.lastWrite =
        scenario == Scenario.echo ? flushEcho(connection) : flushHello(connection);
    final switch (connection.lastWrite) {
        case Outcome.broken: closeConnection(connection); break;
        case Outcome.done: waitFor(epoll, connection, reading); break;
        case Outcome.blocked: break;
    }
}

AcceptState acceptAll(int epoll, int listener) {
    for (;;) {
        immutable fd = accept4(listener, null, null, SOCK_NONBLOCK);
        if (fd < 0 && errno == EAGAIN)
            return AcceptState.allDone;
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) /* Out of file descriptors or memory: try again when some may be free. */
            return AcceptState.later;
        auto connection = cast(Connection*) calloc(1, Connection.sizeof);
        if (connection is null) {
            close(fd);
            continue;
        }
        connection.fd = fd;
        epoll_event event = {events: reading};
        event.data.ptr = connection;
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
            closeConnection(connection);
    }
}

int openEpoll(int listener) {
    immutable epoll = epoll_create1(0);
    epoll_event event = {events: EPOLLIN | EPOLLET};
    event.data.ptr = null;
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        fail();
    return epoll;
}

void fail() {
    perror("epoll");
    exit(1);
}

/* Serves the connections of a non-blocking listener until the process ends. */
public void serve(int listener, Scenario wanted) {
    scenario = wanted;
    foreach (i; 0 .. repliesPerBlock)
        replyBlock[i * reply.length .. (i + 1) * reply.length] = reply[];
    immutable epoll = openEpoll(listener);
    static __gshared epoll_event[eventsPerWait] events;
    auto accepting = AcceptState.allDone;
    for (;;) {
        immutable timeoutMs = accepting == AcceptState.later ? acceptRetryMs : -1;
        immutable count = epoll_wait(epoll, events.ptr, eventsPerWait, timeoutMs);
        if (count < 0 && errno != EINTR)
            fail();
        foreach (i; 0 .. count) {
            auto connection = cast(Connection*) events[i].data.ptr;
            if (connection is null)
                accepting = AcceptState.later;
            else if (connection.lastWrite == Outcome.blocked)
                onWritable(epoll, connection);
            else
                onReadable(epoll, connection, events[i].events);
        }
        if (accepting == AcceptState.later)
            accepting = acceptAll(epoll, listener);
    }
}
