/*
 * One thread per connection with blocking reads and writes: the oldest way to write a server.
 *
 * WORKERS is accepted and bounds nothing: there are as many threads as there are connections.
 * It is deliberately not a thread pool, and it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REPLIES_PER_WRITE = 256,
    READ_BYTES = 16 * 1024,
    STACK_BYTES = 64 * 1024,
    BACKLOG = 4096,
    ACCEPT_RETRY_MS = 50,
    DEFAULT_TIMEOUT_MS = 5000,
    MAX_WORKERS = 1024,
};

enum scenario { HELLO, HELLO_TIMEOUT, ECHO };
enum outcome { DONE, BROKEN };

static enum scenario scenario;
static long timeout_ms = DEFAULT_TIMEOUT_MS;
static char reply_block[REPLY_BYTES * REPLIES_PER_WRITE];

/* Counts the heads that end in these bytes; a terminator may be split over any number of reads. */
static size_t count_heads(unsigned *terminator_seen, const char *bytes, size_t length) {
    const char *end = bytes + length;
    unsigned seen = *terminator_seen;
    size_t heads = 0;
    while (bytes < end) {
        if (seen == 0) {
            bytes = memchr(bytes, '\r', (size_t)(end - bytes));
            if (bytes == NULL)
                break;
        }
        if (*bytes == "\r\n\r\n"[seen])
            seen++;
        else
            seen = *bytes == '\r' ? 1 : 0;
        if (seen == 4) {
            seen = 0;
            heads++;
        }
        bytes++;
    }
    *terminator_seen = seen;
    return heads;
}

/* A send that times out after it took some bytes returns their number: that was progress. */
static enum outcome send_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return BROKEN;
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        }
    }
    return DONE;
}

static enum outcome send_replies(int fd, size_t replies) {
    while (replies > 0) {
        size_t batch = replies < REPLIES_PER_WRITE ? replies : REPLIES_PER_WRITE;
        if (send_all(fd, reply_block, batch * REPLY_BYTES) == BROKEN)
            return BROKEN;
        replies -= batch;
    }
    return DONE;
}

/* The timeouts apply to each read and each write on its own, which is what the scenario asks. */
static int set_options(int fd) {
    const int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        return -1;
    if (scenario != HELLO_TIMEOUT)
        return 0;
    struct timeval timeout = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0)
        return -1;
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

static void *serve_connection(void *argument) {
    int fd = (int)(intptr_t)argument;
    char buffer[READ_BYTES];
    unsigned terminator_seen = 0;
    enum outcome outcome = set_options(fd) < 0 ? BROKEN : DONE;
    while (outcome == DONE) {
        ssize_t length = recv(fd, buffer, sizeof buffer, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            break;
        if (scenario == ECHO)
            outcome = send_all(fd, buffer, (size_t)length);
        else
            outcome = send_replies(fd, count_heads(&terminator_seen, buffer, (size_t)length));
    }
    close(fd);
    return NULL;
}

static _Noreturn void serve(int listener, const pthread_attr_t *attributes) {
    const struct timespec pause = {.tv_nsec = ACCEPT_RETRY_MS * 1000000L};
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            pthread_t thread;
            if (pthread_create(&thread, attributes, serve_connection, (void *)(intptr_t)fd) != 0)
                close(fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            /* Out of file descriptors or memory: the next accept would fail at once as well. */
            nanosleep(&pause, NULL);
        }
    }
}

static int listen_on(const char *host, const char *port) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    if (getaddrinfo(host, port, &hints, &address) != 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address, not `%s`\n", host);
        exit(2);
    }
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
        perror("listen");
        exit(1);
    }
    freeaddrinfo(address);
    return fd;
}

static void print_ready(int listener, const char *host) {
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char port[NI_MAXSERV];
    if (getsockname(listener, (struct sockaddr *)&bound, &length) < 0 ||
        getnameinfo((struct sockaddr *)&bound, length, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0) {
        perror("getsockname");
        exit(1);
    }
    printf(strchr(host, ':') ? "listening [%s]:%s\n" : "listening %s:%s\n", host, port);
    fflush(stdout);
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
    scenario = parse_scenario(argv[1]);
    char port[NI_MAXSERV];
    snprintf(port, sizeof port, "%ld", parse_number(argv[3], 0, 65535, "PORT"));
    parse_number(argv[4], 1, MAX_WORKERS, "WORKERS");
    if (argc == 6)
        timeout_ms = parse_number(argv[5], 1, INT_MAX, "TIMEOUT_MS");

    for (int i = 0; i < REPLIES_PER_WRITE; i++)
        memcpy(reply_block + i * REPLY_BYTES, REPLY, REPLY_BYTES);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0 ||
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) != 0) {
        fprintf(stderr, "cannot set the attributes of a thread\n");
        return 1;
    }
    int listener = listen_on(argv[2], port);
    print_ready(listener, argv[2]);
    serve(listener, &attributes);
}
