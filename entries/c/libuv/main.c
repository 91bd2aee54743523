/*
 * libuv with callbacks: one thread, one uv_loop and one SO_REUSEPORT listener per worker. This file
 * reads the arguments, opens the listeners and runs the loops; `connection.c` serves.
 *
 * It is deliberately not an HTTP server: it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include "connection.h"

#include <netinet/in.h>
#include <signal.h>

struct worker {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_thread_t thread;
};

static struct worker workers[MAX_WORKERS];

static void check(int result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, uv_strerror(result));
        exit(1);
    }
}

/* After the first one, `options` has the port that the kernel chose, for the other listeners. */
static void listen_on(struct worker *worker, struct options *options) {
    struct addrinfo *address = parse_address(options);
    uv_tcp_t *listener = &worker->listener;
    check(uv_loop_init(&worker->loop), "uv_loop_init");
    check(uv_tcp_init_ex(&worker->loop, listener, address->ai_family), "uv_tcp_init_ex");
    uv_os_fd_t fd;
    check(uv_fileno((uv_handle_t *)listener, &fd), "uv_fileno");
    const int on = 1;
    /* This version of libuv has no flag for it. */
    if (options->workers > 1 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        check(-errno, "SO_REUSEPORT");
    check(uv_tcp_bind(listener, address->ai_addr, 0), "uv_tcp_bind");
    check(uv_listen((uv_stream_t *)listener, BACKLOG, on_connection), "uv_listen");
    freeaddrinfo(address);
    learn_port(fd, options);
}

static void run_loop(void *argument) {
    struct worker *worker = argument;
    uv_run(&worker->loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv) {
    const unsigned known = SCENARIO_HELLO | SCENARIO_HELLO_TIMEOUT | SCENARIO_ECHO;
    struct options options = parse_options(argc, argv, known);
    prepare(options.scenario, (uint64_t)options.timeout_ms);

    /* libuv writes to sockets with write(2), which raises this signal for a closed one. */
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < options.workers; i++)
        listen_on(&workers[i], &options);
    for (int i = 1; i < options.workers; i++)
        check(uv_thread_create(&workers[i].thread, run_loop, &workers[i]), "uv_thread_create");
    announce(&options);
    run_loop(&workers[0]);
    return 1;
}
