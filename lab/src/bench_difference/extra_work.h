/*
 * Makes a server do more work for each reply, by a number of steps that is known: given to the
 * compiler with `-include` before the server's own sources, which stay as they are.
 *
 * A step is one multiplication and one addition that depend on the step before, so that neither the
 * compiler nor the CPU can leave one out or do two at once. It touches no memory.
 */
#pragma once
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

static inline void extra_work(unsigned long seed, unsigned long steps) {
    unsigned long state = seed;
    for (unsigned long step = 0; step < steps; step++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        /* Without this the compiler may unroll or reorder the steps. */
        __asm__ volatile("" : "+r"(state));
    }
}

/* On a synthetic machine, requests take more steps for so many seconds after each NEAR_SECONDS. */
#ifdef FAR_STEPS
static inline unsigned long far_steps(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec % (NEAR_SECONDS + FAR_SECONDS) < NEAR_SECONDS ? 0 : FAR_STEPS;
}
#else
#define far_steps() 0ul
#endif

static inline ssize_t send_after_work(int fd, const void *bytes, size_t length, int flags) {
    extra_work((unsigned long)fd, EXTRA_STEPS + far_steps());
    return send(fd, bytes, length, flags);
}

#define send(fd, bytes, length, flags) send_after_work(fd, bytes, length, flags)
