/*
 * One connection of the raw io_uring server: what of it is in flight, and what to submit next.
 * The usual answer is a silent send: it does not wait for room in the socket, so it is over when
 * the system call that submits it returns, and it reports only if it could not send everything.
 * What is left goes out with sends that wait and report; when too much is kept, receiving stops.
 */
#define _GNU_SOURCE
#include "connection.h"
#include "backlog.h"
#include "../shared/heads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REPLIES_PER_BLOCK = 1024,
    BLOCK_BYTES = REPLY_BYTES * REPLIES_PER_BLOCK,
    OWED_BYTES_LIMIT = 128 * 1024,
    /* With MSG_WAITALL the kernel counts a part as a failure and says how long the part was. */
    SILENT_FLAGS = MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL,
};

enum input { STOPPED, ARMED, STOPPING, ENDED };
enum output { IDLE, IN_FLIGHT };

/* The connection on descriptor `fd` is `connections[fd]`: small, and found without a pointer. */
struct connection {
    uint8_t input, output;
    bool broken;                    /* To be closed as soon as nothing of it is in flight. */
    bool touched;                   /* Stands in the list of those to be settled. */
    bool fell_short;                /* The last silent send: the next one has to wait for room. */
    uint8_t terminator_seen;        /* hello: see `count_heads`. */
    uint16_t held_first, held_last; /* echo: the buffers that arrived in this round. */
    uint32_t held_bytes;
    uint32_t silent_bytes;  /* What the last silent send was to send. */
    size_t owed_bytes;      /* What is still to be sent, without what is held. */
    struct backlog backlog; /* echo: the owed bytes. */
};

struct ring ring;
static enum scenario scenario;
static char reply_block[BLOCK_BYTES];
static struct connection *connections;
static int *touched; /* Those to which something has happened in this round. */
static size_t connections_length, touched_length;
/* echo: what arrived in a buffer, and in which buffer the same round brought what follows. */
static struct {
    uint16_t next;
    uint32_t length;
} held[BUFFERS];
/* echo: what silent sends send from, given back when it is known what became of those. */
static uint16_t lent[BUFFERS];
static struct iovec parts[BUFFERS];
static struct msghdr messages[BUFFERS];
static size_t lent_length, parts_length, messages_length;

void prepare_connections(enum scenario wanted) {
    scenario = wanted;
    for (int i = 0; i < REPLIES_PER_BLOCK; i++)
        memcpy(reply_block + i * REPLY_BYTES, REPLY, REPLY_BYTES);
}

static struct connection *touch(int fd) {
    struct connection *connection = &connections[fd];
    if (!connection->touched) {
        connection->touched = true;
        touched[touched_length++] = fd;
    }
    return connection;
}

/* No request points into the table, so it may move. */
static int grow(size_t length) {
    struct connection *more = realloc(connections, length * sizeof *more);
    if (more != NULL)
        connections = more;
    int *list = realloc(touched, length * sizeof *list);
    if (list != NULL)
        touched = list;
    if (more != NULL && list != NULL)
        connections_length = length;
    return more != NULL && list != NULL ? 0 : -1;
}

int open_connection(int fd) {
    size_t index = (size_t)fd;
    if (index >= connections_length && grow(index * 2) < 0)
        return -1;
    connections[index] = (struct connection){.input = STOPPED};
    touch(fd);
    return 0;
}

/* Copies the bytes from `skip` to `end` of the buffers that begin with `index`. */
static void keep(struct connection *connection, unsigned index, size_t skip, size_t end) {
    for (size_t start = 0; start < end; index = held[index].next) {
        size_t length = held[index].length;
        size_t from = skip > start ? skip - start : 0;
        start += length;
        if (from >= length)
            continue;
        if (append(&connection->backlog, buffer(&ring, index) + from, length - from) < 0) {
            connection->broken = true;
            return;
        }
        connection->owed_bytes += length - from;
    }
}

/* The buffers stay ours until the end of the next round. */
static void lend_held(struct connection *connection) {
    unsigned index = connection->held_first;
    for (size_t bytes = 0; bytes < connection->held_bytes; index = held[index].next) {
        bytes += held[index].length;
        lent[lent_length++] = (uint16_t)index;
    }
    connection->held_bytes = 0;
}

static void hold(struct connection *connection, unsigned index, uint32_t length) {
    held[index].length = length;
    if (connection->held_bytes == 0)
        connection->held_first = (uint16_t)index;
    else
        held[connection->held_last].next = (uint16_t)index;
    connection->held_last = (uint16_t)index;
    connection->held_bytes += length;
}

void on_received(int fd, int result, unsigned flags) {
    struct connection *connection = touch(fd);
    if (!(flags & IORING_CQE_F_MORE))
        connection->input = result == 0 ? ENDED : STOPPED;
    unsigned index = flags >> IORING_CQE_BUFFER_SHIFT;
    if (result > 0 && scenario == SCENARIO_ECHO) {
        hold(connection, index, (uint32_t)result);
        return;
    }
    uint8_t *seen = &connection->terminator_seen;
    if (result > 0)
        connection->owed_bytes +=
            REPLY_BYTES * count_heads(seen, buffer(&ring, index), (size_t)result);
    if (flags & IORING_CQE_F_BUFFER)
        give_back(&ring, index);
    /* Without a buffer left, or stopped by us, it may go on; everything else is the end. */
    if (result < 0 && result != -ENOBUFS && result != -ECANCELED && result != -EINTR &&
        result != -EAGAIN)
        connection->broken = true;
}

void on_sent(int fd, int result) {
    struct connection *connection = touch(fd);
    connection->output = IDLE;
    connection->fell_short = false;
    connection->broken |= result < 0 && result != -EINTR && result != -EAGAIN;
    size_t sent = result > 0 ? (size_t)result : 0;
    connection->owed_bytes -= sent;
    if (connection->backlog.first != NULL)
        advance(&connection->backlog, sent);
}

/* Comes before anything that the connection received after it, because it was over before. */
void on_silent_send_fell_short(int fd, int result) {
    struct connection *connection = touch(fd);
    size_t sent = result > 0 ? (size_t)result : 0;
    connection->fell_short = true;
    if (result < 0 && result != -EAGAIN && result != -EINTR)
        connection->broken = true;
    else if (scenario == SCENARIO_ECHO)
        keep(connection, connection->held_first, sent, connection->silent_bytes);
    else
        connection->owed_bytes += connection->silent_bytes - sent;
}

/* Only a failure of the request posts a completion. */
static void tag_silent(struct io_uring_sqe *request, enum operation operation, int fd) {
    request->flags |= IOSQE_CQE_SKIP_SUCCESS;
    tag(request, operation, fd);
}

/* Sends straight out of the buffers, with one request however many they are. */
static void send_held(int fd, struct connection *connection) {
    struct io_uring_sqe *request = next_request(&ring);
    unsigned index = connection->held_first;
    connection->silent_bytes = connection->held_bytes;
    if (held[index].length == connection->held_bytes) {
        io_uring_prep_send(request, fd, buffer(&ring, index), held[index].length, SILENT_FLAGS);
    } else {
        struct msghdr *message = &messages[messages_length++];
        *message = (struct msghdr){.msg_iov = &parts[parts_length]};
        for (size_t bytes = 0; bytes < connection->held_bytes; index = held[index].next) {
            bytes += held[index].length;
            parts[parts_length++] = (struct iovec){buffer(&ring, index), held[index].length};
            message->msg_iovlen++;
        }
        io_uring_prep_sendmsg(request, fd, message, SILENT_FLAGS);
    }
    tag_silent(request, SILENT_SEND, fd);
    lend_held(connection);
}

/* All replies are equal, so what a connection is owed is a number and never a buffer. */
static void send_owed(int fd, struct connection *connection, bool may_be_silent) {
    struct io_uring_sqe *request = next_request(&ring);
    size_t offset = (REPLY_BYTES - connection->owed_bytes % REPLY_BYTES) % REPLY_BYTES;
    size_t length = BLOCK_BYTES - offset;
    const char *bytes = reply_block + offset;
    if (length > connection->owed_bytes)
        length = connection->owed_bytes;
    const struct chunk *chunk = connection->backlog.first;
    if (chunk != NULL) {
        bytes = chunk->bytes + chunk->offset;
        length = chunk->length - chunk->offset;
    } else if (may_be_silent && length == connection->owed_bytes) {
        io_uring_prep_send(request, fd, bytes, length, SILENT_FLAGS);
        tag_silent(request, SILENT_SEND, fd);
        connection->silent_bytes = (uint32_t)length;
        connection->owed_bytes = 0;
        return;
    }
    io_uring_prep_send(request, fd, bytes, length, MSG_NOSIGNAL);
    tag(request, SEND, fd);
    connection->output = IN_FLIGHT;
}

static void settle_output(int fd, struct connection *connection) {
    /*
     * Who sends silently learns nothing of its end, so a receive must be there to bring the next
     * occasion to act; one that was there before this round, or its data might overtake the news.
     */
    bool may_be_silent = connection->input == ARMED && !connection->fell_short;
    if (connection->held_bytes > 0) {
        if (may_be_silent && connection->owed_bytes == 0) {
            send_held(fd, connection);
            return;
        }
        keep(connection, connection->held_first, 0, connection->held_bytes);
        lend_held(connection);
    }
    if (connection->output == IDLE && connection->owed_bytes > 0)
        send_owed(fd, connection, may_be_silent);
}

static void settle_input(int fd, struct connection *connection) {
    if (connection->input == STOPPED && connection->owed_bytes <= OWED_BYTES_LIMIT / 2) {
        struct io_uring_sqe *request = next_request(&ring);
        io_uring_prep_recv_multishot(request, fd, NULL, 0, 0);
        request->flags |= IOSQE_BUFFER_SELECT;
        request->buf_group = BUFFER_GROUP;
        tag(request, RECEIVE, fd);
        connection->input = ARMED;
    } else if (connection->input == ARMED && connection->owed_bytes > OWED_BYTES_LIMIT) {
        struct io_uring_sqe *request = next_request(&ring);
        io_uring_prep_cancel64(request, (uint64_t)RECEIVE << 32 | (uint32_t)fd, 0);
        tag_silent(request, UNREPORTED, fd);
        connection->input = STOPPING;
    }
}

static void close_connection(int fd, struct connection *connection) {
    while (connection->backlog.first != NULL)
        drop_first(&connection->backlog);
    struct io_uring_sqe *request = next_request(&ring);
    io_uring_prep_close(request, fd);
    tag_silent(request, UNREPORTED, fd);
}

static void settle(int fd, struct connection *connection) {
    connection->touched = false;
    if (connection->broken) {
        lend_held(connection);
        /* This ends what is in flight, and each of those says so. */
        shutdown(fd, SHUT_RDWR);
        bool receiving = connection->input == ARMED || connection->input == STOPPING;
        if (!receiving && connection->output == IDLE)
            close_connection(fd, connection);
        return;
    }
    settle_output(fd, connection);
    settle_input(fd, connection);
    if (connection->input == ENDED && connection->output == IDLE && connection->owed_bytes == 0)
        close_connection(fd, connection);
}

void settle_connections(void) {
    for (size_t i = 0; i < lent_length; i++)
        give_back(&ring, lent[i]);
    lent_length = parts_length = messages_length = 0;
    for (size_t i = 0; i < touched_length; i++)
        settle(touched[i], &connections[touched[i]]);
    touched_length = 0;
}
