r"""The retention for samples of a drifting population: constant admission as the study has it, at every K.

The cost of a K over the study's rounds is predicted for a population at rest, with the study's own steps, clients and
mean of models. To this is added the lag \(\tfrac12\sum_hhq_h\sum_lW_l^2\) behind a random walk of the measured variance
(`theory.drift.moving_optimum`). And samples in their own order are drawn from those that arrive in a round: r of n are
\(1+(r-1)/n\) times as noisy as r independent ones.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirics.data.dataset import Arrivals
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.drift_speed import DriftSpeed, measure_drift
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.policy_name import PolicyName
from empirics.training.problem import Problem
from theory.design.offline import fill_ratio
from theory.setting import SettingError

__all__ = ["ConstantBehindWalk", "DriftAdvice", "RetentionChoice", "RetentionRisk", "best_retention"]
__all__ += ["drift_advice"]

RETENTIONS_EVERY = 10  # every K up to this one is tried
RETENTION_RATIO = 1.25  # between further K
STEP_SIZE_HALVINGS = 6  # of the largest step size
RETENTIONS_WITH_STEPS = 3  # intervals between the K that are tried with other step sizes


@dataclass(frozen=True)
class RetentionRisk:
    """Constant admission with this K and step size: samples per round, and the excess risk averaged over rounds at the
    measured drift and at both ends of its interval."""

    K: int
    eta: float
    rate: float
    risk: float
    ends: tuple[float, float]


@dataclass(frozen=True)
class RetentionChoice:
    """All K with the study's own step size, the last being Corollary 2's if `filled`; the best of other sizes, if
    tried."""

    tried: tuple[RetentionRisk, ...]
    best: RetentionRisk | None = None
    filled: bool = True

    @property
    def own(self) -> RetentionRisk:
        """The best K with the study's own step size."""
        return min(self.tried, key=lambda one: one.risk)

    @property
    def interval(self) -> tuple[int, int]:
        """Interval of the best K over the drift's interval."""
        found = [self.own.K, *(min(self.tried, key=lambda one: one.ends[k]).K for k in range(2))]
        return min(found), max(found)


@dataclass(frozen=True)
class DriftAdvice:
    """Measured drift of samples with times, how long to keep them, and how long rounds take."""

    speed: DriftSpeed
    retention: RetentionChoice
    arrivals: Arrivals

    def document(self) -> dict[str, Any]:
        speed, choice, own, rounds = self.speed, self.retention, self.retention.own, self.speed.rounds
        filled = choice.tried[-1] if choice.filled and choice.tried[-1].K != own.K else None
        named = {"this step": own, "Corollary 2's K": filled, "the best step": choice.best}
        return {
            "q": speed.drift,
            "interval": [speed.low, speed.high],
            "told": speed.significant,
            "samples": speed.samples,
            "come_by": self.arrivals.in_a_round(rounds),
            "directions": {"moving": speed.moving, "of": len(speed.h)},
            "K": own.K,
            "K_interval": list(choice.interval),
            "takes": [self.arrivals.takes(K, rounds) for K in (own.K, *choice.interval)],
            "takes_by_count": self.arrivals.takes_by_count(own.K, rounds),
            "dated": self.arrivals.dated,
            "choices": [
                {"name": name, "K": one.K, "rate": one.rate, "eta": one.eta, "risk": one.risk}
                for name, one in named.items()
                if one is not None
            ],
            "tried": [{"K": one.K, "risk": one.risk} for one in choice.tried],
        }


def drift_advice(
    forecaster: StudyForecaster,
    problem: Problem,
    *,
    steps: bool = False,
    progress: Callable[[str, int, int | None], None] = lambda doing, done, of: None,
) -> DriftAdvice | str | None:
    """Drift and best retention of a problem's samples, None without times; or the reason why they cannot be measured,
    which does not prevent a prediction. With `steps` other step sizes are tried too."""
    study, streams, arrivals = forecaster.study, problem.streams, problem.arrivals
    if arrivals is None:
        return None
    if study.learner == "information":
        return "how long to keep samples is estimated for local descent: add --learner descent"
    try:
        speed = measure_drift(forecaster.landscape, np.asarray(problem.time), study.rounds)
        progress("how long to keep samples", 0, None)
        pools = 1 if streams.shared else study.clients
        choice = best_retention(forecaster, speed, arrivals.in_a_round(study.rounds), pools, steps=steps)
    except SettingError as reason:
        return str(reason)
    return DriftAdvice(speed, choice, arrivals)


def best_retention(
    forecaster: StudyForecaster, speed: DriftSpeed, arriving: float, pools: int = 1, *, steps: bool = False
) -> RetentionChoice:
    """The best K if `arriving` samples come per round, in `pools` that clients draw from; with `steps` also other step
    sizes."""
    study = forecaster.study
    filled = math.ceil(fill_ratio(forecaster.brief.budget))
    constant = ConstantBehindWalk(forecaster, speed, arriving, pools)
    retentions = _retentions(min(filled, study.rounds))
    tried = tuple(constant.risks((K, study.eta) for K in retentions))
    if not tried:
        raise SettingError("no retention has samples in every round: take a larger budget")
    found = RetentionChoice(tried, filled=filled <= study.rounds)
    if not steps:
        return found
    sizes = [1 / max(speed.h) / 2**k for k in range(STEP_SIZE_HALVINGS + 1)]  # larger ones overshoot
    parts = RETENTIONS_WITH_STEPS
    few = sorted({retentions[round(i * (len(retentions) - 1) / parts)] for i in range(parts + 1)})
    others = constant.risks((K, eta) for K in few for eta in sizes)
    return replace(found, best=min([*others, found.own], key=lambda one: one.risk))


def _retentions(most: int) -> list[int]:
    """Every K up to ten, and then in a geometric sequence to the last.

    >>> _retentions(3), _retentions(30)[9:]
    ([1, 2, 3], [10, 13, 17, 22, 28, 30])
    """
    found = list(range(1, min(most, RETENTIONS_EVERY) + 1))
    while found[-1] < most:
        found.append(min(math.ceil(RETENTION_RATIO * found[-1]), most))
    return found


class ConstantBehindWalk:
    """Risks of constant admission behind an optimum that walks as measured."""

    def __init__(self, forecaster: StudyForecaster, speed: DriftSpeed, arriving: float, pools: int) -> None:
        self.forecaster = replace(
            forecaster,
            follow_rounds_max=forecaster.study.rounds,  # a lag may grow for as long
            accuracy=Accuracy.SEARCH,
            follow_lag=True,
        )
        self.arriving, self.pools = arriving, pools
        self.drifts = (speed.drift, speed.low, speed.high)
        land = forecaster.landscape
        walk = np.zeros(len(land.size))
        np.add.at(walk, list(speed.lumps), np.array(speed.shares) * np.array(speed.variance))
        self.cost = 0.5 * (land.curvature + land.multiplier).cpu().numpy() * walk  # of a lag of 1 if q = 1

    def risks(self, settings: Iterable[tuple[int, float]]) -> list[RetentionRisk]:
        """Risks with these K and step sizes, except those that leave rounds without samples."""
        given, study = list(settings), self.forecaster.study
        names = [PolicyName("constant").having(K=K, eta=eta) for K, eta in given]
        made = self.forecaster.for_policies(names, seeds=1).forecasts()
        found = []
        for (K, eta), one in zip(given, made.values(), strict=True):
            if one.lag is None:
                continue
            noise = one.cumulative - float(one.path[:-1].sum())
            rest = (one.cumulative + self.repeated_noise(one.rate) * noise) / study.rounds
            lag = float(self.cost @ one.lag)
            risk, *ends = (rest + q * lag for q in self.drifts)
            found.append(RetentionRisk(K, eta, one.rate, risk, (ends[0], ends[1])))
        return found

    def repeated_noise(self, rate: float) -> float:
        """Relative increase of noise since some samples are drawn twice, or by two clients."""
        study = self.forecaster.study
        once = 1 if study.replacement else rate / study.clients
        return max(rate / self.pools - once, 0) / max(self.arriving / self.pools, 1)
