"""Cumulative excess risk, measured, against Theorem 1 on the same run's own trajectory, as stated and corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures.measured import Measured, Spread, draw_spread, spread
from figures.style import DASHES, Look, Width, decades
from theory.bound import theorem_1, theorem_1_as_stated

__all__ = ["OnePolicy", "RiskVsBound", "compute", "draw"]

Floats = NDArray[np.float64]
POINTS = 30
COLUMNS = 3


@dataclass(frozen=True)
class OnePolicy:
    """At each horizon the cumulative excess risk and the two bounds, means and bands over the seeds.

    `ratio` is the corrected bound over the measured risk, at the last horizon, seed by seed.
    """

    measured: Spread
    corrected: Spread
    stated: Spread
    ratio: Floats


@dataclass(frozen=True)
class RiskVsBound:
    """By policy, at horizons `T`."""

    T: Floats
    policies: dict[str, OnePolicy]
    seeds: int
    nominal: tuple[str, ...]


def compute(result: Measured) -> RiskVsBound:
    """Theorem 1 of `theory.bound` with the result's own constants, n, N, Ṽ and χ."""
    risk = result["excess_risk"]
    horizons = np.unique(np.geomspace(1, risk.shape[2], POINTS).round().astype(int))
    found = {name: _one(p, result, risk[p], horizons) for p, name in enumerate(result.policies)}
    return RiskVsBound(horizons.astype(float), found, risk.shape[1], result.nominal)


def _one(p: int, result: Measured, risk: Floats, horizons: NDArray[np.int64]) -> OnePolicy:
    measured = np.cumsum(risk, axis=1)[:, horizons - 1]
    corrected, stated = np.empty_like(measured), np.empty_like(measured)
    for s in range(len(risk)):
        n, N, V, chi = (result[name][p, s] for name in ("n", "N", "uniformity", "chi"))
        for i, T in enumerate(horizons):
            corrected[s, i] = theorem_1(n[:T], N[:T], V[:T], chi[:T], result.constants).total
            stated[s, i] = theorem_1_as_stated(n[:T], N[:T], V[:T], result.constants).total
    return OnePolicy(
        measured=spread(measured),
        corrected=spread(corrected),
        stated=spread(stated),
        ratio=corrected[:, -1] / measured[:, -1],
    )


def draw(data: RiskVsBound, look: Look) -> Figure:
    """A panel for each policy, and one with the final ratios."""
    rows = -(-(len(data.policies) + 1) // COLUMNS)
    with look.applied():
        figure, grid = look.canvas(Width.double, 0.5 + 1.75 * rows, rows, COLUMNS)
        panels = list(grid.ravel())
        for axes, (name, one) in zip(panels, data.policies.items(), strict=False):
            _draw_policy(axes, data, one, look)
            axes.set_title(name)
        _draw_ratios(panels[len(data.policies)], data, look)
        for axes in panels[len(data.policies) + 1 :]:
            axes.remove()
        lines = panels[: len(data.policies)]
        low = min(axes.get_ylim()[0] for axes in lines)
        high = max(axes.get_ylim()[1] for axes in lines)
        for place, axes in enumerate(lines):
            axes.set(ylim=(low, high), xlim=(1, data.T[-1]), xlabel="$T$")
            if place % COLUMNS == 0:
                axes.set_ylabel("cumulative excess risk")
        handles, labels = lines[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_policy(axes: Axes, data: RiskVsBound, one: OnePolicy, look: Look) -> None:
    T, nominal = data.T, ", nominal constants" if data.nominal else ""
    plain: dict[str, Any] = {"color": look.corrected, "label": f"Theorem 1, corrected{nominal}"}
    draw_spread(axes, T, one.corrected, look, **plain)
    dashed = {"color": look.stated, "linestyle": DASHES[1], "label": f"Theorem 1, as stated{nominal}"}
    draw_spread(axes, T, one.stated, look, **dashed)
    dots = look.points() | {"linestyle": DASHES[2], "label": "measured (mean, 10–90 %)"}
    draw_spread(axes, T, one.measured, look, **dots)
    decades(axes)
    decades(axes, vertical=True)


def _draw_ratios(axes: Axes, data: RiskVsBound, look: Look) -> None:
    places = np.arange(len(data.policies))[::-1]
    for place, (name, one) in zip(places, data.policies.items(), strict=True):
        low, middle, high = np.quantile(one.ratio, (0.1, 0.5, 0.9))
        axes.errorbar(
            middle,
            place,
            xerr=[[middle - low], [high - middle]],
            **(look.policy(name) | {"linestyle": "none"}),
        )
    axes.set_yticks(places, list(data.policies))
    axes.set(title="corrected bound / measured", xlabel=f"ratio at $T={data.T[-1]:.0f}$", xscale="log")
    axes.set_ylim(-0.6, len(places) - 0.4)
