"""The search for the best K: the signs its block bounds rest on, the block bounds, and every K tried one by one."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from theory.bound.constant_admission import constant_bound, constant_round
from theory.design.offline import best_rate, design, fill_ratio
from theory.design.search import Search
from theory.paper import MNIST
from theory.reuse.constant import inverse_effective_constant, mismatch_constant
from theory.setting import Budget, Constants

UNEVEN = Budget(buffers=(10, 11), cost=10, mean_cost=1)
CHEAP = Budget(buffers=(10,), cost=100, mean_cost=1)
DEAR = Budget(buffers=(4000,), cost=1, mean_cost=Fraction(1, 2))
K, t = sympy.symbols("K t", positive=True)
j, i = sympy.symbols("j i", nonnegative=True)

budgets = st.builds(
    Budget,
    buffers=st.lists(st.integers(1, 30), min_size=1, max_size=4).map(tuple),
    cost=st.integers(1, 60),
    mean_cost=st.sampled_from([60, Fraction(1, 50)]) | st.fractions(Fraction(1, 2), 9, max_denominator=4),
)
magnitudes = dict.fromkeys(("D", "eta", "B"), st.floats(-6, 6).map(lambda e: 10**e))
constants = st.builds(
    Constants,
    **magnitudes,
    sigma=st.just(1),
    Pdim=st.sampled_from([1, 5, 50, 1000]),
    E=st.sampled_from([1, 9]),
)


def search(budget, T, c):
    return Search(budget, fill_ratio(budget), T, c)


# --- the proof, step by step -------------------------------------------------------------------------------


def before(expression):
    """A formula of the theory for K <= t."""
    return expression.xreplace({sympy.Min(K, t): K})


def is_never_negative(expression, least):
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
def test_a_sign_holds_for_all_real_retentions_up_to_the_round(name):
    assert is_never_negative(*SIGNS[name])


def test_a_sign_that_fails_is_not_proved():
    assert not is_never_negative(SIGNS["(4) w is concave in K²"][0], least=1)
    assert not is_never_negative(-sympy.diff(w, K, 2), least=2)


def test_the_second_derivative_of_the_generalisation_term_is_the_one_of_the_proof():
    corner, root = sympy.Symbol("corner", positive=True), sympy.Function("f", positive=True)(K)  # f = √v
    level = 1 + sympy.log(corner / K)
    elasticity = 2 * K * sympy.diff(root, K) / root
    rest = root / (K**2 * sympy.sqrt(level)) * (sympy.Rational(1, 2) - elasticity / 2 - 1 / (4 * level))
    claimed = sympy.sqrt(level) * sympy.diff(root, K, 2) + rest
    assert sympy.simplify(sympy.diff(root * sympy.sqrt(level), K, 2) - claimed) == 0


def test_how_far_root_and_linear_terms_turn_up_in_the_round_of_the_retention():
    left, here = (3 * u.subs({K: k, t: K}, simultaneous=True) for k in (K - 1, K))
    # beyond t, χ = (K+1)/(St)·(its nχ)
    right = 3 * (K + 1) * mismatch_constant(K, K, 1).subs(sympy.Min(K, K), K)
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


# --- blocks ------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(budgets | st.sampled_from([MNIST, UNEVEN, CHEAP, DEAR]), st.data(), constants)
def test_no_bound_in_a_block_is_below_the_bound_on_the_block(budget, data, c):
    T = data.draw(st.integers(2, 70) | st.sampled_from([10**3, 10**6, 10**9, 10**12]))
    finder = search(budget, T, c)
    edge = int(finder.fill)
    for low, high in ((2, min(edge, T)), (edge + 1, T)):
        if low < high:
            first = int(low * (high / low) ** data.draw(st.floats(0, 0.99)))
            last = min(first + 1 + int(first * 10 ** data.draw(st.floats(-9, 2))), high)
            least = finder.least(first, last)
            for K in set(np.linspace(first, last, 6, dtype=int).tolist()):
                terms, error = finder.terms(K)
                assert least <= float(terms.total) + 4 * error, (first, K, last)


FEW = st.just(0) | st.integers(0, 40)  # rounds beyond the block: the fewer, the less makes up for corners


@settings(max_examples=50)
@given(st.integers(1, 30), st.integers(2, 30), FEW, st.integers(1, 30), constants)
@example(2000, 2, 0, 1, Constants(D=1, sigma=1, eta=1, B=1e-6, Pdim=1, E=3))  # nothing to spare
def test_where_buffers_bind_no_round_sinks_more_than_the_curvature_grants(first, width, beyond, S, c):
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


@settings(max_examples=50)
@given(st.integers(2, 30), st.integers(2, 30), FEW, constants)
def test_where_cost_binds_no_retention_is_below_two_chords_nor_they_below_the_bound(first, width, beyond, c):
    last = first + width
    finder = search(Budget(buffers=(1000,), cost=1, mean_cost=1), last + beyond, c)
    for K in range(first, last + 1):
        terms, error = finder.terms(K)
        optimisation, third = finder.chords(K, first, last)
        assert optimisation <= terms.root + terms.linear + 4 * error
        assert third <= terms.generalisation + 4 * error
    both = sum(finder.chords(np.linspace(first, last, 5000), first, last)).min()
    least = pytest.approx(both + terms.constant + terms.initial, abs=1e-4 * terms.total)
    assert finder.least(first, last) == least


def test_the_flat_optimum_of_a_million_rounds_and_the_second_order_of_a_block_s_bound():
    finder = search(MNIST, 10**6, Constants(D=100, sigma=1, eta=0.1, B=1e-4, Pdim=5))
    middle = finder.best()
    value = {K: float(finder.terms(K)[0].total) for K in range(142_806, 142_811)}
    assert middle == min(value, key=value.__getitem__) == 142_808
    best = value[middle]
    gaps = [best - finder.least(middle - half, middle + half) for half in (4000, 2000, 1000)]
    assert all(3.5 < wide / narrow < 4.5 for wide, narrow in pairwise(gaps))


# --- the best K --------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(budgets, st.integers(1, 60), constants)
@example(Budget(buffers=(10,), cost=1, mean_cost=1), 60, Constants(D=1, sigma=1, eta=0.1, B=1, Pdim=1))
def test_the_design_of_the_best_retention_is_the_best_of_all(budget, T, c):
    chosen = design(budget, T, c)
    bounds = {K: constant_bound(K, best_rate(K, budget), T, c) for K in range(1, T + 4)}
    least = min(bounds.values(), key=lambda bound: float(bound.total))
    assert search(budget, T, c).best() == chosen.K
    assert chosen.bound <= float(least.total) + 4 * least.error
    assert chosen.bound == pytest.approx(bounds[chosen.K].total, rel=1e-13)


def test_a_flat_optimum_takes_a_few_hundred_sums_and_a_steep_one_a_few():
    for budget, T, Pdim, B, sums in (
        (MNIST, 10**9, 5, 1e-6, 400),
        (CHEAP, 10**6, 10**5, 1e-6, 400),
        (CHEAP, 10**6, 10**5, 1e6, 10),
        (DEAR, 60, 5, 1e-6, 20),
        (Budget(buffers=(10**9,), cost=1, mean_cost=3), 10**12, 5, 1e-6, 400),
    ):
        finder = search(budget, T, Constants(D=1e6, sigma=1, eta=0.1, B=B, Pdim=Pdim))
        best = finder.best()
        assert finder.evaluations == finder.terms.cache_info().currsize < sums
        value, error = finder.terms(best)
        for K in {max(best + step, 1) for step in (-T // 10, -T // 100, -1, 1, T // 100, T // 10)}:
            other = constant_bound(K, best_rate(K, budget), T, finder.constants)
            assert value.total <= other.total + 4 * error, K
