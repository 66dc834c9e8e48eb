"""Excess risk against the retention K, measured by a sweep and predicted, with the choices of K that theory makes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import NDArray

from empirics.settings.costs import Process
from empirics.settings.policy_name import PolicyName
from figures.measured import Measured, half_width
from figures.missing import NotMeasured
from figures.style import DASHES, Look, Width, readable
from theory.design.offline import design, design_limit

__all__ = ["PANELS", "READS", "Retention", "Risk", "compute", "draw", "draw_risk", "name_retentions"]

Floats = NDArray[np.float64]
PANELS = {"late": "mean excess risk, second half", "cumulative": "cumulative excess risk"}
READS = ("excess_risk", "predicted_excess_risk", "cost")
REMEDY = "acdpp train --preset digits --policies constant --sweep K=1,2,3,5,7,10,14,20,50,100"
APART = 0.055  # of the axis, between labelled values of K


@dataclass(frozen=True)
class Risk:
    """At each K the mean over the seeds, half its 95 % interval, and what was predicted, if anything was."""

    K: Floats
    mean: Floats
    half_width: Floats
    predicted: Floats | None

    @property
    def best(self) -> int:
        """The K of the least mean."""
        return int(self.K[self.mean.argmin()])

    @property
    def best_predicted(self) -> int | None:
        """The K of the least prediction."""
        return None if self.predicted is None else int(self.K[self.predicted.argmin()])


@dataclass(frozen=True)
class Retention:
    """By panel and policy; `limit` is K* of Corollary 2, corrected, `finite` the K of the least bound over T rounds.

    Policies whose step sizes differ may have different ones of the latter.
    """

    risks: dict[str, dict[str, Risk]]
    horizon: int
    limit: int
    finite: tuple[int, ...]
    note: str


def compute(result: Measured) -> Retention:
    """Policies that were swept over K; whatever else is of their own parts them into sweeps."""
    sweeps = _sweeps(result)
    if not sweeps:
        raise NotMeasured(f"this result has no sweep over K: train with {REMEDY}")
    measured, predicted = result["excess_risk"], result.columns.get("predicted_excess_risk")
    late = slice(result.horizon // 2, None)

    def risk(places: dict[int, int], panel: str) -> Risk:
        def whole(rounds: Floats) -> Floats:  # (K, seeds)
            rows = rounds[list(places.values())]
            found: Floats = rows[:, :, late].mean(axis=2) if panel == "late" else rows.sum(axis=2)
            return found

        runs = whole(measured).T
        guess = None if predicted is None else whole(predicted).mean(axis=1)
        return Risk(np.array(list(places), dtype=float), runs.mean(axis=0), half_width(runs), guess)

    study = result.study
    trace = study.cost.process == Process.trace  # whose mean is in a file that may be gone
    budget = study.theory_budget(Fraction(float(result["cost"].mean())) if trace else study.cost.mean)
    constants = [result.constants[next(iter(places.values()))] for places in sweeps.values()]
    note = result.note("Bars: 95 % interval (Student’s t) of the mean over {} seeds")
    if predicted is None:
        note += f" No prediction: {result.not_predicted or 'an older version trained it'}."
    return Retention(
        risks={panel: {name: risk(places, panel) for name, places in sweeps.items()} for panel in PANELS},
        horizon=result.horizon,
        limit=design_limit(budget, constants[0]).K,
        finite=tuple(sorted({design(budget, result.horizon, one).K for one in constants})),
        note=note,
    )


def _sweeps(result: Measured) -> dict[str, dict[int, int]]:
    """By the policy's name without K: where each K stands among the policies, in the order of K."""
    found: dict[str, dict[int, int]] = {}
    for place, name in enumerate(result.policies):
        policy = PolicyName(name)
        own = dict(policy.own)
        if "K" in own:
            K = own.pop("K")
            found.setdefault(policy.having(**own), {})[K] = place
    return {name: dict(sorted(places.items())) for name, places in found.items() if len(places) > 1}


# --- the drawing -------------------------------------------------------------------------------------------


def draw(data: Retention, look: Look) -> Figure:
    """A panel for the second half of the rounds, and one for all of them."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.1, 1, len(PANELS))
        for letter, axes, (panel, label) in zip("ab", grid[0], PANELS.items(), strict=True):
            _draw_choices(axes, data, look)
            for name, risk in data.risks[panel].items():
                draw_risk(axes, risk, look.policies(list(data.risks[panel]))[name], look)
            swept = {float(K) for risk in data.risks[panel].values() for K in risk.K}
            name_retentions(axes, swept, *data.finite, data.limit)
            axes.set(title=f"({letter})", xlabel="retention $K$", ylabel=label)
            axes.set_ylim(bottom=0)
        look.legend(figure, _handles(data, look), data.note)
    return figure


def _draw_choices(axes: Axes, data: Retention, look: Look) -> None:
    limit, finite = _choices(look)
    axes.axvline(data.limit, **limit, zorder=1.5)
    for K in data.finite:
        axes.axvline(K, **finite, zorder=1.5)


def _choices(look: Look) -> tuple[dict[str, Any], dict[str, Any]]:
    limit = {"color": look.stated, "linestyle": DASHES[1], "linewidth": look.scale}
    finite = {"color": look.muted, "linestyle": DASHES[2], "linewidth": 1.2 * look.scale}
    return limit, finite


def draw_risk(axes: Axes, risk: Risk, policy: dict[str, Any], look: Look) -> None:
    colour: dict[str, Any] = {"color": policy["color"]}
    marker = {"marker": policy["marker"], "linestyle": "none", "zorder": 3}
    bars = colour | marker | {"markerfacecolor": look.ground, "elinewidth": look.scale}
    axes.errorbar(risk.K, risk.mean, risk.half_width, **bars)
    star = colour | {"marker": "*", "markersize": 8 * look.scale, "linestyle": "none", "zorder": 4}
    axes.plot(risk.best, risk.mean.min(), **star)
    if risk.predicted is not None and risk.best_predicted is not None:
        line: dict[str, Any] = colour | {"marker": ".", "linestyle": policy["linestyle"], "zorder": 2.5}
        axes.plot(risk.K, risk.predicted, **line)
        ring = colour | {"marker": "o", "markersize": 9 * look.scale, "markerfacecolor": "none", "zorder": 4}
        axes.plot(risk.best_predicted, risk.predicted.min(), **ring)


def name_retentions(axes: Axes, swept: set[float], *others: float) -> None:
    """A logarithmic axis, with as many of the swept values named as there is room for."""
    ends = (*swept, *others)
    low, high = min(ends), max(ends)
    named: list[float] = []
    for K in sorted(swept):
        if not named or np.log(K / named[-1]) > APART * np.log(high / low):
            named.append(K)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(named))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{K:.0f}" for K in named]))
    axes.xaxis.set_minor_locator(NullLocator())
    margin = (high / low) ** 0.04
    axes.set_xlim(low / margin, high * margin)


def _handles(data: Retention, look: Look) -> list[Line2D]:
    risks = data.risks["late"]
    looks, several = look.policies(list(risks)), len(risks) > 1
    handles = []
    for name, risk in risks.items():
        shown = f"{readable(name)}, " * several
        how = looks[name] | {"markerfacecolor": look.ground}
        handles.append(Line2D([], [], **(how | {"linestyle": "none"}), label=f"{shown}measured"))
        if risk.predicted is not None:
            line = {"color": how["color"], "linestyle": how["linestyle"], "marker": "."}
            handles.append(Line2D([], [], **line, label=f"{shown}predicted before training"))
    ink: dict[str, Any] = {"color": look.ink, "linestyle": "none"}
    handles.append(Line2D([], [], **ink, marker="*", markersize=7 * look.scale, label="best measured"))
    if any(risk.predicted is not None for risk in risks.values()):
        ring = ink | {"marker": "o", "markersize": 7 * look.scale, "markerfacecolor": "none"}
        handles.append(Line2D([], [], **ring, label="best predicted"))
    limit, finite = _choices(look)
    least = ",".join(map(str, data.finite))
    return [
        *handles,
        Line2D([], [], **limit, label=rf"Corollary 2, corrected: $K^\star={data.limit}$"),
        Line2D([], [], **finite, label=f"least bound for $T={data.horizon}$: $K={least}$"),
    ]
