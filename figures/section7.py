"""The paper's Section 7 from reproductions: Figure 1, accuracy, and Figure 2, memory, cost and debt.

One column per result, with the paper's numbers beside the measured ones.
"""

from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator
from numpy.typing import NDArray

from figures.curves import policy_handles
from figures.style import POLICIES, Look, Width, key, named_ticks, readable
from proofs_check.experiments.json_entries import Estimate, load
from proofs_check.experiments.reproduction import PolicyResult, Reproduction, parse
from theory.setting import SettingError

__all__ = ["NAME", "RESULTS_MAX", "check", "draw_accuracy", "draw_constraints", "read"]

NAME = "reproduction.json"  # in a result folder
RESULTS_MAX, COLUMNS_MAX = 12, 3
BASELINES = ("constant", "hybrid")
MODELS = {"lenet": "LeNet", "resnet9": "ResNet-9", "logistic": "logistic regression"}
FAINT: dict[str, Any] = {"alpha": 0.18, "linewidth": 0, "zorder": 1.5}


def read(path: Path) -> Reproduction:
    """A reproduction from its file, from the folder with the file, or computed from a result folder."""
    if not path.is_dir():
        return parse(load(path), str(path))
    if (path / NAME).exists():
        return parse(load(path / NAME), str(path / NAME))
    from empirics.results.reproduction import reproduction

    return parse(reproduction(path), str(path))


def _acdpp(result: Reproduction) -> str:
    """The name of the paper's ACDPP in this setting."""
    return "released" if result.setting == "released" else "acdpp"


def _shown(results: Sequence[Reproduction]) -> list[str]:
    """All policies, the built-in ones first, in their usual order."""
    names = dict.fromkeys(name for result in results for name in result.policies)
    return sorted(names, key=lambda name: POLICIES.index(name) if name in POLICIES else len(POLICIES))


def _title(letter: str, result: Reproduction) -> str:
    runs = f"{result.seeds} seed{'s' if result.seeds > 1 else ''}"
    part = "" if result.complete else ", subset"
    model = MODELS.get(result.model, readable(result.model))
    return f"({letter}) {result.name}, {result.setting} setting\n{model}, {runs}{part}"


def check(results: Sequence[Reproduction]) -> None:
    """Refuse more results than fit on a page."""
    if len(results) > RESULTS_MAX:
        raise SettingError(
            f"{len(results)} results are more than one figure can show: give at most {RESULTS_MAX}"
        )


def _columns(count: int) -> tuple[int, int, Width]:
    """Blocks of panels, columns, and the width."""
    columns = 2 if count == 4 else min(count, COLUMNS_MAX)
    return -(-count // columns), columns, Width.single if columns == 1 else Width.double


def _note(results: Sequence[Reproduction], first: str) -> str:
    words, *more = dict.fromkeys(result.intervals.partition("which ")[2] for result in results)
    seeds = f" Seeds {words}." if words and not more else ""
    subset = "" if all(result.complete for result in results) else " Subset: on a part of the data."
    return first + subset + seeds


def draw_accuracy(results: Sequence[Reproduction], look: Look) -> Figure:
    """Draw Figure 1: each result's current best round by round, and below the final values and the paper's."""
    with look.applied():
        blocks, columns, width = _columns(len(results))
        names = _shown(results)
        ends = 0.32 + 0.125 * (len(names) + len(BASELINES))
        shape = {"height_ratios": [2.1, ends] * blocks}
        height = blocks * (2.75 + ends) + 0.75
        figure, grid = look.canvas(width, height, 2 * blocks, columns, **shape)
        for place, result in enumerate(results):
            block, column = divmod(place, columns)
            above, below = grid[2 * block : 2 * block + 2, column]
            above.set_title(_title(ascii_lowercase[place], result))
            _draw_curves(above, result, look)
            _draw_ends(below, result, names, look)
            shown = [*map(readable, names), *(f"paper, from {name}" for name in BASELINES)]
            below.set_yticklabels([] if column else shown)
            above.set_ylabel("" if column else "current best test accuracy (%)")
        _hide_empty(grid)
        handles = [*policy_handles(look, names), key("the paper's target", **_target(look))]
        level = f"{100 * results[0].level:g} %"
        note = _note(
            results,
            f"Lines: means over seeds; bands (the paper's four policies) and bars: {level} intervals of the mean. "
            "Paper: a baseline's measured final accuracy plus the gain of ACDPP stated in the paper.",
        )
        look.legend(figure, handles, note)
    return figure


def _hide_empty(grid: NDArray[Any]) -> None:
    for axes in grid.ravel():
        axes.set_visible(axes.has_data())


def _target(look: Look) -> dict[str, Any]:
    return {"color": look.muted, "linestyle": (0, (6, 2)), "linewidth": 0.9 * look.scale, "zorder": 1.2}


def _prominent(result: Reproduction) -> tuple[str, ...]:
    return (_acdpp(result), *BASELINES, "oracle")


def _draw_curves(axes: Axes, result: Reproduction, look: Look) -> None:
    rounds = np.arange(result.rounds + 1)
    looks = look.policies(_shown([result]))
    for place, (name, how) in enumerate(looks.items()):
        best = result.policies[name].current_best
        some = name in _prominent(result)
        if some:
            axes.fill_between(rounds, 100 * best.low, 100 * best.high, color=how["color"], **FAINT)
        axes.plot(
            rounds,
            100 * best.mean,
            **how,
            linewidth=(1.2 if some else 0.8) * look.scale,
            markevery=_marks(result.rounds, place, len(looks)),
            zorder=2.2 if some else 2.1,
        )
    if not np.isnan(result.target):
        axes.axhline(100 * result.target, **_target(look))
    axes.set(xlabel="rounds", xlim=(0, result.rounds))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _marks(rounds: int, place: int, curves: int) -> list[int]:
    """Marked rounds of a curve, which differ between curves."""
    times = 4
    spots = (np.arange(times) + (place + 0.5) / curves) / times * rounds
    return list(dict.fromkeys(round(float(spot)) for spot in spots))


def _draw_ends(axes: Axes, result: Reproduction, names: Sequence[str], look: Look) -> None:
    """Draw one row per policy, mean and interval, then ACDPP as the paper's gains would place it."""
    looks = look.policies(_shown([result]))
    for row, name in enumerate(names):
        if name in result.policies:
            how = {**looks[name], "linestyle": "none"}
            end = result.policies[name].best_accuracy
            axes.hlines(row, *_ends(end), color=how["color"], linewidth=1.1 * look.scale, zorder=2)
            axes.plot(100 * end.mean, row, **how, zorder=2.2)
    points = result.paper.get("points", {})
    for row, name in enumerate(BASELINES, start=len(names)):
        if name in result.policies and name in points and _acdpp(result) in result.policies:
            at = 100 * float(result.policies[name].best_accuracy.mean) + points[name]
            _draw_claim(
                axes, (names.index(_acdpp(result)), row), at, points[name], looks[name]["color"], look
            )
    rows = len(names) + len(BASELINES)
    axes.axhline(len(names) - 0.5, color=look.faint, linewidth=0.6 * look.scale)
    axes.set(ylim=(rows - 0.4, -0.6), xlabel=f"after {result.rounds} rounds (%)")
    axes.yaxis.set_major_locator(FixedLocator(range(rows)))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.12)


def _draw_claim(axes: Axes, rows: tuple[int, int], at: float, points: float, colour: str, look: Look) -> None:
    """Draw a claimed gain from ACDPP's row to its own row, or write it if it is above 100 %."""
    text: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 6.5 * look.scale, "zorder": 2.1}
    text |= {"bbox": {"facecolor": look.ground, "edgecolor": "none", "pad": 0.4 * look.scale}}
    if at > 100:
        where = (0.99, rows[1])
        axes.annotate(f"+{points:g}: above 100 %", where, xycoords=axes.get_yaxis_transform(), **text)
        return
    dashed: dict[str, Any] = {"color": colour, "linestyle": (0, (2, 1.4)), "linewidth": 0.9 * look.scale}
    axes.vlines(at, *rows, **dashed, zorder=1.8)
    axes.plot(at, rows[1], marker="|", color=colour, markersize=6 * look.scale, zorder=2.2)
    offset = (-3 * look.scale, 0)
    axes.annotate(f"+{points:g}", (at, rows[1]), offset, textcoords="offset points", **text)


def _ends(estimate: Estimate) -> tuple[float, float]:
    return 100 * float(estimate.low), 100 * float(estimate.high)


def draw_constraints(results: Sequence[Reproduction], look: Look) -> Figure:
    """Draw Figure 2: memory, cost and debt of each result."""
    with look.applied():
        blocks, columns, width = _columns(len(results))
        figure, grid = look.canvas(width, 5.4 * blocks + 0.6, 3 * blocks, columns)
        labels = ("samples in memory", "cost per round (log)", "cost debt (root scale)")
        for place, result in enumerate(results):
            block, column = divmod(place, columns)
            panels = grid[3 * block : 3 * block + 3, column]
            panels[0].set_title(_title(ascii_lowercase[place], result))
            _draw_memory(panels[0], result, look)
            _draw_cost(panels[1], result, look)
            _draw_debt(panels[2], result, look)
            for axes, label in zip(panels, labels, strict=True):
                axes.set_xlim(1, max(result.rounds, 2))
                axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
                axes.set_ylabel("" if column else label)
            panels[2].set_xlabel("rounds")
        _hide_empty(grid)
        names = _shown(results)
        limit = key(r"$\Sigma_mB_m$, budget $C$", **look.limit)
        note = _note(
            results,
            "Means over seeds. Cost: average of the rounds so far, and of single rounds for ACDPP (thin). "
            "Cost and debt are without the oracle, which has no budget.",
        )
        look.legend(figure, [*policy_handles(look, names), limit], note)
    return figure


def _each(result: Reproduction, look: Look, oracle: bool) -> list[tuple[PolicyResult, dict[str, Any]]]:
    looks = look.policies(_shown([result]))
    found = []
    for place, (name, how) in enumerate(looks.items()):
        if oracle or name != "oracle":
            some = name in _prominent(result)
            marks = _marks(result.rounds - 1, place, len(looks))
            width = (1.2 if some else 0.8) * look.scale
            found.append((result.policies[name], {**how, "linewidth": width, "markevery": marks}))
    return found


def _draw_memory(axes: Axes, result: Reproduction, look: Look) -> None:
    rounds = np.arange(1, result.rounds + 1)
    for played, how in _each(result, look, oracle=True):
        axes.plot(rounds, played.occupancy, **how)
    own = result.policies.get(_acdpp(result), next(iter(result.policies.values())))
    axes.axhline(own.buffers, **look.limit)
    axes.set_ylim(0, 1.2 * axes.get_ylim()[1])
    if _acdpp(result) in result.policies:
        text = f"{_acdpp(result)}: up to {own.largest_occupancy:g}"
        axes.text(0.97, 0.96, text, transform=axes.transAxes, ha="right", va="top", fontsize=6.5 * look.scale)


def _draw_cost(axes: Axes, result: Reproduction, look: Look) -> None:
    rounds = np.arange(1, result.rounds + 1)
    axes.set_yscale("log", nonpositive="mask")
    acdpp = result.policies.get(_acdpp(result))
    if acdpp is not None:
        colour = look.policies([_acdpp(result)])[_acdpp(result)]["color"]
        axes.plot(rounds, acdpp.cost, color=colour, alpha=0.45, linewidth=0.5 * look.scale, zorder=1.6)
    for played, how in _each(result, look, oracle=False):
        axes.plot(rounds, np.cumsum(played.cost) / rounds, **how)
    axes.axhline(result.budget, **look.limit)
    low, high = axes.get_ylim()
    ticks = [n * 10**e for e in range(-3, 8) for n in (1, 2, 5) if low <= n * 10**e <= high]
    named_ticks(axes.yaxis, ticks, "{:g}")


def _draw_debt(axes: Axes, result: Reproduction, look: Look) -> None:
    rounds = np.arange(1, result.rounds + 1)
    for played, how in _each(result, look, oracle=False):
        axes.plot(rounds, played.debt, **how)
    top = axes.get_ylim()[1]
    axes.set_yscale("function", functions=(signed_root, lambda x: x * np.abs(x)))
    axes.set_ylim(-0.002 * top, top)
    ticks = [0.0]
    for tick in (n * 10.0**e for e in range(-3, 10) for n in (1, 2, 5)):
        if tick <= top and signed_root(tick) - signed_root(ticks[-1]) > 0.15 * signed_root(top):
            ticks.append(tick)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([f"{tick:,g}" for tick in ticks]))


def signed_root(x: Any) -> Any:
    """The square root, extended below 0 for the lower halves of marks at 0."""
    return np.sign(x) * np.sqrt(np.abs(x))
