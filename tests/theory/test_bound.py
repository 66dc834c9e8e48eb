"""The bound over T rounds against rounds added one by one, and its stated form's trouble."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import fsum
from typing import Any

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.algebra import ball, precise
from theory.bound import generalisation_term, theorem_1, theorem_1_as_stated
from theory.constant_admission import (
    constant_bound,
    constant_bound_as_stated,
    constant_round,
    constant_round_as_stated,
    oracle_bound,
    oracle_bound_as_stated,
)
from theory.reuse import trajectory, uniformity_constant_as_stated
from theory.setting import Constants, SettingError

positive = st.fractions(Fraction(1, 20), 50, max_denominator=20)
constants = st.builds(
    Constants, D=positive, sigma=positive, eta=positive, B=positive, Pdim=positive, E=st.integers(1, 3)
)
UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
THREE = ("root", "linear", "generalisation")


@settings(max_examples=40)
@given(st.integers(1, 40), positive, st.integers(1, 300), constants)
def test_the_fast_sum_is_the_sum_of_the_rounds(K: int, rate: Fraction, T: int, c: Constants) -> None:
    floats = c.map(float)
    rounds = [constant_round(K, np.float64(t), float(rate), floats) for t in range(1, T + 1)]
    fast = constant_bound(K, rate, T, c)
    for name in THREE:
        slow = fsum(getattr(r, name) for r in rounds)
        assert abs(getattr(fast.terms, name) - slow) <= fast.error + 1e-12 * abs(slow)
    assert fast.negative == {}
    assert fast.left_out == ()
    assert fast.terms.initial == pytest.approx(float(c.D**2 / (2 * c.eta * c.E)))


@settings(max_examples=15)
@given(st.integers(1, 30), positive, st.integers(1, 400), constants)
def test_the_certified_ball_contains_the_sum_of_the_rounds_in_both_forms(
    K: int, rate: Fraction, T: int, c: Constants
) -> None:
    numbers = c.map(ball)
    for bound, one_round in (
        (constant_bound, constant_round),
        (constant_bound_as_stated, constant_round_as_stated),
    ):
        proved = bound(K, rate, T, c, certified=True)
        with precise():
            rounds = [
                one_round(K, flint.arb(t), ball(rate), numbers)
                for t in range(1, T + 1)
                if t not in proved.left_out
            ]
            for name in THREE:
                plain = sum((getattr(r, name) for r in rounds), flint.arb(0))
                assert getattr(proved.terms, name).overlaps(plain)
                assert getattr(proved.terms, name).rad() <= 1e-12 * (1 + abs(float(plain.mid())))
        near = bound(K, rate, T, c)
        assert abs(near.total - float(proved.total.mid())) <= near.error + 1e-12 * abs(near.total)


@pytest.mark.parametrize("T", [10**9, 10**12, 10**15])
@pytest.mark.parametrize("K", [1, 10, 10**6])
def test_float_and_certified_bounds_agree_at_horizons_nobody_can_add_up(K: int, T: int) -> None:
    near, proved = constant_bound(K, 10, T, UNIT), constant_bound(K, 10, T, UNIT, certified=True)
    with precise():
        total = proved.total
    assert abs(near.total - float(total.mid())) <= near.error
    assert near.error <= 1e-12 * near.total
    assert float(total.rad()) <= 1e-15 * near.total


@given(st.integers(1, 60), st.integers(1, 150))
def test_stated_form_reports_exactly_the_rounds_with_a_negative_radicand(K: int, T: int) -> None:
    result = constant_bound_as_stated(K, 1, T, UNIT)
    root, generalisation = set(), set()
    for t in range(1, T + 1):
        V = uniformity_constant_as_stated(K, t)
        if V == 0:
            assert result.left_out == (t,)
            root.add(t)  # 1/N_eff is infinite there
            continue
        if Fraction(1, K) - 1 / (t * V) < 0:
            root.add(t)
        if V < 0:
            generalisation.add(t)
    reported = {
        name: {t for a, b in spans for t in range(a, b + 1)} for name, spans in result.negative.items()
    }
    assert reported.get("root", set()) == root
    assert reported.get("generalisation", set()) == generalisation


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(1, 6), constants)
def test_theorem_1_on_constant_admissions_is_corollary_1(admissions: list[int], K: int, c: Constants) -> None:
    T, rate = len(admissions), admissions[0]
    path = trajectory(np.full(T, float(rate)), K)
    whole = theorem_1(path.n, path.N, path.uniformity, path.mismatch, c.map(float))
    short = constant_bound(K, rate, T, c)
    assert whole.total == pytest.approx(short.total, rel=1e-11)
    exact = trajectory(admissions, K)
    floats = [np.asarray(x, dtype=float) for x in (exact.n, exact.N, exact.uniformity, exact.mismatch)]
    listed = theorem_1(*(list(map(float, x)) for x in floats), c.map(float))
    assert listed.total == pytest.approx(theorem_1(*floats, c.map(float)).total, rel=1e-12)


def test_theorem_1_as_stated_names_the_rounds_it_cannot_take_the_root_of() -> None:
    path = trajectory([1] * 10, K=4)
    result = theorem_1_as_stated(path.n, path.N, path.uniformity, UNIT)
    assert result.negative == {"root": ((2, 4),)}
    assert isinstance(result.total, sympy.Expr)


def test_the_oracle_is_the_printed_formula_of_fresh_samples() -> None:
    t = np.arange(1, 1001)
    gap = 1 / 100 - 1 / (100 * t)
    spread = 10 * np.sqrt(5 / (100 * t)) * np.sqrt(1 + np.log(100 * t / 5))
    printed = np.sqrt(gap) + 0.1 * gap + spread
    assert oracle_bound(100, 1000, UNIT).total == pytest.approx(printed.sum() + 5, rel=1e-12)
    stated, corrected = oracle_bound_as_stated(100, 10**6, UNIT), oracle_bound(100, 10**6, UNIT)
    assert stated.total == pytest.approx(corrected.total, rel=1e-13)


@given(st.lists(positive, min_size=2, max_size=2, unique=True), constants)
def test_generalisation_falls_with_the_number_of_distinct_samples(N: list[Fraction], c: Constants) -> None:
    values = [float(generalisation_term(1 / x, x, c)) for x in sorted(N)]
    assert all(a >= b * (1 - 1e-12) for a, b in pairwise(values))


@pytest.mark.parametrize("T", [10, 10**15 - 1])
def test_the_error_covers_the_constants_too(T: int) -> None:
    wild = Constants(
        D=Fraction("123456.7"),
        sigma=Fraction(1, 1000),
        eta=Fraction(1, 10**9),
        B=1,
        Pdim=5,
        G=Fraction("123456789.1"),
    )
    near, proved = constant_bound(3, 10, T, wild), constant_bound(3, 10, T, wild, certified=True)
    with precise():
        assert abs(proved.total - near.total) <= near.error
        assert float(proved.total.rad()) <= 1.01 * proved.error


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: theorem_1([1], [0], [1], [0], UNIT), "N must not be 0"),
        (lambda: theorem_1([1], [-1], [1], [0], UNIT), "at least 0, got -1"),
        (lambda: theorem_1([1], [float("nan")], [1], [0], UNIT), "got nan"),
        (lambda: constant_bound(0, 1, 10, UNIT), "K must be"),
        (lambda: constant_bound(1.5, 1, 10, UNIT), "K must be"),
        (lambda: constant_bound(1, 0, 10, UNIT), "rate must be"),
        (lambda: constant_bound(1, 1, 0, UNIT), "horizon"),
        (lambda: constant_bound(1, 1, float("inf"), UNIT), "horizon"),
        (lambda: theorem_1([1, 2], [1], [1, 1], [0, 0], UNIT), "one length"),
        (lambda: theorem_1([], [], [], [], UNIT), "empty"),
        (lambda: theorem_1([0], [1], [1], [0], UNIT), "n must not be 0"),
        (
            lambda: constant_bound(2, 1, 3, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, E=2, G=1)),
            "smoothness L",
        ),
    ],
)
def test_nonsense_is_refused_in_one_sentence(call: Any, complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)
