"""Intervals and p-values are those of scipy.stats."""

import numpy as np
import pytest
from scipy import stats

from theory.numbers.student import half_width, mean_interval, p_value, quantile


@pytest.mark.parametrize("runs", [2, 7, 30])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_and_p_values_are_those_of_scipy(runs: int, level: float) -> None:
    values = np.random.default_rng(runs).normal(0.3, 1, (3, runs))
    wanted = stats.t.interval(level, runs - 1, values.mean(axis=1), stats.sem(values, axis=1))
    found = mean_interval(values, level)
    assert found["mean"] == pytest.approx(values.mean(axis=1))
    assert (found["low"], found["high"]) == (pytest.approx(wanted[0]), pytest.approx(wanted[1]))
    assert half_width(values, level) == pytest.approx((wanted[1] - wanted[0]) / 2)
    assert quantile(runs, level) == pytest.approx(stats.t.ppf((1 + level) / 2, runs - 1))
    assert p_value(values[0]) == pytest.approx(stats.ttest_1samp(values[0], 0).pvalue)


def test_equal_differences_are_sure() -> None:
    assert (p_value(np.zeros(3)), p_value(np.ones(3))) == (1.0, 0.0)
