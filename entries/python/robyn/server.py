"""Robyn: a web framework whose server and router are in Rust, with one route in Python."""

import ipaddress
import os
import signal
import sys

from robyn import Headers, Response, Robyn

# Connections are kept; Robyn would close a silent one after twenty seconds.
KEEP_ALIVE_S = 24 * 60 * 60


class UsageError(Exception):
    """A command line that cannot be used."""


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
    # Robyn does not report which port the kernel would have chosen.
    return host, parse_number("PORT", port, 1, 65535), parse_number("WORKERS", workers, 1, 1024)


def create_app(workers):
    app = Robyn(__file__)
    app.config.disable_openapi = True
    app.config.processes = workers

    @app.get("/")
    async def hello(request):
        return Response(200, Headers({"Content-Type": "text/plain"}), "Hello world!")

    return app


def main():
    try:
        host, port, workers = parse_options(sys.argv[1:])
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    # With one process Robyn's server handles SIGTERM, but the event loop of Python goes on.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: os._exit(0))
    create_app(workers).start(host, port, _check_port=False, keep_alive_timeout=KEEP_ALIVE_S)


if __name__ == "__main__":
    main()
