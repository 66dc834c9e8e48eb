"""Closed forms of reuse against samples counted one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import reuse
from theory.setting import SettingError

horizons = st.integers(1, 8)
sequences = st.lists(st.integers(0, 4), min_size=0, max_size=20).map(lambda tail: [1, *tail])


def samples(admissions, K):
    """Every sample's number of uses and whether it is in memory, played round by round."""
    uses: list[int] = []
    for admitted in admissions:
        uses += [0] * admitted
        uses = [u + 1 if u < K else u for u in uses]  # an admitted sample is used in each of its K rounds
    t = len(admissions)
    births = [j for j, admitted in enumerate(admissions, start=1) for _ in range(admitted)]
    return uses, [t - j < K for j in births]


@settings(max_examples=50)
@given(sequences, horizons)
def test_uniformity_and_mismatch_are_those_of_samples_counted_one_by_one(admissions, K):
    uses, kept = samples(admissions, K)
    N, n, total, squares = len(uses), sum(kept), sum(uses), sum(u * u for u in uses)
    mean = Fraction(total, N)
    variance = sum((u - mean) ** 2 for u in uses) / N
    deficits = (K * N - total, K * K * N - squares)
    assert reuse.uniformity_kstep(admissions, K) == reuse.uniformity(uses) == mean**2 / (mean**2 + variance)
    assert reuse.boundary_deficits(admissions, K) == deficits
    assert reuse.uniformity_from_deficits(N, *deficits, K) == reuse.uniformity(uses)
    assert reuse.effective_from_sums(total, squares) == reuse.effective_sample_size(uses)
    if n == 0:
        with pytest.raises(SettingError, match="memory is empty"):
            reuse.mismatch_kstep(admissions, K)
        return
    weights = [Fraction(u, total) for u in uses]
    distance = sum((w - Fraction(int(k), n)) ** 2 for w, k in zip(weights, kept, strict=True))
    in_memory = sum(u for u, stored in zip(uses, kept, strict=True) if stored)
    assert reuse.mismatch_kstep(admissions, K) == distance
    assert reuse.mismatch_from_sums(n, total, squares, in_memory) == distance
    assert reuse.mismatch_by_kind(n, N, squares, in_memory, K) == total**2 * distance


@given(st.integers(1, 20), horizons)
def test_a_sample_of_any_age_has_been_used_once_a_round_up_to_K_times(age, K):
    (used,), _ = samples([1, *[0] * (age - 1)], K)
    assert reuse.uses_kstep(age, K) == used
    assert reuse.cohort_deficits(age, K) == (K - used, K * K - used * used)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=25), horizons)
def test_a_trajectory_is_every_prefix_looked_at_alone(admissions, K):
    path = reuse.trajectory(admissions, K)
    floats = reuse.trajectory(np.array(admissions, dtype=float), K)
    for t in range(1, len(admissions) + 1):
        prefix = admissions[:t]
        assert path.n[t - 1] == sum(prefix[-K:])
        assert path.N[t - 1] == sum(prefix)
        assert path.uniformity[t - 1] == reuse.uniformity_kstep(prefix, K)
        assert path.mismatch[t - 1] == reuse.mismatch_kstep(prefix, K)
        assert path.effective[t - 1] == path.N[t - 1] * path.uniformity[t - 1]
    np.testing.assert_allclose(floats.uniformity, path.uniformity.astype(float), rtol=1e-13)
    np.testing.assert_allclose(floats.mismatch, path.mismatch.astype(float), rtol=0, atol=1e-14)


@given(st.floats(0.01, 100), st.integers(1, 6))
def test_a_memory_that_holds_everything_alike_has_no_mismatch_not_even_in_floats(rate, K):
    assert reuse.trajectory(np.array([rate]), K).mismatch[0] == 0
    assert (reuse.trajectory(np.array([rate] + [0.0] * (K - 1)), K).mismatch == 0).all()
    assert (reuse.trajectory(np.full(50, rate), K).mismatch >= 0).all()


def test_retention_beyond_the_horizon_is_retention_up_to_it():
    longest, long = reuse.trajectory([3, 1, 4, 1, 5], 10**12), reuse.trajectory([3, 1, 4, 1, 5], 5)
    assert (longest.mismatch == long.mismatch).all()


def test_a_long_trajectory_of_floats_keeps_its_accuracy():
    T, K, rate = 10**5, 50, 0.3
    path = reuse.trajectory(np.full(T, rate), K)
    t = np.arange(1, T + 1)
    np.testing.assert_allclose(path.mismatch, reuse.mismatch_constant(K, t, rate), rtol=1e-10, atol=0)
    np.testing.assert_allclose(path.uniformity, reuse.uniformity_constant(K, t), rtol=1e-10)


@settings(max_examples=50)
@given(horizons, st.integers(1, 30), st.fractions(Fraction(1, 5), 5, max_denominator=5))
def test_constant_admission_is_a_special_case_for_every_round(K, t, rate):
    admissions = [rate] * t
    assert reuse.occupancy_constant(K, t, rate) == sum(admissions[-K:])
    assert reuse.uniformity_constant(K, t) == reuse.uniformity_kstep(admissions, K)
    assert reuse.inverse_effective_constant(K, t, rate) == 1 / (rate * t * reuse.uniformity_constant(K, t))
    assert reuse.mismatch_constant(K, t, rate) == reuse.mismatch_kstep(admissions, K)


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(1, 120))
def test_effective_size_falls_below_the_memory_exactly_before_the_crossover(K, t):
    n = min(t, K)
    below = reuse.inverse_effective_constant(K, t, 1) > Fraction(1, n)
    assert below == (1 < t < reuse.crossover_constant(K) and K > 1)
    printed = t * reuse.uniformity_constant_as_stated(K, t)
    if t >= K:
        assert (printed < K) == bool(t < reuse.crossover_constant_as_stated(K))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: reuse.uniformity([]), "must not be empty"),
        (lambda: reuse.uniformity(["a"]), "at least 0, got 'a'"),
        (lambda: reuse.effective_sample_size([Fraction(0)] * 2), "all be zero"),
        (lambda: reuse.effective_sample_size([-1, 3]), "at least 0, got -1"),
        (lambda: reuse.uniformity_kstep([0, 0], 2), "N = 0"),
        (lambda: reuse.uniformity_kstep([Fraction(0)], 2), "N = 0"),
        (lambda: reuse.uniformity_kstep([1], 0), "whole number"),
        (lambda: reuse.uniformity_kstep([float("nan"), 1], 2), "at least 0, got nan"),
        (lambda: reuse.mismatch_kstep([Fraction(1), Fraction(0), Fraction(0)], 2), "memory is empty"),
        (lambda: reuse.uniformity_constant(2.5, 4), "K must be a whole number"),
        (lambda: reuse.mismatch_constant(0, 4, 1), "K must be a whole number"),
        (lambda: reuse.trajectory([1, -1], 2), "not negative"),
        (lambda: reuse.trajectory([1.0, float("nan")], 2), "finite"),
        (lambda: reuse.trajectory(["a"], 2), "list of numbers"),
        (lambda: reuse.trajectory([0, 1], 2), "round 1"),
        (lambda: reuse.trajectory([1, 0, 0, 1], 2), "round 3"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(call, complaint):
    with pytest.raises(SettingError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)
