/*
 * libfev with one fiber per connection, which its workers share. This file reads the arguments,
 * opens the listener and accepts; `connection.c` serves.
 *
 * It is deliberately not an HTTP server: it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include "connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>

enum { ACCEPT_RETRY_MS = 50 };

/* What the library that is linked was built as, so that no variant measures another one. */
#if defined FEV_POLLER_EPOLL
#define POLLER "epoll"
#elif defined FEV_POLLER_IO_URING
#define POLLER "io_uring"
#endif
#if defined FEV_SCHED_WORK_SHARING_LOCKING
#define SCHEDULER "work-sharing-locking"
#elif defined FEV_SCHED_WORK_SHARING_BOUNDED_MPMC
#define SCHEDULER "work-sharing-bounded-mpmc"
#elif defined FEV_SCHED_WORK_SHARING_SIMPLE_MPMC
#define SCHEDULER "work-sharing-simple-mpmc"
#elif defined FEV_SCHED_WORK_STEALING_LOCKING
#define SCHEDULER "work-stealing-locking"
#elif defined FEV_SCHED_WORK_STEALING_BOUNDED_MPMC
#define SCHEDULER "work-stealing-bounded-mpmc"
#elif defined FEV_SCHED_WORK_STEALING_BOUNDED_SPMC
#define SCHEDULER "work-stealing-bounded-spmc"
#endif

static struct options options;

/* libfev returns what went wrong as a negative number of errno. */
static void check(int result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(-result));
        exit(1);
    }
}

static struct fev_socket *listen_on(void) {
    struct addrinfo *address = parse_address(&options);
    struct fev_socket *listener;
    const int on = 1;
    check(fev_socket_create(&listener), "fev_socket_create");
    check(fev_socket_open(listener, address->ai_family, SOCK_STREAM, 0), "fev_socket_open");
    check(fev_socket_set_opt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
    /* Accepted sockets inherit it. */
    check(fev_socket_set_opt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
    check(fev_socket_bind(listener, address->ai_addr, address->ai_addrlen), "fev_socket_bind");
    check(fev_socket_listen(listener, BACKLOG), "fev_socket_listen");
    freeaddrinfo(address);
    learn_port(fev_socket_native_handle(listener), &options);
    return listener;
}

/* A connection that gets no fiber is closed. */
static int accept_one(struct fev_socket *listener) {
    struct fev_socket *socket;
    int result = fev_socket_create(&socket);
    if (result < 0)
        return result;
    result = fev_socket_accept(listener, socket, NULL, NULL);
    if (result == 0)
        result = fev_fiber_spawn(NULL, serve_connection, socket);
    if (result < 0) {
        fev_socket_close(socket);
        fev_socket_destroy(socket);
    }
    return result;
}

static void *accept_all(void *argument) {
    struct fev_socket *listener = argument;
    /* This semaphore is never posted: waiting for it is how a fiber of libfev sleeps. */
    struct fev_sem *never;
    const struct timespec pause = {.tv_nsec = ACCEPT_RETRY_MS * 1000000L};
    check(fev_sem_create(&never, 0), "fev_sem_create");
    announce(&options);
    for (;;) {
        int result = accept_one(listener);
        /* Out of descriptors or memory: the next accept would fail at once as well. */
        if (result < 0 && result != -EINTR && result != -ECONNABORTED)
            fev_sem_wait_for(never, &pause);
    }
    return NULL;
}

int main(int argc, char **argv) {
    const unsigned known = SCENARIO_HELLO | SCENARIO_HELLO_TIMEOUT | SCENARIO_ECHO | WITH_WORK;
    options = parse_options(argc, argv, known);
    if (strcmp(VARIANT, POLLER "-" SCHEDULER) != 0) {
        fprintf(stderr, "this libfev was built as %s-%s, not as %s\n", POLLER, SCHEDULER, VARIANT);
        return 1;
    }
    prepare(options.scenario, options.timeout_ms);

    /* libfev writes to sockets with write(2), which raises this signal for a closed one. */
    signal(SIGPIPE, SIG_IGN);
    struct fev_sched_attr *attributes;
    struct fev_sched *scheduler;
    check(fev_sched_attr_create(&attributes), "fev_sched_attr_create");
    fev_sched_attr_set_num_workers(attributes, (uint32_t)options.workers);
    check(fev_sched_create(&scheduler, attributes), "fev_sched_create");
    check(prepare_tasks(scheduler, options.scenario), "prepare_tasks");
    check(fev_fiber_spawn(scheduler, accept_all, listen_on()), "fev_fiber_spawn");
    check(fev_sched_run(scheduler), "fev_sched_run");
    return 1;
}
