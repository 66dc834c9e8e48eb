"""Orders of growth: the exponents of Remark 1 against the rates that they belong to."""

from __future__ import annotations

from fractions import Fraction
from math import log

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.rates import (
    regret_rate,
    regret_rate_as_stated,
    remark_1_as_stated,
    remark_1_by_drift,
    remark_1_by_one_constant,
    remark_1_by_region,
)
from theory.regret import drift_constant
from theory.setting import Region
from theory.violation import cost_violation_rate_as_stated

between = st.fractions(Fraction(1, 24), Fraction(23, 24), max_denominator=24)


def exponent(function):
    """Of T, read off at T and T²."""
    T = mpmath.mpf(10) ** 400
    return float(mpmath.log(function(T * T) / function(T)) / mpmath.log(T))


def test_remark_1_holds_by_the_region_where_the_drift_fails():
    gamma, phi = Fraction(1, 5), Fraction(4, 5)
    assert max(remark_1_as_stated(gamma, phi)) < 1
    assert max(remark_1_by_drift(gamma, phi)) > 1
    assert max(remark_1_by_region(phi)) < 1


@given(gamma=between, phi=between)
def test_the_drift_argument_needs_far_more_with_one_constant_than_with_one_a_round(gamma, phi):
    assert (max(remark_1_by_one_constant(gamma, phi)) < 1) == (2 * phi < gamma)
    assert (max(remark_1_by_drift(gamma, phi)) < 1) == (2 * phi < 1 + gamma)
    assert max(remark_1_by_drift(gamma, phi)) <= max(remark_1_by_one_constant(gamma, phi))


@pytest.mark.parametrize(("gamma", "phi"), [(0.75, 0.25), (0.5, 0.75), (0.25, 0.5)])
def test_the_exponents_are_those_of_the_drift_constants(gamma, phi):
    def first(T):
        return drift_constant(Region(rate=10, rho=1 - T ** mpmath.mpf(-phi)), 1, 3, 55)

    with mpmath.workdps(1000):
        assert exponent(lambda T: first(T) * T / T**gamma) == pytest.approx(1 + 2 * phi - gamma, abs=0.01)
    assert remark_1_by_one_constant(gamma, phi)[0] == pytest.approx(max(1 + 2 * phi - gamma, phi, 0.5))
    assert remark_1_by_drift(gamma, phi)[0] == pytest.approx(max(1 - gamma, 2 * phi - gamma, phi, 0.5))


@pytest.mark.parametrize(("gamma", "phi"), [(0.75, 0.25), (0.25, 0.875)])
def test_the_printed_exponents_are_those_of_the_printed_rates(gamma, phi):
    with mpmath.workdps(1000):
        regret = exponent(lambda T: regret_rate_as_stated(T, T**gamma, 1 - T ** mpmath.mpf(-phi)))
        violation = exponent(lambda T: cost_violation_rate_as_stated(T, T**gamma, 1 - T ** mpmath.mpf(-phi)))
    assert remark_1_as_stated(gamma, phi) == pytest.approx((regret, violation), abs=0.01)


def test_the_regret_rate_is_its_two_summands():
    assert float(regret_rate(7, Fraction(3, 4))) == pytest.approx((7 * log(7)) ** 0.5 + 4 * (1 + log(4)))
    assert float(regret_rate_as_stated(7, 2, Fraction(3, 4))) == pytest.approx(3.5 + 4 + log(7))
