"""Laws of a price: their two numbers by enumeration; and plans of buying cheap against each other."""

from fractions import Fraction as F
from itertools import count, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.refused import refused
from theory.market.cumulative import best_purchases
from theory.market.knapsack import Limit, purchase_limit
from theory.market.long_run import best_plan, burst_plan, online_plan, under
from theory.market.prices import Atoms, Uniform

LISTS = {
    "one price": [3],
    "a die": [1, 2, 3, 4, 5, 6],
    "prices that come twice": [5, 1, F(7, 3), 1, 1, F(7, 3), 40],
    "far apart": [F(1, 10**6), 1, 10**6],
}
THRESHOLDS = [0, F(1, 10**6), F(1, 2), 1, F(7, 3), F(8, 3), 3, 6, F(61, 10), 10**6, 10**7]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_bought_price_by_price_and_who_is_indifferent_gains_what_waiting_costs(name):
    prices = LISTS[name]
    law, mean = Atoms.of(prices), sum(map(F, prices)) / len(prices)

    def gain(at):
        return sum(max(at - F(price), 0) for price in prices) / len(prices)

    assert (law.lowest, law.highest, law.mean) == (min(prices), max(prices), mean)
    for threshold in THRESHOLDS:
        taken = [F(price) for price in prices if price <= threshold]
        assert law.mass(threshold) == F(len(taken), len(prices))
        assert law.spent(threshold) == sum(taken) / len(prices)
        assert threshold * law.mass(threshold) - law.spent(threshold) == gain(threshold)
    assert law.indifferent(0) == law.lowest
    for saving in {F(1, 10**9), F(1, 3), F(5), F(10**7), *map(gain, prices)} - {0}:
        assert gain(law.indifferent(saving)) == saving


def test_rounding_never_leaves_a_list_without_its_lowest_price():
    rng = np.random.default_rng(0)
    for _ in range(300):
        law = Atoms.of(rng.uniform(0.01, 10, rng.integers(1, 8)))
        at = law.indifferent(0.0)
        assert at >= law.lowest
        assert law.mass(at) > 0


def test_even_prices_are_bought_up_to_a_threshold_in_arrays():
    assert Uniform(1.0, 9.0).mass(np.array([0.5, 3.0, 99.0])).tolist() == [0, 0.25, 1]


def test_a_trace_may_be_an_array_of_any_shape():
    expected = Atoms((1.0, 2.0, 5.0), (0.25, 0.5, 0.25))
    assert Atoms.of(np.array([[2.0, 1.0], [2.0, 5.0]])) == Atoms.of([2.0, 1.0, 2.0, 5.0]) == expected
    assert Atoms.of(np.array([1, 2])).weights == (F(1, 2), F(1, 2))
    assert all(isinstance(weight, float) for weight in Atoms.of([1, 2.5]).weights)


def test_a_thinned_law_keeps_the_mean_and_no_more_prices_than_asked_for():
    prices = np.random.default_rng(0).lognormal(size=5000)
    thin, whole = Atoms.thinned(prices, most=250), Atoms.of(prices)
    assert len(thin.prices) == 250
    assert thin.mean == pytest.approx(whole.mean)
    for price in np.quantile(prices, [0.1, 0.5, 0.9]):
        assert thin.mass(price) == pytest.approx(whole.mass(price), abs=1 / 250)
    assert Atoms.thinned(prices[:50], most=250).prices == Atoms.of(prices[:50]).prices


@pytest.mark.parametrize("law", [Uniform(1, 10), Atoms.of([1, 2, 6])])
def test_a_scaled_law_is_the_same_in_another_currency(law):
    other = law.scaled(3)
    assert other.mean == 3 * law.mean
    assert [other.mass(3 * price) for price in (1, 2, 5)] == [law.mass(price) for price in (1, 2, 5)]
    assert other.spent(6) == 3 * law.spent(2)


UNIFORM = Uniform(1.0, 10.0)
LAWS = st.lists(st.integers(1, 30), min_size=1, max_size=6).map(Atoms.of)


@settings(max_examples=15)
@given(LAWS, st.integers(2, 9))
def test_plans_spend_the_budget_and_no_more_is_bought_than_money_buys(law, tenths):
    budget = float(law.mean) * tenths
    best, online = best_plan(law, 10, budget), online_plan(law, 10, budget)
    limit = float(purchase_limit(law, 10, budget).rate)
    for plan in (best, online):
        assert all(share > 0 for share, _ in plan.rules)
        assert plan.cost == pytest.approx(budget, rel=1e-6)
        assert plan.effective_rate <= plan.rate * (1 + 1e-9)
        assert plan.rate <= limit * (1 + 1e-9)
    assert online.effective_rate <= best.effective_rate * (1 + 1e-6)
    assert best.thresholds[0] == best.rules[0][1].thresholds[0] >= best.rules[-1][1].thresholds[0]
    for parts in (1, 2, 3):
        assert burst_plan(law, 10, budget, parts).effective_rate <= best.effective_rate * (1 + 1e-6)


def test_the_plan_for_other_steps_has_less_noise_at_them():
    for a in (0.5, 0.9):
        assert best_plan(UNIFORM, 100, 55, a).noise(a) < best_plan(UNIFORM, 100, 55).noise(a)
    small = best_plan(UNIFORM, 100, 55)
    assert small.noise(1 - 1e-6) * 2 / 1e-6 == pytest.approx(1 / small.effective_rate, rel=1e-3)


def test_ages_are_told_apart_as_far_as_they_occur_and_one_more_at_most():
    once_in_9_4 = under(UNIFORM, [5.0], 10)  # the geometric distribution
    assert once_in_9_4.rules[0][1].mean(count(1)) == pytest.approx(9 / 4, rel=1e-12)
    for plan in (once_in_9_4, online_plan(UNIFORM, 10, 20)):
        for _, rule in plan.rules:
            assert sum(rule.ages) == pytest.approx(1, rel=1e-12)
            assert rule.ages.count(0) <= 1
    assert len(online_plan(Atoms.of([1.0, 1000.0]), 100, 3).thresholds) == 2**14, "older samples share one"
    assert len(under(UNIFORM, [1.009], 10).rules[0][1].ages) == 2**14 + 1, "so does one threshold"


def test_other_prices_meet_the_same_thresholds():
    plan = best_plan(UNIFORM, 100, 55)
    dearer = plan.met_with(Uniform(2.0, 20.0))
    assert dearer.thresholds == plan.thresholds
    assert dearer.rate < plan.rate
    alone = under(dearer.law, plan.rules[0][1].thresholds, 100)
    assert dearer.rules[0][1].ages == alone.rules[0][1].ages != plan.rules[0][1].ages
    assert plan.met_with(UNIFORM).cost == pytest.approx(55)


def test_a_budget_just_below_all_prices_buys_all_but_a_rounding():
    rng = np.random.default_rng(7)
    for _ in range(60):
        law = Atoms.of(rng.uniform(0.1, 3, rng.integers(1, 30)))
        limit = purchase_limit(law, 7.0, np.nextafter(7.0 * law.mean, 0))
        assert (limit.rate, limit.cost) == pytest.approx((7, 7 * law.mean), rel=1e-14)
        assert limit.threshold == law.highest
        assert limit.part == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("law", [Uniform(1, 10), Atoms.of([1, 10])])
def test_from_the_mean_price_on_the_memory_binds_and_all_is_bought_at_any_price(law):
    for budget in (55, 60):
        assert purchase_limit(law, 10, budget) == Limit(10, part=1, rate=10, cost=55, binds="memory")


def best_of(prices, allowed, most=3):
    """The least sum of 1/N of all plans in halves of a sample, after a pilot of one."""
    plans = (np.array(plan) / 2 for plan in product(range(2 * most + 1), repeat=len(prices)))
    return min((1 / (1 + x.cumsum())).sum() for x in plans if (np.cumsum(x * prices) <= allowed).all())


@pytest.mark.parametrize("borrowed", [True, False])
def test_no_plan_in_halves_has_a_lower_cumulative_risk_than_the_best_purchases(borrowed):
    rng = np.random.default_rng(5)
    for _ in range(20):
        prices = rng.integers(1, 9, 4)
        allowed = np.full(4, 20) if borrowed else 5 * np.arange(1, 5)
        bought, total = best_purchases(prices, 3, allowed, pilot=1, within=1e-3)
        assert (np.cumsum(bought * prices) <= allowed + 1e-9).all()
        assert bought.min() >= 0
        assert bought.max() <= 3
        assert total == pytest.approx((1 / (1 + bought.cumsum())).sum())
        assert total <= best_of(prices, allowed) * 1.001
    assert "no plan was found within -1" in refused(best_purchases, [1, 2], 1, [1, 2], 1, within=-1)
