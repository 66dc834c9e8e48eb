"""One run of ACDPP, as printed and with a cap: region, admissions, and their effect on the budgets."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures.options import Track, silently
from figures.simulation import Simulation, play
from figures.style import DASHES, Floats, Look, Width
from theory.control.region import region_maximum, region_minimum
from theory.reuse.trajectories import trajectory
from theory.setting import Constants

__all__ = ["Control", "ControlRun", "compute", "draw"]


@dataclass(frozen=True)
class ControlRun:
    """A run, round by round: cost of a sample, admissions, occupancy, debt, and cumulative spending."""

    cost: Floats
    admitted: Floats
    occupancy: Floats
    debt: Floats
    spent: Floats


@dataclass(frozen=True)
class Control:
    """The printed and the capped rule on equal costs, with equal region and budgets."""

    rounds: Floats
    lowest: Floats
    highest: Floats
    total_buffer: float
    C: float
    runs: dict[str, ControlRun]


def compute(setting: Simulation, constants: Constants, *, track: Track = silently) -> Control:
    """Both rules of `theory.control.admission`, on the costs of the seed."""
    t = np.arange(1.0, setting.rounds + 1)
    found = {}
    for name in ("literal", "capped"):
        runs = play(setting, constants, capped=name == "capped", track=track)
        cost, admitted, debt = (values[:, 0] for values in (runs.cost, runs.admitted, runs.debt))
        occupancy = trajectory(admitted, setting.K).n
        found[name] = ControlRun(cost, admitted, occupancy, debt, np.cumsum(cost * admitted))
    lowest, highest = region_minimum(setting.region, t), region_maximum(setting.region, t)
    return Control(t, lowest, highest, setting.total_buffer, setting.C, found)


def draw(data: Control, look: Look) -> Figure:
    """Draw a column for each rule, a row for each quantity."""
    titles = {"literal": "ACDPP as printed", "capped": "ACDPP, admitting only what fits"}
    rows = {
        "cost $c(t)$": _cost,
        "admissions $\\Lambda(t)$\n(linear to 1, then log)": _admissions,
        "occupancy $n(t)$": _occupancy,
        "debt $Z(t)$": _debt,
        "spent $-$ $Ct$": _spending,
    }
    with look.applied():
        figure, grid = look.canvas(Width.double, 6.6, len(rows), 2, sharex=True, sharey="row")
        for row, (label, paint) in zip(grid, rows.items(), strict=True):
            for axes, run in zip(row, data.runs.values(), strict=True):
                paint(axes, data, run, look)
            row[0].set_ylabel(label)
        for column, name in zip(grid.T, data.runs, strict=True):
            column[0].set_title(titles[name])
            column[-1].set(xlabel="round $t$", xlim=(0, len(data.rounds)))
        figure.align_ylabels()
        handles = [handle for axes in grid[:, 0] for handle in axes.get_legend_handles_labels()[0]]
        look.legend(figure, handles)
    return figure


def _cost(axes: Axes, data: Control, run: ControlRun, look: Look) -> None:
    axes.step(data.rounds, run.cost, where="mid", color=look.muted, linewidth=0.7 * look.scale)


def _admissions(axes: Axes, data: Control, run: ControlRun, look: Look) -> None:
    region = r"region $[\Lambda_{\min},\Lambda_{\max}]$"
    axes.fill_between(data.rounds, data.lowest, data.highest, step="mid", color=look.faint, label=region)
    how: dict[str, Any] = {"where": "mid", "color": look.corrected, "linewidth": 0.8 * look.scale}
    axes.step(data.rounds, run.admitted, **how)
    axes.set_yscale("symlog", linthresh=1)  # the capped rule admits nothing at times
    axes.set_ylim(-0.1, 1.5 * data.highest[0])


def _occupancy(axes: Axes, data: Control, run: ControlRun, look: Look) -> None:
    axes.plot(data.rounds, run.occupancy, color=look.corrected)
    axes.axhline(data.total_buffer, color=look.stated, linestyle=DASHES[1])
    over = np.maximum(run.occupancy, data.total_buffer)
    how: dict[str, Any] = {"color": look.stated, "alpha": 0.3, "linewidth": 0, "label": "above the buffers"}
    axes.fill_between(data.rounds, data.total_buffer, over, **how)
    axes.set_ylim(bottom=0)


def _debt(axes: Axes, data: Control, run: ControlRun, look: Look) -> None:
    axes.plot(data.rounds, run.debt, color=look.corrected)
    axes.set_ylim(bottom=0)


def _spending(axes: Axes, data: Control, run: ControlRun, look: Look) -> None:
    axes.plot(data.rounds, run.spent - data.C * data.rounds, color=look.corrected)
    axes.axhline(0, color=look.stated, linestyle=DASHES[1], label=r"budgets: buffers $\Sigma B_m$, cost $Ct$")
