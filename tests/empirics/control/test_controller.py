"""A controller decides as the batched loop does, keeps the same books, and goes on from its JSON."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

from empirics import Controller, CostProcess
from empirics.control.registry import BUILT_IN
from empirics.control.schedule import plan
from empirics.control.steps_and_means import Learner
from tests.empirics.small import CONTROL, refused, study
from theory.setting import Region


class Counted(NamedTuple):
    rounds: int
    debts: list


@dataclass(frozen=True)
class Thrifty:
    """Saves up and spends; its state has a named tuple, a list that grows, and a dict."""

    budget: float = 22.0
    retention: int = 2

    def start(self, replicates):
        return {"counted": Counted(0, []), "purse": np.full(replicates, self.budget), "rest": REST}

    def decide(self, state, cost):
        assert state["rest"] == REST
        return state, np.maximum(state["purse"] / cost / 3, 1).astype(int)[:, np.newaxis].repeat(3, axis=1)

    def book(self, state, cost, delivered):
        purse = state["purse"] + self.budget - cost * delivered.sum(axis=1)
        seen = Counted(state["counted"].rounds + 1, [*state["counted"].debts, float(purse.min())])
        return state | {"counted": seen, "purse": purse}


REGION = Region(rate=3, rho=0.5)
REST = (None, True, 1e-320, (float("inf"), "word"), [CONTROL, REGION])  # comes back exactly from a file
POLICIES = {**dict.fromkeys([*BUILT_IN, "acdpp+K+cap+rounding+penalty"]), "thrifty": Thrifty()}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_controller_decides_as_the_batched_loop_does_even_through_json(policy, tmp_path):
    learner = {"average": "tail", "decay": 9.0, "decay_by": "samples"}
    setting, own = study(policies=(policy,), seeds=2, **learner), POLICIES[policy]
    rounds = plan(setting, CONTROL, policies=None if own is None else {policy: own})
    server = Controller(policy, setting, constants=CONTROL, own=own)
    before = rounds.track.N[:, 1] - rounds.admissions[:, 1].sum(axis=1)
    eta, share = Learner(setting).follow(rounds, rounds.occupancy)
    for t in range(setting.rounds):
        granted = server.decide(rounds.cost[t, 1])
        assert server.round == t + 1
        assert server.books.debt == rounds.debt[t, 1]
        assert server.eta == eta[t, 1] == setting.eta / np.sqrt(1 + before[t] / 9)
        assert server.share == (share[t - 1, 1] if t else 1)
        assert np.array_equal(granted, rounds.admissions[t, 1])
        if t % 3 == 0:
            server.report(granted)  # left out otherwise: the next decision books what was granted
        if t % 5 == 0:
            server.save(tmp_path / "server.json")
            server = Controller.load(tmp_path / "server.json", own=own)
    server.report(granted)
    books = server.books
    assert books.rounds == setting.rounds
    assert books.distinct == rounds.ends[-1, 1].sum()
    assert np.array_equal(books.in_memory, rounds.occupancy[-1, 1])
    assert books.effective == pytest.approx(rounds.track.effective[-1, 1], rel=1e-12)
    spent = (rounds.cost[:, 1] * rounds.admissions[:, 1].sum(axis=1)).sum()
    assert books.spent == pytest.approx(spent, rel=1e-12)


def test_what_did_not_arrive_is_neither_paid_nor_counted():
    server = Controller("acdpp-capped", study(), constants=CONTROL)
    granted = server.decide(4.0)
    less = granted - [1, 0, 2]
    server.report(less)
    assert server.books.spent == 4.0 * less.sum()
    assert server.books.debt == max(4.0 * less.sum() - 22.0, 0)
    assert np.array_equal(server.books.in_memory, less)


def test_an_impossible_report_or_price_is_refused_and_changes_nothing():
    server = Controller("constant", study())
    server.decide(4.0)
    before = server.document()
    assert "client 1 delivered 9 samples and was granted" in refused(server.report, [0, 9, 9])
    for delivered in ([1, 1], [0.5, 1, 1], [-1, 1, 1]):
        assert "one whole number for each of the 3 clients" in refused(server.report, delivered)
    assert server.document() == before
    server.report([0, 0, 0])
    assert "nothing to report" in refused(server.report, [0, 0, 0])
    for cost in (0, float("nan"), float("inf"), "cheap", None):
        assert "cost must be a positive finite number" in refused(server.decide, cost)
    for cost in (1e-16, 1e16):
        assert "a price lies between" in refused(server.decide, cost)


def test_a_damaged_or_foreign_file_is_refused(tmp_path):
    path = tmp_path / "server.json"
    server = Controller("constant")  # of a study with the default settings
    server.decide(4.0)
    server.save(path)
    document = json.loads(path.read_text())
    assert None not in document["constants"].values()  # an unknown one is left out
    for text, message in {
        path.read_text()[:-40]: "no saved controller, or damaged",
        "[]": "no saved controller of this version",
        json.dumps(document | {"pending": None}): "damaged or was edited",
        json.dumps(document | {"acdpp_controller": 7}): "no saved controller of this version",
    }.items():
        path.write_text(text)
        assert message in refused(Controller.load, path)
    assert "cannot read the controller" in refused(Controller.load, tmp_path / "none.json")


def test_an_older_file_is_refused_only_if_its_policy_drops_samples():
    def older(name):
        document = Controller(name, study()).document()
        known = {key: value for key, value in document.items() if key not in ("dropped", "sha256")}
        return known | {"sha256": hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()}

    assert Controller.from_document(older("constant")).round == 1
    assert "taper last dropped samples: begin anew" in refused(Controller.from_document, older("taper"))


def test_the_mean_price_is_the_one_given_and_a_tiny_budget_takes_no_memory_for_the_rounds_to_come():
    server = Controller("oracle", study(budget=1e-8))
    poor = Controller("constant", study(budget=1e-8), mean_cost=5)
    assert poor.retention[0] > 10**9
    for _ in range(3):
        poor.report(poor.decide(4.0))
        server.decide(4.0)
    kept = [Controller("constant", study(), mean_cost=mean).retention[0] for mean in (11.0, 2.75)]
    assert kept == [8, 2]
    assert (server.mean_cost, server.capacity) == (5.5, None)
    several = Controller("acdpp", study(), constants=replace(CONTROL, E=3))
    assert several.policy.constants.eta == 3 * CONTROL.eta


def test_a_state_that_cannot_be_saved_says_so_and_a_policy_that_fails_is_named_and_changes_nothing(tmp_path):
    @dataclass(frozen=True)
    class Odd(Thrifty):
        first: object = None

        def start(self, replicates):
            return self.first

    class Moody(Thrifty):
        def decide(self, state, cost):
            return state, {}["cheap"] if cost[0] > 5 else np.ones((1, 3), dtype=int)

    for first in ({1, 2}, {"spent": 1, 2: 3}, {"spent": 1, "!": 3}):
        server = Controller("odd", study(), own=Odd(first=first))
        assert f"got {type(first).__name__}" in refused(server.save, tmp_path / "server.json")
    assert not list(tmp_path.iterdir())
    server = Controller("moody", study(), own=Moody())
    server.report(server.decide(4.0))
    before = server.document()
    assert "policy 'moody' failed in round 2: KeyError" in refused(server.decide, 6.0)
    assert server.document() == before


def test_a_controller_is_not_loaded_with_other_prices_than_it_was_made_for(tmp_path):
    trace = tmp_path / "prices.csv"
    trace.write_text("1\n2\n3\n9\n" * 8)
    given = study(cost=CostProcess(process="trace", file=str(trace)))
    server = Controller("buy-cheap", given)
    server.decide(2.0)
    server.save(tmp_path / "server.json")
    assert Controller.load(tmp_path / "server.json").round == server.round
    trace.write_text("1\n2\n3\n4\n" * 8)
    assert "prices changed" in refused(Controller.load, tmp_path / "server.json")
