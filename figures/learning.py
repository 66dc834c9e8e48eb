"""What was learnt: excess population risk and test accuracy, round by round, for every policy of a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures.measured import Measured, Spread, draw_policies, policy_handles, spread
from figures.missing import NotMeasured
from figures.style import Look, Width, round_axis

__all__ = ["PANELS", "READS", "Learning", "compute", "draw"]

Floats = NDArray[np.float64]
BINS = 50
PANELS = {
    "excess_risk": r"excess risk $F_P(\theta(t))-F_P(\theta^\star)$",
    "risk": r"risk $F_P(\theta(t))$",
    "accuracy": "test accuracy",
}
READS = tuple(PANELS)


@dataclass(frozen=True)
class Learning:
    """By quantity ("excess_risk", "accuracy", as far as measured) and policy, at the rounds `at`.

    The risk itself stands in where there is no excess risk.
    """

    at: Floats
    curves: dict[str, dict[str, Spread]]
    note: str


def compute(result: Measured) -> Learning:
    """Each run averaged over bins of rounds that grow with t, then the mean and the spread over the seeds."""
    instead = "risk" if "excess_risk" in result.columns else "excess_risk"
    measured = [name for name in PANELS if name in result.columns and name != instead]
    if not measured:
        raise NotMeasured("this result has neither risk nor accuracy: train with one of these measures")
    T = result.horizon
    starts = np.unique(np.geomspace(1, T + 1, BINS + 1).round().astype(int))[:-1] - 1
    sizes = np.diff(np.append(starts, T))

    def binned(values: Floats) -> Floats:
        means: Floats = np.add.reduceat(values, starts, axis=-1) / sizes
        return means

    curves = {
        name: {policy: spread(binned(result[name][p])) for p, policy in enumerate(result.policies)}
        for name in measured
    }
    return Learning(binned(result.rounds), curves, result.note("Lines: mean; bars: 10–90 % of {} seeds"))


def draw(data: Learning, look: Look) -> Figure:
    """A panel for each quantity."""
    with look.applied():
        wide = len(data.curves) > 1
        figure, grid = look.canvas(Width.double if wide else Width.single, 3.0, 1, len(data.curves))
        for letter, axes, (name, curves) in zip("ab", grid[0], data.curves.items(), strict=False):
            draw_policies(axes, data.at, curves, look)
            round_axis(axes, data.at[-1])
            axes.set(xlabel="round $t$", ylabel=PANELS[name])
            if wide:
                axes.set_title(f"({letter})")
            if name == "excess_risk":
                axes.set_yscale("log")
        policies = list(next(iter(data.curves.values())))
        look.legend(figure, policy_handles(look, policies), data.note)
    return figure
