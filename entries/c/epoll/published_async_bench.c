/*
 * The raw epoll server as async-bench measured it: one thread, SO_REUSEPORT listener and epoll
 * instance per worker. After each write it reads again until EAGAIN.
 *
 * Where the document's program exits (a short write, no descriptors), this one goes on; where that
 * one answers each read, this one answers each head.
 */
#define _GNU_SOURCE
#include "../shared/heads.h"
#include "../shared/options.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Content-Length: 12\r\n\r\nHello world!";

enum {
    REPLY_BYTES = sizeof REPLY - 1,
    READ_BYTES = 1024,
    EVENTS_PER_WAIT = 64,
    ACCEPT_RETRY_US = 50 * 1000,
};

/* All edges from the start, so that the interest never changes. */
static const uint32_t INTEREST = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

struct connection {
    int fd;
    uint8_t terminator_seen; /* See `count_heads`. */
    size_t owed_bytes;       /* Reads nothing before these are sent. */
};

static _Noreturn void die(const char *what) {
    perror(what);
    exit(1);
}

/* False if the connection is broken or at its end. */
static bool go_on(struct connection *connection) {
    for (;;) {
        while (connection->owed_bytes > 0) {
            size_t offset = (REPLY_BYTES - connection->owed_bytes % REPLY_BYTES) % REPLY_BYTES;
            ssize_t sent = write(connection->fd, REPLY + offset, REPLY_BYTES - offset);
            if (sent < 0)
                return errno == EAGAIN;
            connection->owed_bytes -= (size_t)sent;
        }
        char buffer[READ_BYTES];
        ssize_t length = read(connection->fd, buffer, sizeof buffer);
        if (length <= 0)
            return length < 0 && errno == EAGAIN;
        connection->owed_bytes =
            REPLY_BYTES * count_heads(&connection->terminator_seen, buffer, (size_t)length);
    }
}

static void open_connection(int epoll, int fd) {
    struct connection *connection = malloc(sizeof *connection);
    struct epoll_event event = {.events = INTEREST, .data.ptr = connection};
    if (connection != NULL)
        *connection = (struct connection){.fd = fd};
    if (connection == NULL || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        free(connection);
        close(fd);
    }
}

static void accept_all(int epoll, int listener, struct epoll_event event) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd >= 0) {
            open_connection(epoll, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            /* Out of descriptors: pause, and have the listener reported again. */
            usleep(ACCEPT_RETRY_US);
            if (epoll_ctl(epoll, EPOLL_CTL_MOD, listener, &event) < 0)
                die("epoll_ctl");
            return;
        }
    }
}

static void *serve(void *argument) {
    int listener = *(int *)argument;
    int epoll = epoll_create1(0);
    struct epoll_event accepting = {.events = EPOLLIN | EPOLLET}; /* Its `data.ptr` is NULL. */
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &accepting) < 0)
        die("epoll");
    for (;;) {
        struct epoll_event events[EVENTS_PER_WAIT];
        int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
        if (count < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL) {
                accept_all(epoll, listener, accepting);
            } else if (!go_on(connection)) {
                close(connection->fd);
                free(connection);
            }
        }
    }
}

/* After the first one, `options` has the port that the kernel chose. No TCP_NODELAY, as there. */
static int listen_on(struct options *options) {
    struct addrinfo *address = parse_address(options);
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        die("listen");
    learn_port(fd, options);
    freeaddrinfo(address);
    return fd;
}

int main(int argc, char **argv) {
    static int listeners[MAX_WORKERS];
    static pthread_t threads[MAX_WORKERS];
    struct options options = parse_options(argc, argv, SCENARIO_HELLO);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < options.workers; i++)
        listeners[i] = listen_on(&options);
    for (int i = 0; i < options.workers; i++)
        if ((errno = pthread_create(&threads[i], NULL, serve, &listeners[i])) != 0)
            die("pthread_create");
    announce(&options);
    pthread_join(threads[0], NULL);
}
