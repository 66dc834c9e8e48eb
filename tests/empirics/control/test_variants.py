"""Policies with settings of their own: what they admit, keep and decide with."""

from fractions import Fraction

import numpy as np
import pytest

from empirics.control.controller import Controller
from empirics.control.policy import Policy
from empirics.control.registry import make_policy, register
from empirics.control.schedule import Schedule, brief_for, plan
from tests.empirics.small import CONTROL, refused, study

SWEEP = (1, 2, 3, 5, 7, 10, 14, 16)


class Keeps(Policy):
    """One sample a client and round, kept for a time of its own."""

    retention = 8

    def __init__(self, brief=None, retention=8):
        self.brief, self.retention = brief, retention

    def decide(self, state, cost):
        return state, np.ones((len(cost), 3), dtype=int)


def test_constant_admission_keeps_to_buffers_and_budget_for_every_retention():
    setting = study(policies=("constant",), rounds=200).swept(f"K={','.join(map(str, SWEEP))}")
    schedule, played = plan(setting, CONTROL), Schedule(setting, CONTROL)
    assert played.retention[:: setting.seeds, 0].tolist() == list(SWEEP)
    assert (schedule.occupancy <= np.array(setting.buffers)).all()
    total = schedule.admissions.sum(axis=2)[:, :: setting.seeds]
    for p, K in enumerate(SWEEP):
        rate = min(Fraction(22) / Fraction(11, 2), Fraction(16, K))
        assert rate * Fraction(11, 2) <= 22
        assert abs(int(total[:, p].sum()) - 200 * rate) <= 2


@pytest.mark.parametrize("name", ["constant", "acdpp", "acdpp-capped", "hybrid", "released"])
def test_a_variant_of_K_admits_and_keeps_as_the_policy_does_in_a_study_of_that_K(name):
    common = plan(study(policies=(name,), K=3, hybrid_K=3, released_K=3), CONTROL)
    setting = study(policies=(f"{name}@K=3", f"{name}@K=5"), K=9, hybrid_K=2)
    schedule = plan(setting, CONTROL)
    assert np.array_equal(schedule.admissions[:, :3], common.admissions)
    assert np.array_equal(schedule.occupancy[:, :3], common.occupancy)
    assert not np.array_equal(schedule.occupancy[:, 3:], common.occupancy)


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        ("acdpp", {"rho": 0.5, "V": 300.0, "rate": 3.0}),
        ("acdpp-capped", {"rho": 0.5, "V": 300.0, "rate": 3.0}),
        ("acdpp+K+penalty", {"rho": 0.5, "V": 300.0, "rate": 3.0}),
        ("released-region", {"rho": 0.5, "rate": 3.0}),
        ("buy-cheap", {"V": 300.0}),
        ("buy-cheap-online", {"V": 300.0}),
    ],
)
def test_a_variant_decides_as_the_policy_does_in_a_study_with_its_settings(policy, settings):
    for name, value in settings.items():
        schedule = plan(study(policies=(f"{policy}@{name}={value}", policy), budget=30.0), CONTROL)
        alone = plan(study(policies=(policy,), budget=30.0, **{name: value}), CONTROL)
        assert np.array_equal(schedule.admissions[:, :3], alone.admissions), name
        assert not np.array_equal(schedule.admissions[:, 3:], alone.admissions), name


@pytest.mark.parametrize(
    "policy", ["acdpp", "acdpp-capped", "constant", "hybrid", "released", "buy-cheap", "buy-cheap-online"]
)
def test_a_policy_plans_with_its_own_budget_and_is_held_to_that_of_the_study(policy):
    mine = plan(study(policies=(f"{policy}@budget=15.5",), rounds=40), CONTROL)
    there = plan(study(policies=(policy,), budget=15.5, rounds=40), CONTROL)
    assert np.array_equal(mine.admissions, there.admissions)
    assert not np.array_equal(mine.admissions, plan(study(policies=(policy,), rounds=40), CONTROL).admissions)
    spent = mine.cost * mine.admissions.sum(axis=2)
    for budget, found in ((22.0, mine.debt), (15.5, there.debt)):
        debt = np.zeros(3)
        for t in range(40):
            assert found[t] == pytest.approx(debt)
            debt = np.maximum(debt + spent[t] - budget, 0)


def test_a_policy_finds_its_own_budget_in_its_brief_and_a_given_one_stays_where_it_has_none():
    brief = brief_for(study(), CONTROL)
    assert brief.of_policy("constant@budget=35.5").budget.cost == Fraction(71, 2)
    assert brief.of_policy("constant@budget=35.5").study.budget == 35.5
    assert brief.of_policy("constant@K=3").budget is brief.budget
    server = Controller("acdpp@budget=35.5", study(), constants=CONTROL)
    granted = server.decide(4.0)
    server.report(granted)
    assert server.books.debt == 4.0 * granted.sum() - 22.0


def test_acdpp_decides_with_its_own_steps():
    setting = study(policies=("acdpp", "acdpp@eta=0.1", "acdpp@steps=7", "acdpp@eta=0.5,steps=3"))
    brief = brief_for(setting, CONTROL)
    sizes = [make_policy(name, brief).constants.eta for name in setting.policies]
    assert sizes == [CONTROL.eta, pytest.approx(0.3), 3.5, CONTROL.eta]
    assert all(make_policy(name, brief).constants.E == 1 for name in setting.policies)


def test_a_retention_that_a_policy_does_not_take_is_refused():
    own = {"mine": Keeps, "other": lambda brief: Keeps(retention=brief.K)}
    for name, wanted in {
        "oracle@K=5": "oracle keeps samples for 1 round whatever K is: take K out of",
        "mine@K=5": "mine keeps samples for 8 rounds whatever K is",
    }.items():
        assert wanted in refused(Schedule, study(policies=(name,)), CONTROL, policies=own)
    names = ("mine@K=8", "other@K=5", "oracle@K=1", "mine@eta=0.1")
    played = Schedule(study(policies=names), CONTROL, policies=own)
    assert played.retention[::3, 0].tolist() == [8, 5, 1, 8]
    assert played.policies["mine@eta=0.1"].brief.study.eta == 0.1


def test_a_policy_of_ones_own_is_found_by_its_plain_name_and_has_no_mark_in_it():
    brief = brief_for(study(), CONTROL)
    assert "without a colon or @" in refused(register, "me@home", Keeps)
    assert "needs a name without @" in refused(make_policy, "constant", brief, {"me@home": Keeps})
    assert "there is no policy 'constnt': known are acdpp" in refused(make_policy, "constnt@K=5", brief)


def test_a_controller_takes_a_variant_and_is_saved_with_it():
    server, same = Controller("constant@K=2", study()), Controller("constant", study(K=2))
    for price in (3.0, 8.0, 2.0):
        assert np.array_equal(server.decide(price), same.decide(price))
    assert server.retention.tolist() == [2, 2, 2]
    again = Controller.from_document(server.document())
    assert np.array_equal(again.decide(5.0), server.decide(5.0))
    assert Controller("mine@eta=0.1", study(), own=Keeps).policy.brief.study.eta == 0.1
