"""The best rule for replacing samples, against linear programs; against all rules in exact numbers it is a claim."""

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


def programme(law, burdens, share):
    """The least mean burden of all rules at this cost, by a linear programme in π(j), how often a sample has age j, and
    y(j, i), how often it then meets price i and is replaced."""
    ages, m = len(burdens), len(law.prices)
    chance, prices = np.array(law.weights, dtype=float), np.array(law.prices, dtype=float)
    here, last = sparse.eye_array(ages), sparse.coo_array(([1], ([ages - 1], [ages - 1])), (ages, ages))
    older = sparse.eye_array(ages, k=-1) + last  # the last age stands for all later ones
    fresh = sparse.coo_array((np.ones(ages), (np.zeros(ages, int), np.arange(ages))), (ages, ages))
    balance = sparse.hstack([older - here, sparse.kron(fresh - older, [chance])])
    meets = sparse.hstack(
        [-sparse.kron(here, np.ones((m, 1))), sparse.eye_array(ages * m)]
    )  # y(j, i) <= π(j)
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
    for burdens in ([3.0], [3.0, 3.0]):
        found = best_rule(law, burdens, 2.0)
        assert (found.burden, found.cost) == (3, 0)


LAWS = {
    "a die": Atoms.of([1, 2, 3, 4, 5, 6]),
    "floats": Atoms.of([0.1, 0.7, 3.3, 9.1]),
    "one price": Atoms.of([0.1]),
    "far apart": Atoms.of([1e-6, 1.0, 1e6]),
    "rarely cheap": Atoms((1, 50), (F(1, 100), F(99, 100))),
}


@pytest.mark.parametrize(("a", "part"), [(F(0), 0.3), (0.7, 0.02), (1 - 1e-9, 0.9), (1, 0.3)])
@pytest.mark.parametrize("name", LAWS)
def test_the_best_replacement_is_the_linear_programme(name, a, part):
    law, places = LAWS[name], 7
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
