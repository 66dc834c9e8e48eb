"""The bound over T rounds against rounds added one by one, and its stated form's trouble."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from math import fsum
from typing import Any

import flint
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theory.algebra import ball, precise
from theory.bound import (
    DEVIATION,
    Bound,
    Terms,
    deviation_term,
    generalisation_term,
    per_round_constant,
    per_round_constant_as_stated,
    theorem_1,
    theorem_1_as_stated,
)
from theory.constant_admission import (
    constant_bound,
    constant_bound_as_stated,
    constant_round,
    constant_round_as_stated,
    oracle_bound,
    oracle_bound_as_stated,
    with_constants,
)
from theory.reuse import trajectory, uniformity_constant_as_stated
from theory.setting import Constants, SettingError
from theory.sharper import (
    memory_1,
    memory_constant_bound,
    memory_constant_round,
    memory_round,
    sharper_1,
    sharper_constant_bound,
    sharper_constant_round,
    sharper_round,
    stale_weight,
    stale_weight_constant,
    step_constant,
)

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


def test_columns_of_several_kinds_are_added_up_round_by_round() -> None:
    mixed = theorem_1(np.array([1.0, 2.0]), [1, 2], [1, 1], [0, 0], UNIT)
    assert mixed == theorem_1([1, 2], [1, 2], [1, 1], [0, 0], UNIT)


def test_where_every_round_is_left_out_the_certified_sums_are_zero() -> None:
    proved = constant_bound_as_stated(3, 1, 1, UNIT, certified=True)  # the printed N_eff is 0 in round 1
    assert proved.left_out == (1,)
    assert [getattr(proved.terms, name) for name in THREE] == [0, 0, 0]


def test_the_error_covers_what_rounded_constants_leave_where_everything_cancels() -> None:
    third = float(Fraction(1, 3))
    exact = Bound(Terms(0.0, -third, 0.0), error=0.0)
    for constant, initial in ((third, 0.0), (0.0, third)):
        joined = with_constants(exact, constant, initial)
        assert joined.total == 0
        assert Fraction(1, 3) - Fraction(third) <= joined.error <= 1e-14


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


# --- the sharper bounds ------------------------------------------------------------------------------------

whole = st.builds(
    Constants,
    D=positive,
    sigma=positive,
    eta=positive,
    B=positive,
    Pdim=positive,
    E=st.integers(1, 3),
    L=positive,
    G=positive,
)
SHARPER = {
    "sharper": (sharper_constant_bound, sharper_constant_round),
    "memory": (memory_constant_bound, memory_constant_round),
}


@pytest.mark.parametrize("name", SHARPER)
@settings(max_examples=20)
@given(st.integers(1, 40), positive, st.integers(1, 300), whole)
def test_the_sharper_sums_are_the_sums_of_their_rounds(
    name: str, K: int, rate: Fraction, T: int, c: Constants
) -> None:
    bound, one_round = SHARPER[name]
    floats = c.map(float)
    rounds = [one_round(K, np.float64(t), float(rate), floats) for t in range(1, T + 1)]
    fast, proved = bound(K, rate, T, c), bound(K, rate, T, c, certified=True)
    for term in THREE:
        slow = fsum(getattr(r, term) for r in rounds)
        assert abs(getattr(fast.terms, term) - slow) <= fast.error + 1e-12 * abs(slow)
    assert fast.terms.initial == pytest.approx(float(c.D**2 / (2 * c.eta * c.E)))
    assert fast.terms.constant == pytest.approx(float(T * c.eta * c.E * c.G**2 / 2))
    with precise():
        assert abs(proved.total - fast.total) <= fast.error + 1e-12 * fast.total
        assert float(proved.total.rad()) <= 1e-12 * fast.total


@pytest.mark.parametrize("name", SHARPER)
@pytest.mark.parametrize("K", [1, 10, 10**6])
def test_the_sharper_bounds_reach_horizons_nobody_can_add_up(name: str, K: int) -> None:
    c = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5, E=2, G=1)
    near, proved = (SHARPER[name][0](K, 10, 10**15, c, certified=flag) for flag in (False, True))
    assert abs(near.total - float(proved.total.mid())) <= near.error
    assert near.error <= 1e-12 * near.total
    assert float(proved.total.rad()) <= 1e-15 * near.total


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.integers(1, 6), whole)
def test_the_sharper_bound_is_below_theorem_1_on_every_trajectory(
    admissions: list[int], K: int, c: Constants
) -> None:
    path, numbers = trajectory(np.asarray(admissions, dtype=float), K), c.map(float)
    old = theorem_1(path.n, path.N, path.uniformity, path.mismatch, numbers).terms
    new = sharper_1(path.N, path.uniformity, path.mismatch, numbers).terms
    assert (new.root, new.initial) == (old.root, old.initial)
    assert new.linear == 0
    assert new.generalisation <= old.generalisation * (float(DEVIATION) / 10 + 1e-12)
    assert new.constant <= old.constant * (Fraction(1, 2) + Fraction(1, 10**12))


@given(st.lists(st.integers(1, 6), min_size=2, max_size=12), st.integers(1, 6), whole)
def test_the_memory_bound_of_one_distribution_needs_n_and_the_fresh_samples_alone(
    admissions: list[int], K: int, c: Constants
) -> None:
    path = trajectory(admissions, K)
    stale = [stale_weight([new], [n]) for new, n in zip(admissions, path.n, strict=True)]
    found = memory_1([float(x) for x in stale], c.map(float))
    old = (float(n - new) ** 0.5 / float(n) for new, n in zip(admissions, path.n, strict=True))
    expected = 5.2 * float(c.B) * float(c.Pdim) ** 0.5 * fsum(old)
    assert found.terms.generalisation == pytest.approx(expected, rel=1e-12)
    assert found.terms.root == found.terms.linear == 0


def test_used_once_no_sample_is_stale_and_nothing_statistical_is_left() -> None:
    c = Constants(D=3, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5, E=2, G=2)
    found = memory_1([stale_weight([7], [7])] * 4, c)
    assert found.total == Fraction(9, 2) / Fraction(1, 5) + 4 * Fraction(1, 5) * 4 / 2
    assert memory_constant_bound(1, 7, 4, c).total == pytest.approx(float(found.total))


@given(st.integers(1, 9), st.integers(1, 30), positive, st.fractions(Fraction(1, 9), Fraction(8, 9)))
def test_clients_that_admit_by_their_shares_have_the_stale_weight_of_one_client(
    K: int, t: int, rate: Fraction, share: Fraction
) -> None:
    shares = [share, 1 - share]
    fresh = [s * rate for s in shares]
    sizes = [min(K, t) * new for new in fresh]
    assert stale_weight(fresh, sizes, shares) == stale_weight_constant(K, t, rate)
    assert stale_weight(fresh, sizes) == stale_weight_constant(K, t, rate)


def test_unequal_memories_make_the_shares_matter() -> None:
    by_size = stale_weight([1, 2], [4, 9])
    by_share = stale_weight([1, 2], [4, 9], [Fraction(1, 2), Fraction(1, 2)])
    assert by_size == Fraction(10, 169)
    assert by_share == Fraction(1, 4) * (Fraction(3, 16) + Fraction(7, 81))


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        (per_round_constant, Fraction(1, 5) * 3 * (2 * 3 + Fraction(5 * 7, 2))),
        (step_constant, Fraction(1, 5) * 2 * 9 / 2),
    ],
)
def test_the_constant_of_a_round_counts_every_local_step_and_is_left_out_without_G(
    constant: Any, value: Fraction
) -> None:
    c = Constants(D=5, sigma=1, eta=Fraction(1, 5), B=1, Pdim=1, E=2, L=7, G=3)
    assert constant(c) == value
    without = Constants(D=5, sigma=1, eta=Fraction(1, 5), B=1, Pdim=1, E=2)
    assert constant(without) == 0
    assert per_round_constant_as_stated(without) == 0


def test_the_deviation_is_5_2_where_everything_else_is_1() -> None:
    assert deviation_term(1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)) == DEVIATION == Fraction(26, 5)
    c = Constants(D=1, sigma=2, eta=1, B=3, Pdim=4)
    assert sharper_round(Fraction(1, 4), Fraction(1, 9), c) == Terms(1, 0, Fraction(52, 5))
    assert memory_round(Fraction(1, 9), c) == Terms(0, 0, Fraction(52, 5))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: stale_weight([1], [1, 2]), "one length"),
        (lambda: stale_weight([0], [0]), "every client needs a sample"),
        (lambda: sharper_1([0], [1], [0], UNIT), "N must not be 0"),
        (lambda: sharper_constant_bound(0, 1, 10, UNIT), "K must be"),
        (lambda: memory_constant_bound(1, 0, 10, UNIT), "rate must be"),
        (lambda: memory_constant_bound(1, 1, 0, UNIT), "horizon"),
        (lambda: memory_1([], UNIT), "empty"),
    ],
)
def test_the_sharper_bounds_refuse_nonsense_in_one_sentence(call: Any, complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(1, 6), whole)
def test_the_error_of_a_trajectory_covers_its_rounding_and_is_zero_where_nothing_is_rounded(
    admissions: list[int], K: int, c: Constants
) -> None:
    path = trajectory(admissions, K)
    n, N, V, chi = (
        [Fraction(x) for x in column] for column in (path.n, path.N, path.uniformity, path.mismatch)
    )
    floats, balls = ([[make(x) for x in column] for column in (n, N, V, chi)] for make in (float, ball))
    near = theorem_1(*(np.asarray(column) for column in floats), constants=c.map(float))
    statistical = near.terms.root + near.terms.linear + near.terms.generalisation
    with precise():
        proved = theorem_1(*balls, constants=c.map(ball))
        true = proved.terms.root + proved.terms.linear + proved.terms.generalisation
        assert abs(true - statistical) <= near.error
    assert 0 < near.error <= 1e-13 * statistical
    assert proved.error == 0


small = st.fractions(Fraction(1, 4), 4, max_denominator=8)


@given(st.integers(1, 6), st.integers(1, 30), small, small)
def test_a_round_of_corollary_1_as_stated_is_what_is_printed(
    K: int, t: int, rate: Fraction, scale: Fraction
) -> None:
    constants = Constants(D=scale, sigma=3, eta=Fraction(1, 7), B=2, Pdim=5)
    below = t * (K * K * t - Fraction(K * (K - 1) * (2 * K - 1), 6))
    uniformity = (K * t - Fraction(K * (K - 1), 2)) ** 2 / below
    assume(uniformity != 0)
    effective = rate * t * uniformity
    gap = 1 / (K * rate) - 1 / effective
    printed = constant_round_as_stated(K, t, rate, constants)
    assert printed.linear == Fraction(9, 7) * gap
    assert float(printed.root) == pytest.approx(3 * float(scale) * math.sqrt(max(gap, 0)))
    logarithm = 1 + max(math.log(rate * t / 5), 0)
    assert float(printed.generalisation) == pytest.approx(20 * math.sqrt(max(5 / effective, 0) * logarithm))
