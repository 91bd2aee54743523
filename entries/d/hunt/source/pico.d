/*
 * The form `published-pico`: the sockets of hunt without hunt-http. picohttpparser reads each
 * request, and the reply is one block of which only the date changes.
 *
 * It deliberately has no router: as in the document, the length of the path decides.
 */
module pico;

version (Published):

import core.sys.posix.signal : SIG_IGN, signal, SIGPIPE;
import core.thread : Thread;
import core.time : msecs;
import hunt.event : EventLoop, EventLoopGroup;
import hunt.io.ByteBuffer : ByteBuffer;
import hunt.io.channel.Common : DataHandleStatus;
import hunt.io.TcpStream : TcpStream;
import hunt.io.TcpStreamOptions : TcpStreamOptions;
import hunt.util.DateTime : DateTime;
import std.socket;
import std.string : indexOf;

private:

enum backlog = 8192;
enum acceptRetry = 50.msecs;
enum readBytes = 4 * 1024;
enum headBytesMost = 16 * 1024;
enum fieldsMost = 50;
enum dateBytes = "Wed, 17 Apr 2013 12:00:00 GMT".length;

immutable string replyOnce = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: Keep-Alive\r\n"
    ~ "Content-Type: text/plain\r\nServer: Hunt/1.0______\r\n"
    ~ "Date: Wed, 17 Apr 2013 12:00:00 GMT\r\n\r\nHello world!";
enum dateAt = replyOnce.indexOf("Date: ") + "Date: ".length;

/* One block per thread. */
ubyte[replyOnce.length] replyBlock;

static this() {
    replyBlock[] = cast(immutable(ubyte)[]) replyOnce;
}

/* `struct phr_header` of picohttpparser. */
struct Field {
    const(char)* name;
    size_t nameBytes;
    const(char)* value;
    size_t valueBytes;
}

enum partialHead = -2;

/* Returns the length of the head, -2 if its end is missing, or -1 if it is wrong. */
extern (C) int phr_parse_request(const(char)* bytes, size_t length, const(char)** method,
    size_t* methodBytes, const(char)** path, size_t* pathBytes, int* minorVersion, Field* fields,
    size_t* fieldCount, size_t lengthBefore) nothrow @nogc;

final class Connection {
    private TcpStream stream;
    private ubyte[] partial; /* The beginning of a head whose end is missing. */
    private Field[fieldsMost] fields;

    this(TcpStream stream) {
        this.stream = stream;
    }

    void start() {
        stream.received(&onReceived).error((failure) { stream.close(); }).start();
    }

    private DataHandleStatus onReceived(ByteBuffer buffer) {
        auto bytes = cast(ubyte[]) buffer.getRemaining();
        if (partial.length > 0)
            bytes = partial ~ bytes;
        try {
            const rest = answerAll(bytes);
            partial = rest.length > 0 ? rest.dup : null;
            if (partial.length > headBytesMost)
                stream.close();
        } catch (Exception) {
            /* The head is wrong, or the client has gone. */
            stream.close();
        }
        buffer.clear();
        return DataHandleStatus.Done;
    }

    /* Answers each whole head with a write of its own, and returns what follows the last. */
    private const(ubyte)[] answerAll(const(ubyte)[] bytes) {
        while (bytes.length > 0) {
            const(char)* method, path;
            size_t methodBytes, pathBytes;
            int minorVersion;
            size_t fieldCount = fields.length;
            immutable length = phr_parse_request(cast(const(char)*) bytes.ptr, bytes.length,
                &method, &methodBytes, &path, &pathBytes, &minorVersion, fields.ptr, &fieldCount, 0);
            if (length == partialHead)
                break;
            if (length < 0 || pathBytes != 1)
                throw new Exception("not a request for /");
            respond();
            bytes = bytes[length .. $];
        }
        return bytes;
    }

    private void respond() {
        const date = cast(const(ubyte)[]) DateTime.getTimeAsGMT();
        replyBlock[dateAt .. dateAt + dateBytes] = date[0 .. dateBytes];
        stream.write(replyBlock[]);
    }
}

/* The calling thread accepts, one event loop per worker does the rest. */
public void serve(string host, ushort port, uint workers) {
    /* A write to a connection that the client has reset is an error, not the end of the server. */
    signal(SIGPIPE, SIG_IGN);
    auto options = TcpStreamOptions.create();
    options.bufferSize = readBytes;
    options.isKeepalive = false;
    DateTime.startClock();
    auto loops = new EventLoopGroup(workers);
    auto address = parseAddress(host, port);
    auto listener = new TcpSocket(address.addressFamily);
    listener.setOption(SocketOptionLevel.SOCKET, SocketOption.REUSEADDR, true);
    listener.bind(address);
    listener.listen(backlog);
    loops.start(readBytes); /* The document passes the size of the buffer as the timeout. */
    for (;;) {
        try {
            auto socket = listener.accept();
            EventLoop loop = loops.nextLoop(socket.handle);
            new Connection(new TcpStream(loop, socket, options)).start();
        } catch (SocketException) {
            /* Out of descriptors or memory: the next accept would fail at once as well. */
            Thread.sleep(acceptRetry);
        }
    }
}
