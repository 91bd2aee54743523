/*
 * One thread per connection with blocking reads and writes: the oldest way to write a server.
 *
 * WORKERS is accepted and bounds nothing: there are as many threads as there are connections.
 * It is deliberately not a thread pool, and it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include "../shared/heads.h"
#include "connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    REPLIES_PER_WRITE = 256,
    ACCEPT_RETRY_MS = 50,
};

static struct options options;
static char reply_block[REPLY_BYTES * REPLIES_PER_WRITE];

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

enum outcome send_replies(int fd, size_t replies) {
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
    if (options.scenario != SCENARIO_HELLO_TIMEOUT)
        return 0;
    struct timeval timeout = {.tv_sec = options.timeout_ms / 1000,
                              .tv_usec = options.timeout_ms % 1000 * 1000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0)
        return -1;
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

static void serve_without_work(int fd) {
    char buffer[READ_BYTES];
    uint8_t terminator_seen = 0;
    enum outcome outcome = DONE;
    while (outcome == DONE) {
        ssize_t length = recv(fd, buffer, sizeof buffer, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            break;
        if (options.scenario == SCENARIO_ECHO)
            outcome = send_all(fd, buffer, (size_t)length);
        else
            outcome = send_replies(fd, count_heads(&terminator_seen, buffer, (size_t)length));
    }
}

static void *serve_connection(void *argument) {
    int fd = (int)(intptr_t)argument;
    if (set_options(fd) == 0) {
        if (options.scenario & WITH_WORK)
            serve_with_work(fd, options.scenario);
        else
            serve_without_work(fd);
    }
    close(fd);
    return NULL;
}

int start_thread(pthread_t *thread, int detach_state, void *(*function)(void *), void *argument) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (error == 0)
        error = pthread_attr_setdetachstate(&attributes, detach_state);
    if (error == 0)
        error = pthread_create(thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

static _Noreturn void serve(int listener) {
    const struct timespec pause = {.tv_nsec = ACCEPT_RETRY_MS * 1000000L};
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            pthread_t thread;
            if (start_thread(&thread, PTHREAD_CREATE_DETACHED, serve_connection,
                             (void *)(intptr_t)fd) != 0)
                close(fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            /* Out of file descriptors or memory: the next accept would fail at once as well. */
            nanosleep(&pause, NULL);
        }
    }
}

static int listen_on(void) {
    struct addrinfo *address = parse_address(&options);
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
        perror("listen");
        exit(1);
    }
    freeaddrinfo(address);
    learn_port(fd, &options);
    return fd;
}

int main(int argc, char **argv) {
    const unsigned known = SCENARIO_HELLO | SCENARIO_HELLO_TIMEOUT | SCENARIO_ECHO | WITH_WORK;
    options = parse_options(argc, argv, known);
    for (int i = 0; i < REPLIES_PER_WRITE; i++)
        memcpy(reply_block + i * REPLY_BYTES, REPLY, REPLY_BYTES);
    prepare_tasks(options.scenario);
    int listener = listen_on();
    announce(&options);
    serve(listener);
}
