"""Absent, failing and invalid clients and a killed server, within one process; `test_processes.py` has real ones."""

import re
import shutil
from dataclasses import replace
from unittest.mock import Mock, patch

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Error, Message

from empirics.control.controller import Controller
from empirics.federation.delivery import NODE_GONE, POLL_SECONDS, send
from empirics.federation.server_state import ServerState, federated, prepare
from empirics.results.folder import read_result
from empirics.run import run_study
from tests.acdpp.program import refusal
from tests.empirics.federation.wire import CHANGES, Wire, at, federate, memories, rows, small
from tests.empirics.small import Pulled, assert_same_rows, refused

STUDY = small("constant")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole")
    federate(STUDY, place)
    return place


@pytest.fixture
def cut(tmp_path):
    """The wire of a federation, for a test to cut."""
    return Wire(STUDY, tmp_path)


LIES = {  # an entry of a reply, its value in place of the true one, and the refusal
    "more samples than granted": ("delivered", lambda n: n + 1, "admitted samples, granted"),
    "an impossible memory": ("cohort-counts", lambda c: [c[0] + 1, *c[1:]], "in memory, possible"),
    "a round named twice": ("cohort-rounds", lambda rounds: [rounds[0]] * len(rounds), "names a round twice"),
    "another client": ("client", lambda m: 2, "it answers as client 2"),
    "counts that are fractions": ("delivered", lambda n: 1.5, "not whole numbers"),
    "rounds without counts": ("cohort-counts", lambda counts: counts[1:], "not whole numbers"),
    "not a number": ("moved", lambda array: [*array[:-1], np.nan], "parameters that are not finite"),
    "another shape": ("moved", lambda array: array[:-1], "parameters of shape"),
    "another type": ("moved", np.float32, "parameters of shape .* and type float32"),
    "a reply to the round before": ("round", lambda t: t - 1, "to round 2 of .*, not to round 3"),
    "another federation": ("federation", lambda token: "other", "to round 3 of 'other', not to round 3 of"),
    "no list of rounds": ("cohort-rounds", lambda rounds: 3, "malformed"),
}


@pytest.mark.parametrize("name", LIES)
def test_an_invalid_client_takes_no_part_in_the_round_and_is_not_paid(whole, cut, name, tmp_path, caplog):
    entry, change, words = LIES[name]

    def lie(reply):
        content = reply.content
        if entry == "moved":
            moved = np.asarray(change(content["arrays"][entry].numpy()))
            content["arrays"] = ArrayRecord({entry: Array(moved)})
        else:
            record = content["config" if entry == "federation" else "metrics"]
            record[entry] = change(record[entry])
        return reply

    cut.faults = at(3, 1, lie)
    with caplog.at_level("WARNING"):
        federate(STUDY, tmp_path, cut)
    (told,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told.startswith("round 3 goes on without client 1: ")
    assert re.search(words, told)
    (granted,), (admitted, n) = rows(whole, "admitted"), rows(tmp_path, "admitted", "n")
    mine = Controller("constant", STUDY).decide(5.0)
    assert mine.sum() == granted[2]
    assert admitted[2] == granted[2] - mine[1] < granted[2]
    later = 4 if name == "another client" else 3  # its client id is asked for again
    assert later == 3 or admitted[3] < granted[3]
    # constant admission does not catch up
    assert admitted[:2] + admitted[later:] == granted[:2] + granted[later:]
    assert n[2] < n[1] + granted[2]


@pytest.mark.parametrize("policy", ["acdpp", "buy-cheap-online"])
def test_a_reply_that_is_lost_costs_no_sample(policy, tmp_path):
    """Its samples are admitted and paid in the next round."""
    study = federated(STUDY, policy)
    federate(study, tmp_path, Wire(study, tmp_path, at(2, 0, lambda reply: None)))
    cost, admitted, N = rows(tmp_path, "cost", "admitted", "N")
    assert np.cumsum(admitted).tolist() == N
    left = [memory.source.drawn - len(memory.waiting) + memory.admitted for memory in memories(tmp_path)]
    assert sum(left) == N[-1]  # no sample was discarded or replaced
    summary = read_result(tmp_path / "result").summary["policies"][policy]
    assert summary["mean_cost"]["mean"] * study.rounds == pytest.approx(np.dot(cost, admitted))


@pytest.mark.parametrize("disconnected", [False, True])
def test_a_silent_client_is_not_waited_for_until_it_answers(cut, disconnected, tmp_path):
    def faults(t, m, answer):
        if (t, m) == (2, 1):
            cut.there.discard(999)
            return Message(Error(NODE_GONE, "it is gone"), reply_to=cut.sent[-1][1]) if disconnected else None
        if (t, m) == (4, 0):
            cut.there.add(999)
        return answer

    cut.faults = faults
    federate(STUDY, tmp_path, cut)
    assert cut.ordered(999) == [1, 2, 6]  # asked for its client id during round 5
    assert rows(tmp_path, "admitted")[0][2] < rows(tmp_path, "admitted")[0][0]


def test_an_absent_client_is_waited_for_at_the_start_and_then_left_out(cut, tmp_path, caplog):
    cut.there -= {998, 1000}
    caplog.set_level("INFO", "flwr")
    federate(STUDY, tmp_path, cut, rounds=1, patience=7)
    assert caplog.text.count("started without client 0, 2") == 1
    assert 1007 <= cut.clock.now < 1007 + 3 * POLL_SECONDS
    assert "constant, 3 clients, budget 30 per round" in caplog.text
    assert "{'clients': 1, 'spent': " in caplog.text


def test_a_client_that_fails_or_sends_an_unreadable_reply_is_asked_again(cut, tmp_path, caplog):
    broken = []

    def unreadable(reply):
        if reply.metadata.src_node_id == 999 and reply.metadata.message_type == "train" and not broken:
            broken.append(reply)
            raise ValueError("no such object")
        return reply

    cut.pulled, cut.faults = unreadable, at(2, 1, Mock(side_effect=OSError("no space left")))
    federate(STUDY, tmp_path, cut)
    assert cut.ordered(999) == [1, 2, 3, 4, 5, 6]
    logs = caplog.text, (tmp_path / "result/federation/events.log").read_text(encoding="utf-8")
    for t, why in ((1, "unreadable reply, ValueError"), (2, "no space left")):
        assert all(f"round {t} goes on without client 1: it failed ({why})" in log for log in logs)
    assert caplog.text.count("goes on without") == 2


@pytest.mark.parametrize(
    ("policy", "after"),
    [("constant", 0), ("acdpp@average=equal", 3), ("acdpp@K=1,budget=5", 5), ("buy-cheap-online", 6)],
)
def test_a_server_that_was_killed_goes_on_to_the_same_numbers(policy, after, tmp_path):
    """After some rounds, of which the fifth is idle for one policy, or before the summary."""
    study = federated(STUDY, policy)
    place = tmp_path / "killed"
    kill = at(after + 1, 2, Mock(side_effect=KeyboardInterrupt))
    end = patch.object(ServerState, "finish", side_effect=KeyboardInterrupt)
    with end, pytest.raises(KeyboardInterrupt):  # clients 0 and 1 have trained in vain
        federate(study, place, Wire(study, place, kill))
    assert federate(study, place) == federate(study, tmp_path / "whole")
    assert_same_rows(place / "result", tmp_path / "whole" / "result")


def test_a_client_that_is_absent_while_all_forget_forgets_on_its_return(tmp_path):
    """All forget in round 10, by the losses of rounds 1 to 9, which survive a kill of the server."""
    study = small("adaptive@K=6", **CHANGES)
    federate(study, tmp_path, rounds=7)
    federate(study, tmp_path, Wire(study, tmp_path, at(10, 1, lambda reply: None)))
    n, admitted = rows(tmp_path, "n", "admitted")
    assert n[8] == sum(admitted[3:9])
    assert n[9:] == [admitted[9], admitted[9] + admitted[10]]


@pytest.mark.parametrize(
    ("number", "why"),
    [(1, "which another node is"), *((n, "clients are 0 to 2") for n in (-1, 3))],
)
def test_a_node_that_claims_to_be_another_client_or_one_that_there_is_not(cut, number, why, tmp_path, caplog):
    config = {"partition-id": number, "buffer": str(tmp_path / "x")}
    cut.contexts[5000] = replace(cut.contexts[999], node_id=5000, node_config=config)
    cut.apps[5000] = cut.apps[999]
    cut.there.add(5000)
    federate(STUDY, tmp_path, cut)
    assert caplog.text.count(f"takes no part: it claims to be client {number}, {why}") == 1
    assert sorted(len(cut.ordered(node)) for node in (999, 5000)) == [0, STUDY.rounds]


def test_a_round_without_clients_is_one_sentence_and_loses_nothing(whole, cut, tmp_path):
    cut.there.clear()
    assert "no client is connected in round 1" in refused(federate, STUDY, tmp_path, cut, patience=0)
    silent = Wire(STUDY, tmp_path, lambda t, m, reply: None if t == 4 else reply)
    assert "no client took part in round 4" in refused(federate, STUDY, tmp_path, silent)
    assert "no client is connected in round 4" in refused(federate, STUDY, tmp_path, cut, patience=0)
    federate(STUDY, tmp_path)
    assert_same_rows(tmp_path / "result", whole / "result")


def test_a_client_that_loses_its_disk_continues_without_its_samples(whole, cut, tmp_path):
    cut.faults = at(4, 1, lambda reply: shutil.rmtree(tmp_path / "node-1") or reply)
    federate(STUDY, tmp_path, cut)
    assert [min(memory.cohorts) for memory in memories(tmp_path)] == [2, 5, 2]
    (admitted, n), (granted, most) = (rows(place, "admitted", "n") for place in (tmp_path, whole))
    assert admitted == granted
    assert n[4] < most[4]


def test_samples_do_not_travel(cut, tmp_path):
    sent = []
    cut.faults = lambda t, m, reply: sent.append(reply.content) or reply
    federate(STUDY, tmp_path, cut, rounds=2)
    assert len(sent) == 6
    for content in sent:
        assert [*content["arrays"], *content["config"]] == ["moved", "federation"]
        assert set(content) == {"arrays", "metrics", "config"}
        # the parameters: 8 numbers and a constant for each of 4 classes
        assert content["arrays"]["moved"].numpy().shape == (36,)


def test_training_does_not_go_on_where_a_federation_stopped_but_reads_what_it_finished(tmp_path):
    out, trained = tmp_path / "result", tmp_path / "trained"
    federate(STUDY, tmp_path, rounds=2)
    command = f"acdpp resume {out} continues it"
    for more in (["--rounds", "9"], ["--on", "ray"], ["--device", "cuda"], ["--watch"]):
        assert "a federation continues as it began" in refusal("resume", out, *more)
    assert f"is a federation's result: {command}" in refused(run_study, None, out, resume=True)
    assert f"is unfinished: {command}" in refused(read_result, out)
    summary = federate(STUDY, tmp_path)
    assert run_study(None, out, resume=True) == summary
    run_study(replace(STUDY, rounds=2), trained)
    assert "not made by acdpp federate" in refused(ServerState.open(trained).__enter__)


def test_a_message_that_is_not_accepted_is_not_waited_for():
    asked = ["first", "second"]
    assert send(Mock(push_messages=lambda messages: ["its id", ""]), asked) == {"its id": "first"}


def test_a_model_that_tells_no_losses_is_refused_to_a_policy_that_listens_before_it_begins(tmp_path):
    study = federated(STUDY, "adaptive")
    assert "must have mean_loss" in refused(prepare, study, tmp_path / "result", model=Pulled)
    assert not (tmp_path / "result").exists()


def test_the_sender_of_a_reply_does_not_depend_on_its_content(cut, whole, tmp_path):
    cut.pulled = lambda reply: reply.metadata.__dict__.update(_src_node_id=1000) or reply
    federate(STUDY, tmp_path, cut)
    assert_same_rows(tmp_path / "result", whole / "result")


def test_a_node_is_one_client_and_without_a_client_id_is_reported_once(cut, tmp_path, caplog):
    """A node that was client 1 and went silent may not return as client 2, whose node has no client id."""
    cut.contexts[998].node_config["partition-id"] = "last"
    cut.faults = at(2, 1, lambda reply: cut.contexts[999].node_config.update({"partition-id": 2}))
    federate(STUDY, tmp_path, cut, patience=30)
    assert "node 999 takes no part: it claims to be client 2, and was client 1" in caplog.text
    assert caplog.text.count("node 998 did not give its client id") == 1
    assert [to for to, _ in cut.sent].count(998) == 4  # in 30 seconds
