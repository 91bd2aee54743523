"""One coroutine per connection on one event loop: a beginning that does what `hello` asks.

It is deliberately no HTTP server: it only looks for the end of each request head.
"""

import asyncio
import ipaddress
import sys

REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!"
TERMINATOR = b"\r\n\r\n"
READ_BYTES = 16 * 1024
BACKLOG = 4096


async def serve(reader, writer):
    rest = b""
    try:
        while chunk := await reader.read(READ_BYTES):
            # A terminator may be split over any number of chunks.
            *heads, rest = (rest + chunk).split(TERMINATOR)
            rest = rest[1 - len(TERMINATOR) :]
            writer.write(REPLY * len(heads))
            await writer.drain()
        writer.close()
    except OSError:
        # So a connection ends that is reset: there is nobody to tell.
        writer.transport.abort()


def pass_over_failed_accepts(loop, context):
    """Does not log them: without descriptors asyncio reports one for each place in the backlog."""
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)


async def run(host, port):
    asyncio.get_running_loop().set_exception_handler(pass_over_failed_accepts)
    server = await asyncio.start_server(serve, host, port, backlog=BACKLOG)
    shown = f"[{host}]" if ":" in host else host
    print(f"listening {shown}:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main():
    try:
        scenario, host, port, workers, *_ = sys.argv[1:]
        if (scenario, workers) != ("hello", "1"):
            raise ValueError("SCENARIO must be hello and WORKERS 1")
        ipaddress.ip_address(host)
        port = int(port)
    except ValueError as error:
        print(f"usage: server.py hello HOST PORT 1 [TIMEOUT_MS]: {error}", file=sys.stderr)
        sys.exit(2)
    asyncio.run(run(host, port))


if __name__ == "__main__":
    main()
