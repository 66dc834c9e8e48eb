"""A population that moves: risk over time with the moments of change, or over the retention K at several speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from figures import retention
from figures.measured import Measured, Spread, draw_band, policy_handles, spread
from figures.missing import NotMeasured
from figures.style import DASHES, Look, Width

__all__ = ["READS", "OverTime", "Speeds", "compute", "compute_speeds", "draw", "draw_speeds"]

Floats = NDArray[np.float64]
READS = ("risk", "excess_risk", "predicted_excess_risk", "cost")
LABELS = {
    "excess_risk": r"excess risk $F_{P_t}(\theta(t))-\min F_{P_t}$",
    "risk": "loss, before it is trained on",
}


@dataclass(frozen=True)
class OverTime:
    """By policy: what was measured, excess risk or where there is none the loss, and what was predicted, if it was."""

    rounds: Floats
    measured: dict[str, Spread]
    predicted: dict[str, Floats]
    changes: list[int]
    label: str
    note: str


def compute(result: Measured) -> OverTime:
    """Round by round."""
    study = result.study
    if study.drift.kind == "none":
        raise NotMeasured("this result's population does not move: train with --drift gradual,length=200")
    name = "excess_risk" if "excess_risk" in result.columns else "risk"
    values, predicted = result[name], result.columns.get("predicted_excess_risk")
    return OverTime(
        rounds=result.rounds,
        measured={policy: spread(values[p]) for p, policy in enumerate(result.policies)},
        predicted={}
        if predicted is None
        else {policy: predicted[p, 0] for p, policy in enumerate(result.policies)},
        changes=study.drift.changes(result.horizon),
        label=LABELS[name],
        note=result.note("Lines: mean; bands: 10–90 % of {} seeds"),
    )


def draw(data: OverTime, look: Look) -> Figure:
    """One panel; time is not logarithmic here, since changes come when they come."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.0, 1, 1)
        axes, looks = grid[0][0], look.policies(list(data.measured))
        for t in data.changes:
            axes.axvline(t, color=look.muted, linestyle=DASHES[2], linewidth=look.scale, zorder=1.5)
        for name, values in data.measured.items():
            draw_band(axes, data.rounds, values, look, color=looks[name]["color"])
            if name in data.predicted:
                axes.plot(
                    data.rounds,
                    data.predicted[name],
                    color=looks[name]["color"],
                    linestyle=DASHES[1],
                    linewidth=1.2 * look.scale,
                )
        axes.set(xlabel="round $t$", ylabel=data.label, xlim=(1, max(data.rounds[-1], 2)))
        handles = policy_handles(look, list(data.measured))
        for handle in handles:
            handle.set(linestyle="-", marker="none")
        if data.predicted:
            handles.append(Line2D([], [], color=look.ink, linestyle=DASHES[1], label="predicted"))
        if data.changes:
            handles.append(
                Line2D(
                    [], [], color=look.muted, linestyle=DASHES[2], label="the change begins, ends or turns"
                )
            )
        look.legend(figure, handles, data.note)
    return figure


@dataclass(frozen=True)
class Speeds:
    """By what tells the results apart: cumulative excess risk of a sweep over K."""

    risks: dict[str, retention.Risk]
    note: str


def compute_speeds(results: Sequence[Measured]) -> Speeds:
    """One sweep from each result."""
    found: dict[str, retention.Risk] = {}
    for result in results:
        drift, sweeps = result.study.drift, retention.compute(result).risks["cumulative"]
        words = {"none": "no drift", "abrupt": f"abrupt in round {drift.start}"}
        kind = words.get(drift.kind, f"{drift.kind}, {drift.length} rounds")
        if len({one.study.drift.parts for one in results}) > 1 and drift.kind != "none":
            kind += f" of {drift.parts}"
        for name, risk in sweeps.items():
            label = kind if len(sweeps) == 1 else f"{kind}, {name}"
            if label in found:
                raise NotMeasured(f"two of these results are both {label}: give one of them")
            found[label] = risk
    return Speeds(
        found, results[0].note("Bars: 95 % interval of the mean over {} seeds; ring: best predicted")
    )


def draw_speeds(data: Speeds, look: Look) -> Figure:
    """One panel, a curve for each."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.0, 1, 1)
        axes, looks = grid[0][0], look.policies(list(data.risks))
        for name, risk in data.risks.items():
            retention.draw_risk(axes, risk, looks[name], look)
        retention.name_retentions(axes, {float(K) for risk in data.risks.values() for K in risk.K})
        axes.set(xlabel="retention $K$", ylabel=retention.PANELS["cumulative"])
        handles = [Line2D([], [], **looks[name], label=name) for name in data.risks]
        look.legend(figure, handles, data.note)
    return figure
