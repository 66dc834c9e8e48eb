"""The search for the best K: the signs its block bounds rest on, the block bounds, and every K tried one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.constant_admission import constant_bound, constant_round
from theory.design import best_rate, fill_ratio
from theory.design_search import Search
from theory.reuse import inverse_effective_constant, mismatch_constant
from theory.setting import Budget, Constants

MNIST = Budget(buffers=(8, 9, 10, 11, 12) * 2, cost=55, mean_cost=Fraction(11, 2))
UNEVEN = Budget(buffers=(10, 11), cost=10, mean_cost=1)
CHEAP = Budget(buffers=(10,), cost=100, mean_cost=1)
DEAR = Budget(buffers=(4000,), cost=1, mean_cost=Fraction(1, 2))
K, t = sympy.symbols("K t", positive=True)
j, i = sympy.symbols("j i", nonnegative=True)

budgets = st.builds(
    Budget,
    buffers=st.lists(st.integers(1, 30), min_size=1, max_size=3).map(tuple),
    cost=st.integers(1, 30),
    mean_cost=st.sampled_from([Fraction(1), Fraction(11, 2), Fraction(60), Fraction(1, 50)]),
)
magnitudes = st.floats(-6, 6).map(lambda e: 10**e)
constants = st.builds(
    Constants,
    D=magnitudes,
    sigma=st.just(1),
    eta=magnitudes,
    B=magnitudes,
    Pdim=st.sampled_from([1, 5, 50, 1000]),
)


def search(budget: Budget, T: int, c: Constants) -> Search:
    return Search(budget, fill_ratio(budget), T, c)


# --- the proof, step by step -------------------------------------------------------------------------------


def before(expression: Any) -> Any:
    """A formula of the theory for K <= t."""
    return expression.xreplace({sympy.Min(K, t): K})


def is_never_negative(expression: Any, least: int) -> bool:
    """Whether all coefficients in K - least >= 0 and t - K >= 0 are positive: then it is, for K <= t."""
    shifted = sympy.factor(expression.subs(t, K + i).subs(K, least + j))
    parts = [sympy.Poly(sympy.expand(part), j, i) for part in sympy.fraction(shifted)]
    return all(coefficient >= 0 for part in parts for coefficient in part.coeffs())


u = before(K * mismatch_constant(K, t, 1))
w = before(inverse_effective_constant(K, t, 1))
v = K * w
SIGNS = {
    "(1) u is concave": (-sympy.diff(u, K, 2), 1),
    "(2) w rises": (sympy.diff(w, K), 1),
    "(3) the root of v is concave": (sympy.diff(v, K) ** 2 - 2 * v * sympy.diff(v, K, 2), 1),
    "(4) w is concave in K²": (sympy.diff(w, K) - K * sympy.diff(w, K, 2), 2),
    "tw < 4/3, at K = t and so before": ((Fraction(4, 3) - t * w.subs(K, t)).subs(t, K), 1),
    "χ at a fixed K rises in t": (sympy.diff(u, t), 1),
}


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_holds_for_all_real_retentions_up_to_the_round(name: str) -> None:
    assert is_never_negative(*SIGNS[name])


def test_a_sign_that_fails_is_not_proved() -> None:
    assert not is_never_negative(SIGNS["(4) w is concave in K²"][0], least=1)
    assert not is_never_negative(-sympy.diff(w, K, 2), least=2)


def test_the_second_derivative_of_the_generalisation_term_is_the_one_of_the_proof() -> None:
    corner, root = sympy.Symbol("corner", positive=True), sympy.Function("f", positive=True)(K)  # f = √v
    level = 1 + sympy.log(corner / K)
    elasticity = 2 * K * sympy.diff(root, K) / root
    rest = root / (K**2 * sympy.sqrt(level)) * (sympy.Rational(1, 2) - elasticity / 2 - 1 / (4 * level))
    claimed = sympy.sqrt(level) * sympy.diff(root, K, 2) + rest
    assert sympy.simplify(sympy.diff(root * sympy.sqrt(level), K, 2) - claimed) == 0


def test_how_far_root_and_linear_terms_turn_up_in_the_round_of_the_retention() -> None:
    left, here = (3 * u.subs({K: k, t: K}, simultaneous=True) for k in (K - 1, K))
    right = (
        3 * (K + 1) * mismatch_constant(K, K, 1).subs(sympy.Min(K, K), K)
    )  # beyond t, χ = (K+1)/(St)·(its nχ)
    assert sympy.simplify(left - K * (K + 10) / (K + 2) ** 2) == 0
    assert sympy.simplify(here - (K - 1) / (K + 1)) == 0
    assert sympy.simplify(right - (K - 1) / K) == 0
    assert is_never_negative(8 / K - (left - here), least=2)
    assert is_never_negative(1 / K - (right - here), least=2)
    # √a - √b = (a - b) / (√a + √b), and √left >= 1, √right >= √here >= here
    assert is_never_negative(left - 1, least=2)
    assert is_never_negative(right - here, least=2)
    assert is_never_negative(4 / K * (1 + here) - (left - here), least=2)
    assert is_never_negative(1 / (2 * K) * 2 * here - (right - here), least=2)


# --- single rounds, in forty digits ------------------------------------------------------------------------


def second_difference(values: list[Any], at: list[Any]) -> Any:
    """The middle value below its chord, as a slope's change: positive for a convex function."""
    a, b, c = at
    return (values[2] - values[1]) / (c - b) - (values[1] - values[0]) / (b - a)


@given(st.integers(2, 400), st.integers(1, 900), st.integers(1, 100), constants)
def test_with_full_buffers_a_round_is_concave_but_at_its_corners(
    K: int, t: int, S: int, c: Constants
) -> None:
    with mpmath.workdps(40):
        precise = c.map(mpmath.mpf)
        around = [mpmath.mpf(k) for k in (K - 1, K, K + 1)]
        rounds = [constant_round(k, mpmath.mpf(t), S / k, precise) for k in around]
        optimisation = second_difference([r.root + r.linear for r in rounds], around)
        third = second_difference([r.generalisation for r in rounds], around)
        turn = (c.D * mpmath.sqrt(mpmath.mpf(27) / (4 * S)) + c.eta * mpmath.mpf(3) / S) / K
        corner = mpmath.mpf(S * t) / c.Pdim
        assert optimisation <= (turn if t == K else 0) + mpmath.mpf(10) ** -30
        assert third <= (6 * c.B / corner if K - 1 < corner < K + 1 else 0) + mpmath.mpf(10) ** -30


@given(st.integers(3, 400), st.integers(1, 900), constants)
def test_at_a_fixed_rate_a_round_is_concave_in_its_own_variables(K: int, t: int, c: Constants) -> None:
    with mpmath.workdps(40):
        around = [mpmath.mpf(k) for k in (K - 1, K, K + 1)]
        rounds = [constant_round(k, mpmath.mpf(t), mpmath.mpf(3), c.map(mpmath.mpf)) for k in around]
        if t != K:
            inverse = [-1 / k for k in around]
            assert second_difference([r.root + r.linear for r in rounds], inverse) <= mpmath.mpf(10) ** -30
        squares = [k * k for k in around]
        assert second_difference([r.generalisation for r in rounds], squares) <= mpmath.mpf(10) ** -30


@given(st.integers(1, 40), st.integers(1, 90), constants)
def test_how_the_terms_of_a_round_move_with_the_retention(K: int, t: int, c: Constants) -> None:
    def at(K: int, rate: float) -> tuple[float, float]:
        terms = constant_round(K, np.float64(t), rate, c)
        return float(terms.root + terms.linear), float(terms.generalisation)

    slack = 1 + 1e-12
    (here, spread), (next_here, next_spread) = at(K, 3.0), at(K + 1, 3.0)
    assert next_here <= here * slack + 1e-300
    assert spread <= next_spread * slack
    (full, full_spread), (next_full, next_full_spread) = at(K, 100 / K), at(K + 1, 100 / (K + 1))
    assert full_spread <= next_full_spread * slack
    if t >= K + 1:
        assert next_full <= full * slack
    if t <= K:
        assert full <= next_full * slack


# --- blocks ------------------------------------------------------------------------------------------------


def assert_below(finder: Search, first: int, last: int, inside: list[int]) -> None:
    least = finder.least(first, last)
    for K in inside:
        terms, error = finder.terms(K)
        assert least <= float(terms.total) + 4 * error, (first, K, last)


@settings(max_examples=150)
@given(budgets, st.integers(2, 70), constants, st.data())
def test_no_bound_in_a_block_is_below_the_bound_on_the_block(
    budget: Budget, T: int, c: Constants, data: st.DataObject
) -> None:
    finder = search(budget, T, c)
    edge = int(finder.fill)
    sides = [(low, high) for low, high in ((2, min(edge, T)), (edge + 1, T)) if low < high]
    for low, high in sides:
        first = data.draw(st.integers(low, high - 1))
        last = data.draw(st.integers(first + 1, high))
        assert_below(finder, first, last, list(range(first, last + 1)))


@settings(max_examples=60)
@given(
    st.sampled_from([MNIST, UNEVEN, CHEAP, DEAR]),
    st.sampled_from([10**3, 10**6, 10**9, 10**12]),
    st.floats(-3, 12).map(lambda e: 10**e),
    st.data(),
)
def test_nor_in_the_long_blocks_of_a_long_horizon(
    budget: Budget, T: int, tilt: float, data: st.DataObject
) -> None:
    finder = search(
        budget, T, Constants(D=tilt, sigma=1, eta=0.1, B=1, Pdim=data.draw(st.integers(1, 10**4)))
    )
    edge = int(finder.fill)
    low, high = data.draw(st.sampled_from([s for s in ((2, min(edge, T)), (edge + 1, T)) if s[0] < s[1]]))
    reach = np.log(high / low)
    first = min(int(low * np.exp(data.draw(st.floats(0, 1)) * reach)), high - 1)
    last = min(first + 2 + int(first * 10 ** data.draw(st.floats(-9, 2))), high)
    parts = np.linspace(0, 1, 6)
    assert_below(finder, first, last, sorted({first + round((last - first) * p) for p in parts}))


FEW = st.one_of(
    st.just(0), st.integers(0, 40)
)  # rounds beyond the block: the fewer, the less makes up for corners


@settings(max_examples=200)
@given(st.integers(1, 30), st.integers(2, 30), FEW, st.integers(1, 30), constants)
def test_where_buffers_bind_no_round_sinks_more_than_the_curvature_grants(
    first: int, width: int, beyond: int, S: int, c: Constants
) -> None:
    last = first + width
    T = last + beyond
    finder = search(Budget(buffers=(S,), cost=S, mean_cost=Fraction(1, 2)), T, c)
    t, retentions = np.arange(1, T + 1.0), np.arange(first, last + 1.0)
    rounds = [constant_round(K, t, S / K, finder.constants) for K in retentions]
    granted = finder.curvature(first, last) * (retentions - first) * (last - retentions) / 2
    below = np.zeros(len(retentions))
    for part in (np.array([r.root + r.linear for r in rounds]), np.array([r.generalisation for r in rounds])):
        share = ((retentions - first) / width)[:, np.newaxis]
        chord = (1 - share) * part[0] + share * part[-1]
        below += np.maximum(chord - part, 0).sum(axis=1)  # what other rounds have to spare is not counted
    noise = 1e-13 * sum(float(np.max(r.total)) for r in rounds) * T
    assert (below <= granted + noise).all()


def test_the_curvature_of_a_block_covers_every_turn_inside() -> None:
    finder = search(CHEAP, 300, Constants(D=1, sigma=1, eta=1, B=1, Pdim=10**9))  # N = Pdim comes after T
    assert all(finder.curvature(3, 90) >= finder.curvature(K - 1, K + 1) for K in range(4, 90))


@settings(max_examples=200)
@given(st.integers(2, 30), st.integers(2, 30), FEW, constants)
def test_where_cost_binds_no_retention_is_below_the_two_chords(
    first: int, width: int, beyond: int, c: Constants
) -> None:
    last = first + width
    finder = search(Budget(buffers=(1000,), cost=1, mean_cost=1), last + beyond, c)
    for K in range(first, last + 1):
        terms, error = finder.terms(K)
        optimisation, third = finder.chords(K, first, last)
        assert optimisation <= terms.root + terms.linear + 4 * error
        assert third <= terms.generalisation + 4 * error


def test_the_chords_where_cost_binds_are_straight_in_the_variables_of_the_proof() -> None:
    finder = search(DEAR, 900, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5))
    at = [5, 70, 400]
    optimisation, third = zip(*(finder.chords(K, 5, 400) for K in at), strict=True)
    assert second_difference(list(optimisation), [-1 / K for K in at]) == pytest.approx(0, abs=1e-9)
    assert second_difference(list(third), [K * K for K in at]) == pytest.approx(0, abs=1e-9)


TIGHT = {
    "root": ({"D": 1, "eta": 1e-12, "B": 1e-12, "Pdim": 10**9}, 0.85),
    "linear": ({"D": 1e-12, "eta": 1, "B": 1e-12, "Pdim": 10**9}, 0.95),
    "N = Pdim in round 1": ({"D": 1e-12, "eta": 1e-12, "B": 1, "Pdim": Fraction(1, 30)}, 0.7),
}


@pytest.mark.parametrize("name", TIGHT)
def test_the_curvature_is_not_much_larger_than_it_need_be(name: str) -> None:
    scale, share = TIGHT[name]
    finder = search(CHEAP, 301, Constants(sigma=1, **scale))  # few rounds beyond K = 300
    left, here, right = (float(finder.terms(K)[0].total) for K in (299, 300, 301))
    granted = finder.curvature(299, 301)
    assert share * granted < left - 2 * here + right <= granted


def test_the_bound_on_a_block_is_of_second_order_in_its_width() -> None:
    finder = search(MNIST, 10**6, Constants(D=100, sigma=1, eta=0.1, B=1e-4, Pdim=5))
    best, middle = float(finder.terms(142_808)[0].total), 142_808
    gaps = [best - finder.least(middle - half, middle + half) for half in (4000, 2000, 1000)]
    assert all(3.5 < wide / narrow < 4.5 for wide, narrow in pairwise(gaps))


# --- the best K --------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(budgets, st.integers(1, 60), constants)
def test_the_best_retention_is_the_best_of_all(budget: Budget, T: int, c: Constants) -> None:
    finder = search(budget, T, c)
    bounds = {K: constant_bound(K, best_rate(K, budget), T, c) for K in range(1, T + 1)}
    least = min(bounds.values(), key=lambda bound: float(bound.total))
    assert float(bounds[finder.best()].total) <= float(least.total) + 4 * least.error


@pytest.mark.parametrize("tilt", [1e-6, 1, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("budget", [MNIST, UNEVEN, CHEAP, DEAR], ids=["x=10", "x=2.1", "x=0.1", "x=2000"])
def test_flat_or_steep_the_best_retention_is_the_best_of_all(budget: Budget, tilt: float) -> None:
    T, c = 300, Constants(D=tilt, sigma=1, eta=0.1, B=1, Pdim=20)
    finder = search(budget, T, c)
    best = finder.best()
    bounds = {K: float(constant_bound(K, best_rate(K, budget), T, c).total) for K in range(1, T + 1)}
    assert bounds[best] <= min(bounds.values()) * (1 + 2e-14)


@pytest.mark.parametrize("T", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("budget", [MNIST, CHEAP, Budget(buffers=(10**9,), cost=1, mean_cost=3)])
@pytest.mark.parametrize("Pdim", [5, 10**5])
def test_a_flat_optimum_takes_a_few_hundred_sums(T: int, budget: Budget, Pdim: int) -> None:
    finder = search(budget, T, Constants(D=1e6, sigma=1, eta=0.1, B=1e-6, Pdim=Pdim))
    best = finder.best()
    assert finder.evaluations < 400
    value, error = finder.terms(best)
    for K in {max(best + step, 1) for step in (-T // 10, -T // 100, -1, 1, T // 100, T // 10)}:
        other = constant_bound(K, best_rate(K, budget), T, finder.constants)
        assert value.total <= other.total + 4 * error, K


def test_the_flat_optimum_of_a_million_rounds() -> None:
    finder = search(MNIST, 10**6, Constants(D=100, sigma=1, eta=0.1, B=1e-4, Pdim=5))
    assert finder.best() == 142_808
    value = {K: finder.terms(K)[0].total for K in range(142_806, 142_811)}
    assert min(value, key=value.__getitem__) == 142_808
