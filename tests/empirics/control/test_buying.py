"""Buying where it is cheap: what is replaced, hard buffers, bounded debt, and a controller that can be saved."""

from dataclasses import replace
from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from empirics import Controller, Study, make_prices
from empirics.control.buying import BuyCheap, Taper
from empirics.control.policy import FOREVER
from empirics.control.registry import Brief, make_policy
from empirics.control.schedule import Schedule, brief_for, plan
from tests.empirics.small import CONTROL, refused, study
from theory.control.admission import debt_update
from theory.market.knapsack import purchase_limit
from theory.market.online import debt_ceiling
from theory.market.prices import Uniform
from theory.market.replacement import best_replacement
from theory.setting import Budget

LOW, HIGH = 0.25, 8.0


@st.composite
def plays(draw):
    """A policy, prices (rounds, replicates), and which shares of the grants arrive, (rounds, replicates, clients)."""
    buffers = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    worth = np.cumsum(draw(st.lists(st.floats(0, 4), min_size=1, max_size=6)))
    reserve, cost = draw(st.floats(0.5, 60)), draw(st.floats(0.1, 40))
    limits = Budget(buffers=tuple(buffers), cost=cost, mean_cost=4)
    policy = BuyCheap(tuple(worth.tolist()), reserve, limits)
    rounds, replicates = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pool = [LOW, HIGH, *rng.uniform(LOW, HIGH, 2), *(w for w in worth if LOW < w < HIGH)]
    few = rng.choice(pool, size=draw(st.integers(1, 4)))  # one price alone brings debts near to their bound
    prices = rng.choice(few, size=(rounds, replicates))
    short = rng.uniform(size=(rounds, replicates, len(buffers))) * draw(st.sampled_from([0, 1, 2]))
    return policy, prices, np.clip(1.3 - short, 0, 1)


@given(plays())
def test_a_place_is_replaced_where_its_price_is_below_its_worth_and_debt_never_exceeds_its_bound(play):
    """Against one place at a time, in plain Python: so buffers hold, and every replicate decides by itself."""
    policy, prices, shares = play
    state, grants, deliveries = policy.start(prices.shape[1]), [], []
    for cost, share in zip(prices, shares, strict=True):
        state, granted = policy.decide(state, cost)
        assert granted.dtype.kind == "i"
        grants.append(granted)
        deliveries.append(np.floor(granted * share).astype(int))
        state = policy.book(state, cost, deliveries[-1])
    C, S = float(policy.budget.cost), sum(policy.capacity)
    for r in range(prices.shape[1]):
        Z, memories = policy.reserve, [[] for _ in policy.capacity]  # the rounds in which samples came
        ends = prices[:, r].min(), prices[:, r].max()
        bound = debt_ceiling(policy.reserve, policy.worth[-1], S, C, *ends)
        most = max(bound, policy.reserve + prices[0, r] * S - C, policy.reserve) * (1 + 1e-12)
        for t, price in enumerate(prices[:, r].tolist(), start=1):
            for m, (memory, size) in enumerate(zip(memories, policy.capacity, strict=True)):
                ages = [t - entered for entered in memory] + [10**9] * (size - len(memory))
                worth = [policy.worth[min(age, len(policy.worth)) - 1] for age in ages]
                wanted = size if t == 1 else sum(Z * price < policy.reserve * w for w in worth)
                assert grants[t - 1][r, m] == wanted
                memory += [t] * int(deliveries[t - 1][r, m])
                memories[m] = memory[-size:]
            Z = float(debt_update(Z, price, int(deliveries[t - 1][r].sum()), C))
            assert most >= Z
        assert state.debt[r] == Z
        assert [len(memory) for memory in memories] == (np.abs(state.born[r]) < FOREVER).sum(axis=1).tolist()


@pytest.mark.parametrize("name", ["taper", "taper-online"])
def test_a_filling_is_used_again_while_few_came_before_it_and_once_in_the_end(name):
    """Replayed with whole fillings: purchases are those of bursts, and so is what they cost on every path."""
    setting = study(policies=(name, name.replace("taper", "burst")), rounds=240, seeds=4, V=20.0)
    rounds = plan(setting, CONTROL)
    mine, bursts = (slice(4 * p, 4 * p + 4) for p in range(2))
    assert np.array_equal(rounds.admissions[:, mine], rounds.admissions[:, bursts])
    S, held = 16, rounds.track.n[:, mine]
    for r in range(4):
        filled = np.flatnonzero(rounds.admissions[:, r].any(axis=1)) + 1
        used = [int((held[first - 1 : last - 1, r] > 0).sum()) for first, last in pairwise([*filled, 241])]
        for b, (first, last) in enumerate(pairwise([*filled, 241]), start=1):
            uses = 1
            while first + uses < last and uses * b < (4 if name == "taper" else (first + uses) / b):
                uses += 1
            assert used[b - 1] == uses
            assert set(held[first - 1 : first - 1 + uses, r]) == {S}
        assert used[0] > 1
        assert set(used[len(used) // 2 :]) == {1}
        b, extra = len(used), np.array(used) - 1
        assert rounds.track.effective[filled[-1] - 1, r] >= S * b / (1 + (extra**2).sum() / b)


@pytest.mark.parametrize(("first", "filled"), [(1, [16] * 4), (0, [12] * 6)])
def test_a_controller_says_when_older_samples_are_not_used_again(first, filled):
    """Also where nothing came to the first client: three quarters of a filling may be used for longer."""
    server, held = Controller("taper", study(V=100.0)), []
    for price in (2.0, *[9.0] * (len(filled) + 1)):
        server.decide(price)
        kept = server.retention
        server.report(server.pending * [first, 1, 1])
        held.append(int(server.books.in_memory.sum()))
        assert (kept == (FOREVER if held[-1] else 1)).all()
    assert held == [*filled, 0, 0]  # the budget buys a memory in four rounds


def test_a_study_goes_on_only_if_as_much_was_dropped():
    made = make_policy("taper", brief_for(study(), CONTROL))
    both = [{"mine": replace(made, patience=patience)} for patience in (1.0, 4.0)]
    schedules = [Schedule(study(policies=("mine",)), CONTROL, policies=own) for own in both]
    found = [schedule.advance(9) for schedule in schedules]
    assert np.array_equal(found[0].admissions, found[1].admissions)
    assert schedules[0].digest != schedules[1].digest


def test_a_worth_or_a_reserve_that_makes_no_sense_is_refused():
    limits = study().theory_budget(5.5)
    for worth in ((), (2.0, 1.0), (1.0, float("inf")), (float("nan"),)):
        assert "must not fall with its age" in refused(BuyCheap, worth, 1.0, limits)
    assert "the reserve must be" in refused(BuyCheap, (1.0,), 0.0, limits)


def test_the_makers_follow_theory_and_the_study():
    setting = study(V=3.0)
    brief = brief_for(setting, CONTROL)
    known, online = (make_policy(name, brief) for name in ("buy-cheap", "buy-cheap-online"))
    assert known.reserve == online.reserve == 2 / 3 * 3.0 * 22
    assert known.capacity == online.capacity == (4, 5, 7)
    assert known.worth == best_replacement(Uniform(1.0, 10.0), places=16, budget=22.0).thresholds
    assert online.worth[:2] == (22 / 16, 44 / 16)
    assert all(low <= high for low, high in pairwise(known.worth))
    assert make_policy("buy-cheap@eta=0.1", brief) == known
    limit = purchase_limit(Uniform(1.0, 10.0), 16, 22.0)
    assert make_policy("burst", brief) == replace(known, worth=(limit.threshold,), kept=1)
    assert make_policy("burst-online@K=3", brief) == replace(online, kept=3)
    assert make_policy("taper", brief) == Taper((limit.threshold,), known.reserve, known.budget, patience=4.0)
    assert make_policy("taper-online", brief) == Taper(online.worth, online.reserve, online.budget)
    longer = brief_for(study(V=3.0, rounds=500), CONTROL)
    for other in (longer, replace(brief, prices=None)):  # neither of them matters to it
        assert make_policy("buy-cheap-online", other) == online


def test_prices_handed_over_are_those_that_thresholds_are_made_for():
    prices = map(make_prices, (np.full(40, 5.0), np.tile([1.0, 9.0], 20)))
    made = [Schedule(study(policies=("buy-cheap",)), CONTROL, prices=p).policies["buy-cheap"] for p in prices]
    assert made[0].worth != made[1].worth
    assert max(made[0].worth) <= 5.0


def test_the_rule_for_unknown_prices_does_not_ask_for_them_and_the_other_names_it():
    secret = {"mean": 5.5, "depends_on_horizon": False, "digest": "secret"}
    prices = make_prices(Mock(**secret, chunks=Mock(side_effect=AssertionError("asked"))))
    Schedule(study(policies=("buy-cheap-online", "constant")), CONTROL, prices=prices)
    assert "buy-cheap" in refused(Schedule, study(policies=("buy-cheap",)), CONTROL, prices=prices)
    unknown = Brief(study(), study().theory_budget(5.5), CONTROL)
    assert unknown.law is None
    assert "use buy-cheap-online" in refused(make_policy, "buy-cheap", unknown)


def test_a_controller_needs_no_file_of_prices_unless_its_policy_does(tmp_path):
    setting = study()
    setting = replace(setting, cost=replace(setting.cost, process="trace", file=str(tmp_path / "none.csv")))
    server = Controller("buy-cheap-online", setting, mean_cost=5.5)
    server.report(server.decide(2.0))
    assert Controller.from_document(server.document()).round == 2
    assert "cannot be read" in refused(Controller, "buy-cheap", setting, mean_cost=5.5)
    dearer = Controller("buy-cheap", Study(), mean_cost=11)  # which moves its thresholds
    assert dearer.policy.worth == pytest.approx(best_replacement(Uniform(2.0, 20.0), 100, 55).thresholds)
    assert dearer.policy.worth != Controller("buy-cheap", Study()).policy.worth
