"""One runner for all studies: settings and options of studies/NAME.toml, results kept in a file as they come.

Besides its own options a benchmark of studies takes --device, --data-dir, --seconds and --out. A case
that --out already holds is not measured again.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, Self

import numpy as np

from benchmarks.common import machine, parser_of, settings, timed
from empirics import PRESETS, Study, read_result, run_study
from empirics.control.schedule import Rounds, Schedule
from empirics.files import replace_file
from empirics.training.constants import calibrate
from empirics.training.engine import Engine
from empirics.training.problem import Problem, make_problem
from theory.numbers.student import half_width
from theory.setting import Constants

PRESET = {"digits": "digits", "mnist": "own"}
Document = dict[str, Any]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as the command line asks for it; no case begins after `end`."""

    settings: dict[str, Any]
    given: argparse.Namespace
    command: str
    end: float

    @classmethod
    def asked(cls, name: str, text: str | None) -> Self:
        """Parse the command line."""
        found = settings(name)
        parser = parser_of(name, text, **settings("runner")["options"])
        given = parser.parse_args()
        passing = {"out", "seconds", *found.get("passing", ())}
        other = {key: value for key, value in vars(given).items() if value != parser.get_default(key)}
        words = [_word(key, other[key], found["options"]) for key in other if key not in passing]
        command = " ".join([f"python -m benchmarks.{name}", *words])
        return cls(found, given, command, time.monotonic() + given.seconds)

    @property
    def place(self) -> dict[str, Any]:
        """Device and data folder, as `run_study` takes them."""
        return {"device": self.given.device, "data_dir": self.given.data_dir}

    def study(self) -> Study:
        """The study that every case changes: risk alone is measured, and nothing predicted."""
        given = self.given
        base = replace(PRESETS[PRESET[given.dataset]], dataset=given.dataset, rounds=given.rounds)
        base = replace(base, seeds=given.seeds, seed=given.seed, predict=False, measures=("risk",))
        return self.on_device(base)

    def on_device(self, study: Study) -> Study:
        """The study in float32 on a GPU."""
        return replace(study, dtype="float32") if self.given.device == "cuda" else study

    def begin(self, base: Study | None = None, key: str = "studies", **about: Any) -> Document:
        """The document before anything is measured, or what the file holds of the same command."""
        if base is not None:
            about = {"study": f"{base.task}, {base.rounds} rounds, {base.seeds} seeds", **about}
        document = {"command": self.command, "hardware": machine(self.given.device), **about, key: {}}
        out = self.given.out
        if out is None or not out.exists():
            return document
        there: Document = json.loads(out.read_text(encoding="utf-8"))
        if there["command"] != document["command"]:
            raise SystemExit(f"{out} was written by {there['command']}: choose another file")
        return there

    def measure(
        self, document: Document, cases: Iterable[str], measured: Callable[[str], Any], key: str = "studies"
    ) -> Document:
        """The document with the cases that it did not hold, each written as soon as it is measured."""
        for case in cases:
            if case not in document[key] and time.monotonic() < self.end:
                document[key][case] = measured(case)
                write(document, self.given.out)
        return document


def _word(key: str, value: Any, options: dict[str, Any]) -> str:
    """An option as it was given; of the folder with data only that there is one."""
    about = options.get(key, {})
    if isinstance(about, dict) and about.get("positional"):
        return str(value)
    name = f"--{key.replace('_', '-')}"
    if value is True:
        return name
    shown = "DIR" if key == "data_dir" else f"{value:g}" if isinstance(value, float) else quote(str(value))
    return f"{name} {shown}"


def write(document: Document, out: Path | None) -> None:
    """Write the document whole or not at all."""
    if out is not None:
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
        replace_file(out, lambda beside: beside.write_text(text, encoding="utf-8"))


def markdown(lines: Iterable[Iterable[str]]) -> str:
    """A table, the first line its head."""
    head, *rows = map(list, lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def above_best(each: Any, best: Any) -> dict[str, float]:
    """Mean difference to the best, paired, with half of its 95 % interval."""
    apart = np.asarray(each) - np.asarray(best)
    half = float(half_width(apart, 0.95)) if len(apart) > 1 and apart.any() else 0.0
    return {"above_best": float(apart.mean()), "half_width": half}


def mean_and_error(each: Any) -> tuple[float, float]:
    """Mean over seeds and its standard error."""
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))


def trained(study: Study, columns: Iterable[str] = ("round",), **given: Any) -> tuple[dict[str, Any], Any]:
    """Summary of a study and some columns of its rows; the result folder is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        summary = run_study(study, Path(folder) / "result", **given)
        return summary, read_result(Path(folder) / "result", list(columns)).rows


def chunks(study: Study, constants: Constants) -> Iterator[Rounds]:
    """Schedules of all rounds, from checkpoint to checkpoint."""
    schedule = Schedule(study, constants)
    while schedule.round <= study.rounds:
        yield schedule.advance(min(study.checkpoint, study.rounds - schedule.round + 1))


def posed(study: Study, **given: Any) -> tuple[Problem, Constants]:
    """The problem of a study, and the constants that its policies decide by."""
    problem = make_problem(study, **given)
    return problem, calibrate(problem).constants.merged


def played(problem: Problem, constants: Constants) -> Iterator[tuple[int, Any]]:
    """The first round of each chunk, and the rows of its training."""
    engine = Engine(problem.model, problem.study, problem.streams)
    for rounds in chunks(problem.study, constants):
        yield rounds.first, engine.play(rounds)


def training_seconds(problem: Problem, constants: Constants, few: int, clock: Callable[[], float]) -> float:
    """Seconds of training a study, scaled up from a few rounds."""
    engine = Engine(problem.model, problem.study, problem.streams)
    rounds = Schedule(problem.study, constants).advance(few)
    _, (seconds,) = timed(lambda: engine.play(rounds), clock=clock)
    return float(seconds * problem.study.rounds / few)
