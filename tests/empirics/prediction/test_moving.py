"""How fast a population moves, from its samples' times alone."""

import numpy as np
import pytest
import torch

from empirics.data import from_arrays
from empirics.prediction.moving import how_it_moves, pair_differences
from empirics.settings.study import Study
from empirics.training.problem import from_dataset
from tests.empirics.small import refused


def stream(moves: bool, rounds=200, each=40, seed=0):
    """Logistic samples whose optimum walks, or does not."""
    rng = np.random.default_rng(seed)
    path = np.cumsum(0.08 * moves * rng.normal(size=(rounds, 4)), axis=0).repeat(each, axis=0)
    x = rng.normal(size=path.shape)
    return x, (rng.random(len(x)) < 1 / (1 + np.exp(-(x * path).sum(1)))).astype(int)


def test_pairs_of_stretches_measure_a_walk_without_bias():
    """Scores have variance 4, their mean walks by 0.02 of that a round; five samples a round, 12 rounds a stretch."""
    rng, q, stretch, found = np.random.default_rng(1), 0.02, 12, []
    for _ in range(300):
        path = np.cumsum(np.sqrt(4 * q) * rng.normal(size=(6 * 2 * stretch, 8)), axis=0).repeat(5, axis=0)
        scores = torch.from_numpy(path + 2 * rng.normal(size=path.shape))
        inner = 1 + q * (stretch**2 - 1) / (6 * stretch)  # a stretch's own walk scatters its samples, too
        found.append(pair_differences(scores, 6).mean() * inner)
    behind = (2 * stretch**2 + 1) / (3 * stretch) * q
    assert np.mean(found) == pytest.approx(behind, abs=4 * np.std(found) / np.sqrt(300) + 0.03 * behind)
    assert 4 * np.std(found) / np.sqrt(300) < 0.1 * behind


def test_what_moves_is_told_from_what_does_not():
    study, found = Study(dataset="given:stream"), {}
    for moves in (True, False):
        x, y = stream(moves)
        mixed = np.random.default_rng(2).permutation(len(x))
        data = from_arrays(x[mixed], y[mixed], x[:9], y[:9])
        task = from_dataset(study, data, torch.device("cpu"))
        found[moves] = how_it_moves(task, mixed.astype(float), 200)
        shuffled = how_it_moves(task, None, 200)
        assert not shuffled.told
    assert found[True].told
    assert not found[False].told
    assert found[False].low == 0
    assert "do not tell how the population moves" in refused(how_it_moves, task, None, 7)
