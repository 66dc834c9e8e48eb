"""The cumulative bound, its average per round and the shares of its terms against T, as stated and corrected.

Oracle and constant admission come from the fast summation, to T = 10^15; ACDPP is simulated, and its bound is Theorem 1
on its admissions.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from figures.options import Track, silently
from figures.simulation import Simulation, play
from figures.style import DASHES, Floats, Look, Width, decades, key, mix
from theory.bound import constant_admission as admission
from theory.bound.theorem1 import Bound, Terms, theorem_1, theorem_1_as_stated
from theory.reuse.trajectories import Trajectory, trajectory
from theory.setting import Constants, SettingError, horizon, retention

__all__ = ["PARTS", "BoundCurve", "BoundVsHorizon", "compute", "draw"]

PARTS = tuple(f.name for f in fields(Terms))
FORMS = ("corrected", "stated")
POINTS = {"formula": 120, "simulation": 40}
BAND = (0.1, 0.9)  # quantiles over the seeds


@dataclass(frozen=True)
class BoundCurve:
    """Bounds at the horizons T, of shape (runs, horizons), and their parts; a formula is a single run."""

    T: Floats
    total: Floats
    parts: dict[str, Floats]

    @property
    def mean(self) -> Floats:
        return np.asarray(self.total.mean(axis=0))

    @property
    def band(self) -> Floats:
        """The 10 % and 90 % quantiles over the runs, rows of shape (2, horizons)."""
        return np.asarray(np.quantile(self.total, BAND, axis=0))

    def shares(self) -> dict[str, Floats]:
        """Nonzero parts as fractions of the sum of absolute values; the printed linear term is signed."""
        sizes = {name: np.abs(part).mean(axis=0) for name, part in self.parts.items()}
        whole = sum(sizes.values(), np.zeros(len(self.T)))
        return {name: size / whole for name, size in sizes.items() if size.any()}


@dataclass(frozen=True)
class BoundVsHorizon:
    """Curves by policy ("oracle", "constant", "acdpp") and form.

    Of the stated form of constant admission, `undefined` are the stretches of rounds with a negative radicand,
    `left_out` the rounds with a division by zero.
    """

    K: int
    rate: Any
    curves: dict[tuple[str, str], BoundCurve]
    undefined: tuple[tuple[int, int], ...]
    left_out: tuple[int, ...]
    seeds: int


def compute(
    K: int,
    rate: Any,
    T: int,
    constants: Constants,
    simulation: Simulation | None = None,
    *,
    track: Track = silently,
) -> BoundVsHorizon:
    """Bounds at horizons spaced geometrically."""
    K, T = retention(K), horizon(T)
    if not 10 <= T <= 10**15:
        raise SettingError(f"the horizon must lie between 10 and 10^15, got {T}")
    horizons = _horizons(T, POINTS["formula"])
    formulas: dict[tuple[str, str], Callable[[int], Bound]] = {
        ("oracle", "corrected"): lambda T: admission.oracle_bound(K * rate, T, constants),
        ("oracle", "stated"): lambda T: admission.oracle_bound_as_stated(K * rate, T, constants),
        ("constant", "corrected"): lambda T: admission.constant_bound(K, rate, T, constants),
        ("constant", "stated"): lambda T: admission.constant_bound_as_stated(K, rate, T, constants),
    }
    curves = {name: _curve(horizons, [[f(t) for t in horizons]]) for name, f in formulas.items()}
    if simulation is not None:
        curves |= _simulated(simulation, min(T, simulation.rounds), constants, track)
    whole = admission.constant_bound_as_stated(K, rate, T, constants)
    return BoundVsHorizon(
        K=K,
        rate=rate,
        curves=curves,
        undefined=tuple(span for spans in whole.negative.values() for span in spans),
        left_out=whole.left_out,
        seeds=simulation.seeds if simulation else 0,
    )


def _horizons(T: int, points: int) -> list[int]:
    return sorted({round(x) for x in np.geomspace(1, T, points)})


def _curve(horizons: list[int], bounds: list[list[Bound]]) -> BoundCurve:
    parts = {
        name: np.array([[float(getattr(b.terms, name)) for b in run] for run in bounds]) for name in PARTS
    }
    return BoundCurve(np.array(horizons, dtype=float), sum(parts.values(), np.zeros(1)), parts)


def _simulated(
    setting: Simulation, T: int, constants: Constants, track: Track
) -> dict[tuple[str, str], BoundCurve]:
    horizons = _horizons(T, POINTS["simulation"])
    numbers = constants.map(float)
    runs = [trajectory(admitted, setting.K) for admitted in play(setting, constants, track=track).admitted.T]

    def corrected(run: Trajectory, t: int) -> Bound:
        return theorem_1(run.n[:t], run.N[:t], run.uniformity[:t], run.mismatch[:t], numbers)

    def stated(run: Trajectory, t: int) -> Bound:
        return theorem_1_as_stated(run.n[:t], run.N[:t], run.uniformity[:t], numbers)

    return {
        ("acdpp", form): _curve(horizons, [[f(run, t) for t in horizons] for run in runs])
        for form, f in {"corrected": corrected, "stated": stated}.items()
    }


NAMES = {
    "constant": "constant admission",
    "oracle": "oracle",
    "acdpp": "ACDPP (mean, 10–90 % of {seeds} cost paths)",
}
TERMS = {
    "root": (r"$D\sigma\sqrt{\mu}$", ""),
    "linear": (r"$\eta\sigma^2\mu$", "xxxx"),
    "generalisation": ("generalisation", "...."),
    "constant": ("per-round constant", "----"),
    "initial": (r"$D^2/(2\eta)$", "////"),
}


def draw(data: BoundVsHorizon, look: Look) -> Figure:
    """Draw the cumulative bound, its average per round, and the shares of its terms under constant admission."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 4.9, 2, 2)
        for axes, average in zip(grid[0], (False, True), strict=True):
            _draw_bounds(axes, data, look, average)
        for axes, form in zip(grid[1], FORMS, strict=True):
            _draw_shares(axes, data.curves["constant", form], look)
        grid[0, 0].set(title="(a) cumulative bound", ylabel="bound over $T$ rounds")
        grid[0, 1].set(title="(b) average per round", ylabel="bound / $T$")
        grid[1, 0].set(title=r"(c) terms of constant admission, corrected: $\mu=\chi$")
        grid[1, 1].set(title=r"(d) terms as stated: $\mu=1/n-1/N_{\mathrm{eff}}$")
        for axes in grid[1]:
            axes.set_ylabel("share of the bound")
        for axes in grid.ravel():
            decades(axes)
            axes.set(xlabel="$T$", xlim=(1, data.curves["constant", "corrected"].T[-1]))
        figure.legend(handles=_legend(data, look), loc="outside lower center", ncols=3)
    return figure


def _draw_bounds(axes: Axes, data: BoundVsHorizon, look: Look, average: bool) -> None:
    for first, last in data.undefined:
        look.zone(axes, first - 0.5, last + 0.5)
    for t in data.left_out:
        axes.axvline(t, color=look.stated, linewidth=0.8 * look.scale)
    for place, policy in enumerate(NAMES):
        for form in FORMS:
            if (policy, form) not in data.curves:
                continue
            curve = data.curves[policy, form]
            share = 1 / curve.T if average else np.ones_like(curve.T)
            how = look.policy(policy) | {"linestyle": DASHES[FORMS.index(form)]}
            if form == "stated":
                how["marker"] = "none"
            axes.plot(curve.T, curve.mean * share, **how, markevery=(4 * place, 12))
            if policy == "acdpp":
                axes.fill_between(curve.T, *(curve.band * share), color=how["color"], alpha=0.25, linewidth=0)
    decades(axes, vertical=True)


def _draw_shares(axes: Axes, curve: BoundCurve, look: Look) -> None:
    shares = curve.shares()
    floor = np.zeros(len(curve.T))
    shades = [mix(look.muted, look.ground, weight) for weight in np.linspace(0.9, 0.1, len(shares))]
    for shade, (name, share) in zip(shades, shares.items(), strict=True):
        label, hatch = TERMS[name]
        how: dict[str, Any] = {"facecolor": shade, "edgecolor": look.muted, "linewidth": 0.4 * look.scale}
        axes.fill_between(curve.T, floor, floor + share, **how, hatch=hatch, label=label)
        floor = floor + share
    axes.set_ylim(0, 1)
    axes.grid(visible=False)
    frame = {"frameon": True, "framealpha": 0.9, "facecolor": look.ground, "edgecolor": "none"}
    axes.legend(loc="center right", reverse=True, **frame)


def _legend(data: BoundVsHorizon, look: Look) -> list[Any]:
    handles: list[Any] = [
        key(label.format(seeds=data.seeds), **(look.policy(policy) | {"linestyle": "-"}))
        for policy, label in NAMES.items()
        if (policy, "corrected") in data.curves
    ]
    handles += [key("corrected", color=look.ink), key("as stated", color=look.ink, linestyle=DASHES[1])]
    if data.undefined:
        spans = [f"{first}–{last}" if last > first else f"{first}" for first, last in data.undefined]
        handles.append(Patch(**look.hatched, label=f"stated: no real root (rounds {', '.join(spans)})"))
    if data.left_out:
        label = f"stated: infinite in round {', '.join(map(str, data.left_out))}, left out"
        handles.append(key(label, color=look.stated, linewidth=0.8 * look.scale))
    return handles
