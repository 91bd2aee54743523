"""granian: a server in Rust that runs a Python application, one event loop per process.

It deliberately has no router: the applications give every path the same reply.
"""

import ipaddress
import sys

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings

BACKLOG = 4096
# Connections are kept; granian would close a silent one after thirty seconds.
KEEP_ALIVE_MS = 24 * 60 * 60 * 1000


class UsageError(Exception):
    """A command line that cannot be used."""


async def asgi(scope, receive, send):
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"12")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"Hello world!"})


async def rsgi(scope, protocol):
    protocol.response_str(200, [("content-type", "text/plain")], "Hello world!")


def parse_number(name, text, least, most):
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UsageError(f"{name} must be a number from {least} to {most}, not {text}")
    return int(text)


def create_server(words):
    if not 5 <= len(words) <= 6:
        raise UsageError("usage: server.py INTERFACE SCENARIO HOST PORT WORKERS [TIMEOUT_MS]")
    interface, scenario, host, port, workers, *timeout_ms = words
    if interface not in ("asgi", "rsgi"):
        raise UsageError(f"unknown interface {interface}")
    if scenario != "hello":
        raise UsageError(f"unknown scenario {scenario}")
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise UsageError(f"HOST must be an IPv4 or IPv6 address, not {host}") from error
    for text in timeout_ms:  # Accepted like everywhere, although no scenario here uses it.
        parse_number("TIMEOUT_MS", text, 1, 2**31 - 1)
    return Granian(
        f"server:{interface}",
        address=host,
        # granian does not report which port the kernel would have chosen.
        port=parse_number("PORT", port, 1, 65535),
        workers=parse_number("WORKERS", workers, 1, 1024),
        # Without the lifespan protocol of ASGI, which the application does not have.
        interface=Interfaces.ASGINL if interface == "asgi" else Interfaces.RSGI,
        loop=Loops.uvloop,
        backlog=BACKLOG,
        http1_settings=HTTP1Settings(header_read_timeout=KEEP_ALIVE_MS),
        log_enabled=False,
        # On SIGTERM granian waits for open connections, without this for ever.
        workers_kill_timeout=1,
    )


def main():
    try:
        server = create_server(sys.argv[1:])
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    server.serve()


if __name__ == "__main__":
    main()
