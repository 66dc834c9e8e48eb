"""Means over the seeds of a study with intervals of Student's t, and paired comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

__all__ = ["half_width", "mean_interval", "p_value"]

Floats = NDArray[np.float64]


def _error(values: Floats) -> Any:
    """Standard error of the mean over the last axis."""
    return values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1])


def half_width(values: Floats, level: float) -> Any:
    """Half of the two-sided interval for the mean over the last axis; one value says nothing.

    >>> round(float(half_width(np.array([1.0, 3.0]), 0.5)), 6), half_width(np.array([1.0]), 0.5)
    (1.0, inf)
    """
    seeds = values.shape[-1]
    return stdtrit(seeds - 1, (1 + level) / 2) * _error(values) if seeds > 1 else np.inf


def mean_interval(values: Floats, level: float) -> dict[str, Any]:
    """Mean, low and high over the last axis; one value has no interval.

    >>> mean_interval(np.array([2.0]), 0.8)
    {'mean': 2.0, 'low': None, 'high': None}
    """
    mean = values.mean(axis=-1)
    if values.shape[-1] == 1:
        return {"mean": mean.tolist(), "low": None, "high": None}
    half = half_width(values, level)
    return {"mean": mean.tolist(), "low": (mean - half).tolist(), "high": (mean + half).tolist()}


def p_value(difference: Floats) -> float | None:
    """Of a paired t-test that there is none, two-sided; one pair decides nothing.

    >>> p_value(np.array([1.0, 3.0, 2.0])) < 0.1, p_value(np.array([1.0]))
    (True, None)
    """
    if len(difference) == 1:
        return None
    error, mean = float(_error(difference)), abs(float(difference.mean()))
    return float(2 * stdtr(len(difference) - 1, -mean / error)) if error > 0 else float(mean == 0)
