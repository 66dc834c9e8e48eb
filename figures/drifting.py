"""A drifting population: risk over time with the rounds of change, or over the retention K at several speeds."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from figures import retention
from figures.curves import Spread, draw_band, policy_handles
from figures.measured import Measured
from figures.options import NotMeasured
from figures.style import DASHES, Floats, Look, Width, key

__all__ = ["READS", "OverTime", "Speeds", "compute", "compute_speeds", "draw", "draw_speeds"]

READS = ("risk", "excess_risk", "predicted_excess_risk", "cost")
LABELS = {
    "excess_risk": r"excess risk $F_{P_t}(\theta(t))-\min F_{P_t}$",
    "risk": "loss, before it is trained on",
}


@dataclass(frozen=True)
class OverTime:
    """Measured excess risk by policy, or else the loss, and the predicted excess risk, if any."""

    rounds: Floats
    measured: dict[str, Spread]
    predicted: dict[str, Floats]
    changes: list[int]
    label: str
    note: str


def compute(result: Measured) -> OverTime:
    """The risk round by round."""
    study = result.study
    if study.drift.kind == "none":
        raise NotMeasured("this result's population does not drift: train with --drift gradual,length=200")
    name = "excess_risk" if "excess_risk" in result.columns else "risk"
    values, predicted = result[name], result.columns.get("predicted_excess_risk")
    return OverTime(
        rounds=result.rounds,
        measured=result.spreads(values),
        predicted={} if predicted is None else dict(zip(result.policies, predicted[:, 0], strict=True)),
        changes=study.drift.changes(result.horizon),
        label=LABELS[name],
        note=result.note("Lines: mean; bands: 10–90 % of {} seeds"),
    )


def draw(data: OverTime, look: Look) -> Figure:
    """Draw one panel, over a linear time axis."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.0, 1, 1)
        axes, looks = grid[0][0], look.policies(list(data.measured))
        for t in data.changes:
            axes.axvline(t, color=look.muted, linestyle=DASHES[2], linewidth=look.scale, zorder=1.5)
        for name, values in data.measured.items():
            colour = looks[name]["color"]
            draw_band(axes, data.rounds, values, look, color=colour)
            if name in data.predicted:
                dashed = {"linestyle": DASHES[1], "linewidth": 1.2 * look.scale}
                axes.plot(data.rounds, data.predicted[name], color=colour, **dashed)
        axes.set(xlabel="round $t$", ylabel=data.label, xlim=(1, max(data.rounds[-1], 2)))
        handles = policy_handles(look, list(data.measured))
        for handle in handles:
            handle.set(linestyle="-", marker="none")
        if data.predicted:
            handles.append(key("predicted", color=look.ink, linestyle=DASHES[1]))
        if data.changes:
            change = "change begins, ends or reverses"
            handles.append(key(change, color=look.muted, linestyle=DASHES[2]))
        look.legend(figure, handles, data.note)
    return figure


@dataclass(frozen=True)
class Speeds:
    """Cumulative excess risk of sweeps over K, by the speed of the drift."""

    risks: dict[str, retention.RiskOverK]
    note: str


def compute_speeds(results: Sequence[Measured]) -> Speeds:
    """The sweeps of several results."""
    found: dict[str, retention.RiskOverK] = {}
    for result in results:
        drift, sweeps = result.study.drift, retention.compute(result).risks["cumulative"]
        words = {"none": "no drift", "abrupt": f"abrupt in round {drift.start}"}
        kind = words.get(drift.kind, f"{drift.kind}, {drift.length} rounds")
        if len({one.study.drift.parts for one in results}) > 1 and drift.kind != "none":
            kind += f" of {drift.parts}"
        for name, risk in sweeps.items():
            label = kind if len(sweeps) == 1 else f"{kind}, {name}"
            if label in found:
                raise NotMeasured(f"two of these results are both {label}: give only one")
            found[label] = risk
    notes = [
        one.note("Bars: 95 % interval of the mean over {} seeds; ring: best predicted") for one in results
    ]
    return Speeds(found, " ".join(dict.fromkeys(notes)))


def draw_speeds(data: Speeds, look: Look) -> Figure:
    """Draw one panel, with a curve for each sweep."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.0, 1, 1)
        axes, looks = grid[0][0], look.policies(list(data.risks))
        for name, risk in data.risks.items():
            retention.draw_risk(axes, risk, looks[name], look)
        retention.name_retentions(axes, {float(K) for risk in data.risks.values() for K in risk.K})
        axes.set(xlabel="retention $K$", ylabel=retention.PANELS["cumulative"])
        look.legend(figure, [key(name, **how) for name, how in looks.items()], data.note)
    return figure
