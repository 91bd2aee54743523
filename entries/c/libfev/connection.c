/*
 * One connection of the libfev server: a fiber that reads, answers and waits as if it were a
 * thread.
 */
#define _GNU_SOURCE
#include "connection.h"
#include "../shared/heads.h"

#include <errno.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REPLIES_PER_WRITE = 256,
};

static enum scenario scenario;
static struct timespec timeout;
static char reply_block[REPLY_BYTES * REPLIES_PER_WRITE];

void prepare(enum scenario wanted, long timeout_ms) {
    scenario = wanted;
    timeout = (struct timespec){timeout_ms / 1000, timeout_ms % 1000 * 1000000};
    for (int i = 0; i < REPLIES_PER_WRITE; i++)
        memcpy(reply_block + i * REPLY_BYTES, REPLY, REPLY_BYTES);
}

ssize_t read_some(struct fev_socket *socket, char *buffer) {
    ssize_t length;
    do {
        if (scenario == SCENARIO_HELLO_TIMEOUT)
            length = fev_socket_try_read_for(socket, buffer, READ_BYTES, &timeout);
        else
            length = fev_socket_read(socket, buffer, READ_BYTES);
    } while (length == -EINTR);
    return length;
}

static ssize_t write_some(struct fev_socket *socket, const char *bytes, size_t length) {
    if (scenario == SCENARIO_HELLO_TIMEOUT)
        return fev_socket_try_write_for(socket, bytes, length, &timeout);
    return fev_socket_write(socket, bytes, length);
}

/* Each part that the socket takes is progress, so each has a timeout of its own. */
static enum outcome write_all(struct fev_socket *socket, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write_some(socket, bytes, length);
        if (written < 0 && written != -EINTR)
            return BROKEN;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return DONE;
}

enum outcome write_replies(struct fev_socket *socket, size_t replies) {
    while (replies > 0) {
        size_t batch = replies < REPLIES_PER_WRITE ? replies : REPLIES_PER_WRITE;
        if (write_all(socket, reply_block, batch * REPLY_BYTES) == BROKEN)
            return BROKEN;
        replies -= batch;
    }
    return DONE;
}

static void serve_without_work(struct fev_socket *socket) {
    char buffer[READ_BYTES];
    uint8_t terminator_seen = 0;
    enum outcome outcome = DONE;
    while (outcome == DONE) {
        ssize_t length = read_some(socket, buffer);
        if (length <= 0)
            break;
        if (scenario == SCENARIO_ECHO)
            outcome = write_all(socket, buffer, (size_t)length);
        else
            outcome = write_replies(socket, count_heads(&terminator_seen, buffer, (size_t)length));
    }
}

void *serve_connection(void *argument) {
    struct fev_socket *socket = argument;
    if (scenario & WITH_WORK)
        serve_with_work(socket, scenario);
    else
        serve_without_work(socket);
    fev_socket_close(socket);
    fev_socket_destroy(socket);
    return NULL;
}
