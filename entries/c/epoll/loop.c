/*
 * The event loop of the raw epoll server: one read and one write per request, edge-triggered.
 * This file is all that is measured; `main.c` only starts it.
 *
 * It deliberately knows nothing of HTTP but where a request head ends.
 */
#define _GNU_SOURCE
#include "../shared/loop.h"
#include "../shared/heads.h"
#include "../shared/work.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REPLIES_PER_BLOCK = 1024,
    BLOCK_BYTES = REPLY_BYTES * REPLIES_PER_BLOCK,
    READ_BYTES = 64 * 1024,
    READS_PER_EVENT = 16,
    EVENTS_PER_WAIT = 512,
    ACCEPT_RETRY_MS = 50,
};

const unsigned known_scenarios = SCENARIO_HELLO | SCENARIO_ECHO | SCENARIO_MUTEX | SCENARIO_SKEWED;

/* EPOLLRDHUP tells of an end of stream behind the data, so that a short read needs no second one.
 */
static const uint32_t READING = EPOLLIN | EPOLLRDHUP | EPOLLET;
static const uint32_t WRITING = EPOLLOUT | EPOLLET;

enum outcome { DONE, BLOCKED, BROKEN };
enum accept_state { ACCEPT_ALL_DONE, ACCEPT_LATER };

/* The connection on descriptor `fd` is `connections[fd]`: small, and nothing to allocate. */
struct connection {
    uint8_t last_write;      /* BLOCKED: waits for EPOLLOUT and reads nothing meanwhile. */
    uint8_t terminator_seen; /* hello: see `count_heads`. */
    uint32_t offset;         /* hello: position within the reply; echo: position within `held`. */
    size_t owed_bytes;       /* What is still to be sent. */
    union {
        char *held;              /* echo: what could not be sent, or NULL. */
        struct work_reader work; /* mutex, skewed. */
    };
};

/* One of each per process is enough: nothing stays in the read buffer between two events. */
static char read_buffer[READ_BYTES];
static char reply_block[BLOCK_BYTES];
static enum scenario scenario;
static pthread_mutex_t *lock; /* mutex: in memory that the processes share. */
static struct connection *connections;
static size_t connections_length;

/* Returns how much the socket took, less than `length` when it is full, or -1 when it is broken. */
static ssize_t send_some(int fd, const char *bytes, size_t length) {
    size_t sent = 0;
    while (sent < length) {
        ssize_t result = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL);
        if (result >= 0)
            sent += (size_t)result;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)sent;
}

/* All replies are equal, so what a connection is owed is a number and never a buffer. */
static enum outcome flush_hello(int fd, struct connection *connection) {
    while (connection->owed_bytes > 0) {
        size_t length = BLOCK_BYTES - connection->offset;
        if (length > connection->owed_bytes)
            length = connection->owed_bytes;
        ssize_t sent = send_some(fd, reply_block + connection->offset, length);
        if (sent < 0)
            return BROKEN;
        connection->owed_bytes -= (size_t)sent;
        connection->offset = (uint32_t)((connection->offset + (size_t)sent) % REPLY_BYTES);
        if ((size_t)sent < length)
            return BLOCKED;
    }
    return DONE;
}

static enum outcome flush_echo(int fd, struct connection *connection) {
    ssize_t sent = send_some(fd, connection->held + connection->offset, connection->owed_bytes);
    if (sent < 0)
        return BROKEN;
    connection->offset += (uint32_t)sent;
    connection->owed_bytes -= (size_t)sent;
    if (connection->owed_bytes > 0)
        return BLOCKED;
    free(connection->held);
    connection->held = NULL;
    return DONE;
}

/* Sends straight out of the read buffer; only what the socket refuses is copied and held. */
static enum outcome answer_echo(int fd, struct connection *connection, size_t length) {
    ssize_t sent = send_some(fd, read_buffer, length);
    if (sent < 0)
        return BROKEN;
    size_t rest = length - (size_t)sent;
    if (rest == 0)
        return DONE;
    connection->held = malloc(rest);
    if (connection->held == NULL)
        return BROKEN;
    memcpy(connection->held, read_buffer + sent, rest);
    connection->owed_bytes = rest;
    connection->offset = 0;
    return BLOCKED;
}

/* Does the work of all requests in the read buffer and returns their number. */
static size_t work_on_heads(struct work_reader *reader, size_t length) {
    const char *bytes = read_buffer, *end = read_buffer + length;
    size_t heads = 0;
    for (long work_us; next_work(reader, &bytes, end, &work_us); heads++) {
        if (scenario == SCENARIO_MUTEX)
            pthread_mutex_lock(lock);
        work_for_us(work_us);
        if (scenario == SCENARIO_MUTEX)
            pthread_mutex_unlock(lock);
    }
    return heads;
}

static enum outcome answer(int fd, struct connection *connection, size_t length) {
    size_t heads;
    if (scenario == SCENARIO_HELLO)
        heads = count_heads(&connection->terminator_seen, read_buffer, length);
    else if (scenario == SCENARIO_ECHO)
        return answer_echo(fd, connection, length);
    else
        heads = work_on_heads(&connection->work, length);
    connection->owed_bytes += REPLY_BYTES * heads;
    return flush_hello(fd, connection);
}

static void close_connection(int fd) {
    close(fd);
    if (scenario == SCENARIO_ECHO)
        free(connections[fd].held);
}

/* Modifying an interest also reports it anew if it holds already, so no edge is ever missed. */
static void wait_for(int epoll, int fd, uint32_t interest) {
    struct epoll_event event = {.events = interest, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) < 0)
        close_connection(fd);
}

static void on_readable(int epoll, int fd, uint32_t events) {
    struct connection *connection = &connections[fd];
    for (int reads = 0; reads < READS_PER_EVENT; reads++) {
        ssize_t length = recv(fd, read_buffer, READ_BYTES, 0);
        if (length < 0 && errno == EAGAIN)
            return;
        if (length < 0 && errno == EINTR)
            continue;
        /* The end of the stream or a reset count like an answer that could not be written. */
        enum outcome outcome = length > 0 ? answer(fd, connection, (size_t)length) : BROKEN;
        if (outcome == BROKEN) {
            close_connection(fd);
            return;
        }
        if (outcome == BLOCKED) {
            connection->last_write = BLOCKED;
            wait_for(epoll, fd, WRITING);
            return;
        }
        /* A short read has emptied the socket: what comes later is a new edge. */
        if (length < READ_BYTES && !(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
            return;
    }
    /* A client that sends faster than this loop reads goes to the back of the queue. */
    wait_for(epoll, fd, READING);
}

static void on_writable(int epoll, int fd) {
    struct connection *connection = &connections[fd];
    connection->last_write =
        scenario == SCENARIO_ECHO ? flush_echo(fd, connection) : flush_hello(fd, connection);
    if (connection->last_write == BROKEN)
        close_connection(fd);
    else if (connection->last_write == DONE)
        wait_for(epoll, fd, READING);
}

/* Descriptors are the smallest numbers that are free, so the table is as long as it must be. */
static int open_connection(int epoll, int fd) {
    size_t index = (size_t)fd;
    if (index >= connections_length) {
        struct connection *more = realloc(connections, index * 2 * sizeof *more);
        if (more == NULL)
            return -1;
        connections = more;
        connections_length = index * 2;
    }
    connections[index] = (struct connection){.last_write = DONE};
    struct epoll_event event = {.events = READING, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static enum accept_state accept_all(int epoll, int listener) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0 && errno == EAGAIN)
            return ACCEPT_ALL_DONE;
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) /* Out of file descriptors or memory: try again when some may be free. */
            return ACCEPT_LATER;
        if (open_connection(epoll, fd) < 0)
            close(fd);
    }
}

/* The workers are processes, so an ordinary mutex would be a different one in each of them. */
void prepare_shared(enum scenario wanted) {
    if (wanted != SCENARIO_MUTEX)
        return;
    pthread_mutexattr_t attributes;
    lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lock == MAP_FAILED || pthread_mutexattr_init(&attributes) != 0 ||
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_mutex_init(lock, &attributes) != 0) {
        fprintf(stderr, "cannot make the lock that the workers share\n");
        exit(1);
    }
}

_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void)) {
    scenario = wanted;
    for (int i = 0; i < REPLIES_PER_BLOCK; i++)
        memcpy(reply_block + i * REPLY_BYTES, REPLY, REPLY_BYTES);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = listener};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        goto failed;
    ready();
    static struct epoll_event events[EVENTS_PER_WAIT];
    enum accept_state accepting = ACCEPT_ALL_DONE;
    for (;;) {
        int timeout_ms = accepting == ACCEPT_LATER ? ACCEPT_RETRY_MS : -1;
        int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, timeout_ms);
        if (count < 0 && errno != EINTR)
            goto failed;
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                accepting = ACCEPT_LATER;
            else if (connections[fd].last_write == BLOCKED)
                on_writable(epoll, fd);
            else
                on_readable(epoll, fd, events[i].events);
        }
        if (accepting == ACCEPT_LATER)
            accepting = accept_all(epoll, listener);
    }
failed:
    perror("epoll");
    exit(1);
}
