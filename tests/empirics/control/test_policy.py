"""Admissions of policies, by themselves and with settings of their own: whole samples, as theory decides."""

from fractions import Fraction

import numpy as np
import pytest

from empirics import Controller
from empirics.control.registry import make_policy, register
from empirics.control.released import script_for
from empirics.control.schedule import Schedule, brief_for, plan
from tests.empirics.small import CONTROL, Steady, refused, study
from theory.setting import Constants


def schedule_of(policy, **given):
    return plan(study(policies=(policy,), **given), CONTROL)


def test_the_oracle_fills_its_buffers_in_every_round_and_the_capped_policy_in_the_first():
    oracle, capped, full = schedule_of("oracle"), schedule_of("acdpp-capped", rounds=120), np.array([4, 5, 7])
    assert (oracle.admissions == full).all()
    assert (oracle.occupancy == full).all()
    assert (capped.occupancy[0] == full).all()
    assert (capped.occupancy <= full).all()


def test_the_only_client_of_hybrid_admits_constantly():
    played = plan(study(policies=("hybrid", "constant"), buffers=(7,), K=3, hybrid_K=3), CONTROL)
    assert np.array_equal(*np.split(played.admissions, 2, axis=1))


# what each script has for Pdim, V, η̃, ρ and the cap
NUMBERS = {
    "mnist": (100, 1000, 0.5, 0.999, 50),
    "cifar10": (1024, 10000, 0.005, 0.999, 100),
    "imagenette": (1024, 3000, 0.0005, 0.999999, 1000),
}
NUMBERS["digits"] = NUMBERS["mnist"]  # as any other data set


@pytest.mark.parametrize("dataset", NUMBERS)
def test_the_released_rule_admits_at_least_one_sample_a_client_and_at_most_its_cap(dataset):
    Pdim, V, eta, rho, cap = NUMBERS[dataset]
    script = script_for(dataset)
    assert script.constants == Constants(D=1000, sigma=10, eta=eta, B=1000, Pdim=Pdim)
    assert (script.V, script.region.rho, script.cap) == (V, rho, cap)
    played = Schedule(study(policies=("released",), dataset=dataset), CONTROL)
    admissions = played.advance(30).admissions
    assert admissions.min() >= 1
    # no debt in round 1, so that as much as may be is admitted; each client rounds by itself
    assert abs(admissions[0].sum(axis=1) - cap).max() <= 1.5 + 0.1
    assert admissions.sum(axis=2).max() <= cap + 1.5
    assert (played.retention == 6).all()


ALL, ONE, KEPT = {"rho": 0.5, "V": 300.0, "rate": 3.0}, {"V": 300.0}, {"K": 2**53}  # beyond any study
SETTINGS = dict.fromkeys(["acdpp", "acdpp-capped"], ALL | KEPT) | {"acdpp+K+penalty": ALL}
SETTINGS |= dict.fromkeys(["buy-cheap", "buy-cheap-online"], ONE)
SETTINGS |= dict.fromkeys(["constant", "hybrid"], KEPT) | {"released": {"K": 2**53}}
SETTINGS["released-region"] = {"rho": 0.5, "rate": 3.0}


@pytest.mark.parametrize("policy", SETTINGS)
def test_a_variant_admits_and_keeps_as_the_policy_does_in_a_study_with_its_settings(policy):
    for name, value in SETTINGS[policy].items():
        schedule = plan(study(policies=(f"{policy}@{name}={value}", policy), budget=30.0), CONTROL)
        own = ("K", "hybrid_K", "released_K") if name == "K" else (name,)
        alone = schedule_of(policy, budget=30.0, **dict.fromkeys(own, value))
        assert np.array_equal(schedule.admissions[:, :3], alone.admissions), name
        assert np.array_equal(schedule.occupancy[:, :3], alone.occupancy), name
        changed = "occupancy" if name == "K" else "admissions"
        assert not np.array_equal(getattr(schedule, changed)[:, 3:], getattr(alone, changed)), name


@pytest.mark.parametrize("policy", SETTINGS)
def test_a_policy_plans_with_its_own_budget_and_is_held_to_that_of_the_study(policy):
    poor = 10.5  # for the released code, whose K is 6, buffers bind and not money from 14.7 on
    mine = schedule_of(f"{policy}@budget={poor}", rounds=40)
    there = schedule_of(policy, budget=poor, rounds=40)
    assert np.array_equal(mine.admissions, there.admissions)
    assert not np.array_equal(mine.admissions, schedule_of(policy, rounds=40).admissions)
    spent = mine.cost * mine.admissions.sum(axis=2)
    for budget, found in ((22.0, mine.debt), (poor, there.debt)):
        debt = np.zeros(3)
        for t in range(40):
            assert found[t] == pytest.approx(debt)
            debt = np.maximum(debt + spent[t] - budget, 0)


def test_a_policy_finds_its_own_budget_and_steps_in_its_brief_and_given_ones_where_it_has_none():
    brief = brief_for(study(), CONTROL)
    assert brief.of_policy("constant@budget=35.5").budget.cost == Fraction(71, 2)
    assert brief.of_policy("constant@budget=35.5").study.budget == 35.5
    assert brief.of_policy("constant@K=3").budget is brief.budget
    names = ("acdpp", "acdpp@eta=0.1", "acdpp@steps=7", "acdpp@eta=0.5,steps=3")
    constants = [make_policy(name, brief).constants for name in names]
    assert [one.eta for one in constants] == [CONTROL.eta, pytest.approx(0.3), 3.5, CONTROL.eta]
    assert all(one.E == 1 for one in constants)
    again, same = Controller("constant@K=2", study()), Controller("constant", study(K=2))
    for price in (3.0, 8.0, 2.0):
        again = Controller.from_document(again.document())
        assert np.array_equal(again.decide(price), same.decide(price))
    assert again.retention.tolist() == [2, 2, 2]
    server = Controller("acdpp@budget=35.5", study(), constants=CONTROL)
    granted = server.decide(4.0)
    server.report(granted)
    assert server.books.debt == 4.0 * granted.sum() - 22.0


def test_a_retention_that_a_policy_does_not_take_is_refused():
    def mine(brief):
        return Steady(1, 1, 1, retention=8 if brief.study.eta > 0.1 else 7)

    own = {"mine": mine, "other": lambda brief: Steady(1, 1, 1, retention=brief.K)}
    for name, wanted in {
        "oracle@K=5": "oracle keeps samples for 1 round whatever K is: take K out of",
        "mine@K=5": "mine keeps samples for 8 rounds whatever K is",
        "buy-cheap@K=5": "until newer ones need their place whatever K is",
        "buy-cheap-online@K=5": "until newer ones need their place whatever K is",
    }.items():
        assert wanted in refused(Schedule, study(policies=(name,)), CONTROL, policies=own)
    for kept in ((3, 0, 2), (3, 2), 1.5):
        told = refused(
            Schedule, study(policies=("mine",)), CONTROL, policies={"mine": Steady(1, 1, 1, retention=kept)}
        )
        assert "of at least 1, or one such number for each of the 3 clients" in told
    names = ("mine@K=8", "other@K=5", "oracle@K=1", "mine@eta=0.1")
    played = Schedule(study(policies=names), CONTROL, policies=own)
    assert played.retention[::3, 0].tolist() == [8, 5, 1, 7]  # the last from the study with its own setting


def test_a_policy_of_ones_own_has_a_plain_name_that_nobody_else_has():
    brief, mine = brief_for(study(), CONTROL), Steady(1, 1, 1)
    for name in ("constant", "acdpp+cap"):
        assert "needs a new name" in refused(register, name, mine)
    assert "without a colon or @" in refused(register, "me@home", mine)
    for name, wanted in {"me@home": "a name without @", "released-K": "'released-K' is a built-in"}.items():
        assert wanted in refused(make_policy, "constant", brief, {name: mine})
    assert isinstance(make_policy("released-mine", brief, {"released-mine": mine}), Steady)
    assert "there is no policy 'constnt': known are acdpp" in refused(make_policy, "constnt@K=5", brief)
