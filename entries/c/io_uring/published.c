/*
 * The raw io_uring server as httpbench measured it: for each request a receive that selects a
 * buffer, a request that gives the buffer back, and a send; a ring without setup flags.
 *
 * Like `c/epoll:published`, it compares the last four bytes of a read with the end of a head and
 * sends one reply. Where the document's program exits (a split head, no buffer), it goes on.
 */
#define _GNU_SOURCE
#include "../shared/loop.h"
#include "connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* As long as the document's reply. Its body had one byte more, so this `Server` has one more. */
static const char REPLY[] = "HTTP/1.1 200 OK\r\n"
                            "Server: io_uring/raw_01234567890123456789012345678901234567\r\n"
                            "Connection: keep-alive\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REQUESTS = 512,
    PUBLISHED_BUFFERS = 4096,
    BUFFER_BYTES = 2048,
    CONNECTIONS = 64 * 1024,
    ACCEPT_RETRY_MS = 50,
    END_OF_HEAD = 0x0d0a0d0a, /* "\r\n\r\n" */
};
_Static_assert(REPLY_BYTES == 162, "the column Res[B] of the document");

const unsigned known_scenarios = SCENARIO_HELLO;
struct ring ring;

/* Of the connection on descriptor `fd`, the last four bytes received. */
static uint32_t last_bytes[CONNECTIONS];
static char buffers[PUBLISHED_BUFFERS][BUFFER_BYTES];
static struct __kernel_timespec accept_retry = {.tv_nsec = ACCEPT_RETRY_MS * 1000000L};

static void accept_one(int listener) {
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_accept(request, listener, NULL, NULL, 0);
    tag(request, ACCEPT, listener);
}

static void receive(int fd) {
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_recv(request, fd, NULL, BUFFER_BYTES, 0);
    request->flags |= IOSQE_BUFFER_SELECT;
    request->buf_group = BUFFER_GROUP;
    tag(request, RECEIVE, fd);
}

static void provide_buffers(unsigned first, int count) {
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_provide_buffers(request, buffers[first], BUFFER_BYTES, count, BUFFER_GROUP,
                                  (int)first);
    tag(request, UNREPORTED, 0);
}

static void send_reply(int fd) {
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_send(request, fd, REPLY, REPLY_BYTES, MSG_NOSIGNAL);
    tag(request, SEND, fd);
}

static void on_accept(int listener, int result) {
    if (result >= CONNECTIONS) {
        close(result);
    } else if (result >= 0) {
        last_bytes[result] = 0;
        receive(result);
    } else if (result != -ECONNABORTED && result != -EINTR && result != -EAGAIN) {
        /* Out of file descriptors or memory: the next accept would fail at once as well. */
        struct io_uring_sqe *request = next_request(&ring);
        io_uring_prep_timeout(request, &accept_retry, 0, 0);
        tag(request, ACCEPT_LATER, listener);
        return;
    }
    accept_one(listener);
}

static void on_receive(int fd, int result, unsigned flags) {
    if (result == -ENOBUFS || result == -EINTR || result == -EAGAIN) {
        receive(fd);
        return;
    }
    if (result <= 0) {
        close(fd);
        return;
    }
    unsigned index = flags >> IORING_CQE_BUFFER_SHIFT;
    for (int i = result > 4 ? result - 4 : 0; i < result; i++)
        last_bytes[fd] = last_bytes[fd] << 8 | (uint8_t)buffers[index][i];
    provide_buffers(index, 1);
    if (last_bytes[fd] == END_OF_HEAD)
        send_reply(fd);
    else
        receive(fd);
}

static void complete(const struct io_uring_cqe *completion) {
    int fd = (int)(uint32_t)completion->user_data;
    switch ((enum operation)(completion->user_data >> 32)) {
    case ACCEPT:
        on_accept(fd, completion->res);
        break;
    case ACCEPT_LATER:
        accept_one(fd);
        break;
    case RECEIVE:
        on_receive(fd, completion->res, completion->flags);
        break;
    case SEND:
        if (completion->res == REPLY_BYTES)
            receive(fd);
        else
            close(fd);
        break;
    default: /* A buffer was given back. */
        break;
    }
}

void prepare_shared(enum scenario wanted) {
    (void)wanted; /* Its workers share nothing. */
}

_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void)) {
    (void)wanted;
    const int off = 0;
    int error = io_uring_queue_init(REQUESTS, &ring.io, 0);
    /* The document's program leaves Nagle's algorithm on; accepted sockets inherit the option. */
    if (error < 0 || setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &off, sizeof off) < 0) {
        fprintf(stderr, "io_uring cannot be used: %s\n", strerror(error < 0 ? -error : errno));
        exit(1);
    }
    provide_buffers(0, PUBLISHED_BUFFERS);
    accept_one(listener);
    ready();
    for (;;) {
        submit_and_wait(&ring);
        unsigned head, count = 0;
        struct io_uring_cqe *completion;
        io_uring_for_each_cqe(&ring.io, head, completion) {
            complete(completion);
            count++;
        }
        io_uring_cq_advance(&ring.io, count);
    }
}
