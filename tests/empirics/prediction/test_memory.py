"""Weights of samples in θ and in means of models, and the lag behind a walk: against `theory` and brute force."""

import numpy as np
import pytest

from empirics.prediction.memory import Cohorts, Memories, WalkLag
from theory.drift.moving_optimum import walk_lag
from theory.law.quadratic import by_age

LEFT = np.array([[0.3, 0.9, 0.999]])


def by_ages(admissions, ages, share=None):
    """Memories of clients that keep samples for these numbers of rounds, (rounds, 1, clients)."""
    ends = np.cumsum(admissions, axis=0)
    past = np.concatenate([np.zeros((1, admissions.shape[1]), dtype=int), ends])
    since = np.maximum(np.arange(1, len(ends) + 1)[:, None] - ages, 0)
    starts = np.take_along_axis(past, since, axis=0)
    weights = (ends - starts) / (ends - starts).sum(axis=1, keepdims=True)
    tables = (one[:, None] for one in (admissions, starts, ends, weights))
    return Memories(*tables, share=share)


def followed(held, groups, scale=1.0):
    """Variances of θ and of the mean of models after every round, and the largest number of cohorts."""
    cohorts = Cohorts(held, groups, LEFT.shape[1])
    found, most = [], 0
    for t in range(held.rounds):
        cohorts.enter(t, held.admissions[t], held.ends[t])
        counts = cohorts.counts(held.starts[t])
        cohorts.train(LEFT, (1 - LEFT[:, None]) / counts.sum((0, 2), keepdims=True))
        if held.share is not None:
            cohorts.average(held.share[t][:, None])
        cohorts.scale(np.full_like(LEFT, scale))
        found.append([cohorts.variance(counts)[0], *cohorts.mean_variance(counts)])
        if t + 1 < held.rounds:
            cohorts.leave(counts, held.starts[t + 1])
            most = max(most, len(cohorts.weight))
    return np.array(found), most


def test_cohorts_that_no_client_holds_are_dropped():
    assert followed(by_ages(np.ones((40, 3), dtype=int), (1, 7, 4)), 1)[1] == 7 - 1


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("ages", [(4, 4, 4), (1, 3, 1000)])
def test_models_and_their_means_weigh_each_sample_as_brute_force_does(ages, groups):
    """Sample by sample, with departures, shares that change, and a θ that is scaled after every round."""
    rng = np.random.default_rng(5)
    admissions, share = rng.integers(0, 4, (12, 3)), rng.random((12, 1))
    admissions[:, 0] += 1
    held = by_ages(admissions, ages, share)
    found, _ = followed(held, groups, scale=0.9)
    lists = {(m, i): np.zeros((2, 3)) for m in range(3) for i in range(held.ends[-1, 0, m])}
    for t in range(12):
        n = (held.ends[t] - held.starts[t]).sum()
        for (m, i), both in lists.items():
            both[0] *= LEFT[0]
            if held.starts[t, 0, m] <= i < held.ends[t, 0, m]:
                both[0] += (1 - LEFT[0]) / n
            both[1] += share[t, 0] * (both[0] - both[1])
            both[0] *= 0.9
        np.testing.assert_allclose(found[t], np.sum([both**2 for both in lists.values()], axis=0))


@pytest.mark.parametrize(("groups", "mixture"), [(1, [0.375]), (3, [[0, 0.25, 1]])])
def test_memories_have_of_the_second_part_what_their_samples_had(groups, mixture):
    found = by_ages(np.array([[1, 2, 1]]), (4, 4, 4))
    cohorts = Cohorts(found, groups, LEFT.shape[1])
    cohorts.enter(0, found.admissions[0], found.ends[0], np.array([[0, 0.25, 1]]))
    assert cohorts.mixture(found.starts[0]).tolist() == mixture


def test_idle_rounds_are_left_out_of_each_row_on_its_own():
    held = np.array([[1, 2], [0, 3], [4, 0], [5, 6]])[..., np.newaxis]
    share = np.arange(8.0).reshape(4, 2)
    found = Memories(held, 0 * held, held, held.astype(float), share=share).without_idle()
    assert found.ends[..., 0].tolist() == [[1, 2], [4, 3], [5, 6]]
    assert found.share.tolist() == [[0, 1], [4, 3], [6, 7]]
    short = Memories(held * [[[1], [0]]], 0 * held, held, held * [[[1.0], [0.0]]]).without_idle()
    assert short.admissions[..., 0].tolist() == [[1, 0], [4, 0], [5, 0]]


def test_the_lag_is_that_of_the_theory_for_any_admissions_steps_and_means():
    """Of rows that keep samples for K rounds, by round: of the model, and of the mean of models."""
    rng, T, K = np.random.default_rng(0), 14, (1, 3, 5)
    admissions = rng.integers(1, 4, T)
    left, shares = rng.random((T, len(K), 2)), rng.random((T, len(K)))
    lag, found = WalkLag(len(K), left.shape[2]), []
    for t in range(T):
        ages = range(min(t + 1, max(K)))[::-1]
        entered = np.array([t - age for age in ages])
        counts = np.array([[admissions[t - age] * (age < kept) for kept in K] for age in ages], float)
        there = counts.any(axis=1)
        lag.follow(t, entered[there], (counts / counts.sum(0))[there], left[t])
        lag.average(np.array(shares[t])[:, np.newaxis])
        found.append([lag.squares(mean=False), lag.squares(mean=True)])
    found = np.array(found)
    for row, kept in enumerate(K):
        memory = by_age(admissions, kept)
        for k, share in enumerate((np.ones(T), shares[:, row])):
            assert found[:, k, row] == pytest.approx(walk_lag(memory, T, left[:, row], [1, *share])[1:])
