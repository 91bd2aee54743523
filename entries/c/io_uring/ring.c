/*
 * Sets up the ring and its buffers, and says why when the kernel refuses.
 * It deliberately knows nothing of connections.
 */
#define _GNU_SOURCE
#include "ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Few requests, so that the queue stays in the cache; completions beyond these the kernel keeps. */
enum { REQUESTS = 256, COMPLETIONS = 4096 };

static const char *explain(int error) {
    char disabled = '0';
    FILE *file = fopen("/proc/sys/kernel/io_uring_disabled", "r");
    if (file != NULL) {
        if (fread(&disabled, 1, 1, file) != 1)
            disabled = '0';
        fclose(file);
    }
    switch (error) {
    case EPERM:
    case EACCES:
        return disabled != '0' ? "the sysctl kernel.io_uring_disabled forbids it, 0 would allow it"
                               : "a seccomp filter forbids it, as is usual in containers";
    case ENOSYS:
        return "this kernel is built without it, or a seccomp filter hides it";
    case EINVAL:
        return "as it is used here it needs Linux 6.1 or newer";
    case ENOMEM:
        return "too little memory may be locked, see `ulimit -l`";
    default:
        return "see the limits of this process";
    }
}

static _Noreturn void refuse(const char *step, int error) {
    fprintf(stderr, "io_uring cannot be used: %s: %s; %s\n", step, strerror(error), explain(error));
    exit(1);
}

void open_ring(struct ring *ring, unsigned buffers, unsigned buffer_bytes) {
    /*
     * One process submits and waits, so the kernel may finish work in its waits and nowhere else.
     * A request that fails must not keep back those behind it, hence SUBMIT_ALL.
     */
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL |
                 IORING_SETUP_CQSIZE,
        .cq_entries = COMPLETIONS,
    };
    int error = io_uring_queue_init_params(REQUESTS, &ring->io, &parameters);
    if (error < 0)
        refuse("setting up the ring", -error);
    error = io_uring_register_ring_fd(&ring->io);
    if (error < 0)
        refuse("registering the ring's descriptor", -error);

    const int protection = PROT_READ | PROT_WRITE;
    size_t queue_bytes = buffers * sizeof(struct io_uring_buf);
    ring->buffers = buffers;
    ring->buffer_bytes = buffer_bytes;
    ring->queue = mmap(NULL, queue_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ring->memory = malloc((size_t)buffers * buffer_bytes);
    if (ring->queue == MAP_FAILED || ring->memory == NULL)
        refuse("allocating buffers", ENOMEM);
    struct io_uring_buf_reg registration = {
        .ring_addr = (unsigned long)ring->queue, .ring_entries = buffers, .bgid = BUFFER_GROUP};
    error = io_uring_register_buf_ring(&ring->io, &registration, 0);
    if (error < 0)
        refuse("registering buffers", -error);
    io_uring_buf_ring_init(ring->queue);
    for (unsigned index = 0; index < buffers; index++)
        give_back(ring, index);
    publish_buffers(ring);
}

/* A signal or a shortage passes: what was not submitted is still queued. */
static void check(int result) {
    if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY)
        refuse("submitting", -result);
}

void submit(struct ring *ring) {
    check(io_uring_submit(&ring->io));
}

void submit_and_wait(struct ring *ring) {
    do
        check(io_uring_submit_and_wait(&ring->io, 1));
    while (io_uring_sq_ready(&ring->io) > 0);
}
