"""What the region alone bounds: both violations against brute force over policies, and in every number system."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.algebra import ball, precise
from theory.lambert import lambert_partial, lambert_total
from theory.region import region_maximum, region_minimum
from theory.setting import Region, SettingError
from theory.violation import (
    buffer_excess_maximum,
    buffer_violation_bound,
    buffer_violation_maximum,
    cost_excess_maximum,
    cost_violation_bound,
    cost_violation_by_peak,
    cost_violation_least,
    cost_violation_rate,
    cost_violation_rate_as_stated,
    lambert_bound,
)

regions = st.builds(
    Region, rate=st.fractions(1, 6, max_denominator=4), rho=st.fractions("1/8", "15/16", max_denominator=16)
)
amounts = st.fractions(0, 8, max_denominator=8)


def policies(region: Region, T: int) -> Any:
    """Every policy that admits an end of the region in each round."""
    return product(*((region_minimum(region, t), region_maximum(region, t)) for t in range(1, T + 1)))


def held(admitted: Any, K: int) -> list[Any]:
    """n(t): the last K admissions."""
    return [sum(admitted[max(t - K, 0) : t]) for t in range(1, len(admitted) + 1)]


# --- cost --------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(regions, st.lists(amounts, min_size=1, max_size=6), amounts)
def test_the_cost_bound_is_the_largest_violation_over_all_extreme_policies(
    region: Region, means: list[Fraction], C: Fraction
) -> None:
    T = len(means)
    largest = max(
        sum(m * x for m, x in zip(means, path, strict=True)) - C * T for path in policies(region, T)
    )
    assert cost_excess_maximum(T, region, means, C) == largest
    assert cost_violation_bound(T, region, means, C) == max(largest, 0)
    assert cost_violation_bound(T, region, tuple(means), C) == max(largest, 0)


@settings(max_examples=30)
@given(regions, st.integers(1, 12), amounts, amounts)
def test_one_mean_is_a_list_of_equal_means(region: Region, T: int, mean: Fraction, C: Fraction) -> None:
    assert cost_excess_maximum(T, region, mean, C) == cost_excess_maximum(T, region, [mean] * T, C)


@settings(max_examples=40)
@given(regions, st.lists(amounts, min_size=1, max_size=8), amounts)
def test_costs_below_a_peak_violate_little_if_the_whole_horizon_is_affordable(
    region: Region, means: list[Fraction], room: Fraction
) -> None:
    T = len(means)
    C = region.rate * sum(means) / T + room  # affordable over all T rounds, whatever the order of the costs
    bound = cost_violation_by_peak(T, region, max(means))
    assert cost_violation_bound(T, region, means, C) <= bound
    assert cost_violation_bound(T, region, max(means), region.rate * max(means)) == bound


@settings(max_examples=40)
@given(regions, st.lists(amounts, min_size=1, max_size=8), st.fractions("1/8", 8, max_denominator=8))
def test_what_is_affordable_up_to_every_round_has_the_budget_s_rate_for_a_peak(
    region: Region, costs: list[Fraction], C: Fraction
) -> None:
    means: list[Fraction] = []
    for i, cost in enumerate(costs, start=1):  # each cut so that no prefix averages more than C/Λ̄
        means.append(min(cost, C * i / region.rate - sum(means)))
    T = len(means)
    assert cost_violation_bound(T, region, means, C) <= cost_violation_by_peak(T, region, C / region.rate)


def test_a_list_of_means_must_fit_the_horizon() -> None:
    with pytest.raises(SettingError, match="one entry for each of the 3 rounds, got 2"):
        cost_violation_bound(3, Region(rate=1, rho=Fraction(1, 2)), [1, 2], 1)


@pytest.mark.parametrize("T", [10**3, 10**9, 10**15])
@pytest.mark.parametrize("gap", [Fraction(1, 2), Fraction(1, 2**20)])
def test_nothing_cancels_in_the_cost_bound_at_large_horizons(T: int, gap: Fraction) -> None:
    region = Region(rate=Fraction(10), rho=1 - gap)
    with precise():
        enclosed = cost_violation_bound(T, region.map(ball), ball(Fraction(11, 2)), ball(55))
        assert enclosed.overlaps(55 * lambert_partial(ball(1 - gap), T + 1))
        assert float(enclosed.rad()) < 1e-15 * float(enclosed)
        assert cost_violation_bound(T, region.map(float), 5.5, 55.0) == pytest.approx(
            float(enclosed), rel=1e-12
        )


@settings(max_examples=30)
@given(regions, st.integers(1, 8), st.fractions("1/4", 9, max_denominator=4))
def test_after_a_full_first_round_no_policy_spends_less_than_the_least(
    region: Region, T: int, C: Fraction
) -> None:
    cost = C / region.rate
    spent = region_maximum(region, 1) + sum(region_minimum(region, t) for t in range(2, T + 1))
    assert cost * spent - C * T == cost_violation_least(T, region.rho, C) > 0


def test_the_printed_rate_depends_on_V_and_on_the_region() -> None:
    V, T, rho = sp.symbols("V T rho", positive=True)
    assert sp.simplify(cost_violation_rate_as_stated(T, V, rho) ** 2 - V * T - V / (1 - rho)) == 0


@pytest.mark.parametrize("gap", [Fraction(9, 10), Fraction(1, 2), Fraction(1, 10**3), Fraction(1, 10**9)])
def test_two_closed_forms_enclose_the_lambert_sum(gap: Fraction) -> None:
    with precise():
        rho = ball(1 - gap)
        assert cost_violation_rate(rho) < lambert_total(rho) < lambert_bound(rho)
        assert lambert_bound(rho) < (2 / (1 - rho)).log() / (1 - rho)
        # to leading order they agree
        assert lambert_bound(rho) < cost_violation_rate(rho) * (1 + ball(3) / (2 - (1 - rho).log()))


# --- buffers -----------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(regions, st.integers(1, 6), st.integers(1, 6))
def test_the_buffer_maximum_is_the_largest_excess_over_all_extreme_policies(
    region: Region, K: int, T: int
) -> None:
    largest = max(sum(held(path, K)) - K * region.rate * T for path in policies(region, T))
    assert buffer_excess_maximum(K, T, region) == largest
    assert buffer_violation_maximum(K, T, region) == max(largest, 0) <= buffer_violation_bound(K, T, region)


@settings(max_examples=20)
@given(regions, st.integers(1, 40), st.integers(1, 40))
def test_floats_balls_and_symbols_agree_with_the_exact_buffer_maximum(region: Region, K: int, T: int) -> None:
    exact = buffer_excess_maximum(K, T, region)
    scale = float(K * region.rate * (T + K))
    assert float(buffer_excess_maximum(K, T, region.map(float))) == pytest.approx(
        float(exact), abs=1e-12 * scale
    )
    with precise():
        enclosed = buffer_excess_maximum(K, T, region.map(ball))
        assert enclosed.overlaps(ball(exact))
        assert float(enclosed.rad()) < 1e-18 * scale


def test_the_symbolic_buffer_maximum_is_the_exact_one() -> None:
    K, T = sp.symbols("K T", integer=True, positive=True)
    rate, rho = sp.symbols("rate rho", positive=True)
    symbolic = buffer_excess_maximum(K, T, Region(rate=rate, rho=rho))
    for k, rounds in product((1, 2, 5), (1, 3, 5)):
        values = {K: k, T: rounds, rate: sp.Rational(5, 2), rho: sp.Rational(2, 3)}
        exact = buffer_excess_maximum(k, rounds, Region(rate=Fraction(5, 2), rho=Fraction(2, 3)))
        assert symbolic.subs(values).doit() == sp.Rational(exact.numerator, exact.denominator)


def test_the_paper_s_mnist_buffers_never_overflow_at_half_where_one_sum_says_they_may() -> None:
    region = Region(rate=10.0, rho=0.5)
    assert buffer_violation_maximum(10, 10**15, region) == 0
    assert buffer_violation_bound(10, 10**15, region) == pytest.approx(160.6695, abs=1e-4)
    assert buffer_violation_maximum(10, 10**15, Region(rate=10.0, rho=0.99)) > 0


@pytest.mark.parametrize("K", [1, 7, 1000])
def test_at_large_horizons_the_excess_is_its_limit(K: int) -> None:
    with precise():
        region = Region(rate=ball(3), rho=ball(Fraction(99, 100)))
        limit = 3 * K * (lambert_total(region.rho) - ball(K - 1) / 2)
        assert abs(buffer_excess_maximum(K, 10**15, region) - limit) < 1e-15
    floats = buffer_excess_maximum(K, 10**15, Region(rate=3.0, rho=0.99))
    assert floats == pytest.approx(float(limit), rel=1e-12)


def test_a_million_rounds_of_retention_take_no_longer() -> None:
    with precise():
        region = Region(rate=ball(10), rho=ball(1 - Fraction(1, 10**9)))
        assert float(buffer_violation_maximum(10**6, 10**15, region)) == pytest.approx(
            2.12999814914477e17, rel=1e-14
        )
