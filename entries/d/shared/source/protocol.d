/*
 * What is answered: the heads of requests are counted and replies are cut from a constant block.
 *
 * It deliberately knows nothing of HTTP but where a request head ends.
 */
module protocol;

import std.algorithm.searching : countUntil;
import std.array : replicate;

@safe:

private immutable string reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    ~ "Content-Length: 12\r\n\r\nHello world!";
private immutable string terminator = "\r\n\r\n";
private enum repliesPerBlock = 256;
private immutable ubyte[] replyBlock = cast(immutable(ubyte)[]) reply.replicate(repliesPerBlock);

/* A buffer that belongs to a connection. */
enum bufferBytes = 16 * 1024;

/* Counts heads that end; a terminator may be split over any number of reads. */
struct HeadCounter {
    private uint seen;

    size_t count(const(ubyte)[] bytes) pure nothrow @nogc {
        size_t heads = 0;
        while (bytes.length > 0) {
            if (seen == 0) {
                immutable skip = bytes.countUntil(cast(ubyte) '\r');
                if (skip < 0)
                    break;
                bytes = bytes[skip .. $];
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
        return heads;
    }
}

/* What a connection is owed. All replies are equal, so it is a number and never a buffer. */
struct Debt {
    private size_t owedBytes;
    private size_t offset;

    void add(size_t heads) pure nothrow @nogc {
        owedBytes += heads * reply.length;
    }

    /* The next bytes to be sent, none when all is paid. */
    const(ubyte)[] due() const nothrow @nogc {
        immutable rest = replyBlock.length - offset;
        return replyBlock[offset .. offset + (owedBytes < rest ? owedBytes : rest)];
    }

    void pay(size_t length) pure nothrow @nogc {
        owedBytes -= length;
        offset = (offset + length) % reply.length;
    }
}
