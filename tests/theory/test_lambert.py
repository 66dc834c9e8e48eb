"""The partial Lambert sum in floats and balls, against its definition."""

from fractions import Fraction
from itertools import accumulate, product

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.numbers import lambert
from theory.numbers.lambert import lambert_partial, lambert_total

GAPS = [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)]
ratios = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def ball(x):
    return flint.arb(x.numerator) / x.denominator


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
        sums = [float(direct) for direct in accumulate(terms, initial=mpmath.mpf(0))]
    assert lambert_partial(rho, np.arange(1, 2001, dtype=float)) == pytest.approx(sums, rel=1e-14, abs=0)


@pytest.mark.parametrize("gap", GAPS)
def test_total_is_clausens_quickly_converging_series(gap):
    """Σ ρ^n/(1-ρ^n) = Σ ρ^(n²) (1+ρ^n)/(1-ρ^n), an identity that shares nothing with Euler-Maclaurin."""
    with flint.ctx.workprec(128):
        proved = lambert_total(1 - ball(gap))
        assert abs(proved / clausen(1 - ball(gap)) - 1) < flint.arb(10) ** -30
    near = float(lambert_total(float(1 - gap)))
    assert near == pytest.approx(float(proved), rel=1e-13 + 1e-16 / float(gap))


@settings(max_examples=15)
@given(rho=ratios, t=st.integers(1, 400))
def test_balls_contain_the_exact_sum_on_the_line_and_in_the_plane(rho, t):
    with flint.ctx.workprec(128):
        powers = [ball(rho) ** tau for tau in range(1, t)]
        reference = sum((power / (1 - power) for power in powers), flint.arb(0))
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
    off = radius * ball(angle)
    assert wide.overlaps(lambert_partial(ball(rho), flint.acb(low + off, -off)))
    real = lambert_partial(ball(rho), low + radius * unit)
    assert real.overlaps(lambert_partial(ball(rho), low + off))


# --- that the enclosure is proved: so few terms that the remainder is all there is ---------------------------


def sharp_tail(rho, z):
    """Σ_{n>=0} ρ^(z+n)/(1-ρ^(z+n)), for complex z too, to a hundred digits."""
    terms, power = flint.acb(0), (z * rho.log()).exp()
    while abs(power) > flint.arb(2) ** -350:
        terms += power / (1 - power)
        power *= rho
    rest = 4 * abs(power) / (1 - rho) * flint.arb(0, 1)
    return terms + flint.acb(rest, rest)


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("z", [1, flint.arb(2), flint.acb(2), flint.acb(1.5, 0.5), flint.acb(0.25, 2)])
def test_a_tail_is_enclosed_with_any_number_of_terms_and_corrections(rho, z):
    """The series diverges in the end; there R comes within a few per cent of its bound, so half of it is too little.

    At 1/4 + 2i the remainder is larger than the last correction: the bound has to be taken at 1/4.
    """
    worst = flint.arb(0)
    with flint.ctx.workprec(400):
        ratio = ball(rho)
        sharp = sharp_tail(ratio, flint.acb(z))
        for shift, order in product((0, 1, 5), (*range(1, 13), 20, 40)):
            terms, inside = lambert.tail(ratio, z, shift, order)
            proved = flint.acb(terms + inside.log() / ratio.log())
            assert proved.overlaps(sharp)
            worst = worst.max(abs(proved.real.mid() - sharp.real) / proved.real.rad())
    assert worst > flint.arb(4) / 5 or flint.acb(z).imag != 0


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
            sharp = (sharp_tail(rho, flint.acb(1)) - sharp_tail(rho, flint.acb(ball(t)))).real
            assert lambert_partial(rho, 1 + unit / 2).contains(sharp)
            assert lambert_partial(rho, flint.acb(1 + unit / 2, unit / 2)).real.contains(sharp)
        assert lambert_partial(rho, flint.arb(1)) == lambert_partial(rho, flint.acb(1)) == 0


def test_a_wider_ratio_is_not_given_the_narrow_one_s_first_tail():
    with flint.ctx.workprec(128):
        middle, radius = flint.arb(1) / 2, flint.arb(1) / 64
        narrow = lambert_partial(middle, flint.arb(9))
        wide = lambert_partial(middle + radius * flint.arb(0, 1), flint.arb(9))
        ends = [lambert_partial(middle + sign * radius, flint.arb(9)) for sign in (1, -1)]
        assert all(wide.contains(end) and not narrow.overlaps(end) for end in ends)


def test_no_enclosure_is_claimed_left_of_the_half_plane():
    for t in (flint.acb(-100), flint.arb(-100), flint.acb(-100, 2)):
        assert not lambert_partial(flint.arb(1) / 2, t).is_finite()


def test_the_total_of_a_symbol_is_a_sum_without_end():
    assert lambert_total(sympy.Symbol("rho")).limits[0][2] == sympy.oo


def test_an_exact_sum_up_to_a_fractional_round_is_refused():
    with pytest.raises(ValueError, match="whole t"):
        lambert_partial(Fraction(1, 2), Fraction(5, 2))
