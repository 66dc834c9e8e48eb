"""Orders of growth: the exponents of Remark 1 against the rates that they belong to."""

from fractions import Fraction
from math import log

import mpmath
import pytest

from theory import rates
from theory.regret import drift_constant
from theory.setting import Region
from theory.violation import cost_violation_rate_as_stated


def exponent(function):
    """Of T, read off at T and T²."""
    T = mpmath.mpf(10) ** 400
    return float(mpmath.log(function(T * T) / function(T)) / mpmath.log(T))


@pytest.mark.parametrize(("gamma", "phi"), [(0.75, 0.25), (0.5, 0.75), (0.25, 0.5)])
def test_the_exponents_are_those_of_the_drift_constants(gamma, phi):
    def first(T):
        return drift_constant(Region(rate=10, rho=1 - T ** mpmath.mpf(-phi)), 1, 3, 55)

    with mpmath.workdps(1000):
        assert exponent(lambda T: first(T) * T / T**gamma) == pytest.approx(1 + 2 * phi - gamma, abs=0.01)
    assert rates.remark_1_by_one_constant(gamma, phi)[0] == pytest.approx(max(1 + 2 * phi - gamma, phi, 0.5))
    assert rates.remark_1_by_drift(gamma, phi)[0] == pytest.approx(max(1 - gamma, 2 * phi - gamma, phi, 0.5))


@pytest.mark.parametrize(("gamma", "phi"), [(0.75, 0.25), (0.25, 0.875)])
def test_the_printed_exponents_are_those_of_the_printed_rates(gamma, phi):
    with mpmath.workdps(1000):
        regret = exponent(lambda T: rates.regret_rate_as_stated(T, T**gamma, 1 - T ** mpmath.mpf(-phi)))
        violation = exponent(lambda T: cost_violation_rate_as_stated(T, T**gamma, 1 - T ** mpmath.mpf(-phi)))
    assert rates.remark_1_as_stated(gamma, phi) == pytest.approx((regret, violation), abs=0.01)


def test_the_regret_rate_is_its_two_summands():
    assert float(rates.regret_rate(7, Fraction(3, 4))) == pytest.approx(
        (7 * log(7)) ** 0.5 + 4 * (1 + log(4))
    )
    assert float(rates.regret_rate_as_stated(7, 2, Fraction(3, 4))) == pytest.approx(3.5 + 4 + log(7))
