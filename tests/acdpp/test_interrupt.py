"""Ctrl-C at any moment: one line, status 130, nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
INT = 1 << (signal.SIGINT - 1)


def _as_in_a_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _waits_for_the_signal(process: int) -> bool:
    """Whether it is blocked: before that, the interpreter itself is starting."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return any(line.startswith("SigBlk") and int(line.split()[1], 16) & INT for line in lines)


def _session(leader: int) -> dict[int, str]:
    """The living processes of a session, and their commands."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            command = (entry / "cmdline").read_text()
        except OSError:
            continue
        if session == str(leader) and state != "Z":
            found[int(entry.name)] = command
    return found


def interrupted(words: list[str], delay: float) -> tuple[int, list[str]]:
    """Exit status and stderr of a command whose whole process group gets the signal after a delay."""
    process = subprocess.Popen(
        [sys.executable, "-m", "acdpp", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_as_in_a_terminal,
    )
    while process.poll() is None and not _waits_for_the_signal(process.pid):
        time.sleep(0.001)
    time.sleep(delay)
    workers = [worker for worker, command in _session(process.pid).items() if "spawn_main" in command]
    assert all(map(_waits_for_the_signal, workers))  # or it would be a race who is faster, they or their end
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    for _ in range(100):  # multiprocessing's own helper ends when it sees that all others have
        if not (left := _session(process.pid)):
            break
        time.sleep(0.1)
    assert not left
    return process.returncode, [line for line in said.splitlines() if line.strip()]


@pytest.mark.parametrize("delay", [0, 0.2, 0.6, 2, 5, 8])
def test_verifying_stops_with_one_line(delay: float) -> None:
    assert interrupted(["verify", "--profile", "full", "--jobs", "2"], delay) == (130, ["acdpp: interrupted"])


@pytest.mark.parametrize("delay", [1, 4])
def test_verifying_in_one_process_stops_with_one_line(delay: float) -> None:
    """Z3 has a handler of its own, which would swallow the signal."""
    words = ["verify", "--claim", "lem:omega2-order", "--profile", "full", "--jobs", "1"]
    assert interrupted(words, delay) == (130, ["acdpp: interrupted"])


@pytest.mark.parametrize("words", [["--help"], ["bound", "constant", "--certified"], ["plot", "omegas"]])
def test_starting_stops_with_one_line(words: list[str]) -> None:
    assert interrupted(words, 0.1) == (130, ["acdpp: interrupted"])


def test_an_ignored_signal_stays_ignored() -> None:
    command = "import signal, os, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    command += f"os.execv(sys.executable, {[sys.executable, '-m', 'acdpp', '--help']!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", command], stdout=subprocess.PIPE, start_new_session=True
    )
    time.sleep(0.7)
    os.killpg(process.pid, signal.SIGINT)
    assert b"acdpp verify" in process.communicate(timeout=60)[0]
    assert process.returncode == 0
