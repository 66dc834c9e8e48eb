"""A federation on this machine: errors come before the first process, and no process outlives it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from dataclasses import replace
from itertools import islice
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from empirics.federation import local, process_cleanup, processes
from empirics.federation.app_folder import FederationFolder
from empirics.federation.local import federate
from empirics.federation.process_cleanup import members
from empirics.federation.processes import last_error
from empirics.federation.server_state import federated, prepare
from empirics.results.folder import Folder, read_result, read_settings
from empirics.settings.presets import PRESETS
from tests.empirics.small import refused, until

SMALL = federated(replace(PRESETS["digits"], buffers=(4, 5), budget=11, rounds=2), "constant")


def test_a_study_that_cannot_run_leaves_nothing_and_a_result_has_one_federation(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", Mock(side_effect=AssertionError("a process was started")))
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    for change, said in (({"dataset": "npz:none.npz"}, "none.npz"), ({"policies": ("gone:Own",)}, "gone")):
        for place in (out, None):
            assert said in refused(federate, replace(SMALL, **change), place)
            assert not list(tmp_path.iterdir())
    prepare(SMALL, out)
    FederationFolder.of_result(out).root.mkdir()
    with Folder.begin(tmp_path / "trained", {"study": SMALL.document()}):
        pass
    for given, said in (
        ({"out": tmp_path / "trained", "resume": True}, "not made by acdpp federate"),
        ({"study": SMALL, "out": out}, "already holds a result"),
        ({"out": tmp_path / "none", "resume": True}, "no result"),
        ({"resume": True}, "resuming needs"),
        ({}, "one policy, not 6"),  # the default study
        ({"out": out, "resume": True}, "running federation"),
    ):
        with local.locked(FederationFolder.of_result(out)):
            assert said in refused(federate, **given)


def test_ports_are_free_and_below_those_of_connections(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
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
    found, *more = (processes.process_environment("mark", tmp_path, clients) for clients in (1, 10, 1000))
    assert found["FLWR_TELEMETRY_ENABLED"] == found["RAY_USAGE_STATS_ENABLED"] == "0"
    assert found["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert not {"FLWR_DATABASE", "RAY_ADDRESS", "HTTPS_PROXY", "http_proxy"} & found.keys()
    assert found["PYTHONPATH"].split(os.pathsep)[0] == str(Path.cwd())
    pauses = [one["FLWR_SUPEREXEC_TASK_POLL_INTERVAL"] for one in (found, *more)]
    assert pauses == ["0.1", "0.2", "1.0"]  # many nodes poll less often


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (None, "no output"),
        ("", "no output"),
        ("one\ntwo\n \n", "two"),
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


STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
WAIT_SECONDS_MAX = 900  # a busy machine takes minutes to start clients
COMMAND = [sys.executable, "-m", "acdpp", "federate", "--policy", "constant", "--clients", "2"]


def as_in_a_terminal():
    """Let signals end the process, also where the tests run in the background."""
    for stop in STOPS:
        signal.signal(stop, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_federation_leaves_no_process_and_can_go_on(tmp_path, stop, request):
    out = tmp_path / "out"
    words = [*COMMAND, "--rounds", "4", "--out", str(out)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=as_in_a_terminal)
    request.addfinalizer(process.kill)  # if the test fails before
    begun = lambda: (out / "settings.json").exists() and read_settings(out)["progress"]["done"] > 0  # noqa: E731
    until(begun, WAIT_SECONDS_MAX)
    there = set(psutil.Process(process.pid).children(recursive=True))
    assert len(there) >= 7  # the cleanup, a SuperLink, two SuperNodes, and their executors
    process.send_signal(stop)
    _, said = process.communicate(timeout=WAIT_SECONDS_MAX)
    until(lambda: not members("", there))
    if stop == signal.SIGINT:
        assert process.returncode == 130
        lines = [line for line in said.splitlines() if not line.startswith("acdpp: rounds")]
        assert lines == [f"acdpp: stopped; continue with acdpp resume {out}"]
    keys = [FederationFolder.of_result(out).client(m) / "key" for m in range(2)]
    before = [key.read_bytes() for key in keys]
    again = subprocess.run([*COMMAND[:3], "resume", str(out), "--json"], capture_output=True, check=True)
    assert json.loads(again.stdout)["rounds"] == len(read_result(out).rows) == 4
    assert before == [key.read_bytes() for key in keys]
    running = psutil.process_iter(["cmdline"])
    assert not [one for one in running if any(str(out) in word for word in one.info["cmdline"] or ())]


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
# starts a cleanup, prints its number, and ends with its own input
STARTER = """
import subprocess, sys
cleanup = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE)
print(cleanup.pid, flush=True)
sys.stdin.read()
"""


def ignored(process):
    """The signals that a process ignores, as Linux reports."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    (mask,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))
    return {stop for stop in STOPS if mask >> (stop - 1) & 1}


@pytest.fixture
def runaways():
    """Their mark, and the four processes."""
    mark = uuid.uuid4().hex
    environment = os.environ | {process_cleanup.MARK_VARIABLE: mark}
    process = subprocess.Popen([sys.executable, "-c", RUNAWAYS], env=environment, preexec_fn=as_in_a_terminal)
    until(lambda: [len(ignored(one)) for one in members(mark)].count(1) == 2 and len(members(mark)) == 4)
    there = members(mark)
    yield mark, there
    for one in members(mark, there):
        one.kill()
    process.wait()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
@pytest.mark.parametrize("end", [lambda starter: starter.stdin.close(), subprocess.Popen.kill])
def test_members_end_with_the_cleanup_s_starter_and_not_by_its_signals(runaways, end):
    mark, there = runaways
    words = [sys.executable, "-c", STARTER, process_cleanup.__file__, mark]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, preexec_fn=as_in_a_terminal, **pipes) as starter:
        cleanup = psutil.Process(int(starter.stdout.readline()))
        until(lambda: ignored(cleanup) == STOPS, 60)
        for stop in STOPS:
            cleanup.send_signal(stop)
        assert members(mark) == there
        assert psutil.Process() not in there
        end(starter)
    until(lambda: not members("", there), 60)
