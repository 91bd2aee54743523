"""asyncio streams: one coroutine per connection, one event loop per process.

It is deliberately not an HTTP server: it only looks for the end of each request head.
"""

import asyncio
import ipaddress
import os
import socket
import sys
from typing import NamedTuple

REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!"
TERMINATOR = b"\r\n\r\n"
READ_BYTES = 16 * 1024
BACKLOG = 4096
DEFAULT_TIMEOUT_MS = 5000


class Options(NamedTuple):
    scenario: str
    host: str
    port: int
    workers: int
    timeout_s: float


class UsageError(Exception):
    """A command line that cannot be used."""


def count_heads(rest, chunk):
    """Returns how many heads end in `chunk`, and what of the next terminator has already come."""
    *heads, rest = (rest + chunk).split(TERMINATOR)
    return len(heads), rest[1 - len(TERMINATOR) :]


async def serve_hello(reader, writer, options):
    rest = b""
    while chunk := await reader.read(READ_BYTES):
        heads, rest = count_heads(rest, chunk)
        writer.write(REPLY * heads)
        await writer.drain()


async def serve_hello_timeout(reader, writer, options):
    # Nothing is kept back in user space: a drain ends when the kernel has taken everything.
    writer.transport.set_write_buffer_limits(0)
    rest = b""
    while True:
        async with asyncio.timeout(options.timeout_s):
            chunk = await reader.read(READ_BYTES)
        if not chunk:
            return
        heads, rest = count_heads(rest, chunk)
        writer.write(REPLY * heads)
        await drain(writer, options.timeout_s)


async def drain(writer, timeout_s):
    """Goes on after a timeout in which the client took something: that is progress."""
    while True:
        before = writer.transport.get_write_buffer_size()
        try:
            async with asyncio.timeout(timeout_s):
                return await writer.drain()
        except TimeoutError:
            if writer.transport.get_write_buffer_size() >= before:
                raise


async def serve_echo(reader, writer, options):
    while chunk := await reader.read(READ_BYTES):
        writer.write(chunk)
        await writer.drain()


SERVICES = {"hello": serve_hello, "hello-timeout": serve_hello_timeout, "echo": serve_echo}


def pass_over_failed_accepts(loop, context):
    """Does not log them: without descriptors asyncio reports one for each place in the backlog."""
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)


async def serve(options, when_listening):
    service = SERVICES[options.scenario]
    asyncio.get_running_loop().set_exception_handler(pass_over_failed_accepts)

    async def connected(reader, writer):
        try:
            await service(reader, writer, options)
            writer.close()
        except (OSError, TimeoutError):
            # So a connection ends that is reset or times out: what is unsent is given up.
            writer.transport.abort()

    server = await asyncio.start_server(
        connected, options.host, options.port, backlog=BACKLOG, reuse_port=options.workers > 1
    )
    when_listening(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def run(loop_name, coroutine):
    if loop_name == "uvloop":
        import uvloop

        uvloop.run(coroutine)
    else:
        asyncio.run(coroutine)


def announce(options, port):
    shown = f"[{options.host}]" if ":" in options.host else options.host
    print(f"listening {shown}:{port}", flush=True)


def fork(loop_name, options):
    """Starts the workers and waits; they end when this process does, however it ends."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # It never listens, but keeps the port for the workers.
    keeper = socket.socket(family)
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    keeper.bind((options.host, options.port))
    options = options._replace(port=keeper.getsockname()[1])
    ready, tell_ready = os.pipe()
    # Nothing is ever written here: its end tells that this process is gone.
    gone, lifeline = os.pipe()
    for _ in range(options.workers):
        if os.fork() == 0:
            os.close(lifeline)
            run(loop_name, work(options, tell_ready, gone))
    os.close(tell_ready)
    for _ in range(options.workers):
        if not os.read(ready, 1):
            sys.exit("the workers ended before they listened")
    announce(options, options.port)
    pid, status = os.wait()
    sys.exit(f"worker {pid} ended with {os.waitstatus_to_exitcode(status)}")


async def work(options, tell_ready, gone):
    asyncio.get_running_loop().add_reader(gone, os._exit, 0)
    await serve(options, lambda port: os.write(tell_ready, b"1"))


def parse_number(name, text, least, most):
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UsageError(f"{name} must be a number from {least} to {most}, not {text}")
    return int(text)


def parse_options(words):
    if not 4 <= len(words) <= 5:
        raise UsageError("usage: server.py LOOP SCENARIO HOST PORT WORKERS [TIMEOUT_MS]")
    scenario, host, port, workers, *timeout_ms = words
    if scenario not in SERVICES:
        raise UsageError(f"unknown scenario {scenario}")
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise UsageError(f"HOST must be an IPv4 or IPv6 address, not {host}") from error
    timeout_ms = timeout_ms[0] if timeout_ms else str(DEFAULT_TIMEOUT_MS)
    return Options(
        scenario=scenario,
        host=host,
        port=parse_number("PORT", port, 0, 65535),
        workers=parse_number("WORKERS", workers, 1, 1024),
        timeout_s=parse_number("TIMEOUT_MS", timeout_ms, 1, 2**31 - 1) / 1000,
    )


def main():
    loop_name, *words = sys.argv[1:]
    try:
        options = parse_options(words)
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    if options.workers == 1:
        run(loop_name, serve(options, lambda port: announce(options, port)))
    else:
        fork(loop_name, options)


if __name__ == "__main__":
    main()
