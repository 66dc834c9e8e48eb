"""How fast a population moves, from its samples' times alone."""

import json

import numpy as np
import pytest
import torch

from empirics.data import from_arrays
from empirics.prediction.moving import drift_of_pairs, how_it_moves
from empirics.settings.study import Study
from empirics.training.problem import from_dataset
from tests.acdpp.program import acdpp
from tests.empirics.small import refused

BUDGET = ["design", "--buffers", "20,30", "--budget", "10", "--mean-cost", "2"]


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
        found.append(drift_of_pairs(scores, 6, 12 * stretch).mean() * inner)
    assert np.mean(found) == pytest.approx(q, abs=4 * np.std(found) / np.sqrt(300) + 0.03 * q)
    assert 4 * np.std(found) / np.sqrt(300) < 0.1 * q


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


def test_one_command_says_how_long_to_keep_samples_with_an_interval(tmp_path):
    x, y = stream(moves=True)
    np.savez(tmp_path / "mine.npz", x=x, y=y, time=np.arange(len(x)))
    words = [*BUDGET, "--drift", f"npz:{tmp_path}/mine.npz", "--horizon", "200", "--json"]
    found = json.loads(acdpp(*words).stdout)
    (low, high), (shortest, longest) = found["interval"], found["K_interval"]
    assert low < found["drift"] < high
    assert shortest <= found["K"] <= longest
    assert found["tuned"]["risk"] <= found["risk"]
    still, slow, fast = (
        json.loads(acdpp(*BUDGET, "--drift", q, "--contraction", "0.9", "--json").stdout)
        for q in ("0", "1e-5", "0.01")
    )
    assert [one["K"] for one in (still, slow, fast)] == [10, 10, 1]
    for wrong, words in {
        "needs --horizon": ["--drift", "digits"],
        "takes --contraction": ["--drift", "0.1"],
        "taken from the samples": ["--drift", "digits", "--contraction", "0.5"],
        "at least 0 and below 1": ["--drift", "0.1", "--contraction", "1"],
        "names its samples itself": ["--drift", "0.1", "--dataset", "digits"],
    }.items():
        assert wrong in acdpp(*BUDGET, *words).stderr
