/* What a connection does next: `loop.c` tells what has happened, this side queues requests. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "../shared/loop.h"
#include "ring.h"

#include <stdint.h>

/* A power of two, and more than the completions that a round usually brings. */
enum { BUFFERS = 256 };

enum operation { ACCEPT, ACCEPT_LATER, RECEIVE, SEND, SILENT_SEND, UNREPORTED };

extern struct ring ring;

/* Every request carries what it is for and the descriptor that it is about. */
static inline void tag(struct io_uring_sqe *request, enum operation operation, int fd) {
    io_uring_sqe_set_data64(request, (uint64_t)operation << 32 | (uint32_t)fd);
}

void prepare_connections(enum scenario wanted);

/* Returns -1 without memory for another connection. */
int open_connection(int fd);

void on_received(int fd, int result, unsigned flags);
void on_sent(int fd, int result);
void on_silent_send_fell_short(int fd, int result);

/* Queues what the connections need to which something has happened, once for each. */
void settle_connections(void);

#endif
