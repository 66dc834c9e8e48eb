"""The learning curve of every policy of a study before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.control.prices import Prices
from empirics.control.schedule import Rounds, Schedule
from empirics.prediction.closure import Closure
from empirics.prediction.cohorts import Memories
from empirics.prediction.floor import law_floor
from empirics.prediction.landscape import MOST, Landscape, survey
from empirics.settings.study import Study
from empirics.training.engine import aggregation_weights
from empirics.training.linear import Linear
from empirics.training.model import Descent
from empirics.training.problem import Problem
from empirics.training.risk import alone
from empirics.training.streams import Streams
from theory.setting import Constants, SettingError

__all__ = ["MOST_PATHS", "Forecast", "Outlook", "caveats", "landscape_of", "refusal", "seconds", "together"]

FEWEST_PATHS, MOST_PATHS = 2, 16  # of prices, that a policy is predicted from which depends on them
WORK = 8e7  # samples, outputs, local steps and rounds of all its paths together, if these are more than two
STARTS = 8  # where every replicate starts elsewhere
PLAYED, MOST_PLAYED = 512, 32_768  # rounds decided at first, and at most: later ones are taken for alike
SHOWN = 2000  # points of a curve beyond what is played round by round
MOST_FITTED = 0.8
MOST_HELD = 4e9  # bytes of weights
NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
Floats = NDArray[np.float64]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Forecast:
    """A policy's expected excess risk at θ(1), …, θ(T+1), without the scatter of θ (`path`), and in the long run.

    All are means over some paths of prices, and `errors` the standard errors of these means, by the names of
    `document`; None where there was one path, as where prices change nothing.
    """

    risk: Floats
    path: Floats
    noise_floor: float
    rate: float  # samples admitted in a round, on average
    played: int  # rounds that were followed one by one
    settled: bool
    fitted: float  # of a fresh sample's residual, within a round, at most
    errors: dict[str, float] | None = None

    @property
    def cumulative(self) -> float:
        """Σ over θ(1), …, θ(T)."""
        return float(self.risk[:-1].sum())

    def document(self) -> dict[str, float]:
        """Plain JSON values."""
        return dict(zip(NUMBERS, (self.cumulative, float(self.risk[-1]), self.noise_floor), strict=True))


def refusal(problem: Problem) -> str | None:
    """Why nothing can be predicted, if so."""
    study = problem.study
    if not isinstance(problem.model, Linear):
        return "the law of reuse needs the curvature at a minimiser: it predicts logistic regression alone"
    if study.radius is None:
        return "without a ball there is no least risk to be above of: give the study a radius"
    if int(problem.population.support.sum()) < 2:
        return "the population is a single sample: there is nothing to learn"
    return None


def caveats(study: Study, constants: Constants, found: Mapping[str, Forecast]) -> list[str]:
    """What the law of reuse takes to be otherwise than it is, and where it was not found to be good.

    A name says what is recommended as well, with a step size of its own.
    """
    largest = max([study.eta, *(study.of_policy(name).eta for name in found)])
    L, fits = constants.L, {name: one.fitted for name, one in found.items() if one.fitted > MOST_FITTED}
    unsettled = [name for name, one in found.items() if one.played < study.rounds and not one.settled]
    notes = {
        "the step size is beyond 2/L, where descent may diverge and the law says little": L is not None
        and largest * L >= 2,
        f"clients fit {max(fits.values(), default=0):.0%} of a fresh residual within a round ({', '.join(fits)}): with "
        "steps that large the law was off by tens of per cent, and more": bool(fits),
        "samples are drawn without replacement and taken for independent": not study.replacement,
        "each seed has a partition of its own: predicted is the first": "partition" in study.per_seed
        and study.partition in ("split", "dirichlet"),
        f"{', '.join(unsettled)} had not settled after {MOST_PLAYED:,} rounds: the rest is a guess": bool(
            unsettled
        ),
    }
    return [note for note, holds in notes.items() if holds]


def seconds(problem: Problem) -> float:
    """About how long a prediction takes, in seconds of a small machine; twice wrong in either direction is usual."""
    study, model = problem.study, problem.model
    groups = 1 if _alike(study, problem.streams) else study.clients
    steps = max(study.of_policy(name).steps for name in study.policies)
    cells = len(problem.population.x) * max(model.size / problem.population.x.shape[1], 1)
    columns = sum(_replicates(study, name, cells * groups) for name in study.policies) * groups
    cells *= columns
    rounds = min(study.rounds, 2 * PLAYED)
    looks = 4 * math.log2(rounds + 1)
    swift = 40 if problem.population.x.is_cuda else 1
    work = rounds * steps * (cells + 1e4) + looks * steps * (20 + steps) * (cells + 2e4)
    work += model.size**3 + len(problem.population.x) * model.size**2 * 2
    held = min(study.rounds, 8 * PLAYED) * columns * min(model.size, 100) * 8
    return math.inf if held > MOST_HELD else float(work / swift * 1.5e-8)


def _replicates(study: Study, name: str, cells: float) -> int:
    """Paths of prices that a policy is predicted from: more where they are cheap, no more than the study has."""
    if "start" in study.per_seed:
        return min(study.seeds, STARTS)
    cheap = WORK / (cells * study.of_policy(name).steps * min(study.rounds, PLAYED))
    return min(study.seeds, max(FEWEST_PATHS, min(int(cheap), MOST_PATHS)))


def landscape_of(problem: Problem) -> Landscape:
    """The landscape of a study's problem; of replicates with partitions of their own, the first one's."""
    reason, study = refusal(problem), problem.study
    if reason is not None or not isinstance(problem.model, Linear) or study.radius is None:
        raise SettingError(f"nothing can be predicted: {reason}")
    return survey(next(alone(problem.model)), _groups(study, problem.streams), study.radius)


def _groups(study: Study, streams: Streams) -> Tensor:
    """Where samples come from: one distribution for all clients, or each client's own."""
    pools = streams.pools[0]
    if _alike(study, streams):
        return torch.from_numpy(streams.weights[:1])
    rows = torch.zeros(len(pools), streams.population, dtype=torch.float64)
    for row, pool in zip(rows, pools, strict=True):
        row[torch.from_numpy(pool)] = 1 / len(pool)
    return rows


def _alike(study: Study, streams: Streams) -> bool:
    """Whether every sample of every client is drawn and weighed alike."""
    equal = study.weights == "samples" or study.alpha is None or len(set(study.alpha)) == 1
    return equal and all(pool is streams.pools[0][0] for pool in streams.pools[0])


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

    def forecasts(self, progress: Progress = lambda done: None) -> dict[str, Forecast]:
        """Of every policy, by name; `progress` is told how many rounds are done."""
        study, parts = self.study, (self.landscape, *self.landscape.others)
        model = self.landscape.model
        people = len((self.landscape.whole or self.landscape).model.population.x)
        cells = min(people, MOST) * model.outputs * len(self.landscape.groups)
        counts = [_replicates(study, name, cells) for name in study.policies]
        few = replace(study, seeds=max(counts))
        schedule = Schedule(few, self.constants, prices=self.prices, policies=self.policies)
        played = [schedule.advance(min(study.rounds, PLAYED))]
        runs = [_distinct(played[0], p, few.seeds)[:count] for p, count in enumerate(counts)]
        own = {name: few.of_policy(name) for name in few.policies}
        found: dict[str, Forecast] = {}
        for steps in dict.fromkeys(one.steps for one in own.values()):
            group = [p for p, name in enumerate(few.policies) if own[name].steps == steps]
            rows = [(p, run) for p in group for run in runs[p]]
            etas = torch.tensor([own[few.policies[p]].eta for p, _ in rows], dtype=torch.float64)
            descent = Descent(steps, etas.to(self.landscape.basis), study.momentum)
            chosen = [run for _, run in rows]
            start = self.start[[run % few.seeds % len(self.start) for run in chosen]]
            seen = []
            for land in parts:
                closure = Closure(land, descent, _memories(played[0], chosen), start)
                seen.append((closure, self._curves(closure, schedule, played, chosen, progress)))
            for p in group:
                mine = [i for i, (policy, _) in enumerate(rows) if policy == p]
                admitted = sum(float(one.admissions[:, runs[p]].sum()) for one in played)
                rate = admitted / played[-1].last / len(runs[p])
                made = [_forecast(closure, curves, mine, rate) for closure, curves in seen]
                found[few.policies[p]] = _mean(made)
        return {name: found[name] for name in study.policies}

    def _curves(
        self, closure: Closure, schedule: Schedule, played: list[Rounds], rows: list[int], progress: Progress
    ) -> tuple[Floats, Floats, Floats]:
        """Risk and path, (T+1, rows) each, and noise floor: as many rounds as it takes to settle, then in closed form.

        `played` are the rounds decided so far, which grow if need be.
        """
        T, chunk = self.study.rounds, 0
        risk, path = closure.play(played[0].last, settle=True, progress=progress)
        while closure.settled is None and closure.round < min(T, self.patience):
            chunk += 1
            if chunk == len(played):
                played.append(schedule.advance(min(played[-1].last, T - played[-1].last)))
            closure.memories = closure.memories + _memories(played[chunk], rows)
            more = closure.play(played[chunk].last, settle=True, progress=progress)
            risk, path = (np.concatenate([old, new[1:]]) for old, new in zip((risk, path), more, strict=True))
        settled = closure.settled or closure.forecast()
        if closure.round < T:
            times = np.unique(np.geomspace(closure.round + 1, T, SHOWN).astype(int))
            later = [one.cpu().numpy() for one in settled.risks(times.tolist())]
            every = np.arange(closure.round + 1, T + 1)
            curves = [np.stack([np.interp(every, times, row) for row in one.T], axis=1) for one in later]
            risk, path = np.concatenate([risk, curves[0]]), np.concatenate([path, curves[1]])
        if closure.settled is None:
            return risk, path, law_floor(closure.landscape, closure.descent, closure.memories)
        return risk, path, settled.limit_risk.cpu().numpy()


def _forecast(
    closure: Closure, curves: tuple[Floats, Floats, Floats], rows: list[int], rate: float
) -> Forecast:
    """Of a policy, from the paths of prices that some rows of a closure have followed."""
    risk, path, floor = (one[..., rows] for one in curves)
    return Forecast(
        risk=risk.mean(1),
        path=path.mean(1),
        noise_floor=float(floor.mean()),
        rate=rate,
        played=closure.round,
        settled=closure.settled is not None,
        fitted=float(closure.fitted[rows].max()),
        errors=_errors(np.stack([risk[:-1].sum(0), risk[-1], floor])),
    )


def _mean(made: Sequence[Forecast]) -> Forecast:
    """Of what several samples of one population foretell: its error is of the paths of prices, and of the sampling."""
    if len(made) == 1:
        return made[0]
    of_samples = _errors(np.array([list(one.document().values()) for one in made]).T)
    return Forecast(
        risk=np.mean([one.risk for one in made], axis=0),
        path=np.mean([one.path for one in made], axis=0),
        noise_floor=float(np.mean([one.noise_floor for one in made])),
        rate=made[0].rate,
        played=min(one.played for one in made),
        settled=all(one.settled for one in made),
        fitted=max(one.fitted for one in made),
        errors=together(made[0].errors, of_samples),
    )


def together(*errors: Mapping[str, float] | None) -> dict[str, float] | None:
    """Of what is independent: the root of the sum of squares."""
    known = [one for one in errors if one is not None]
    return {name: math.hypot(*(one[name] for one in known)) for name in known[0]} if known else None


def _errors(each: Floats) -> dict[str, float] | None:
    """Standard errors of the means over independent ones, (numbers, …)."""
    count = each.shape[1]
    if count == 1:
        return None
    return dict(zip(NUMBERS, (each.std(axis=1, ddof=1) / math.sqrt(count)).tolist(), strict=True))


def _memories(rounds: Rounds, rows: list[int]) -> Memories:
    """The memories of some runs."""
    weights = aggregation_weights(rounds.study, rounds.occupancy[:, rows])
    return Memories(rounds.admissions[:, rows], rounds.starts[:, rows], rounds.ends[:, rows], weights)


def _distinct(rounds: Rounds, policy: int, seeds: int) -> list[int]:
    """The runs of a policy that differ: one, where prices change nothing."""
    first, *others = range(policy * seeds, (policy + 1) * seeds)
    if "start" in rounds.study.per_seed:
        return [first, *others]
    same = all((rounds.admissions[:, run] == rounds.admissions[:, first]).all() for run in others)
    return [first] if same else [first, *others]
