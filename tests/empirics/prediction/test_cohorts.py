"""The recursion over cohorts against the law of reuse as `theory` has it."""

import numpy as np
import pytest
import torch

from empirics.prediction.cohorts import Cohorts, Memories
from theory.law import by_age, by_capacity, squared_weights

RNG = np.random.default_rng(5)
ROUNDS = 40
LEFT = torch.tensor([[0.3, 0.9, 0.999]], dtype=torch.float64)


def by_ages(admissions, ages):
    """Memories of clients that keep samples for so many rounds, (rounds, 1, clients) each."""
    ends = np.cumsum(admissions, axis=0)
    past = np.concatenate([np.zeros((1, admissions.shape[1]), dtype=int), ends])
    since = np.maximum(np.arange(1, len(ends) + 1)[:, None] - ages, 0)
    return memories(admissions, np.take_along_axis(past, since, axis=0), ends)


def memories(admissions, starts, ends):
    n = ends - starts
    weights = n / n.sum(axis=1, keepdims=True)
    return Memories(*(array[:, None] for array in (admissions, starts, ends, weights)))


def variances(found, groups):
    """The variance after each round, of samples with unit gradients, as the closure moves the cohorts, and how many of
    these there are at most between rounds."""
    cohorts = Cohorts(LEFT, found, groups, LEFT.shape[1])
    history, most = [], 0
    for t in range(found.rounds):
        arrays = (found.starts, found.ends, found.admissions)
        starts, ends, admitted = (torch.from_numpy(one[t]) for one in arrays)
        cohorts.enter(t, admitted, ends)
        counts = cohorts.counts(starts)
        gain = (1 - LEFT[:, None]) / counts.sum((0, 2), keepdim=True)
        cohorts.train(LEFT, gain, gain)
        history.append(cohorts.variance(counts)[0])
        if t + 1 < found.rounds:
            cohorts.leave(counts, torch.from_numpy(found.starts[t + 1]))
            most = max(most, len(cohorts.weight))
    return torch.stack(history).numpy(), most


def alike(found, lawful):
    for k, a in enumerate(LEFT[0].tolist()):
        np.testing.assert_allclose(found[:, k], squared_weights(lawful, a, ROUNDS)[1:], rtol=1e-10)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("ages", [(4, 4, 4), (1, 7, 1000)])
def test_cohorts_by_age_have_the_variance_of_the_law(ages, groups):
    admissions = RNG.integers(0, 4, (ROUNDS, 3))
    admissions[:, 0] += 1
    first, second, third = (by_age(admissions[:, m], ages[m]) for m in range(3))
    found, most = variances(by_ages(admissions, ages), groups)
    assert most < max(ages)  # those that nobody holds are forgotten
    alike(found, first + second + third)


def test_cohorts_by_capacity_leave_in_parts():
    admissions, capacity = RNG.integers(0, 5, (ROUNDS, 1)) + 1, 9
    ends = np.cumsum(admissions, axis=0)
    found, _ = variances(memories(admissions, np.maximum(ends - capacity, 0), ends), 1)
    alike(found, by_capacity(admissions[:, 0], capacity))
