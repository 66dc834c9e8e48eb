"""Orders come from the server's own user on its own machine; from anybody else only what nodes need is heard."""

import asyncio
import ipaddress
import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from empirics.federation.superlink import NOBODY, Guard, owner

LINUX = pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="the system does not tell whose a connection is"
)
CONTROL, RUNTIME, FLEET = "/v1/control/start-run", "/v1/runtime/acquire-task", "/v1/fleet/activate-node"
# connects, says from where, and waits; then closes its end and waits again
VISITOR = """
import encodings.idna, os, socket, sys  # what is loaded later may be unreadable
os.setuid(int(sys.argv[3]))
one = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print(one.getsockname()[1], flush=True)
sys.stdin.readline()
"""


def answer(path, client, server, kind="http"):
    """What becomes of a request: let through, refused, or closed."""
    heard: list[str] = []

    async def app(scope, receive, send):
        heard.append("let through")

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        heard.append(str(message.get("status", message["type"])))

    scope = {"type": kind, "path": path, "client": client, "server": server, "method": "POST", "headers": []}
    asyncio.run(Guard(app)(scope, receive, send))
    return heard[0]


@pytest.fixture(params=["127.0.0.1", "::1"])
def door(request):
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.socket(family) as listening:
        try:
            listening.bind((request.param, 0))
        except OSError:
            pytest.skip("this machine has no such address")
        listening.listen()
        listening.settimeout(30)
        yield listening


def test_anybody_reaches_what_nodes_need_and_nothing_else():
    there, here = ("192.0.2.7", 40000), ("192.0.2.1", 8000)
    assert answer(FLEET, there, here) == "let through"
    for path in (CONTROL, RUNTIME, "/docs", "/openapi.json", "/", "/v1/fleet", "/v1/fleetcontrol"):
        assert answer(path, there, here) == "403"
    assert answer(CONTROL, ("127.0.0.1", 40000), here) == "403"
    assert answer(CONTROL, None, here) == answer(CONTROL, there, None) == "403"
    assert answer(CONTROL, ("nonsense", 1), ("nonsense", 2)) == "403"
    assert answer(CONTROL, there, here, "websocket") == "websocket.close"


@LINUX
def test_the_own_user_gives_orders_from_this_machine(door):
    host, port = door.getsockname()[:2]
    with closing(socket.create_connection((host, port))) as visitor, closing(door.accept()[0]):
        mine = visitor.getsockname()[:2]
        for path in (CONTROL, RUNTIME, FLEET):
            assert answer(path, mine, (host, port)) == "let through"
        assert answer(CONTROL, (host, mine[1] ^ 1), (host, port)) == "403"  # no such connection
        assert owner((ipaddress.ip_address(host), mine[1]), (ipaddress.ip_address(host), port)) == os.getuid()


@LINUX
@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_another_user_of_this_machine_gives_none(door):
    host, port = door.getsockname()[:2]
    visitor = subprocess.Popen(
        [sys.executable, "-c", VISITOR, host, str(port), "65534"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert visitor.stdout is not None
    with visitor, closing(door.accept()[0]):
        theirs = (host, int(visitor.stdout.readline()))
        assert answer(FLEET, theirs, (host, port)) == "let through"
        for path in (CONTROL, RUNTIME):
            assert answer(path, theirs, (host, port)) == "403"
        visitor.communicate("\n")  # it is gone; what is left of its connection belongs to root
        ends = (ipaddress.ip_address(host), theirs[1]), (ipaddress.ip_address(host), port)
        assert owner(*ends) == NOBODY
        assert answer(CONTROL, theirs, (host, port)) == "403"
