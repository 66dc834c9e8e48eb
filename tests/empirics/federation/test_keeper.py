"""Nothing of a federation outlives the process that started it, whatever the processes do to get away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from empirics.federation import keeper
from empirics.federation.keeper import members

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")

# a child in a session of its own, one that ignores being asked, one that has lost its parent and its environment
RUNAWAYS = """
import os, signal, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
deaf = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]
subprocess.Popen(sleep, start_new_session=True)
subprocess.Popen(deaf, start_new_session=True)
subprocess.Popen(deaf, env={})
time.sleep(600)
"""


@pytest.fixture
def mark() -> Iterator[str]:
    name = uuid.uuid4().hex
    yield name
    for process in members(name):
        os.kill(process, signal.SIGKILL)


def begun(mark: str) -> subprocess.Popen[bytes]:
    """The runaways, once they are all there."""
    process = subprocess.Popen([sys.executable, "-c", RUNAWAYS], env=os.environ | {keeper.NAME: mark})
    while len(members(mark)) < 4:
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.3)  # for the deaf one to be deaf
    return process


def alive(processes: set[int]) -> set[int]:
    """Those that still are, wherever they belong now."""
    return members(uuid.uuid4().hex, processes)


def test_members_are_those_with_the_mark_and_their_children(mark: str) -> None:
    process = begun(mark)
    assert process.pid in members(mark)
    assert len(members(mark)) == 4
    assert not members(uuid.uuid4().hex)
    assert os.getpid() not in members(mark)
    for one in members(mark):
        os.kill(one, signal.SIGKILL)
    process.wait()


def test_all_end_when_its_input_does(mark: str) -> None:
    process = begun(mark)
    there = members(mark)
    kept = subprocess.Popen([sys.executable, keeper.__file__, mark], stdin=subprocess.PIPE)
    time.sleep(0.3)
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        kept.send_signal(stop)
    time.sleep(0.2)
    assert kept.poll() is None
    assert len(members(mark)) == 4
    assert kept.stdin is not None
    kept.stdin.close()
    process.wait(timeout=60)
    assert kept.wait(timeout=60) == 0
    assert not alive(there)


def test_all_end_when_whoever_started_it_is_killed(mark: str) -> None:
    starter = f"""
import subprocess, sys, time
kept = subprocess.Popen([sys.executable, {keeper.__file__!r}, {mark!r}], stdin=subprocess.PIPE, start_new_session=True)
print(kept.pid, flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert int(process.stdout.readline()) > 0
    process.stdout.close()
    runaways = begun(mark)
    there = members(mark)
    process.kill()
    process.wait()
    runaways.wait(timeout=60)
    for _ in range(600):
        if not (left := alive(there)):
            break
        time.sleep(0.1)
    assert not left


def test_without_environments_to_look_at_process_groups_are_ended(mark: str) -> None:
    """As on systems that do not have /proc."""
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    process = subprocess.Popen(sleep, start_new_session=True)
    blind = "import sys; from pathlib import Path; from empirics.federation import keeper; "
    blind += f"keeper.PROC = Path({mark!r}); sys.argv[1:] = [{mark!r}]; keeper.main()"
    kept = subprocess.Popen([sys.executable, "-c", blind], stdin=subprocess.PIPE)
    assert kept.stdin is not None
    kept.stdin.write(f"{process.pid}\n".encode())
    kept.stdin.close()
    assert process.wait(timeout=60) == -signal.SIGTERM
    assert kept.wait(timeout=60) == 0
