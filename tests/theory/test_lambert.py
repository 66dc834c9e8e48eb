"""The partial Lambert sum in every number system, against its definition."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import lambert
from theory.lambert import lambert_partial, lambert_total

GAPS = [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)]
ratios = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def ball(x: Fraction) -> Any:
    return flint.arb(x.numerator) / x.denominator


def by_definition(rho: Any, t: int) -> Any:
    return sum((rho**tau / (1 - rho**tau) for tau in range(1, t)), 0 * rho)


def clausen(rho: Any) -> Any:
    """Σ ρ^(n²) (1+ρ^n)/(1-ρ^n), to the working precision."""
    terms, n = flint.arb(0), 1
    while rho ** (n * n) > flint.arb(2) ** -(flint.ctx.prec + 2):
        terms += rho ** (n * n) * (1 + rho**n) / (1 - rho**n)
        n += 1
    return terms


@pytest.mark.parametrize("gap", GAPS)
def test_float_array_matches_direct_summation_to_fourteen_digits(gap: Fraction) -> None:
    rho = float(1 - gap)
    with mpmath.workdps(40):
        terms = (mpmath.mpf(rho) ** tau / (1 - mpmath.mpf(rho) ** tau) for tau in range(1, 2000))
        direct, sums = mpmath.mpf(0), []
        for term in terms:
            direct += term
            sums.append(float(direct))
    assert lambert_partial(rho, np.arange(2, 2001, dtype=float)) == pytest.approx(sums, rel=1e-14, abs=0)


@pytest.mark.parametrize("gap", GAPS)
def test_mpmath_values_are_good_to_the_working_precision(gap: Fraction) -> None:
    with mpmath.workdps(40):
        rho = 1 - mpmath.mpf(gap.numerator) / gap.denominator
        assert mpmath.almosteq(lambert_partial(rho, mpmath.mpf(300)), by_definition(rho, 300), 1e-36)


@pytest.mark.parametrize("gap", GAPS)
def test_total_is_clausens_quickly_converging_series(gap: Fraction) -> None:
    """Σ ρ^n/(1-ρ^n) = Σ ρ^(n²) (1+ρ^n)/(1-ρ^n), an identity that shares nothing with Euler-Maclaurin."""
    with flint.ctx.workprec(128):
        proved = lambert_total(1 - ball(gap))
        assert abs(proved / clausen(1 - ball(gap)) - 1) < flint.arb(10) ** -30
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


# --- that the enclosure is proved: plans so poor that the remainder is all there is --------------------------


@pytest.fixture
def force(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, int], None]]:
    """Add `shift` terms and take `order` corrections everywhere, whatever the precision asks for."""

    def plan(shift: int, order: int) -> None:
        lambert._start.cache_clear()
        monkeypatch.setattr(lambert, "_plan", lambda z, bits: (shift, order))

    yield plan
    lambert._start.cache_clear()


def sharp_partial(rho: Any, t: Any) -> Any:
    """L(t) = Σ_{n>=0} h(1+n) - h(t+n), for complex t too, to hundreds of digits."""
    terms, first, other = flint.acb(0), flint.acb(rho), (t * rho.log()).exp()
    while abs(first) > flint.arb(2) ** -350:
        terms += first / (1 - first) - other / (1 - other)
        first, other = first * rho, other * rho
    rest = 4 * (abs(first) + abs(other)) / (1 - rho) * flint.arb(0, 1)
    return terms + flint.acb(rest, rest)


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_a_total_is_enclosed_whatever_the_plan(
    rho: Fraction, shift: int, force: Callable[[int, int], None]
) -> None:
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
def test_a_partial_sum_is_enclosed_whatever_the_plan(
    rho: Fraction, imaginary: Fraction, force: Callable[[int, int], None]
) -> None:
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
def test_each_of_the_two_remainders_of_a_partial_sum_is_needed(
    rho: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize("denominator", [2, 128, 2**20])
@pytest.mark.parametrize("number", [flint.arb, flint.acb])
@pytest.mark.parametrize(("bits", "lost"), [(128, 12), (1000, 20)])
def test_the_usual_plan_leaves_nearly_all_bits_near_and_far(
    denominator: int, number: Any, bits: int, lost: int
) -> None:
    with flint.ctx.workprec(bits):
        rho = 1 - flint.arb(1) / denominator
        for t in (2, 3, 7, 20, 44, 46, 60, 100, 400, 10**4, 10**9):
            assert flint.acb(lambert_partial(rho, number(t))).real.rel_accuracy_bits() >= bits - lost


def test_a_ball_around_the_first_round_contains_more_than_the_empty_sum() -> None:
    with flint.ctx.workprec(128):
        rho, unit = ball(Fraction(9, 10)), flint.arb(0, 1)
        for t in (Fraction(3, 4), Fraction(1), Fraction(5, 4)):
            sharp = sharp_partial(rho, flint.acb(ball(t))).real
            assert lambert_partial(rho, 1 + unit / 2).contains(sharp)
            assert lambert_partial(rho, flint.acb(1 + unit / 2, unit / 2)).real.contains(sharp)


def test_a_wider_ratio_is_not_given_the_narrow_one_s_first_tail() -> None:
    with flint.ctx.workprec(128):
        middle, radius = flint.arb(1) / 2, flint.arb(1) / 64
        narrow = lambert_partial(middle, flint.arb(9))
        wide = lambert_partial(middle + radius * flint.arb(0, 1), flint.arb(9))
        ends = [lambert_partial(middle + sign * radius, flint.arb(9)) for sign in (1, -1)]
        assert all(wide.contains(end) and not narrow.overlaps(end) for end in ends)


def test_no_enclosure_is_claimed_left_of_the_half_plane() -> None:
    assert not lambert_partial(flint.arb(1) / 2, flint.acb(-100)).is_finite()
    assert not lambert_partial(flint.arb(1) / 2, flint.arb(-100)).is_finite()
    assert not lambert_partial(flint.arb(1) / 2, flint.acb(-100, 2)).is_finite()


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
