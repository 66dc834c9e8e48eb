"""A federation on this machine: errors come before the first process, and no process outlives it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import psutil
import pytest

from empirics.federation import local, process_cleanup, processes
from empirics.federation.app_folder import FederationFolder
from empirics.federation.local import federate
from empirics.federation.process_cleanup import members
from empirics.federation.processes import last_error
from empirics.federation.server_state import federated, prepare
from empirics.results.folder import read_result, read_settings
from empirics.settings.presets import PRESETS
from tests.empirics.small import refused, until

SMALL = federated(replace(PRESETS["digits"], buffers=(4, 5), budget=11, rounds=2), "constant")


@pytest.fixture
def _no_process(monkeypatch):
    def started(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", started)


@pytest.mark.usefixtures("_no_process")
def test_a_study_that_cannot_run_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for change in ({"dataset": "npz:none.npz"}, {"policies": ("no_such_module:Policy",)}):
        for out in (tmp_path / "out", None):
            said = refused(federate, replace(SMALL, **change), out)
            assert "none.npz" in said or "no_such_module" in said
            assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_no_process")
def test_a_result_is_not_begun_again_and_only_one_federation_goes_on_with_it(tmp_path):
    out = tmp_path / "out"
    prepare(SMALL, out)
    FederationFolder.of_result(out).root.mkdir()
    for given, said in (
        ({"study": SMALL, "out": out}, "already holds a result"),
        ({"out": tmp_path / "none", "resume": True}, "no result"),
        ({"resume": True}, "resuming needs"),
        ({"out": out, "resume": True}, "running federation"),
    ):
        with local.locked(FederationFolder.of_result(out)):
            assert said in refused(federate, **given)


def test_ports_are_free_and_below_those_of_connections(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(processes, "PORTS", range(port, port + 1))
        assert not list(processes.free_ports())
    monkeypatch.undo()
    found = list(islice(processes.free_ports(), 50))
    assert len(set(found)) == 50
    assert all(port in processes.PORTS for port in found)


def test_nothing_of_the_users_settings_reaches_out(tmp_path, monkeypatch):
    for name in ("FLWR_TELEMETRY_ENABLED", "FLWR_DATABASE", "RAY_ADDRESS", "HTTPS_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "1")
    found = processes.process_environment("mark", tmp_path, 3)
    assert found["FLWR_TELEMETRY_ENABLED"] == found["RAY_USAGE_STATS_ENABLED"] == "0"
    assert found["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert not {"FLWR_DATABASE", "RAY_ADDRESS", "HTTPS_PROXY", "http_proxy"} & found.keys()
    assert found["PYTHONPATH"].split(os.pathsep)[0] == str(Path.cwd())


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (None, "no output"),
        ("", "no output"),
        ("one\ntwo\n", "two"),
        ("\x1b[91mERROR\x1b[0m :   bad  thing\nINFO : bye\n", "ERROR : bad thing"),
        ("Traceback\nValueError: no\n\n", "ValueError: no"),
        ("y" + "x" * 1000, "y" + "x" * 299),
        ("Error: of long ago\n" + "well\n" * 30_000, "well"),
    ],
)
def test_the_last_error_of_a_log_is_one_line(tmp_path, log, said):
    path = tmp_path / "log"
    if log is not None:
        path.write_text(log)
    assert last_error(path) == f"{said} (log: {str(path)!r})"


COMMAND = [sys.executable, "-m", "acdpp", "federate", "--policy", "constant", "--clients", "2"]


def _as_in_a_terminal():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def marked(folder):
    """The mark of the federation in a folder, from the environment of a process that works there."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            told = process.environ()
            if told.get("FLWR_HOME", "").startswith(str(folder)) and process_cleanup.MARK_VARIABLE in told:
                return told[process_cleanup.MARK_VARIABLE]
    return None


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_federation_leaves_no_process_and_can_go_on(tmp_path, stop):
    out = tmp_path / "out"
    words = [*COMMAND, "--rounds", "2", "--out", str(out)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=_as_in_a_terminal)
    mark = until(lambda: marked(out))
    until(lambda: (out / "settings.json").exists() and read_settings(out)["progress"]["done"] == 1)
    there = process_cleanup.members(mark)
    assert len(there) >= 6  # a SuperLink, two SuperNodes, and their executors
    process.send_signal(stop)
    _, said = process.communicate(timeout=60)
    until(lambda: not process_cleanup.members("", there), 60)
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert said == f"acdpp: stopped; continue with acdpp federate --resume {out}\n"
    keys = [FederationFolder.of_result(out).client(m) / "key" for m in range(2)]
    before = [key.read_bytes() for key in keys]
    again = subprocess.run([*COMMAND[:4], "--resume", str(out), "--json"], capture_output=True, check=True)
    assert json.loads(again.stdout)["rounds"] == 2
    assert len(read_result(out).rows) == 2
    assert before == [key.read_bytes() for key in keys]
    assert marked(out) is None


ALONE = """
ip link set lo up
"$@" || exit
echo counters
cat /proc/net/snmp /proc/net/snmp6
"""


def attempts(counters):
    """Outgoing packets without a route, as counted by the system."""
    lines = [line.split() for line in counters.splitlines()]
    names, values = (words for words in lines if words[:1] == ["Ip:"])
    newer = sum(int(words[1]) for words in lines if words[:1] == ["Ip6OutNoRoutes"])
    return newer + int(dict(zip(names, values, strict=True))["OutNoRoutes"])


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("unshare") or os.getuid() != 0, reason="needs a network of its own")
@pytest.mark.parametrize("engine", [[], ["--simulation"]], ids=["processes", "simulation"])
def test_only_loopback_is_used(tmp_path, engine):
    """In a network with loopback only; Ray, which simulates, looks for its cloud in vain."""

    def alone(*words):
        command = ["unshare", "--net", "sh", "-c", ALONE, "sh", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said, _, counters = done.stdout.partition("counters\n")
        return said, attempts(counters)

    reach = "import socket; socket.socket().connect_ex(('192.0.2.1', 80))"
    assert alone(sys.executable, "-c", reach)[1] == 1  # an attempt is noticed
    said, tried = alone(*COMMAND, "--rounds", "1", "--out", str(tmp_path / "out"), "--json", *engine)
    assert json.loads(said)["rounds"] == 1
    assert engine or tried == 0


LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

# children: in its own session; ignoring SIGTERM; ignoring SIGTERM, without the marked environment
RUNAWAYS = """
import os, signal, subprocess, sys, time
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
deaf = [sys.executable, "-S", "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]
subprocess.Popen(sleep, start_new_session=True)
subprocess.Popen(deaf, start_new_session=True)
subprocess.Popen(deaf, env={})
time.sleep(600)
"""


# starts a cleanup, and may be killed
def deaf(process):
    """True if it ignores SIGTERM, as Linux reports."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    (ignored,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))
    return bool(ignored >> (signal.SIGTERM - 1) & 1)


@pytest.fixture
def runaways():
    """Their mark, and the four processes."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-c", RUNAWAYS], env=os.environ | {process_cleanup.MARK_VARIABLE: mark}
    )
    until(lambda: len(members(mark)) == 4 and sum(map(deaf, members(mark))) == 2)
    there = members(mark)
    yield mark, there
    for one in members(mark, there):
        one.kill()
    process.wait()


@LINUX
def test_members_end_with_the_cleanup_s_input_and_not_before(runaways):
    mark, there = runaways
    kept = subprocess.Popen([sys.executable, process_cleanup.__file__, mark], stdin=subprocess.PIPE)
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
