"""A federation whose processes are played, in a time that passes by sleeping."""

import os
import signal
import socket
import subprocess
import sys
import sysconfig
import tomllib
import warnings
from contextlib import nullcontext
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
from flwr.proto.control_pb2 import ListRunsResponse
from flwr.superlink import extensions

from empirics.federation import keeper, local, operating, post, processes, server, superlink
from empirics.federation.processes import Place, federation
from empirics.federation.server import Admission
from tests.empirics.federation.wire import small
from tests.empirics.small import refused
from theory.setting import SettingError

STUDY = small("constant")


class Clock:
    """Stands in for the module `time`."""

    now, looks = 1000.0, 0

    def monotonic(self):
        self.looks += 1
        assert self.looks < 20, "it waits without a pause"
        return self.now

    def sleep(self, seconds):
        self.now, self.looks = self.now + seconds, 0


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (keeper, local, processes):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def played(clock, monkeypatch):
    """All that are started; the server answers at the third try."""
    played = Mock(there=[], connect=Mock(side_effect=[OSError, OSError, nullcontext()]))

    def popen(command, **given):
        played.there.append(Mock(command=command, given=given, **{"poll.return_value": None}))
        return played.there[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(socket, "create_connection", played.connect)
    monkeypatch.setattr(processes, "operating", lambda *_: nullcontext(played.operator))
    monkeypatch.setattr(processes, "_program", str)
    monkeypatch.setattr(processes, "_free_ports", lambda: iter(range(100, 200)))
    return played


@pytest.mark.parametrize("clients", [2, 0])
def test_what_is_started_and_where_it_lies(played, tmp_path, clients):
    here = tmp_path / "federation"
    with federation(Place.of_result(tmp_path), clients or 2, simulation=not clients, extra=3) as running:
        watching, *others = played.there
    assert watching.command == [sys.executable, "-I", keeper.__file__, running.mark]
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
        told = {"partition-id": m, "num-partitions": 2, "buffer": f"{home}/samples", "extra": 3}
        assert tomllib.loads((home / "node.toml").read_text()) == told
        played.operator.register.assert_any_call(home / "key.pub")
    for process, (name, home, command) in zip(others, wanted, strict=True):
        assert process.command == command.split()
        assert process.given["stdout"].name == f"{here}/logs/{name}.log"
        assert process.given["env"][keeper.NAME] == running.mark
        assert process.given["env"]["FLWR_HOME"] == f"{home}/flower"
        assert process.poll.called  # or it would stay in the table of processes
    assert here.stat().st_mode & 0o777 == 0o700


def test_another_start_keeps_the_samples_and_not_the_logs(played, tmp_path):
    samples, log = tmp_path / "clients/client-0/samples", tmp_path / "logs/superlink.log"
    for old in (samples, log):
        old.parent.mkdir(parents=True)
        old.write_text("old")
    with federation(Place(tmp_path), 0):
        assert (samples.read_text(), log.read_text()) == ("old", "")


def test_a_server_may_take_two_minutes_to_start(clock, played, tmp_path):
    played.connect.side_effect = OSError
    assert "did not start: it said nothing" in refused(federation(Place(tmp_path), 2).__enter__)
    assert 1120 <= clock.now < 1121
    assert played.connect.call_args.args == (("127.0.0.1", 100),)


def test_a_command_of_flower_is_that_of_the_own_environment(tmp_path, monkeypatch):
    own, other = tmp_path / "own", tmp_path / "other"
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(own))
    monkeypatch.setenv("PATH", str(other))
    assert "not here" in refused(processes._program, "flower")
    for place in (other, own):
        place.mkdir()
        (place / "flower").touch(0o755)
        assert processes._program("flower") == str(place / "flower")


@pytest.fixture
def running(clock, tmp_path, monkeypatch):
    """A federation of which a round takes 10 seconds, and its run ends at `ends`."""
    running = Mock(place=Place(tmp_path / "federation"), nodes={}, ends=2000, asked=[])
    running.operator.start.return_value, running.link.poll.return_value = 7, None
    running.operator.over = lambda run: running.asked.append(clock.now) or clock.now > running.ends

    def settings(out):
        done = int(clock.now - 1000) // 10
        progress = {"done": done, "summary_sha256": "ab" if done > 1 else None}
        return {"study": STUDY.document(), "progress": progress}

    monkeypatch.setattr(local, "read_settings", settings)
    return running


@pytest.mark.parametrize(("ends", "left"), [(1022, 1022), (2000, 1030)])
def test_a_study_is_watched_until_its_result_is_there(running, clock, tmp_path, monkeypatch, ends, left):
    """And until its run is over, or will not end."""
    seen, told, running.ends = set(), [], ends
    monkeypatch.setattr(local, "federation", lambda *_, **__: nullcontext(running))
    monkeypatch.setattr(local, "prepare", Mock())
    monkeypatch.setattr(local, "read_result", Mock(return_value=SimpleNamespace(summary="the summary")))
    given = {"simulation": ends < 2000, "progress": seen.add, "announce": told.append}
    assert local.federate(STUDY, tmp_path, **given) == "the summary"
    assert local.federate(out=tmp_path, resume=True, **given) == "the summary"
    running.operator.start.assert_called_once_with(tmp_path / "federation/app", 3 if ends < 2000 else None)
    assert (tmp_path / "federation/app/pyproject.toml").exists()
    assert told == [tmp_path] * 2
    assert running.place.root.stat().st_mode & 0o777 == 0o700
    assert seen >= {0, 1, 2}
    assert left <= clock.now < left + 2


def test_the_usual_study_has_too_many_policies():
    assert "a federation runs one policy, not 6" in refused(local.federate)


def watched(running):
    """Why a run stopped."""
    return refused(local._watch, running, 7, running.place.root.parent, lambda done: None)


def test_it_is_told_why_a_run_stopped(running):
    running.ends = 1006
    log = str(running.place.root / "logs/superlink.log")
    told = f"the federation stopped after round 0: it said nothing (all of it: {log!r})"
    assert watched(running) == told
    assert all(1 <= two - one < 2 for one, two in pairwise(running.asked))
    running.operator.over, running.link.poll.return_value = None, 1  # nobody is there to be asked
    running.place.root.mkdir()
    running.place.stopped.write_text("for \n want\n")
    assert watched(running) == "for want"


def test_a_server_may_be_too_busy_to_answer_four_times_in_a_row(running):
    busy = [SettingError("busy")] * 4
    running.operator.over = Mock(side_effect=[*busy, False, *busy, SettingError("no answer")])
    assert watched(running) == "no answer"


def test_a_node_that_has_ended_is_started_again_and_again(running, clock):
    nurse, running.nodes = local._Nurse(running), {0: Mock(poll=lambda: None), 1: Mock()}
    with pytest.warns(UserWarning, match="client 1 has ended, and is started again"):
        nurse.look()
    for seconds, starts in ((9, 0), (2, 1), (9, 1), (9, 1), (2, 2)):  # it is told once
        clock.sleep(seconds)
        nurse.look()
        assert [call.args for call in running.start_node.call_args_list] == [(1,)] * starts


@pytest.mark.parametrize("old", ["", "day hour an old one\n"])
def test_news_are_whole_lines_without_their_dates_each_told_once(tmp_path, old):
    events = tmp_path / "events.log"
    if old:
        events.write_text(old)
    news = local._news(Place(tmp_path).events)
    for written, told in (("", []), ("day hour round 1\nday hour ro", ["round 1"]), ("und 2\n", ["round 2"])):
        with events.open("a") as file:
            file.write(written)
        assert (next(news), next(news)) == (told, [])


OURS = {keeper.NAME: "ours"}


def process(pid, parent, environment, *deaf):
    """One of the table of processes, deaf to these signals; `got` has those that came, and when."""
    one = Mock(pid=pid, ppid=lambda: parent, environ=lambda: environment, got=[])

    def state():
        return psutil.STATUS_ZOMBIE if {sent for sent, _ in one.got} - {*deaf} else psutil.STATUS_RUNNING

    one.status, one.send_signal = state, lambda sent: one.got.append((sent, keeper.time.monotonic()))
    return one


def test_the_marked_their_descendants_and_those_known_before_are_members(monkeypatch):
    members = {process(4, 3, {}), process(3, 2, {}), process(2, 1, OURS)}
    lost, myself, ended = process(5, 1, {}), process(6, 1, OURS), process(7, 1, OURS)
    ended.send_signal(signal.SIGKILL)
    table = [process(8, 1, {keeper.NAME: "theirs"}), lost, ended, *members, myself]
    monkeypatch.setattr(psutil, "Process", lambda: myself)
    monkeypatch.setattr(psutil, "process_iter", lambda: table)
    assert keeper.members("ours") == members
    assert keeper.members("ours", {lost, ended}) == {lost, *members}


def test_all_are_asked_then_killed_and_given_up(clock, monkeypatch):
    ask, kill = signal.SIGTERM, signal.SIGKILL
    polite, deaf, stone = process(2, 1, OURS), process(3, 2, {}, ask), process(4, 1, OURS, ask, kill)
    monkeypatch.setattr(psutil, "process_iter", lambda: [polite, deaf, stone])
    keeper.end("ours")
    assert polite.got == [(ask, 1000)]
    assert [sent for sent, _ in deaf.got] == [ask, kill]
    assert 1003 <= deaf.got[1][1] < 1003.5
    assert [sent for sent, _ in stone.got] == [ask] + [kill] * (len(stone.got) - 1)
    assert 1030 <= clock.now < 1031


def test_the_keeper_heeds_no_signal_and_waits_for_its_input(monkeypatch):
    did = []
    monkeypatch.setattr(signal, "signal", lambda *given: did.append(given))
    monkeypatch.setattr(sys, "stdin", Mock(read=lambda: did.append("read")))
    monkeypatch.setattr(sys, "argv", ["keeper.py", "mark"])
    monkeypatch.setattr(keeper, "end", did.append)
    keeper.main()
    ignored = {(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    assert (set(did[:3]), did[3:]) == (ignored, ["read", "mark"])


def test_an_app_is_started_with_nodes_or_simulated_clients(monkeypatch):
    def built(app):
        warnings.warn("a library is old", stacklevel=1)
        return bytes(app)

    monkeypatch.setattr(operating, "build_fab_from_disk", built)
    client = Mock(**{"StartRun.return_value.run_id": 7})
    assert [operating.Operator(client).start(Path("app"), given) for given in (None, 5)] == [7, 7]
    (nodes,), (simulated,) = (call.args for call in client.StartRun.call_args_list)
    assert nodes.fab.content == b"app"
    assert not nodes.HasField("override_federation_config")
    engine = simulated.override_federation_config
    assert (engine.num_supernodes, engine.client_resources_num_cpus) == (5, 1)


def test_a_run_is_over_when_it_has_finished():
    answer = ListRunsResponse()
    for status in ("running", "finished"):
        answer.run_dict[7].status.status = status
        assert operating.Operator(Mock(ListRuns=lambda _: answer)).over(7) == (status == "finished")


@pytest.mark.parametrize("before", [{}, {"NO_PROXY": "example"}])
def test_an_operator_takes_no_proxy_and_leaves_the_environment_as_it_was(monkeypatch, before):
    made = Mock(side_effect=lambda **_: Mock(proxy=os.environ["NO_PROXY"]))
    monkeypatch.setattr(operating.ControlHttpClient, "from_server_address", made)
    monkeypatch.setattr(os, "environ", before.copy())
    with operating.operating("here", Path(__file__)) as operator:
        assert os.environ == before
        assert (operator._client.proxy, operator._client.close.called) == ("*", False)
    assert operator._client.close.called


def test_the_server_is_flowers_with_a_guard_before_it(monkeypatch):
    monkeypatch.setattr(extensions, "get_middleware", None)
    monkeypatch.setattr(superlink, "flower_superlink", started := Mock())
    superlink.main()
    assert started.called
    assert [one.cls for one in extensions.get_middleware()] == [superlink.Guard]


def test_many_nodes_look_for_work_less_often(tmp_path):
    name = "FLWR_SUPEREXEC_TASK_POLL_INTERVAL"
    found = [processes._environment("mark", tmp_path, clients)[name] for clients in (1, 10, 1000)]
    assert found == ["0.1", "0.2", "1.0"]


def test_the_end_of_a_long_log_is_read(tmp_path):
    (tmp_path / "log").write_text("Error: of long ago\n" + "well\n" * 30_000)
    assert processes.last_error(tmp_path / "log").startswith("well (all of it")


@pytest.mark.parametrize(("nodes", "pause"), [(1, 0.2), (100, 2.0)])
def test_answers_are_looked_for_until_the_time_is_up(clock, monkeypatch, nodes, pause):
    monkeypatch.setattr(post, "time", clock)
    grid = Mock(push_messages=lambda asked: [str(one) for one in range(len(asked))])
    grid.pull_messages.return_value, grid.get_node_ids.return_value = [], range(nodes)
    asked = [Mock(**{"metadata.dst_node_id": node}) for node in range(nodes)]
    assert post.Prompt(grid).send_and_receive(asked, timeout=4) == []
    assert 1004 <= clock.now < 1004 + 2 * pause
    assert grid.pull_messages.call_count == pytest.approx(nodes * (4 / pause + 1), abs=nodes)
    grid.pull_messages.side_effect = [[], [reply := Mock()]]
    assert post.Prompt(grid).send_and_receive(asked[:1]) == [reply]


def test_a_node_that_cannot_say_who_it_is_is_told_of_once_and_who_is_gone_is_silent(
    clock, monkeypatch, caplog
):
    monkeypatch.setattr(server, "time", clock)
    monkeypatch.setattr(Admission, "tell", told := Mock())
    strategy = Admission(Mock(study=STUDY))
    for _ in range(2):
        strategy._not_introduced(5, "it stutters")
    told.assert_called_once()
    assert strategy.called == {5: 1010}
    for code in (post.GONE + 1, post.GONE):
        assert not strategy.silent
        gone = Mock(**{"error.code": code, "error.reason": "it is gone"})
        assert refused(strategy._checked, 2, gone, Mock()) == "it failed (it is gone)"
    assert strategy.silent == {2}
    with caplog.at_level("INFO", "flwr"):
        strategy.summary()
    assert "constant, 3 clients, budget 30 a round" in caplog.text


def test_all_clients_are_waited_for_as_long_as_patience_lasts(clock, monkeypatch):
    monkeypatch.setattr(server, "time", clock)
    monkeypatch.setattr(Admission, "tell", told := Mock())
    monkeypatch.setattr(Admission, "_call", asked := Mock())
    strategy = Admission(Mock(study=STUDY), patience=5)
    strategy.nodes = {1: 7}
    strategy.gather(None)
    assert 1005 < clock.now <= 1005 + 2 * server.POLL
    assert asked.call_count > 2
    told.assert_called_once_with("begun without client 0, 2")


def test_whose_a_connection_is_stands_in_a_table_if_there_is_one(tmp_path, monkeypatch):
    table, here = tmp_path / "tcp", ip_address("127.0.0.1")
    table.write_text("of what\n 0: 0100007F:0050 0100007F:0051 01 0:0 00:0 0 1234 0\n")
    monkeypatch.setattr(sys, "byteorder", "little")
    monkeypatch.setattr(superlink, "TABLES", (table, tmp_path / "tcp6"))
    assert superlink.owner((here, 0x50), (here, 0x51)) == 1234
    table.unlink()
    assert superlink.owner((here, 0x50), (here, 0x51)) is None
    for client, trusted in (("127.0.0.1", True), ("192.0.2.7", False), ("nobody", False)):
        assert superlink._trusted({"client": (client, 5), "server": ("127.0.0.1", 6)}) == trusted
