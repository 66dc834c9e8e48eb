"""Committed results, `DATASET-SETTING.json` beside this module, each checked for contradictions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from proofs_check.experiments.json_entries import load
from proofs_check.experiments.reproduction import Gap, Reproduction, parse
from proofs_check.experiments.stated import SECTION7, TRAINED
from theory.setting import SettingError

__all__ = ["HERE", "SETTINGS", "Results", "committed"]

Results = Mapping[tuple[str, str], Reproduction]
HERE = Path(__file__).parent
SETTINGS = ("paper", "released", "trained")  # the last is the text's except for η
ROUNDING = 1e-4  # relative; numbers are written to five digits


@lru_cache
def committed(folder: Path = HERE) -> Results:
    """Results by data set and setting; one that contradicts its name, the paper or itself is refused."""
    found = {}
    for dataset in SECTION7:
        for setting in SETTINGS:
            path = folder / f"{dataset}-{setting}.json"
            if path.exists():
                result = parse(load(path), path.name)
                if setting == "trained":
                    result = _trained(result, path.name)
                found[dataset, setting] = result
                _belongs(result, path.name, dataset, setting)
                for what, one, other in _twice(result):
                    if abs(one - other) > ROUNDING * max(abs(one), abs(other), 1):
                        raise SettingError(
                            f"{path.name!r} contradicts itself in {what}: {one:.6g} against {other:.6g}"
                        )
    return found


def _trained(result: Reproduction, name: str) -> Reproduction:
    """A result in the text's setting except for η, where the oracle must reach the target."""
    if (result.setting, result.eta) != ("paper", TRAINED.get(result.dataset)):
        raise SettingError(f"{name!r} must be of the setting 'paper', with one of the η in {TRAINED}")
    if not result.policies["oracle"].best_accuracy.low >= result.target:
        raise SettingError(f"{name!r} has an oracle that does not reach the paper's target")
    return replace(result, setting="trained")


def _belongs(result: Reproduction, name: str, dataset: str, setting: str) -> None:
    """Refuse a result that contradicts its name or the paper."""
    if result.command is None:
        raise SettingError(f"{name!r} names no command that makes it")
    said = SECTION7[dataset]
    pairs: dict[str, tuple[Any, Any]] = {
        "its name in its data set": (dataset, result.dataset),
        "its name in its setting": (setting, result.setting),
        "the paper's target": (said.target, result.target),
        "the paper's budget": (said.budget, result.budget),
    }
    for what, numbers in (("points", said.points), ("speed_up", said.speed_up)):
        for other, stated in numbers.items():
            pairs[f"the paper's {what} over {other}"] = (stated, result.paper.get(what, {}).get(other))
    for what, (wanted, given) in pairs.items():
        if wanted != given:
            raise SettingError(f"{name!r} contradicts {what}: {wanted} against {given}")


def _twice(result: Reproduction) -> Iterator[tuple[str, Any, Any]]:
    """Pairs of numbers in a result that must agree."""
    for name, played in result.policies.items():
        best, final, largest = played.current_best, played.best_accuracy, played.largest_occupancy
        yield f"the last accuracy of {name}", best.mean[-1], final.mean
        yield f"the last interval of {name}", best.half(0.5)[-1], final.half(0.5)
        yield f"the mean cost of {name}", played.cost.mean(), played.mean_cost.mean
        yield f"the largest occupancy of {name}", max(played.occupancy.max(), largest), largest
        yield f"the current best of {name}, which falls", np.diff(best.mean).min(initial=0), 0
        each, means = played.by_seed, played.mean_accuracy
        yield f"the accuracies by seed of {name}", each.best_accuracy.mean(), final.mean
        yield f"the averaged accuracies by seed of {name}", each.mean_accuracy.mean(), means.mean
    for one, others in result.gaps.items():
        for other, gap in others.items():
            mine, theirs = (result.policies[name] for name in (one, other))
            pair = f"{one} and {other}"
            last = mine.best_accuracy.mean - theirs.best_accuracy.mean
            yield f"the points of {pair}", gap.points.mean / 100, last
            averaged = mine.mean_accuracy.mean - theirs.mean_accuracy.mean
            yield f"the averaged points of {pair}", gap.points_averaged.mean / 100, averaged
            if result.seeds > 1:
                again = Gap.of(mine.by_seed, theirs.by_seed, result.level)
                for what, said, by_seed in (
                    ("points", gap.points, again.points),
                    ("averaged points", gap.points_averaged, again.points_averaged),
                ):
                    half, own = said.half(result.level) / 100, by_seed.half(result.level) / 100
                    yield f"the interval of the {what} of {pair}, by seed,", half, own
