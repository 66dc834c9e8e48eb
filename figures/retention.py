"""Excess risk against the retention K, measured in a sweep and predicted, with the theory's choices of K."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from empirics.settings.costs import Process
from empirics.settings.policy_name import PolicyName
from figures.curves import half_width
from figures.measured import Measured
from figures.options import NotMeasured
from figures.style import DASHES, Floats, Look, Width, key, letter, named_ticks, readable
from theory.design.offline import design, design_limit

__all__ = ["PANELS", "READS", "Retention", "RiskOverK", "compute", "draw", "draw_risk", "name_retentions"]

PANELS = {"late": "mean excess risk, second half", "cumulative": "cumulative excess risk"}
READS = ("excess_risk", "predicted_excess_risk", "cost")
REMEDY = "acdpp train --preset digits --policies constant --sweep K=1,2,3,5,7,10,14,20,50,100"
LABEL_DISTANCE_MIN = 0.055  # of the axis


@dataclass(frozen=True)
class RiskOverK:
    """The mean over the seeds at each K, half its 95 % interval, and the prediction, if any."""

    K: Floats
    mean: Floats
    half_width: Floats
    predicted: Floats | None

    @property
    def best(self) -> int:
        return int(self.K[self.mean.argmin()])

    @property
    def best_predicted(self) -> int | None:
        return None if self.predicted is None else int(self.K[self.predicted.argmin()])


@dataclass(frozen=True)
class Retention:
    """Risks by panel and policy; `limit` is K* of Corollary 2, corrected, `finite` the K with the least bound over T
    rounds, which may differ between step sizes."""

    risks: dict[str, dict[str, RiskOverK]]
    horizon: int
    limit: int
    finite: tuple[int, ...]
    note: str


def compute(result: Measured) -> Retention:
    """The sweeps over K, one for each combination of a policy's other settings."""
    sweeps = _sweeps(result)
    if not sweeps:
        raise NotMeasured(f"this result has no sweep over K: train with {REMEDY}")
    measured, predicted = result["excess_risk"], result.columns.get("predicted_excess_risk")
    late = slice(result.horizon // 2, None)

    def risk(places: dict[int, int], panel: str) -> RiskOverK:
        def whole(rounds: Floats) -> Floats:  # (K, seeds)
            rows = rounds[list(places.values())]
            return np.asarray(rows[:, :, late].mean(axis=2) if panel == "late" else rows.sum(axis=2))

        runs = whole(measured).T
        guess = None if predicted is None else whole(predicted).mean(axis=1)
        return RiskOverK(np.array(list(places), dtype=float), runs.mean(axis=0), half_width(runs), guess)

    study = result.study
    trace = study.cost.process == Process.trace  # its file may be gone
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
    """Indices of policies by their name without K, then by K."""
    found: dict[str, dict[int, int]] = {}
    for place, name in enumerate(result.policies):
        policy = PolicyName(name)
        own = dict(policy.own)
        if "K" in own:
            K = own.pop("K")
            found.setdefault(policy.having(**own), {})[K] = place
    return {name: dict(sorted(places.items())) for name, places in found.items() if len(places) > 1}


def draw(data: Retention, look: Look) -> Figure:
    """Draw a panel for the second half of the rounds, and one for all rounds."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.1, 1, len(PANELS))
        for axes, (panel, label) in zip(grid[0], PANELS.items(), strict=True):
            limit, finite = _choices(look)
            axes.axvline(data.limit, **limit, zorder=1.5)
            for K in data.finite:
                axes.axvline(K, **finite, zorder=1.5)
            for name, risk in data.risks[panel].items():
                draw_risk(axes, risk, look.policies(list(data.risks[panel]))[name], look)
            swept = {float(K) for risk in data.risks[panel].values() for K in risk.K}
            name_retentions(axes, swept, *data.finite, data.limit)
            axes.set(xlabel="retention $K$", ylabel=label)
            axes.set_ylim(bottom=0)
        letter(grid[0])
        look.legend(figure, _handles(data, look), data.note)
    return figure


def _choices(look: Look) -> tuple[dict[str, Any], dict[str, Any]]:
    limit = {"color": look.stated, "linestyle": DASHES[1], "linewidth": look.scale}
    finite = {"color": look.muted, "linestyle": DASHES[2], "linewidth": 1.2 * look.scale}
    return limit, finite


def draw_risk(axes: Axes, risk: RiskOverK, policy: dict[str, Any], look: Look) -> None:
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
    """Make the axis of K logarithmic, with as many labels of swept values as fit."""
    ends = (*swept, *others)
    low, high = min(ends), max(ends)
    named: list[float] = []
    for K in sorted(swept):
        if not named or np.log(K / named[-1]) > LABEL_DISTANCE_MIN * np.log(high / low):
            named.append(K)
    axes.set_xscale("log")
    named_ticks(axes.xaxis, named, "{:.0f}")
    margin = (high / low) ** 0.04
    axes.set_xlim(low / margin, high * margin)


def _handles(data: Retention, look: Look) -> list[Line2D]:
    risks = data.risks["late"]
    looks, several = look.policies(list(risks)), len(risks) > 1
    handles = []
    for name, risk in risks.items():
        shown = f"{readable(name)}, " * several
        how = looks[name] | {"markerfacecolor": look.ground}
        handles.append(key(f"{shown}measured", **(how | {"linestyle": "none"})))
        if risk.predicted is not None:
            line = {"color": how["color"], "linestyle": how["linestyle"], "marker": "."}
            handles.append(key(f"{shown}predicted before training", **line))
    ink: dict[str, Any] = {"color": look.ink, "linestyle": "none", "markersize": 7 * look.scale}
    handles.append(key("best measured", **ink, marker="*"))
    if any(risk.predicted is not None for risk in risks.values()):
        handles.append(key("best predicted", **ink, marker="o", markerfacecolor="none"))
    limit, finite = _choices(look)
    least = ",".join(map(str, data.finite))
    return [
        *handles,
        key(rf"Corollary 2, corrected: $K^\star={data.limit}$", **limit),
        key(f"least bound for $T={data.horizon}$: $K={least}$", **finite),
    ]
