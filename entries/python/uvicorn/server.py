"""uvicorn: an ASGI application on uvloop and httptools, one event loop per process.

It deliberately has no router: the application gives every path the same reply.
"""

import asyncio
import ipaddress
import os
import socket
import sys
from typing import NamedTuple

import uvicorn

BACKLOG = 4096
# Connections are kept; uvicorn would close a silent one after five seconds.
KEEP_ALIVE_S = 24 * 60 * 60
HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"12")]


class Options(NamedTuple):
    host: str
    port: int
    workers: int


class UsageError(Exception):
    """A command line that cannot be used."""


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b"Hello world!"})


class Server(uvicorn.Server):
    """Tells when it accepts."""

    def __init__(self, config, when_listening):
        super().__init__(config)
        self.when_listening = when_listening

    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        self.when_listening()


def serve(options, when_listening):
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        # On SIGTERM uvicorn waits for replies that are under way, without this for ever.
        timeout_graceful_shutdown=0,
    )
    listener = bind(options)
    port = listener.getsockname()[1]
    Server(config, lambda: when_listening(port)).run(sockets=[listener])


def bind(options):
    listener = socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if options.workers > 1:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((options.host, options.port))
    return listener


def announce(options, port):
    shown = f"[{options.host}]" if ":" in options.host else options.host
    print(f"listening {shown}:{port}", flush=True)


def fork(options):
    """Starts the workers and waits; they end when this process does, however it ends."""
    # It never listens, but keeps the port for the workers.
    keeper = bind(options)
    options = options._replace(port=keeper.getsockname()[1])
    ready, tell_ready = os.pipe()
    # Nothing is ever written here: its end tells that this process is gone.
    gone, lifeline = os.pipe()
    for _ in range(options.workers):
        if os.fork() == 0:
            os.close(lifeline)
            work(options, tell_ready, gone)
            os._exit(0)
    os.close(tell_ready)
    for _ in range(options.workers):
        if not os.read(ready, 1):
            sys.exit("the workers ended before they listened")
    announce(options, options.port)
    pid, status = os.wait()
    sys.exit(f"worker {pid} ended with {os.waitstatus_to_exitcode(status)}")


def work(options, tell_ready, gone):
    def listening(_port):
        asyncio.get_running_loop().add_reader(gone, os._exit, 0)
        os.write(tell_ready, b"1")

    serve(options, listening)


def parse_number(name, text, least, most):
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UsageError(f"{name} must be a number from {least} to {most}, not {text}")
    return int(text)


def parse_options(words):
    if not 4 <= len(words) <= 5:
        raise UsageError("usage: server.py SCENARIO HOST PORT WORKERS [TIMEOUT_MS]")
    scenario, host, port, workers, *timeout_ms = words
    if scenario != "hello":
        raise UsageError(f"unknown scenario {scenario}")
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise UsageError(f"HOST must be an IPv4 or IPv6 address, not {host}") from error
    for text in timeout_ms:  # Accepted like everywhere, although no scenario here uses it.
        parse_number("TIMEOUT_MS", text, 1, 2**31 - 1)
    return Options(
        host=host,
        port=parse_number("PORT", port, 0, 65535),
        workers=parse_number("WORKERS", workers, 1, 1024),
    )


def main():
    try:
        options = parse_options(sys.argv[1:])
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    if options.workers == 1:
        serve(options, lambda port: announce(options, port))
    else:
        fork(options)


if __name__ == "__main__":
    main()
