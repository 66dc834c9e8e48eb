"""`acdpp explore`: what it refuses before anything is served."""

import socket
import sys

import pytest

from acdpp.explore.command import command
from tests.refused import refused


def test_a_port_that_cannot_be_had_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert refused(command, str(port)).startswith(f"port {port} cannot be used (Address already in use)")
    assert "at most 65,535" in refused(command, "65536")
    assert "--port must be a whole number" in refused(command, "0")


def test_without_the_library_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.delitem(sys.modules, "acdpp.explore.page", raising=False)
    assert refused(command) == "the page needs nicegui: pip install 'acdpp[explore]'"
