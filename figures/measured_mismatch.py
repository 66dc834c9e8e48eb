r"""The gradient mismatch measured in training, over its prediction by χ and by the printed expression.

At a fixed θ the measured \(\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2\) has mean variance·χ. The iterates
depend on the samples, so that the ratio at θ(t) may differ from 1.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures.curves import half_width, thinned
from figures.measured import Measured
from figures.style import DASHES, Floats, Look, Width, readable, round_axis

__all__ = ["READS", "MeasuredMismatch", "MismatchRatio", "compute", "draw"]

BINS = 14
COLUMNS = 3
AXIS_MIN = -1.2  # of the axis; in rounds t <= K the printed expression is -χ
READS = ("mismatch", "variance", "chi", "stated_mismatch")


@dataclass(frozen=True)
class MismatchRatio:
    """Measured mismatch over variance·χ in bins of rounds, mean and half-width of its 95 % interval over the seeds, and
    the printed expression over χ by round. All are empty if χ = 0 in every round."""

    at: Floats
    ratio: Floats
    half_width: Floats
    rounds: Floats
    stated: Floats


@dataclass(frozen=True)
class MeasuredMismatch:
    """Ratios by policy, over `horizon` rounds."""

    policies: dict[str, MismatchRatio]
    horizon: int
    seeds: int
    note: str


def compute(result: Measured) -> MeasuredMismatch:
    """Ratios of sums, seed by seed, over bins that grow with t.

    Rounds in which some run has χ = 0 are left out: round 1, and rounds in which all samples were used equally often.
    """
    found = {name: _one(p, result) for p, name in enumerate(result.policies)}
    note = result.note("Bars: 95 % interval (Student’s t) of the mean over {} seeds")
    return MeasuredMismatch(found, result.horizon, result.seeds, note)


def _one(p: int, result: Measured) -> MismatchRatio:
    measured, variance, chi = (result[name][p] for name in ("mismatch", "variance", "chi"))
    stated, rounds = result["stated_mismatch"][p].mean(axis=0), result.rounds
    some = (chi > 1e-12).all(axis=0)
    edges = np.unique(np.geomspace(1, len(rounds) + 1, BINS + 1).round().astype(int))
    bins = [np.arange(a - 1, b - 1)[some[a - 1 : b - 1]] for a, b in pairwise(edges)]
    bins = [members for members in bins if len(members)]
    expected = variance * chi
    ratios = np.array([measured[:, b].sum(axis=1) / expected[:, b].sum(axis=1) for b in bins])
    ratios = ratios.reshape(len(bins), len(measured)).T
    return MismatchRatio(
        at=np.array([np.exp(np.log(rounds[b]).mean()) for b in bins]),
        ratio=ratios.mean(axis=0),
        half_width=half_width(ratios),
        rounds=rounds[some],
        stated=stated[some] / chi.mean(axis=0)[some],
    )


def draw(data: MeasuredMismatch, look: Look) -> Figure:
    """Draw a panel for each policy."""
    columns = min(COLUMNS, len(data.policies))
    rows = -(-len(data.policies) // columns)
    with look.applied():
        width = Width.double if columns > 1 else Width.single
        figure, grid = look.canvas(width, 0.65 + 1.75 * rows, rows, columns, sharey=True)
        panels = list(grid.ravel())
        for axes, (name, one) in zip(panels, data.policies.items(), strict=False):
            _draw_policy(axes, one, look, f"measured, {data.seeds} seed{'s' * (data.seeds > 1)}")
            round_axis(axes, data.horizon)
            axes.set(title=readable(name), xlabel="round $t$")
        for axes in panels[len(data.policies) :]:
            axes.remove()
        for row in grid:
            row[0].set_ylabel(r"mismatch $/\ (\mathrm{variance}\cdot\chi)$")
        reach = [np.append(one.ratio, one.ratio + one.half_width) for one in data.policies.values()]
        highest = max((float(x) for x in np.concatenate(reach) if np.isfinite(x)), default=1.0)
        panels[0].set_ylim(AXIS_MIN, max(1.2, 1.05 * highest))
        look.legend(figure, panels[0].get_legend_handles_labels()[0], data.note)
    return figure


def _draw_policy(axes: Axes, one: MismatchRatio, look: Look, label: str) -> None:
    look.zero(axes)
    axes.axhline(1, color=look.corrected, label=r"predicted with $\chi$")
    some = thinned(one.rounds, one.stated)
    stated = np.where(one.stated >= AXIS_MIN, one.stated, np.nan)[some]
    how: dict[str, Any] = {"color": look.stated, "linestyle": DASHES[1]}
    axes.plot(one.rounds[some], stated, **how, label=r"with $1/n-1/N_{\mathrm{eff}}$")
    axes.errorbar(one.at, one.ratio, one.half_width, **look.points(), label=label)
    if not len(one.at):
        words: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.get_yaxis_transform()}
        box = {"facecolor": look.ground, "edgecolor": "none", "pad": look.scale}
        axes.text(0.5, 0.5, r"$\chi=0$ in every round:" "\nno ratio", **words, bbox=box)
