"""A memory that is kept full: ages against samples that are counted one by one, and bursts against their series."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

from theory.capacity import age_burden, trajectory_by_capacity, trajectory_of
from theory.law import Cohorts, by_age, by_capacity
from theory.reuse import trajectory
from theory.setting import SettingError

F = Fraction


def followed(memories):
    """n, N, uniformity and mismatch of every round, from the sets of samples in memory."""
    uses, rows = {}, []
    for memory in memories:
        for sample in memory:
            uses[sample] = uses.get(sample, 0) + 1
        total, n, N = sum(uses.values()), len(memory), len(uses)
        squares = sum(a * a for a in uses.values())
        distance = sum((F(a, total) - F(sample in memory, n)) ** 2 for sample, a in uses.items())
        rows.append((n, N, F(total**2, N * squares), distance))
    return rows


def first_in_first_out(admissions, capacity):
    memory, memories, number = [], [], 0
    for count in admissions:
        fresh = list(range(number, number + min(count, capacity)))
        number += len(fresh)
        memory = (memory + fresh)[-capacity:]
        memories.append(set(memory))
    return memories


def columns(found):
    return [
        (int(n), int(N), V, chi)
        for n, N, V, chi in zip(found.n, found.N, found.uniformity, found.mismatch, strict=True)
    ]


def random_admissions(rng, most):
    counts = rng.integers(0, most + 1, rng.integers(1, 12))
    counts[0] = rng.integers(1, most + 1)
    return counts.tolist()


def test_the_trajectory_is_that_of_samples_counted_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(40):
        admissions, capacity = random_admissions(rng, 5), int(rng.integers(1, 8))
        expected = followed(first_in_first_out(admissions, capacity))
        assert columns(trajectory_by_capacity(admissions, capacity)) == expected


def test_clients_of_both_kinds_are_counted_together():
    rng = np.random.default_rng(1)
    for _ in range(20):
        mine, theirs = random_admissions(rng, 4), random_admissions(rng, 3)
        T = min(len(mine), len(theirs))
        mine, theirs, K, capacity = mine[:T], theirs[:T], int(rng.integers(1, 5)), int(rng.integers(1, 6))
        aged = [{(j, i) for j in range(max(t - K, 0), t) for i in range(theirs[j])} for t in range(1, T + 1)]
        memories = [one | two for one, two in zip(first_in_first_out(mine, capacity), aged, strict=True)]
        found = trajectory_of(by_capacity(mine, capacity) + by_age(theirs, K), T)
        assert columns(found) == followed(memories)


def test_real_valued_admissions_follow_fractions():
    rng = np.random.default_rng(2)
    shares = [F(int(x), 64) for x in rng.integers(1, 99, 40)]
    exact = trajectory_by_capacity(np.array(shares, dtype=object), F(5, 2))
    floats = trajectory_by_capacity([float(x) for x in shares], 2.5)
    assert isinstance(exact.mismatch[-1], F)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert np.allclose(getattr(floats, name), getattr(exact, name).astype(float), rtol=1e-12, atol=1e-15)


def test_large_counts_and_cohorts_beyond_the_end_do_no_harm():
    big = trajectory_by_capacity([10**9] * 50, 10**10)
    small = trajectory_by_capacity([1] * 50, 10)
    assert big.uniformity.tolist() == small.uniformity.tolist()
    cohorts = Cohorts(np.array([1, 5]), np.array([9, 9]), np.array([2, 3]))
    assert columns(trajectory_of(cohorts, 3)) == columns(trajectory([2, 0, 0], 3))


def test_an_empty_memory_is_not_hidden_by_rounding():
    for admissions in ([1, 1, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0, 0, 0], [0.7, 0.1, 0.3, 0, 0, 0]):
        with pytest.raises(SettingError, match="no sample is in memory in round 5: admit one"):
            trajectory_of(by_age(admissions, 2), 6)
    nobody = Cohorts(np.array([1, 2]), np.array([1, 2]), np.array([1.0, 0.0]))
    with pytest.raises(SettingError, match="in round 2"):
        trajectory_of(nobody, 2)


@pytest.mark.parametrize("a", [F(0), F(1, 3), F(9, 10), F(1), F(-1, 2), sp.Symbol("a")])
def test_the_burden_is_its_sum(a):
    for age in range(1, 9):
        found = age_burden(age, a) - (1 + 2 * sum((a**d for d in range(1, age)), 0 * a))
        assert sp.cancel(found) == 0 if isinstance(a, sp.Symbol) else found == 0


def test_one_is_one_in_every_number_system():
    assert {age_burden(7, one) for one in (1, 1.0, F(1), np.float64(1), mpmath.mpf(1))} == {13}


@pytest.mark.parametrize("slow", [0.7, 0.5, 0.3, 1e-1, 1e-4, 1e-9, 1e-15])
@pytest.mark.parametrize("age", [1, 2, 3, 1000, 10**9, 10**15])
def test_burdens_on_floats_do_not_cancel(slow, age):
    a = 1 - slow
    with mpmath.workdps(80):
        b = mpmath.mpf(a)
        expected = float(1 + 2 * b * (1 - b ** (age - 1)) / (1 - b))
    assert age_burden(age, a) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trajectory_by_capacity([], 3), "the horizon T"),
        (lambda: trajectory_by_capacity([0, 1], 3), "no sample is in memory in round 1"),
        (lambda: trajectory_by_capacity([1, 1], 0), "the capacity must be a positive"),
        (
            lambda: trajectory_by_capacity([1, -1], 2),
            "admissions must be finite numbers of at least 0, got -1",
        ),
        (lambda: trajectory_by_capacity("ab", 2), "a list of numbers"),
        (lambda: trajectory_of(by_age([1], 1), 0), "the horizon T"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()
