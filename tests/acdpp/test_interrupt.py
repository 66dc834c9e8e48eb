"""Ctrl-C at any moment: one line, status 130, nothing left running."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.attack.interrupts import fresh, left_running, session, watches

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
ONE_LINE = (130, ["acdpp: interrupted"])
LONG = """
from time import sleep
from proofs_check.claim import Claim

def check():
    sleep(1000)

words = {"kind": "identity", "title": "long", "statement": "It is long.", "domain": "all", "checks": (check,)}
CLAIMS = [Claim(id=name, **words) for name in ("one", "two")]
"""


def begun(words, delay, work):
    """A command after a delay, or once it has two workers."""
    (work / "long.py").write_text(LONG)
    child = fresh(words.split(), work)
    time.sleep(delay or 0)
    while delay is None and len(session(child.pid).keys() - {child.pid}) < 2:
        assert session(child.pid), "it ended before its workers began"
        time.sleep(0.05)
    return child


def interrupted(words, delay, work):
    """Exit status and stderr of a command whose whole process group gets the signal."""
    child = begun(words, delay, work)
    if delay is None:
        workers = session(child.pid).keys() - {child.pid}
        assert all(map(watches, workers))  # or it would be a race who is faster, they or their end
    child.signal(signal.SIGINT)
    ended = child.ended(60)
    assert not left_running(child.pid)
    return ended.status, [line for line in ended.err.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("words", "delay"),
    [
        ("verify --profile full --jobs 2", 0),
        ("verify --profile full --jobs 2", 0.5),  # while it is imported
        ("verify --file long.py --jobs 2", None),
        # Z3 has a handler of its own, which would swallow the signal
        ("verify --claim lem:omega2-order --profile full --jobs 1", 3),
        ("--help", 0),
    ],
)
def test_it_stops_with_one_line(words, delay, tmp_path):
    assert interrupted(words, delay, tmp_path) == ONE_LINE


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_program_that_is_killed(stop, tmp_path):
    child = begun("verify --file long.py --jobs 2", None, tmp_path)
    os.kill(child.pid, stop)
    child.ended(60)
    assert not left_running(child.pid)


def test_an_ignored_signal_stays_ignored():
    command = "import signal, os, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    command += f"os.execv(sys.executable, {[sys.executable, '-m', 'acdpp', '--help']!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", command], stdout=subprocess.PIPE, start_new_session=True
    )
    time.sleep(0.7)
    os.killpg(process.pid, signal.SIGINT)
    assert b"acdpp verify" in process.communicate(timeout=60)[0]
    assert process.returncode == 0
