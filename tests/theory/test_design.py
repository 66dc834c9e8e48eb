"""The offline design against every K tried one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.constant_admission import constant_bound, constant_round
from theory.design import best_rate, design, design_as_stated, design_limit, fill_ratio
from theory.setting import Budget, Constants, SettingError

UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
MNIST = Budget(buffers=(8, 9, 10, 11, 12) * 2, cost=55, mean_cost=Fraction(11, 2))
budgets = st.builds(
    Budget,
    buffers=st.lists(st.integers(1, 30), min_size=1, max_size=4).map(tuple),
    cost=st.integers(1, 60),
    mean_cost=st.fractions(Fraction(1, 2), 9, max_denominator=4),
)
magnitudes = st.floats(-2, 4).map(lambda e: 10**e)
constants = st.builds(
    Constants, D=magnitudes, sigma=magnitudes, eta=magnitudes, B=magnitudes, Pdim=st.integers(1, 50)
)


@settings(max_examples=25)
@given(budgets, st.integers(1, 60), constants)
def test_no_feasible_retention_beats_the_finite_horizon_design(budget: Budget, T: int, c: Constants) -> None:
    chosen = design(budget, T, c)
    bounds = {K: constant_bound(K, best_rate(K, budget), T, c).total for K in range(1, T + 4)}
    assert chosen.bound <= min(bounds.values()) * (1 + 1e-12)
    assert chosen.bound == pytest.approx(bounds[chosen.K], rel=1e-13)


@given(budgets, st.integers(1, 40), st.integers(2, 60), constants, st.fractions(Fraction(1, 10), 1))
def test_the_bound_falls_with_the_rate_so_the_largest_feasible_is_best(
    budget: Budget, K: int, t: int, c: Constants, part: Fraction
) -> None:
    rate = best_rate(K, budget)
    less, most = (float(constant_round(K, np.float64(t), float(r), c).total) for r in (part * rate, rate))
    assert most <= less * (1 + 1e-12)


@given(st.integers(1, 40), st.integers(1, 90), constants)
def test_the_facts_that_make_the_search_exact(K: int, t: int, c: Constants) -> None:
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


@given(budgets)
def test_every_design_is_feasible_and_uses_all_that_binds(budget: Budget) -> None:
    for chosen in (design_limit(budget, UNIT), design(budget, 1000, UNIT)):
        cost = chosen.total_rate * budget.mean_cost
        assert sum(chosen.rates) == chosen.total_rate
        assert cost <= budget.cost
        assert all(chosen.K * r <= b for r, b in zip(chosen.rates, budget.buffers, strict=True))
        assert ("cost" in chosen.binding) == (cost == budget.cost)
        assert ("buffers" in chosen.binding) == (chosen.K * chosen.total_rate == budget.total_buffer)
        for c in chosen.candidates:
            assert c.feasible == (c.cost <= budget.cost and c.occupancy <= budget.total_buffer)
            assert bool(c.why) != c.feasible


def test_the_closed_form_is_the_ceiling_and_the_printed_floor_is_over_budget() -> None:
    budget = Budget(buffers=(10, 11), cost=10, mean_cost=1)
    assert fill_ratio(budget) == Fraction(21, 10)
    assert design_as_stated(budget) == ((3, True), (2, False))
    assert design_limit(budget, UNIT).K == 3
    assert design_limit(MNIST, UNIT).K == 10
    assert design_limit(MNIST, UNIT).binding == ("buffers", "cost")
    assert design_limit(MNIST, UNIT).rates[0] == Fraction(4, 5)


def test_the_closed_form_wins_at_last_and_not_before() -> None:
    budget = Budget(buffers=(10, 11), cost=10, mean_cost=1)
    assert [design(budget, 10**e, UNIT).K for e in (3, 6, 9, 12)] == [2, 2, 3, 3]


def test_a_retention_that_is_neither_floor_nor_ceiling_can_win() -> None:
    eager = Constants(D=1000, sigma=10, eta=Fraction(1, 100), B=Fraction(1, 100), Pdim=1)
    budget = Budget(buffers=(7, 14), cost=10, mean_cost=1)
    chosen = design(budget, 200, eager)
    assert math.ceil(fill_ratio(budget)) < chosen.K


def test_a_million_clients_and_a_trillion_rounds() -> None:
    budget = Budget(buffers=(7, 8, 9, 10) * 250_000, cost=10**6, mean_cost=Fraction(11, 2))
    chosen = design(budget, 10**12, UNIT)
    assert len(chosen.rates) == 10**6
    assert math.ceil(fill_ratio(budget)) == chosen.K


def test_a_horizon_below_one_is_refused() -> None:
    with pytest.raises(SettingError, match="horizon"):
        design(MNIST, 0, UNIT)
