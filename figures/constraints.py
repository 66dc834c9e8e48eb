"""Occupancy, overflow, spending and debt of a result's policies, round by round, against the budgets."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from figures.curves import Spread, draw_policies, policy_handles
from figures.measured import Measured
from figures.style import Floats, Look, Width, letter, round_axis

__all__ = ["PANELS", "READS", "Constraints", "compute", "draw"]

PANELS = {
    "n": "occupancy $n(t)$",
    "overflow": r"overflow $\Sigma_m[n_m(t)-B_m]^+$",
    "overspent": "spent $-$ $Ct$",
    "debt": "debt $Z(t)$",
}
READS = ("cost", "admitted", "n", "overflow", "debt")


@dataclass(frozen=True)
class Constraints:
    """Means and spreads over the seeds by quantity and policy, and the budgets."""

    rounds: Floats
    curves: dict[str, dict[str, Spread]]
    budget: float
    total_buffer: float
    note: str


def compute(result: Measured) -> Constraints:
    """The quantities from the result's columns; `overspent` is Σ c(τ)Λ(τ) - Ct."""
    spent = np.cumsum(result["cost"] * result["admitted"], axis=2)
    quantities = {
        "n": result["n"],
        "overflow": result["overflow"],
        "overspent": spent - result.budget * result.rounds,
        "debt": result["debt"],
    }
    curves = {name: result.spreads(values) for name, values in quantities.items()}
    return Constraints(result.rounds, curves, result.budget, result.total_buffer, result.note())


def draw(data: Constraints, look: Look) -> Figure:
    """Draw four panels, two by two."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 4.8, 2, 2, sharex=True)
        for axes, (name, label) in zip(grid.ravel(), PANELS.items(), strict=True):
            draw_policies(axes, data.rounds, data.curves[name], look)
            round_axis(axes, data.rounds[-1])
            axes.set_ylabel(label)
        letter(grid.ravel())
        occupancy, overflow, overspent, debt = grid.ravel()
        buffers = occupancy.axhline(data.total_buffer, **look.limit, label=r"$\Sigma_mB_m$")
        overspent.axhline(0, **look.limit)
        exponent = int(np.ceil(np.log10(10 * data.budget)))  # about ten rounds' budget, then decades
        for axes in (overspent, debt):
            _bend(axes, exponent)
            axes.set_xlabel("round $t$")
        for axes in (occupancy, overflow):  # room for marks at 0
            top = max(axes.get_ylim()[1], 1)
            axes.set_ylim(-0.03 * top, top)
        debt.set_ylim(-0.1 * 10**exponent, max(debt.get_ylim()[1], 10**exponent))
        handles = [*policy_handles(look, list(data.curves["n"])), buffers]
        look.legend(figure, handles, data.note)
    return figure


def _bend(axes: Axes, exponent: int) -> None:
    """Make an axis linear up to a power of ten and logarithmic beyond, and label it so."""
    axes.set_yscale("symlog", linthresh=10.0**exponent)
    steps = 10.0 ** np.arange(exponent, exponent + 8)
    axes.yaxis.set_major_locator(FixedLocator([*-steps, 0, *steps]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(f"{axes.get_ylabel()}\n(linear to $10^{exponent}$, then log)")
