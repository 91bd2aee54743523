/*
 * The form `published`, which measured the row of the document: http-parser of Node.js reads each
 * request, its header fields are copied, and the reply is formatted with the date.
 *
 * It deliberately has no router: every path gets the same reply, as in the document.
 */
module published;

version (Published):

import app : readSome, writeSome;
import core.atomic : atomicLoad, atomicStore;
import core.thread : Thread;
import core.time : ClockType, msecs;
import std.array : Appender;
import std.conv : to;
import std.datetime.systime : Clock;
import std.datetime.timezone : UTC;
import std.format : formattedWrite;
import std.socket : Socket;
import std.string : capitalize;

private:

enum inputBytes = 2048;
enum fieldsBytesMost = 16 * 1024;
enum dateInterval = 250.msecs;

/* The public structures of http_parser.h; the bit fields are only reserved. */
struct http_parser {
    uint stateBits;
    uint readBytes;
    ulong contentLength;
    ushort[2] httpVersion;
    uint resultBits;
    void* data;
}

alias Event = extern (C) int function(http_parser*);
alias Data = extern (C) int function(http_parser*, const(char)*, size_t);

struct http_parser_settings {
    Event on_message_begin;
    Data on_url, on_status, on_header_field, on_header_value;
    Event on_headers_complete;
    Data on_body;
    Event on_message_complete, on_chunk_header, on_chunk_complete;
}

enum HTTP_REQUEST = 0;
extern (C) nothrow void http_parser_init(http_parser*, int type);
extern (C) size_t http_parser_execute(http_parser*, const(http_parser_settings)*, const(ubyte)*,
    size_t);
extern (C) nothrow int http_should_keep_alive(const(http_parser)*);

immutable http_parser_settings settings = {
    on_message_begin: &onMessageBegin, on_url: &onUrl, on_header_field: &onField,
    on_header_value: &onValue, on_headers_complete: &onHeadersComplete,
    on_message_complete: &onMessageComplete,
};

Connection of(http_parser* parser) {
    return cast(Connection) parser.data;
}

extern (C) int onMessageBegin(http_parser* parser) {
    of(parser).begin();
    return 0;
}

extern (C) int onUrl(http_parser* parser, const(char)* bytes, size_t length) {
    return of(parser).copy(bytes[0 .. length]);
}

extern (C) int onField(http_parser* parser, const(char)* bytes, size_t length) {
    of(parser).endValue();
    return of(parser).copy(bytes[0 .. length]);
}

extern (C) int onValue(http_parser* parser, const(char)* bytes, size_t length) {
    of(parser).endName();
    return of(parser).copy(bytes[0 .. length]);
}

extern (C) int onHeadersComplete(http_parser* parser) {
    of(parser).endValue();
    return 0;
}

extern (C) int onMessageComplete(http_parser* parser) {
    return of(parser).respond() ? 0 : 1;
}

struct Field {
    const(char)[] name;
    const(char)[] value;
}

immutable Field[] replyFields = [Field("Content-Type", "text/plain; charset=utf-8"), Field("X", "12345")];
immutable replyBody = "Hello world!";

final class Connection {
    private enum Part { url, name, value }

    private Socket client;
    private http_parser parser;
    private ubyte[] input;
    private char[] copied;  /* The path, names and values of one request. */
    private size_t partStart, copiedBytes;
    private Part part;
    private const(char)[] url;
    private Field[] fields;
    private size_t fieldCount;
    private Appender!(char[]) output;
    private bool isServing = true;

    this(Socket client) {
        this.client = client;
        input = new ubyte[inputBytes];
        copied = new char[fieldsBytesMost];
        fields = new Field[1];
        http_parser_init(&parser, HTTP_REQUEST);
        parser.data = cast(void*) this;
    }

    void run() {
        while (isServing) {
            immutable length = readSome(client, input);
            if (length <= 0 || http_parser_execute(&parser, &settings, input.ptr, length) != length)
                return;
        }
    }

    private void begin() {
        partStart = copiedBytes = fieldCount = 0;
        part = Part.url;
        output.clear();
    }

    private int copy(const(char)[] bytes) {
        if (bytes.length > copied.length - copiedBytes)
            return 1;
        copied[copiedBytes .. copiedBytes + bytes.length] = bytes[];
        copiedBytes += bytes.length;
        return 0;
    }

    private const(char)[] takePart() {
        scope (exit)
            partStart = copiedBytes;
        return copied[partStart .. copiedBytes];
    }

    /* A name or value may come in several pieces, so the next part ends the one before. */
    private void endName() {
        if (part != Part.name)
            return;
        fields[fieldCount].name = takePart();
        part = Part.value;
    }

    private void endValue() {
        if (part == Part.url)
            url = takePart();
        if (part == Part.value) {
            fields[fieldCount++].value = takePart();
            if (fieldCount == fields.length)
                fields.length++;
        }
        part = Part.name;
    }

    private bool respond() {
        isServing = http_should_keep_alive(&parser) != 0;
        output.formattedWrite!"HTTP/1.1 %s OK\r\n"(200);
        output.put("Server: photon/simple\r\n");
        output.put(*cast(const(char)[]*) atomicLoad(date));
        if (!isServing)
            output.put("Connection: close\r\n");
        foreach (const ref field; replyFields) {
            output.put(field.name);
            output.put(": ");
            output.put(field.value);
            output.put("\r\n");
        }
        output.formattedWrite!"Content-Length: %d\r\n\r\n"(replyBody.length);
        output.put(replyBody);
        const(ubyte)[] unsent = cast(const(ubyte)[]) output.data;
        while (unsent.length > 0) {
            immutable sent = writeSome(client, unsent);
            if (sent < 0)
                return false;
            unsent = unsent[sent .. $];
        }
        return true;
    }
}

/* The header field with the date, which a thread of its own keeps current. */
shared const(char)[]* date;

const(char)[]* formatDate() {
    const now = Clock.currTime!(ClockType.coarse)(UTC());
    auto line = new const(char)[][1];
    Appender!(char[]) text;
    text.formattedWrite!"Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n"(
        now.dayOfWeek.to!string.capitalize, now.day, now.month.to!string.capitalize, now.year,
        now.hour, now.minute, now.second);
    line[0] = text.data;
    return line.ptr;
}

public void startDate() {
    atomicStore(date, cast(shared) formatDate());
    auto clock = new Thread({
        for (;;) {
            Thread.sleep(dateInterval);
            atomicStore(date, cast(shared) formatDate());
        }
    });
    clock.isDaemon = true;
    clock.start();
}

public void serve(Socket client) {
    auto connection = new Connection(client);
    connection.run();
}
