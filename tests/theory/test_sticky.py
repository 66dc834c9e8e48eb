"""Prices that stay: the best rule against enumeration, and against independent prices."""

import itertools

import numpy as np
import pytest

from theory.market.prices import Atoms
from theory.market.replacement import best_replacement
from theory.market.sticky import best_sticky_replacement, sticky_rule


def best_of_all(law, stay, money, ages):
    """The least burden and cost of all rules that may look at age and price, each by its stationary distribution."""
    count, often = len(law.prices), np.array(law.weights, dtype=float)
    moves = stay * np.eye(count) + (1 - stay) * often
    least = np.inf
    for choice in itertools.product([True, False], repeat=(ages - 1) * count):
        replaces = np.vstack([np.reshape(choice, (ages - 1, count)), np.ones((1, count), dtype=bool)])
        step = np.zeros((ages * count, ages * count))
        value = np.zeros(ages * count)
        for j, i in np.ndindex(ages, count):
            k = 0 if replaces[j, i] else j + 1
            step[j * count + i, k * count : (k + 1) * count] = moves[i]
            value[j * count + i] = 2 * (k + 1) - 1 + money * law.prices[i] * replaces[j, i]
        state = np.linalg.matrix_power(0.5 * (step + np.eye(len(step))), 2**12)[0]
        least = min(least, state @ value)
    return least


@pytest.mark.parametrize(("stay", "money"), [(0.0, 3.0), (0.6, 1.0), (0.9, 8.0)])
def test_no_rule_beats_the_best_one(stay, money):
    law, ages = Atoms.of([1.0, 2.5, 4.0]), 4
    best = sticky_rule(law, stay, money, ages)
    assert best.burden + money * best.cost == pytest.approx(best_of_all(law, stay, money, ages), rel=1e-6)


@pytest.mark.parametrize("stay", [0.0, 0.5])
def test_one_price_is_paid_every_so_many_rounds(stay):
    for money in (0, 1, 2.5, 41):
        best = sticky_rule(Atoms.of([3.0]), stay, money, ages=16)
        assert best.burden + money * best.cost == pytest.approx(min(L + money * 3 / L for L in range(1, 17)))
    for lifetime in (2, 7, 16):
        found = best_sticky_replacement(Atoms.of([3.0]), stay, 10, 30 / lifetime, ages=16)
        assert found == pytest.approx((10 / lifetime, 10 / lifetime))


@pytest.mark.parametrize("currency", [1e-9, 1e9])
def test_the_currency_does_not_matter_and_a_budget_for_every_round_buys_everything(currency):
    law = Atoms.of([1.0, 3.0])
    found = best_sticky_replacement(law.scaled(currency), 0.5, 10, 8 * currency, ages=16)
    assert found == pytest.approx(best_sticky_replacement(law, 0.5, 10, 8, ages=16))
    assert best_sticky_replacement(law.scaled(currency), 0.5, 10, 30 * currency) == (10.0, 10.0)


@pytest.mark.parametrize(("prices", "budget"), [(range(1, 6), 55), ([2, 3, 9, 9], 120)])
def test_without_stickiness_it_is_the_rule_for_independent_prices(prices, budget):
    law = Atoms.of(prices)
    independent = best_replacement(law, 100, budget)
    effective, rate = best_sticky_replacement(law, 0.0, 100, budget, ages=40)
    assert effective == pytest.approx(float(independent.effective_rate), rel=1e-6)
    assert rate == pytest.approx(float(independent.rate), rel=1e-4)


@pytest.mark.parametrize("money", [1, 2, 4, 8])
def test_what_one_rule_costs_buys_what_that_rule_brings_and_a_little_less_hardly_less(money):
    law = Atoms.of([1, 3])
    rule = sticky_rule(law, 0.5, money, ages=16)
    for part in (1 + 1e-9, 1 - 1e-9):
        _, rate = best_sticky_replacement(law, 0.5, 10, 10 * rule.cost * part, ages=16)
        assert rate == pytest.approx(10 * rule.renewals, rel=1e-7)
