/*
 * libfev with one fiber per connection, which its workers share. This file reads the arguments,
 * opens the listener and accepts; `connection.c` serves.
 *
 * It is deliberately not an HTTP server: it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKLOG = 4096, ACCEPT_RETRY_MS = 50, DEFAULT_TIMEOUT_MS = 5000, MAX_WORKERS = 1024 };

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

static const char *host;

/* libfev returns what went wrong as a negative number of errno. */
static void check(int result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(-result));
        exit(1);
    }
}

static struct fev_socket *listen_on(const char *port) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    if (getaddrinfo(host, port, &hints, &address) != 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address, not `%s`\n", host);
        exit(2);
    }
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
    return listener;
}

static void print_ready(const struct fev_socket *listener) {
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char port[NI_MAXSERV];
    int fd = fev_socket_native_handle(listener);
    if (getsockname(fd, (struct sockaddr *)&bound, &length) < 0 ||
        getnameinfo((struct sockaddr *)&bound, length, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0) {
        perror("getsockname");
        exit(1);
    }
    printf(strchr(host, ':') ? "listening [%s]:%s\n" : "listening %s:%s\n", host, port);
    fflush(stdout);
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
    print_ready(listener);
    for (;;) {
        int result = accept_one(listener);
        /* Out of descriptors or memory: the next accept would fail at once as well. */
        if (result < 0 && result != -EINTR && result != -ECONNABORTED)
            fev_sem_wait_for(never, &pause);
    }
    return NULL;
}

static long parse_number(const char *text, long least, long most, const char *name) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s must be a number from %ld to %ld, not `%s`\n", name, least, most, text);
        exit(2);
    }
    return value;
}

static enum scenario parse_scenario(const char *text) {
    static const char *const names[] = {"hello", "hello-timeout", "echo"};
    for (enum scenario candidate = HELLO; candidate <= ECHO; candidate++)
        if (strcmp(text, names[candidate]) == 0)
            return candidate;
    fprintf(stderr, "unknown scenario `%s`: use hello, hello-timeout or echo\n", text);
    exit(2);
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s SCENARIO HOST PORT WORKERS [TIMEOUT_MS]\n", argv[0]);
        return 2;
    }
    if (strcmp(VARIANT, POLLER "-" SCHEDULER) != 0) {
        fprintf(stderr, "this libfev was built as %s-%s, not as %s\n", POLLER, SCHEDULER, VARIANT);
        return 1;
    }
    enum scenario scenario = parse_scenario(argv[1]);
    host = argv[2];
    char port[NI_MAXSERV];
    snprintf(port, sizeof port, "%ld", parse_number(argv[3], 0, 65535, "PORT"));
    uint32_t workers = (uint32_t)parse_number(argv[4], 1, MAX_WORKERS, "WORKERS");
    prepare(scenario,
            argc == 6 ? parse_number(argv[5], 1, INT_MAX, "TIMEOUT_MS") : DEFAULT_TIMEOUT_MS);

    /* libfev writes to sockets with write(2), which raises this signal for a closed one. */
    signal(SIGPIPE, SIG_IGN);
    struct fev_sched_attr *attributes;
    struct fev_sched *scheduler;
    check(fev_sched_attr_create(&attributes), "fev_sched_attr_create");
    fev_sched_attr_set_num_workers(attributes, workers);
    check(fev_sched_create(&scheduler, attributes), "fev_sched_create");
    check(fev_fiber_spawn(scheduler, accept_all, listen_on(port)), "fev_fiber_spawn");
    check(fev_sched_run(scheduler), "fev_sched_run");
    return 1;
}
