"""What carries the gain that the paper reports: one row a departure from its text, with what that costs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from figures.style import POLICIES, Look, Width, mix, readable
from proofs_check.experiments.fields import Estimate, Fields, load
from proofs_check.experiments.stated import SECTION7
from theory.setting import SettingError

__all__ = ["Explained", "Group", "Row", "draw", "read"]

LONGEST = 95  # letters of a headline
COLUMNS = {"cost": 1.075, "memory": 1.175}  # where they end, in widths of the panel
LEFT_OUT = (
    "constant",
    "hybrid",
    "oracle",
)  # baselines: what is gained over is no row, nor are the others departures


@dataclass(frozen=True)
class Row:
    """A policy's gain in points, its mean cost a round, and its largest memory as a share of the buffers."""

    name: str
    points: Estimate
    cost: float
    memory: float


@dataclass(frozen=True)
class Group:
    """The rows of one world, or those of one world at equal spending."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Explained:
    """All groups; `claimed` is the paper's gain over constant admission, NaN on a data set that it does not have."""

    dataset: str
    seeds: int
    rounds: int
    level: float
    budget: float
    claimed: float
    groups: tuple[Group, ...]


def read(path: Path) -> Explained:
    """The document that `acdpp reproduce --explain` writes, or the folder that has it."""
    file = path / "explained.json" if path.is_dir() else path
    fields = Fields(load(file), str(file), "give the explained.json of acdpp reproduce --explain")
    seeds, level, dataset = fields.whole("seeds", 1), fields.number("level"), fields.text("dataset")
    said = SECTION7.get(dataset)
    groups: list[Group] = []
    for name, world in fields.each("worlds").items():
        policies = world.each("policies")
        title = f"{name}: {world.text('label')}"
        own = {policy: _row(policy, one, one, level, seeds) for policy, one in policies.items()}
        groups.append(Group(title, tuple(own[policy] for policy in own if _departs(policy))))
        if "equal_spending" in world.entries:
            for other, gains in world.below("equal_spending").each("over").items():
                over = {
                    key: _row(key, gains.below(key), policies.get(key), level, seeds) for key in gains.entries
                }
                groups.append(Group(f"{name}, over {other}, which spends as much", tuple(over.values())))
    if not any(group.rows for group in groups):
        raise SettingError(f"{str(file)!r} has no policy but the baselines: there is nothing to explain")
    return Explained(
        dataset=said.name if said else dataset,
        seeds=seeds,
        rounds=fields.whole("rounds", 1),
        level=level,
        budget=said.budget if said else np.nan,
        claimed=said.points["constant"] if said else np.nan,
        groups=tuple(group for group in groups if group.rows),
    )


def _departs(name: str) -> bool:
    return name not in LEFT_OUT and not name.startswith("hybrid@")


def _row(name: str, gain: Fields, policy: Fields | None, level: float, seeds: int) -> Row:
    points = gain.estimate("points", level, seeds)
    if policy is None:
        return Row(name, points, np.nan, np.nan)
    memory = policy.number("largest_occupancy") / policy.number("buffers")
    return Row(name, points, float(policy.estimate("mean_cost", level, seeds).mean), memory)


# --- the drawing -------------------------------------------------------------------------------------------


def draw(data: Explained, look: Look) -> Figure:
    """A forest: intervals on the left, costs and memories as text on the right."""
    with look.applied():
        lines = sum(1 + len(group.rows) for group in data.groups)
        figure, grid = look.canvas(Width.double, 1.5 + 0.155 * lines, 1, 1)
        axes = grid[0, 0]
        names: dict[int, str] = {}
        y = 0
        for group in data.groups:
            _headline(axes, y, group.title, look)
            for row in group.rows:
                y += 1
                names[y] = readable(row.name)
                _draw_row(axes, y, row, look)
            y += 1
        _frame(axes, data, y, look)
        axes.yaxis.set_major_locator(FixedLocator(list(names)))
        axes.set_yticklabels(list(names.values()))
        look.legend(figure, _handles(data, look), _note(data))
    return figure


def _draw_row(axes: Axes, y: int, row: Row, look: Look) -> None:
    how = _how(row.name, look)
    mean, low, high = (float(end) for end in (row.points.mean, row.points.low, row.points.high))
    axes.hlines(y, low, high, color=how["color"], linewidth=1.1 * look.scale, zorder=2)
    axes.plot(mean, y, **how, linestyle="none", zorder=2.2)
    if not np.isnan(row.cost):
        for x, text in zip(COLUMNS.values(), (f"{row.cost:.1f}", f"{100 * row.memory:.0f} %"), strict=True):
            _beside(axes, x, y, text, look, ha="right")


def _how(name: str, look: Look) -> dict[str, Any]:
    """As the policy that it departs from."""
    base = _base(name)
    how = look.policy(base) if base in POLICIES else look.points()
    return {key: value for key, value in how.items() if key != "linestyle"}


def _base(name: str) -> str:
    return re.split(r"[+@]|(?<=released)-", name)[0]


def _headline(axes: Axes, y: int, text: str, look: Look) -> None:
    """Over the lines, which would cross its letters."""
    axes.axhspan(y - 0.42, y + 0.42, color=mix(look.faint, look.ground, 0.6), linewidth=0, zorder=1.7)
    _beside(
        axes,
        0.008,
        y,
        shorten(text.replace("$", r"\$"), LONGEST, placeholder=" …"),
        look,
        ha="left",
        zorder=2.5,
    )


def _beside(axes: Axes, x: float, y: float, text: str, look: Look, **how: Any) -> None:
    size = 7 * look.scale
    axes.text(x, y, text, transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=size, **how)


def _frame(axes: Axes, data: Explained, last: int, look: Look) -> None:
    axes.axvline(0, color=look.ink, linewidth=0.6 * look.scale, zorder=1.5)
    if not np.isnan(data.claimed):
        axes.axvline(data.claimed, **_claim(look))
    axes.set_ylim(last - 0.4, -1.5)
    axes.set_xlabel("gain over constant admission after the last round (points)")
    axes.xaxis.set_major_locator(MaxNLocator(8))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    for text, x in COLUMNS.items():
        _beside(axes, x, -1, text, look, ha="right")


def _claim(look: Look) -> dict[str, Any]:
    return {"color": look.stated, "linestyle": (0, (4, 1.6)), "linewidth": look.scale, "zorder": 1.6}


def _handles(data: Explained, look: Look) -> list[Any]:
    bases = dict.fromkeys(_base(row.name) for group in data.groups for row in group.rows)
    handles: list[Any] = [
        Line2D([], [], **_how(name, look), linestyle="-", linewidth=1.1 * look.scale, label=readable(name))
        for name in bases
    ]
    if not np.isnan(data.claimed):
        handles.append(
            Line2D([], [], **_claim(look), label=f"the paper: +{data.claimed:g} on {data.dataset}")
        )
    return handles


def _note(data: Explained) -> str:
    seeds = f"{data.seeds} seeds" if data.seeds > 1 else "One seed, so no intervals"
    budget = "" if np.isnan(data.budget) else f" (budget {data.budget:g})"
    bars = f"; bars: {100 * data.level:g} % intervals, paired over seeds" if data.seeds > 1 else ""
    return (
        f"{data.dataset}, {data.rounds} rounds, {seeds}{bars}. "
        f"Cost: mean a round{budget}. Memory: the largest in any run, of the buffers."
    )
