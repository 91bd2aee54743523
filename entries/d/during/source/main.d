/*
 * io_uring in D over the package `during`, without the runtime of D (-betterC). This file reads the
 * arguments, opens the listeners and starts the workers; `loop.d` serves.
 *
 * It is deliberately not a web server.
 */
module main;

import core.stdc.errno : errno;
import core.stdc.stdio : fflush, fprintf, perror, printf, snprintf, stderr, stdout;
import core.stdc.stdlib : exit, strtol;
import core.stdc.string : strchr, strcmp;
import core.sys.linux.sys.prctl : PR_SET_PDEATHSIG, prctl;
import core.sys.posix.netdb;
import core.sys.posix.netinet.in_ : IPPROTO_TCP;
import core.sys.posix.netinet.tcp : TCP_NODELAY;
import core.sys.posix.signal;
import core.sys.posix.sys.socket;
import core.sys.posix.sys.wait : wait, waitpid, WNOHANG;
import core.sys.posix.unistd : _exit, close, fork, getpid, getppid;
import loop : Scenario;

version (Published)
    import published : serve;
else
    import loop : serve;

nothrow @nogc:

enum backlog = 4096;
enum maxWorkers = 1024;
enum defaultTimeoutMs = 5000;

struct Work {
    Scenario scenario;
    int timeoutMs;
}

alias PortText = char[NI_MAXSERV];

void die(const(char)* what) {
    perror(what);
    exit(1);
}

/* Port 0 lets the kernel choose; `port` then becomes the chosen one, for the other listeners. */
int listenOn(const(char)* host, ref PortText port, int workers) {
    addrinfo hints = {ai_flags: AI_NUMERICHOST | AI_NUMERICSERV, ai_socktype: SOCK_STREAM};
    addrinfo* address;
    if (getaddrinfo(host, port.ptr, &hints, &address) != 0) {
        fprintf(stderr, "HOST must be an IPv4 or IPv6 address, not `%s`\n", host);
        exit(2);
    }
    immutable int on = 1;
    immutable fd = socket(address.ai_family, SOCK_STREAM, 0);
    /* Accepted sockets inherit TCP_NODELAY, which saves a system call per connection. */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, on.sizeof) < 0
        || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, on.sizeof) < 0
        || (workers > 1 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, on.sizeof) < 0)
        || bind(fd, address.ai_addr, address.ai_addrlen) < 0 || listen(fd, backlog) < 0)
        die("listen");
    sockaddr_storage bound;
    socklen_t length = bound.sizeof;
    if (getsockname(fd, cast(sockaddr*) &bound, &length) < 0
        || getnameinfo(cast(sockaddr*) &bound, length, null, 0, port.ptr, port.length,
            NI_NUMERICSERV) != 0)
        die("getsockname");
    freeaddrinfo(address);
    return fd;
}

void printReady(const(char)* host, const ref PortText port) {
    const(char)* form = strchr(host, ':') ? "listening [%s]:%s\n" : "listening %s:%s\n";
    printf(form, host, port.ptr);
    fflush(stdout);
}

pid_t forkWorker(const int[] listeners, size_t index, Work work, const sigset_t* oldMask) {
    immutable parent = getpid();
    immutable child = fork();
    if (child < 0)
        die("fork");
    if (child > 0)
        return child;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, oldMask, null);
    foreach (i, listener; listeners)
        if (i != index)
            close(listener);
    serve(listeners[index], work.scenario, work.timeoutMs);
    assert(false);
}

/* Ends all workers when one of them ends or when the parent gets a signal; dies by that signal. */
int supervise(const pid_t[] children, const sigset_t* signals) {
    int signalNumber;
    pid_t ended = 0;
    do {
        sigwait(signals, &signalNumber);
        if (signalNumber == SIGCHLD)
            ended = waitpid(-1, null, WNOHANG);
    } while (signalNumber == SIGCHLD && ended == 0);
    if (ended > 0)
        fprintf(stderr, "worker %d ended, ending the others\n", ended);
    foreach (child; children)
        if (child != ended)
            kill(child, SIGKILL);
    while (wait(null) > 0)
        continue;
    if (signalNumber != SIGCHLD) {
        raise(signalNumber);
        sigprocmask(SIG_UNBLOCK, signals, null);
    }
    return 1;
}

int serveWithProcesses(const(char)* host, ref PortText port, int workers, Work work) {
    static __gshared int[maxWorkers] listenerStore;
    static __gshared pid_t[maxWorkers] childStore;
    int[] listeners = listenerStore[0 .. workers];
    pid_t[] children = childStore[0 .. workers];
    sigset_t signals, oldMask;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &oldMask);
    foreach (ref listener; listeners)
        listener = listenOn(host, port, workers);
    foreach (i, ref child; children)
        child = forkWorker(listeners, i, work, &oldMask);
    /* The parent accepts nothing: a listener kept here would collect connections that are never served. */
    foreach (listener; listeners)
        close(listener);
    printReady(host, port);
    return supervise(children, &signals);
}

int parseNumber(const(char)* text, int least, int most, const(char)* name) {
    const(char)* end;
    errno = 0;
    immutable value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s must be a number from %d to %d, not `%s`\n", name, least, most, text);
        exit(2);
    }
    return cast(int) value;
}

Scenario parseScenario(const(char)* text) {
    if (strcmp(text, "hello") == 0)
        return Scenario.hello;
    version (Published) {
        fprintf(stderr, "unknown scenario `%s`, use hello\n", text);
    } else {
        if (strcmp(text, "hello-timeout") == 0)
            return Scenario.helloTimeout;
        if (strcmp(text, "echo") == 0)
            return Scenario.echo;
        fprintf(stderr, "unknown scenario `%s`, use hello, hello-timeout or echo\n", text);
    }
    exit(2);
    assert(false);
}

extern (C) int main(int argc, char** argv) {
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s SCENARIO HOST PORT WORKERS [TIMEOUT_MS]\n", argv[0]);
        return 2;
    }
    Work work = {parseScenario(argv[1]), defaultTimeoutMs};
    const host = argv[2];
    PortText port = '\0';
    snprintf(port.ptr, port.length, "%d", parseNumber(argv[3], 0, 65_535, "PORT"));
    immutable workers = parseNumber(argv[4], 1, maxWorkers, "WORKERS");
    if (argc == 6)
        work.timeoutMs = parseNumber(argv[5], 1, int.max, "TIMEOUT_MS");
    if (workers > 1)
        return serveWithProcesses(host, port, workers, work);
    immutable listener = listenOn(host, port, workers);
    printReady(host, port);
    serve(listener, work.scenario, work.timeoutMs);
    assert(false);
}
