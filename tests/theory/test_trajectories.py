"""Reuse over many rounds, under both retentions: floats, and what lies beyond the end.

That a round's numbers are those of its samples, counted one by one, is for the claims to decide.
"""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.bound.sharper import stale_weight_constant
from theory.law.quadratic import Cohorts, by_age, squared_weights
from theory.market.capacity import trajectory_by_capacity, trajectory_of
from theory.reuse import constant
from theory.reuse.trajectories import trajectory


@given(st.floats(0.01, 100), st.integers(1, 6))
def test_a_memory_that_holds_everything_alike_has_no_mismatch_not_even_in_floats(rate, K):
    assert trajectory(np.array([rate]), K).mismatch[0] == 0
    assert (trajectory(np.array([rate] + [0.0] * (K - 1)), K).mismatch == 0).all()
    assert (trajectory(np.full(50, rate), K).mismatch >= 0).all()


def test_a_small_mismatch_is_not_taken_for_rounding():
    """Many samples used twice and one that is fresh."""
    exact, floats = (trajectory(np.array([10**6, 1], dtype=kind), 2) for kind in (object, float))
    assert exact.mismatch[1] > 0
    assert floats.mismatch[1] == pytest.approx(float(exact.mismatch[1]), rel=1e-5, abs=0)


def test_retention_beyond_the_horizon_is_retention_up_to_it():
    longest, long = trajectory([3, 1, 4, 1, 5], 10**12), trajectory([3, 1, 4, 1, 5], 5)
    assert (longest.mismatch == long.mismatch).all()


@pytest.mark.parametrize(
    "formula", [constant.mismatch_constant, constant.inverse_effective_constant, stale_weight_constant]
)
def test_whole_numbers_in_an_array_do_not_overflow(formula):
    found = formula(10**11, np.array([10**10, 10**12]), 1)
    np.testing.assert_allclose(found, [float(formula(10**11, t, 1)) for t in (10**10, 10**12)], rtol=1e-12)


def test_a_long_trajectory_of_floats_keeps_its_accuracy():
    T, K, rate = 10**5, 50, 0.3
    path = trajectory(np.full(T, rate), K)
    t = np.arange(1, T + 1)
    np.testing.assert_allclose(path.mismatch, constant.mismatch_constant(K, t, rate), rtol=1e-10, atol=0)
    np.testing.assert_allclose(path.uniformity, constant.uniformity_constant(K, t), rtol=1e-10)


def test_large_counts_do_no_harm_and_cohorts_beyond_the_horizon_do_not_count():
    big, small = trajectory_by_capacity([10**9] * 50, 10**10), trajectory_by_capacity([1] * 50, 10)
    assert big.uniformity.tolist() == small.uniformity.tolist()
    cohorts = Cohorts(np.array([1, 5]), np.array([9, 9]), np.array([2, 3]))
    assert cohorts.occupancy(3).tolist() == [2, 2, 2]
    found, wanted = trajectory_of(cohorts, 3), trajectory([2, 0, 0], 3)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    weights = (squared_weights(one, F(1, 2), 3).tolist() for one in (cohorts, by_age([2, 0, 0], 3)))
    assert next(weights) == next(weights)
