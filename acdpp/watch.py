"""Curves in the terminal while a study trains: one line per policy, from the saved rows."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from acdpp.output import READING, bar_on, console, told

__all__ = ["Curves", "Doing", "Tell", "watched"]

MEASURES = ("excess_risk", "risk", "accuracy")
CURVE_CHARACTERS_MAX = 60
BARS = "▁▂▃▄▅▆▇█"
Tell = Callable[[int], None]
Doing = Callable[[str], None]
See = Callable[[Mapping[str, Any]], None]


class Curves:
    """Mean over the seeds, per round, of the first measure that the rows have."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self.done = rounds, 0
        self.measure: str | None = None
        self.means: dict[str, list[float]] = {}

    def add(self, rows: Mapping[str, Any]) -> None:
        """Add a chunk of rounds of all runs: rounds vary fastest, then seeds, then policies."""
        import numpy as np

        self.measure = next((name for name in MEASURES if name in rows), None)
        before, self.done = self.done, int(np.max(rows["round"]))
        if self.measure is None:
            return
        policies = list(dict.fromkeys(rows["policy"].tolist()))
        values = rows[self.measure].reshape(len(policies), -1, self.done - before)
        for name, mean in zip(policies, values.mean(axis=1), strict=True):
            self.means.setdefault(name, []).extend(mean.tolist())

    @property
    def title(self) -> str:
        """The measure and the progress."""
        nothing = "nothing is measured" if self.done else "waiting for the first rounds"
        return f"{(self.measure or nothing).replace('_', ' ')}, round {self.done:,} of {self.rounds:,}"

    def lines(self, width: int) -> list[str]:
        """The title, and per policy its curve, last value and name; a long name stands above. Risks: log scale."""
        longest = max(map(len, self.means), default=0)
        above = longest > width // 2
        room = max(min(width - (0 if above else longest) - 11, CURVE_CHARACTERS_MAX, self.rounds), 1)
        drawn = {name: self._binned(values, room) for name, values in self.means.items()}
        known = [value for values in drawn.values() for value in values if not math.isnan(value)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        found = [self.title]
        for name, values in self.means.items():
            curve = f"{_bars(drawn[name], low, high):<{room}} {values[-1]:9.3g}"
            found += [name, curve] if above else [f"{curve} {name}"]
        return found

    def _binned(self, values: list[float], room: int) -> list[float]:
        """The last value of each of `room` equal parts of the rounds, on the drawn scale; NaN for a value of 0."""
        ends = [math.ceil(self.rounds * (k + 1) / room) for k in range(room)]
        at_last = [values[end - 1] for end in ends if end <= len(values)]
        if self.measure == "accuracy":
            return at_last
        return [math.log(value) if value > 0 else math.nan for value in at_last]

    def sentence(self) -> str:
        """The title and last values as text."""
        now = ", ".join(f"{name} {values[-1]:.3g}" for name, values in self.means.items())
        return f"{self.title}: {now}" if now else self.title


def _bars(values: list[float], low: float, high: float) -> str:
    """One character per value, between the extremes of all policies; a blank for NaN."""
    steps = len(BARS) - 1
    share = [(value - low) / (high - low) if high > low else 0.0 for value in values]
    return "".join(" " if math.isnan(one) else BARS[round(steps * one)] for one in share)


@contextmanager
def watched(rounds: int) -> Iterator[tuple[Tell, See, Doing]]:
    """Callbacks for the number of rounds done, the rows and the current activity; without a terminal, a line per
    checkpoint."""
    curves = Curves(rounds)
    if not sys.stderr.isatty():

        def say(rows: Mapping[str, Any]) -> None:
            curves.add(rows)
            print(f"acdpp: {curves.sentence()}", file=sys.stderr, flush=True)

        with told(READING, rounds) as update:
            yield (lambda done: update(completed=done)), say, (lambda what: update(description=what))
        return
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    terminal = console(stderr=True)
    bar = bar_on(terminal)
    task = bar.add_task(READING, total=rounds)

    def picture() -> Group:
        lines = (Text(line, no_wrap=True, overflow="crop") for line in curves.lines(terminal.width))
        return Group(*lines, bar)

    with Live(get_renderable=picture, console=terminal):
        yield (
            (lambda done: bar.update(task, completed=done)),
            curves.add,
            (lambda what: bar.update(task, description=what)),
        )
