"""The partial Lambert sum in every number system, against its definition."""

from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.lambert import lambert_partial, lambert_total

GAPS = [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)]
ratios = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def ball(x: Fraction) -> Any:
    return flint.arb(x.numerator) / x.denominator


def by_definition(rho: Any, t: int) -> Any:
    return sum((rho**tau / (1 - rho**tau) for tau in range(1, t)), 0 * rho)


@pytest.mark.parametrize("gap", GAPS)
def test_float_array_matches_direct_summation_to_thirteen_digits(gap: Fraction) -> None:
    rho = float(1 - gap)
    with mpmath.workdps(40):
        terms = (mpmath.mpf(rho) ** tau / (1 - mpmath.mpf(rho) ** tau) for tau in range(1, 2000))
        direct, sums = mpmath.mpf(0), []
        for term in terms:
            direct += term
            sums.append(float(direct))
    assert lambert_partial(rho, np.arange(2, 2001, dtype=float)) == pytest.approx(sums, rel=1e-13, abs=0)


@pytest.mark.parametrize("gap", GAPS)
def test_mpmath_values_are_good_to_the_working_precision(gap: Fraction) -> None:
    with mpmath.workdps(40):
        rho = 1 - mpmath.mpf(gap.numerator) / gap.denominator
        assert mpmath.almosteq(lambert_partial(rho, mpmath.mpf(300)), by_definition(rho, 300), 1e-36)


@pytest.mark.parametrize("gap", GAPS)
def test_total_is_clausens_quickly_converging_series(gap: Fraction) -> None:
    """Σ ρ^n/(1-ρ^n) = Σ ρ^(n²) (1+ρ^n)/(1-ρ^n), an identity that shares nothing with Euler-Maclaurin."""
    with flint.ctx.workprec(128):
        rho, clausen, n = 1 - ball(gap), flint.arb(0), 1
        while rho ** (n * n) > flint.arb(2) ** -130:
            clausen += rho ** (n * n) * (1 + rho**n) / (1 - rho**n)
            n += 1
        proved = lambert_total(rho)
        assert abs(proved / clausen - 1) < flint.arb(10) ** -30
    assert float(lambert_total(float(1 - gap))) == pytest.approx(
        float(proved), rel=1e-13 + 1e-16 / float(gap)
    )


def test_total_is_the_series_of_the_divisor_function() -> None:
    """Σ ρ^τ/(1-ρ^τ) = Σ d(n) ρ^n; at ρ = 1/2 it is the Erdős-Borwein constant."""
    divisors = sum(sympy.divisor_count(n) * Fraction(1, 2) ** n for n in range(1, 80))
    assert float(lambert_total(0.5)) == pytest.approx(float(divisors), rel=1e-15)


def test_partial_sum_tends_to_the_total() -> None:
    assert lambert_partial(0.999, 10.0**9) == pytest.approx(lambert_total(0.999), rel=1e-15)


@pytest.mark.parametrize("rho", [0.5, 0.99, 1 - 1e-6])
def test_no_round_before_the_first_adds_nothing(rho: float) -> None:
    assert lambert_partial(Fraction(rho), 1) == 0
    assert lambert_partial(rho, 1) == 0
    assert lambert_partial(flint.arb(rho), flint.arb(1)).contains(0)


@settings(deadline=None, max_examples=60)
@given(rho=ratios, t=st.integers(1, 400))
def test_balls_contain_the_exact_sum_on_the_line_and_in_the_plane(rho: Fraction, t: int) -> None:
    with flint.ctx.workprec(128):
        reference = by_definition(ball(rho), t)
        real, plane = lambert_partial(ball(rho), flint.arb(t)), lambert_partial(ball(rho), flint.acb(t))
        assert real.overlaps(reference)
        assert plane.real.overlaps(reference)
        assert plane.imag.contains(0)
        if t > 1:
            assert real.rel_accuracy_bits() > 100
            assert not real.overlaps(reference * (1 + flint.arb(2) ** -90))


@settings(deadline=None, max_examples=40)
@given(
    rho=ratios,
    low=st.integers(2, 200),
    width=st.fractions(0, Fraction(1, 2)),
    angle=st.fractions(-1, 1),
)
def test_a_wide_ball_contains_the_values_at_its_points(
    rho: Fraction, low: int, width: Fraction, angle: Fraction
) -> None:
    radius = ball(width * low)
    unit = flint.arb(0, 1)
    wide = lambert_partial(ball(rho), flint.acb(low + radius * unit, radius * unit))
    inside = lambert_partial(ball(rho), flint.acb(low + radius * ball(angle), -radius * ball(angle)))
    assert wide.overlaps(inside)
    assert lambert_partial(ball(rho), low + radius * unit).overlaps(
        lambert_partial(ball(rho), low + radius * ball(angle))
    )


@settings(deadline=None, max_examples=40)
@given(rho=ratios, t=st.integers(1, 200), shift=st.fractions(0, 3))
def test_the_recurrence_holds_between_the_integers(rho: Fraction, t: int, shift: Fraction) -> None:
    """L(t+1) - L(t) = ρ^t/(1-ρ^t) for real t too, which pins the interpolation down."""
    with flint.ctx.workprec(128):
        x = flint.arb(t) + ball(shift)
        difference = lambert_partial(ball(rho), x + 1) - lambert_partial(ball(rho), x)
        power = (x * ball(rho).log()).exp()
        assert difference.overlaps(power / (1 - power))


def test_no_enclosure_is_claimed_left_of_the_half_plane() -> None:
    assert not lambert_partial(flint.arb(1) / 2, flint.acb(-100)).is_finite()
    assert not lambert_partial(flint.arb(1) / 2, flint.arb(-100)).is_finite()


@settings(deadline=None, max_examples=25)
@given(rho=ratios, t=st.integers(1, 30))
def test_exact_and_symbolic_sums_are_the_definition(rho: Fraction, t: int) -> None:
    assert lambert_partial(rho, t) == by_definition(rho, t)
    assert lambert_partial(sympy.Rational(rho), sympy.Integer(t)) == sympy.Rational(by_definition(rho, t))


def test_symbols_give_an_unevaluated_sum() -> None:
    rho, t = sympy.Symbol("rho", positive=True), sympy.Symbol("t", integer=True, positive=True)
    unevaluated = lambert_partial(rho, t)
    assert isinstance(unevaluated, sympy.Sum)
    assert unevaluated.subs({rho: sympy.Rational(1, 2), t: 3}).doit() == sympy.Rational(4, 3)
    assert isinstance(lambert_total(Fraction(1, 2)), sympy.Sum)
    assert lambert_partial(Fraction(1, 2), t).has(sympy.Rational(1, 2))


def test_an_exact_sum_up_to_a_fractional_round_is_refused() -> None:
    with pytest.raises(ValueError, match="whole t"):
        lambert_partial(Fraction(1, 2), Fraction(5, 2))


def test_torch_tensors_agree_with_floats() -> None:
    torch = pytest.importorskip("torch")
    t = np.array([2.0, 7.0, 1000.0])
    tensor = lambert_partial(0.99, torch.tensor(t))
    assert tensor.numpy() == pytest.approx(lambert_partial(0.99, t), rel=1e-12)
