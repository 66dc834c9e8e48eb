"""Reuse over many rounds, under both retentions: prefixes, floats, and what lies beyond the end.

That a round's numbers are those of its samples, counted one by one, is for the claims to decide.
"""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import reuse
from theory.capacity import trajectory_by_capacity, trajectory_of
from theory.law import Cohorts, by_age, excess_risk, squared_weights
from theory.sharper import stale_weight_constant


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=25), st.integers(1, 8))
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


def test_a_small_mismatch_is_not_taken_for_rounding():
    """Many samples used twice and one that is fresh."""
    exact, floats = (reuse.trajectory(np.array([10**6, 1], dtype=kind), 2) for kind in (object, float))
    assert exact.mismatch[1] > 0
    assert floats.mismatch[1] == pytest.approx(float(exact.mismatch[1]), rel=1e-5, abs=0)


def test_retention_beyond_the_horizon_is_retention_up_to_it():
    longest, long = reuse.trajectory([3, 1, 4, 1, 5], 10**12), reuse.trajectory([3, 1, 4, 1, 5], 5)
    assert (longest.mismatch == long.mismatch).all()


def test_where_the_printed_crossover_is_a_round_the_printed_effective_sample_size_is_the_occupancy():
    assert reuse.crossover_constant_as_stated(7) == 11
    assert 11 * reuse.uniformity_constant_as_stated(7, 11) == 7


@pytest.mark.parametrize(
    "formula", [reuse.mismatch_constant, reuse.inverse_effective_constant, stale_weight_constant]
)
def test_whole_numbers_in_an_array_do_not_overflow(formula):
    found = formula(10**11, np.array([10**10, 10**12]), 1)
    np.testing.assert_allclose(found, [float(formula(10**11, t, 1)) for t in (10**10, 10**12)], rtol=1e-12)


def test_excess_risk_adds_up_over_eigenvalues_and_a_round_without_samples_moves_nothing():
    cohorts = by_age([0, 3, 0, 0, 1], K=1)
    one, other, both = (
        excess_risk(cohorts, 5, h=h, variance=[1] * len(h), start=[4] * len(h), eta=F(1, 4))
        for h in ([1], [2], [1, 2])
    )
    assert (both.total == one.total + other.total).all()
    assert one.transient.tolist() == [2 * F(9, 16) ** steps for steps in (0, 0, 1, 1, 1, 2)]


def test_a_long_trajectory_of_floats_keeps_its_accuracy():
    T, K, rate = 10**5, 50, 0.3
    path = reuse.trajectory(np.full(T, rate), K)
    t = np.arange(1, T + 1)
    np.testing.assert_allclose(path.mismatch, reuse.mismatch_constant(K, t, rate), rtol=1e-10, atol=0)
    np.testing.assert_allclose(path.uniformity, reuse.uniformity_constant(K, t), rtol=1e-10)


def test_real_valued_admissions_into_a_full_memory_follow_fractions():
    rng = np.random.default_rng(2)
    shares = [F(int(x), 64) for x in rng.integers(1, 99, 40)]
    exact = trajectory_by_capacity(np.array(shares, dtype=object), F(5, 2))
    floats = trajectory_by_capacity([float(x) for x in shares], 2.5)
    assert isinstance(exact.mismatch[-1], F)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert np.allclose(getattr(floats, name), getattr(exact, name).astype(float), rtol=1e-12, atol=1e-15)


def test_large_counts_do_no_harm_and_cohorts_beyond_the_horizon_do_not_count():
    big, small = trajectory_by_capacity([10**9] * 50, 10**10), trajectory_by_capacity([1] * 50, 10)
    assert big.uniformity.tolist() == small.uniformity.tolist()
    cohorts = Cohorts(np.array([1, 5]), np.array([9, 9]), np.array([2, 3]))
    assert cohorts.occupancy(3).tolist() == [2, 2, 2]
    found, wanted = trajectory_of(cohorts, 3), reuse.trajectory([2, 0, 0], 3)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    weights = (squared_weights(one, F(1, 2), 3).tolist() for one in (cohorts, by_age([2, 0, 0], 3)))
    assert next(weights) == next(weights)
