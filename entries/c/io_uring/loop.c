/*
 * The loop of the raw io_uring server: a round is one system call, which submits the answers of the
 * round before, waits, and brings what has arrived. `connection.c` decides what a connection does.
 */
#define _GNU_SOURCE
#include "../shared/loop.h"
#include "connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /*
     * A head of `hello` fits into a small buffer. One cache line more than a power of two, because
     * the beginnings of all buffers would compete for the same places of the cache otherwise.
     */
    HELLO_BUFFER_BYTES = 2 * 1024 + 64,
    ECHO_BUFFER_BYTES = 16 * 1024 + 64,
    ACCEPT_RETRY_MS = 50,
};

const unsigned known_scenarios = SCENARIO_HELLO | SCENARIO_ECHO;

/* Static, because the kernel reads it when the request is submitted. */
static struct __kernel_timespec accept_retry = {.tv_nsec = ACCEPT_RETRY_MS * 1000000L};

static void accept_connections(int listener) {
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_multishot_accept(request, listener, NULL, NULL, SOCK_CLOEXEC);
    tag(request, ACCEPT, listener);
}

static void accept_later(int listener) {
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_timeout(request, &accept_retry, 0, 0);
    tag(request, ACCEPT_LATER, listener);
}

static void on_accept(int listener, int result, unsigned flags) {
    if (result >= 0 && open_connection(result) < 0)
        close(result);
    if (flags & IORING_CQE_F_MORE)
        return;
    if (result >= 0 || result == -ECONNABORTED || result == -EINTR || result == -EAGAIN)
        accept_connections(listener);
    else /* Out of file descriptors or memory: the next accept would fail at once as well. */
        accept_later(listener);
}

static void complete(const struct io_uring_cqe *completion) {
    int fd = (int)(uint32_t)completion->user_data;
    switch ((enum operation)(completion->user_data >> 32)) {
    case ACCEPT:
        on_accept(fd, completion->res, completion->flags);
        break;
    case ACCEPT_LATER:
        accept_connections(fd);
        break;
    case RECEIVE:
        on_received(fd, completion->res, completion->flags);
        break;
    case SEND:
        on_sent(fd, completion->res);
        break;
    case SILENT_SEND:
        on_silent_send_fell_short(fd, completion->res);
        break;
    case UNREPORTED: /* It failed because what it was for had already happened. */
        break;
    }
}

void prepare_shared(enum scenario wanted) {
    (void)wanted; /* Its workers share nothing. */
}

_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void)) {
    prepare_connections(wanted);
    open_ring(&ring, BUFFERS, wanted == SCENARIO_ECHO ? ECHO_BUFFER_BYTES : HELLO_BUFFER_BYTES);
    accept_connections(listener);
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
        settle_connections();
        publish_buffers(&ring);
    }
}
