"""When a policy buys, and what that does to memory, money and effective samples: one replicate, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from empirics.control.schedule import plan
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from figures.measured import Measured
from figures.missing import NotMeasured
from figures.style import BUYING, Look, Width, readable
from theory.setting import Constants, SettingError

__all__ = ["PLAYED", "READS", "Prices", "Purchases", "compute", "compute_measured", "draw"]

Floats = NDArray[np.float64]
PLAYED = ("buy-cheap-online", "buy-cheap", "acdpp", "constant")
READS = ("cost", "admitted", "n", "N_eff")
MOST = 1000  # rounds of a result that are drawn if nobody says how many
LARGEST = 8.0  # points across, of the dot for a whole memory, smaller where there are more rounds than
ROOMY = 200
REMEDY = "acdpp train --policies buy-cheap-online,acdpp,constant"


@dataclass(frozen=True)
class Purchases:
    """Of one policy: samples bought, in memory and effective, and what was spent so far less Ct."""

    bought: Floats
    n: Floats
    effective: Floats
    overspent: Floats


@dataclass(frozen=True)
class Prices:
    """Prices and budgets, the same for all policies; those that buy when it is cheap come first."""

    rounds: Floats
    cost: Floats
    policies: dict[str, Purchases]
    budget: float
    total_buffer: float
    note: str

    @property
    def buying(self) -> list[str]:
        """The policies whose purchases are drawn at their prices."""
        return [name for name in self.policies if PolicyName(name).base in BUYING]


def compute(study: Study, constants: Constants, replicate: int = 0) -> Prices:
    """The policies play the rounds of the study; nothing is trained."""
    study = replace(study, policies=PLAYED, seeds=replicate + 1)
    played = plan(study, constants.map(float).merged)
    rows = [p * study.seeds + replicate for p in range(len(PLAYED))]
    columns = {
        "cost": played.cost,
        "admitted": played.admissions.sum(axis=2),
        "n": played.track.n,
        "N_eff": played.track.effective,
    }
    found = {name: np.asarray(values, dtype=float)[:, rows].T for name, values in columns.items()}
    return _made(PLAYED, found, study, f"Played without training, seed {study.seed}, replicate {replicate}.")


def compute_measured(result: Measured, replicate: int = 0, rounds: int | None = None) -> Prices:
    """Of each policy the first variant that the result has, for the first so many rounds."""
    bases = [PolicyName(name).base for name in result.policies]
    if not set(bases) & set(BUYING):
        raise NotMeasured(f"this result has no policy that buys when it is cheap: train with {REMEDY}")
    if replicate >= result.seeds:
        raise SettingError(
            f"this result has the replicates 0 to {result.seeds - 1}: --replicate {replicate} is none of them"
        )
    places = [bases.index(name) for name in PLAYED if name in bases]
    drawn = min(result.horizon, MOST if rounds is None else rounds)
    found = {name: result[name][places, replicate, :drawn] for name in READS}
    note = f"Replicate {replicate}, counted from 0, of {result.seeds}."
    if drawn < result.horizon:
        note += f" Drawn: the first {drawn:,} of {result.horizon:,} rounds."
    return _made([result.policies[place] for place in places], found, result.study, note)


def _made(names: Sequence[str], columns: dict[str, Floats], study: Study, note: str) -> Prices:
    """From columns of shape (policies, rounds)."""
    cost, C = columns["cost"], float(study.budget)
    rounds = np.arange(1.0, cost.shape[1] + 1)
    overspent = np.cumsum(cost * columns["admitted"], axis=1) - C * rounds
    rows = (columns["admitted"], columns["n"], columns["N_eff"], overspent)
    return Prices(
        rounds=rounds,
        cost=cost[0],
        policies={name: Purchases(*(row[p] for row in rows)) for p, name in enumerate(names)},
        budget=C,
        total_buffer=float(sum(study.buffers)),
        note=f"Dots: purchases, the area is their number. (c): what is owed; a rule's debt is its reserve more. {note}",
    )


# --- the drawing -------------------------------------------------------------------------------------------


def draw(data: Prices, look: Look) -> Figure:
    """Four panels over the same rounds."""
    with look.applied():
        shape: dict[str, Any] = {"height_ratios": [1.5, 1, 1, 1], "sharex": True}
        figure, grid = look.canvas(Width.double, 6.4, 4, **shape)
        market, memory, money, effective = grid[:, 0]
        _draw_purchases(market, data, look)
        edge: dict[str, Any] = {"color": look.ink, "linewidth": 0.8 * look.scale, "zorder": 1.9}
        memory.axhline(data.total_buffer, **edge)
        money.axhline(0, **edge)
        looks = look.policies(list(data.policies))
        # what buys cheap lies on top, since it is what the figure is about
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
        for letter, axes in zip("abcd", grid[:, 0], strict=True):
            axes.set_title(f"({letter})")
        figure.align_ylabels()
        look.legend(figure, _handles(data, look), data.note)
    return figure


def _draw_purchases(axes: Axes, data: Prices, look: Look) -> None:
    axes.plot(data.rounds, data.cost, color=look.muted, linewidth=0.6 * look.scale)
    looks = look.policies(list(data.policies))
    whole = (LARGEST * look.scale) ** 2 * min(1, ROOMY / len(data.rounds))
    for place, name in enumerate(data.buying):
        bought = data.policies[name].bought
        some = bought > 0
        size = whole * bought[some] / data.total_buffer
        axes.scatter(data.rounds[some], data.cost[some], size, **_dot(looks[name], place, look))
    axes.set_ylabel("price $c(t)$")
    axes.set_ylim(bottom=0)


def _dot(how: dict[str, Any], place: int, look: Look) -> dict[str, Any]:
    """The first policy's are filled, those of the next are rings around them."""
    colour, level = how["color"], {"zorder": 2.5 + 0.1 * place}
    if place == 0:
        return level | {"color": colour, "alpha": 0.75, "linewidths": 0}
    return level | {"facecolors": "none", "edgecolors": colour, "linewidths": 0.8 * look.scale}


def _handles(data: Prices, look: Look) -> list[Line2D]:
    looks, buying = look.policies(list(data.policies)), data.buying
    handles = []
    for name in data.policies:
        how: dict[str, Any] = {key: looks[name][key] for key in ("color", "linestyle")}
        if name in buying:
            filled = how["color"] if name == buying[0] else "none"
            how |= {"marker": "o", "markerfacecolor": filled, "markersize": 5 * look.scale}
        handles.append(Line2D([], [], **how, label=readable(name)))
    price = Line2D([], [], color=look.muted, linewidth=0.6 * look.scale, label="price of a sample")
    budgets = r"budgets: $\Sigma_mB_m$ in memory, $Ct$ spent"
    edge = Line2D([], [], color=look.ink, linewidth=0.8 * look.scale, label=budgets)
    return [*handles, price, edge]
