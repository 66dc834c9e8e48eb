"""Section 7 of the paper, from a result: current-best accuracy, first rounds, costs, gaps and speed-ups.

Current best is the running maximum of the test accuracy of θ(1), …, θ(T+1), so entry i is what i rounds of training
have reached. A run that diverged has no accuracy from then on and keeps what it had. Intervals are Student's t over
the seeds; gaps are percentage points, paired over the seeds, of the last current best and of its mean after rounds 1
to T. A speed-up is the ratio of the rounds after which the mean curves reach the target.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.files import replace_file
from empirics.results.folder import read_result
from empirics.results.rows import by_run
from empirics.settings.section7 import COMPLETE, DATASETS, PAPER, TARGETS, section7, settings_for
from empirics.settings.study import Study
from theory.numbers.student import mean_interval, p_value
from theory.setting import SettingError

__all__ = [
    "LEVEL",
    "NAME",
    "Runs",
    "by_seed",
    "command_of",
    "gains",
    "heading",
    "reproduction",
    "rounded",
    "save",
]

NAME = "reproduction.json"
LEVEL = 0.8
BASELINES = ("hybrid", "constant")
DIGITS = 5
ROUNDING = 1e-6  # of float32, and less than one test image of a million
CHOSEN = ("model", "policies", "eta", "precision")  # settings with an option of their own

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """All runs of a finished result. Arrays are (policies, seeds, …), `best` with θ(T+1) for its last entry."""

    study: Study
    settings: dict[str, Any]
    intervals: str
    best: Floats
    spent: Floats
    held: Floats
    debt: Floats
    diverged: NDArray[np.bool_]

    @classmethod
    def read(cls, folder: Path | str) -> Self:
        """The runs of a finished result that measured accuracy."""
        result = read_result(folder, ["policy", "seed", "round", "cost", "admitted", "n", "debt", "accuracy"])
        study = Study.from_document(result.settings["study"])
        if "accuracy" not in result.rows.column_names:
            raise SettingError(f"{str(folder)!r} measured no accuracy: train with it among the measures")
        last = [result.summary["policies"][name].get("final_accuracies") for name in study.policies]
        if None in last:
            raise SettingError(f"{str(folder)!r} lacks final accuracies, seed by seed: train anew")
        column = by_run(result.rows, study)
        final = np.array(last, dtype=float)[..., np.newaxis]  # null becomes NaN
        accuracy = np.concatenate([column["accuracy"], final], axis=2)
        return cls(
            study,
            result.settings,
            result.summary["intervals"],
            best=np.maximum.accumulate(np.nan_to_num(accuracy, nan=0.0), axis=2),
            spent=column["cost"] * column["admitted"],
            held=column["n"],
            debt=column["debt"],
            diverged=np.isnan(accuracy).any(axis=2),
        )

    def of(self, policy: str) -> int:
        return self.study.policies.index(policy)

    @property
    def last(self) -> Floats:
        """Current best after the last round, (policies, seeds)."""
        return self.best[..., -1]

    @property
    def average(self) -> Floats:
        """Current best averaged over what rounds 1 to T have reached."""
        return np.asarray(self.best[..., 1:].mean(axis=2))

    @property
    def cost(self) -> Floats:
        """Average cost per round, (policies, seeds)."""
        return np.asarray(self.spent.mean(axis=2))


# --- the document ------------------------------------------------------------------------------------------


def reproduction(folder: Path | str) -> dict[str, Any]:
    """The document of a finished result, plain JSON values; measured numbers have five digits."""
    runs = Runs.read(folder)
    study, target = runs.study, TARGETS.get(runs.study.dataset)
    first = {name: _first_round(runs.best[p], target) for p, name in enumerate(study.policies)}
    measured = {
        "policies": {name: _policy(runs, p, first[name]) for p, name in enumerate(study.policies)},
        "comparisons": {
            name: {
                other: _comparison(runs, name, other, first)
                for other in _baselines(name)
                if other in study.policies
            }
            for name in study.policies
            if _baselines(name)
        },
    }
    return {**heading(runs), **rounded(measured), "paper": PAPER.get(study.dataset)}


def _baselines(name: str) -> tuple[str, ...]:
    """Policies to compare with: hybrid with constant admission alone, and that with none."""
    return BASELINES[BASELINES.index(name) + 1 :] if name in BASELINES else BASELINES


def heading(runs: Runs) -> dict[str, Any]:
    """The study, data and hardware of a result."""
    study, settings = runs.study, runs.settings
    parts = [settings, *settings["continued"]]
    data = settings.get("data")  # results of older versions do not say
    return {
        "command": command_of(study, settings["asked"]["device"]),
        "dataset": study.dataset,
        "setting": study.preset.removeprefix(f"{study.dataset}-"),
        "model": study.model,
        "seeds": study.seeds,
        "rounds": study.rounds,
        "hardware": " and ".join(dict.fromkeys(part["device"] for part in parts)),
        "versions": settings["versions"],
        "data": data and {**data, "complete": data == COMPLETE.get(study.dataset)},
        "intervals": runs.intervals,
        "target": TARGETS.get(study.dataset),
        "level": LEVEL,
        "study": study.document(),
    }


def command_of(study: Study, device: str) -> str | None:
    """The command that makes this study, without folders; None where a setting was changed that has no option."""
    dataset, setting = study.dataset, study.preset.removeprefix(f"{study.dataset}-")
    if dataset not in DATASETS or setting not in settings_for(dataset):
        return None
    named = section7(dataset, setting, seeds=study.seeds, rounds=study.rounds).document()
    changed = {name: value for name, value in study.document().items() if value != named[name]}
    if not changed.keys() <= set(CHOSEN):
        return None
    words = ["acdpp", "reproduce", dataset, "--setting", setting]
    words += ["--seeds", str(study.seeds), "--rounds", str(study.rounds)]
    for name in CHOSEN:
        if name in changed:
            value = changed[name]
            words += [f"--{name}", ",".join(value) if isinstance(value, list) else str(value)]
    return shlex.join([*words, "--device", device])


def _policy(runs: Runs, p: int, first: dict[str, Any]) -> dict[str, Any]:
    def mean(values: Floats) -> Any:
        return values[p].mean(axis=0).tolist()

    return {
        "current_best": mean_interval(runs.best[p].T, LEVEL),
        "occupancy": {
            "mean": mean(runs.held),
            "largest": int(runs.held[p].max()),
            "buffers": sum(runs.study.buffers),
        },
        "cost": {"mean": mean(runs.spent)},
        "debt": {"mean": mean(runs.debt), "largest": float(runs.debt[p].max())},
        "best_accuracy": mean_interval(runs.last[p], LEVEL),
        "mean_accuracy": mean_interval(runs.average[p], LEVEL),
        "mean_cost": mean_interval(runs.cost[p], LEVEL),
        "first_round": first,
        "diverged": int(runs.diverged[p].sum()),
        "by_seed": by_seed(runs, p),
    }


def by_seed(runs: Runs, p: int) -> dict[str, list[float]]:
    """The accuracies of every run of a policy, and which seeds diverged."""
    return {
        "best_accuracy": runs.last[p].tolist(),
        "mean_accuracy": runs.average[p].tolist(),
        "diverged": np.flatnonzero(runs.diverged[p]).tolist(),
    }


def _first_round(best: Floats, target: float | None) -> dict[str, Any]:
    """After how many rounds the target is reached: by how many seeds, by their mean curve, by the middle one."""
    if target is None:
        return dict.fromkeys(("reached", "mean_curve", "median"))

    def first(curve: Floats) -> float:
        there = curve >= target - ROUNDING
        return float(there.argmax()) if there.any() else np.inf

    each = np.array([first(curve) for curve in best])
    return {
        "reached": int(np.isfinite(each).sum()),
        "mean_curve": _whole(first(best.mean(axis=0))),
        "median": _whole(float(np.median(each))),
    }


def _whole(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    return int(value) if value.is_integer() else value


def _comparison(runs: Runs, name: str, other: str, first: Mapping[str, Any]) -> dict[str, Any]:
    a, b = runs.of(name), runs.of(other)
    own, its = first[name]["mean_curve"], first[other]["mean_curve"]
    paid = float(runs.cost[b].mean())
    return {
        **gains((runs, a), (runs, b)),
        "speed_up": its / own if own and its is not None else None,
        "cost_ratio": float(runs.cost[a].mean()) / paid if paid else None,
    }


def gains(one: tuple[Runs, int], other: tuple[Runs, int]) -> dict[str, Any]:
    """Percentage points of one policy's accuracy above another's, seed by seed; each is named by its runs and place."""
    (a, p), (b, q) = one, other
    points = {"points": a.last[p] - b.last[q], "points_averaged": a.average[p] - b.average[q]}
    return {name: {**mean_interval(100 * by, LEVEL), "p": p_value(100 * by)} for name, by in points.items()}


# --- as a file ---------------------------------------------------------------------------------------------


def rounded(value: Any) -> Any:
    """A document with every float rounded to five digits.

    >>> rounded({"a": [0.123456789, 3, None]})
    {'a': [0.12346, 3, None]}
    """
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def save(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document as JSON, whole or not at all; a list of plain values stands in one line."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    flat = re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text)
    replace_file(path, lambda beside: beside.write_text(flat + "\n", encoding="utf-8"))
