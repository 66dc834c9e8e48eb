"""Closed forms of reuse against samples counted one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.reuse import (
    boundary_deficits,
    cohort_deficits,
    crossover_constant,
    crossover_constant_as_stated,
    effective_from_sums,
    effective_sample_size,
    inverse_effective_constant,
    mismatch_by_kind,
    mismatch_constant,
    mismatch_from_sums,
    mismatch_kstep,
    occupancy_constant,
    trajectory,
    uniformity,
    uniformity_constant,
    uniformity_constant_as_stated,
    uniformity_from_deficits,
    uniformity_kstep,
    uses_kstep,
)
from theory.setting import SettingError

horizons = st.integers(1, 8)
sequences = st.lists(st.integers(0, 4), min_size=0, max_size=20).map(lambda tail: [1, *tail])


def samples(admissions: list[int], K: int) -> tuple[list[int], list[bool]]:
    """Every sample's number of uses and whether it is in memory, played round by round."""
    uses: list[int] = []
    for admitted in admissions:
        uses += [0] * admitted
        uses = [u + 1 if u < K else u for u in uses]  # an admitted sample is used in each of its K rounds
    t = len(admissions)
    births = [j for j, admitted in enumerate(admissions, start=1) for _ in range(admitted)]
    return uses, [t - j < K for j in births]


@given(sequences, horizons)
def test_uniformity_matches_samples_counted_one_by_one_for_any_admissions(
    admissions: list[int], K: int
) -> None:
    uses, _ = samples(admissions, K)
    assert uniformity_kstep(admissions, K) == uniformity(uses)
    mean = Fraction(sum(uses), len(uses))
    variance = sum((u - mean) ** 2 for u in uses) / len(uses)
    assert uniformity(uses) == mean**2 / (mean**2 + variance)
    first, second = boundary_deficits(admissions, K)
    assert first == sum(K - u for u in uses)
    assert second == sum(K * K - u * u for u in uses)


@given(sequences, horizons)
def test_mismatch_is_the_squared_distance_between_all_weights_and_memory_weights(
    admissions: list[int], K: int
) -> None:
    uses, kept = samples(admissions, K)
    n, total = sum(kept), sum(uses)
    if n == 0:
        with pytest.raises(SettingError, match="memory is empty"):
            mismatch_kstep(admissions, K)
        return
    weights = [Fraction(u, total) for u in uses]
    distance = sum((w - Fraction(int(k), n)) ** 2 for w, k in zip(weights, kept, strict=True))
    assert mismatch_kstep(admissions, K) == distance


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12))
def test_two_sums_and_the_uses_in_memory_are_all_that_any_rule_needs(counts: list[tuple[int, bool]]) -> None:
    uses, kept = [used for used, _ in counts], [used for used, stored in counts if stored]
    total, squares = sum(uses), sum(u * u for u in uses)
    assert effective_from_sums(total, squares) == effective_sample_size(uses)
    if kept:
        share = Fraction(1, len(kept))
        distance = sum((Fraction(used, total) - share * stored) ** 2 for used, stored in counts)
        assert mismatch_from_sums(len(kept), total, squares, sum(kept)) == distance


@given(sequences, horizons)
def test_the_formulas_behind_the_lists_say_the_same_from_counted_samples(
    admissions: list[int], K: int
) -> None:
    uses, kept = samples(admissions, K)
    N, n, total, squares = len(uses), sum(kept), sum(uses), sum(u * u for u in uses)
    assert uniformity_from_deficits(N, K * N - total, K * K * N - squares, K) == uniformity(uses)
    in_memory = sum(u for u, stored in zip(uses, kept, strict=True) if stored)
    if n:
        by_kind = mismatch_by_kind(n, N, squares, in_memory, K)
        assert by_kind == total**2 * mismatch_from_sums(n, total, squares, in_memory)


@given(st.integers(1, 20), horizons)
def test_a_sample_of_any_age_has_been_used_once_a_round_up_to_K_times(age: int, K: int) -> None:
    (used,), _ = samples([1, *[0] * (age - 1)], K)
    assert uses_kstep(age, K) == used
    assert cohort_deficits(age, K) == (K - used, K * K - used * used)


@given(horizons, st.integers(1, 30), st.integers(1, 5))
def test_the_memory_of_constant_admission_is_that_of_any_admissions(K: int, t: int, rate: int) -> None:
    assert occupancy_constant(K, t, rate) == trajectory([rate] * t, K).n[-1]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=25), horizons)
def test_a_trajectory_is_every_prefix_looked_at_alone(admissions: list[int], K: int) -> None:
    path = trajectory(admissions, K)
    floats = trajectory(np.array(admissions, dtype=float), K)
    for t in range(1, len(admissions) + 1):
        prefix = admissions[:t]
        assert path.n[t - 1] == sum(prefix[-K:])
        assert path.N[t - 1] == sum(prefix)
        assert path.uniformity[t - 1] == uniformity_kstep(prefix, K)
        assert path.mismatch[t - 1] == mismatch_kstep(prefix, K)
        assert path.effective[t - 1] == path.N[t - 1] * path.uniformity[t - 1]
    np.testing.assert_allclose(floats.uniformity, path.uniformity.astype(float), rtol=1e-13)
    np.testing.assert_allclose(floats.mismatch, path.mismatch.astype(float), rtol=0, atol=1e-14)


@given(st.floats(0.01, 100), st.integers(1, 6))
def test_a_memory_that_holds_everything_alike_has_no_mismatch_not_even_in_floats(rate: float, K: int) -> None:
    assert trajectory(np.array([rate]), K).mismatch[0] == 0
    assert (trajectory(np.array([rate] + [0.0] * (K - 1)), K).mismatch == 0).all()
    assert (trajectory(np.full(50, rate), K).mismatch >= 0).all()


def test_retention_beyond_the_horizon_is_retention_up_to_it() -> None:
    longest, long = trajectory([3, 1, 4, 1, 5], 10**12), trajectory([3, 1, 4, 1, 5], 5)
    assert (longest.mismatch == long.mismatch).all()


def test_a_long_trajectory_of_floats_keeps_its_accuracy() -> None:
    T, K, rate = 10**6, 50, 0.3
    path = trajectory(np.full(T, rate), K)
    t = np.arange(1, T + 1)
    np.testing.assert_allclose(path.mismatch, mismatch_constant(K, t, rate), rtol=1e-10, atol=0)
    np.testing.assert_allclose(path.uniformity, uniformity_constant(K, t), rtol=1e-10)


@given(horizons, st.integers(1, 30), st.fractions(Fraction(1, 5), 5, max_denominator=5))
def test_constant_admission_is_a_special_case_for_every_round(K: int, t: int, rate: Fraction) -> None:
    admissions = [rate] * t
    assert uniformity_constant(K, t) == uniformity_kstep(admissions, K)
    assert inverse_effective_constant(K, t, rate) == 1 / (rate * t * uniformity_constant(K, t))
    assert mismatch_constant(K, t, rate) == mismatch_kstep(admissions, K)


def test_the_printed_uniformity_is_wrong_from_two_rounds_of_retention_on() -> None:
    assert all(uniformity_constant_as_stated(1, t) == 1 for t in range(1, 20))
    for K in range(2, 9):
        for t in range(K, 40):
            assert uniformity_constant_as_stated(K, t) < uniformity_constant(K, t) < 1
    assert uniformity_constant_as_stated(3, 1) == 0
    assert uniformity_constant_as_stated(10, 2) < 0


@given(st.integers(1, 60), st.integers(1, 120))
def test_effective_size_falls_below_the_memory_exactly_before_the_crossover(K: int, t: int) -> None:
    n = min(t, K)
    below = inverse_effective_constant(K, t, 1) > Fraction(1, n)
    assert below == (1 < t < crossover_constant(K) and K > 1)
    printed = t * uniformity_constant_as_stated(K, t)
    if t >= K:
        assert (printed < K) == bool(t < crossover_constant_as_stated(K))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: uniformity([]), "must not be empty"),
        (lambda: effective_sample_size([0, 0]), "all be zero"),
        (lambda: uniformity_kstep([0, 0], 2), "N = 0"),
        (lambda: uniformity_kstep([1], 2.5), "whole number"),
        (lambda: uniformity_kstep([1], 0), "whole number"),
        (lambda: trajectory([1, -1], 2), "not negative"),
        (lambda: trajectory([1.0, float("nan")], 2), "finite"),
        (lambda: trajectory(["a"], 2), "list of numbers"),
        (lambda: uniformity_kstep([Fraction(0)], 2), "N = 0"),
        (lambda: uniformity_kstep([3, -1], 2), "at least 0, got -1"),
        (lambda: uniformity_kstep([float("nan"), 1], 2), "at least 0, got nan"),
        (lambda: uniformity(["a"]), "at least 0, got 'a'"),
        (lambda: effective_sample_size([Fraction(0)] * 2), "all be zero"),
        (lambda: effective_sample_size([-1, 3]), "at least 0, got -1"),
        (lambda: mismatch_kstep([Fraction(1), Fraction(0), Fraction(0)], 2), "memory is empty"),
        (lambda: uniformity_constant(2.5, 4), "K must be a whole number"),
        (lambda: mismatch_constant(0, 4, 1), "K must be a whole number"),
        (lambda: trajectory([0, 1], 2), "round 1"),
        (lambda: trajectory([1, 0, 0, 1], 2), "round 3"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(call: Any, complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)
