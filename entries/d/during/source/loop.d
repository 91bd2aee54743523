/*
 * The event loop of the io_uring server over the package `during`: each connection has one receive
 * or one send under way, and one system call submits all that is due and waits for the next.
 *
 * It deliberately knows nothing of HTTP but where a request head ends.
 */
module loop;

import core.stdc.errno : EINTR, EAGAIN, EBUSY;
import core.stdc.stdio : fprintf, stderr;
import core.stdc.stdlib : calloc, exit, free;
import core.stdc.string : memchr, strerror;
import core.sys.posix.sys.socket : sockaddr_storage, socklen_t;
import core.sys.posix.unistd : close;
import during;

nothrow @nogc:

enum Scenario { hello, helloTimeout, echo }

private:

immutable string reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    ~ "Content-Length: 12\r\n\r\nHello world!";
immutable string terminator = "\r\n\r\n";

enum repliesPerBlock = 1024;
enum blockBytes = reply.length * repliesPerBlock;
enum readBytes = 16 * 1024;
enum ringEntries = 1024;
enum acceptRetryNs = 50_000_000;

/* What a completion belongs to, if not to a connection. Timeouts that are linked to an operation
 * are of no interest, as the operation itself tells how it ended. */
enum ulong ofLinkedTimeout = 0;
enum ulong ofListener = 1;
enum ulong ofAcceptRetry = 2;

enum Step { receive, send }

struct Connection {
    int fd;
    Step under;          /* The one that is under way. */
    uint terminatorSeen; /* hello: how many bytes of the terminator the input ends with. */
    size_t owedBytes;    /* What is still to be sent. */
    size_t offset;       /* hello: position within the reply; echo: position within `buffer`. */
    ubyte[readBytes] buffer;
}

/* Shared by name only, as a process has one thread. */
__gshared Uring ring;
__gshared ubyte[blockBytes] replyBlock;
__gshared Scenario scenario;
__gshared KernelTimespec timeout;
__gshared KernelTimespec acceptRetry = {tv_sec: 0, tv_nsec: acceptRetryNs};

/* Counts the heads that end in these bytes; a terminator may be split over any number of reads. */
size_t countHeads(ref uint terminatorSeen, const(ubyte)[] bytes) {
    uint seen = terminatorSeen;
    size_t heads = 0;
    while (bytes.length > 0) {
        if (seen == 0) {
            auto found = cast(const(ubyte)*) memchr(bytes.ptr, '\r', bytes.length);
            if (found is null)
                break;
            bytes = bytes[found - bytes.ptr .. $];
        }
        if (bytes[0] == terminator[seen])
            seen++;
        else
            seen = bytes[0] == '\r' ? 1 : 0;
        if (seen == terminator.length) {
            seen = 0;
            heads++;
        }
        bytes = bytes[1 .. $];
    }
    terminatorSeen = seen;
    return heads;
}

public void fail(const(char)* what, int error) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(1);
}

/* EBUSY and EAGAIN ask to take completions first; what is queued stays so until the next call. */
public void check(int submitted) {
    if (submitted < 0 && submitted != -EINTR && submitted != -EBUSY && submitted != -EAGAIN)
        fail("io_uring_enter", -submitted);
}

/* An operation and the timeout that is linked to it have to be submitted together. */
void makeRoom(size_t entries) {
    while (ring.capacity < entries)
        check(ring.submit());
}

void start(Connection* connection, Step step, ubyte[] bytes) {
    immutable limited = scenario == Scenario.helloTimeout;
    makeRoom(limited ? 2 : 1);
    connection.under = step;
    SubmissionEntry* entry = &ring.next();
    final switch (step) {
        case Step.receive: prepRecv(*entry, connection.fd, bytes); break;
        case Step.send: prepSend(*entry, connection.fd, bytes); break;
    }
    setUserData(*entry, *connection);
    if (!limited)
        return;
    entry.flags |= SubmissionEntryFlags.IO_LINK;
    SubmissionEntry* limit = &ring.next();
    prepLinkTimeout(*limit, timeout);
    limit.user_data = ofLinkedTimeout;
}

/* All replies are equal, so what a connection is owed is a number and never a buffer. */
void sendOwed(Connection* connection) {
    if (scenario == Scenario.echo) {
        immutable end = connection.offset + connection.owedBytes;
        start(connection, Step.send, connection.buffer[connection.offset .. end]);
        return;
    }
    size_t length = blockBytes - connection.offset;
    if (length > connection.owedBytes)
        length = connection.owedBytes;
    auto block = replyBlock[connection.offset .. connection.offset + length];
    start(connection, Step.send, block);
}

void proceed(Connection* connection) {
    if (connection.owedBytes > 0)
        sendOwed(connection);
    else
        start(connection, Step.receive, connection.buffer[]);
}

void onReceived(Connection* connection, size_t length) {
    if (scenario == Scenario.echo) {
        connection.owedBytes = length;
        connection.offset = 0;
    } else {
        immutable heads = countHeads(connection.terminatorSeen, connection.buffer[0 .. length]);
        connection.owedBytes = heads * reply.length;
    }
}

void onSent(Connection* connection, size_t length) {
    connection.owedBytes -= length;
    connection.offset += length;
    if (scenario != Scenario.echo)
        connection.offset %= reply.length;
}

void onCompletion(Connection* connection, int result) {
    /* The end of the stream, an error, or a timeout, which cancels the operation. Nothing else of
     * this connection is under way, so that it can go. */
    if (result <= 0 && result != -EINTR) {
        close(connection.fd);
        free(connection);
        return;
    }
    if (result > 0 && connection.under == Step.receive)
        onReceived(connection, result);
    else if (result > 0)
        onSent(connection, result);
    proceed(connection);
}

void startAccepting(int listener) {
    makeRoom(1);
    SubmissionEntry* entry = &ring.next();
    /* One operation accepts again and again; it has nowhere to write that many addresses. */
    prepRW(*entry, Operation.ACCEPT, listener);
    entry.ioprio = IORING_ACCEPT_MULTISHOT;
    entry.user_data = ofListener;
}

void retryAccepting() {
    makeRoom(1);
    SubmissionEntry* entry = &ring.next();
    prepTimeout(*entry, acceptRetry);
    entry.user_data = ofAcceptRetry;
}

void onAccepted(int listener, int result, CQEFlags flags) {
    if (result >= 0) {
        auto connection = cast(Connection*) calloc(1, Connection.sizeof);
        if (connection is null) {
            close(result);
        } else {
            connection.fd = result;
            proceed(connection);
        }
    }
    if (flags & CQEFlags.MORE)
        return;
    if (result >= 0)
        startAccepting(listener);
    else /* Out of file descriptors or memory: some may be free after a while. */
        retryAccepting();
}

void dispatch(int listener, ref CompletionEntry completion) {
    switch (completion.user_data) {
        case ofLinkedTimeout: break;
        case ofListener: onAccepted(listener, completion.res, completion.flags); break;
        case ofAcceptRetry: startAccepting(listener); break;
        default: onCompletion(cast(Connection*) completion.user_data, completion.res);
    }
}

/* Serves the connections of a listener until the process ends. */
public void serve(int listener, Scenario wanted, int timeoutMs) {
    scenario = wanted;
    timeout = KernelTimespec(timeoutMs / 1000, timeoutMs % 1000 * 1_000_000L);
    foreach (i; 0 .. repliesPerBlock)
        replyBlock[i * reply.length .. (i + 1) * reply.length] = cast(immutable(ubyte)[]) reply;
    /* One thread owns the ring, and the kernel may leave its work to when that thread waits. */
    immutable error = ring.setup(ringEntries, SetupFlags.SINGLE_ISSUER | SetupFlags.DEFER_TASKRUN);
    if (error < 0)
        fail("io_uring_setup", -error);
    startAccepting(listener);
    for (;;) {
        check(ring.submit(1));
        while (!ring.empty) {
            auto completion = ring.front;
            ring.popFront();
            dispatch(listener, completion);
        }
    }
}
