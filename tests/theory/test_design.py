"""The offline design: what binds, its closed form, and where its ceiling passes its floor."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings

from tests.theory.test_bound import UNIT
from tests.theory.test_design_search import UNEVEN, budgets
from theory.bound.constant_admission import constant_bound
from theory.design import offline
from theory.design.offline import design, design_limit, fill_ratio
from theory.paper import MNIST
from theory.setting import Budget


@settings(max_examples=15)
@given(budgets)
def test_every_design_is_feasible_and_uses_all_that_binds(budget):
    for chosen in (design_limit(budget, UNIT), design(budget, 1000, UNIT)):
        cost = chosen.total_rate * budget.mean_cost
        assert sum(chosen.rates) == chosen.total_rate
        assert cost <= budget.cost
        assert all(chosen.K * r <= b for r, b in zip(chosen.rates, budget.buffers, strict=True))
        assert ("cost" in chosen.binding) == (cost == budget.cost)
        assert ("buffers" in chosen.binding) == (chosen.K * chosen.total_rate == budget.total_buffer)
        assert [c.K for c in chosen.candidates] == sorted(c.K for c in chosen.candidates)
        for c in chosen.candidates:
            assert c.feasible == (c.cost <= budget.cost and c.occupancy <= budget.total_buffer)
            assert bool(c.why) != c.feasible
            assert c.occupancy == pytest.approx(c.K * c.total_rate)


def test_the_closed_form_is_the_ceiling_and_the_printed_floor_is_over_budget():
    assert fill_ratio(UNEVEN) == Fraction(21, 10)
    C = sympy.Symbol("C", positive=True)
    assert fill_ratio(replace(UNEVEN, cost=C)) == sympy.Rational(21, 10) * UNEVEN.cost / C
    for cost, pair in {40: (1, 1), 14: (2, 1), 10: (3, 2), 7: (3, 3)}.items():
        printed = offline.design_as_stated(replace(UNEVEN, cost=cost))
        assert printed == ((pair[0], True), (pair[1], pair[1] * cost >= 21))
    assert design_limit(UNEVEN, UNIT).K == 3
    even = design_limit(MNIST, UNIT)
    assert (even.K, even.binding, even.rates[0]) == (10, ("buffers", "cost"), Fraction(4, 5))


def test_many_clients_and_a_trillion_rounds():
    budget = Budget(buffers=(7, 8, 9, 10) * 2500, cost=10**4, mean_cost=Fraction(11, 2))
    chosen = design(budget, 10**12, UNIT)
    assert len(chosen.rates) == 10**4
    assert math.ceil(fill_ratio(budget)) == chosen.K


def test_the_bound_of_the_limit_is_a_round_s_share_of_a_long_horizon():
    c, T = replace(UNIT, E=2, L=1, G=3), 10**15
    for candidate in design_limit(UNEVEN, c).candidates:
        whole = constant_bound(candidate.K, candidate.total_rate, T, c).total
        assert candidate.bound == pytest.approx(whole / T, rel=1e-5)


def test_buffers_in_floats_are_shared_out_like_whole_ones():
    whole, floats = (
        design_limit(Budget(buffers=tuple(map(kind, (8, 9, 12))), cost=10, mean_cost=1), UNIT)
        for kind in (int, float)
    )
    assert whole.rates == (Fraction(8, 3), 3, 4)
    assert floats.rates == pytest.approx(tuple(map(float, whole.rates)), rel=1e-15)


def test_the_leading_formula_solves_its_equation_and_is_right_in_the_limit():
    """That the other formula says within a hundredth where the ceiling passes the floor is for the claims."""
    off = []
    for scale in (1, 10**4, 10**8, 10**40):
        c = replace(UNIT, B=scale, eta=Fraction(1, 10**60))  # without the linear term
        T = offline.crossover_leading(UNEVEN, c)
        ratio = float(offline.crossover_ratio(2, Fraction(21, 10), c))
        assert T / math.log(T) == pytest.approx(ratio, rel=1e-12)
        off.append(T / offline.crossover_horizon(UNEVEN, c) - 1)
    assert off == sorted(off, reverse=True)
    assert 0 < off[-1] < 0.02


def test_where_the_ceiling_is_ahead_from_the_start_the_crossover_is_the_first_round():
    eager = replace(UNIT, D=10**6)
    assert offline.crossover_leading(UNEVEN, eager) == offline.crossover_horizon(UNEVEN, eager) == 1


@pytest.mark.parametrize(
    ("T", "shown"), [(1, {1}), (3, {1, 2, 3}), (100, {*range(1, 12)}), (10**6, {1, *range(6, 15)})]
)
def test_the_landscape_shows_the_ceiling_its_neighbours_and_no_retention_and_none_beyond_the_horizon(
    T, shown
):
    assert {candidate.K for candidate in design(MNIST, T, UNIT).candidates} == shown
