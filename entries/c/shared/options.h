/*
 * What the C entries share: the command line and the `listening` line.
 *
 * A file that includes this one has to define _GNU_SOURCE first.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BACKLOG = 4096, MAX_WORKERS = 1024, DEFAULT_TIMEOUT_MS = 5000 };

/*
 * Bits, so that an entry can say which ones it knows. The prefix is needed because <termios.h>,
 * which libuv includes, defines ECHO.
 */
enum scenario {
    SCENARIO_HELLO = 1,
    SCENARIO_HELLO_TIMEOUT = 2,
    SCENARIO_ECHO = 4,
    SCENARIO_MUTEX = 8,
    SCENARIO_CHANNEL = 16,
    SCENARIO_SKEWED = 32,
    SCENARIO_HANDOFF = 64,
};

struct options {
    enum scenario scenario;
    const char *host;
    char port[NI_MAXSERV];
    int workers;
    long timeout_ms;
};

static inline long parse_number(const char *text, long least, long most, const char *name) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s must be a number from %ld to %ld, not `%s`\n", name, least, most, text);
        exit(2);
    }
    return value;
}

/* Ends the program if the scenario is not one of `known`. */
static inline enum scenario parse_scenario(const char *text, unsigned known) {
    static const char *const names[] = {"hello",   "hello-timeout", "echo",   "mutex",
                                        "channel", "skewed",        "handoff"};
    enum { COUNT = sizeof names / sizeof *names };
    for (unsigned i = 0; i < COUNT; i++)
        if (known & 1u << i && strcmp(text, names[i]) == 0)
            return (enum scenario)(1u << i);
    fprintf(stderr, "unknown scenario `%s`: use", text);
    for (unsigned i = 0; i < COUNT; i++) {
        if (!(known & 1u << i))
            continue;
        unsigned later = known >> i >> 1;
        fprintf(stderr, " %s%s", names[i], later == 0 ? "\n" : later & (later - 1) ? "," : " or");
    }
    exit(2);
}

/* Ends the program for an argument that it cannot use; `known` are the bits of its scenarios. */
static inline struct options parse_options(int argc, char **argv, unsigned known) {
    struct options options = {.timeout_ms = DEFAULT_TIMEOUT_MS};
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s SCENARIO HOST PORT WORKERS [TIMEOUT_MS]\n", argv[0]);
        exit(2);
    }
    options.scenario = parse_scenario(argv[1], known);
    options.host = argv[2];
    snprintf(options.port, sizeof options.port, "%ld", parse_number(argv[3], 0, 65535, "PORT"));
    options.workers = (int)parse_number(argv[4], 1, MAX_WORKERS, "WORKERS");
    if (argc == 6)
        options.timeout_ms = parse_number(argv[5], 1, INT_MAX, "TIMEOUT_MS");
    return options;
}

/* To be freed with `freeaddrinfo`. */
static inline struct addrinfo *parse_address(const struct options *options) {
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    if (getaddrinfo(options->host, options->port, &hints, &address) != 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address, not `%s`\n", options->host);
        exit(2);
    }
    return address;
}

/* Port 0 lets the kernel choose: the port in `options` becomes that of the listener. */
static inline void learn_port(int listener, struct options *options) {
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    if (getsockname(listener, (struct sockaddr *)&bound, &length) < 0 ||
        getnameinfo((struct sockaddr *)&bound, length, NULL, 0, options->port,
                    sizeof options->port, NI_NUMERICSERV) != 0) {
        perror("getsockname");
        exit(1);
    }
}

/* Reports that the server accepts connections. */
static inline void announce(const struct options *options) {
    printf(strchr(options->host, ':') ? "listening [%s]:%s\n" : "listening %s:%s\n",
           options->host, options->port);
    fflush(stdout);
}

#endif
