"""Curves over the rounds: means and spreads over the seeds, and the points and marks of a long curve that are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from figures.style import Floats, Look, Whole, key, readable
from theory.numbers import student

__all__ = ["BAND", "Spread", "binned", "draw_band", "draw_policies", "half_width", "policy_handles"]
__all__ += ["spread", "thinned", "turns"]

BAND = (0.1, 0.9)  # quantiles over the seeds
LINE_MARKS_MAX, PAGE_MARKS_MAX = 9, 48
STRETCHES = 800  # of an axis, each as wide as a printed line


@dataclass(frozen=True)
class Spread:
    """The mean over the seeds, and the 10 % and 90 % quantiles."""

    mean: Floats
    low: Floats
    high: Floats


def spread(values: Floats) -> Spread:
    """Mean and quantiles over the first axis, the seeds."""
    low, high = np.quantile(values, BAND, axis=0)
    return Spread(values.mean(axis=0), low, high)


def binned(values: Floats, starts: Whole) -> Floats:
    """Means over bins of the last axis, the rounds, which begin at these indices."""
    sizes = np.diff(np.append(starts, values.shape[-1]))
    return np.asarray(np.add.reduceat(values, starts, axis=-1) / sizes)


def half_width(values: Floats) -> Any:
    """Half the 95 % confidence interval of the mean over the first axis, by Student's t; NaN for a single seed."""
    half = student.half_width(np.moveaxis(values, 0, -1), 0.95)
    return np.where(np.isinf(half), np.nan, half)


def thinned(x: Floats, y: Floats) -> Whole:
    """Indices of the points of a long curve to draw: ends, minimum and maximum of each stretch of a logarithmic axis.

    The drawn line does not change visibly, since a stretch is no wider than the line.
    """
    if len(x) <= 4 * STRETCHES:
        return np.arange(len(x))
    first = np.unique(np.searchsorted(x, np.geomspace(x[0], x[-1], STRETCHES, endpoint=False)))
    keep = [first, np.append(first[1:], len(x)) - 1]
    for worst, pick in ((np.inf, np.argmin), (-np.inf, np.argmax)):
        known = np.where(np.isnan(y), worst, y)
        keep.append(first + [int(pick(part)) for part in np.split(known, first[1:])])
    return np.unique(np.concatenate(keep))


def policy_handles(look: Look, policies: Sequence[str]) -> list[Line2D]:
    """The legend's entries of policies."""
    return [key(readable(name), **how) for name, how in look.policies(policies).items()]


def draw_policies(axes: Axes, x: Floats, curves: dict[str, Spread], look: Look) -> None:
    """Draw a line for each policy's mean, with its spread as bars at marks.

    Marks of policies alternate along a logarithmic axis, so that neither bars nor marks hide each other. Within a round
    the policies stand side by side, which is visible only with very few rounds.
    """
    looks = look.policies(list(curves))
    for place, ((name, values), at) in enumerate(zip(curves.items(), turns(x, len(curves)), strict=True)):
        aside = 0.8 * ((place + 0.5) / len(curves) - 0.5)
        beside = x * (1 + 1 / x[-1]) ** aside
        mark = dict(looks[name])
        line: dict[str, Any] = {"color": mark["color"], "linestyle": mark.pop("linestyle")}
        some = thinned(x, values.mean)
        axes.plot(beside[some], values.mean[some], **line, linewidth=look.scale)
        bars: dict[str, Any] = {"color": mark["color"], "linewidth": 0.7 * look.scale, "zorder": 2.1}
        axes.vlines(beside[at], values.low[at], values.high[at], **bars)
        axes.plot(beside[at], values.mean[at], **mark, linestyle="none", zorder=2.2)


def turns(x: Floats, curves: int) -> list[Whole]:
    """Each curve's marked points: nearest to even places on a logarithmic axis, and no point marked on two curves.

    Short curves have all points marked.
    """
    marks = min(LINE_MARKS_MAX, max(PAGE_MARKS_MAX // curves, 3))
    if len(x) <= marks:
        return [np.arange(len(x))] * curves
    wanted = np.log(x[0]) + (np.arange(marks * curves) + 0.5) / (marks * curves) * np.log(x[-1] / x[0])
    nearest = np.abs(np.log(x) - wanted[:, None]).argmin(axis=1)
    own: list[list[int]] = [[] for _ in range(curves)]
    for slot, (point, taken) in enumerate(zip(nearest, np.diff(nearest, prepend=-1) == 0, strict=True)):
        if not taken:
            own[slot % curves].append(int(point))
    return [np.array(points, dtype=np.int64) for points in own]


def draw_band(axes: Axes, x: Floats, values: Spread, look: Look, **how: Any) -> None:
    """Draw a line with its band, for panels without overlapping bands; a single point is a dash."""
    axes.fill_between(x, values.low, values.high, color=how["color"], alpha=0.2, linewidth=0)
    (at,) = turns(x, 1)
    usual = {"linewidth": look.scale, "markevery": at.tolist(), "marker": "_" if len(x) == 1 else "none"}
    axes.plot(x, values.mean, **(usual | how))
