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

from empirics.control.prices import Prices, Trace, law_of, make_prices
from empirics.control.schedule import Rounds
from empirics.prediction.closure import Closure
from empirics.prediction.cohorts import Memories
from empirics.prediction.floor import law_floor
from empirics.prediction.landscape import MOST, Landscape, Parts, mixed, survey
from empirics.prediction.played import Part, Played, path_part
from empirics.prediction.sampling import FOLLOWED, KEPT, Whole
from empirics.settings.study import Study
from empirics.training.linear import Linear
from empirics.training.model import Descent
from empirics.training.problem import Problem
from empirics.training.risk import Least, alone, minimise
from empirics.training.streams import Streams
from theory.knapsack import Limit, purchase_limit
from theory.lower_bound import most_samples
from theory.prices import Atoms, PriceLaw
from theory.setting import Constants, SettingError

__all__ = [
    "MOST_PATHS",
    "Forecast",
    "Outlook",
    "caveats",
    "combined",
    "drawn_alike",
    "landscape_of",
    "refusal",
    "replicates",
    "together",
]

FEWEST_PATHS, MOST_PATHS = 2, 16  # of prices, that a policy is predicted from which depends on them
WORK = 8e7  # samples, outputs, local steps and rounds of all its paths together, if these are more than two
STARTS = 8  # where every replicate starts elsewhere
PLAYED, MOST_PLAYED = 512, 32_768  # rounds decided at first, and at most: later ones are taken for alike
SHOWN = 2000  # points of a curve beyond what is played round by round
MOST_FITTED = 0.8
SEEN = 0.01
NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
Floats = NDArray[np.float64]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Forecast:
    """A policy's expected excess risk at θ(1), …, θ(T+1), without the scatter of θ (`path`), and in the long run.

    Of a mean of models and of falling steps, whose noise keeps falling, the long run is the end of the study, and so it
    is where the population moves. All are
    means over some paths of prices and samples of a large population, and `errors` the standard errors of these means,
    by the names of `document`; None where there was one of each, as where prices change nothing.
    """

    risk: Floats
    path: Floats
    noise_floor: float
    rate: float  # samples admitted in a round, on average
    played: int  # rounds that were followed one by one
    settled: bool
    fitted: float  # of a fresh sample's residual, within a round, at most
    errors: dict[str, float] | None = None
    risk_error: Floats | None = None  # the standard error of `risk`, of the same paths and samples
    lag: Floats | None = None  # ΣW² of `theory.drift`, mean over all rounds, by lump; none if some are idle
    sampled: tuple[int, ...] = ()  # sizes of the samples that stand for a large population

    @property
    def cumulative(self) -> float:
        """Σ over θ(1), …, θ(T)."""
        return float(self.risk[:-1].sum())

    @property
    def path_share(self) -> float:
        """The part of the cumulative excess risk that the mean path has, without the scatter of θ."""
        return max(float(self.path[:-1].sum()) / self.cumulative, 0.0) if self.cumulative > 0 else 0.0

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
    if study.drift.kind == "order":
        return "samples come in their own order, and there is no population to be above the least risk of"
    if not problem.streams.moves_as_one(study):
        return "clients that differ drift apart, and their population is no mixture of two that could be followed"
    if study.drift.mixes and study.rounds > MOST_PLAYED:
        return f"the population moves, and is followed for {MOST_PLAYED:,} rounds at most"
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
    sampled = next((one.sampled for one in found.values() if one.sampled), ())
    notes = {
        f"{len(sampled)} samples of about {max(sampled, default=0):,} stand for the population away from the "
        f"minimiser, and axes that carry {KEPT:.1%} of the inputs for all, {FOLLOWED:.0%} for mean paths: ± contains "
        "what the samples cost, not what the axes do": bool(sampled),
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


def replicates(study: Study, name: str, cells: float) -> int:
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
    model = next(alone(problem.model))
    if not study.drift.mixes:
        return survey(model, _groups(study, problem.streams), study.radius)
    first, second = (_groups(study, problem.streams, k).to(model.population.x) for k in range(2))
    parts = [torch.from_numpy(problem.streams.of_part(k)[0]).to(model.population.x) for k in range(2)]
    mixing, least = study.mixing(1, study.rounds + 1), problem.least
    assert least is not None
    w = float(mixing.mean().clip(SEEN, 1 - SEEN))  # so that both parts are seen, whatever the rounds
    mean = Linear(replace(model.population, weights=mixed(parts, w)[None]))
    along = torch.from_numpy(least.of_runs(len(least.values), mixing)[:, 0])
    place = model.population.x.device
    moving = Parts((first, second), (parts[0], parts[1]), torch.from_numpy(mixing).to(place), along.to(place))
    found = survey(mean, mixed((first, second), w), study.radius, moving)
    return found if found.whole is None else _along_axes(found, found.whole, moving, least)


def _along_axes(land: Landscape, whole: Whole, moving: Parts, least: Least) -> Landscape:
    """With the least risk that there is along the axes of a landscape: what each part has more there, as it mixes."""
    ends = least.of_runs(len(least.values), np.array([0.0, 1.0]))[:, 0]
    more = [minimise(whole.of_part(k).model, land.radius).risk - float(ends[k]) for k in range(2)]
    assert land.parts is not None
    higher = moving.least + more[0] + moving.mixing * (more[1] - more[0])
    return replace(land, parts=replace(land.parts, least=higher))


def _groups(study: Study, streams: Streams, part: int = 0) -> Tensor:
    """Where samples come from, of a part: one distribution for all clients, or each client's own."""
    if drawn_alike(study, streams):
        return torch.from_numpy(streams.of_part(part)[:1])
    pools = (streams.later or streams.pools)[0] if part else streams.pools[0]
    rows = torch.zeros(len(pools), streams.population, dtype=torch.float64)
    for row, pool in zip(rows, pools, strict=True):
        row[torch.from_numpy(pool)] = 1 / len(pool)
    return rows


def drawn_alike(study: Study, streams: Streams) -> bool:
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
                found[few.policies[p]] = _mean(made, len(model.population.y))
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
    >>> _behind({0: 900, 2: 400}, 1024, 5000, settles=True), _behind({0: 900, 2: 400}, 1024, 1024, settles=True)
    ([2], [])
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
        errors=_errors(np.stack([risk[:-1].sum(0), risk[-1], floor])),
        risk_error=_standard_error(risk),
        lag=lag,
    )


def _mean(made: Sequence[Forecast], size: int) -> Forecast:
    """Of what several samples of this size foretell: its error is of the paths of prices, and of the sampling."""
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
        risk_error=combined(
            made[0].risk_error, _standard_error(np.stack([one.risk for one in made], axis=1))
        ),
        sampled=(size,) * len(made),
    )


def together(*errors: Mapping[str, float] | None) -> dict[str, float] | None:
    """Of what is independent: the root of the sum of squares."""
    known = [one for one in errors if one is not None]
    return {name: math.hypot(*(one[name] for one in known)) for name in known[0]} if known else None


def _errors(each: Floats) -> dict[str, float] | None:
    """Standard errors of the means over independent ones, (numbers, …)."""
    found = _standard_error(each)
    return None if found is None else dict(zip(NUMBERS, found.tolist(), strict=True))


def _standard_error(each: Floats) -> Floats | None:
    """Of the means along the second axis; None of a single one."""
    count = each.shape[1]
    return None if count == 1 else np.asarray(each.std(axis=1, ddof=1) / math.sqrt(count))


def combined(first: Floats | None, second: Floats | None) -> Floats | None:
    """The error of what has both, which are independent; either may be none."""
    known = [one for one in (first, second) if one is not None]
    return np.asarray(np.sqrt(sum(np.square(one) for one in known))) if known else None


def _distinct(rounds: Rounds, policy: int, seeds: int) -> list[int]:
    """The runs of a policy that differ: one, where prices change nothing."""
    first, *others = range(policy * seeds, (policy + 1) * seeds)
    if "start" in rounds.study.per_seed:
        return [first, *others]
    same = all((rounds.admissions[:, run] == rounds.admissions[:, first]).all() for run in others)
    return [first] if same else [first, *others]
