"""Output that is not UTF-8: no command fails, JSON loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

DESIGN = ["design", "--buffers", "10,11", "--budget", "10", "--mean-cost", "1"]
NARROW = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def acdpp(words: list[str], **environment: str) -> bytes:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHONIO"))}
    command = [sys.executable, "-m", "acdpp", *words]
    done = subprocess.run(command, capture_output=True, check=False, env=kept | environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("words", [["--help"], ["bound", "--help"], DESIGN], ids=["help", "bound", "design"])
def test_what_cannot_be_shown_is_replaced(words: list[str], kind: str) -> None:
    encoding = "latin-1" if kind == "latin-1" else "ascii"
    assert "?" in acdpp(words, **NARROW[kind]).decode(encoding)


VERDICT = ["verify", "--claim", "eq:omega-l2/normalisation", "--jobs", "1", "--json"]


@pytest.fixture(scope="module")
def wide() -> bytes:
    return acdpp(VERDICT, PYTHONIOENCODING="utf-8")


@pytest.mark.parametrize("kind", NARROW)
def test_json_is_ascii_and_says_the_same(kind: str, wide: bytes) -> None:
    narrow = acdpp(VERDICT, **NARROW[kind])
    assert narrow.isascii()
    assert not wide.isascii()
    assert json.loads(narrow) == json.loads(wide)


def test_an_error_is_one_line_in_any_encoding() -> None:
    for environment in NARROW.values():
        command = [sys.executable, "-m", "acdpp", "bound", "λ"]
        done = subprocess.run(command, capture_output=True, check=False, env=os.environ | environment)
        assert done.returncode == 2
        assert done.stderr.startswith(b"acdpp: ")
        assert len(done.stderr.splitlines()) == 1
