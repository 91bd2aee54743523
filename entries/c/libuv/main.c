/*
 * libuv with callbacks: one thread, one uv_loop and one SO_REUSEPORT listener per worker. This file
 * reads the arguments, opens the listeners and runs the loops; `connection.c` serves.
 *
 * It is deliberately not an HTTP server: it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BACKLOG = 4096, DEFAULT_TIMEOUT_MS = 5000, MAX_WORKERS = 1024 };

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

static void parse_address(const char *host, int port, struct sockaddr_storage *address) {
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)address) < 0 &&
        uv_ip6_addr(host, port, (struct sockaddr_in6 *)address) < 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address, not `%s`\n", host);
        exit(2);
    }
}

/* Port 0 lets the kernel choose; `address` then has the chosen one, for the other listeners. */
static void listen_on(struct worker *worker, struct sockaddr_storage *address, int count) {
    uv_tcp_t *listener = &worker->listener;
    check(uv_loop_init(&worker->loop), "uv_loop_init");
    check(uv_tcp_init_ex(&worker->loop, listener, address->ss_family), "uv_tcp_init_ex");
    uv_os_fd_t fd;
    check(uv_fileno((uv_handle_t *)listener, &fd), "uv_fileno");
    const int on = 1;
    /* This version of libuv has no flag for it. */
    if (count > 1 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        check(-errno, "SO_REUSEPORT");
    check(uv_tcp_bind(listener, (struct sockaddr *)address, 0), "uv_tcp_bind");
    check(uv_listen((uv_stream_t *)listener, BACKLOG, on_connection), "uv_listen");
    int length = sizeof *address;
    check(uv_tcp_getsockname(listener, (struct sockaddr *)address, &length), "uv_tcp_getsockname");
}

static void run_loop(void *argument) {
    struct worker *worker = argument;
    uv_run(&worker->loop, UV_RUN_DEFAULT);
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
    for (enum scenario candidate = SCENARIO_HELLO; candidate <= SCENARIO_ECHO; candidate++)
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
    enum scenario scenario = parse_scenario(argv[1]);
    struct sockaddr_storage address;
    parse_address(argv[2], (int)parse_number(argv[3], 0, 65535, "PORT"), &address);
    int count = (int)parse_number(argv[4], 1, MAX_WORKERS, "WORKERS");
    long timeout_ms = DEFAULT_TIMEOUT_MS;
    if (argc == 6)
        timeout_ms = parse_number(argv[5], 1, INT_MAX, "TIMEOUT_MS");
    prepare(scenario, (uint64_t)timeout_ms);

    /* libuv writes to sockets with write(2), which raises this signal for a closed one. */
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < count; i++)
        listen_on(&workers[i], &address, count);
    for (int i = 1; i < count; i++)
        check(uv_thread_create(&workers[i].thread, run_loop, &workers[i]), "uv_thread_create");
    /* The port stands at the same place in both kinds of address. */
    int port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    printf(address.ss_family == AF_INET6 ? "listening [%s]:%d\n" : "listening %s:%d\n", argv[2],
           port);
    fflush(stdout);
    run_loop(&workers[0]);
    return 1;
}
