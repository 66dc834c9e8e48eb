"""The region's cumulative ends and the comparison's gaps: by definition, near ρ = 1, and on wide balls."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.control.penalty import penalty_comparison, penalty_comparison_as_stated
from theory.control.region import region_maximum, region_minimum, region_minimum_total, region_minimum_window
from theory.numbers.algebra import ball, exp_above_tangent, precise
from theory.setting import Constants, Region

UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)
gaps = st.sampled_from([Fraction(9, 10), *(Fraction(1, d) for d in (2, 7, 10**3, 10**9))])
places = st.fractions(-1, 1, max_denominator=1000)
sizes = st.integers(-60, 4).map(lambda e: Fraction(2) ** e)
UNIT_BALL = flint.arb(0, 1)


def lower_ends(region, first, last):
    return sum((region_minimum(region, j) for j in range(first, last + 1)), Fraction(0))


@settings(max_examples=25)
@given(gaps, st.integers(1, 60), st.integers(1, 60))
def test_totals_and_windows_are_the_sums_of_the_lower_ends(gap, k, more):
    region, t = Region(rate=Fraction(3), rho=1 - gap), k + more - 1
    total, window = lower_ends(region, 1, t - 1), lower_ends(region, t - k + 1, t - 1)
    assert region_minimum_total(region, t) == total
    assert region_minimum_window(region, k, t) == window
    with precise():
        balls = region.map(ball)
        for value, exact in (
            (region_minimum_total(balls, ball(t)), total),
            (region_minimum_window(balls, k, ball(t)), window),
        ):
            assert value.overlaps(ball(exact))
            assert value.rad() <= ball(exact) * ball(2) ** -80
    with mpmath.workdps(50):
        number = region.map(lambda x: mpmath.mpf(x.numerator) / x.denominator)
        reference = mpmath.mpf(total.numerator) / total.denominator
        assert mpmath.almosteq(region_minimum_total(number, mpmath.mpf(t)), reference, 1e-38, 1e-38)


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(2, 60))
def test_a_float_total_has_all_its_digits_for_a_gap_that_a_float_holds(power, t):
    """As a difference of its two rounded parts, the total of ten rounds at ρ = 1 - 2^-30 is right to seven digits."""
    region = Region(rate=Fraction(1), rho=1 - Fraction(1, 2**power))
    exact = float(lower_ends(region, 1, t - 1))
    assert region_minimum_total(region.map(float), float(t)) == pytest.approx(exact, rel=1e-14, abs=0)
    array = region_minimum_total(region.map(float), np.array([float(t), 1.0]))
    assert array == pytest.approx([exact, 0.0], rel=1e-14, abs=0)


@given(gaps, st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=20)
def test_both_gaps_of_the_comparison_are_differences_of_inverses(gap, K, t):
    region = Region(rate=Fraction(3), rho=1 - gap)
    fewest = lower_ends(region, 1, t - 1) + 3
    most = sum((region_maximum(region, j) for j in range(1, t)), Fraction(3))
    held = lower_ends(region, max(t - K + 1, 1), t - 1) + 3
    printed = (K - 1) * region_minimum(region, t - K) + 3
    with flint.ctx.workprec(512):  # not on fractions: the exact square root beside it would take minutes
        balls, constants = region.map(sharp), UNIT.map(flint.arb)
        for form, exact in (
            (penalty_comparison, 1 / held - 1 / most),
            (penalty_comparison_as_stated, 1 / printed - 1 / fewest),
        ):
            value = form(K, flint.arb(t), balls, constants).linear
            assert value.overlaps(sharp(exact))
            assert value.rad() < flint.arb(2) ** -440


def sharp(x):
    with flint.ctx.workprec(512):
        return flint.arb(x.numerator) / x.denominator


def inside(middle, radius, across, up):
    """A square in the plane, and a point of it that is known to many more digits."""
    wide = flint.acb(ball(middle) + ball(radius) * UNIT_BALL, ball(radius) * UNIT_BALL)
    return wide, flint.acb(sharp(middle + radius * across), sharp(radius * up))


@given(sizes, places, st.fractions(0, 2, max_denominator=50), places, places)
@settings(max_examples=40)
def test_exp_above_its_tangent_contains_its_values_on_the_line_and_in_the_plane(
    size, middle, width, across, up
):
    with precise():
        wide, point = inside(size * middle, size * width, across, up)
        with flint.ctx.workprec(512):
            value, real = (z.exp() - 1 - z for z in (point, point.real))
        assert exp_above_tangent(wide).contains(value)
        assert exp_above_tangent(wide.real).contains(real)


@pytest.mark.parametrize("size", [Fraction(30), *(Fraction(1, d) for d in (1, 10, 10**9, 10**30))])
def test_exp_above_its_tangent_is_narrow_enough_to_be_told_from_zero(size):
    """On a ball of relative radius 1/4 the parts of e^x - 1 - x are wider than it is."""
    with precise():
        wide, _ = inside(-size, size / 4, Fraction(0), Fraction(0))
        point = exp_above_tangent(-ball(size))
        assert exp_above_tangent(wide).real > 0
        assert exp_above_tangent(wide.real) > 0
        assert point.rad() < point * ball(2) ** -100
        x = size.numerator / size.denominator
        assert float(exp_above_tangent(-x)) == pytest.approx(float(point), rel=1e-15)


def test_exp_above_its_tangent_at_zero_is_zero_and_elsewhere_never_claims_too_much():
    assert all(exp_above_tangent(zero) == 0 for zero in (0, 0.0, mpmath.mpf(0), flint.arb(0)))
    for nowhere in (flint.acb(flint.arb.nan()), flint.arb(0, float("inf"))):
        assert not exp_above_tangent(nowhere).is_finite()


@pytest.mark.parametrize("gap", [Fraction(1, 10), Fraction(1, 10**9)])
@pytest.mark.parametrize("form", [penalty_comparison, penalty_comparison_as_stated])
@pytest.mark.parametrize("K", [2, 10**6])
def test_a_round_is_bounded_on_a_block_of_a_tenth_of_its_distance_from_the_last_corner(gap, form, K):
    """What makes Ω₂ cheap for every ρ: no block of `total_ball` need be narrower than that, wherever it lies."""
    with precise():
        region, constants = Region(rate=10, rho=1 - gap).map(ball), UNIT.map(ball)
        for distance in (Fraction(10) ** exponent for exponent in range(1, 13)):
            middle = distance + K if distance >= K else distance
            wide, point = inside(middle, distance / 20, Fraction(1, 2), Fraction(-1, 3))
            bounds, values = form(K, wide, region, constants), form(K, point, region, constants)
            for name in ("root", "linear", "generalisation"):
                bound, value = getattr(bounds, name), getattr(values, name)
                assert bound.is_finite()
                assert bound.contains(value)
                assert abs(bound).upper() < 3 * abs(value)
