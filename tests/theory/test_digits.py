"""Floats and balls keep the digits of the exact value where a formula cancels, near, far and on wide balls."""

from fractions import Fraction as F
from itertools import product

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from theory.control import violation
from theory.control.penalty import penalty_comparison, penalty_comparison_as_stated
from theory.control.region import region_maximum, region_minimum, region_minimum_total, region_minimum_window
from theory.drift import long_run
from theory.law import quadratic as law
from theory.law import stationary
from theory.law.curved import local_shift
from theory.market.capacity import age_burden
from theory.numbers.algebra import ball, exp_above_tangent, precise
from theory.numbers.lambert import lambert_partial
from theory.numbers.student import half_width, mean_interval, p_value, quantile
from theory.regret.expansion import generalisation_integral
from theory.setting import Constants, Region

ratios = st.fractions("1/8", "15/16", max_denominator=16)
regions = st.builds(Region, rate=st.fractions(1, 6, max_denominator=4), rho=ratios)


@pytest.mark.parametrize(("a", "kind"), [(0.0, "age"), (0.999, "age"), (0.9, "capacity"), (-0.5, "capacity")])
def test_squared_weights_follow_the_exact_recursion(a, kind):
    counts = np.random.default_rng(1).integers(0, 5, 60)
    counts[0] = 3
    cohorts = law.by_age(counts, 7) if kind == "age" else law.by_capacity(counts, 9)
    exact = law.squared_weights(cohorts, F(a), 60).astype(float)
    assert np.allclose(law.squared_weights(cohorts, a, 60), exact, rtol=1e-12, atol=1e-16)


RETENTIONS, ROUNDS = (1, 3, 1000, 10**12), (1, 2, 3, 9, 11, 999, 1000, 1001, 10**6, 10**9, 10**15)
FEW = [(1,), (2,), (50,)]
NEXT_TO_ONE = {  # functions of a = 1 - αh and of counts, and how many digits they keep
    "noise": (law.stationary_noise, [*product(RETENTIONS)], 2e-14),
    "noise of a full memory": (stationary.full_memory_noise, [*product(RETENTIONS, ROUNDS)], 1e-14),
    "burden": (lambda a, age: age_burden(age, a), [*product(ROUNDS)], 1e-14),
    "lag": (long_run.stationary_lag, FEW, 1e-12),
    "lag behind a slope": (long_run.slope_lag, FEW, 1e-12),
    "lag of a mean": (lambda a, K: long_run.smoothed_lag(a, 0.5, K), FEW, 1e-12),
    "noise of a mean": (lambda a, K: long_run.smoothed_noise(a, 0.5, K), FEW, 1e-12),
}


@pytest.mark.parametrize("name", NEXT_TO_ONE)
def test_nothing_cancels_as_steps_become_small(name):
    function, counts, tolerance = NEXT_TO_ONE[name]
    steps = (0.7, 0.5, 0.3, 0.1, 1e-3, 1e-4, 1e-6, 1e-8, 1e-9, 1e-15)
    for more, step in product(counts, steps):
        with mpmath.workdps(120):
            expected = float(function(mpmath.mpf(1 - step), *more))
        assert function(1 - step, *more) == pytest.approx(expected, rel=tolerance, abs=0)


def test_a_shift_of_tiny_steps_does_not_cancel():
    assert local_shift(1.0, 1e-12, 3) == pytest.approx(3e-24, rel=1e-9)


@pytest.mark.parametrize("T", [10**3, 10**9, 10**15])
@pytest.mark.parametrize("gap", [F(1, 2), F(1, 2**20)])
def test_nothing_cancels_in_the_cost_bound_at_large_horizons(T, gap):
    region = Region(rate=F(10), rho=1 - gap)
    with precise():
        enclosed = violation.cost_violation_bound(T, region.map(ball), ball(F(11, 2)), ball(55))
        assert enclosed.overlaps(55 * lambert_partial(ball(1 - gap), T + 1))
        assert float(enclosed.rad()) < 1e-15 * float(enclosed)
        near = violation.cost_violation_bound(T, region.map(float), 5.5, 55.0)
        assert near == pytest.approx(float(enclosed), rel=1e-12)


@settings(max_examples=20)
@given(regions, st.integers(1, 40), st.integers(1, 40))
def test_floats_and_balls_agree_with_the_exact_buffer_maximum(region, K, T):
    exact, near = (violation.buffer_excess_maximum(K, T, r) for r in (region, region.map(float)))
    scale = float(K * region.rate * (T + K))
    assert float(near) == pytest.approx(float(exact), abs=1e-12 * scale)
    with precise():
        enclosed = violation.buffer_excess_maximum(K, T, region.map(ball))
        assert enclosed.overlaps(ball(exact))
        assert float(enclosed.rad()) < 1e-18 * scale


def test_a_million_rounds_of_retention_take_no_longer():
    with precise():
        region = Region(rate=ball(10), rho=ball(1 - F(1, 10**9)))
        most = violation.buffer_violation_maximum(10**6, 10**15, region)
        assert float(most) == pytest.approx(2.12999814914477e17, rel=1e-14)


@given(x=st.fractions(F(1, 50), 50, max_denominator=50))
@settings(max_examples=8)
def test_the_integral_is_the_same_in_every_number_system(x):
    exact = sympy.N(generalisation_integral(x), 40)
    assert float(generalisation_integral(float(x))) == pytest.approx(float(exact), rel=1e-14)
    assert generalisation_integral(np.array([float(x)] * 2))[1] == pytest.approx(float(exact), rel=1e-14)
    with mpmath.workdps(30):
        ours = generalisation_integral(mpmath.mpf(x.numerator) / x.denominator)
        assert abs(ours - mpmath.mpf(str(exact))) < mpmath.mpf(10) ** -25
    with precise():
        assert generalisation_integral(ball(x)).overlaps(flint.arb(str(exact), flint.arb(10) ** -35))


def test_the_integral_neither_overflows_nor_loses_the_far_end():
    assert np.isfinite(generalisation_integral(1e300))
    with mpmath.workdps(40):
        far = generalisation_integral(mpmath.mpf(10) ** 18)
    assert float(generalisation_integral(1e18)) == pytest.approx(float(far), rel=1e-14)


UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)
gaps = st.sampled_from([F(9, 10), *(F(1, d) for d in (2, 7, 10**3, 10**9))])
places = st.fractions(-1, 1, max_denominator=1000)
sizes = st.integers(-60, 4).map(lambda e: F(2) ** e)
UNIT_BALL = flint.arb(0, 1)


def lower_ends(region, first, last):
    return sum((region_minimum(region, j) for j in range(first, last + 1)), F(0))


@settings(max_examples=25)
@given(gaps, st.integers(1, 60), st.integers(1, 60))
def test_totals_and_windows_are_the_sums_of_the_lower_ends(gap, k, more):
    region, t = Region(rate=F(3), rho=1 - gap), k + more - 1
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
    region = Region(rate=F(1), rho=1 - F(1, 2**power))
    exact = float(lower_ends(region, 1, t - 1))
    assert region_minimum_total(region.map(float), float(t)) == pytest.approx(exact, rel=1e-14, abs=0)
    array = region_minimum_total(region.map(float), np.array([float(t), 1.0]))
    assert array == pytest.approx([exact, 0.0], rel=1e-14, abs=0)


@given(gaps, st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=20)
def test_both_gaps_of_the_comparison_are_differences_of_inverses(gap, K, t):
    region = Region(rate=F(3), rho=1 - gap)
    fewest = lower_ends(region, 1, t - 1) + 3
    most = sum((region_maximum(region, j) for j in range(1, t)), F(3))
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
def test_exp_above_its_tangent_contains_its_values_in_the_plane(size, middle, width, across, up):
    with precise():
        wide, point = inside(size * middle, size * width, across, up)
        with flint.ctx.workprec(512):
            value, real = (z.exp() - 1 - z for z in (point, point.real))
        assert exp_above_tangent(wide).contains(value)
        assert exp_above_tangent(wide.real).contains(real)


@pytest.mark.parametrize("size", [F(30), *(F(1, d) for d in (1, 10, 10**9, 10**30))])
def test_exp_above_its_tangent_is_narrow_enough_to_be_told_from_zero(size):
    """On a ball of relative radius 1/4 the parts of e^x - 1 - x are wider than it is."""
    with precise():
        wide, _ = inside(-size, size / 4, F(0), F(0))
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


@pytest.mark.parametrize("gap", [F(1, 10), F(1, 10**9)])
@pytest.mark.parametrize("form", [penalty_comparison, penalty_comparison_as_stated])
@pytest.mark.parametrize("K", [2, 10**6])
def test_a_round_is_bounded_on_a_block_of_a_tenth_of_its_distance_from_the_last_corner(gap, form, K):
    """What makes Ω₂ cheap for every ρ: no block of `total_ball` need be narrower than that, wherever it lies."""
    with precise():
        region, constants = Region(rate=10, rho=1 - gap).map(ball), UNIT.map(ball)
        for distance in (F(10) ** exponent for exponent in range(1, 13)):
            middle = distance + K if distance >= K else distance
            wide, point = inside(middle, distance / 20, F(1, 2), F(-1, 3))
            bounds, values = form(K, wide, region, constants), form(K, point, region, constants)
            for name in ("root", "linear", "generalisation"):
                bound, value = getattr(bounds, name), getattr(values, name)
                assert bound.is_finite()
                assert bound.contains(value)
                assert abs(bound).upper() < 3 * abs(value)


@pytest.mark.parametrize("runs", [2, 7, 30])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_and_p_values_are_those_of_scipy(runs, level):
    values = np.random.default_rng(runs).normal(0.3, 1, (3, runs))
    wanted = stats.t.interval(level, runs - 1, values.mean(axis=1), stats.sem(values, axis=1))
    found = mean_interval(values, level)
    assert found["mean"] == pytest.approx(values.mean(axis=1))
    assert (found["low"], found["high"]) == (pytest.approx(wanted[0]), pytest.approx(wanted[1]))
    assert half_width(values, level) == pytest.approx((wanted[1] - wanted[0]) / 2)
    assert quantile(runs, level) == pytest.approx(stats.t.ppf((1 + level) / 2, runs - 1))
    assert p_value(values[0]) == pytest.approx(stats.ttest_1samp(values[0], 0).pvalue)


def test_equal_differences_are_sure():
    assert (p_value(np.zeros(3)), p_value(np.ones(3))) == (1.0, 0.0)
