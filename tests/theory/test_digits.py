"""Where a formula cancels, floats and balls keep the digits of its exact value, near and far."""

from fractions import Fraction as F

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.control import violation
from theory.law import quadratic as law
from theory.law import stationary
from theory.law.curved import local_shift
from theory.market.capacity import age_burden
from theory.numbers.algebra import ball, precise
from theory.numbers.lambert import lambert_partial
from theory.regret.expansion import generalisation_integral
from theory.setting import Region

regions = st.builds(
    Region, rate=st.fractions(1, 6, max_denominator=4), rho=st.fractions("1/8", "15/16", max_denominator=16)
)


@pytest.mark.parametrize(("a", "kind"), [(0.0, "age"), (0.999, "age"), (0.9, "capacity"), (-0.5, "capacity")])
def test_squared_weights_follow_the_exact_recursion(a, kind):
    counts = np.random.default_rng(1).integers(0, 5, 60)
    counts[0] = 3
    cohorts = law.by_age(counts, 7) if kind == "age" else law.by_capacity(counts, 9)
    exact = law.squared_weights(cohorts, F(a), 60).astype(float)
    assert np.allclose(law.squared_weights(cohorts, a, 60), exact, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("K", [1, 3, 1000, 10**12])
@pytest.mark.parametrize("slow", [0.7, 0.3, 1e-1, 1e-4, 1e-8, 1e-15])
def test_noise_does_not_cancel_as_steps_become_small(K, slow):
    a = 1 - slow
    with mpmath.workdps(120):
        b = mpmath.mpf(a)
        lag = b * (K * (1 - b) - 1 + b**K) / (1 - b) ** 2
        expected = float((1 - b) / (1 + b) * (K + 2 * lag) / K**2)
        assert law.stationary_noise(a, K) == pytest.approx(expected, rel=2e-14)
        for t in (1, 2, 3, 9, 11, 999, 1000, 1001, 10**6, 10**9, 10**15):
            expected = float(stationary.full_memory_noise(b, K, t))
            assert stationary.full_memory_noise(a, K, t) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("slow", [0.7, 0.5, 0.3, 1e-1, 1e-4, 1e-9, 1e-15])
def test_burdens_do_not_cancel(slow):
    a = 1 - slow
    for age in (1, 2, 3, 1000, 10**9, 10**15):
        with mpmath.workdps(80):
            b = mpmath.mpf(a)
            expected = float(1 + 2 * b * (1 - b ** (age - 1)) / (1 - b))
        assert age_burden(age, a) == pytest.approx(expected, rel=1e-14)


def test_a_shift_of_tiny_steps_does_not_cancel():
    assert local_shift(1.0, 1e-12, 3) == pytest.approx(3e-24, rel=1e-9)


# --- violations --------------------------------------------------------------------------------------------


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


# --- the integral of the generalisation term ---------------------------------------------------------------


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
