/*
 * The raw io_uring server: the same bytes as raw epoll, with completions instead of readiness. This
 * file reads the arguments, opens the listeners and starts the workers; `loop.c` serves.
 *
 * It is deliberately not a web server, and it has no timeouts, hence no scenario `hello-timeout`.
 */
#define _GNU_SOURCE
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 4096, MAX_WORKERS = 1024 };

static enum scenario scenario;
static const char *host;
static char port[NI_MAXSERV];
static int ready_pipe[2];

static void die(const char *what) {
    perror(what);
    exit(1);
}

/* Port 0 lets the kernel choose; `port` then becomes the chosen one, for the other listeners. */
static int listen_on(int workers) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    if (getaddrinfo(host, port, &hints, &address) != 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address, not `%s`\n", host);
        exit(2);
    }
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    /* Accepted sockets inherit TCP_NODELAY, which saves a system call per connection. */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        (workers > 1 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) ||
        bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        die("listen");
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &length) < 0 ||
        getnameinfo((struct sockaddr *)&bound, length, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0)
        die("getsockname");
    freeaddrinfo(address);
    return fd;
}

static void print_ready(void) {
    printf(strchr(host, ':') ? "listening [%s]:%s\n" : "listening %s:%s\n", host, port);
    fflush(stdout);
}

/* In a worker process: the parent prints the line when all workers have said this. */
static void tell_ready(void) {
    if (write(ready_pipe[1], "", 1) != 1)
        _exit(1);
    close(ready_pipe[1]);
}

static pid_t fork_worker(const int *listeners, int index, int workers, const sigset_t *old_mask) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child > 0)
        return child;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, old_mask, NULL);
    close(ready_pipe[0]);
    for (int i = 0; i < workers; i++)
        if (i != index)
            close(listeners[i]);
    serve(listeners[index], scenario, tell_ready);
}

/* Ends all workers when one of them ends or when the parent is told to; dies as it was told. */
static int supervise(const pid_t *children, int workers, const sigset_t *signals) {
    int signal_number;
    pid_t ended = 0;
    do {
        sigwait(signals, &signal_number);
        if (signal_number == SIGCHLD)
            ended = waitpid(-1, NULL, WNOHANG);
    } while (signal_number == SIGCHLD && ended == 0);
    if (ended > 0)
        fprintf(stderr, "worker %d ended, ending the others\n", (int)ended);
    for (int i = 0; i < workers; i++)
        if (children[i] != ended)
            kill(children[i], SIGKILL);
    while (wait(NULL) > 0)
        continue;
    if (signal_number != SIGCHLD) {
        raise(signal_number);
        sigprocmask(SIG_UNBLOCK, signals, NULL);
    }
    return 1;
}

static int serve_with_processes(int workers) {
    static int listeners[MAX_WORKERS];
    static pid_t children[MAX_WORKERS];
    sigset_t signals, old_mask;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &old_mask);
    if (pipe(ready_pipe) < 0)
        die("pipe");
    for (int i = 0; i < workers; i++)
        listeners[i] = listen_on(workers);
    for (int i = 0; i < workers; i++)
        children[i] = fork_worker(listeners, i, workers, &old_mask);
    /* The parent accepts nothing: a listener kept here would collect connections for nobody. */
    for (int i = 0; i < workers; i++)
        close(listeners[i]);
    close(ready_pipe[1]);
    char byte;
    int ready = 0;
    while (ready < workers && read(ready_pipe[0], &byte, 1) == 1)
        ready++;
    if (ready == workers)
        print_ready();
    return supervise(children, workers, &signals);
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

int main(int argc, char **argv) {
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s hello|echo HOST PORT WORKERS [TIMEOUT_MS]\n", argv[0]);
        return 2;
    }
    if (strcmp(argv[1], "hello") != 0 && strcmp(argv[1], "echo") != 0) {
        fprintf(stderr, "unknown scenario `%s`: this server knows hello and echo\n", argv[1]);
        return 2;
    }
    scenario = strcmp(argv[1], "echo") == 0 ? ECHO : HELLO;
    host = argv[2];
    snprintf(port, sizeof port, "%ld", parse_number(argv[3], 0, 65535, "PORT"));
    int workers = (int)parse_number(argv[4], 1, MAX_WORKERS, "WORKERS");
    if (argc == 6) /* Accepted like everywhere, although only `hello-timeout` would use it. */
        parse_number(argv[5], 1, INT_MAX, "TIMEOUT_MS");
    if (workers > 1)
        return serve_with_processes(workers);
    serve(listen_on(workers), scenario, print_ready);
}
