"""The offline choice of K: the bound over K at several horizons, and maps of K* over the two budgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.options import Track, silently
from figures.style import DASHES, Floats, Look, Whole, Width
from theory.bound.constant_admission import constant_bound
from theory.design.offline import best_rate, design, design_as_stated, design_limit, fill_ratio
from theory.numbers.algebra import ratio
from theory.setting import Budget, Constants, SettingError, horizon

__all__ = ["BoundOverK", "Designs", "compute", "draw"]

ROUNDS_MAX = 10**12  # as for `acdpp design`
K_MAX = 10**15
K_POINTS_MAX = 200
SCALES = 2.0 ** (np.arange(-4, 5) / 2)  # of the maps: a quarter to four times the given budgets
DARK, LIGHT = "#010101", "#FEFEFE"  # on colours; unlike ink and ground, not swapped by a dark page


@dataclass(frozen=True)
class BoundOverK:
    """The corrected bound over T rounds for each K at the best feasible rate, the best K, and the bounds of the printed
    candidates, which fill the buffers at any cost."""

    T: int
    bound: Floats
    best: int
    stated: tuple[float, ...]


@dataclass(frozen=True)
class Designs:
    """Bounds over `K`, the printed candidates (K, feasible), the corrected K*, and maps of K*.

    `limit[i, j]` is K* as T → ∞ for the total buffer `buffers[i]` and the cost budget `costs[j]`; `finite[i, j]` is
    the optimum for the shortest of the horizons.
    """

    fill_ratio: float
    K: Whole
    bounds: tuple[BoundOverK, ...]
    stated: tuple[tuple[int, bool], ...]
    corrected: int
    costs: Floats
    buffers: Floats
    limit: Whole
    finite: Whole


def compute(
    budget: Budget,
    constants: Constants,
    horizons: Sequence[int] = (10**2, 10**4, 10**6),
    *,
    track: Track = silently,
) -> Designs:
    """Bounds for the given budgets, and maps around them."""
    rounds = sorted({horizon(T) for T in horizons})
    if not rounds or rounds[-1] > ROUNDS_MAX:
        raise SettingError(f"a design takes horizons up to 10^12, such as 1e2,1e4,1e6, got {rounds}")
    stated = tuple(dict.fromkeys(design_as_stated(budget)))
    corrected = design_limit(budget, constants, around=0).K
    if corrected > K_MAX:
        raise SettingError(
            f"the best K for these budgets is above 10^15, the figure's limit: take buffers below "
            f"{float(budget.total_buffer):.3g}, or a larger budget"
        )
    most = max(2 * corrected, 6)
    K = np.unique(np.linspace(1, most, min(most, K_POINTS_MAX)).round().astype(np.int64))
    costs, buffers = float(budget.cost) * SCALES, float(budget.total_buffer) * SCALES
    limit, finite = np.empty((2, len(buffers), len(costs)), dtype=np.int64)
    for i in track(range(len(buffers))):
        for j, cost in enumerate(costs):
            cell = Budget(buffers=(float(buffers[i]),), cost=float(cost), mean_cost=budget.mean_cost)
            limit[i, j] = design_limit(cell, constants, around=0).K
            finite[i, j] = design(cell, rounds[0], constants, around=0).K
    return Designs(
        fill_ratio=float(fill_ratio(budget)),
        K=K,
        bounds=tuple(_bound_over_k(T, K, stated, budget, constants) for T in rounds),
        stated=stated,
        corrected=corrected,
        costs=costs,
        buffers=buffers,
        limit=limit,
        finite=finite,
    )


def _bound_over_k(
    T: int, K: Whole, stated: tuple[tuple[int, bool], ...], budget: Budget, constants: Constants
) -> BoundOverK:
    def bound(k: int, rate: Any) -> float:
        return float(constant_bound(k, rate, T, constants).total)

    return BoundOverK(
        T=T,
        bound=np.array([bound(int(k), best_rate(int(k), budget)) for k in K]),
        best=design(budget, T, constants, around=0).K,
        stated=tuple(bound(k, ratio(budget.total_buffer, k)) for k, _ in stated),
    )


def draw(data: Designs, look: Look) -> Figure:
    """Draw the bounds over K, and the two maps."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 3.0, 1, 3, width_ratios=(1.25, 1, 1))
        left, middle, right = grid[0]
        _draw_bounds(left, data, look)
        top = max(int(data.limit.max()), int(data.finite.max()))
        _draw_map(middle, data, data.limit, top, look, "the given budgets")
        _draw_map(right, data, data.finite, top, look)
        left.set_title("(a) bound at the best feasible rate")
        left.set_ylabel("bound / least over $K$")
        middle.set_title(r"(b) $K^\star$, $T\to\infty$")
        right.set_title(f"(c) best $K$, ${_power(data.bounds[0].T, 'T=')}$")
        middle.set_ylabel(r"total buffer $\Sigma B_m$")
        figure.legend(loc="outside lower center", ncols=4)
    return figure


def _power(T: int, before: str = "") -> str:
    exponent = len(str(T)) - 1
    return f"{before}10^{{{exponent}}}" if 10**exponent == T else f"{before}{T}"


def _draw_bounds(axes: Axes, data: Designs, look: Look) -> None:
    marks: dict[str, dict[str, Any]] = {
        "best": {"marker": "*", "markersize": 7 * look.scale, "zorder": 5},
        "feasible": {"marker": "o", "markersize": 8 * look.scale, "markerfacecolor": "none", "zorder": 4},
        "infeasible": {"marker": "x", "markersize": 4.5 * look.scale, "zorder": 4},
    }
    marks["best"] |= {"markeredgecolor": look.ground, "markeredgewidth": 0.3 * look.scale}
    label = rf"corrected $K^\star={data.corrected}$, $T\to\infty$"
    axes.axvline(data.corrected, color=look.muted, linewidth=look.scale, linestyle=DASHES[3], label=label)
    marked = []
    for place, curve in enumerate(data.bounds):
        least = curve.bound.min()
        colour, dashes = look.series[place % len(look.series)], DASHES[place % len(DASHES)]
        axes.plot(
            data.K, curve.bound / least, color=colour, linestyle=dashes, label=f"${_power(curve.T, 'T=')}$"
        )
        best = np.interp(curve.best, data.K, curve.bound) / least
        axes.plot(curve.best, best, **marks["best"], color=colour)
        for (K, fits), value in zip(data.stated, curve.stated, strict=True):
            axes.plot(K, value / least, **marks["feasible" if fits else "infeasible"], color=colour)
            marked.append(value / least)
    labels = ("best $K$ for this $T$", "stated, feasible", "stated, over the cost budget")
    for how, label in zip(marks.values(), labels, strict=True):
        axes.plot([], [], **how, color=look.ink, linestyle="none", label=label)
    low, high = min(0.96, *marked), max(1.2, *marked)
    axes.set(xlabel="retention $K$", ylim=(low - 0.02 * high, 1.02 * high), xlim=(0, data.K[-1]))


def _draw_map(
    axes: Axes, data: Designs, values: Whole, top: int, look: Look, label: str | None = None
) -> None:
    places = np.arange(len(data.costs))
    image = axes.imshow(values, cmap="cividis", norm=LogNorm(1, max(top, 2)), origin="lower", aspect="auto")
    for i in range(len(places)):
        for j in range(len(places)):
            red, green, blue, _ = image.to_rgba(values[i, j])
            bright = 0.21 * red + 0.72 * green + 0.07 * blue > 0.42
            shade = DARK if bright else LIGHT
            how: dict[str, Any] = {"color": shade, "fontsize": 5.5 * look.scale}
            axes.text(j, i, str(values[i, j]), ha="center", va="center", **how)
    corner = len(places) // 2 - 0.5
    frame: dict[str, Any] = {"fill": False, "edgecolor": look.stated, "linewidth": 1.2 * look.scale}
    axes.add_patch(Rectangle((corner, corner), 1, 1, **frame, label=label))
    axes.set_xticks(places[::2], [f"{cost:.4g}" for cost in data.costs[::2]])
    axes.set_yticks(places[::2], [f"{size:.4g}" for size in data.buffers[::2]])
    axes.set_xlabel("cost budget $C$")
    axes.grid(visible=False)
