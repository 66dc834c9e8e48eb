"""The partial Lambert sum in floats and balls, against its definition."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.numbers import lambert
from theory.numbers.lambert import lambert_partial, lambert_total

GAPS = [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)]
ratios = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def ball(x):
    return flint.arb(x.numerator) / x.denominator


def by_definition(rho, t):
    return sum((rho**tau / (1 - rho**tau) for tau in range(1, t)), 0 * rho)


def clausen(rho):
    """Σ ρ^(n²) (1+ρ^n)/(1-ρ^n), to the working precision."""
    terms, n = flint.arb(0), 1
    while rho ** (n * n) > flint.arb(2) ** -(flint.ctx.prec + 2):
        terms += rho ** (n * n) * (1 + rho**n) / (1 - rho**n)
        n += 1
    return terms


@pytest.mark.parametrize("gap", GAPS)
def test_float_array_matches_direct_summation_to_fourteen_digits(gap):
    rho = float(1 - gap)
    with mpmath.workdps(40):
        terms = (mpmath.mpf(rho) ** tau / (1 - mpmath.mpf(rho) ** tau) for tau in range(1, 2000))
        direct, sums = mpmath.mpf(0), [0.0]
        for term in terms:
            direct += term
            sums.append(float(direct))
    assert lambert_partial(rho, np.arange(1, 2001, dtype=float)) == pytest.approx(sums, rel=1e-14, abs=0)


@pytest.mark.parametrize("gap", GAPS)
def test_total_is_clausens_quickly_converging_series(gap):
    """Σ ρ^n/(1-ρ^n) = Σ ρ^(n²) (1+ρ^n)/(1-ρ^n), an identity that shares nothing with Euler-Maclaurin."""
    with flint.ctx.workprec(128):
        proved = lambert_total(1 - ball(gap))
        assert abs(proved / clausen(1 - ball(gap)) - 1) < flint.arb(10) ** -30
    assert float(lambert_total(float(1 - gap))) == pytest.approx(
        float(proved), rel=1e-13 + 1e-16 / float(gap)
    )


@settings(max_examples=15)
@given(rho=ratios, t=st.integers(1, 400))
def test_balls_contain_the_exact_sum_on_the_line_and_in_the_plane(rho, t):
    with flint.ctx.workprec(128):
        reference = by_definition(ball(rho), t)
        real, plane = lambert_partial(ball(rho), flint.arb(t)), lambert_partial(ball(rho), flint.acb(t))
        assert real.overlaps(reference)
        assert plane.real.overlaps(reference)
        assert plane.imag.contains(0)
        if t > 1:
            assert real.rel_accuracy_bits() > 100
            assert not real.overlaps(reference * (1 + flint.arb(2) ** -90))


@settings(max_examples=12)
@given(rho=ratios, low=st.integers(2, 200), width=st.fractions(0, Fraction(1, 2)), angle=st.fractions(-1, 1))
def test_a_wide_ball_contains_the_values_at_its_points(rho, low, width, angle):
    radius = ball(width * low)
    unit = flint.arb(0, 1)
    wide = lambert_partial(ball(rho), flint.acb(low + radius * unit, radius * unit))
    inside = lambert_partial(ball(rho), flint.acb(low + radius * ball(angle), -radius * ball(angle)))
    assert wide.overlaps(inside)
    assert lambert_partial(ball(rho), low + radius * unit).overlaps(
        lambert_partial(ball(rho), low + radius * ball(angle))
    )


# --- that the enclosure is proved: plans so poor that the remainder is all there is --------------------------


@pytest.fixture
def force(monkeypatch):
    """Add `shift` terms and take `order` corrections everywhere, whatever the precision asks for."""

    def plan(shift, order):
        lambert._start.cache_clear()
        monkeypatch.setattr(lambert, "_plan", lambda z, bits: (shift, order))

    yield plan
    lambert._start.cache_clear()


def sharp_partial(rho, t):
    """L(t) = Σ_{n>=0} h(1+n) - h(t+n), for complex t too, to hundreds of digits."""
    terms, first, other = flint.acb(0), flint.acb(rho), (t * rho.log()).exp()
    while abs(first) > flint.arb(2) ** -350:
        terms += first / (1 - first) - other / (1 - other)
        first, other = first * rho, other * rho
    rest = 4 * (abs(first) + abs(other)) / (1 - rho) * flint.arb(0, 1)
    return terms + flint.acb(rest, rest)


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_a_total_is_enclosed_whatever_the_plan(rho, shift, force):
    """The series diverges in the end; there R comes within a few per cent of its bound, so half of it is too little."""
    worst = flint.arb(0)
    with flint.ctx.workprec(400):
        sharp = clausen(ball(rho))
        for order in (*range(1, 13), 20, 40):
            force(shift, order)
            proved = lambert_total(ball(rho))
            assert proved.contains(sharp)
            worst = worst.max(abs(proved.mid() - sharp) / proved.rad())
    assert worst > flint.arb(4) / 5


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("imaginary", [Fraction(0), Fraction(1, 2), Fraction(2), Fraction(7)])
def test_a_partial_sum_is_enclosed_whatever_the_plan(rho, imaginary, force):
    """At 1/4 + 2i the remainder is larger than the last correction: the bound has to be taken at 1/4."""
    with flint.ctx.workprec(400):
        for real in (Fraction(1, 4), Fraction(3, 2), Fraction(2), Fraction(9)):
            t = flint.acb(ball(real), ball(imaginary))
            sharp = sharp_partial(ball(rho), t)
            for shift, order in ((0, 1), (0, 4), (0, 8), (0, 20), (1, 2), (2, 20), (4, 3)):
                force(shift, order)
                proved = lambert_partial(ball(rho), t)
                assert proved.real.contains(sharp.real)
                assert proved.imag.contains(sharp.imag)
                if imaginary == 0:
                    assert lambert_partial(ball(rho), t.real).contains(sharp.real)


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(9, 10)])
def test_each_of_the_two_remainders_of_a_partial_sum_is_needed(rho, monkeypatch):
    """With one of the two tails at full precision, the other's remainder is all the radius, and most of it is used."""
    usual = lambert._plan
    with flint.ctx.workprec(400):
        for t in (flint.arb(2), flint.acb(2)):
            sharp = sharp_partial(ball(rho), flint.acb(2)).real
            for poor in (int, type(t)):  # the first tail stands at the integer 1
                monkeypatch.setattr(
                    lambert,
                    "_plan",
                    lambda z, bits, poor=poor: (0, 20) if isinstance(z, poor) else usual(z, bits),
                )
                lambert._start.cache_clear()
                proved = flint.acb(lambert_partial(ball(rho), t)).real
                assert proved.contains(sharp)
                assert abs(proved.mid() - sharp) > proved.rad() * 4 / 5
    lambert._start.cache_clear()


@pytest.mark.parametrize("number", [flint.arb, flint.acb])
@pytest.mark.parametrize(("denominator", "bits", "lost"), [(2, 128, 12), (2**20, 128, 12), (128, 1000, 20)])
def test_the_usual_plan_leaves_nearly_all_bits_near_and_far(number, denominator, bits, lost):
    with flint.ctx.workprec(bits):
        rho = 1 - flint.arb(1) / denominator
        for t in (2, 3, 7, 20, 44, 46, 60, 100, 400, 10**4, 10**9):
            assert flint.acb(lambert_partial(rho, number(t))).real.rel_accuracy_bits() >= bits - lost


def test_a_ball_around_the_first_round_contains_more_than_the_empty_sum():
    with flint.ctx.workprec(128):
        rho, unit = ball(Fraction(9, 10)), flint.arb(0, 1)
        for t in (Fraction(3, 4), Fraction(1), Fraction(5, 4)):
            sharp = sharp_partial(rho, flint.acb(ball(t))).real
            assert lambert_partial(rho, 1 + unit / 2).contains(sharp)
            assert lambert_partial(rho, flint.acb(1 + unit / 2, unit / 2)).real.contains(sharp)


def test_a_wider_ratio_is_not_given_the_narrow_one_s_first_tail():
    with flint.ctx.workprec(128):
        middle, radius = flint.arb(1) / 2, flint.arb(1) / 64
        narrow = lambert_partial(middle, flint.arb(9))
        wide = lambert_partial(middle + radius * flint.arb(0, 1), flint.arb(9))
        ends = [lambert_partial(middle + sign * radius, flint.arb(9)) for sign in (1, -1)]
        assert all(wide.contains(end) and not narrow.overlaps(end) for end in ends)


def test_no_enclosure_is_claimed_left_of_the_half_plane():
    assert not lambert_partial(flint.arb(1) / 2, flint.acb(-100)).is_finite()
    assert not lambert_partial(flint.arb(1) / 2, flint.arb(-100)).is_finite()
    assert not lambert_partial(flint.arb(1) / 2, flint.acb(-100, 2)).is_finite()


def test_an_exact_sum_up_to_a_fractional_round_is_refused():
    with pytest.raises(ValueError, match="whole t"):
        lambert_partial(Fraction(1, 2), Fraction(5, 2))
