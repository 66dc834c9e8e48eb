"""What was learnt: excess population risk and test accuracy, round by round, for every policy of a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures.measured import Measured, Spread, draw_spread, spread
from figures.style import Look, Width, decades
from theory.setting import SettingError

__all__ = ["PANELS", "Learning", "compute", "draw"]

Floats = NDArray[np.float64]
BINS = 50
PANELS = {"excess_risk": r"excess risk $F_P(\theta(t))-F_P(\theta^\star)$", "accuracy": "test accuracy"}


@dataclass(frozen=True)
class Learning:
    """By quantity ("excess_risk", "accuracy", as far as measured) and policy, at the rounds `at`."""

    at: Floats
    curves: dict[str, dict[str, Spread]]


def compute(result: Measured) -> Learning:
    """Each run averaged over bins of rounds that grow with t, then the mean and the band over the seeds."""
    measured = [name for name in PANELS if name in result.columns]
    if not measured:
        raise SettingError(
            "this result has neither excess risk nor accuracy: train with one of these measures"
        )
    T = len(result.rounds)
    starts = np.unique(np.geomspace(1, T + 1, BINS + 1).round().astype(int))[:-1] - 1
    sizes = np.diff(np.append(starts, T))

    def binned(values: Floats) -> Floats:
        means: Floats = np.add.reduceat(values, starts, axis=-1) / sizes
        return means

    curves = {
        name: {policy: spread(binned(result[name][p])) for p, policy in enumerate(result.policies)}
        for name in measured
    }
    return Learning(binned(result.rounds), curves)


def draw(data: Learning, look: Look) -> Figure:
    """A panel for each quantity."""
    with look.applied():
        wide = len(data.curves) > 1
        figure, grid = look.canvas(Width.double if wide else Width.single, 2.9, 1, len(data.curves))
        for letter, axes, (name, curves) in zip("ab", grid[0], data.curves.items(), strict=False):
            for policy, values in curves.items():
                draw_spread(axes, data.at, values, look, **look.policy(policy), label=policy)
            decades(axes)
            axes.set(xlabel="round $t$", ylabel=PANELS[name], xlim=(1, data.at[-1]))
            if wide:
                axes.set_title(f"({letter})")
            if name == "excess_risk":
                axes.set_yscale("log")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels) if wide else 3)
    return figure
