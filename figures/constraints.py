"""What the policies of a result did to the budgets: occupancy, overflow, spending and debt, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from figures.measured import Measured, Spread, draw_policies, policy_handles, spread
from figures.style import Look, Width, round_axis

__all__ = ["PANELS", "READS", "Constraints", "compute", "draw"]

Floats = NDArray[np.float64]
PANELS = {
    "n": "occupancy $n(t)$",
    "overflow": r"overflow $\Sigma_m[n_m(t)-B_m]^+$",
    "overspent": "spent $-$ $Ct$",
    "debt": "debt $Z(t)$",
}
READS = ("cost", "admitted", "n", "overflow", "debt")


@dataclass(frozen=True)
class Constraints:
    """By quantity and policy, means and spreads over the seeds; the budgets to set them against."""

    rounds: Floats
    curves: dict[str, dict[str, Spread]]
    budget: float
    total_buffer: float
    note: str


def compute(result: Measured) -> Constraints:
    """All from the result's columns; `overspent` is Σ c(τ)Λ(τ) - Ct."""
    spent = np.cumsum(result["cost"] * result["admitted"], axis=2)
    quantities = {
        "n": result["n"],
        "overflow": result["overflow"],
        "overspent": spent - result.budget * result.rounds,
        "debt": result["debt"],
    }
    curves = {
        name: {policy: spread(values[p]) for p, policy in enumerate(result.policies)}
        for name, values in quantities.items()
    }
    note = result.note("Lines: mean; bars: 10–90 % of {} seeds")
    return Constraints(result.rounds, curves, result.budget, result.total_buffer, note)


def draw(data: Constraints, look: Look) -> Figure:
    """Two by two."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 4.8, 2, 2, sharex=True)
        for letter, axes, (name, label) in zip("abcd", grid.ravel(), PANELS.items(), strict=True):
            draw_policies(axes, data.rounds, data.curves[name], look)
            round_axis(axes, data.rounds[-1])
            axes.set(ylabel=label, title=f"({letter})")
        occupancy, overflow, overspent, debt = grid.ravel()
        how: dict[str, Any] = {"color": look.ink, "linewidth": 0.8 * look.scale, "zorder": 1.9}
        buffers = occupancy.axhline(data.total_buffer, **how, label=r"$\Sigma_mB_m$")
        overspent.axhline(0, **how)
        exponent = int(np.ceil(np.log10(10 * data.budget)))  # about ten rounds' budget, then decades
        for axes in (overspent, debt):
            _bend(axes, exponent)
            axes.set_xlabel("round $t$")
        for axes in (occupancy, overflow):  # never negative, and room for marks at 0
            top = max(axes.get_ylim()[1], 1)
            axes.set_ylim(-0.03 * top, top)
        debt.set_ylim(-0.1 * 10**exponent, max(debt.get_ylim()[1], 10**exponent))
        handles = [*policy_handles(look, list(data.curves["n"])), buffers]
        look.legend(figure, handles, data.note)
    return figure


def _bend(axes: Axes, exponent: int) -> None:
    """An axis that is linear up to a power of ten and logarithmic beyond, and says so."""
    axes.set_yscale("symlog", linthresh=10.0**exponent)
    steps = 10.0 ** np.arange(exponent, exponent + 8)
    axes.yaxis.set_major_locator(FixedLocator([*-steps, 0, *steps]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(f"{axes.get_ylabel()}\n(linear to $10^{exponent}$, then log)")
