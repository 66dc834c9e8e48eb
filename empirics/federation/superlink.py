"""Flower's SuperLink, controlled only by its own user on its own machine.

    python -m empirics.federation.superlink OPTIONS OF flower-superlink

Flower authenticates nodes, but lets anyone who reaches the port register a key or start a run, whose code then runs on
the server and on every client. Here a request from another machine reaches only the paths that nodes need,
`/v1/fleet/`. Where the system reports the owner of a connection, other users of this machine are refused too.
"""

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

__all__ = ["NO_OWNER", "AccessRule", "main", "owner"]

NODE_PATHS = "/v1/fleet/"
CONNECTION_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ESTABLISHED = "01"  # a closed connection is listed as root's
NO_OWNER = -1

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
End = tuple[Address, int]


class AccessRule:
    """Paths of nodes are open to all, others only to this user on this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"].startswith(NODE_PATHS) or _trusted(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = PlainTextResponse("only the server's user on its machine may do this", status_code=403)
            await refusal(scope, receive, send)
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
    """The user id of a connection's owner, NO_OWNER without a connection, None where the system does not report it."""
    if not CONNECTION_TABLES[0].exists():
        return None
    for local, remote, state, user in _connections():
        if (local, remote, state) == (client, server, ESTABLISHED):
            return user
    return NO_OWNER


def _connections() -> Iterator[tuple[End, End, str, int]]:
    for table in CONNECTION_TABLES:
        with suppress(OSError):
            for line in table.read_text().splitlines()[1:]:
                words = line.split()
                yield _hex(words[1]), _hex(words[2]), words[3], int(words[7])


def _hex(word: str) -> End:
    """An address as the system writes it: 32-bit words in native byte order."""
    host, _, port = word.partition(":")
    quarters = [bytes.fromhex(host[i : i + 8]) for i in range(0, len(host), 8)]
    if sys.byteorder == "little":
        quarters = [quarter[::-1] for quarter in quarters]
    address = ipaddress.ip_address(b"".join(quarters))
    return getattr(address, "ipv4_mapped", None) or address, int(port, 16)


def main() -> None:
    """Run `flower-superlink` behind the access rule."""
    extensions.get_middleware = lambda: (Middleware(AccessRule),)
    flower_superlink()


if __name__ == "__main__":
    main()
