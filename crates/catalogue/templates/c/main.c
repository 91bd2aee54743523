/*
 * One thread per connection with blocking calls: a beginning that does what `hello` asks.
 *
 * It is deliberately no HTTP server: it only looks for the end of each request head.
 */
#define _GNU_SOURCE
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY                                                                                      \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!"

enum { REPLY_BYTES = sizeof REPLY - 1, READ_BYTES = 16 * 1024, BACKLOG = 4096, RETRY_US = 50000 };

/* Replies to all heads that end in these bytes, with one write while they fit into one block. */
static int answer(int fd, unsigned *seen, const char *bytes, ssize_t length) {
    static const char terminator[] = "\r\n\r\n";
    char out[READ_BYTES];
    size_t filled = 0;
    for (ssize_t i = 0; i <= length; i++) {
        if (i == length || filled + REPLY_BYTES > sizeof out) {
            for (size_t sent = 0; sent < filled;) {
                ssize_t taken = send(fd, out + sent, filled - sent, MSG_NOSIGNAL);
                if (taken < 0)
                    return -1;
                sent += (size_t)taken;
            }
            filled = 0;
        }
        if (i == length)
            break;
        /* A terminator may be split over any number of reads. */
        *seen = bytes[i] == terminator[*seen] ? *seen + 1 : bytes[i] == '\r' ? 1 : 0;
        if (*seen == 4) {
            *seen = 0;
            memcpy(out + filled, REPLY, REPLY_BYTES);
            filled += REPLY_BYTES;
        }
    }
    return 0;
}

static void *serve(void *argument) {
    int fd = (int)(intptr_t)argument;
    char buffer[READ_BYTES];
    unsigned seen = 0;
    ssize_t length;
    while ((length = recv(fd, buffer, sizeof buffer, 0)) > 0)
        if (answer(fd, &seen, buffer, length) < 0)
            break;
    close(fd);
    return NULL;
}

static int listen_on(const char *host, const char *port) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    if (getaddrinfo(host, port, &hints, &address) != 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address and PORT a number\n");
        exit(2);
    }
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
        perror("the address cannot be listened on");
        exit(1);
    }
    freeaddrinfo(address);
    return fd;
}

static void announce(int listener, const char *host) {
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    char port[8];
    getsockname(listener, (struct sockaddr *)&own, &length);
    getnameinfo((struct sockaddr *)&own, length, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    printf(strchr(host, ':') ? "listening [%s]:%s\n" : "listening %s:%s\n", host, port);
    fflush(stdout);
}

int main(int count, char **words) {
    if (count < 5 || strcmp(words[1], "hello") != 0) {
        fprintf(stderr, "usage: server hello HOST PORT WORKERS [TIMEOUT_MS]\n");
        return 2;
    }
    int listener = listen_on(words[2], words[3]);
    announce(listener, words[2]);
    for (;;) {
        int on = 1;
        pthread_t thread;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            /* Out of descriptors or memory: the next accept would fail at once as well. */
            usleep(RETRY_US);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
        else
            close(fd);
    }
}
