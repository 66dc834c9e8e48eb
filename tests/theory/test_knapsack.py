"""The knapsack's limit against linear programs, and its bound against every purchase that the budget allows."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

from theory.knapsack import purchase_bound, purchase_limit, uniform_rate, uniform_threshold
from theory.prices import Atoms, Uniform
from theory.setting import SettingError

F = Fraction


def programme(law, places, budget):
    """The largest mean purchase, x(c) in [0, S] at each price: a linear program."""
    weights, prices = np.array(law.weights, dtype=float), np.array(law.prices, dtype=float)
    done = linprog(-weights, A_ub=[weights * prices], b_ub=[budget], bounds=(0, places), method="highs")
    assert done.success
    return -done.fun


def test_the_limit_is_the_linear_programme_of_random_lists():
    rng = np.random.default_rng(1)
    for _ in range(20):
        law = Atoms.of(np.exp(rng.uniform(-3, 3, rng.integers(1, 12))))
        places = float(rng.integers(1, 50))
        budget = places * law.mean * rng.uniform(0.01, 1.3)
        limit = purchase_limit(law, places, budget)
        assert limit.rate == pytest.approx(programme(law, places, budget), rel=1e-9)
        assert limit.binds == ("memory" if budget >= places * law.mean else "money")


def test_threshold_and_part_buy_the_rate_at_the_cost():
    rng = np.random.default_rng(2)
    for _ in range(30):
        prices = [F(int(x), 7) for x in rng.integers(1, 30, rng.integers(1, 9))]
        law, places = Atoms.of(prices), int(rng.integers(1, 9))
        budget = places * law.mean * F(int(rng.integers(1, 26)), 20)
        limit = purchase_limit(law, places, budget)
        bought = [
            places * (limit.part if price == limit.threshold else price < limit.threshold) for price in prices
        ]
        assert limit.rate == F(sum(bought)) / len(prices)
        assert limit.cost == sum(map(F, (x * price for x, price in zip(bought, prices, strict=True)))) / len(
            prices
        )
        assert limit.cost == min(budget, places * law.mean)
        assert 0 <= limit.part <= 1


def test_all_that_fits_is_bought_once_the_budget_pays_for_it():
    law = Atoms.of([1, 2, 6])
    for budget in (18, 19, 1000):
        limit = purchase_limit(law, 6, budget)
        assert (limit.threshold, limit.part, limit.rate, limit.cost, limit.binds) == (6, 1, 6, 18, "memory")
    assert purchase_limit(law, 6, F(1799, 100)).binds == "money"
    assert purchase_limit(Uniform(1, 10), 100, 550) == purchase_limit(Uniform(1, 10), 100, 10**9)


@pytest.mark.parametrize(("low", "share"), [(1.0, 0.001), (1.0, 0.55), (3.0, 5.4)])
def test_the_limit_of_even_prices_is_that_of_fine_lists(low, share):
    n, law = 5000, Uniform(low, low + 9)
    fine = Atoms.of(low + 9 * (np.arange(n) + 0.5) / n)
    limit, near = (purchase_limit(one, 100, 100 * share) for one in (law, fine))
    # the list's rate, over the budget, is a chord of the law's from each cell's edge to the next
    assert -1e-9 <= limit.rate - near.rate <= 100 * 9 / (8 * n**2) + 1e-9
    assert limit.threshold == pytest.approx(near.threshold, abs=9 / n)
    assert limit.rate == pytest.approx(100 * law.mass(limit.threshold), rel=1e-9)
    assert 100 * law.spent(limit.threshold) == pytest.approx(limit.cost, rel=1e-9)
    assert (limit.cost, limit.part) == (100 * share, 1)


def test_even_prices_meet_the_paper_budgets_exactly():
    assert uniform_threshold(1, 10, F(4, 3)) == 5
    assert uniform_rate(1, 10, 3, 4) == F(4, 3)
    assert uniform_rate(1, 10, 100, 55) == 100 * (sp.sqrt(sp.Rational(109, 10)) - 1) / 9
    assert purchase_limit(Uniform(1, 10), 3, 4) == purchase_limit(Uniform(F(1), F(10)), F(3), F(4))


def test_the_bound_is_attained_at_one_over_the_threshold():
    rng = np.random.default_rng(4)
    for _ in range(20):
        T, places = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        prices = [F(int(x), 3) for x in rng.integers(1, 12, T)]
        budget = F(int(rng.integers(1, 20)), 4)
        limit = purchase_limit(Atoms.of(prices), places, budget)
        multiplier = 1 / F(limit.threshold) if limit.binds == "money" else F(0)
        assert purchase_bound(prices, places, budget, multiplier) == T * limit.rate


def test_a_budget_just_below_all_prices_buys_all_but_a_rounding():
    rng = np.random.default_rng(7)
    for _ in range(60):
        law = Atoms.of(rng.uniform(0.1, 3, rng.integers(1, 30)))
        limit = purchase_limit(law, 7.0, np.nextafter(7.0 * law.mean, 0))
        assert limit.rate == pytest.approx(7, rel=1e-14)
        assert limit.cost == pytest.approx(7 * law.mean, rel=1e-14)
        assert limit.threshold == law.highest
        assert limit.part == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: purchase_limit(Uniform(1, 10), 0, 5), "the places must be a positive"),
        (lambda: purchase_limit(Uniform(1, 10), 5, -5), "the cost budget C must be a positive"),
        (lambda: purchase_limit(Atoms.of([1]), 5, float("inf")), "the cost budget C"),
        (lambda: purchase_limit(Stranger(), 5, 5), "known for uniform prices and for lists"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()


class Stranger:
    mean = 10
