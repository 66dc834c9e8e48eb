"""Purchases of policies, and their effect on memory, spending and effective samples: one replicate, round by round."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from empirics.control.schedule import plan
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from figures.measured import Measured
from figures.options import NotMeasured
from figures.style import BUYING, Floats, Look, Width, key, letter, readable
from theory.setting import Constants, SettingError

__all__ = ["DRAWN", "READS", "PricesAndPurchases", "Purchases", "compute", "compute_measured", "draw"]

DRAWN = ("buy-cheap-online", "buy-cheap", "acdpp", "constant")
READS = ("cost", "admitted", "n", "N_eff")
ROUNDS_DEFAULT = 1000  # of a result
DOT_POINTS = 8.0  # across, for a whole memory, in figures of at most
DOT_ROUNDS = 200
REMEDY = "acdpp train --policies buy-cheap-online,acdpp,constant"


@dataclass(frozen=True)
class Purchases:
    """A policy's samples bought, in memory and effective, and its cumulative spending minus Ct."""

    bought: Floats
    n: Floats
    effective: Floats
    overspent: Floats


@dataclass(frozen=True)
class PricesAndPurchases:
    """Prices, budgets and purchases; policies that buy when it is cheap come first."""

    rounds: Floats
    cost: Floats
    policies: dict[str, Purchases]
    budget: float
    total_buffer: float
    note: str

    @property
    def buying(self) -> list[str]:
        """The policies whose purchases are drawn as dots."""
        return [name for name in self.policies if PolicyName(name).base in BUYING]


def compute(study: Study, constants: Constants, replicate: int = 0) -> PricesAndPurchases:
    """Purchases in the rounds of the study, without training."""
    study = replace(study, policies=DRAWN, seeds=replicate + 1)
    played = plan(study, constants.map(float).merged)
    rows = [p * study.seeds + replicate for p in range(len(DRAWN))]
    columns = {
        "cost": played.cost,
        "admitted": played.admissions.sum(axis=2),
        "n": played.track.n,
        "N_eff": played.track.effective,
    }
    found = {name: np.asarray(values, dtype=float)[:, rows].T for name, values in columns.items()}
    return _made(DRAWN, found, study, f"Played without training, seed {study.seed}, replicate {replicate}.")


def compute_measured(
    result: Measured, replicate: int = 0, rounds: int = ROUNDS_DEFAULT
) -> PricesAndPurchases:
    """Purchases in the first rounds of a result, by the first variant of each policy."""
    bases = [PolicyName(name).base for name in result.policies]
    if not set(bases) & set(BUYING):
        raise NotMeasured(f"this result has no policy that buys when it is cheap: train with {REMEDY}")
    if replicate >= result.seeds:
        raise SettingError(
            f"this result has the replicates 0 to {result.seeds - 1}: --replicate {replicate} does not exist"
        )
    places = [bases.index(name) for name in DRAWN if name in bases]
    drawn = min(result.horizon, rounds)
    found = {name: result[name][places, replicate, :drawn] for name in READS}
    note = f"Replicate {replicate}, counted from 0, of {result.seeds}."
    if drawn < result.horizon:
        note += f" Drawn: the first {drawn:,} of {result.horizon:,} rounds."
    return _made([result.policies[place] for place in places], found, result.study, note)


def _made(names: Sequence[str], columns: dict[str, Floats], study: Study, note: str) -> PricesAndPurchases:
    """Prices and purchases from columns of shape (policies, rounds)."""
    cost, C = columns["cost"], float(study.budget)
    rounds = np.arange(1.0, cost.shape[1] + 1)
    overspent = np.cumsum(cost * columns["admitted"], axis=1) - C * rounds
    rows = (columns["admitted"], columns["n"], columns["N_eff"], overspent)
    return PricesAndPurchases(
        rounds=rounds,
        cost=cost[0],
        policies={name: Purchases(*(row[p] for row in rows)) for p, name in enumerate(names)},
        budget=C,
        total_buffer=float(sum(study.buffers)),
        note=f"Dots: purchases, with area proportional to their size. (c): a rule's debt adds its reserve. {note}",
    )


def draw(data: PricesAndPurchases, look: Look) -> Figure:
    """Draw four panels over the rounds."""
    with look.applied():
        shape: dict[str, Any] = {"height_ratios": [1.5, 1, 1, 1], "sharex": True}
        figure, grid = look.canvas(Width.double, 6.4, 4, **shape)
        market, memory, money, effective = grid[:, 0]
        _draw_purchases(market, data, look)
        memory.axhline(data.total_buffer, **look.limit)
        money.axhline(0, **look.limit)
        looks = look.policies(list(data.policies))
        # policies that buy when it is cheap are drawn on top
        for level, (name, run) in enumerate(reversed(data.policies.items())):
            line = {key: looks[name][key] for key in ("color", "linestyle")} | {"zorder": 2 + 0.1 * level}
            for axes, values in ((memory, run.n), (money, run.overspent), (effective, run.effective)):
                axes.plot(data.rounds, values, **line, marker="_" if len(data.rounds) == 1 else "none")
        for axes in (memory, effective):
            axes.set_ylim(bottom=0)
        memory.set_ylabel("in memory $n(t)$")
        money.set_ylabel("spent $-$ $Ct$")
        effective.set_ylabel(r"effective $N_{\mathrm{eff}}(t)$")
        effective.set(xlabel="round $t$", xlim=(0, len(data.rounds) + 1))
        letter(grid[:, 0])
        figure.align_ylabels()
        look.legend(figure, _handles(data, look), data.note)
    return figure


def _draw_purchases(axes: Axes, data: PricesAndPurchases, look: Look) -> None:
    axes.plot(data.rounds, data.cost, color=look.muted, linewidth=0.6 * look.scale)
    looks = look.policies(list(data.policies))
    whole = (DOT_POINTS * look.scale) ** 2 * min(1, DOT_ROUNDS / len(data.rounds))
    for place, name in enumerate(data.buying):
        bought = data.policies[name].bought
        some = bought > 0
        size = whole * bought[some] / data.total_buffer
        axes.scatter(data.rounds[some], data.cost[some], size, **_dot(looks[name], place, look))
    axes.set_ylabel("price $c(t)$")
    axes.set_ylim(bottom=0)


def _dot(how: dict[str, Any], place: int, look: Look) -> dict[str, Any]:
    """The style of purchases: dots for the first policy, rings for the next."""
    colour, level = how["color"], {"zorder": 2.5 + 0.1 * place}
    if place == 0:
        return level | {"color": colour, "alpha": 0.75, "linewidths": 0}
    return level | {"facecolors": "none", "edgecolors": colour, "linewidths": 0.8 * look.scale}


def _handles(data: PricesAndPurchases, look: Look) -> list[Line2D]:
    looks, buying = look.policies(list(data.policies)), data.buying
    handles = []
    for name in data.policies:
        how: dict[str, Any] = {key: looks[name][key] for key in ("color", "linestyle")}
        if name in buying:
            filled = how["color"] if name == buying[0] else "none"
            how |= {"marker": "o", "markerfacecolor": filled, "markersize": 5 * look.scale}
        handles.append(key(readable(name), **how))
    price = key("price of a sample", color=look.muted, linewidth=0.6 * look.scale)
    budgets = r"budgets: $\Sigma_mB_m$ in memory, $Ct$ spent"
    return [*handles, price, key(budgets, color=look.ink, linewidth=0.8 * look.scale)]
