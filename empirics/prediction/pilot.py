"""A problem as a practitioner knows it: from a pilot sample in place of the population."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.draws import Purpose, permutation
from empirics.prediction.best_constant import OWN, Best, gain
from empirics.prediction.curves import StudyForecaster
from empirics.training.linear import Linear
from empirics.training.partition import Streams
from empirics.training.problem import Problem
from theory.setting import SettingError

__all__ = ["PARTS", "Pilot", "draw_pilot", "jackknife", "jackknife_errors"]

PARTS = 5  # of a pilot sample, of which one at a time is left out
SMALLEST = 10  # samples of a client
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Pilot:
    """Samples that were drawn from each client's distribution, or from the one that all share."""

    whole: Problem
    drawn: tuple[Index, ...]  # one per client, or one for all

    @property
    def size(self) -> int:
        return sum(len(one) for one in self.drawn)

    @property
    def problem(self) -> Problem:
        """The problem in which the pilot sample is the population."""
        return self._of(self.drawn)

    def parts(self) -> Iterator[Problem]:
        """The same without one part of the pilot sample, for each part."""
        for k in range(PARTS):
            yield self._of(tuple(np.delete(one, np.s_[k::PARTS]) for one in self.drawn))

    def _of(self, drawn: tuple[Index, ...]) -> Problem:
        index, before = np.concatenate(drawn), self.whole.streams
        bounds = np.cumsum([0, *(len(one) for one in drawn)])
        pools = [np.arange(a, b) for a, b in pairwise(bounds)]
        shared = (pools[0],) * len(before.alpha) if len(pools) == 1 else tuple(pools)
        streams = Streams((shared,), len(index), before.alpha)
        was, place = self.whole.population, torch.from_numpy(index).to(self.whole.population.y.device)
        weights = torch.from_numpy(streams.weights).to(was.weights)
        population = replace(was, x=was.x[place], y=was.y[place], weights=weights)
        model = self.whole.model
        first = model.first if isinstance(model, Linear) else None
        time = None if self.whole.time is None else self.whole.time[index]
        return replace(
            self.whole, streams=streams, population=population, model=Linear(population, first), time=time
        )


def jackknife(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard errors of what each part of a pilot sample, left out, gives: (parts, …) to (…)."""
    errors: NDArray[np.float64] = np.sqrt((len(values) - 1) * values.var(axis=0))
    return errors


def draw_pilot(problem: Problem, size: int) -> Pilot:
    """So many samples, drawn as the study's seed says, without replacement, evenly from the clients that differ."""
    pools = problem.streams.pools[0]
    distinct = pools[:1] if all(pool is pools[0] for pool in pools) else pools
    each = size // len(distinct)
    fewest = min(len(pool) for pool in distinct)
    if not SMALLEST <= each <= fewest:
        raise SettingError(
            f"a pilot sample must have from {SMALLEST * len(distinct)} to {fewest * len(distinct)} samples here"
            + (f", {len(distinct)} clients sharing it evenly" if len(distinct) > 1 else "")
            + f", got {size}"
        )
    study = problem.study
    drawn = tuple(
        pool[permutation(len(pool), study.seed, Purpose.partition, client=m, t=2)[:each]]
        for m, pool in enumerate(distinct)
    )
    return Pilot(problem, drawn)


def jackknife_errors(
    parts: Sequence[StudyForecaster],
    names: Sequence[str],
    progress: Callable[[str, int, int | None], None],
    best: Best | None = None,
    objective: str = "cumulative",
) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """Of all forecasts' numbers, and of the best one's gain, from the parts of a pilot sample; and of all curves."""
    if not parts:
        return {}, {}
    documents, curves, gains = [], [], []
    for k, part in enumerate(parts):
        progress("parts left out", k, len(parts))
        made = replace(part, study=replace(part.study, policies=tuple(names))).forecasts()
        documents.append([list(one.document().values()) for one in made.values()])
        curves.append([one.risk for one in made.values()])
        if best is not None:
            gains.append(gain(objective, made[OWN], made[best.name]))
    keys = list(made[names[0]].document())
    rows = jackknife(np.array(documents)).tolist()
    found: dict[str, Any] = {
        name: dict(zip(keys, row, strict=True)) for name, row in zip(names, rows, strict=True)
    }
    along = dict(zip(names, jackknife(np.array(curves)), strict=True))
    return found | ({"gain": float(jackknife(np.array(gains)))} if gains else {}), along
