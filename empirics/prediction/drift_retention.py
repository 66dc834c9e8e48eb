r"""How long to keep samples of a population that moves: constant admission as the study has it, at every K.

`drifting` says of a problem's samples, if they have times, both how they move (`DriftSpeed`) and how long to keep them.

What a K costs over the rounds of the study is predicted as in a world at rest, with the study's own steps, clients and
mean of models. To this comes the lag, \(\tfrac12\sum_hhq_h\sum_lW_l^2\), behind a walk of the variance that was
measured (`theory.drift.moving_optimum`), where rounds leave of a distance what they were predicted to. And samples in
their order are drawn from those that come by in a round: r of n are \(1+(r-1)/n\) times as noisy as r others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirics.control.schedule import brief_for
from empirics.data.dataset import Arrivals
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.drift_speed import DriftSpeed, measure_drift
from empirics.settings.policy_name import PolicyName
from empirics.training.problem import Problem
from theory.design.offline import fill_ratio
from theory.setting import SettingError

__all__ = ["DriftAdvice", "RetentionChoice", "RetentionRisk", "best_retention", "drift_advice"]

EVERY, WIDER = 10, 1.25  # up to which every K is tried, and what one beyond is over the one before
HALVINGS = 6  # of the largest step size
RUNGS = 3  # retentions with which steps of other sizes are tried, and one more


@dataclass(frozen=True)
class RetentionRisk:
    """Constant admission with this retention and step: samples a round, and its excess risk, mean over all rounds, at
    the drift that was measured, and at the ends of its interval."""

    K: int
    eta: float
    rate: float
    risk: float
    ends: tuple[float, float]


@dataclass(frozen=True)
class RetentionChoice:
    """All K at the study's own step, the last one Corollary 2's if `filled`, since there are as many rounds, and the
    best of other steps, if it was looked for."""

    tried: tuple[RetentionRisk, ...]
    best: RetentionRisk | None = None
    filled: bool = True

    @property
    def own(self) -> RetentionRisk:
        """The best K at the study's own step."""
        return min(self.tried, key=lambda one: one.risk)

    @property
    def interval(self) -> tuple[int, int]:
        """Of the best K, with those at both ends of the drift's interval."""
        found = [self.own.K, *(min(self.tried, key=lambda one: one.ends[k]).K for k in range(2))]
        return min(found), max(found)


@dataclass(frozen=True)
class DriftAdvice:
    """How samples with times move, how long to keep them, and how long rounds take."""

    moving: DriftSpeed
    keeping: RetentionChoice
    arrivals: Arrivals

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        moving, keeping, own = self.moving, self.keeping, self.keeping.own
        filled = keeping.tried[-1] if keeping.filled and keeping.tried[-1].K != own.K else None
        named = {"this step": own, "Corollary 2's K": filled, "the best step": keeping.best}
        return {
            "q": moving.drift,
            "interval": [moving.low, moving.high],
            "told": moving.told,
            "samples": moving.samples,
            "come_by": self.arrivals.in_a_round(moving.rounds),
            "directions": {"moving": moving.moving, "of": len(moving.h)},
            "K": own.K,
            "K_interval": list(keeping.interval),
            "takes": [self.arrivals.takes(K, moving.rounds) for K in (own.K, *keeping.interval)],
            "takes_by_count": self.arrivals.takes_by_count(own.K, moving.rounds),
            "dated": self.arrivals.dated,
            "choices": [
                {"name": name, "K": one.K, "rate": one.rate, "eta": one.eta, "risk": one.risk}
                for name, one in named.items()
                if one is not None
            ],
            "tried": [{"K": one.K, "risk": one.risk} for one in keeping.tried],
        }


def drift_advice(
    forecaster: StudyForecaster,
    problem: Problem,
    *,
    steps: bool = False,
    progress: Callable[[str, int, int | None], None] = lambda doing, done, of: None,
) -> DriftAdvice | str | None:
    """Of a problem's samples, if they have times; what these do not tell is no reason to predict nothing."""
    study, streams, come = forecaster.study, problem.streams, problem.arrivals
    if come is None:
        return None
    try:
        moving = measure_drift(forecaster.landscape, np.asarray(problem.time), study.rounds)
        progress("how long to keep samples", 0, None)
        pools = 1 if streams.shared else study.clients
        kept = best_retention(forecaster, moving, come.in_a_round(study.rounds), pools, steps=steps)
    except SettingError as reason:
        return str(reason)
    return DriftAdvice(moving, kept, come)


def best_retention(
    forecaster: StudyForecaster,
    moving: DriftSpeed,
    come: float,
    pools: int = 1,
    *,
    steps: bool = False,
) -> RetentionChoice:
    """Where so many samples come by in a round, from `pools` that clients draw from; `steps`: of other sizes, too."""
    study = forecaster.study
    filled = math.ceil(fill_ratio(brief_for(study, forecaster.constants, forecaster.prices).budget))
    walking = _ConstantBehindWalk(forecaster, moving, come, pools)
    ladder = _ladder(min(filled, study.rounds))
    found = RetentionChoice(
        tuple(walking.with_settings((K, study.eta) for K in ladder)), filled=filled <= study.rounds
    )
    if not found.tried:
        raise SettingError(
            "how long to keep samples is not told, for in some rounds there are none: take a larger budget"
        )
    if not steps:
        return found
    sizes = [1 / max(moving.h) / 2**k for k in range(HALVINGS + 1)]  # larger ones overshoot
    few = sorted({ladder[round(i * (len(ladder) - 1) / RUNGS)] for i in range(RUNGS + 1)})
    others = walking.with_settings((K, eta) for K in few for eta in sizes)
    return replace(found, best=min([*others, found.own], key=lambda one: one.risk))


def _ladder(most: int) -> list[int]:
    """Every K up to ten, and ever fewer beyond, to the last.

    >>> _ladder(3), _ladder(30)[9:]
    ([1, 2, 3], [10, 13, 17, 22, 28, 30])
    """
    found = list(range(1, min(most, EVERY) + 1))
    while found[-1] < most:
        found.append(min(math.ceil(WIDER * found[-1]), most))
    return found


class _ConstantBehindWalk:
    """Constant admission behind a walk."""

    def __init__(self, forecaster: StudyForecaster, moving: DriftSpeed, come: float, pools: int) -> None:
        patient = forecaster.study.rounds  # a lag may grow for as long
        self.forecaster = replace(
            forecaster, follow_rounds_max=patient, accuracy=Accuracy.SEARCH, follow_lag=True
        )
        self.come, self.pools = come, pools
        self.drifts = (moving.drift, moving.low, moving.high)
        land = forecaster.landscape
        walk = np.zeros(len(land.size))
        np.add.at(walk, list(moving.lumps), np.array(moving.shares) * np.array(moving.variance))
        self.cost = 0.5 * (land.curvature + land.multiplier).cpu().numpy() * walk  # of a lag of 1 where q = 1

    def with_settings(self, settings: Iterable[tuple[int, float]]) -> list[RetentionRisk]:
        """With these K and step sizes, but for those that leave clients without samples in some rounds."""
        given, study = list(settings), self.forecaster.study
        names = [PolicyName("constant").having(K=K, eta=eta) for K, eta in given]
        asked = replace(study, policies=tuple(names), seeds=1)
        made = replace(self.forecaster, study=asked, policies=None).forecasts()
        kept = []
        for (K, eta), one in zip(given, made.values(), strict=True):
            if one.lag is None:
                continue
            noise = one.cumulative - float(one.path[:-1].sum())
            rest = (one.cumulative + self._more_noise(one.rate) * noise) / study.rounds
            lag = float(self.cost @ one.lag)
            risk, *ends = (rest + q * lag for q in self.drifts)
            kept.append(RetentionRisk(K, eta, one.rate, risk, (ends[0], ends[1])))
        return kept

    def _more_noise(self, rate: float) -> float:
        """What is added to noise since some are drawn twice, or by two clients."""
        study = self.forecaster.study
        once = 1 if study.replacement else rate / study.clients
        return max(rate / self.pools - once, 0) / max(self.come / self.pools, 1)
