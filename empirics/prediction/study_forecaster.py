"""Learning curves of a study's policies: which runs are followed together, for how long, and what comes after."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.control.prices import Prices, Trace, law_of, make_prices
from empirics.control.registry import Brief
from empirics.control.schedule import Rounds, Schedule, brief_for
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.decided_rounds import (
    ROUNDS_DECIDED_FIRST,
    ROUNDS_FOLLOWED_MAX,
    DecidedRounds,
    RunGroup,
    path_part,
)
from empirics.prediction.forecast import Forecast, errors_of, mean_of, standard_error
from empirics.prediction.informed import informed_forecasts
from empirics.prediction.loss_landscape import POPULATION_WHOLE_MAX, LossLandscape, landscape_of
from empirics.prediction.memory import Counts, Floats, Memories
from empirics.prediction.moments import MomentRecursion
from empirics.prediction.risk_curve import RiskCurve
from empirics.prediction.stationary import law_floor
from empirics.settings.study import Study
from empirics.training.model import Descent
from empirics.training.problem import Problem
from theory.market.knapsack import Limit, purchase_limit
from theory.market.lower_bound import most_samples
from theory.market.prices import Atoms, PriceLaw
from theory.setting import Constants

__all__ = ["PRICE_PATHS_MAX", "StudyForecaster", "price_paths"]

PRICE_PATHS_MIN, PRICE_PATHS_MAX = 2, 16  # that a policy is averaged over: two for an error, sixteen if cheap
PRICE_PATH_WORK = 8e7  # samples, outputs, local steps and rounds of all paths, if these are more than two
STARTS_MAX = 8  # starting points, if every replicate has its own
POINTS_BEYOND = 2000  # of a curve after the followed rounds; others are interpolated
Progress = Callable[[int], None]


@dataclass(frozen=True)
class StudyForecaster:
    """Predicts the learning curves of a study on the landscape of its problem: `forecasts` of all its policies."""

    study: Study
    landscape: LossLandscape
    constants: Constants
    start: Tensor  # (replicates or 1, parameters)
    prices: Prices | None = None
    policies: Mapping[str, Any] | None = None
    follow_rounds_max: int = ROUNDS_FOLLOWED_MAX  # rounds to wait for a curve to settle
    accuracy: Accuracy = Accuracy.FULL
    follow_lag: bool = False  # also compute the lag behind a random walk

    @classmethod
    def of(
        cls,
        problem: Problem,
        constants: Constants,
        *,
        prices: Prices | None = None,
        policies: Mapping[str, Any] | None = None,
    ) -> Self:
        """The forecaster of a problem, with the constants that its policies decide by."""
        study = problem.study
        first = problem.model.start(study.runs)[: study.seeds]
        return cls(study, landscape_of(problem), constants, first, prices, policies)

    def for_study(self, study: Study) -> Self:
        """The same landscape with another study of the same problem (`Prediction.covers`)."""
        constants = replace(self.constants, eta=study.eta, E=study.steps).merged
        prices = self.prices if study.cost == self.study.cost else make_prices(study.cost)
        return replace(self, study=study, constants=constants, prices=prices)

    def for_policies(self, names: Sequence[str], seeds: int | None = None, **changes: Any) -> Self:
        """The same study with these built-in policies, perhaps with fewer seeds or another accuracy."""
        study = replace(self.study, policies=tuple(names), seeds=seeds or self.study.seeds)
        return replace(self, study=study, policies=None, **changes)

    @property
    def brief(self) -> Brief:
        """The inputs of the policies before round 1."""
        return brief_for(self.study, self.constants, self.prices)

    @property
    def smoothness(self) -> float:
        """L: no average of losses diverges at a step size below 2/L."""
        assert self.constants.L is not None
        return float(self.constants.L)

    # --- lower bound ---------------------------------------------------------------------------------------

    @property
    def limit(self) -> Limit:
        """The most samples per round that the budget buys, at prices of the law or of a trace."""
        study = self.study
        prices = make_prices(study.cost if self.prices is None else self.prices)
        if isinstance(prices, Trace):
            law: PriceLaw = Atoms.of(prices.values[: study.rounds].ravel())
        else:
            law = law_of(prices, study.seed, study.seeds, study.rounds)
        return purchase_limit(law, sum(study.buffers), study.budget)

    def lower_bound(self, over: float = 0.0, rounds: Sequence[int] = ()) -> dict[str, Any]:
        """Lower bound on the final excess risk that any policy guarantees for the budget of all rounds plus `over`.

        `samples` is the most that this money buys, on average; `after` is the bound after each of `rounds`.
        """
        limit, owed = self.limit, max(over, 0.0)

        def bought(count: int) -> float:
            return float(most_samples(limit, count, owed))

        samples, least = bought(self.study.rounds), self.landscape.least_final_risk
        found: dict[str, Any] = {"final_excess_risk": least(samples), "samples": samples}
        return found | ({"after": [least(bought(count)) for count in rounds]} if rounds else {})

    # --- forecasts -----------------------------------------------------------------------------------------

    def forecasts(self, progress: Progress = lambda done: None) -> dict[str, Forecast]:
        """The forecast of every policy, by name; `progress` is called with the number of rounds done."""
        if self.study.learner == "information":
            schedule = Schedule(self.study, self.constants, prices=self.prices, policies=self.policies)
            return informed_forecasts(schedule, self.landscape, self.start)
        study, samples = self.study, self.landscape.samples
        people = len((self.landscape.whole or self.landscape).model.population.y)
        width = self.landscape.model.outputs * len(self.landscape.groups)
        counts = [price_paths(study, name, people, width) for name in study.policies]
        few = replace(study, seeds=max(counts))
        first = min(study.rounds, ROUNDS_DECIDED_FIRST)
        decided = DecidedRounds(few, self.constants, self.prices, self.policies, first)
        runs = [_distinct(decided.chunks[0], p, few.seeds)[:count] for p, count in enumerate(counts)]
        own = [few.of_policy(name) for name in few.policies]
        kinds = []
        for p, one in enumerate(own):
            averages = one.average != "none" or self.accuracy is Accuracy.SEARCH
            idle = decided.trainings(runs[p], decided.last) < decided.last
            kinds.append((one.steps, averages, averages or one.decay is not None, idle))
        groups = [[p for p, other in enumerate(kinds) if other == kind] for kind in dict.fromkeys(kinds)]
        found: dict[str, Forecast] = {}
        while groups:
            group = groups.pop(0)
            steps, averages, decays, _ = kinds[group[0]]
            decays = decays and any(own[p].decay is not None for p in group)
            rows = [(p, run) for p in group for run in runs[p]] * samples
            paths, owners = _paths(few, rows, samples) if averages else (rows, None)
            means = [run for _, run in rows] if averages else None
            runs_of_paths = [run for _, run in paths]
            run_group = RunGroup(decided, runs_of_paths, decays, means, owners)
            etas = torch.tensor([own[p].eta for p, _ in paths], dtype=torch.float64)
            moments = MomentRecursion(
                self.landscape,
                Descent(steps, etas.to(self.landscape.size), study.momentum),
                run_group.memories(1),
                self.start[[run % few.seeds % len(self.start) for run in runs_of_paths]],
                accuracy=self.accuracy,
                follow_lag=self.follow_lag,
            )
            curve = RiskCurve(moments)
            followed, curves = self._curves(curve, run_group, progress)
            trained = {p: decided.trainings(runs[p], followed) for p in group}
            settles = not (averages or decays or study.drift.mixes)
            if behind := _behind(trained, followed, study.rounds, settles=settles):
                groups = [[p for p in group if p not in behind], behind, *groups]
                continue
            for p in group:
                mine = np.array([i for i, (policy, _) in enumerate(rows) if policy == p])
                admitted = sum(float(one.admissions[:, runs[p]].sum()) for one in decided.chunks)
                rate = admitted / decided.last / len(runs[p])
                T = None if trained[p] < followed else study.rounds
                each = mine.reshape(samples, -1).tolist()
                made = [_forecast(curve, followed, curves, some, rate, T) for some in each]
                found[few.policies[p]] = mean_of(made, len(self.landscape.model.population.y))
        return {name: found[name] for name in study.policies}

    def _curves(
        self, curve: RiskCurve, group: RunGroup, progress: Progress
    ) -> tuple[int, tuple[Floats, ...]]:
        """The number of followed rounds; noise floor, risk and the path's risk, (T+1, rows) each.

        Rounds are followed until all rows settle, and later ones are known in closed form. A mean of models does not
        settle, nor do falling steps. Idle rounds are left out and put in again.
        """
        T, chunks = self.study.rounds, 1
        every, decided, moments = group.memories(chunks), group.decided, curve.moments
        if self.study.drift.mixes:
            while decided.reaches(chunks) < T:
                chunks += 1
                every = group.memories(chunks)
            moments.extend(every)
            risk, path = curve.play(T, progress=progress)
            return T, (risk[-1], risk, path)
        falls = group.means is not None or group.decays
        settle = not falls and bool(every.trained.all())
        moments.extend(every.without_idle())
        until = _common_trainings(every, decided.reaches(chunks) == T)
        found = curve.play(until, settle=settle, progress=progress)
        while curve.settled is None and decided.reaches(chunks) < min(T, self.follow_rounds_max):
            chunks += 1
            every = group.memories(chunks)
            settle = settle and bool(every.trained.all())
            moments.extend(every.without_idle())
            until = _common_trainings(every, decided.reaches(chunks) == T)
            more = curve.play(until, settle=settle, progress=progress)
            found = tuple(np.concatenate([old, new[1:]]) for old, new in zip(found, more, strict=True))
        clock, followed = _clock(every.trained, T)[:, every.owners], decided.reaches(chunks)
        times = np.arange(curve.round + 1)
        if clock.max() > curve.round:
            later = np.unique(np.geomspace(curve.round + 1, clock.max(), POINTS_BEYOND).astype(int))
            if falls:
                beyond = [_falling(one, later) for one in found]
            else:
                settled = curve.settled or curve.forecast()
                beyond = [one.cpu().numpy() for one in settled.risks(later.tolist())]
            times = np.concatenate([times, later])
            found = tuple(np.concatenate([old, new]) for old, new in zip(found, beyond, strict=True))
        curves = tuple(_at(clock, times, one) for one in found)
        if falls:
            return followed, (curves[0][-1], *curves)
        if curve.settled is None:
            floor = law_floor(self.landscape, moments.descent, moments.memories, every.trained.sum(axis=0))
            return followed, (np.where(np.isnan(floor), curves[0][-1], floor), *curves)
        return curve.round, (curve.settled.limit_risk.cpu().numpy(), *curves)


def price_paths(study: Study, name: str, people: int, width: float) -> int:
    """Number of price paths that a policy is averaged over: more if they are cheap, at most the study's seeds.

    `people` is the size of the population, and `width` the number of outputs times that of groups of clients.
    """
    if "start" in study.per_seed:
        return min(study.seeds, STARTS_MAX)
    cells = min(people, POPULATION_WHOLE_MAX) * width
    work = cells * study.of_policy(name).steps * min(study.rounds, ROUNDS_DECIDED_FIRST)
    return min(study.seeds, max(PRICE_PATHS_MIN, min(int(PRICE_PATH_WORK / work), PRICE_PATHS_MAX)))


def _paths(
    study: Study, rows: Sequence[tuple[int, int]], samples: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """The distinct paths of θ among these (policy, run) rows, which repeat for each subsample, and the path of each
    row."""
    every = len(rows) // samples
    each = [(i // every, path_part(study.policies[p]), run % study.seeds) for i, (p, run) in enumerate(rows)]
    first = {one: rows[each.index(one)] for one in dict.fromkeys(each)}
    return list(first.values()), [list(first).index(one) for one in each]


def _behind(trained: Mapping[int, int], rounds: int, T: int, *, settles: bool) -> list[int]:
    """Policies that must be followed apart from those they were followed with, by their numbers of trainings.

    With idle rounds a curve does not settle; and if the study goes on, all were followed for the fewest trainings.

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


def _common_trainings(memories: Memories, whole: bool) -> int:
    """Trainings that can be followed: the fewest of all rows, or at the end of the study the most."""
    trainings = memories.trained.sum(axis=0)
    return int(trainings.max() if whole else trainings.min())


def _clock(trained: NDArray[np.bool_], T: int) -> Floats:
    """Number of trainings before θ(1), …, θ(T+1), (T+1, rows), at the average rate after the decided rounds."""
    so_far = np.concatenate([np.zeros((1, trained.shape[1])), np.cumsum(trained, axis=0)])
    beyond = np.arange(1, T - len(trained) + 1)[:, np.newaxis] * trained.mean(axis=0)
    return np.concatenate([so_far, so_far[-1] + beyond])


def _at(clock: Floats, times: Counts, values: Floats) -> Floats:
    """Values at these times, (times, rows), interpolated at each row's clock."""
    return np.stack([np.interp(now, times, row) for now, row in zip(clock.T, values.T, strict=True)], 1)


def _falling(values: Floats, later: Counts) -> Floats:
    """Extrapolation by the power of time at which values fell over the last half; constant after two rounds or less.

    >>> t = np.arange(40).clip(1)[:, np.newaxis]
    >>> (_falling(3 * t**-0.5, np.array([100, 900]))[:, 0] / [0.3, 0.1]).round(12).tolist()
    [1.0, 1.0]
    >>> _falling(3.0 * t[:3], np.array([50])).tolist()
    [[6.0]]
    >>> _falling(0.0 * t, np.array([50])).tolist()
    [[0.0]]
    """
    last, half = len(values) - 1, len(values) // 2
    positive = np.maximum(values, np.finfo(float).tiny)
    fall = np.log(positive[half] / positive[last]) / np.log(last / half) if last > 2 else 0.0
    return np.asarray(values[last] * (last / later[:, np.newaxis]) ** fall)


def _forecast(
    curve: RiskCurve, followed: int, curves: tuple[Floats, ...], rows: list[int], rate: float, T: int | None
) -> Forecast:
    """A policy's forecast, averaged over its rows; with its lag over T rounds, if T is given."""
    floor, risk, path = (one[..., rows] for one in curves)
    moments = curve.moments
    lag = None
    if T is not None:  # rounds that are not followed lag like the last one
        lag = (moments.lag_sum + (T - curve.round) * moments.lag_last)[rows].mean(0) / T
    return Forecast(
        risk=risk.mean(1),
        path=path.mean(1),
        noise_floor=float(floor.mean()),
        rate=rate,
        followed=followed,
        settled=curve.settled is not None,
        fitted=float(moments.fitted[moments.owners[rows]].max()),
        errors=errors_of(np.stack([risk[:-1].sum(0), risk[-1], floor])),
        risk_error=standard_error(risk),
        lag=lag,
    )


def _distinct(rounds: Rounds, policy: int, seeds: int) -> list[int]:
    """The runs of a policy that differ: only the first if prices change nothing."""
    first, *others = range(policy * seeds, (policy + 1) * seeds)
    if "start" in rounds.study.per_seed:
        return [first, *others]
    same = all((rounds.admissions[:, run] == rounds.admissions[:, first]).all() for run in others)
    return [first] if same else [first, *others]
