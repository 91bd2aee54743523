/*
 * The event loop of the form `published`, which measured the row of the document: it reads until
 * EAGAIN, looks whether the input ends like a head, and sends one reply per event.
 *
 * It deliberately counts no heads: requests in one write get one reply, as in the document.
 */
module published;

import core.stdc.errno : EAGAIN, EINTR, errno;
import core.stdc.stdio : perror;
import core.stdc.stdlib : calloc, exit, free;
import core.sys.linux.epoll;
import core.sys.posix.sys.socket;
import core.sys.posix.unistd : close, usleep;
import loop : accept4, Scenario, SOCK_NONBLOCK;

nothrow @nogc:

private:

/* As long as the reply of the document: 162 bytes. */
immutable string reply = "HTTP/1.1 200 OK\r\n"
    ~ "Server: epoll/raw_01234567890123456789012345678901234567890\r\n"
    ~ "Connection: keep-alive\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
immutable string terminator = "\r\n\r\n";

enum bufferBytes = 1024;
enum eventsPerWait = 256;
enum acceptRetryUs = 50_000;

struct Connection {
    int fd;
    size_t length;
    ubyte[bufferBytes] buffer;
}

void closeConnection(Connection* connection) {
    close(connection.fd);
    free(connection);
}

void keepEnd(Connection* connection) {
    enum kept = terminator.length - 1;
    connection.buffer[0 .. kept] = connection.buffer[bufferBytes - kept .. bufferBytes];
    connection.length = kept;
}

/* Whether the socket is empty, and neither broken nor at its end. */
bool readAll(Connection* connection) {
    for (;;) {
        /* Only the last bytes matter. The document closes the connection when its buffer is full. */
        if (connection.length == bufferBytes)
            keepEnd(connection);
        immutable length = recv(connection.fd, connection.buffer.ptr + connection.length,
            bufferBytes - connection.length, 0);
        if (length > 0)
            connection.length += length;
        else if (length == 0 || errno != EINTR)
            return length < 0 && errno == EAGAIN;
    }
}

/* Sends one reply for all that was read, and nothing of it again if the socket is full. */
void answer(Connection* connection) {
    const input = connection.buffer[0 .. connection.length];
    if (input.length < terminator.length || input[$ - terminator.length .. $] != terminator)
        return;
    send(connection.fd, reply.ptr, reply.length, MSG_NOSIGNAL);
    connection.length = 0;
}

void onEvent(Connection* connection, uint events) {
    if ((events & EPOLLRDHUP) || !readAll(connection))
        closeConnection(connection);
    else
        answer(connection);
}

/* One connection per event: the listener is level-triggered, as in the document. */
void acceptOne(int epoll, int listener) {
    immutable fd = accept4(listener, null, null, SOCK_NONBLOCK);
    if (fd < 0) {
        /* Out of file descriptors or memory: the next call would fail at once as well. */
        if (errno != EAGAIN)
            usleep(acceptRetryUs);
        return;
    }
    auto connection = cast(Connection*) calloc(1, Connection.sizeof);
    if (connection is null) {
        close(fd);
        return;
    }
    connection.fd = fd;
    epoll_event event = {events: EPOLLIN | EPOLLRDHUP | EPOLLET};
    event.data.ptr = connection;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        closeConnection(connection);
}

void fail() {
    perror("epoll");
    exit(1);
}

/* Serves the connections of a non-blocking listener until the process ends. */
public void serve(int listener, Scenario) {
    immutable epoll = epoll_create1(0);
    epoll_event interest = {events: EPOLLIN};
    interest.data.ptr = null;
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &interest) < 0)
        fail();
    static __gshared epoll_event[eventsPerWait] events;
    for (;;) {
        immutable count = epoll_wait(epoll, events.ptr, eventsPerWait, -1);
        if (count < 0 && errno != EINTR)
            fail();
        foreach (i; 0 .. count) {
            auto connection = cast(Connection*) events[i].data.ptr;
            if (connection is null)
                acceptOne(epoll, listener);
            else
                onEvent(connection, events[i].events);
        }
    }
}
