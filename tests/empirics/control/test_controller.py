"""A controller decides as the batched loop does, keeps the same books, and goes on from its JSON."""

import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from empirics.control.codec import plain, restored
from empirics.control.controller import Controller
from empirics.control.registry import BUILT_IN
from empirics.control.schedule import Schedule
from empirics.settings.costs import CostProcess
from tests.empirics.small import CONTROL, study
from theory.setting import Constants, SettingError

UNMERGED = Constants(D=20.0, sigma=0.6, eta=5.0, B=10.0, Pdim=9.0)


class Counted(NamedTuple):
    rounds: int
    debts: list


@dataclass(frozen=True)
class Thrifty:
    """Saves up and spends; its state has a named tuple, a list that grows, and a dict."""

    budget: float = 22.0
    retention: int = 2

    def start(self, replicates):
        return {"counted": Counted(0, []), "purse": np.full(replicates, self.budget)}

    def decide(self, state, cost):
        return state, np.maximum(state["purse"] / cost / 3, 1).astype(int)[:, np.newaxis].repeat(3, axis=1)

    def book(self, state, cost, delivered):
        purse = state["purse"] + self.budget - cost * delivered.sum(axis=1)
        seen = Counted(state["counted"].rounds + 1, [*state["counted"].debts, float(purse.min())])
        return {"counted": seen, "purse": purse}


POLICIES = {**dict.fromkeys(BUILT_IN), "thrifty": Thrifty()}


def batched(policy):
    setting = study(policies=(policy,), seeds=2)
    own = {policy: POLICIES[policy]} if POLICIES[policy] is not None else None
    return setting, Schedule(setting, CONTROL, policies=own).advance(setting.rounds)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_controller_decides_as_the_batched_loop_does_even_through_json(policy, tmp_path):
    setting, rounds = batched(policy)
    assert CONTROL.merged == UNMERGED.merged
    for replicate in range(2):
        server = Controller(policy, setting, constants=UNMERGED, own=POLICIES[policy])
        for t in range(setting.rounds):
            granted = server.decide(rounds.cost[t, replicate])
            assert server.round == t + 1
            assert server.books.debt == rounds.debt[t, replicate]
            assert np.array_equal(granted, rounds.admissions[t, replicate])
            if t % 3 == 0:
                server.report(granted)  # left out otherwise: the next decision books what was granted
            if t % 2 == 0:
                server.save(tmp_path / "server.json")
                server = Controller.load(tmp_path / "server.json", own=POLICIES[policy])
        server.report(granted)
        books = server.books
        assert books.rounds == setting.rounds
        assert books.distinct == rounds.ends[-1, replicate].sum()
        assert np.array_equal(books.in_memory, rounds.occupancy[-1, replicate])
        assert books.effective == pytest.approx(rounds.track.effective[-1, replicate], rel=1e-12)
        spent = (rounds.cost[:, replicate] * rounds.admissions[:, replicate].sum(axis=1)).sum()
        assert books.spent == pytest.approx(spent, rel=1e-12)


def test_what_did_not_arrive_is_neither_paid_nor_counted():
    server = Controller("acdpp-capped", study(), constants=UNMERGED)
    granted = server.decide(4.0)
    less = granted - [1, 0, 2]
    server.report(less)
    assert server.books.spent == 4.0 * less.sum()
    assert server.books.debt == max(4.0 * less.sum() - 22.0, 0)
    assert np.array_equal(server.books.in_memory, less)
    # the policy's own books agree: there is room for what did not come
    assert np.array_equal(server._state.held[-1, 0], less)
    assert server._state.server.seen[0] == less.sum()


@pytest.mark.parametrize(
    ("delivered", "message"),
    [
        ([9, 9, 9], "client 0 delivered 9 samples and was granted"),
        ([1, 1], "one whole number for each of the 3 clients"),
        ([0.5, 1, 1], "one whole number for each"),
        ([-1, 1, 1], "one whole number for each"),
        ("all", "one whole number for each"),
    ],
)
def test_an_impossible_report_is_refused_and_changes_nothing(delivered, message):
    server = Controller("constant", study())
    server.decide(4.0)
    before = server.document()
    with pytest.raises(SettingError, match=message):
        server.report(delivered)
    assert server.document() == before


def test_reporting_nothing_or_twice_is_refused():
    server = Controller("constant", study())
    with pytest.raises(SettingError, match="nothing to report"):
        server.report([0, 0, 0])
    server.report(server.decide(4.0))
    with pytest.raises(SettingError, match="nothing to report"):
        server.report([0, 0, 0])


@pytest.mark.parametrize("cost", [0, -1, float("nan"), float("inf"), "cheap", None])
def test_a_price_that_is_none_is_refused(cost):
    with pytest.raises(SettingError, match="cost must be a positive finite number"):
        Controller("constant", study()).decide(cost)


def test_a_damaged_or_foreign_file_is_refused(tmp_path):
    path = tmp_path / "server.json"
    server = Controller("constant", study())
    server.decide(4.0)
    server.save(path)
    document = json.loads(path.read_text())
    for text, message in {
        path.read_text()[:-40]: "no saved controller, or damaged",
        "[]": "no saved controller of this version",
        json.dumps(document | {"pending": None}): "damaged or was edited",
        json.dumps(document | {"acdpp_controller": 7}): "no saved controller of this version",
    }.items():
        path.write_text(text)
        with pytest.raises(SettingError, match=message):
            Controller.load(path)
    with pytest.raises(SettingError, match="cannot read the controller"):
        Controller.load(tmp_path / "none.json")


def test_a_state_that_cannot_be_saved_says_so(tmp_path):
    class Odd(Thrifty):
        def start(self, replicates):
            return {1, 2}

    with pytest.raises(SettingError, match="got set"):
        Controller("odd", study(), own=Odd()).save(tmp_path / "server.json")
    assert not list(tmp_path.iterdir())


def test_the_mean_price_is_the_one_given():
    dear, cheap = (Controller("constant", study(), mean_cost=mean) for mean in (11.0, 2.75))
    assert dear.retention[0] == 8
    assert cheap.retention[0] == 2
    assert Controller("constant", study()).mean_cost == 5.5


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.1,
        1e-320,
        "word",
        (1, (2.5,)),
        [],
        {"a": [1, {"b": ()}]},
        float("inf"),
        np.arange(6.0).reshape(2, 3),
    ],
)
def test_values_come_back_exactly(value):
    again = restored(json.loads(json.dumps(plain(value), allow_nan=False)))
    assert type(again) is type(value)
    assert np.array_equal(again, value) if isinstance(value, np.ndarray) else again == value


def test_a_tiny_budget_takes_no_memory_for_the_rounds_to_come():
    server = Controller("oracle", study(budget=1e-8))
    poor = Controller("constant", study(budget=1e-8), mean_cost=5)
    assert poor.retention[0] > 10**9
    for _ in range(3):
        poor.report(poor.decide(4.0))
        server.decide(4.0)
    assert len(poor._totals.past) == 4


def test_a_policy_that_fails_is_named_and_changes_nothing():
    class Moody(Thrifty):
        def decide(self, state, cost):
            return state, {}["cheap"] if cost[0] > 5 else np.ones((1, 3), dtype=int)

    server = Controller("moody", study(), own=Moody())
    server.report(server.decide(4.0))
    before = server.document()
    with pytest.raises(SettingError, match="policy 'moody' failed in round 2: KeyError"):
        server.decide(6.0)
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
    with pytest.raises(SettingError, match="prices changed"):
        Controller.load(tmp_path / "server.json")


@pytest.mark.parametrize("price", [1e-16, 1e16])
def test_a_price_beyond_all_prices_is_refused(price):
    with pytest.raises(SettingError, match="a price lies between"):
        Controller("buy-cheap-online", study()).decide(price)
