"""A pilot sample in place of the population, and the standard errors that it causes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.draws import Purpose, permutation
from empirics.prediction.best_constant import OWN, BestConstant, gain
from empirics.prediction.forecast import NUMBERS
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.training.linear import Linear
from empirics.training.partition import Streams
from empirics.training.problem import Problem
from theory.setting import SettingError

__all__ = ["Pilot", "draw_pilot", "jackknife", "jackknife_errors"]

JACKKNIFE_PARTS = 5  # of a pilot sample, left out one at a time
CLIENT_SAMPLES_MIN = 10  # of a pilot sample
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Pilot:
    """Samples drawn from each client's distribution, or from the one that all share."""

    whole: Problem
    drawn: tuple[Index, ...]  # one per client, or one for all

    @property
    def size(self) -> int:
        return sum(len(one) for one in self.drawn)

    @property
    def problem(self) -> Problem:
        """The problem with the pilot sample as its population."""
        return self._of(self.drawn)

    def parts(self) -> Iterator[Problem]:
        """The same with each part of the pilot sample left out in turn."""
        for k in range(JACKKNIFE_PARTS):
            yield self._of(tuple(np.delete(one, np.s_[k::JACKKNIFE_PARTS]) for one in self.drawn))

    def _of(self, drawn: tuple[Index, ...]) -> Problem:
        index, before = np.concatenate(drawn), self.whole.streams
        bounds = np.cumsum([0, *(len(one) for one in drawn)])
        pools = [np.arange(a, b) for a, b in pairwise(bounds)]
        shared = pools * len(before.alpha) if len(pools) == 1 else pools
        streams = Streams((tuple(shared),), len(index), before.alpha)
        was, place = self.whole.population, torch.from_numpy(index).to(self.whole.population.y.device)
        weights = torch.from_numpy(streams.weights).to(was.weights)
        population = replace(was, x=was.x[place], y=was.y[place], weights=weights)
        first = self.whole.model.first if isinstance(self.whole.model, Linear) else None
        time = None if self.whole.time is None else self.whole.time[index]
        model = Linear(population, first)
        return replace(self.whole, streams=streams, population=population, model=model, time=time)


def jackknife(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard errors from the values without each part: (parts, …) to (…).

    >>> jackknife(np.array([[1.0, 2], [3, 2]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray(np.sqrt((len(values) - 1) * values.var(axis=0)))


def draw_pilot(problem: Problem, size: int) -> Pilot:
    """Draw a pilot sample by the study's seed, without replacement, evenly from the clients that differ."""
    pools = problem.streams.pools[0]
    distinct = pools[:1] if problem.streams.shared else pools
    each = size // len(distinct)
    fewest = min(len(pool) for pool in distinct)
    if not CLIENT_SAMPLES_MIN <= each <= fewest:
        least, most = CLIENT_SAMPLES_MIN * len(distinct), fewest * len(distinct)
        shared = f", {len(distinct)} clients sharing it evenly" if len(distinct) > 1 else ""
        raise SettingError(
            f"a pilot sample must have from {least} to {most} samples here{shared}, got {size}"
        )
    drawn = tuple(
        pool[permutation(len(pool), problem.study.seed, Purpose.partition, client=m, t=2)[:each]]
        for m, pool in enumerate(distinct)
    )
    return Pilot(problem, drawn)


def jackknife_errors(
    parts: Sequence[StudyForecaster],
    names: Sequence[str],
    progress: Callable[[str, int, int | None], None],
    best: BestConstant | None = None,
    objective: str = "cumulative",
) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """Standard errors of all forecasts' numbers and of the best one's gain, and of all curves; from forecasters of a
    pilot sample without each part."""
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
    rows = jackknife(np.array(documents)).tolist()
    found: dict[str, Any] = {
        name: dict(zip(NUMBERS, row, strict=True)) for name, row in zip(names, rows, strict=True)
    }
    if gains:
        found["gain"] = float(jackknife(np.array(gains)))
    return found, dict(zip(names, jackknife(np.array(curves)), strict=True))
