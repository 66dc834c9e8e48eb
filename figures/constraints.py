"""What the policies of a result did to the budgets: occupancy, overflow, spending and debt, round by round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from figures.measured import Measured, Spread, draw_spread, spread
from figures.style import Look, Width, decades

__all__ = ["PANELS", "Constraints", "compute", "draw"]

Floats = NDArray[np.float64]
PANELS = {
    "n": "occupancy $n(t)$",
    "overflow": r"overflow $\Sigma_m[n_m(t)-B_m]^+$",
    "overspent": "spent $-$ $Ct$",
    "debt": "debt $Z(t)$",
}


@dataclass(frozen=True)
class Constraints:
    """By quantity and policy, means and bands over the seeds; the budgets to set them against."""

    rounds: Floats
    curves: dict[str, dict[str, Spread]]
    budget: float
    total_buffer: float


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
    return Constraints(result.rounds, curves, result.budget, result.total_buffer)


def draw(data: Constraints, look: Look) -> Figure:
    """Two by two."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 4.6, 2, 2, sharex=True)
        for letter, axes, (name, label) in zip("abcd", grid.ravel(), PANELS.items(), strict=True):
            for policy, values in data.curves[name].items():
                draw_spread(axes, data.rounds, values, look, **look.policy(policy), label=policy)
            decades(axes)
            axes.set(ylabel=label, title=f"({letter})", xlim=(1, data.rounds[-1]))
        occupancy, overflow, overspent, debt = grid.ravel()
        occupancy.axhline(
            data.total_buffer, color=look.ink, linewidth=0.8 * look.scale, label=r"$\Sigma_mB_m$"
        )
        occupancy.set_ylim(bottom=0)
        overspent.axhline(0, color=look.ink, linewidth=0.8 * look.scale)
        overflow.set_ylim(bottom=0)
        linear = 10.0 ** np.ceil(np.log10(10 * data.budget))  # about ten rounds' budget, then decades
        for axes in (overspent, debt):
            axes.set_yscale("symlog", linthresh=linear)
            steps = linear * 10.0 ** np.arange(8)
            axes.yaxis.set_major_locator(FixedLocator([*-steps, 0, *steps]))
            axes.yaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("round $t$")
        debt.set_ylim(bottom=0)
        handles, labels = occupancy.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure
