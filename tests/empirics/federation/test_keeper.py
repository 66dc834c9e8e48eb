"""Nothing of a federation outlives the process that started it, whatever the processes do to get away."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from empirics.federation import keeper
from empirics.federation.keeper import members
from tests.empirics.small import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

# a child in a session of its own, one that ignores being asked, one that has lost its parent and its environment
RUNAWAYS = """
import os, signal, subprocess, sys, time
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
deaf = [sys.executable, "-S", "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]
subprocess.Popen(sleep, start_new_session=True)
subprocess.Popen(deaf, start_new_session=True)
subprocess.Popen(deaf, env={})
time.sleep(600)
"""
# whoever starts a keeper, and may be killed
STARTER = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-I", *sys.argv[1:]], stdin=subprocess.PIPE, start_new_session=True)
print("begun", flush=True)
time.sleep(600)
"""


def deaf(process):
    """Whether it ignores being asked to end, as Linux tells."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    (ignored,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))
    return bool(ignored >> (signal.SIGTERM - 1) & 1)


@pytest.fixture
def runaways():
    """Their mark, and the four processes, once they are all there."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen([sys.executable, "-c", RUNAWAYS], env=os.environ | {keeper.NAME: mark})
    until(lambda: len(members(mark)) == 4 and sum(map(deaf, members(mark))) == 2)
    there = members(mark)
    yield mark, there
    for one in members(mark, there):
        one.kill()
    process.wait()


def test_all_end_when_its_input_does_and_not_before(runaways):
    mark, there = runaways
    kept = subprocess.Popen([sys.executable, keeper.__file__, mark], stdin=subprocess.PIPE)
    until(lambda: deaf(kept))
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        kept.send_signal(stop)
    time.sleep(0.2)
    assert kept.poll() is None
    assert members(mark) == there
    assert psutil.Process() not in there
    kept.stdin.close()
    assert kept.wait(timeout=60) == 0
    assert not members("", there)


def test_all_end_when_whoever_started_it_is_killed(runaways):
    mark, there = runaways
    words = [sys.executable, "-c", STARTER, keeper.__file__, mark]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        process.kill()
    until(lambda: not members("", there))
