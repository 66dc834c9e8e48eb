"""A federation on this machine: what is wrong is said before a process starts, and nothing is left when it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from empirics.federation import keeper, local, processes
from empirics.federation.books import federated, prepare
from empirics.federation.local import federate
from empirics.federation.processes import Place, federation, last_error
from empirics.records.folder import read_result, read_settings
from empirics.settings.presets import PRESETS
from theory.setting import SettingError

SMALL = federated(replace(PRESETS["digits"], buffers=(4, 5), budget=11, rounds=2), "constant")


@pytest.fixture
def _no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", started)


# --- before anything starts --------------------------------------------------------------------------------


@pytest.mark.usefixtures("_no_process")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policies": ("acdpp", "constant")}, "one policy"),
        ({"dataset": "npz:none.npz"}, "none.npz"),
        ({"policies": ("no_such_module:Policy",)}, "no_such_module"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_study_that_cannot_run_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], said: str, named: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=said):
        federate(replace(SMALL, **change), tmp_path / "out" if named else None)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_no_process")
def test_a_folder_with_a_result_is_not_begun_again(tmp_path: Path) -> None:
    prepare(SMALL, tmp_path / "out")
    with pytest.raises(SettingError, match="already holds a result"):
        federate(SMALL, tmp_path / "out")


@pytest.mark.usefixtures("_no_process")
def test_only_a_federation_is_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no result"):
        federate(out=tmp_path / "none", resume=True)
    with pytest.raises(SettingError, match="resuming needs"):
        federate(resume=True)


def test_two_at_once_on_one_result_are_refused(tmp_path: Path) -> None:
    prepare(SMALL, tmp_path / "out")
    place = Place.of_result(tmp_path / "out")
    place.root.mkdir()
    with local._alone(place), pytest.raises(SettingError, match="under way"):
        federate(out=tmp_path / "out", resume=True)


# --- its parts ---------------------------------------------------------------------------------------------


def test_ports_are_free_and_below_those_of_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(processes, "PORTS", range(port, port + 1))
        assert not list(processes._free_ports())
    monkeypatch.undo()
    found = list(islice(processes._free_ports(), 50))
    assert len(set(found)) == 50
    assert all(port in processes.PORTS for port in found)


def test_nothing_of_the_users_settings_reaches_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FLWR_TELEMETRY_ENABLED", "FLWR_DATABASE", "RAY_ADDRESS", "HTTPS_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "1")
    found = processes._environment("mark", tmp_path, 3)
    assert found["FLWR_TELEMETRY_ENABLED"] == found["RAY_USAGE_STATS_ENABLED"] == "0"
    assert found["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert not {"FLWR_DATABASE", "RAY_ADDRESS", "HTTPS_PROXY", "http_proxy"} & found.keys()
    assert found["PYTHONPATH"].split(os.pathsep)[0] == str(Path.cwd())


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (None, "it said nothing"),
        ("", "it said nothing"),
        ("one\ntwo\n", "two"),
        ("\x1b[91mERROR\x1b[0m :   bad  thing\nINFO : bye\n", "ERROR : bad thing"),
        ("Traceback\nValueError: no\n\n", "ValueError: no"),
        ("x" * 1000, "x" * 300),
    ],
)
def test_the_last_error_of_a_log_is_told_in_one_line(tmp_path: Path, log: str | None, said: str) -> None:
    if log is not None:
        (tmp_path / "log").write_text(log)
    assert last_error(tmp_path / "log") == f"{said} (all of it: {str(tmp_path / 'log')!r})"


# --- all of it ---------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "acdpp", "federate", "--policy", "constant", "--clients", "2"]


def _as_in_a_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def waited(until: Callable[[], Any], seconds: float = 300) -> Any:
    limit = time.monotonic() + seconds
    while not (found := until()):
        assert time.monotonic() < limit
        time.sleep(0.1)
    return found


def marked(folder: Path) -> str | None:
    """The mark of the federation on a folder, from a process that has it in its environment and works there."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        homes = [word for word in words if word.startswith(b"FLWR_HOME=" + os.fsencode(folder))]
        marks = [word for word in words if word.startswith(keeper.NAME.encode())]
        if homes and marks:
            return marks[0].decode().partition("=")[2]
    return None


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_federation_leaves_no_process_and_can_go_on(tmp_path: Path, stop: signal.Signals) -> None:
    out = tmp_path / "out"
    words = [*COMMAND, "--rounds", "2", "--out", str(out)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=_as_in_a_terminal)
    mark = waited(lambda: marked(out))
    waited(lambda: (out / "settings.json").exists() and read_settings(out)["progress"]["done"] == 1)
    there = keeper.members(mark)
    assert len(there) >= 6  # a SuperLink, two SuperNodes, and their executors
    process.send_signal(stop)
    _, said = process.communicate(timeout=60)
    waited(lambda: not keeper.members("", there), 60)
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert said == f"acdpp: stopped; continue with acdpp federate --resume {out}\n"
    keys = [(out / "federation" / "clients" / f"client-{m}" / "key").read_bytes() for m in range(2)]
    again = subprocess.run([*COMMAND[:4], "--resume", str(out), "--json"], capture_output=True, check=True)
    assert json.loads(again.stdout)["rounds"] == 2
    assert len(read_result(out).rows) == 2
    assert keys == [(out / "federation" / "clients" / f"client-{m}" / "key").read_bytes() for m in range(2)]
    assert marked(out) is None


ALONE = """
ip link set lo up
"$@" || exit
echo counters
cat /proc/net/snmp /proc/net/snmp6
"""


def attempts(counters: str) -> int:
    """What was to go out and had nowhere to go to, as the system counted it."""
    lines = [line.split() for line in counters.splitlines()]
    names, values = (words for words in lines if words[:1] == ["Ip:"])
    return int(dict(zip(names, values, strict=True))["OutNoRoutes"]) + sum(
        int(words[1]) for words in lines if words[:1] == ["Ip6OutNoRoutes"]
    )


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("unshare") or os.getuid() != 0, reason="needs a network of its own")
@pytest.mark.parametrize("engine", [[], ["--simulation"]], ids=["processes", "simulation"])
def test_nothing_but_loopback_is_spoken_to(tmp_path: Path, engine: list[str]) -> None:
    """In a network that has nothing else. Ray, which simulates, looks for its cloud all the same, and does without."""

    def alone(*words: str) -> tuple[str, int]:
        command = ["unshare", "--net", "sh", "-c", ALONE, "sh", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said, _, counters = done.stdout.partition("counters\n")
        return said, attempts(counters)

    reach = "import socket; socket.socket().connect_ex(('192.0.2.1', 80))"
    assert alone(sys.executable, "-c", reach)[1] == 1  # it would be noticed
    said, tried = alone(*COMMAND, "--rounds", "1", "--out", str(tmp_path / "out"), "--json", *engine)
    assert json.loads(said)["rounds"] == 1
    assert engine or tried == 0


@pytest.mark.slow
def test_a_server_that_ends_is_told_with_the_place_of_its_log(tmp_path: Path) -> None:
    out = tmp_path / "out"
    prepare(SMALL, out)
    place = Place.of_result(out)
    with federation(place, 0) as running:
        running.link.kill()
        running.link.wait()
        with pytest.raises(SettingError, match=r"stopped after round 0: .*superlink\.log"):
            local._watch(running, 1, out, lambda done: None)
    assert not running.processes
