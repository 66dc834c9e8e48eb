"""What the region alone bounds: both violations against brute force over policies, and in every number system."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import violation
from theory.algebra import ball, precise
from theory.lambert import lambert_partial
from theory.region import region_maximum, region_minimum
from theory.setting import Region, SettingError

regions = st.builds(
    Region, rate=st.fractions(1, 6, max_denominator=4), rho=st.fractions("1/8", "15/16", max_denominator=16)
)
amounts = st.fractions(0, 8, max_denominator=8)


def policies(region, T):
    """Every policy that admits an end of the region in each round."""
    return product(*((region_minimum(region, t), region_maximum(region, t)) for t in range(1, T + 1)))


def held(admitted, K):
    """n(t): the last K admissions."""
    return [sum(admitted[max(t - K, 0) : t]) for t in range(1, len(admitted) + 1)]


@settings(max_examples=30)
@given(regions, st.lists(amounts, min_size=1, max_size=6), amounts)
def test_the_cost_bound_is_the_largest_violation_over_all_extreme_policies(region, means, C):
    T = len(means)
    largest = max(
        sum(m * x for m, x in zip(means, path, strict=True)) - C * T for path in policies(region, T)
    )
    assert violation.cost_excess_maximum(T, region, means, C) == largest
    assert violation.cost_violation_bound(T, region, means, C) == max(largest, 0)
    assert violation.cost_violation_bound(T, region, tuple(means), C) == max(largest, 0)


@settings(max_examples=30)
@given(regions, st.integers(1, 12), amounts, amounts)
def test_one_mean_is_a_list_of_equal_means(region, T, mean, C):
    assert violation.cost_excess_maximum(T, region, mean, C) == violation.cost_excess_maximum(
        T, region, [mean] * T, C
    )


def test_a_list_of_means_must_fit_the_horizon():
    with pytest.raises(SettingError, match="one entry for each of the 3 rounds, got 2"):
        violation.cost_violation_bound(3, Region(rate=1, rho=Fraction(1, 2)), [1, 2], 1)


@pytest.mark.parametrize("T", [10**3, 10**9, 10**15])
@pytest.mark.parametrize("gap", [Fraction(1, 2), Fraction(1, 2**20)])
def test_nothing_cancels_in_the_cost_bound_at_large_horizons(T, gap):
    region = Region(rate=Fraction(10), rho=1 - gap)
    with precise():
        enclosed = violation.cost_violation_bound(T, region.map(ball), ball(Fraction(11, 2)), ball(55))
        assert enclosed.overlaps(55 * lambert_partial(ball(1 - gap), T + 1))
        assert float(enclosed.rad()) < 1e-15 * float(enclosed)
        assert violation.cost_violation_bound(T, region.map(float), 5.5, 55.0) == pytest.approx(
            float(enclosed), rel=1e-12
        )


@settings(max_examples=30)
@given(regions, st.integers(1, 6), st.integers(1, 6))
def test_the_buffer_maximum_is_the_largest_excess_over_all_extreme_policies(region, K, T):
    largest = max(sum(held(path, K)) - K * region.rate * T for path in policies(region, T))
    assert violation.buffer_excess_maximum(K, T, region) == largest
    assert (
        violation.buffer_violation_maximum(K, T, region)
        == max(largest, 0)
        <= violation.buffer_violation_bound(K, T, region)
    )


@settings(max_examples=20)
@given(regions, st.integers(1, 40), st.integers(1, 40))
def test_floats_balls_and_symbols_agree_with_the_exact_buffer_maximum(region, K, T):
    exact = violation.buffer_excess_maximum(K, T, region)
    scale = float(K * region.rate * (T + K))
    assert float(violation.buffer_excess_maximum(K, T, region.map(float))) == pytest.approx(
        float(exact), abs=1e-12 * scale
    )
    with precise():
        enclosed = violation.buffer_excess_maximum(K, T, region.map(ball))
        assert enclosed.overlaps(ball(exact))
        assert float(enclosed.rad()) < 1e-18 * scale


def test_a_million_rounds_of_retention_take_no_longer():
    with precise():
        region = Region(rate=ball(10), rho=ball(1 - Fraction(1, 10**9)))
        assert float(violation.buffer_violation_maximum(10**6, 10**15, region)) == pytest.approx(
            2.12999814914477e17, rel=1e-14
        )
