"""Measured excess risk, its prediction by the law of reuse before training, and Theorem 1, corrected.

The bound holds for sums over rounds, so all three are drawn as averages of the rounds 1..t; the risk of single rounds
is drawn too, since averages depend on the first rounds for long. Below, residuals of the predicted average, with the
confidence interval of the measured mean.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from figures.curves import Spread, binned, draw_band, half_width, spread
from figures.measured import Measured
from figures.risk_vs_bound import TRAJECTORY, bounds
from figures.style import DASHES, Floats, Look, Whole, Width, decades, key, readable, round_axis

__all__ = ["READS", "PolicyPrediction", "Prediction", "compute", "draw"]

POINTS = 40
COLUMNS = 5
POLICIES_MAX = 15  # on a page
LINE_WIDTH, MARK_SIZE = 1.6, 2.2
TITLE_LETTERS = 19  # of a name at full size
READS = ("excess_risk", "predicted_excess_risk", *TRAJECTORY)


@dataclass(frozen=True)
class Curves:
    """The measured values over the seeds, and their prediction."""

    measured: Spread
    predicted: Floats


@dataclass(frozen=True)
class PolicyPrediction:
    """Averages of the rounds 1..t with their mean bound, and averages of single bins of rounds.

    `residual` is predicted / measured - 1 of the averages to t, `doubt` half the 95 % interval of the measured mean,
    relative to it; both NaN where the mean is not positive, `doubt` also for one seed. `error` is the standard error of
    the last residual over price paths.
    """

    average: Curves
    single: Curves
    bound: Floats
    residual: Floats
    doubt: Floats
    error: float


@dataclass(frozen=True)
class Prediction:
    """Curves by policy: averages to the rounds `t`, bins around the rounds `at`."""

    t: Floats
    at: Floats
    policies: dict[str, PolicyPrediction]
    nominal: tuple[str, ...]
    note: str


def compute(result: Measured) -> Prediction:
    """Averages and bins of all rounds; of more policies than a page holds, an even selection."""
    ends = np.unique(np.geomspace(1, result.horizon, POINTS).round().astype(int))
    names = result.policies
    some = np.unique(np.linspace(0, len(names) - 1, min(len(names), POLICIES_MAX)).round().astype(int))
    found = {names[p]: _one(result, int(p), ends) for p in some}
    note = (
        "Marks: measured; lines: predicted before training; below: predicted / measured − 1 of the averages, with the "
        "last value and its standard error (±) over price paths. "
    )
    note += result.note("Bands: 10–90 % of {} seeds, below: 95 % interval (Student’s t) of their mean")
    if len(some) < len(names):
        note += f" Drawn: {len(some)} of {len(names)} policies."
    at = _single(result.rounds[np.newaxis], ends)[0]
    return Prediction(ends.astype(float), at, found, result.nominal, note)


def _average(rounds: Floats, ends: Whole) -> Floats:
    return np.asarray(np.cumsum(rounds, axis=1)[:, ends - 1] / ends)


def _single(rounds: Floats, ends: Whole) -> Floats:
    return binned(rounds, np.append(0, ends[:-1]))


def _one(result: Measured, p: int, ends: Whole) -> PolicyPrediction:
    measured, predicted = result["excess_risk"][p], result["predicted_excess_risk"][p]
    average, single = (
        Curves(spread(mean(measured, ends)), mean(predicted, ends).mean(axis=0))
        for mean in (_average, _single)
    )
    known = np.where(average.measured.mean > 0, average.measured.mean, np.nan)
    return PolicyPrediction(
        average=average,
        single=single,
        bound=bounds(result, p, ends)[0].mean(axis=0) / ends,
        residual=average.predicted / known - 1,
        doubt=half_width(_average(measured, ends)) / known,
        error=result.predicted_error.get(result.policies[p], 0.0) / float(ends[-1] * known[-1]),
    )


def draw(data: Prediction, look: Look) -> Figure:
    """Draw a panel for each policy, and its residuals in a strip below."""
    rows = -(-len(data.policies) // COLUMNS)
    columns = -(-len(data.policies) // rows)
    with look.applied():
        width, words = (Width.double, 0.85) if columns > 1 else (Width.single, 1.3)
        shape = {"height_ratios": [2, 1] * rows, "sharex": True}
        figure, grid = look.canvas(width, words + 2.3 * rows, 2 * rows, columns, **shape)
        panels, strips = grid[::2].ravel(), grid[1::2].ravel()
        for panel, strip, (name, one) in zip(panels, strips, data.policies.items(), strict=False):
            _draw_policy(panel, data, one, look)
            _draw_residuals(strip, data.t, one, look)
            shown = readable(name)
            panel.set_title(shown, size=8 * look.scale * min(1, TITLE_LETTERS / len(shown)))
        _align(panels, strips, data, columns)
        look.legend(figure, _handles(data, look), data.note)
    return figure


def _draw_policy(axes: Axes, data: Prediction, one: PolicyPrediction, look: Look) -> None:
    marker = "_" if len(data.t) == 1 else "none"
    dots = look.points()
    law: dict[str, Any] = {"color": look.series[2], "marker": marker}
    squares = look.points("s") | {"markersize": MARK_SIZE * look.scale}
    draw_band(axes, data.t, one.average.measured, look, **dots, zorder=2.5)
    axes.plot(data.t, one.average.predicted, **law, linewidth=LINE_WIDTH * look.scale)
    draw_band(axes, data.at, one.single.measured, look, **squares, zorder=2.4)
    axes.plot(data.at, one.single.predicted, **law, linestyle=DASHES[2])
    bound: dict[str, Any] = {"color": look.corrected, "linestyle": DASHES[1], "marker": marker}
    axes.plot(data.t, one.bound, **bound)
    decades(axes, vertical=True)
    low, high, last = one.average.measured.mean[-1], one.bound[-1], data.t[-1]
    if low > 0:
        arrow: dict[str, Any] = {"arrowstyle": "<->", "color": look.ink, "linewidth": 0.8 * look.scale}
        axes.annotate("", (last, high), (last, low), arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0})
        place: dict[str, Any] = {"ha": "right", "va": "center", "size": 7 * look.scale}
        axes.text(last**0.95, np.sqrt(low * high), f"× {high / low:,.0f}", **place)


def _draw_residuals(axes: Axes, t: Floats, one: PolicyPrediction, look: Look) -> None:
    axes.fill_between(t, -100 * one.doubt, 100 * one.doubt, color=look.ink, alpha=0.15, linewidth=0)
    look.zero(axes)
    marker = "_" if len(t) == 1 else "none"
    axes.plot(t, 100 * one.residual, color=look.series[2], linewidth=LINE_WIDTH * look.scale, marker=marker)
    if np.isfinite(one.residual[-1]):
        place: dict[str, Any] = {"ha": "left", "va": "top", "transform": axes.transAxes}
        words = f"{100 * one.residual[-1]:+.1f}" + (f" ± {100 * one.error:.1f}" if one.error else "")
        axes.text(0.04, 0.97, f"{words} %".replace("-", "−"), **place, size=7 * look.scale)


def _align(panels: NDArray[Any], strips: NDArray[Any], data: Prediction, columns: int) -> None:
    """Give all panels equal axes, with labels at the left and below."""
    count = len(data.policies)
    for axes in (*panels[count:], *strips[count:]):
        axes.remove()
    low = min(axes.get_ylim()[0] for axes in panels[:count])
    high = max(axes.get_ylim()[1] for axes in panels[:count])
    sizes = [np.abs(part) for one in data.policies.values() for part in (one.residual, one.doubt)]
    reach = 115 * max((float(x) for x in np.concatenate(sizes) if np.isfinite(x)), default=0.0)
    for place, (panel, strip) in enumerate(zip(panels[:count], strips[:count], strict=True)):
        round_axis(panel, data.t[-1])
        panel.set_ylim(low, high)
        strip.set_ylim(-max(reach, 1), max(reach, 1))
        strip.tick_params(labelbottom=True)
        strip.set_xlabel("round $t$")
        first = place % columns == 0
        for axes, label in ((panel, "excess risk"), (strip, "residual, %")):
            axes.set_ylabel(label if first else "")
            axes.tick_params(labelleft=first)


def _handles(data: Prediction, look: Look) -> list[Line2D]:
    mark: dict[str, Any] = {"color": look.series[2]}
    mark |= {"markeredgecolor": look.ink, "markerfacecolor": look.ground}
    single = mark | {"marker": "s", "markersize": MARK_SIZE * look.scale, "linestyle": DASHES[2]}
    nominal = ", nominal constants" if data.nominal else ""
    return [
        key("average to $t$", **mark, marker="o", linewidth=LINE_WIDTH * look.scale),
        key("single rounds", **single),
        key(f"Theorem 1, corrected, average to $t${nominal}", color=look.corrected, linestyle=DASHES[1]),
    ]
