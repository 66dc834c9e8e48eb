"""Clients that are away, fail or lie, and a server that is killed: within one process, so that each takes no time.

The same against real processes is in `test_processes.py`.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord

from empirics.control.controller import Controller
from empirics.federation.journal import Journal
from empirics.federation.memory import DiskMemory
from empirics.results.folder import read_result
from empirics.run import run_study
from tests.empirics.federation.wire import CHANGES, Wire, at, federate, federated, nodes, rows, small
from tests.empirics.small import refused

STUDY = small("constant")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole")
    federate(STUDY, place)
    return result(place)


def result(place):
    return read_result(place / "result")


def wire(study, place, faults):
    return Wire(*nodes(study, place), faults)


@pytest.fixture
def cut(tmp_path):
    """The wire of a federation, for a test to cut."""
    return Wire(*nodes(STUDY, tmp_path))


def metric(name, change):
    def lie(reply):
        record = reply.content["metrics"]
        record[name] = change(record[name])

    return lie


def moved(change):
    def lie(reply):
        array = reply.content["arrays"]["moved"].numpy()
        reply.content["arrays"] = ArrayRecord({"moved": Array(change(array))})

    return lie


def spoilt(array):
    return np.where(np.arange(len(array)) == 3, np.nan, array)


LIES = {
    "more samples than granted": (metric("delivered", lambda n: n + 1), "says it admitted"),
    "a memory it cannot have": (metric("cohort-counts", lambda c: [c[0] + 1, *c[1:]]), "which it can hold"),
    "another client": (metric("client", lambda m: 2), "it answers as client 2"),
    "accounts of fractions": (metric("delivered", lambda n: 1.5), "other than whole numbers"),
    "no number": (moved(spoilt), "parameters that are no finite numbers"),
    "no finite square": (moved(lambda array: array + 1e200), "squares are none"),
    "another shape": (moved(lambda array: array[:-1]), "parameters of shape"),
    "another type": (moved(np.float32), "parameters of shape .* and type float32"),
    "an answer to the round before": (metric("round", lambda t: t - 1), "to round 2 of .*, not to round 3"),
    "no metrics": (lambda reply: reply.content.pop("metrics"), "none"),
}


@pytest.mark.parametrize("name", LIES)
def test_who_lies_takes_no_part_in_the_round_and_is_not_paid(whole, cut, name, tmp_path, caplog):
    lie, words = LIES[name]
    cut.faults = at(3, 1, lambda reply: (lie(reply), reply)[1])
    with caplog.at_level("WARNING"):
        federate(STUDY, tmp_path, cut)
    (told,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told.startswith("round 3 goes on without client 1: ")
    assert re.search(words, told)
    granted, (admitted, n) = whole.rows["admitted"].to_pylist(), rows(tmp_path, "admitted", "n")
    mine = Controller("constant", STUDY).decide(5.0)
    assert mine.sum() == granted[2]
    assert admitted[2] == granted[2] - mine[1] < granted[2]
    later = 4 if name == "another client" else 3  # who it is has to be asked again
    assert later == 3 or admitted[3] < granted[3]
    # constant admission asks for no more later
    assert admitted[:2] + admitted[later:] == granted[:2] + granted[later:]
    assert n[2] < n[1] + granted[2]


@pytest.mark.parametrize("policy", ["acdpp", "buy-cheap-online"])
def test_a_reply_that_is_lost_costs_no_sample(policy, tmp_path):
    """What was drawn for it is admitted, and paid, in the round after."""
    study = federated(STUDY, policy)
    cut = wire(study, tmp_path, at(2, 0, lambda reply: None))
    federate(study, tmp_path, cut)
    cost, admitted, N = rows(tmp_path, "cost", "admitted", "N")
    assert np.cumsum(admitted).tolist() == N
    drawn = at_the_door = 0
    for m in range(study.clients):
        (folder,) = (tmp_path / f"node-{m}").iterdir()
        memory = DiskMemory.open(folder)
        drawn += memory.source.drawn
        at_the_door += len(memory.door) - memory.admitted
    assert drawn == N[-1] + at_the_door  # nothing was thrown away, nothing drawn anew
    summary = result(tmp_path).summary["policies"][policy]
    assert summary["mean_cost"]["mean"] * study.rounds == pytest.approx(np.dot(cost, admitted))


def test_a_silent_client_is_not_waited_for_again_until_it_answers(cut, tmp_path):
    gone = []

    def faults(t, m, reply):
        if (t, m) == (2, 1):
            cut.there.discard(999)
            return None
        if (t, m) == (4, 0):
            cut.there.add(999)
        gone.append((t, m))
        return reply

    cut.faults = faults
    federate(STUDY, tmp_path, cut)
    assert [t for t, m in gone if m == 1] == [1, 6]  # asked whether it is back while round 5 went on
    assert rows(tmp_path, "admitted")[0][2] < rows(tmp_path, "admitted")[0][0]


def test_a_client_that_fails_is_asked_again(cut, tmp_path, caplog):
    app, tries = cut.apps[999], []

    def failing(message, context):
        if message.metadata.message_type == "train":
            tries.append(message.content["config"]["round"])
            if tries[-1] == 2:
                raise OSError("no space left")
        return app(message, context)

    cut.apps[999] = failing
    federate(STUDY, tmp_path, cut)
    assert tries == [1, 2, 3, 4, 5, 6]
    told = "round 2 goes on without client 1: it failed (no space left)"
    assert told in caplog.text
    assert told in (tmp_path / "result/federation/events.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("policy", "at"), [("constant", 0), ("acdpp@average=equal", 3), ("buy-cheap-online", 5)]
)
def test_a_server_that_was_killed_goes_on_to_the_same_numbers(policy, at, tmp_path):
    study = federated(STUDY, policy)
    federate(study, tmp_path / "whole")
    place = tmp_path / "killed"
    if at:
        assert federate(study, place, rounds=at) is None

    def kill(t, m, reply):
        if t == at + 1 and m == 2:
            raise KeyboardInterrupt
        return reply

    with pytest.raises(KeyboardInterrupt):  # clients 0 and 1 have trained, and the server never hears of it
        federate(study, place, wire(study, place, kill))
    federate(study, place)
    assert result(place).rows.equals(result(tmp_path / "whole").rows)
    assert result(place).summary == result(tmp_path / "whole").summary


def test_who_is_away_while_all_forget_forgets_when_it_is_back(tmp_path):
    """All forget in round 10, by what was heard in rounds 1 to 9; a server that was killed meanwhile remembers it."""
    study = small("adaptive@K=6", **CHANGES)
    federate(study, tmp_path, rounds=7)
    federate(study, tmp_path, wire(study, tmp_path, at(10, 1, lambda reply: None)))
    n, admitted = rows(tmp_path, "n", "admitted")
    assert n[8] == sum(admitted[3:9])
    assert n[9:] == [admitted[9], admitted[9] + admitted[10]]


@pytest.mark.parametrize(
    ("number", "why"),
    [(1, "which another node is"), *((n, "and there are clients 0 to 2") for n in (-1, 3))],
)
def test_a_node_that_claims_to_be_another_client_or_one_that_there_is_not(cut, number, why, tmp_path, caplog):
    config = {"partition-id": number, "buffer": str(tmp_path / "x")}
    cut.contexts[5000] = replace(cut.contexts[999], node_id=5000, node_config=config)
    cut.apps[5000] = cut.apps[999]
    cut.there.add(5000)
    federate(STUDY, tmp_path, cut)
    assert caplog.text.count(f"takes no part: it says it is client {number}, {why}") == 1
    trained = [node for node, message in cut.sent if message.metadata.message_type == "train"]
    assert sorted(trained.count(node) for node in (999, 5000)) == [0, STUDY.rounds]


def test_nobody_there_or_left_is_one_sentence_and_nothing_is_lost(whole, cut, tmp_path):
    cut.there.clear()
    assert "no client is there in round 1" in refused(federate, STUDY, tmp_path, cut, patience=0)
    silent = wire(STUDY, tmp_path, lambda t, m, reply: None if t == 4 else reply)
    assert "no client took part in round 4" in refused(federate, STUDY, tmp_path, silent)
    federate(STUDY, tmp_path)
    assert result(tmp_path).rows.equals(whole.rows)


def test_samples_do_not_travel(cut, tmp_path):
    def listen(t, m, reply):
        content = reply.content
        assert [*content["arrays"], *content["config"]] == ["moved", "federation"]
        assert set(content) == {"arrays", "metrics", "config"}
        # the parameters: 8 numbers and a constant for each of 4 classes
        assert content["arrays"]["moved"].numpy().shape == (36,)
        return reply

    cut.faults = listen
    federate(STUDY, tmp_path, cut, rounds=2)


def test_training_does_not_go_on_where_a_federation_stopped_but_reads_what_it_finished(tmp_path):
    out, trained = tmp_path / "result", tmp_path / "trained"
    federate(STUDY, tmp_path, rounds=2)
    command = f"acdpp federate --resume {out} continues it"
    assert f"is a federation's result: {command}" in refused(run_study, None, out, resume=True)
    assert f"is unfinished: {command}" in refused(read_result, out)
    summary = federate(STUDY, tmp_path)
    assert run_study(None, out, resume=True) == summary
    run_study(replace(STUDY, rounds=2), trained)
    assert "is no result of a federation" in refused(Journal.open(trained).__enter__)


def test_an_answer_that_cannot_be_read_costs_its_sender_alone(cut, tmp_path, caplog):
    pull, broken = cut.pull_messages, []

    def pulled(names):
        found = pull(names)
        for reply in found:
            if reply.metadata.src_node_id == 999 and reply.metadata.message_type == "train" and not broken:
                broken.append(1)
                raise ValueError("no such object")
        return found

    cut.pull_messages = pulled
    federate(STUDY, tmp_path, cut)
    why = "client 1: it failed (an answer that cannot be read, ValueError)"
    assert caplog.text.count("goes on without") == caplog.text.count(f"round 1 goes on without {why}") == 1


def test_whose_answer_it_is_does_not_hang_on_what_it_says(cut, whole, tmp_path):
    """A client that puts another's name under its answer answers for itself all the same."""
    pull = cut.pull_messages

    def forged(names):
        found = pull(names)
        for reply in found:
            reply.metadata.__dict__["_src_node_id"] = 1000
        return found

    cut.pull_messages = forged
    federate(STUDY, tmp_path, cut)
    assert result(tmp_path).rows.equals(whole.rows)


def test_a_node_is_one_client(cut, tmp_path, caplog):
    """One that was client 1 and went silent may not come back as client 2, which is away."""
    cut.there.discard(998)
    cut.faults = at(2, 1, lambda reply: cut.contexts[999].node_config.update({"partition-id": 2}))
    federate(STUDY, tmp_path, cut, patience=0.3)
    assert "node 999 takes no part: it says it is client 2, and was client 1" in caplog.text


def test_a_node_that_cannot_say_who_it_is_is_told_of_once(cut, tmp_path, caplog):
    cut.contexts[999].node_config["partition-id"] = "first"
    federate(STUDY, tmp_path, cut, patience=0.5)
    told = "node 999 could not say which client it is, and is asked again: the node config must have partition-id"
    assert caplog.text.count(told) == 1
