"""A federation with mocked processes and a clock that advances only by sleeping."""

import os
import signal
import socket
import subprocess
import sys
import sysconfig
import tomllib
import warnings
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from flwr.proto.control_pb2 import ListRunsResponse
from flwr.superlink import extensions

from empirics.federation import delivery, flower_api, local, process_cleanup, processes, superlink
from empirics.federation.app_folder import FederationFolder
from empirics.federation.processes import federation
from tests.empirics.federation.wire import Clock, small
from tests.empirics.small import refused
from theory.setting import SettingError

STUDY = small("constant")


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (process_cleanup, local, processes, delivery):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def started(clock, monkeypatch):
    """All started processes; the server accepts the third connection."""
    started = Mock(there=[], connect=Mock(side_effect=[OSError, OSError, nullcontext()]))

    def popen(command, **given):
        started.there.append(Mock(command=command, given=given, **{"poll.return_value": None}))
        return started.there[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(socket, "create_connection", started.connect)
    monkeypatch.setattr(processes, "operator_of", lambda *_: nullcontext(started.operator))
    monkeypatch.setattr(processes, "flower_program", str)
    monkeypatch.setattr(processes, "free_ports", lambda: iter(range(100, 200)))
    return started


@pytest.mark.parametrize("clients", [2, 0])
def test_commands_folders_and_settings_of_all_processes(started, tmp_path, clients):
    here = tmp_path / "federation"
    place = FederationFolder.of_result(tmp_path)
    with federation(place, clients or 2, simulation=not clients, extra=3) as running:
        watching, *others = started.there
    assert watching.command == [sys.executable, "-I", process_cleanup.__file__, running.mark]
    assert [watching.stdin.close.called, watching.wait.called] == [True, True]
    server = f"""{sys.executable} -m empirics.federation.superlink --host 127.0.0.1 --port 100
        --ssl-ca-certfile {here}/certificates/ca.crt --ssl-certfile {here}/certificates/server.crt
        --ssl-keyfile {here}/certificates/server.key --disable-runtime-dependency-installation"""
    wanted = [("superlink", here, f"{server} --{'enable-supernode-auth' if clients else 'simulation'}")]
    for m in range(clients):
        home = here / f"clients/client-{m}"
        node = f"""flower-supernode --superlink 127.0.0.1:100 --host 127.0.0.1 --port {101 + m}
            --root-certificates {here}/certificates/ca.crt
            --auth-supernode-private-key {home}/key --node-config {home}/node.toml"""
        wanted.append((f"client-{m}", home, node))
        config = {"partition-id": m, "num-partitions": 2, "buffer": f"{home}/samples", "extra": 3}
        assert tomllib.loads((home / "node.toml").read_text()) == config
        started.operator.register.assert_any_call(home / "key.pub")
    for process, (name, home, command) in zip(others, wanted, strict=True):
        assert process.command == command.split()
        assert process.given["stdout"].name == f"{here}/logs/{name}.log"
        assert process.given["env"][process_cleanup.MARK_VARIABLE] == running.mark
        assert process.given["env"]["FLWR_HOME"] == f"{home}/flower"
        assert process.poll.called  # else a zombie
    assert here.stat().st_mode & 0o777 == 0o700


def test_a_server_may_take_two_minutes_to_start_and_samples_outlive_logs(clock, started, tmp_path):
    samples, log = tmp_path / "clients/client-0/samples", tmp_path / "logs/superlink.log"
    for old in (samples, log):
        old.parent.mkdir(parents=True)
        old.write_text("old")
    started.connect.side_effect = OSError
    assert "did not start: no output" in refused(federation(FederationFolder(tmp_path), 2).__enter__)
    assert (samples.read_text(), log.read_text()) == ("old", "")
    assert 1120 <= clock.now < 1121
    assert started.connect.call_args.args == (("127.0.0.1", 100),)


def test_flower_s_commands_of_this_environment_are_preferred(tmp_path, monkeypatch):
    own, other = tmp_path / "own", tmp_path / "other"
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(own))
    monkeypatch.setenv("PATH", str(other))
    assert "not installed" in refused(processes.flower_program, "flower")
    for place in (other, own):
        place.mkdir()
        (place / "flower").touch(0o755)
        assert processes.flower_program("flower") == str(place / "flower")


@pytest.fixture
def running(clock, tmp_path, monkeypatch):
    """A federation whose rounds take 10 seconds, whose result has two, and whose run ends at `ends`."""
    running = Mock(place=FederationFolder.of_result(tmp_path), nodes={}, ends=2000, asked=[])
    running.operator.start.return_value, running.link.poll.return_value = 7, None
    running.operator.over = lambda run: running.asked.append(clock.now) or clock.now > running.ends

    def settings(out):
        done = int(clock.now - 1000) // 10
        progress = {"done": done, "summary_sha256": "ab" if done > 1 else None}
        asked = {"data_dir": "there", "simulation": True, "patience": 3.5}
        return {"study": STUDY.document(), "progress": progress, "asked": asked, "federation": {}}

    monkeypatch.setattr(local, "read_settings", settings)
    monkeypatch.setattr(local, "federation", lambda *_, **__: nullcontext(running))
    monkeypatch.setattr(local, "prepare", Mock())
    monkeypatch.setattr(local, "read_result", Mock(**{"return_value.summary": "the summary"}))
    return running


def test_a_federation_without_a_folder_gets_a_new_one(running, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    for _ in range(2):
        local.federate(STUDY, announce=told.append)
    assert told == [Path(f"results/{STUDY.preset}-federation-{n}") for n in (1, 2)]


def test_the_last_words_of_a_log_are_its_last_line_that_is_not_empty(tmp_path):
    (tmp_path / "log").write_text("all is\nwell\n \n\n")
    assert processes.last_error(tmp_path / "log").startswith("well (log: ")


@pytest.mark.parametrize(("ends", "left"), [(1022, 1022), (2000, 1030)])
def test_a_study_is_watched_until_its_result_and_run_are_complete(running, clock, tmp_path, ends, left):
    seen, told, running.ends = set(), [], ends
    given = {"simulation": ends < 2000, "progress": seen.add, "announce": told.append}
    assert local.federate(STUDY, tmp_path, **given) == "the summary"
    assert local.federate(out=tmp_path, resume=True, **given) == "the summary"
    running.operator.start.assert_called_once_with(tmp_path / "federation/app", 3 if ends < 2000 else None)
    assert (tmp_path / "federation/app/pyproject.toml").exists()
    assert told == [tmp_path] * 2
    assert running.place.root.stat().st_mode & 0o777 == 0o700
    assert seen >= {0, 1, 2}
    assert left <= clock.now < left + 2


@pytest.mark.parametrize("given", [{}, {"patience": 7.0, "data_dir": Path("/elsewhere")}])
def test_a_federation_goes_on_as_it_was_asked_to_unless_it_is_told_otherwise(running, tmp_path, given):
    local.federate(out=tmp_path, resume=True, **given)
    document = tomllib.loads((tmp_path / "federation/app/pyproject.toml").read_text())
    config = document["tool"]["flwr"]["app"]["config"]
    assert config["patience"] == given.get("patience", 3.5)
    assert config["data-dir"] == str(given.get("data_dir", Path("there").absolute()))
    running.operator.start.assert_called_once_with(tmp_path / "federation/app", STUDY.clients)


def test_a_run_that_stops_gives_its_reason(running, tmp_path):
    running.ends = 1006
    running.place.root.mkdir()
    running.place.stopped.write_text("why an earlier run stopped")
    log = str(running.place.root / "logs/superlink.log")
    told = refused(local.federate, STUDY, tmp_path)
    assert told == f"the federation stopped after round 0: no output (log: {log!r})"
    assert all(1 <= later - earlier < 2 for earlier, later in pairwise(running.asked))
    running.operator.over, running.link.poll.return_value = None, 1  # the server has ended
    running.operator.start.side_effect = lambda *_: running.place.stopped.write_text("for \n want\n")
    assert refused(local.federate, STUDY, tmp_path) == "for want"


def test_what_a_running_federation_writes_into_its_event_log_is_warned_of(running, tmp_path):
    def lose(done):
        if done:
            running.place.events.write_text("day hour round 1 goes on without client 2\n")

    with pytest.warns(UserWarning, match="^round 1 goes on without client 2$"):
        local.federate(STUDY, tmp_path, progress=lose)


def test_a_busy_server_may_miss_four_polls_in_a_row(running, tmp_path):
    busy = [SettingError("busy")] * 4
    running.operator.over = Mock(side_effect=[*busy, False, *busy, SettingError("no answer")])
    assert refused(local.federate, STUDY, tmp_path) == "no answer"


def test_an_ended_node_is_restarted_every_ten_seconds_and_warned_of_once(running, clock):
    restarts, running.nodes = local.NodeRestarts(running), {0: Mock(poll=lambda: None), 1: Mock()}
    with pytest.warns(UserWarning, match="client 1 has ended"):
        restarts.look()
    for seconds, starts in ((9, 0), (2, 1), (9, 1), (9, 1), (2, 2)):
        clock.sleep(seconds)
        restarts.look()
        assert [call.args for call in running.start_node.call_args_list] == [(1,)] * starts


@pytest.mark.parametrize("old", ["", "day hour an old one\n"])
def test_new_events_are_complete_lines_without_timestamps(tmp_path, old):
    path = tmp_path / "events.log"
    if old:
        path.write_text(old)
    events = local.new_events(FederationFolder(tmp_path).events)
    for written, told in (("", []), ("day hour round 1\nday hour ro", ["round 1"]), ("und 2\n", ["round 2"])):
        with path.open("a") as file:
            file.write(written)
        assert (next(events), next(events)) == (told, [])


def test_an_app_is_started_on_nodes_or_on_simulated_clients_and_may_be_over(monkeypatch):
    def built(app):
        warnings.warn("a library is old", stacklevel=1)
        return bytes(app)

    monkeypatch.setattr(flower_api, "build_fab_from_disk", built)
    client = Mock(**{"StartRun.return_value.run_id": 7})
    for status in ("running", "finished"):
        answer = client.ListRuns.return_value = ListRunsResponse()
        answer.run_dict[7].status.status = status
        assert flower_api.Operator(client).over(7) == (status == "finished")
    assert [flower_api.Operator(client).start(Path("app"), given) for given in (None, 5)] == [7, 7]
    (nodes,), (simulated,) = (call.args for call in client.StartRun.call_args_list)
    assert nodes.fab.content == b"app"
    assert not nodes.HasField("override_federation_config")
    engine = simulated.override_federation_config
    assert (engine.num_supernodes, engine.client_resources_num_cpus) == (5, 1)


@pytest.mark.parametrize("before", [{}, {"NO_PROXY": "example"}])
def test_an_operator_uses_no_proxy_and_restores_the_environment(monkeypatch, before):
    client, proxies = Mock(), []
    made = Mock(side_effect=lambda **_: proxies.append(os.environ["NO_PROXY"]) or client)
    monkeypatch.setattr(flower_api.ControlHttpClient, "from_server_address", made)
    monkeypatch.setattr(os, "environ", before.copy())
    with flower_api.operator_of("here", Path(__file__)):
        assert (os.environ, proxies, client.close.called) == (before, ["*"], False)
    assert client.close.called


def test_the_server_is_flower_s_behind_an_access_rule(monkeypatch):
    monkeypatch.setattr(extensions, "get_middleware", None)
    monkeypatch.setattr(superlink, "flower_superlink", started := Mock())
    superlink.main()
    assert started.called
    assert [entry.cls for entry in extensions.get_middleware()] == [superlink.AccessRule]


def test_members_are_terminated_then_killed_then_given_up(clock, monkeypatch):
    """Once the input of the cleanup has ended, which ignores signals before. The child of a marked process remains."""
    own, handlers, got = {process_cleanup.MARK_VARIABLE: "ours"}, {}, []
    parent = Mock(pid=4, ppid=lambda: 1, status=lambda: psutil.STATUS_RUNNING, environ=lambda: own)
    child = Mock(pid=5, ppid=lambda: 4, status=lambda: psutil.STATUS_RUNNING, environ=dict)
    child.send_signal = lambda sent: got.append((sent, clock.now))
    other = Mock(pid=6, ppid=lambda: 1, status=lambda: psutil.STATUS_RUNNING, environ=dict)
    table = lambda: [child, other] if parent.send_signal.called else [child, other, parent]  # noqa: E731
    monkeypatch.setattr(psutil, "process_iter", table)
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(sys, "stdin", Mock(read=lambda: got.append(dict(handlers))))
    for mark in ("theirs", "ours"):
        monkeypatch.setattr(sys, "argv", ["process_cleanup.py", mark])
        process_cleanup.main()
    ignored = dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), signal.SIG_IGN)
    assert got[:3] == [ignored, ignored, (signal.SIGTERM, 1000)]
    assert {sent for sent, _ in got[3:]} == {signal.SIGKILL}
    parent.send_signal.assert_called_once_with(signal.SIGTERM)
    assert not other.send_signal.called
    assert 1003 <= got[3][1] < 1003.5
    assert 1030 <= clock.now < 1031


@pytest.mark.parametrize(("nodes", "pause"), [(1, 0.2), (100, 2.0)])
def test_replies_are_polled_until_the_timeout(clock, nodes, pause):
    grid = Mock(push_messages=lambda asked: ["", *map(str, asked[1:])])  # the first is not accepted
    grid.pull_messages.return_value, grid.get_node_ids.return_value = [], range(nodes)
    asked = [Mock(**{"metadata.dst_node_id": node}) for node in range(-1, nodes)]
    assert delivery.PollingGrid(grid).send_and_receive(asked, timeout=4) == []
    assert 1004 <= clock.now < 1004 + 2 * pause
    assert grid.pull_messages.call_count == pytest.approx(nodes * (4 / pause + 1), abs=nodes)
    grid.pull_messages.side_effect = [[], [reply := Mock()]]
    assert delivery.PollingGrid(grid).send_and_receive(asked[:2]) == [reply]
