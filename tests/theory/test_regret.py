"""The corrections Ω₂ and Ω₃: float sums, enclosures, and what cannot be enclosed."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.theory.test_bound import UNIT, both
from theory.control import penalty
from theory.numbers import summation
from theory.numbers.algebra import precise
from theory.regret import omegas as regret
from theory.setting import Constants, Region, SettingError

HALF = Region(rate=10, rho=Fraction(1, 2))
THREE_ROUNDINGS = Constants(  # of its root, its linear and its third term: more than two units of the largest
    D=Fraction(24415, 3549), sigma=Fraction(175, 9), eta=Fraction(507, 721), B=Fraction(542, 7247), Pdim=22
)
magnitudes = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


@pytest.mark.parametrize(("K", "T"), [(1, 5), (2, 1), (7, 6), (7, 20), (5, 3)])
def test_the_printed_forms_name_the_rounds_in_which_their_limit_has_a_negative_radicand(K, T):
    negative = [t for t in range(1, T + 1) if penalty.penalty_limit_as_stated(K, t, 10, UNIT).linear < 0]
    expected = {"root": ((negative[0], negative[-1]),)} if negative else {}
    assert regret.omega2_as_stated(K, HALF, T, UNIT).negative == expected
    assert regret.omega3_as_stated(K, 10, T, UNIT).negative == expected
    assert regret.omega2(K, HALF, T, UNIT).negative == regret.omega3(K, 10, T, UNIT).negative == {}


@pytest.mark.parametrize("form", [regret.omega3, regret.omega3_as_stated])
@settings(max_examples=10)
@given(
    K=st.integers(1, 9),
    rate=magnitudes,
    T=st.integers(1, 60),
    c=st.builds(Constants, D=magnitudes, sigma=magnitudes, eta=magnitudes, B=magnitudes, Pdim=magnitudes),
)
@example(K=5, rate=Fraction(79, 89), T=8, c=THREE_ROUNDINGS)
def test_the_error_of_a_float_omega_covers_all_its_roundings(form, K, rate, T, c):
    near, proved = both(form, K, rate, T, c)
    with precise():
        assert abs(proved.total - near.total) <= near.error
    largest = max(abs(term) for term in vars(near.terms).values())
    assert near.error <= 2 * proved.error + 5 * np.spacing(largest)


def omega2_by_definition(K, gap, T, Pdim, *, stated):
    """Ω₂ with Λ̄ = 3, D = σ = B = 1 and η = 1/10, round by round from the printed definitions, with sums for sums."""
    rate, rho, sums = mpmath.mpf(3), 1 - mpmath.mpf(1) / gap, [mpmath.mpf(0)]
    most, value = rate, mpmath.mpf(0)

    def penalty_of(n, N, seen, in_log):
        mu = 1 / n - 1 / N
        logarithm = mpmath.log(in_log / Pdim) if in_log > Pdim else 0
        return mpmath.sqrt(max(mu, 0)) + mu / 10 + 10 * mpmath.sqrt(Pdim / seen * (1 + logarithm))

    for t in range(1, T + 1):
        fewest = sums[t - 1] + rate
        if stated:
            n = (K - 1) * rate * (1 - rho ** max(t - K, 0)) + rate
            value += penalty_of(n, fewest, fewest, most) - penalty_of(K * rate, t * rate, t * rate, t * rate)
        else:
            n = sums[t - 1] - sums[max(t - K, 0)] + rate
            limit = penalty_of(min(t, K) * rate, t * rate, t * rate, t * rate)
            value += penalty_of(n, most, fewest, fewest) - limit
        sums.append(sums[-1] + rate * (1 - rho**t))
        most += rate / (1 - rho**t)
    return value


@pytest.mark.parametrize("form", [regret.omega2, regret.omega2_as_stated])
@pytest.mark.parametrize(("K", "gap", "Pdim"), [(1, 10**3, 5), (40, 10**9, 200), (10**6, 10**3, 5)])
def test_a_certified_omega_2_contains_the_sum_of_its_definition(form, K, gap, Pdim):
    T, stated = 500, form is regret.omega2_as_stated
    eta = Fraction(1, 10 if stated else 20)  # a round of the corrected form takes E steps
    constants = Constants(D=1, sigma=1, eta=eta, B=1, Pdim=Pdim, E=2)
    region = Region(rate=3, rho=1 - Fraction(1, gap))
    near, proved = both(form, K, region, T, constants)
    with mpmath.workdps(70), flint.ctx.workprec(200):
        slow = flint.arb(mpmath.nstr(omega2_by_definition(K, gap, T, Pdim, stated=stated), 50))
        assert proved.total.contains(slow)
        assert proved.total.rad() < abs(slow) * flint.arb(10) ** -14
        assert abs(near.total - slow) <= near.error


@pytest.mark.slow
@pytest.mark.parametrize("form", [regret.omega2, regret.omega2_as_stated])
def test_a_certified_omega_2_costs_no_more_as_rho_tends_to_one(form, monkeypatch):
    monkeypatch.setattr(summation, "BALL_TERMS_MAX", 2**16)
    region = Region(rate=10, rho=1 - Fraction(1, 10**9))
    proved = form(10**6, region, 10**15, UNIT, certified=True).total
    assert proved.rad() < 10**-9 * abs(proved.mid())


def test_omega_2_says_what_to_change_where_it_cannot_be_enclosed(monkeypatch):
    with pytest.raises(SettingError, match=r"1-rho must exceed .*, got 1.0e-40"):
        regret.omega2(10, Region(rate=10, rho=1 - Fraction(1, 10**40)), 10, UNIT)
    monkeypatch.setattr(summation, "BALL_TERMS_MAX", 1000)
    with pytest.raises(ArithmeticError, match="a rho further from 0 and 1, a smaller K or fewer rounds"):
        regret.omega2(10, Region(rate=10, rho=Fraction(1, 2)), 10**9, UNIT)


def test_the_first_round_alone_has_an_omega_2_of_exactly_zero_mismatch():
    first = regret.omega2(10, Region(rate=10, rho=1 - Fraction(1, 10**9)), 1, UNIT, certified=True).terms
    assert (first.root, first.linear) == (0, 0)
