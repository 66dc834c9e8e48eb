"""The regret to O(1): its integral by quadrature, in every number system, and against regrets that are added up."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.algebra import ball, precise
from theory.constant_admission import constant_bound, oracle_bound
from theory.regret_expansion import generalisation_integral, regret_expansion, regret_lower_bound
from theory.setting import Constants, Region

MIXED = Constants(D=2, sigma=Fraction(1, 3), eta=Fraction(1, 5), B=3, Pdim=7, E=2)
points = st.fractions(Fraction(1, 50), 50, max_denominator=50)


def three(bound):
    return bound.terms.root + bound.terms.linear + bound.terms.generalisation


def regret(K, rate, T, constants):
    """Constant admission less the oracle, as a float made from balls."""
    with precise():
        own = constant_bound(K, rate, T, constants, certified=True)
        return float(three(own) - three(oracle_bound(K * rate, T, constants, certified=True)))


@given(x=points)
@settings(max_examples=8)
def test_the_integral_is_what_quadrature_finds(x):
    expected = mpmath.quad(lambda u: mpmath.sqrt((1 + mpmath.log(max(u, 1))) / u), sorted({0, min(x, 1), x}))
    assert float(generalisation_integral(float(x))) == pytest.approx(float(expected), rel=1e-6)


@given(x=points)
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


def test_floats_neither_overflow_nor_lose_the_far_end():
    assert np.isfinite(generalisation_integral(1e300))
    with mpmath.workdps(40):
        far = generalisation_integral(mpmath.mpf(10) ** 18)
    assert float(generalisation_integral(1e18)) == pytest.approx(float(far), rel=1e-14)


@pytest.mark.parametrize("K", [1, 10])
def test_the_regret_of_constant_admission_stays_within_a_constant_of_the_expansion(K):
    rests = [
        regret(K, 5, T, MIXED) - float(regret_expansion(K, 5.0, float(T), MIXED))
        for T in (10**4, 10**8, 10**11)
    ]
    assert abs(rests[2] - rests[1]) < 0.02 * K
    assert abs(rests[1] - rests[0]) < 0.5 * K
    if K == 1:
        assert rests == [0, 0, 0]


def test_the_lower_bound_subtracts_what_it_says():
    region, T, K, c = Region(rate=4.0, rho=0.75), 1000.0, 3, MIXED.map(float)
    reach = 4 * np.log(8)
    early = 10 * 3 * 7 / 4 * generalisation_integral(4 * (1 + reach) / 7)
    saved = (2 / 3 * np.sqrt(24) + 0.4 / 9) * (0.75 + 2 * (3 + np.log(1000))) / 1
    expected = regret_expansion(K, 4.0, T, c) - early - saved
    assert regret_lower_bound(K, region, T, c) == pytest.approx(expected, rel=1e-12)
