"""n, N, N_eff and χ of a schedule are those of its samples, counted one by one."""

from fractions import Fraction

import numpy as np
import pytest

from empirics.control.schedule import control, merge, plan
from tests.empirics.small import CONTROL, study
from theory.reuse import effective_sample_size, trajectory


def by_counting(admissions, retention, t):
    """n, N, N_eff and χ after round t, from every sample's uses."""
    samples = [
        (min(t - j, int(K)), int(t - j <= K))  # uses so far and whether it is in memory; j counts from 0
        for m, K in enumerate(retention)
        for j in range(t)
        for _ in range(int(admissions[j, m]))
    ]
    uses = [count for count, _ in samples]
    n, total = sum(held for _, held in samples), sum(uses)
    chi = sum((Fraction(count, total) - Fraction(held, n)) ** 2 for count, held in samples)
    return n, len(samples), effective_sample_size(uses), chi


@pytest.mark.parametrize("policy", ["acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "released"])
def test_trajectories_match_counting_for_every_policy(policy):
    schedule = plan(study(policies=(policy,), rounds=14, seeds=2), CONTROL)
    for run in range(2):
        track = schedule.trajectories[run]
        for t in (1, 2, 5, 9, 14):
            n, N, effective, chi = by_counting(schedule.admissions[:, run], schedule.retention[run], t)
            assert (track.n[t - 1], track.N[t - 1]) == (n, N)
            assert track.effective[t - 1] == pytest.approx(float(effective), rel=1e-12)
            assert track.mismatch[t - 1] == pytest.approx(float(chi), rel=1e-9, abs=1e-14)


def test_merging_groups_with_the_same_retention_changes_nothing():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 9, (2, 40)).astype(float)
    merged, whole = merge([trajectory(a, 4), trajectory(b, 4)]), trajectory(a + b, 4)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert np.allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12, atol=1e-15)


def test_control_is_the_same_in_chunks_of_any_size():
    setting = study(policies=("acdpp", "acdpp-capped", "constant"))
    whole = next(iter(control(setting, CONTROL, chunk=1000)))
    parts = list(control(setting, CONTROL, chunk=4))
    assert [part.first for part in parts] == list(range(1, 31, 4))
    assert np.array_equal(np.concatenate([part.admissions for part in parts]), whole.admissions)


def test_a_replicate_is_the_same_whatever_runs_beside_it():
    few, many = (plan(study(policies=("acdpp",), seeds=seeds), CONTROL) for seeds in (2, 6))
    assert np.array_equal(few.admissions, many.admissions[:, :2])
    together = plan(study(policies=("oracle", "acdpp"), seeds=2), CONTROL)
    assert np.array_equal(few.admissions, together.admissions[:, 2:])
