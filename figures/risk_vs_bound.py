"""Measured cumulative excess risk against bounds on the run's own trajectory: Theorem 1, stated and corrected, and the
bound by stability.

The bound by stability is drawn where its hypotheses hold (`theory.bound.stability`), else the note has the reason. Its
hypothesis that policies do not depend on sample values holds by construction (`empirics.control.policy`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, StrMethodFormatter

from figures.curves import BAND, Spread, draw_band, spread
from figures.measured import Measured
from figures.options import NotMeasured
from figures.style import DASHES, Floats, Look, Whole, Width, decades, readable, round_axis
from theory.bound.stability import recorded_overlaps, stability_1, stability_round
from theory.bound.theorem1 import Bound, theorem_1, theorem_1_as_stated
from theory.setting import SettingError

__all__ = ["READS", "TRAJECTORY", "RiskAndBounds", "RiskVsBound", "bounds", "compute", "draw"]

POINTS = 30
COLUMNS = 3
NAMES_INSIDE_MAX = 6  # policies named within the last panel
TRAJECTORY = ("n", "N", "uniformity", "chi")
READS = ("excess_risk", "admitted", *TRAJECTORY)
NOTE_NAMES_MAX = 3


@dataclass(frozen=True)
class RiskAndBounds:
    """Cumulative excess risk and bounds at each horizon, means and bands over the seeds; ratios of the corrected bound
    and of the bound by stability to the measured risk at the last horizon, seed by seed."""

    measured: Spread
    corrected: Spread
    stated: Spread
    ratio: Floats
    stability: Spread | None
    stability_ratio: Floats | None


@dataclass(frozen=True)
class RiskVsBound:
    """Risks and bounds by policy, at horizons `T`."""

    T: Floats
    policies: dict[str, RiskAndBounds]
    nominal: tuple[str, ...]
    note: str


def compute(result: Measured) -> RiskVsBound:
    """Theorem 1 and the bound by stability with the result's own constants, admissions, n, N, Ṽ and χ."""
    risk = result["excess_risk"]
    horizons = np.unique(np.geomspace(1, risk.shape[2], POINTS).round().astype(int))
    silent = {name: not_applicable(result, p) for p, name in enumerate(result.policies)}
    if all(silent.values()):
        raise NotMeasured(f"no bound to draw: Theorem 1 does not apply, {next(iter(silent.values()))}")
    lacking = {name: silent[name] or _lacking(result, p) for p, name in enumerate(result.policies)}
    found = {
        name: _one(p, result, risk[p], horizons, stable=not lacking[name])
        for p, name in enumerate(result.policies)
    }
    note = result.note("Lines: mean; bands and bars: 10–90 % of {} seeds") + _not_drawn(lacking)
    note += _not_drawn(silent, "Theorem 1")
    return RiskVsBound(horizons.astype(float), found, result.nominal, note)


def _lacking(result: Measured, p: int) -> str:
    """The reason why the bound by stability does not apply to policy p, or an empty string."""
    try:
        stability_round(0, result.constants[p])
    except SettingError as error:
        return str(error)
    return " and ".join(replace(result.study, policies=(result.policies[p],)).departures)


def _not_drawn(lacking: Mapping[str, str], bound: str = "bound by stability") -> str:
    """A sentence for each reason of a missing bound."""
    found = ""
    for why in dict.fromkeys(filter(None, lacking.values())):
        names = [readable(name) for name, one in lacking.items() if one == why]
        some = ", ".join(names) if len(names) <= NOTE_NAMES_MAX else f"{len(names)} policies"
        whose = "" if len(names) == len(lacking) else f" for {some}"
        found += f" No {bound}{whose}: {why}."
    return found


def _one(p: int, result: Measured, risk: Floats, horizons: Whole, *, stable: bool) -> RiskAndBounds:
    measured = np.cumsum(risk, axis=1)[:, horizons - 1]
    corrected, stated = bounds(result, p, horizons)
    stability = _stability(result, p, horizons) if stable else None
    return RiskAndBounds(
        measured=spread(measured),
        corrected=spread(corrected),
        stated=spread(stated),
        ratio=corrected[:, -1] / measured[:, -1],
        stability=None if stability is None else spread(stability),
        stability_ratio=None if stability is None else stability[:, -1] / measured[:, -1],
    )


def not_applicable(result: Measured, p: int) -> str:
    """The reason why Theorem 1 does not apply to policy p, or an empty string."""
    if not result.study.of_policy(result.policies[p]).bound_applies:
        moves = result.study.drift.kind != "none"
        return f"it assumes {'a fixed population' if moves else 'last iterates and a constant step size'}"
    return "" if (result["n"][p] > 0).all() else "some rounds have no sample"


def bounds(result: Measured, p: int, horizons: Whole) -> tuple[Floats, Floats]:
    """Theorem 1 on the trajectories of policy p, corrected and as stated, (seeds, horizons) each; NaN where it does not
    apply."""
    corrected, stated = np.full((2, result.seeds, len(horizons)), np.nan)
    constants, stretches = result.constants[p], [slice(*ends) for ends in pairwise((0, *horizons))]
    for s in range(0 if not_applicable(result, p) else result.seeds):
        n, N, V, chi = (result[name][p, s] for name in TRAJECTORY)
        corrected[s] = _added(theorem_1(n[r], N[r], V[r], chi[r], constants) for r in stretches)
        stated[s] = _added(theorem_1_as_stated(n[r], N[r], V[r], constants) for r in stretches)
    return corrected, stated


def _stability(result: Measured, p: int, horizons: Whole) -> Floats:
    """The bound by stability on the trajectories of policy p, (seeds, horizons)."""
    found = np.empty((result.seeds, len(horizons)))
    stretches = [slice(*ends) for ends in pairwise((0, *horizons))]
    for s in range(result.seeds):
        admitted, n, N, V, chi = (result[name][p, s] for name in ("admitted", *TRAJECTORY))
        overlap = recorded_overlaps(admitted, n, N * V, chi)
        found[s] = _added(stability_1(overlap[r], result.constants[p]) for r in stretches)
    return found


def _added(bounds: Iterable[Bound]) -> Floats:
    """Cumulative sums of bounds of successive stretches of rounds, with D²/(2η) counted once."""
    parts = [(float(bound.total), float(bound.terms.initial)) for bound in bounds]
    totals, initials = np.array(parts).T
    return np.asarray(np.cumsum(totals - initials) + initials)


def draw(data: RiskVsBound, look: Look) -> Figure:
    """Draw a panel for each policy, and one with the final ratios."""
    rows = -(-(len(data.policies) + 1) // COLUMNS)
    with look.applied():
        figure, grid = look.canvas(Width.double, 0.65 + 1.75 * rows, rows, COLUMNS)
        panels = list(grid.ravel())
        for axes, (name, one) in zip(panels, data.policies.items(), strict=False):
            _draw_policy(axes, data, one, look)
            axes.set_title(readable(name))
        _draw_ratios(panels[len(data.policies)], data, look)
        for axes in panels[len(data.policies) + 1 :]:
            axes.remove()
        lines = panels[: len(data.policies)]
        low = min(axes.get_ylim()[0] for axes in lines)
        high = max(axes.get_ylim()[1] for axes in lines)
        for place, axes in enumerate(lines):
            round_axis(axes, data.T[-1])
            axes.set(ylim=(low, high), xlabel="$T$")
            if place % COLUMNS == 0:
                axes.set_ylabel("cumulative excess risk")
        handles = {
            label: one for axes in lines for one, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        look.legend(figure, list(handles.values()), data.note)
    return figure


def _draw_policy(axes: Axes, data: RiskVsBound, one: RiskAndBounds, look: Look) -> None:
    T, nominal = data.T, ", nominal constants" if data.nominal else ""
    plain: dict[str, Any] = {"color": look.corrected, "label": f"Theorem 1, corrected{nominal}"}
    draw_band(axes, T, one.corrected, look, **plain)
    dashed = {"color": look.stated, "linestyle": DASHES[1], "label": f"Theorem 1, as stated{nominal}"}
    draw_band(axes, T, one.stated, look, **dashed)
    if one.stability is not None:
        dotted = {"color": look.series[2], "linestyle": DASHES[3], "label": "bound by stability"}
        draw_band(axes, T, one.stability, look, **dotted)
    dots = look.points() | {"linestyle": DASHES[2], "label": "measured"}
    draw_band(axes, T, one.measured, look, **dots)
    decades(axes, vertical=True)


def _draw_ratios(axes: Axes, data: RiskVsBound, look: Look) -> None:
    places = np.arange(len(data.policies))[::-1]
    marks = {"o": look.corrected, "^": look.series[2]}
    for place, one in zip(places, data.policies.values(), strict=True):
        for ratio, (marker, color) in zip((one.ratio, one.stability_ratio), marks.items(), strict=True):
            if ratio is not None:
                low, middle, high = np.quantile(ratio, (BAND[0], 0.5, BAND[1]))
                reach = [[middle - low], [high - middle]]
                how: dict[str, Any] = {"marker": marker, "color": color, "markerfacecolor": look.ground}
                axes.errorbar(middle, place, xerr=reach, **how, linestyle="none")
    if len(places) > NAMES_INSIDE_MAX:
        axes.set_yticks(places, [readable(name) for name in data.policies])
    else:  # within the panel, so that all panels are equally wide
        axes.set_yticks(places, [])
        for place, name in zip(places, data.policies, strict=True):
            axes.text(0.02, place + 0.2, readable(name), transform=axes.get_yaxis_transform(), size="small")
    decades(axes)
    low, high = axes.get_xlim()
    if high < 1000 * low:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    if high < 30 * low:
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.set(title="bound / measured", xlabel=f"median ratio at $T={data.T[-1]:.0f}$")
    axes.set_ylim(-0.6, len(places) - 0.3)
