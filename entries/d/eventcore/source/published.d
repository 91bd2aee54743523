/*
 * The forms `published-...`, which measured the rows of the document: they search the end of each
 * line of a head and then move the rest of the buffer to its front, byte by byte. This file has the
 * lines and the form with callbacks; the form with fibers is a loop in `fibers.d`.
 */
module published;

import eventcore.core;
import options : Options;
import std.algorithm.searching : countUntil;

@safe nothrow:

/* As long as the reply of the document: 162 bytes. */
private immutable string replyText = "HTTP/1.1 200 OK\r\n"
    ~ "Server: eventcore_01234567890123456789012345678901234567890\r\n"
    ~ "Content-Length: 12\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\n\r\nHello world!";
immutable ubyte[] reply = cast(immutable(ubyte)[]) replyText;

private enum lineBytesMost = 1024;
private immutable ubyte[] lineEnd = ['\r', '\n'];

/* The input of a connection, line by line. */
struct Lines {
@safe nothrow @nogc:
    /* The second half has room for the line that is taken out of a full first half. */
    private ubyte[2 * lineBytesMost] bytes;
    private size_t filled;
    private bool inHead;

    /* Where the next bytes go; empty if a line is too long. */
    ubyte[] free() return {
        return bytes[filled .. lineBytesMost];
    }

    void add(size_t length) {
        filled += length;
    }

    /* Takes lines up to the empty one that ends a head, or as many as there are. */
    bool takeHead() {
        for (;;) {
            immutable found = filled < lineEnd.length ? -1 : bytes[0 .. filled].countUntil(lineEnd);
            if (found < 0)
                return false;
            immutable wasInHead = inHead;
            inHead = take(found).length > 0;
            if (wasInHead && !inHead)
                return true;
        }
    }

    private const(ubyte)[] take(size_t length) return {
        bytes[filled .. filled + length] = bytes[0 .. length];
        immutable taken = length + lineEnd.length;
        foreach (i; 0 .. filled - taken)
            bytes[i] = bytes[taken + i];
        immutable at = filled;
        filled -= taken;
        return bytes[at .. at + length];
    }
}

void serve(StreamSocketFD socket, const ref Options) {
    new Connection(socket).run();
}

private final class Connection {
@safe nothrow:
    private StreamSocketFD socket;
    private bool isReplyDue;
    private bool closed;
    private bool issuing; /* An operation is being asked for, */
    private bool ended;   /* and it has ended before that call returned. */
    private Lines lines;

    this(StreamSocketFD socket) {
        this.socket = socket;
    }

    /* A loop, since an operation that ends at once calls back from within. The document recurses. */
    void run() {
        do {
            ended = false;
            issuing = true;
            issue();
            issuing = false;
        } while (ended && !closed);
    }

    private void issue() {
        if (isReplyDue)
            eventDriver.sockets.write(socket, reply, IOMode.all, &onWritten);
        else if (lines.free.length > 0)
            eventDriver.sockets.read(socket, lines.free, IOMode.once, &onRead);
        else
            close();
    }

    private void onRead(StreamSocketFD, IOStatus status, size_t length) {
        lines.add(length);
        proceed(status);
    }

    private void onWritten(StreamSocketFD, IOStatus status, size_t) {
        proceed(status);
    }

    private void proceed(IOStatus status) {
        if (status != IOStatus.ok)
            return close();
        isReplyDue = lines.takeHead();
        if (issuing)
            ended = true;
        else
            run();
    }

    private void close() {
        closed = true;
        eventDriver.sockets.releaseRef(socket);
    }
}
