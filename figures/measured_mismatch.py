r"""The mismatch of gradients as training meets it, over what χ predicts, and what the printed expression would give.

At a fixed θ the measured \(\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2\) has mean variance·χ. The iterates
depend on the samples, so at θ(t) the ratio need not be 1; the figure shows how far from 1 it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures.measured import Measured, half_width
from figures.style import DASHES, Look, Width, decades

__all__ = ["MeasuredMismatch", "OnePolicy", "compute", "draw"]

Floats = NDArray[np.float64]
BINS = 14
COLUMNS = 3
FLOOR = -1.2  # of the axis; in rounds t <= K the printed expression is -χ


@dataclass(frozen=True)
class OnePolicy:
    """Measured over variance·χ in bins of rounds, mean and half-width of its 95 % interval over the seeds; and by round
    the printed expression over χ.
    """

    at: Floats
    ratio: Floats
    half_width: Floats
    rounds: Floats
    stated: Floats


@dataclass(frozen=True)
class MeasuredMismatch:
    """By policy."""

    policies: dict[str, OnePolicy]


def compute(result: Measured) -> MeasuredMismatch:
    """Ratios of sums, seed by seed, over bins that grow with t.

    Rounds in which some run has χ = 0 are left out: round 1, and those in which all samples were used equally often.
    """
    return MeasuredMismatch({name: _one(p, result) for p, name in enumerate(result.policies)})


def _one(p: int, result: Measured) -> OnePolicy:
    measured, variance, chi = (result[name][p] for name in ("mismatch", "variance", "chi"))
    stated, rounds = result["stated_mismatch"][p].mean(axis=0), result.rounds
    some = (chi > 1e-12).all(axis=0)
    edges = np.unique(np.geomspace(1, len(rounds) + 1, BINS + 1).round().astype(int))
    bins = [np.arange(a - 1, b - 1)[some[a - 1 : b - 1]] for a, b in pairwise(edges)]
    bins = [members for members in bins if len(members)]
    ratios = np.stack([measured[:, b].sum(axis=1) / (variance * chi)[:, b].sum(axis=1) for b in bins], axis=1)
    return OnePolicy(
        at=np.array([np.exp(np.log(rounds[b]).mean()) for b in bins]),
        ratio=ratios.mean(axis=0),
        half_width=half_width(ratios),
        rounds=rounds[some],
        stated=stated[some] / chi.mean(axis=0)[some],
    )


def draw(data: MeasuredMismatch, look: Look) -> Figure:
    """A panel for each policy."""
    columns = min(COLUMNS, len(data.policies))
    rows = -(-len(data.policies) // columns)
    with look.applied():
        width = Width.double if columns > 1 else Width.single
        figure, grid = look.canvas(width, 0.5 + 1.75 * rows, rows, columns, sharey=True)
        panels = list(grid.ravel())
        for axes, (name, one) in zip(panels, data.policies.items(), strict=False):
            _draw_policy(axes, one, look)
            axes.set(
                title=name,
                xlabel="round $t$",
                xlim=(1, max(one.rounds[-1] for one in data.policies.values())),
            )
        for axes in panels[len(data.policies) :]:
            axes.remove()
        for row in grid:
            row[0].set_ylabel(r"mismatch $/\ (\mathrm{variance}\cdot\chi)$")
        highest = max(
            np.nanmax(np.append(one.ratio, one.ratio + one.half_width)) for one in data.policies.values()
        )
        panels[0].set_ylim(FLOOR, max(1.2, 1.05 * highest))
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_policy(axes: Axes, one: OnePolicy, look: Look) -> None:
    axes.axhline(0, color=look.ink, linewidth=0.6 * look.scale)
    axes.axhline(1, color=look.corrected, label=r"predicted with $\chi$")
    stated = np.where(one.stated >= FLOOR, one.stated, np.nan)
    axes.plot(
        one.rounds, stated, color=look.stated, linestyle=DASHES[1], label=r"with $1/n-1/N_{\mathrm{eff}}$"
    )
    axes.errorbar(one.at, one.ratio, one.half_width, **look.points(), label="measured, 95 % over seeds")
    decades(axes)
