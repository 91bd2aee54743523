/*
 * The event loop of the form `published`, which measured the row of the document. A request takes
 * three operations: a receive into a buffer that the kernel selects, the return of that buffer, and
 * a send. The ring has no setup flags.
 *
 * It deliberately counts no heads: requests in one read get one reply, as in the document.
 */
module published;

import core.stdc.errno : EINTR, EMFILE, ENFILE, ENOBUFS, ENOMEM;
import core.sys.posix.sys.socket : sockaddr_storage, socklen_t;
import core.sys.posix.unistd : close;
import during;
import loop : check, fail, Scenario;

nothrow @nogc:

private:

/* As long as the reply of the document: 162 bytes. */
immutable string reply = "HTTP/1.1 200 OK\r\n"
    ~ "Server: epoll/raw_01234567890123456789012345678901234567890\r\n"
    ~ "Connection: keep-alive\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
immutable string terminator = "\r\n\r\n";

enum ringEntries = 512;
enum bufferBytes = 1024;
enum bufferCount = 4096;
enum ushort bufferGroup = 1337;
enum connectionsMost = 64 * 1024;
enum acceptRetryNs = 50_000_000;

enum Step : ushort { accept, receive, send, provide, acceptRetry }

/* Fits into the user data of an operation. */
struct Context {
    int fd;
    Step step;
    ushort unused;
}

/* Shared by name only, as a process has one thread. */
__gshared Uring ring;
__gshared ubyte[bufferBytes][bufferCount] buffers;
/* The last bytes of a head whose end is missing, by descriptor. The document ends the server then. */
__gshared ubyte[terminator.length][connectionsMost] tails;
__gshared sockaddr_storage peer;
__gshared socklen_t peerLength;
__gshared KernelTimespec acceptRetry = {tv_sec: 0, tv_nsec: acceptRetryNs};

ref SubmissionEntry next() {
    while (ring.capacity == 0)
        check(ring.submit());
    return ring.next();
}

void startReceive(int fd) {
    next().prepRecv(fd, bufferGroup, bufferBytes).setUserDataRaw(Context(fd, Step.receive));
}

void startAccept(int listener) {
    peerLength = peer.sizeof;
    next().prepAccept(listener, peer, peerLength)
        .setUserDataRaw(Context(listener, Step.accept));
}

void onAccepted(int listener, int result) {
    if (result >= connectionsMost)
        close(result);
    else if (result >= 0) {
        tails[result][] = 0;
        startReceive(result);
    }
    /* Out of descriptors or memory: the next operation would fail at once as well. */
    if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -ENOBUFS)
        next().prepTimeout(acceptRetry).setUserDataRaw(Context(listener, Step.acceptRetry));
    else
        startAccept(listener);
}

/* Whether the input ends like a head. Only a read of less than a terminator looks at the tail. */
bool endsHead(int fd, const(ubyte)[] bytes) {
    enum wanted = terminator.length;
    if (bytes.length >= wanted && bytes[$ - wanted .. $] == terminator) {
        tails[fd][] = 0;
        return true;
    }
    const recent = bytes.length > wanted ? bytes[$ - wanted .. $] : bytes;
    ubyte[wanted] tail = tails[fd];
    foreach (i; 0 .. wanted - recent.length)
        tail[i] = tail[i + recent.length];
    tail[wanted - recent.length .. $] = recent[];
    immutable ends = tail[] == terminator;
    if (ends)
        tail[] = 0;
    tails[fd] = tail;
    return ends;
}

void onReceived(int fd, int result, uint flags) {
    if (result == -ENOBUFS || result == -EINTR)
        return startReceive(fd);
    if (result <= 0) {
        close(fd);
        return;
    }
    immutable id = cast(ushort) (flags >> CQE_BUFFER_SHIFT);
    immutable isWhole = endsHead(fd, buffers[id][0 .. result]);
    next().prepProvideBuffer(buffers[id], bufferGroup, id)
        .setUserDataRaw(Context(0, Step.provide));
    if (isWhole)
        next().prepSend(fd, cast(const(ubyte)[]) reply, MsgFlags.NOSIGNAL)
            .setUserDataRaw(Context(fd, Step.send));
    else
        startReceive(fd);
}

void onSent(int fd, int result) {
    /* As the replies of the document, one is sent whole or not at all. */
    if (result == reply.length)
        startReceive(fd);
    else
        close(fd);
}

void dispatch(ref CompletionEntry completion) {
    immutable context = completion.userDataAs!Context();
    final switch (context.step) {
        case Step.accept: onAccepted(context.fd, completion.res); break;
        case Step.acceptRetry: startAccept(context.fd); break;
        case Step.receive: onReceived(context.fd, completion.res, completion.flags); break;
        case Step.send: onSent(context.fd, completion.res); break;
        case Step.provide:
            if (completion.res < 0)
                fail("IORING_OP_PROVIDE_BUFFERS", -completion.res);
            break;
    }
}

/* Serves the connections of a listener until the process ends. */
public void serve(int listener, Scenario, int) {
    immutable error = ring.setup(ringEntries);
    if (error < 0)
        fail("io_uring_setup", -error);
    next().prepProvideBuffers(buffers, bufferGroup, 0)
        .setUserDataRaw(Context(0, Step.provide));
    startAccept(listener);
    for (;;) {
        check(ring.submit(1));
        while (!ring.empty) {
            auto completion = ring.front;
            ring.popFront();
            dispatch(completion);
        }
    }
}
