/*
 * One process and one SO_REUSEPORT listener per worker: opens the listeners and starts the workers
 * of an entry, whose `loop.c` serves.
 *
 * It passes no timeout on, so no entry that uses it can know the scenario `hello-timeout`.
 */
#define _GNU_SOURCE
#include "loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct options options;
static int ready_pipe[2];

static void die(const char *what) {
    perror(what);
    exit(1);
}

/* After the first one, `options` has the port that the kernel chose, for the other listeners. */
static int listen_on(void) {
    struct addrinfo *address = parse_address(&options);
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    /* Accepted sockets inherit TCP_NODELAY, which saves a system call per connection. */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        (options.workers > 1 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) ||
        bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        die("listen");
    learn_port(fd, &options);
    freeaddrinfo(address);
    return fd;
}

static void print_ready(void) {
    announce(&options);
}

/* In a worker process: the parent prints the line when all workers have said this. */
static void tell_ready(void) {
    if (write(ready_pipe[1], "", 1) != 1)
        _exit(1);
    close(ready_pipe[1]);
}

static pid_t fork_worker(const int *listeners, int index, const sigset_t *old_mask) {
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
    for (int i = 0; i < options.workers; i++)
        if (i != index)
            close(listeners[i]);
    serve(listeners[index], options.scenario, tell_ready);
}

/* Ends all workers when one of them ends or when the parent gets a signal; dies by that signal. */
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

static int serve_with_processes(void) {
    const int workers = options.workers;
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
        listeners[i] = listen_on();
    for (int i = 0; i < workers; i++)
        children[i] = fork_worker(listeners, i, &old_mask);
    /* The parent accepts nothing: a listener kept here would collect connections that are never served. */
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

int main(int argc, char **argv) {
    options = parse_options(argc, argv, known_scenarios);
    prepare_shared(options.scenario);
    if (options.workers > 1)
        return serve_with_processes();
    serve(listen_on(), options.scenario, print_ready);
}
