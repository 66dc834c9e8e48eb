"""Settings refuse what makes no sense, in one sentence."""

from fractions import Fraction

import mpmath
import pytest
import sympy

from theory.numbers.algebra import ball
from theory.setting import Budget, Constants, Region, SettingError, positive, retention

GOOD = {"D": 1, "sigma": 1, "eta": 1, "B": 1, "Pdim": 5}


@pytest.mark.parametrize("name", [*GOOD, "L", "G"])
@pytest.mark.parametrize(
    "value",
    [0, -1, float("nan"), float("inf"), "1", True, sympy.Symbol("x", negative=True), sympy.oo, sympy.nan],
)
def test_a_constant_must_be_a_positive_finite_number(name, value):
    with pytest.raises(SettingError, match=f"{name} must be a positive finite number") as caught:
        Constants(**{**GOOD, name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 1.5, float("nan"), "2"])
def test_local_steps_are_whole_and_the_contraction_lies_strictly_between_0_and_1(wrong):
    if wrong != 1:
        with pytest.raises(SettingError, match="E must be a whole number"):
            Constants(**GOOD, E=wrong)
    with pytest.raises(SettingError, match="rho must lie strictly between 0 and 1"):
        Region(rate=1, rho=wrong)


def test_a_symbol_that_may_count_rounds_is_welcome():
    for K in (sympy.Integer(1), sympy.Symbol("K"), sympy.Symbol("K", integer=True, positive=True)):
        assert retention(K) == K


@pytest.mark.parametrize(("letters", "shown"), [(38, "'" + 38 * "x" + "'"), (39, "'" + 36 * "x" + "...")])
def test_a_wrong_value_is_quoted_in_40_letters_at_most(letters, shown):
    with pytest.raises(SettingError) as caught:
        positive("D", letters * "x")
    assert str(caught.value).endswith(f"got {shown}")


def test_the_total_buffer_is_exact_or_correctly_rounded():
    tiny, B = 2.0**-53, sympy.Symbol("B", positive=True)
    for buffers, total in [
        ((1.0, tiny, tiny**2), 1 + 2 * tiny),
        ((Fraction(1, 3), 2), Fraction(7, 3)),
        ((0.5, B), 0.5 + B),
    ]:
        assert Budget(buffers=buffers, cost=1, mean_cost=1).total_buffer == total


def test_settings_move_between_number_systems():
    constants = Constants(**{**GOOD, "eta": Fraction(1, 10)}, E=3, G=2)
    assert constants.map(float).eta == 0.1
    assert constants.map(ball).map(float).E == 3
    assert (constants.merged.eta, constants.merged.E) == (Fraction(3, 10), 1)
    assert constants.map(float).L is None
    assert Region(rate=2, rho=Fraction(1, 2)).map(float).rho == 0.5


def test_mpmath_counts_beyond_the_floats_but_not_to_infinity():
    assert positive("D", mpmath.mpf("1e400")) > 10**399
    with pytest.raises(SettingError, match="finite"):
        positive("D", mpmath.inf)
