"""Excess risk of a result's policies against the money spent, with a lower bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from empirics.settings.policy_name import PolicyName
from figures.curves import Spread, draw_band, spread
from figures.measured import Measured
from figures.style import DASHES, Floats, Look, Width, decades, key, readable

__all__ = ["READS", "Money", "compute", "draw"]

BINS = 40
READS = ("cost", "admitted", "excess_risk")


@dataclass(frozen=True)
class Money:
    """Mean spending and excess risk by policy, and the lower bound as (spent, risk)."""

    spent: dict[str, Floats]
    risk: dict[str, Spread]
    least: tuple[Floats, Floats] | None
    note: str


def compute(result: Measured) -> Money:
    """Spending and risk before training, at rounds spaced geometrically."""
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
        note += " Lower bound at spending C·t: quadratic losses, Gaussian samples, t rounds."
    return Money(spent, risk, least, note)


def draw(data: Money, look: Look) -> Figure:
    """Draw one panel, both axes logarithmic."""
    with look.applied():
        figure, grid = look.canvas(Width.single, 3.6, 1, 1)
        axes, looks, names = grid[0, 0], look.policies(list(data.risk)), short_names(list(data.risk))
        for name, values in data.risk.items():
            if len(data.spent[name]):
                draw_band(axes, data.spent[name], values, look, **looks[name])
        handles = [key(names[name], **looks[name]) for name in data.risk]
        if data.least is not None:
            bound: dict[str, Any] = {"color": look.ink, "linestyle": DASHES[1], "linewidth": look.scale}
            axes.plot(*data.least, **bound)
            handles.append(key("lower bound", **bound))
        axes.set_xscale("log")
        decades(axes, vertical=True)
        axes.set(xlabel="money spent", ylabel="excess risk")
        look.legend(figure, handles, data.note)
    return figure


def short_names(names: list[str]) -> dict[str, str]:
    """Policies' names with only the averaging of their settings, where that distinguishes all policies."""
    parsed = {name: PolicyName(name) for name in names}
    short = {
        name: f"{policy.base}, averaged" if policy.own.get("average", "none") != "none" else policy.base
        for name, policy in parsed.items()
    }
    alike = len(set(short.values())) < len(names)
    return {name: readable(name if alike else short[name]) for name in names}
