"""Excess population risk and test accuracy of a result's policies, round by round."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from figures.curves import Spread, binned, draw_policies, policy_handles
from figures.measured import Measured
from figures.options import NotMeasured
from figures.style import Floats, Look, Width, letter, round_axis

__all__ = ["PANELS", "READS", "Learning", "compute", "draw"]

BINS = 50
PANELS = {
    "excess_risk": r"excess risk $F_P(\theta(t))-F_P(\theta^\star)$",
    "risk": r"risk $F_P(\theta(t))$",
    "accuracy": "test accuracy",
}
READS = tuple(PANELS)


@dataclass(frozen=True)
class Learning:
    """Curves by quantity ("excess_risk" or else "risk", and "accuracy", if measured) and policy, at the rounds `at`."""

    at: Floats
    curves: dict[str, dict[str, Spread]]
    note: str


def compute(result: Measured) -> Learning:
    """Averages of each run over bins of rounds that grow with t, then mean and spread over the seeds."""
    instead = "risk" if "excess_risk" in result.columns else "excess_risk"
    measured = [name for name in PANELS if name in result.columns and name != instead]
    if not measured:
        raise NotMeasured("this result has neither risk nor accuracy: train with one of these measures")
    T = result.horizon
    starts = np.unique(np.geomspace(1, T + 1, BINS + 1).round().astype(int))[:-1] - 1
    curves = {name: result.spreads(binned(result[name], starts)) for name in measured}
    return Learning(binned(result.rounds, starts), curves, result.note())


def draw(data: Learning, look: Look) -> Figure:
    """Draw a panel for each quantity."""
    with look.applied():
        wide = len(data.curves) > 1
        figure, grid = look.canvas(Width.double if wide else Width.single, 3.0, 1, len(data.curves))
        for axes, (name, curves) in zip(grid[0], data.curves.items(), strict=True):
            draw_policies(axes, data.at, curves, look)
            round_axis(axes, data.at[-1])
            axes.set(xlabel="round $t$", ylabel=PANELS[name])
            if name == "excess_risk":
                axes.set_yscale("log")
        if wide:
            letter(grid[0])
        policies = list(next(iter(data.curves.values())))
        look.legend(figure, policy_handles(look, policies), data.note)
    return figure
