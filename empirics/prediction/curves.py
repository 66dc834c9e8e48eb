"""A study seen from its landscape: its policies are played, and their learning curves foretold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.control.prices import Prices, Trace, law_of, make_prices
from empirics.control.schedule import Rounds
from empirics.prediction.cohorts import Memories
from empirics.prediction.decided_rounds import MOST_PLAYED, PLAYED, Part, Played, path_part
from empirics.prediction.forecast import Forecast, errors_of, mean_of, standard_error
from empirics.prediction.loss_landscape import MOST, Landscape
from empirics.prediction.moments import Closure
from empirics.prediction.noise_floor import law_floor
from empirics.prediction.survey import landscape_of
from empirics.settings.study import Study
from empirics.training.model import Descent
from empirics.training.problem import Problem
from theory.market.knapsack import Limit, purchase_limit
from theory.market.lower_bound import most_samples
from theory.market.prices import Atoms, PriceLaw
from theory.setting import Constants

__all__ = ["MOST_PATHS", "Outlook", "replicates"]

FEWEST_PATHS, MOST_PATHS = 2, 16  # of prices, that a policy is predicted from which depends on them
WORK = 8e7  # samples, outputs, local steps and rounds of all its paths together, if these are more than two
STARTS = 8  # where every replicate starts elsewhere
SHOWN = 2000  # points of a curve beyond what is played round by round
Floats = NDArray[np.float64]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Outlook:
    """A study seen from its landscape: `forecasts` of all its policies."""

    study: Study
    landscape: Landscape
    constants: Constants
    start: Tensor  # (replicates or 1, parameters)
    prices: Prices | None = None
    policies: Mapping[str, Any] | None = None
    patience: int = MOST_PLAYED  # rounds that are followed until all has settled, at most
    hurried: bool = False  # as a search is: fewer looks at samples, and paths are straight in between
    coarse: bool = False  # and still fewer
    walks: bool = False  # the lag behind a walk is followed, too

    @classmethod
    def of(
        cls,
        problem: Problem,
        constants: Constants,
        *,
        prices: Prices | None = None,
        policies: Mapping[str, Any] | None = None,
    ) -> Outlook:
        """The outlook of a problem with the constants that its policies decide by."""
        study = problem.study
        first = problem.model.start(study.runs)[: study.seeds]
        return cls(study, landscape_of(problem), constants, first, prices, policies)

    def asking(self, study: Study) -> Outlook:
        """The same landscape under a study whose problem is the same (`Prediction.serves`)."""
        constants = replace(self.constants, eta=study.eta, E=study.steps).merged
        prices = self.prices if study.cost == self.study.cost else make_prices(study.cost)
        return replace(self, study=study, constants=constants, prices=prices)

    @property
    def limit(self) -> Limit:
        """The most that this money buys in a round, at prices of the law, or at those of a trace."""
        study = self.study
        prices = make_prices(study.cost if self.prices is None else self.prices)
        if isinstance(prices, Trace):
            law: PriceLaw = Atoms.of(prices.values[: study.rounds].ravel())
        else:
            law = law_of(prices, study.seed, study.seeds, study.rounds)
        return purchase_limit(law, sum(study.buffers), study.budget)

    def lower_bound(self, over: float = 0.0, rounds: Sequence[int] = ()) -> dict[str, Any]:
        """What nobody guarantees less than with the budget of all rounds and so much `over`.

        `samples` is how many anybody can buy for that, on average; `after` is the same risk after each of `rounds`.
        """
        limit, owed = self.limit, max(over, 0.0)

        def bought(count: int) -> float:
            return float(most_samples(limit, count, owed))

        samples, least = bought(self.study.rounds), self.landscape.least_final_risk
        found: dict[str, Any] = {"final_excess_risk": least(samples), "samples": samples}
        return found | ({"after": [least(bought(count)) for count in rounds]} if rounds else {})

    def forecasts(self, progress: Progress = lambda done: None) -> dict[str, Forecast]:
        """Of every policy, by name; `progress` is told how many rounds are done."""
        study, samples, moves = self.study, self.landscape.samples, self.study.drift.mixes
        model = self.landscape.model
        people = len((self.landscape.whole or self.landscape).model.population.y)
        cells = min(people, MOST) * model.outputs * len(self.landscape.groups)
        counts = [replicates(study, name, cells) for name in study.policies]
        few = replace(study, seeds=max(counts))
        played = Played(few, self.constants, self.prices, self.policies, min(study.rounds, PLAYED))
        runs = [_distinct(played.chunks[0], p, few.seeds)[:count] for p, count in enumerate(counts)]
        own = {name: few.of_policy(name) for name in few.policies}
        found: dict[str, Forecast] = {}
        kinds = []
        for p, one in enumerate(own.values()):
            averages = one.average != "none" or (self.hurried and not self.coarse)
            idle = played.trainings(runs[p], played.last) < played.last
            kinds.append((one.steps, averages, averages or one.decay is not None, idle))
        groups = [[p for p, other in enumerate(kinds) if other == kind] for kind in dict.fromkeys(kinds)]
        while groups:
            group = groups.pop(0)
            steps, averages, decays, _ = kinds[group[0]]
            decays = decays and any(own[few.policies[p]].decay is not None for p in group)
            rows = [(p, run) for p in group for run in runs[p]] * samples
            followed, owners = _paths(few, rows, samples) if averages else (rows, None)
            etas = torch.tensor([own[few.policies[p]].eta for p, _ in followed], dtype=torch.float64)
            descent = Descent(steps, etas.to(self.landscape.size), study.momentum)
            chosen = [run for _, run in followed]
            means = [run for _, run in rows] if averages else None
            start = self.start[[run % few.seeds % len(self.start) for run in chosen]]
            part = Part(played, chosen, decays, means, owners)
            closure = Closure(
                self.landscape,
                descent,
                part.followed(1),
                start,
                hurried=self.hurried,
                coarse=self.coarse,
                walks=self.walks,
            )
            seen = closure, *self._curves(closure, part, progress)
            trained = {p: played.trainings(runs[p], seen[1]) for p in group}
            if behind := _behind(trained, seen[1], study.rounds, settles=not (averages or decays or moves)):
                groups = [[p for p in group if p not in behind], behind, *groups]
                continue
            for p in group:
                mine = np.array([i for i, (policy, _) in enumerate(rows) if policy == p])
                admitted = sum(float(one.admissions[:, runs[p]].sum()) for one in played.chunks)
                rate = admitted / played.last / len(runs[p])
                T = None if trained[p] < seen[1] else study.rounds
                made = [_forecast(*seen, some.tolist(), rate, T) for some in mine.reshape(samples, -1)]
                found[few.policies[p]] = mean_of(made, len(model.population.y))
        return {name: found[name] for name in study.policies}

    def _curves(self, closure: Closure, part: Part, progress: Progress) -> tuple[int, tuple[Floats, ...]]:
        """How many rounds were followed; noise floor, risk and path of the model, (T+1, rows) each.

        As many rounds are followed as it takes to settle, and what then comes is known in closed form. A mean of models
        does not settle, nor do falling steps; rounds are waited for that may be idle, left out and put in again.
        """
        T, chunks = self.study.rounds, 1
        every, played = part.memories(chunks), part.played
        if self.study.drift.mixes:
            while played.reaches(chunks) < T:
                chunks += 1
                every = part.memories(chunks)
            closure.follow(every)
            risk, path = closure.play(T, progress=progress)
            return T, (risk[-1], risk, path)
        falls = part.means is not None or part.decays
        settle = not falls and bool(every.trained.all())
        whole = played.reaches(chunks) == T
        found = closure.play(_common(every, whole), settle=settle, progress=progress)
        while closure.settled is None and played.reaches(chunks) < min(T, self.patience):
            chunks += 1
            every = part.memories(chunks)
            settle = settle and bool(every.trained.all())
            whole = played.reaches(chunks) == T
            closure.follow(every.without_idle())
            more = closure.play(_common(every, whole), settle=settle, progress=progress)
            found = tuple(np.concatenate([old, new[1:]]) for old, new in zip(found, more, strict=True))
        clock, followed = _clock(every.trained, T)[:, every.owners], played.reaches(chunks)
        times = np.arange(closure.round + 1)
        if clock.max() > closure.round:
            later = np.unique(np.geomspace(closure.round + 1, clock.max(), SHOWN).astype(int))
            if falls:
                beyond = [_falling(one, later) for one in found]
            else:
                settled = closure.settled or closure.forecast()
                beyond = [one.cpu().numpy() for one in settled.risks(later.tolist())]
            times = np.concatenate([times, later])
            found = tuple(np.concatenate([old, new]) for old, new in zip(found, beyond, strict=True))
        curves = tuple(_at(clock, times, one) for one in found)
        if falls:
            return followed, (curves[0][-1], *curves)
        if closure.settled is None:
            floor = law_floor(closure.landscape, closure.descent, closure.memories, every.trained.sum(axis=0))
            return followed, (np.where(np.isnan(floor), curves[0][-1], floor), *curves)
        return closure.round, (closure.settled.limit_risk.cpu().numpy(), *curves)


def replicates(study: Study, name: str, cells: float) -> int:
    """Paths of prices that a policy is predicted from: more where they are cheap, no more than the study has."""
    if "start" in study.per_seed:
        return min(study.seeds, STARTS)
    cheap = WORK / (cells * study.of_policy(name).steps * min(study.rounds, PLAYED))
    return min(study.seeds, max(FEWEST_PATHS, min(int(cheap), MOST_PATHS)))


def _paths(
    study: Study, rows: Sequence[tuple[int, int]], samples: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """Of policies and runs of theirs, of one sample after the other, the first on every path, and which of these each
    is on."""
    every = len(rows) // samples
    each = [(i // every, path_part(study.policies[p]), run % study.seeds) for i, (p, run) in enumerate(rows)]
    first = {one: rows[each.index(one)] for one in dict.fromkeys(each)}
    return list(first.values()), [list(first).index(one) for one in each]


def _behind(trained: Mapping[int, int], rounds: int, T: int, *, settles: bool) -> list[int]:
    """Of those that were followed for so many rounds together, who has to be without the others.

    With idle rounds nobody settles; and if the study goes on, all are followed in as many trainings as each has.

    >>> _behind({0: 900, 1: 1024, 2: 400}, 1024, 5000, settles=True)
    [0, 2]
    >>> [_behind({0: 900, 2: count}, 1024, 5000, settles=True) for count in (400, 450)]
    [[2], []]
    >>> _behind({0: 900, 2: 400}, 1024, 1024, settles=True)
    []
    """
    most = max(trained.values())
    enough = max(most if settles and most == rounds else 0, most / 2 if rounds < T else 0)
    return [p for p, count in trained.items() if count < enough]


def _common(memories: Memories, whole: bool) -> int:
    """Trainings that can be followed: those that all rows have, or at the end of the study that any has."""
    trainings = memories.trained.sum(axis=0)
    return int(trainings.max() if whole else trainings.min())


def _clock(trained: NDArray[np.bool_], T: int) -> Floats:
    """How many trainings have been before θ(1), …, θ(T+1), (T+1, rows); later ones are as many as so far."""
    so_far = np.concatenate([np.zeros((1, trained.shape[1])), np.cumsum(trained, axis=0)])
    beyond = np.arange(1, T - len(trained) + 1)[:, np.newaxis] * trained.mean(axis=0)
    return np.concatenate([so_far, so_far[-1] + beyond])


def _at(clock: Floats, times: NDArray[np.int64], values: Floats) -> Floats:
    """Values at some times, (times, rows), read off at each row's own clock."""
    return np.stack(
        [np.interp(*one) for one in zip(clock.T, [times] * len(clock.T), values.T, strict=True)], 1
    )


def _falling(values: Floats, later: NDArray[np.int64]) -> Floats:
    """What goes on falling as a power of time, as over the last half."""
    last, half = len(values) - 1, len(values) // 2
    positive = np.maximum(values, np.finfo(float).tiny)
    fall = np.log(positive[half] / positive[last]) / np.log(last / half) if last > 2 else 0.0
    found: Floats = values[last] * (last / later[:, np.newaxis]) ** fall
    return found


def _forecast(
    closure: Closure, followed: int, curves: tuple[Floats, ...], rows: list[int], rate: float, T: int | None
) -> Forecast:
    """Of a policy, from the paths of prices that some rows of a closure have followed, and its lag after T rounds."""
    floor, risk, path = (one[..., rows] for one in curves)
    lag = None if T is None else (closure.lagged + (T - closure.round) * closure.behind)[rows].mean(0) / T
    return Forecast(
        risk=risk.mean(1),
        path=path.mean(1),
        noise_floor=float(floor.mean()),
        rate=rate,
        played=followed,
        settled=closure.settled is not None,
        fitted=float(closure.fitted[closure.owners[rows]].max()),
        errors=errors_of(np.stack([risk[:-1].sum(0), risk[-1], floor])),
        risk_error=standard_error(risk),
        lag=lag,
    )


def _distinct(rounds: Rounds, policy: int, seeds: int) -> list[int]:
    """The runs of a policy that differ: one, where prices change nothing."""
    first, *others = range(policy * seeds, (policy + 1) * seeds)
    if "start" in rounds.study.per_seed:
        return [first, *others]
    same = all((rounds.admissions[:, run] == rounds.admissions[:, first]).all() for run in others)
    return [first] if same else [first, *others]
