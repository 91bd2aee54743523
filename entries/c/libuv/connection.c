/*
 * One connection of the libuv server. Reading stops while a write is under way, which alone gives
 * pipelining, partial writes and backpressure.
 */
#define _GNU_SOURCE
#include "connection.h"
#include "../shared/heads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REPLIES_PER_BLOCK = 256,
    BLOCK_BYTES = REPLY_BYTES * REPLIES_PER_BLOCK,
    READ_BYTES = 16 * 1024,
    /* As many blocks as the shortest heads in one read may be owed. */
    PARTS = READ_BYTES / 4 / REPLIES_PER_BLOCK + 1,
};

struct connection {
    uv_tcp_t socket;
    uv_timer_t timer;
    uv_write_t write;
    int handles;             /* How many of the first two are not closed yet. */
    uint8_t terminator_seen; /* hello: see `count_heads`. */
    size_t owed_bytes;       /* What is still to be sent. */
    size_t offset;           /* echo: where in the buffer that begins. */
    size_t unsent_bytes;     /* hello-timeout: of the write, when the timer was armed. */
    char buffer[READ_BYTES];
};

static enum scenario scenario;
static uint64_t timeout_ms;
static char reply_block[BLOCK_BYTES];

static void start_reading(struct connection *connection);

void prepare(enum scenario wanted, uint64_t timeout_in_ms) {
    scenario = wanted;
    timeout_ms = timeout_in_ms;
    for (int i = 0; i < REPLIES_PER_BLOCK; i++)
        memcpy(reply_block + i * REPLY_BYTES, REPLY, REPLY_BYTES);
}

static void on_close(uv_handle_t *handle) {
    struct connection *connection = handle->data;
    if (--connection->handles == 0)
        free(connection);
}

static void close_connection(struct connection *connection) {
    if (uv_is_closing((uv_handle_t *)&connection->socket))
        return;
    uv_close((uv_handle_t *)&connection->socket, on_close);
    uv_close((uv_handle_t *)&connection->timer, on_close);
}

/* A write completes only when all is written; what the queue has lost meanwhile is progress. */
static void on_timeout(uv_timer_t *timer) {
    struct connection *connection = timer->data;
    size_t unsent = uv_stream_get_write_queue_size((uv_stream_t *)&connection->socket);
    if (unsent >= connection->unsent_bytes)
        close_connection(connection);
    connection->unsent_bytes = unsent;
}

/* The timer repeats, so arming it again is one call that moves it to its new place. */
static void arm_timer(struct connection *connection) {
    if (scenario != SCENARIO_HELLO_TIMEOUT)
        return;
    connection->unsent_bytes = uv_stream_get_write_queue_size((uv_stream_t *)&connection->socket);
    uv_timer_again(&connection->timer);
}

/* All replies are equal, so what a connection is owed is a number and never a buffer. */
static unsigned next_output(struct connection *connection, uv_buf_t parts[PARTS]) {
    if (scenario == SCENARIO_ECHO) {
        parts[0] =
            uv_buf_init(connection->buffer + connection->offset, (unsigned)connection->owed_bytes);
        return 1;
    }
    size_t offset = (REPLY_BYTES - connection->owed_bytes % REPLY_BYTES) % REPLY_BYTES;
    size_t rest = connection->owed_bytes;
    unsigned count = 0;
    while (rest > 0 && count < PARTS) {
        size_t length = rest < BLOCK_BYTES - offset ? rest : BLOCK_BYTES - offset;
        parts[count++] = uv_buf_init(reply_block + offset, (unsigned)length);
        rest -= length;
        offset = 0;
    }
    return count;
}

static void on_written(uv_write_t *write, int status) {
    struct connection *connection = write->data;
    if (status < 0) {
        close_connection(connection);
        return;
    }
    connection->owed_bytes = 0;
    start_reading(connection);
    arm_timer(connection);
}

/* The usual answer fits into the socket at once and needs no request, no callback and no wait. */
static void write_owed(struct connection *connection) {
    uv_stream_t *stream = (uv_stream_t *)&connection->socket;
    uv_buf_t parts[PARTS];
    int result = uv_try_write(stream, parts, next_output(connection, parts));
    if (result < 0 && result != UV_EAGAIN) {
        close_connection(connection);
        return;
    }
    if (result > 0) {
        connection->owed_bytes -= (size_t)result;
        connection->offset += (size_t)result;
    }
    if (connection->owed_bytes == 0)
        return;
    uv_read_stop(stream);
    connection->write.data = connection;
    unsigned count = next_output(connection, parts);
    if (uv_write(&connection->write, stream, parts, count, on_written) < 0)
        close_connection(connection);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    struct connection *connection = handle->data;
    *buffer = uv_buf_init(connection->buffer, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t result, const uv_buf_t *buffer) {
    struct connection *connection = stream->data;
    if (result == 0) /* There was nothing to read after all. */
        return;
    if (result < 0) { /* The end of the stream, behind which nothing is owed, or an error. */
        close_connection(connection);
        return;
    }
    size_t length = (size_t)result;
    connection->offset = 0;
    connection->owed_bytes =
        scenario == SCENARIO_ECHO
            ? length
            : REPLY_BYTES * count_heads(&connection->terminator_seen, buffer->base, length);
    if (connection->owed_bytes > 0)
        write_owed(connection);
    if (!uv_is_closing((uv_handle_t *)stream))
        arm_timer(connection);
}

static void start_reading(struct connection *connection) {
    if (uv_read_start((uv_stream_t *)&connection->socket, on_allocate, on_read) < 0)
        close_connection(connection);
}

void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) /* libuv itself deals with a lack of descriptors. */
        return;
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        /* libuv would wait for this connection to be accepted before it tells of another. */
        fprintf(stderr, "no memory for another connection\n");
        exit(1);
    }
    connection->handles = 2;
    connection->socket.data = connection;
    connection->timer.data = connection;
    uv_tcp_init(listener->loop, &connection->socket);
    uv_timer_init(listener->loop, &connection->timer);
    if (uv_accept(listener, (uv_stream_t *)&connection->socket) < 0 ||
        uv_tcp_nodelay(&connection->socket, 1) < 0) {
        close_connection(connection);
        return;
    }
    if (scenario == SCENARIO_HELLO_TIMEOUT)
        uv_timer_start(&connection->timer, on_timeout, timeout_ms, timeout_ms);
    start_reading(connection);
}
