"""A federation whose clients send sums: the engine's models, and what absent, failing and invalid clients change."""

import re
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord

from empirics import Controller, SumServer, added, client_sums
from empirics.export import export_model
from empirics.federation.client_memory import Order
from empirics.federation.client_reports import ClientReport
from empirics.federation.messages import Inquiry, Reply, Task
from empirics.settings.study import Study
from tests.empirics.federation.wire import CHANGES, Wire, at, federate, rows, same_as_batched, small
from tests.empirics.small import assert_same_rows, blobs_file, refused

INFORMATION = {"learner": "information", "labels": "classes"}
STUDY = small("constant@K=2", **INFORMATION)


def state(place):
    (file,) = (place / "result").glob("state-*.npz")
    return dict(np.load(file))


def events(place):
    lines = (place / "result/federation/events.log").read_text().splitlines()
    return [line[20:] for line in lines if "few samples" not in line]


@pytest.mark.parametrize(
    ("policy", "given"),
    [
        ("constant@K=2", {"alpha": (0.2, 0.0, 0.8)}),
        ("buy-cheap-online", {"rounds": 12}),
        ("burst", {"labels": "parity", "radius": 3.0}),
        ("constant@K=2", {"dataset": blobs_file(4, 30, 600), "budget": 600.0, "buffers": (60, 80, 90)}),
        ("adaptive@K=20", {name: value for name, value in CHANGES.items() if name not in ("average", "eta")}),
    ],
)
def test_models_are_those_of_the_batched_engine(policy, given, tmp_path):
    """Of whole curvature and of factors, on a ball, with a client of no weight, and where all forget."""
    study = small(policy, **(INFORMATION | given))
    federate(study, tmp_path)
    same_as_batched(study, tmp_path)
    export_model(tmp_path / "result", tmp_path / "model.pt")


def test_most_rounds_ask_once_and_then_once_for_each_step(tmp_path):
    wire, asked = Wire(STUDY, tmp_path), []
    federate(STUDY, tmp_path, wire)
    for to, message in wire.sent:
        if to == 1000 and message.metadata.message_type == "train":
            asked.append(0)
        asked[-1:] = [count + (to == 1000) for count in asked[-1:]]
    assert 25 < asked[0] < 45
    assert all(5 <= count <= 9 for count in asked[1:])
    assert sorted(asked[1:])[2] <= 6


@pytest.mark.parametrize(("kind", "after"), [("train", 0), ("query.sums", 3), ("train", 6)])
def test_a_server_that_was_killed_goes_on_to_the_same_numbers(kind, after, tmp_path):
    """While orders are out, or at a further question."""
    place, whole = tmp_path / "killed", tmp_path / "whole"
    wire = Wire(STUDY, place, at(after + 1, 2, Mock(side_effect=KeyboardInterrupt)))
    wire.meddled = kind
    if after < 6:
        with pytest.raises(KeyboardInterrupt):
            federate(STUDY, place, wire)
    else:
        federate(STUDY, place, rounds=6)
    assert federate(STUDY, place) == federate(STUDY, whole)
    assert_same_rows(place / "result", whole / "result")
    one, other = state(place), state(whole)
    assert all(np.array_equal(one[name], other[name]) for name in other)


def test_what_is_dropped_joins_the_sums_once_though_replies_are_lost(tmp_path):
    """Of all samples ever bought, each is held, or was dropped in one booked round: curvature is of those."""
    dropped = {}

    def faults(t, m, reply):
        dropped[t, m] = reply.content["sums"]["0.count"].numpy()[0]
        return None if (t, m) in ((2, 0), (3, 0), (4, 2)) else reply

    study = replace(STUDY, rounds=8)
    wire = Wire(study, tmp_path, faults)
    federate(study, tmp_path, wire, patience=0.1)
    booked = [
        (t, 1000 - to) for to, one in wire.sent for t in [one.content.get("config", {}).get("round")] if t
    ]
    assert len(booked) < 24  # a silent client is asked again once it has given its client id
    (N, n) = rows(tmp_path, "N", "n")
    kept = sum(count for key, count in dropped.items() if key not in ((2, 0), (3, 0), (4, 2)))
    last = [max(t for t, m in booked if m == client) for client in range(3)]
    assert last == [8, 8, 8]
    assert kept + n[-1] == N[-1]


def changed(name, change):
    """A change of an array of sums."""

    def lie(reply):
        arrays = {key: array.numpy().copy() for key, array in reply.content["sums"].items()}
        arrays[name] = change(arrays.get(name))
        reply.content["sums"] = ArrayRecord(
            {k: Array(np.asarray(v)) for k, v in arrays.items() if v is not None}
        )
        return reply

    return lie


LIES = {  # question 0 is about dropped samples, 1 about new ones, 2 about all
    "sums over fresh samples: losses below 0": changed("1.losses", lambda losses: -losses),
    "gradients with numbers that are not finite": changed("2.gradients", lambda g: g * np.nan),
    "whose squares overflow": changed("2.gradients", lambda g: g + 1e200),
    "gradients missing, not asked for, or of another": changed("2.gradients", lambda g: g[..., 1:]),
    "whole missing": changed("2.whole", lambda h: None),
    "path missing, not": changed("2.path", lambda _: np.zeros(3)),
    "whole is not positive semidefinite": changed("2.whole", lambda h: -h),
    "total above that of": changed("0.count", lambda count: count / 1e6),
    "fresh samples, not over the reported": changed("1.count", lambda count: count + 1),
    "count with numbers that are not": changed("2.count", lambda count: np.array(["many"])),
    "malformed sums": changed("strange", lambda _: np.zeros(3)),
}


@pytest.mark.parametrize("words", LIES)
def test_sums_that_cannot_be_are_refused_and_their_client_is_not_paid(words, tmp_path):
    study = replace(STUDY, rounds=3)
    federate(study, tmp_path, Wire(study, tmp_path, at(3, 1, LIES[words])))
    (told,) = events(tmp_path)
    assert told.startswith("round 3 goes on without client 1: ")
    assert re.search(words, told)
    (admitted,) = rows(tmp_path, "admitted")
    assert admitted[2] < admitted[1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Mock(side_effect=OSError("no space left")), r"it failed \(no space left\)"),
        (lambda reply: None, "no reply in 5 s"),
        (changed("0.path", lambda path: -path), "path below 0"),
    ],
)
def test_a_client_that_fails_at_a_further_question_is_paid_and_left_out_of_the_rest(change, why, tmp_path):
    honest, place = tmp_path / "honest", tmp_path / "other"
    federate(STUDY, honest)
    wire = Wire(STUDY, place, at(3, 1, change))
    wire.meddled = "query.sums"
    federate(STUDY, place, wire)
    told = [one for one in events(place) if "further" in one]
    assert len(told) == 1
    assert re.match(f"round 3 goes on without further sums of client 1: .*{why}", told[0])
    if why != "no reply in 5 s":  # a silent client sits out until it answers
        assert rows(place, "admitted", "n") == rows(honest, "admitted", "n")
    assert not np.array_equal(state(place)["theta"], state(honest)["theta"])
    (risk,) = rows(place, "risk")
    assert risk[3] < risk[0]


def test_models_stay_and_new_samples_wait_where_no_client_answers_further(tmp_path):
    study = replace(STUDY, rounds=3)
    federate(study, tmp_path, rounds=2)
    before = state(tmp_path)
    wire = Wire(study, tmp_path, Mock(side_effect=OSError("gone")))
    wire.meddled = "query.sums"
    federate(study, tmp_path, wire)
    now = state(tmp_path)
    assert np.array_equal(now["models"], before["models"])
    assert now["total"] > before["total"]  # what was dropped is known
    assert (now["waiting"], now["learnt"]) == (rows(tmp_path, "admitted")[0][2], before["learnt"])


def test_sums_over_fewer_samples_than_features_are_warned_of_once(tmp_path):
    many = small("constant", **INFORMATION, buffers=(60, 80, 90), budget=600.0, rounds=2)
    for study, times in ((STUDY, 1), (many, 0)):
        place = tmp_path / f"{times}"
        federate(study, place)
        log = place / "result/federation/events.log"
        assert (log.read_text() if log.exists() else "").count("samples can be computed from them") == times


def test_a_client_answers_for_the_round_of_its_samples_alone(tmp_path):
    wire = Wire(STUDY, tmp_path)
    federate(STUDY, tmp_path, wire, rounds=2)
    (late, *_) = [one for to, one in wire.sent if to == 1000 and one.metadata.message_type == "query.sums"]
    said = refused(wire.apps[1000], late, wire.contexts[1000])
    assert "an inquiry of round 1, and the samples in memory are of round 2" in said


def test_a_message_holds_sums_and_no_samples(tmp_path):
    """Its size depends on features and classes, not on the number of samples."""
    sizes = set()

    def sizes_of(t, m, reply):
        assert "arrays" not in reply.content
        held = {name: array.numpy().shape for name, array in reply.content["sums"].items()}
        if t > 3:
            sizes.add(tuple(sorted(held.items())))
        return reply

    federate(STUDY, tmp_path, Wire(STUDY, tmp_path, sizes_of))
    assert len(sizes) == 1


def test_an_inquiry_is_read_as_it_was_written():
    server = SumServer(3, 2)
    inquiry = Inquiry("one", 4, tuple(server.questions()), 1.5, 7, 3)
    task = Task("one", Order(4, 3, 1, 9, 0), 1, 0.0, 0.0, 2, np.zeros(3), inquiry=inquiry)
    read = Task.read(task.content()).inquiry
    assert (read.federation, read.round, read.weight, read.first, read.features) == ("one", 4, 1.5, 7, 3)
    rng = np.random.default_rng(0)
    sums = client_sums(inquiry.questions, rng.normal(size=(3, 3)), np.arange(3) % 2, 3)
    reply = Reply("one", 0, 4, ClientReport(3, {4: 3}), None, answers=sums)
    assert "not over the reported 3" in refused(Reply.read, reply.content(), task)  # weighs 1, not 1.5


def test_a_server_of_one_s_own_refuses_models_of_another_size_and_has_no_step():
    server, x = SumServer(3, 2), np.zeros((4, 2))
    assert "3 parameters, which do not fit inputs of shape (2,)" in refused(
        client_sums, server.questions(), x, np.zeros(4, dtype=int), 4
    )
    assert "with label 2" in refused(client_sums, server.questions(), np.zeros((4, 3)), np.full(4, 2), 4)
    assert added([]) == []
    server.learn(lambda questions: added([]))
    assert not server.began
    control = Controller("constant", Study(learner="information"))
    assert "has no step size: learn with" in refused(lambda: control.eta)
    assert "has no mean of models" in refused(lambda: control.share)
