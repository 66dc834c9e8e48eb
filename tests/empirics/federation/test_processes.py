"""A federation of real processes, with TLS and authenticated nodes, under faults.

It is started as `acdpp federate` does, with clients of `rogue.py`. All take minutes:
`pytest -m slow tests/empirics/federation`.
"""

import json
import os
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from empirics.federation.app_folder import FederationFolder, write_app
from empirics.federation.client_memory import DiskMemory
from empirics.federation.credentials import make_certificates, node_key
from empirics.federation.local import NodeRestarts
from empirics.federation.processes import Federation, federation
from empirics.federation.server_state import prepare
from empirics.results.folder import read_result, read_settings
from empirics.run import run_study
from tests.empirics.federation.wire import EXACT, same_as_batched, small
from tests.empirics.small import until

pytestmark = pytest.mark.slow
WAIT_SECONDS_MAX = 900
CLIENT = """\
from pathlib import Path

from empirics.federation.app_folder import study_file
from tests.empirics.federation.rogue import Rogue

app = Rogue(study_file(Path(__file__).with_name("study.toml")))
"""


@dataclass
class Trial:
    """A running federation and its result. A busy machine takes minutes to start clients, so that limits are long."""

    running: Federation
    out: Path

    def home(self, client):
        return self.running.place.client(client)

    def wait(self, reached=lambda: False):
        """Until something is reached or the run is over, however it ended; a busy server is not asked."""
        complete = lambda: read_settings(self.out)["progress"]["summary_sha256"]  # noqa: E731
        until(lambda: reached() or complete() or self.running.place.stopped.exists(), WAIT_SECONDS_MAX)

    def hangs(self, client):
        """Until this client hangs, as it was told to, in a run that goes on."""
        hanging = self.home(client) / "hanging"
        self.wait(hanging.exists)
        assert hanging.exists(), self.told()

    def told(self):
        """The server's event log."""
        events = self.running.place.events
        return events.read_text() if events.exists() else ""

    def kill(self, client):
        """Kill the node and its hanging client."""
        node, hanging = self.running.nodes[client], self.home(client) / "hanging"
        os.killpg(node.pid, signal.SIGKILL)
        node.wait()
        if hanging.exists():
            with suppress(ProcessLookupError):
                os.kill(int(hanging.read_text()), signal.SIGKILL)
            hanging.unlink()


@contextmanager
def trial(study, out, patience=WAIT_SECONDS_MAX, **faults):
    """A federation of a study, new or continued; each fault of `rogue.py` has a table of rounds by client."""
    place = FederationFolder.of_result(out)
    if not out.exists():
        prepare(study, out)
        write_app(place.app, study, result=str(out), patience=patience)
        (place.app / "acdpp_app" / "client.py").write_text(CLIENT)
    place.stopped.unlink(missing_ok=True)
    for client in range(study.clients):
        told = place.client(client) / "rogue.json"
        told.parent.mkdir(parents=True, exist_ok=True)
        told.write_text(json.dumps({fault: table.get(client) for fault, table in faults.items()}))
    with federation(place, study.clients) as running:
        running.operator.start(place.app)
        yield Trial(running, out)


def intruder(trial, log, key, authority, client):
    """A node with this key and this authority, or without, that claims to be a client."""
    command = trial.running.node_command(client)
    for option, value in (("--auth-supernode-private-key", key), ("--root-certificates", authority)):
        at = command.index(option)
        command[at : at + 2] = [] if value is None else [option, str(value)]
    return trial.running.start(command, log, log.with_suffix(""))


def test_one_client_is_killed_and_an_intruder_gets_nowhere(tmp_path):
    """The numbers are those of the batched engine until client 1 is killed in round 3, and those of the books after."""
    study, out = small("buy-cheap-online", rounds=4), tmp_path / "result"
    with trial(study, out, hangs={1: 3}) as one:
        stranger = node_key(tmp_path / "foreign" / "key")
        theirs = make_certificates(tmp_path / "theirs", ["127.0.0.1"])
        ours = one.running.certificates.authority
        logs = [tmp_path / f"{name}.log" for name in ("unregistered", "keyless", "elsewhere")]
        given = [(stranger.private, ours, 1), (None, ours, 1), (one.home(0) / "key", theirs.authority, 0)]
        tries = [intruder(one, log, *keys) for log, keys in zip(logs, given, strict=True)]
        one.hangs(1)
        one.kill(1)
        one.wait()
        ended, told = [process.poll() for process in tries], one.told()
    assert 0 not in ended
    refusals = ("activate SuperNode", "must be registered", "handshake error")
    assert all(refused in log.read_text() for log, refused in zip(logs, refusals, strict=True))
    (event,) = told.splitlines()  # no intruder gave a client id
    assert "round 3 goes on without client 1: " in event
    run_study(study, tmp_path / "batched")
    found, wanted = (read_result(place).rows.to_pylist() for place in (out, tmp_path / "batched"))
    for name in EXACT:
        assert [row[name] for row in found[:2]] == [row[name] for row in wanted[:2]]
    assert found[2]["n"] < wanted[2]["n"]
    assert found[2]["N"] - found[1]["N"] == found[2]["admitted"]


def test_a_killed_client_comes_back_with_its_samples_and_a_crashed_one_at_once(tmp_path):
    """Client 0 had drawn for round 2: those samples are admitted on its return."""
    study = small("constant", rounds=60)  # for up to a minute, Flower refuses the key of a killed client
    with trial(study, tmp_path / "result", patience=120, hangs={0: 2}, crashes={2: 2}) as one:
        one.hangs(0)
        (samples,) = (one.home(0) / "samples").iterdir()
        one.kill(0)
        drawn = DiskMemory.open(samples)
        assert len(drawn.waiting) == drawn.admitted > 0
        (one.home(0) / "rogue.json").write_text("{}")
        restarts = NodeRestarts(one.running)
        with pytest.warns(UserWarning, match="client 0 has ended"):
            one.wait(lambda: restarts.look() or "client 0 is back" in one.told())
        one.wait(lambda: len(list(one.home(0).glob("did-*"))) > 2)  # rounds 1 and 2, and another
        memory, told = DiskMemory.open(samples), one.told()
    assert [told.count(f"goes on without client {m}: ") for m in (0, 2)] == [1, 1]
    assert (FederationFolder.of_result(tmp_path / "result").client(2) / "did-3").exists()
    fresh = memory.samples[memory.cohorts.get(1, 0) :]  # those of round 1 may be too old
    assert fresh.x[: len(drawn.waiting)].tolist() == drawn.waiting.x.tolist()
    assert memory.source.drawn == drawn.source.drawn + len(fresh) - len(drawn.waiting)


@pytest.mark.parametrize(
    ("whole", "learner"),
    [(False, "descent"), (True, "descent"), (False, "information")],
    ids=["the run", "everything", "sums"],
)
def test_a_server_that_was_killed_goes_on(whole, learner, tmp_path):
    study, out = small("acdpp", rounds=5, learner=learner), tmp_path / "result"
    with trial(study, out, hangs={1: 3}) as one:
        one.hangs(1)
        assert read_settings(out)["progress"]["done"] == 2
        if whole:
            for client in range(study.clients):
                one.kill(client)
        one.running.link.kill()
        one.running.link.wait()
    with trial(study, out) as again:
        again.wait()
    same_as_batched(study, tmp_path)
