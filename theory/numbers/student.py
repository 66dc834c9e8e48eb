"""Student's t: how far the mean of a few runs may be from its expectation, and paired comparisons.

The one part of this package that is neither the paper's nor replaces it: what is measured is held against the theory by
everybody above, at the same intervals. `scipy.stats` has them too, and takes three times as long to import.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

__all__ = ["half_width", "mean_interval", "p_value", "quantile"]

Floats = NDArray[np.float64]


def quantile(runs: int, level: Any) -> Any:
    """Half width of the two-sided interval of this many runs, in standard errors; undefined for one run.

    >>> round(float(quantile(10, 95 / 100)), 3), quantile(1, 95 / 100)
    (2.262, inf)
    """
    return stdtrit(runs - 1, (1 + level) / 2) if runs > 1 else np.inf


def _error(values: Floats) -> Any:
    """Standard error of the mean over the last axis."""
    return values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1])


def half_width(values: Floats, level: float) -> Any:
    """Half of the two-sided interval for the mean over the last axis.

    >>> round(float(half_width(np.array([1, 3]), 1 / 2)), 6), half_width(np.array([[1], [2]]), 1 / 2)
    (1.0, array([inf, inf]))
    """
    runs = values.shape[-1]
    return quantile(runs, level) * _error(values) if runs > 1 else np.full(values.shape[:-1], np.inf)


def mean_interval(values: Floats, level: float) -> dict[str, Any]:
    """Mean, low and high over the last axis; one value has no interval.

    >>> mean_interval(np.array([2]), 4 / 5)
    {'mean': 2.0, 'low': None, 'high': None}
    """
    mean = values.mean(axis=-1)
    if values.shape[-1] == 1:
        return {"mean": mean.tolist(), "low": None, "high": None}
    half = half_width(values, level)
    return {"mean": mean.tolist(), "low": (mean - half).tolist(), "high": (mean + half).tolist()}


def p_value(difference: Floats) -> float | None:
    """p-value of a two-sided paired t-test; undefined for one pair.

    >>> p_value(np.array([1, 3, 2])) < 1 / 10, p_value(np.array([1]))
    (True, None)
    """
    if len(difference) == 1:
        return None
    error, mean = float(_error(difference)), abs(float(difference.mean()))
    return float(2 * stdtr(len(difference) - 1, -mean / error)) if error > 0 else float(mean == 0)
