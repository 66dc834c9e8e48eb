"""Excess risk against the money that was spent for it, for every policy of a result, and what nobody is below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from empirics.settings.policy_name import PolicyName
from figures.measured import Measured, Spread, draw_band, spread
from figures.style import DASHES, Look, Width, decades, readable

__all__ = ["READS", "Money", "compute", "draw"]

Floats = NDArray[np.float64]
BINS = 40
READS = ("cost", "admitted", "excess_risk")


@dataclass(frozen=True)
class Money:
    """By policy, what was spent, averaged over the seeds, and the excess risk then; and what nobody is below."""

    spent: dict[str, Floats]
    risk: dict[str, Spread]
    least: tuple[Floats, Floats] | None
    note: str


def compute(result: Measured) -> Money:
    """In rounds that grow apart. A round's risk is that of the model before it trains, and so is what was spent."""
    T = result.horizon
    some = np.unique(np.geomspace(1, T, BINS).round().astype(int)) - 1
    paid = result["cost"] * result["admitted"]
    before = (np.cumsum(paid, axis=2) - paid).mean(axis=1)[:, some]
    spent, risk = {}, {}
    for p, name in enumerate(result.policies):
        bought = before[p] > 0
        spent[name] = before[p][bought]
        risk[name] = spread(result["excess_risk"][p][:, some[bought]])
    note, least = result.note("Lines: mean; bands: 10–90 % of {} seeds"), None
    if result.least_final_risk is not None:
        share = np.array([1 / T, 1])
        least = result.budget * T * share, result.least_final_risk / share
        note += " Dashed, at C·t: nobody guarantees less in t rounds for it, if losses are quadratic, samples Gaussian."
    return Money(spent, risk, least, note)


def draw(data: Money, look: Look) -> Figure:
    """One panel, both axes logarithmic."""
    with look.applied():
        figure, grid = look.canvas(Width.single, 3.6, 1, 1)
        axes, looks, words = grid[0, 0], look.policies(list(data.risk)), _words(list(data.risk))
        for name, values in data.risk.items():
            if len(data.spent[name]):
                draw_band(axes, data.spent[name], values, look, **looks[name])
        handles = [Line2D([], [], **looks[name], label=words[name]) for name in data.risk]
        if data.least is not None:
            bound: dict[str, Any] = {"color": look.ink, "linestyle": DASHES[1], "linewidth": look.scale}
            axes.plot(*data.least, **bound)
            handles.append(Line2D([], [], **bound, label="nobody is below"))
        axes.set_xscale("log")
        decades(axes, vertical=True)
        axes.set(xlabel="money spent", ylabel="excess risk")
        look.legend(figure, handles, data.note)
    return figure


def _words(names: list[str]) -> dict[str, str]:
    """Of a learner only whether it averages, where that tells all policies apart."""
    parsed = {name: PolicyName(name) for name in names}
    short = {
        name: f"{one.base}, averaged" if one.own.get("average", "none") != "none" else one.base
        for name, one in parsed.items()
    }
    alike = len(set(short.values())) < len(names)
    return {name: readable(name if alike else short[name]) for name in names}
