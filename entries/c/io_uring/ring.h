/* The ring and the buffers into which the kernel receives, shared by all connections of a worker.
 */
#ifndef RING_H
#define RING_H

#include <liburing.h>
#include <stddef.h>

enum { BUFFER_GROUP = 0 };

struct ring {
    struct io_uring io;
    struct io_uring_buf_ring *queue; /* In which buffers are given to the kernel. */
    char *memory;
    unsigned buffers; /* A power of two. */
    unsigned buffer_bytes;
    int given_back; /* Buffers in the queue that the kernel does not see yet. */
};

/* Sets up the ring and its buffers, or says on standard error why it cannot be and exits. */
void open_ring(struct ring *ring, unsigned buffers, unsigned buffer_bytes);

/* Makes room for more requests by submitting those that are queued. */
void submit(struct ring *ring);

/* Submits all that is queued and waits for at least one completion. */
void submit_and_wait(struct ring *ring);

static inline struct io_uring_sqe *next_request(struct ring *ring) {
    struct io_uring_sqe *request;
    while ((request = io_uring_get_sqe(&ring->io)) == NULL)
        submit(ring);
    return request;
}

static inline char *buffer(const struct ring *ring, unsigned index) {
    return ring->memory + (size_t)index * ring->buffer_bytes;
}

/* Queues a buffer for the kernel, which sees it with the next `publish_buffers`. */
static inline void give_back(struct ring *ring, unsigned index) {
    io_uring_buf_ring_add(ring->queue, buffer(ring, index), ring->buffer_bytes,
                          (unsigned short)index, io_uring_buf_ring_mask(ring->buffers),
                          ring->given_back++);
}

static inline void publish_buffers(struct ring *ring) {
    io_uring_buf_ring_advance(ring->queue, ring->given_back);
    ring->given_back = 0;
}

#endif
