"""The best rule for replacing samples: against linear programs, and against enumeration where prices stay.

Against all rules in exact numbers it is a claim."""

from fractions import Fraction as F
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from tests.refused import refused
from theory.market.capacity import age_burden
from theory.market.knapsack import purchase_limit
from theory.market.prices import Atoms, Uniform
from theory.market.replacement import best_replacement, best_rule, least_burden
from theory.market.sticky import best_sticky_replacement, sticky_rule


def programme(law, burdens, share):
    """The least mean burden of all rules at this cost, by a linear programme in π(j), how often a sample has age j, and
    y(j, i), how often it then meets price i and is replaced."""
    ages, m = len(burdens), len(law.prices)
    chance, prices = np.array(law.weights, dtype=float), np.array(law.prices, dtype=float)
    here, last = sparse.eye_array(ages), sparse.coo_array(([1], ([ages - 1], [ages - 1])), (ages, ages))
    older = sparse.eye_array(ages, k=-1) + last  # the last age stands for all later ones
    fresh = sparse.coo_array((np.ones(ages), (np.zeros(ages, int), np.arange(ages))), (ages, ages))
    balance = sparse.hstack([older - here, sparse.kron(fresh - older, [chance])])
    # y(j, i) <= π(j)
    meets = sparse.hstack([-sparse.kron(here, np.ones((m, 1))), sparse.eye_array(ages * m)])
    aims, paid = np.zeros((2, ages + ages * m))
    aims[:ages], paid[ages:] = np.array(burdens, dtype=float), np.tile(chance * prices, ages)
    done = linprog(
        aims,
        A_eq=sparse.vstack([balance, [[1] * ages + [0] * (ages * m)]]).tocsr(),
        b_eq=[0] * ages + [1],
        A_ub=sparse.vstack([meets, [paid]]).tocsr(),
        b_ub=[0] * (ages * m) + [float(share)],
        method="highs",
    )
    assert done.success
    return done.fun


@pytest.mark.parametrize("law", [Uniform(1.0, 10.0), Atoms.of([1.0, 3.0])])
def test_where_no_age_is_worse_nothing_is_replaced(law):
    for burdens in ([3.0], [3.0, 3.0], [-3.0, -3.0]):
        found = best_rule(law, burdens, 2.0)
        assert (found.burden, found.cost) == (burdens[0], 0)


LISTED = {
    "a die": Atoms.of([1, 2, 3, 4, 5, 6]),
    "floats": Atoms.of([0.1, 0.7, 3.3, 9.1]),
    "one price": Atoms.of([0.1]),
    "far apart": Atoms.of([1e-6, 1.0, 1e6]),
    "rarely cheap": Atoms((1, 50), (F(1, 100), F(99, 100))),
}


@pytest.mark.parametrize(("a", "part"), [(F(0), 0.3), (0.7, 0.02), (1 - 1e-9, 0.9), (1, 0.3)])
@pytest.mark.parametrize("name", LISTED)
def test_the_best_replacement_is_the_linear_programme(name, a, part):
    law, places = LISTED[name], 7
    budget = part * places * float(law.mean)
    best = best_replacement(law, places, budget, burden=lambda j: age_burden(j, a))
    ages = 4 * len(best.thresholds) if len(best.thresholds) < 100 else len(best.thresholds)
    expected = programme(law, [age_burden(j, a) for j in range(1, ages + 1)], budget / places)
    assert float(best.burden) == pytest.approx(expected, rel=1e-6)
    assert float(best.cost) == pytest.approx(budget, rel=1e-9)
    assert float(best.rate) <= float(purchase_limit(law, places, budget).rate) * (1 + 1e-9)
    for one in (best.rule, best.cheaper):
        assert all(x <= y * (1 + 1e-9) for x, y in pairwise((*one.thresholds, law.highest)))


def test_burdens_that_settle_may_waver_by_a_rounding():
    burdens = [1.0, 2.9, 3.0, np.nextafter(3.0, 0), 3.0]
    found = least_burden(Atoms.of([1.0, 3.0]), burdens, 0.5)
    assert found[3] == pytest.approx(least_burden(Atoms.of([1.0, 3.0]), [1.0, 2.9, 3.0], 0.5)[3], rel=1e-12)


def test_the_extremes_are_steady_admission():
    for law, more in product((Uniform(1, 10), Atoms.of([5])), (0, 1)):  # all is bought from the mean price on
        best = best_replacement(law, 100, 100 * law.mean + more)
        assert (best.rate, best.burden, best.cost, best.effective_rate) == (100, 1, 100 * law.mean, 100)
        assert best.multiplier == 0  # no more money is of use
    for lifetime in (1, 2, 7, 40):  # one price
        best = best_replacement(Atoms.of([F(3)]), 10, F(30, lifetime))
        assert (best.rate, best.burden) == (F(10, lifetime), lifetime)
    for a in (F(0), 0.0):  # each round forgets the last
        best = best_replacement(Uniform(1.0, 10.0), 100, 1e-9, burden=lambda j, a=a: age_burden(j, a))
        assert (best.burden, best.multiplier) == (1, 0)


@pytest.mark.parametrize("law", [Uniform(1.0, 10.0), Atoms.of([1.0, 2.0, 10.0])])
def test_small_budgets_end_and_too_small_ones_say_so(law):
    rare = best_replacement(law, 100, 1.0)  # a place is paid for once in some hundred rounds
    assert rare.cost == pytest.approx(1, rel=1e-9)
    assert rare.burden > law.lowest / 0.01  # what steady admission at the lowest price would have
    assert "too rarely to tell the best rule" in refused(best_replacement, law, 100, 1e-4)
    settled = best_replacement(law, 100, 1e-4, burden=lambda j: age_burden(j, 0.7))
    assert settled.burden == pytest.approx(1.7 / 0.3, rel=1e-4)


def best_of_all(law, stay, money, ages):
    """The least burden and cost of all rules that may look at age and price, each by its stationary distribution."""
    count, often = len(law.prices), np.array(law.weights, dtype=float)
    moves = stay * np.eye(count) + (1 - stay) * often
    least = np.inf
    for choice in product([True, False], repeat=(ages - 1) * count):
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
