/*
 * The form `published`, which measured the row of the document: each line of a head is read by
 * itself, and each head is answered with a write of its own.
 */
module published;

import std.algorithm.searching : countUntil;
import std.exception : enforce;
import vibe.core.net : TCPConnection;

@safe:

/* As long as the reply of the document: 162 bytes. */
private immutable string reply = "HTTP/1.1 200 OK\r\n"
    ~ "Server: vibe-core_01234567890123456789012345678901234567890\r\n"
    ~ "Content-Length: 12\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\n\r\nHello world!";

/* Reads a line and its end, and returns its length without it. */
private size_t readLine(ref TCPConnection connection) {
    size_t length = 0;
    bool afterReturn = false;
    for (;;) {
        enforce(!connection.empty, "the stream ends in a head");
        const input = connection.peek();
        if (afterReturn && input[0] == '\n') {
            connection.skip(1);
            return length;
        }
        /* A carriage return alone belongs to the line. */
        length += afterReturn;
        afterReturn = false;
        immutable found = input.countUntil(cast(ubyte) '\r');
        if (found < 0) {
            length += input.length;
            connection.skip(input.length);
        } else if (found + 1 < input.length && input[found + 1] == '\n') {
            connection.skip(found + 2);
            return length + found;
        } else {
            afterReturn = true;
            length += found;
            connection.skip(found + 1);
        }
    }
}

void serveLines(ref TCPConnection connection) {
    while (!connection.empty) {
        while (readLine(connection) > 0)
            continue;
        connection.write(cast(const(ubyte)[]) reply);
        connection.flush();
    }
}
