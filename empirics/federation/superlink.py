"""Flower's SuperLink, in which only its own user on its own machine gives orders.

    python -m empirics.federation.superlink OPTIONS OF flower-superlink

Flower checks the key of a node that takes part, but not who registers a key or starts a run, which is code that then
runs on the server and on every client: whoever reaches the port may. Here a request from elsewhere reaches what nodes
need, `/v1/fleet/`, and nothing more. Where the system tells whose a connection is, other users of the same machine are
kept out, too.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from flwr.superlink import extensions
from flwr.superlink.cli.flower_superlink import flower_superlink
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Guard", "main", "owner"]

OPEN = "/v1/fleet/"
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ESTABLISHED = "01"  # a connection that its owner has closed is said to be root's
NOBODY = -1

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
End = tuple[Address, int]


class Guard:
    """Lets everybody at what nodes need, and at the rest only this user from this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"].startswith(OPEN) or _trusted(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            said = "orders are taken from the user of this server on its own machine alone"
            await PlainTextResponse(said, status_code=403)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


def _trusted(scope: Scope) -> bool:
    if not scope.get("client") or not scope.get("server"):
        return False
    client, server = _end(*scope["client"]), _end(*scope["server"])
    if client is None or server is None or client[0] != server[0]:
        return False  # a connection from a machine to itself has one address
    user = owner(client, server)
    return user is None or user in (0, os.getuid())


def _end(host: str, port: int | None) -> End | None:
    with suppress(ValueError):
        address = ipaddress.ip_address(host.partition("%")[0])
        return getattr(address, "ipv4_mapped", None) or address, int(port or 0)
    return None


def owner(client: End, server: End) -> int | None:
    """The user whose connection this is, NOBODY if there is none such, None where the system does not tell."""
    if not TABLES[0].exists():
        return None
    for local, remote, state, user in _connections():
        if (local, remote, state) == (client, server, ESTABLISHED):
            return user
    return NOBODY


def _connections() -> Iterator[tuple[End, End, str, int]]:
    for table in TABLES:
        with suppress(OSError):
            for line in table.read_text().splitlines()[1:]:
                words = line.split()
                yield _hex(words[1]), _hex(words[2]), words[3], int(words[7])


def _hex(word: str) -> End:
    """An address as the system writes it, 32 bits at a time in its own order."""
    host, _, port = word.partition(":")
    quarters = [bytes.fromhex(host[i : i + 8]) for i in range(0, len(host), 8)]
    if sys.byteorder == "little":
        quarters = [quarter[::-1] for quarter in quarters]
    address = ipaddress.ip_address(b"".join(quarters))
    return getattr(address, "ipv4_mapped", None) or address, int(port, 16)


def main() -> None:
    """The command `flower-superlink`, with a guard before it."""
    extensions.get_middleware = lambda: (Middleware(Guard),)
    flower_superlink()


if __name__ == "__main__":
    main()
