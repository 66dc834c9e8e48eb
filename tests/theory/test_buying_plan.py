"""What buying cheap comes to: against playing the rules round by round, and against each other."""

from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.buying_plan import best_plan, burst_plan, online_plan, under
from theory.capacity import age_burden, noise_by_age
from theory.knapsack import purchase_limit
from theory.law import by_capacity, squared_weights
from theory.prices import Atoms, Uniform

UNIFORM = Uniform(1.0, 10.0)
LAWS = st.lists(st.integers(1, 30), min_size=1, max_size=6).map(Atoms.of)


def played(thresholds, prices, places):
    """Rate, effective rate and cost of replacing everything at these thresholds, round by round."""
    age, bought, spent, burden = 0, 0, 0.0, 0
    for price in prices:
        if age == 0 or price <= thresholds[min(age, len(thresholds)) - 1]:
            age, bought, spent = 0, bought + places, spent + places * price
        age += 1
        burden += 2 * age - 1
    return bought / len(prices), places * len(prices) / burden, spent / len(prices)


@pytest.mark.parametrize("make", [best_plan, online_plan])
def test_a_plan_is_what_playing_it_brings(make):
    plan = make(UNIFORM, 100, 55)
    prices = np.random.default_rng(2).uniform(1, 10, 100_000)
    rate, effective, cost = played(plan.rules[0][1].thresholds, prices, 100)
    assert (plan.rate, plan.effective_rate, plan.cost) == pytest.approx((rate, effective, cost), rel=0.01)


@settings(max_examples=15)
@given(LAWS, st.integers(2, 9))
def test_plans_spend_the_budget_and_no_more_is_bought_than_money_buys(law, tenths):
    budget = float(law.mean) * tenths
    best, online = best_plan(law, 10, budget), online_plan(law, 10, budget)
    limit = float(purchase_limit(law, 10, budget).rate)
    for plan in (best, online):
        assert plan.cost == pytest.approx(budget, rel=1e-6)
        assert plan.effective_rate <= plan.rate * (1 + 1e-9)
        assert plan.rate <= limit * (1 + 1e-9)
    assert online.effective_rate <= best.effective_rate * (1 + 1e-6)
    for parts in (1, 2, 3):
        assert burst_plan(law, 10, budget, parts).effective_rate <= best.effective_rate * (1 + 1e-6)


def test_the_plan_for_other_steps_has_less_noise_at_them():
    for a in (0.5, 0.9):
        assert best_plan(UNIFORM, 100, 55, a).noise(a) < best_plan(UNIFORM, 100, 55).noise(a)
    small = best_plan(UNIFORM, 100, 55)
    assert small.noise(1 - 1e-6) * 2 / 1e-6 == pytest.approx(1 / small.effective_rate, rel=1e-3)


def test_noise_is_the_laws():
    """All ten places replaced every third round: ages 1, 2, 3 by turns."""
    plan = under(Atoms.of([1]), [0, 0, 1], places=10)
    admissions = [10 if t % 3 == 0 else 0 for t in range(90)]
    law = squared_weights(by_capacity(admissions, 10), 0.8, 90)[-3:].mean()
    assert plan.noise(0.8) == pytest.approx(law)
    burden = sum(age_burden(age, Fraction(4, 5)) for age in (1, 2, 3)) / 3
    assert plan.noise(0.8) == pytest.approx(float(noise_by_age(10, burden, Fraction(4, 5))))


def test_ages_are_told_apart_as_far_as_they_occur_and_one_more_at_most():
    once_in_9_4 = under(UNIFORM, [5.0], 10)  # the geometric distribution
    assert once_in_9_4.rules[0][1].mean(count(1)) == pytest.approx(9 / 4, rel=1e-12)
    for plan in (once_in_9_4, online_plan(UNIFORM, 10, 20)):
        for _, rule in plan.rules:
            assert sum(rule.ages) == pytest.approx(1, rel=1e-12)
            assert rule.ages.count(0) <= 1


def test_the_thresholds_of_a_plan_end_where_they_stay():
    assert under(UNIFORM, [2.0, 3.0, 5.0, 5.0], 10).thresholds == (2, 3, 5)


def test_other_prices_meet_the_same_thresholds():
    plan = best_plan(UNIFORM, 100, 55)
    dearer = plan.met_with(Uniform(2.0, 20.0))
    assert dearer.thresholds == plan.thresholds
    assert dearer.rate < plan.rate
    assert plan.met_with(UNIFORM).cost == pytest.approx(55)
