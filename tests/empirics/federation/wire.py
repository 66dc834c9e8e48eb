"""A federation within one process: the real strategy and clients, a connection that a test may cut, and a clock that
advances only by sleeping."""

from unittest.mock import patch
from uuid import uuid4

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Context, Error, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from empirics.federation import delivery, server
from empirics.federation.client import client_app
from empirics.federation.client_memory import DiskMemory
from empirics.federation.server import Admission, PollingGrid, first_arrays
from empirics.federation.server_state import ServerState, federated, prepare
from empirics.results.folder import read_result
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.settings.study import Study
from tests.empirics.small import blobs_file


def small(policy, **given):
    """A study of one policy and three clients, for which a round takes milliseconds."""
    start = {"buffers": (6, 8, 10), "budget": 30.0, "rounds": 6, "steps": 2, "dataset": blobs_file()}
    return federated(Study(**(start | given)), policy)


EXACT = ("policy", "seed", "round", "cost", "admitted", "n", "N", "debt", "overflow")
CHANGES = {  # a drift so abrupt that a policy that listens forgets in round 10
    "buffers": (60, 80, 100),
    "budget": 330.0,
    "steps": 1,
    "eta": 3.0,
    "radius": 20.0,
    "labels": "classes",
    "drift": Drift(kind="abrupt", parts="labels", start=6),
    "average": "equal",
    "partition": "iid",
    "rounds": 11,
}


def round_of(message):
    content = message.content
    return content["inquiry" if "inquiry" in content else "config"]["round"]


class Wire:
    """A connection to a Flower app for each client; node m has the id 1000 - m.

    `faults` may change a reply, return None for a lost reply, or raise for a failing client; a node outside `there`
    is absent. Replies come in the reverse order of the clients, as `pulled` returns them."""

    def __init__(self, study, place, faults=lambda t, m, reply: reply, **own):
        self.faults, self.pulled, self.apps, self.contexts = faults, lambda reply: reply, {}, {}
        self.meddled, self.clock = "train", Clock()
        for m in range(study.clients):
            config = {"partition-id": m, "buffer": str(place / f"node-{m}")}
            self.apps[1000 - m] = client_app(study, **own)
            self.contexts[1000 - m] = Context(0, 1000 - m, config, RecordDict(), {})
        self.there = set(self.apps)
        self.replies: dict[str, Message] = {}
        self.sent = []

    def get_node_ids(self):
        return sorted(self.there)

    def push_messages(self, messages):
        ids, self.clock.looks = [], 0
        for message in messages:
            message.metadata.__dict__["_message_id"] = name = uuid4().hex
            node = message.metadata.dst_node_id
            ids.append(name)
            self.sent.append((node, message))
            if node not in self.there:
                continue
            number = self.contexts[node].node_config["partition-id"]
            try:
                answer = self.apps[node](message, self.contexts[node])
                if message.metadata.message_type == self.meddled:
                    answer = self.faults(round_of(message), number, answer)
            except Exception as error:
                answer = Message(Error(0, str(error)), reply_to=message)
            if answer is not None:
                answer.metadata.__dict__["_src_node_id"] = node
                answer.metadata.__dict__["_reply_to_message_id"] = name
                self.replies[name] = answer
        return ids

    def pull_messages(self, message_ids):
        names = [name for name in reversed(list(message_ids)) if name in self.replies]
        return [self.pulled(self.replies.pop(name)) for name in names]

    def ordered(self, node):
        """The rounds that a node was told to train in."""
        sent = [message for to, message in self.sent if to == node]
        return [one.content["config"]["round"] for one in sent if one.metadata.message_type == "train"]


class Clock:
    """Replaces the module `time`: it advances only by sleeping."""

    now, looks = 1000.0, 0

    def monotonic(self):
        self.looks += 1
        assert self.looks < 200, "busy waiting"
        return self.now

    def sleep(self, seconds):
        self.now, self.looks = self.now + seconds, 0


def at(when, who, do):
    """Faults that apply `do` to the reply of one client in one round."""
    return lambda t, m, reply: do(reply) if (t, m) == (when, who) else reply


def identity():
    """The identity of a task, which Flower needs for a message."""
    return patch.multiple(TaskIdentity, _task_id=1, _run_id=1, _node_id=1)


def federate(study, place, wire=None, *, rounds=None, patience=5):
    """Run or continue a federation in `place`; `rounds` stops it early, as a kill would."""
    out = place / "result"
    clock = Clock()
    with identity(), patch.object(server, "time", clock), patch.object(delivery, "time", clock):
        wire = wire or Wire(study, place)
        wire.clock = clock
        if not out.exists():
            prepare(study, out)
        with ServerState.open(out) as state:
            strategy = Admission(state, patience=patience)
            strategy.gather(wire)
            left = study.rounds - state.done if rounds is None else rounds
            strategy.start(PollingGrid(wire), first_arrays(state), num_rounds=left, timeout=0.5)
            return state.finish() if state.finished else None


def memories(place):
    """The clients' memories on disk."""
    return [DiskMemory.open(file.parent) for file in sorted(place.glob("node-*/*/memory.npz"))]


def rows(place, *names):
    found = read_result(place / "result").rows
    return [found[name].to_pylist() for name in names]


def same_as_batched(study, place):
    """Compare with the batched engine: counts and money exactly, the rest to rounding. Returns both results."""
    run_study(study, place / "batched")
    places = [place / name for name in ("result", "batched")]
    rtol, atol = (1e-9, 1e-12) if study.dtype == "float64" else (1e-4, 1e-6)
    states = [np.load(next(one.glob("state-*.npz"))) for one in places]
    thetas = [np.stack([state[name] for name in ("theta", "mean") if name in state]) for state in states]
    assert np.allclose(*thetas, rtol / 10, atol / 10)
    found, wanted = map(read_result, places)
    assert found.rows.column_names == wanted.rows.column_names
    for name in found.rows.column_names:
        if name in EXACT:
            assert found.rows[name].to_pylist() == wanted.rows[name].to_pylist(), name
        else:
            assert np.allclose(found.rows[name], wanted.rows[name], rtol, atol, equal_nan=True), name
    return found, wanted
