/*
 * The raw epoll server as httpbench measured it: per event it reads until EAGAIN, compares the last
 * four bytes with the end of a head, and sends one reply, however many heads have arrived.
 *
 * Where the document's program exits (a reply that does not fit, no descriptors), this one goes on.
 */
#define _GNU_SOURCE
#include "../shared/loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* As long as the document's reply. Its body had one byte more, so this `Server` has one more. */
static const char REPLY[] = "HTTP/1.1 200 OK\r\n"
                            "Server: epoll/raw_01234567890123456789012345678901234567890\r\n"
                            "Connection: keep-alive\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    READ_BYTES = 512,
    EVENTS_PER_WAIT = 128,
    CONNECTIONS = 64 * 1024,
    ACCEPT_RETRY_US = 50 * 1000,
    END_OF_HEAD = 0x0d0a0d0a, /* "\r\n\r\n" */
};
_Static_assert(REPLY_BYTES == 162, "the column Res[B] of the document");

const unsigned known_scenarios = SCENARIO_HELLO;

/* The connection on descriptor `fd` is `connections[fd]`; each has its own buffer. */
static struct connection {
    uint32_t last_bytes; /* The last four bytes received, the latest in the lowest place. */
    char buffer[READ_BYTES];
} connections[CONNECTIONS];

static void keep_last_bytes(struct connection *connection, size_t length) {
    for (size_t i = length > 4 ? length - 4 : 0; i < length; i++)
        connection->last_bytes = connection->last_bytes << 8 | (uint8_t)connection->buffer[i];
}

static void on_readable(int fd) {
    struct connection *connection = &connections[fd];
    ssize_t length;
    while ((length = recv(fd, connection->buffer, READ_BYTES, 0)) > 0)
        keep_last_bytes(connection, (size_t)length);
    bool open = length < 0 && errno == EAGAIN;
    if (connection->last_bytes == END_OF_HEAD) {
        connection->last_bytes = 0;
        /* One reply is owed at most, so a part of one means that the client does not read. */
        open &= send(fd, REPLY, REPLY_BYTES, MSG_NOSIGNAL) == REPLY_BYTES;
    }
    if (!open)
        close(fd);
}

/* One connection per event of the level-triggered listener. */
static void accept_one(int epoll, int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            usleep(ACCEPT_RETRY_US); /* Out of descriptors: the next accept would fail as well. */
        return;
    }
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    if (fd >= CONNECTIONS || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        close(fd);
    else
        connections[fd].last_bytes = 0;
}

void prepare_shared(enum scenario wanted) {
    (void)wanted; /* Its workers share nothing. */
}

_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void)) {
    (void)wanted;
    const int off = 0;
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    /* The document's program leaves Nagle's algorithm on; accepted sockets inherit the option. */
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0 ||
        setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &off, sizeof off) < 0)
        goto failed;
    ready();
    static struct epoll_event events[EVENTS_PER_WAIT];
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
        if (count < 0 && errno != EINTR)
            goto failed;
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                accept_one(epoll, listener);
            else
                on_readable(events[i].data.fd);
        }
    }
failed:
    perror("epoll");
    exit(1);
}
