"""Intervals of what was measured: of expectations, further runs, differences, and the round that reaches a target."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from proofs_check.engines import experiment
from proofs_check.experiments.fields import Estimate


def sampled(values: Any) -> Estimate:
    """Over the first axis."""
    seeds, mean = len(values), values.mean(axis=0)
    half = student.ppf(0.9, seeds - 1) * values.std(axis=0, ddof=1) / np.sqrt(seeds)
    return Estimate(mean, mean - half, mean + half, 0.8, seeds)


@pytest.mark.parametrize("level", [0.5, 0.95, 1 - 0.05 / 6])
@pytest.mark.parametrize("seeds", [3, 10, 40])
def test_intervals_at_any_level_are_students(seeds: int, level: float) -> None:
    """Of the expectation, and of the mean of ten further runs, which varies by itself."""
    samples = np.random.default_rng(0).normal(size=seeds)
    where, deviation = samples.mean(), samples.std(ddof=1)
    for interval, error in ((experiment.confidence, 0), (experiment.further_runs, 1 / 10)):
        wanted = student.interval(level, seeds - 1, where, deviation * np.sqrt(1 / seeds + error))
        assert interval(sampled(samples), level) == pytest.approx(wanted)


def test_a_target_is_reached_where_the_band_of_ten_further_runs_says() -> None:
    flat = sampled(np.array([[0.1, 0.5], [0.1, 0.52], [0.1, 0.54]]))
    half = student.ppf(0.9, 2) * 0.02 * np.sqrt(1 / 3 + 1 / 10)
    for target, rounds in {
        0.52 + 1.01 * half: (np.inf, np.inf),
        0.52 + 0.99 * half: (1, np.inf),
        0.52 - 0.99 * half: (1, np.inf),
        0.52 - 1.01 * half: (1, 1),
        0.05: (0, 0),
    }.items():
        assert experiment.reached(flat, target, 0.8) == rounds
    assert experiment.reached(sampled(np.array([[0.1, 0.5]] * 3)), 0.5, 0.8) == (1, 1)
    assert not experiment.reached(replace(flat, seeds=1), 0.2, 0.8).known


def test_a_difference_covers_any_dependence() -> None:
    one, other = sampled(np.array([1.0, 2.0, 4.0])), sampled(np.array([0.0, 1.0, 3.5]))
    low, high = experiment.less(one, other, 0.9)
    halves = [float(each.half(0.95)) for each in (one, other)]
    assert (low, high) == pytest.approx((5 / 6 - sum(halves), 5 / 6 + sum(halves)))


def test_an_unpaired_difference_is_no_narrower_than_a_paired_one() -> None:
    draw = np.random.default_rng(3)
    for slope in (1.0, 0.0, -1.0):
        one = draw.normal(size=6)
        other = 3 + slope * one + 0.3 * draw.normal(size=6)
        wide, paired = experiment.difference(sampled(one), sampled(other)), sampled(one - other)
        assert wide.mean == pytest.approx(paired.mean)
        assert wide.low <= paired.low <= paired.high <= wide.high
    opposite = experiment.difference(sampled(one), sampled(-2 * one))
    assert opposite.half(0.9) == pytest.approx(sampled(3 * one).half(0.9))
    with pytest.raises(ValueError, match="levels"):
        experiment.difference(sampled(one), sampled(one[:5]))


def test_an_estimate_of_so_many_times_a_quantity_has_its_ends_in_order() -> None:
    behind = sampled(np.array([1.0, 2.0, 4.0])).times(-100)
    assert behind.low < behind.mean < behind.high < 0
    assert behind.half(0.9) == pytest.approx(100 * sampled(np.array([1.0, 2.0, 4.0])).half(0.9))
