"""Sources of the gain that the paper reports: one row per departure from its text, with its cost."""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from empirics.settings.policy_name import PolicyName
from figures.style import DASHES, POLICIES, Look, Width, key, mix, readable
from proofs_check.experiments.json_entries import Estimate, Fields, load
from proofs_check.experiments.stated import SECTION7
from theory.setting import SettingError

__all__ = ["Explained", "ExplainedGroup", "ExplainedRow", "draw", "read"]

HEADLINE_LETTERS_MAX = 95  # per line
PANELS = ("after the last round", "averaged over rounds")  # either may be the paper's average test accuracy
COLUMNS = {"cost": 1.075, "memory": 1.175}  # their right ends, in widths of both panels
LEFT_OUT = ("constant", "hybrid", "oracle")  # baselines, not departures


@dataclass(frozen=True)
class ExplainedRow:
    """A policy's gains in points, its mean cost per round, and its largest memory as a share of the buffers."""

    name: str
    last: Estimate
    averaged: Estimate
    cost: float
    memory: float


@dataclass(frozen=True)
class ExplainedGroup:
    """Rows of a world, or of a world at equal spending."""

    title: str
    rows: tuple[ExplainedRow, ...]


@dataclass(frozen=True)
class Explained:
    """All groups; `claimed` is the paper's gain over constant admission, NaN for a data set that is not the paper's."""

    dataset: str
    seeds: int
    rounds: int
    level: float
    budget: float
    claimed: float
    groups: tuple[ExplainedGroup, ...]


def read(path: Path) -> Explained:
    """The document of `acdpp explain`, from its file or folder."""
    file = path / "explained.json" if path.is_dir() else path
    fields = Fields(load(file), str(file), "give the explained.json of acdpp explain")
    seeds, level, dataset = fields.whole("seeds", 1), fields.number("level"), fields.text("dataset")
    said = SECTION7.get(dataset)
    groups: list[ExplainedGroup] = []
    for name, world in fields.each("worlds").items():
        policies = world.each("policies")
        title = f"{name}: {world.text('label')}"
        own = {policy: _row(policy, one, one, level, seeds) for policy, one in policies.items()}
        departing = [p for p in own if p not in LEFT_OUT and PolicyName(p).base != "hybrid"]
        groups.append(ExplainedGroup(title, tuple(own[policy] for policy in departing)))
        if "equal_spending" in world.entries:
            for other, gains in world.below("equal_spending").each("over").items():
                over = {
                    key: _row(key, gains.below(key), policies.get(key), level, seeds) for key in gains.entries
                }
                groups.append(ExplainedGroup(f"{name}, over {other} at equal spending", tuple(over.values())))
    if not any(group.rows for group in groups):
        raise SettingError(f"{str(file)!r} has only baselines: there is nothing to explain")
    return Explained(
        dataset=said.name if said else dataset,
        seeds=seeds,
        rounds=fields.whole("rounds", 1),
        level=level,
        budget=said.budget if said else np.nan,
        claimed=said.points["constant"] if said else np.nan,
        groups=tuple(group for group in groups if group.rows),
    )


def _row(name: str, gain: Fields, policy: Fields | None, level: float, seeds: int) -> ExplainedRow:
    last, averaged = (gain.estimate(key, level, seeds) for key in ("points", "points_averaged"))
    if policy is None:
        return ExplainedRow(name, last, averaged, np.nan, np.nan)
    memory = policy.number("largest_occupancy") / policy.number("buffers")
    return ExplainedRow(name, last, averaged, float(policy.estimate("mean_cost", level, seeds).mean), memory)


def draw(data: Explained, look: Look) -> Figure:
    """Draw two forest plots with common rows: intervals on the left, costs and memories as text on the right."""
    with look.applied():
        headlines = [
            wrap(group.title, HEADLINE_LETTERS_MAX, max_lines=2, placeholder=" …") for group in data.groups
        ]
        lines = sum(map(len, headlines)) + sum(len(group.rows) for group in data.groups)
        figure, grid = look.canvas(
            Width.double, 1.4 + 0.155 * lines, 1, 2, sharex=True, sharey=True, gridspec_kw={"wspace": 0.05}
        )
        panels: list[Axes] = list(grid[0])
        page = figure.add_subplot(grid[0, 0].get_gridspec()[:], sharey=panels[0], frameon=False)
        names: dict[int, str] = {}
        y = 0
        for headline, group in zip(headlines, data.groups, strict=True):
            _headline(page, y, headline, look)
            y += len(headline)
            for row in group.rows:
                names[y] = readable(row.name)
                _draw_row(panels, page, y, row, look)
                y += 1
        for axes, title in zip(panels, PANELS, strict=True):
            _frame(axes, title, data, look)
        panels[0].set_ylim(y - 0.4, -0.6)
        panels[0].yaxis.set_major_locator(FixedLocator(list(names)))
        panels[0].set_yticklabels(list(names.values()))
        _frame_page(page, look)
        look.legend(figure, _handles(data, look), _note(data))
    return figure


def _draw_row(panels: list[Axes], page: Axes, y: int, row: ExplainedRow, look: Look) -> None:
    how = _how(row.name, look)
    for axes, points in zip(panels, (row.last, row.averaged), strict=True):
        mean, low, high = (float(end) for end in (points.mean, points.low, points.high))
        axes.hlines(y, low, high, color=how["color"], linewidth=1.1 * look.scale, zorder=2)
        axes.plot(mean, y, **how, linestyle="none", zorder=2.2)
    if not np.isnan(row.cost):
        for x, text in zip(COLUMNS.values(), (f"{row.cost:.1f}", f"{100 * row.memory:.0f} %"), strict=True):
            _beside(page, x, y, text, look, ha="right")


def _how(name: str, look: Look) -> dict[str, Any]:
    """The style of the policy that it departs from."""
    base = _base(name)
    how = look.policy(base) if base in POLICIES else look.points()
    return {key: value for key, value in how.items() if key != "linestyle"}


def _base(name: str) -> str:
    return re.split(r"[+@]|(?<=released)-", name)[0]


def _headline(page: Axes, y: int, lines: list[str], look: Look) -> None:
    """Write a group's title on a band that covers the lines of both panels."""
    shade: dict[str, Any] = {"color": mix(look.faint, look.ground, 0.6), "linewidth": 0, "clip_on": False}
    page.axhspan(y - 0.42, y + len(lines) - 0.58, xmax=COLUMNS["memory"], **shade)
    for place, line in enumerate(lines, y):
        _beside(page, 0.008, place, line.replace("$", r"\$"), look, ha="left")


def _beside(page: Axes, x: float, y: float, text: str, look: Look, **how: Any) -> None:
    size = 7 * look.scale
    page.text(x, y, text, transform=page.get_yaxis_transform(), va="center_baseline", fontsize=size, **how)


def _frame(axes: Axes, title: str, data: Explained, look: Look) -> None:
    axes.axvline(0, color=look.ink, linewidth=0.6 * look.scale, zorder=1.5)
    if not np.isnan(data.claimed):
        axes.axvline(data.claimed, **_claim(look))
    axes.set_title(title)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)  # beside the line at zero


def _frame_page(page: Axes, look: Look) -> None:
    """Label both panels below, and the columns at their right."""
    page.grid(visible=False)
    page.tick_params(axis="y", labelleft=False, length=0)
    page.set_xticks([])
    page.set_xlabel("gain over constant admission (points)", labelpad=14 * look.scale)
    place: dict[str, Any] = {
        "xycoords": "axes fraction",
        "xytext": (0, 4 * look.scale),
        "textcoords": "offset points",
    }
    for text, x in COLUMNS.items():
        page.annotate(text, (x, 1), **place, ha="right", fontsize=7 * look.scale)


def _claim(look: Look) -> dict[str, Any]:
    return {"color": look.stated, "linestyle": DASHES[1], "linewidth": look.scale, "zorder": 1.6}


def _handles(data: Explained, look: Look) -> list[Any]:
    bases = dict.fromkeys(_base(row.name) for group in data.groups for row in group.rows)
    line = {"linestyle": "-", "linewidth": 1.1 * look.scale}
    handles: list[Any] = [key(readable(name), **_how(name, look), **line) for name in bases]
    if not np.isnan(data.claimed):
        handles.append(key(f"the paper: +{data.claimed:g} on {data.dataset}", **_claim(look)))
    return handles


def _note(data: Explained) -> str:
    seeds = f"{data.seeds} seeds" if data.seeds > 1 else "One seed, so no intervals"
    budget = "" if np.isnan(data.budget) else f" (budget {data.budget:g})"
    bars = f"; bars: {100 * data.level:g} % intervals, paired over seeds" if data.seeds > 1 else ""
    return (
        f"{data.dataset}, {data.rounds} rounds, {seeds}{bars}. "
        f"Cost: mean per round{budget}. Memory: maximum over runs, in % of the buffers."
    )
