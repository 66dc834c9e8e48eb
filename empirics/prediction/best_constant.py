"""Which retention, rate and step size to take: constant admission with the least predicted excess risk.

For quadratic losses and steps that do not overshoot the best K is one of the two whole numbers next to x = c̄ΣB/C (the
claim law:reuse/best-k); for curved ones, and over a finite horizon, the neighbours and twice and half of it are looked
at as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from empirics.control.schedule import brief_for
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.forecast import Forecast
from empirics.settings.policy_name import PolicyName
from theory.design.offline import fill_ratio

__all__ = ["OBJECTIVES", "OWN", "SEARCH_ROUNDS_MAX", "Best", "best_constant", "gain", "having"]

OBJECTIVES: dict[str, Callable[[Forecast], float]] = {
    "cumulative": lambda found: found.cumulative,
    "final": lambda found: float(found.risk[-1]),
    "floor": lambda found: found.noise_floor,
}
OWN = "constant"  # admission, whose settings are searched
SPAN, FINE = 4, 2  # doublings of the step size to either side, and points within a doubling at the end
SMALLEST = 1e-14
TURNS = 5
SEARCH_ROUNDS_MAX = (
    4096  # rounds that are followed while it is searched; what was chosen is looked at for longer
)
WIDER = 4  # times that doublings are added where the best step size is the smallest or the largest


@dataclass(frozen=True)
class Best:
    """The best settings found for constant admission, their forecast, and all that were tried, with their value."""

    K: int
    eta: float
    steps: int
    forecast: Forecast
    value: float
    tried: tuple[dict[str, Any], ...]

    @property
    def name(self) -> PolicyName:
        """As a study names it."""
        return having(self.K, self.eta, self.steps)

    @property
    def rate(self) -> float:
        """Samples per round."""
        return self.forecast.rate

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        chosen = {"K": self.K, "rate": self.rate, "eta": self.eta, "steps": self.steps}
        tried = [{k: None if v == math.inf else v for k, v in one.items()} for one in self.tried]
        return chosen | {"predicted": self.forecast.document(), "tried": tried}


def having(K: int, eta: float, steps: int) -> PolicyName:
    """The name of constant admission with these settings."""
    return PolicyName(OWN).having(K=K, eta=eta, steps=steps)


def gain(objective: str, own: Forecast, best: Forecast) -> float:
    """The part by which the best one's objective is below the study's own."""
    value = OBJECTIVES[objective]
    return 1 - value(best) / value(own)


def best_constant(
    forecaster: StudyForecaster,
    *,
    objective: str = "cumulative",
    eta: bool = True,
    steps: Sequence[int] = (),
    progress: Callable[[int], None] = lambda done: None,
) -> Best:
    """Searches K, then the step size and E if asked for, then both in turn; `progress` is told what has been tried.

    In the long run, the objective `floor`, the smallest step size is the best: that one is not searched for.
    """
    found = _Search(forecaster, OBJECTIVES[objective], progress)
    study = forecaster.study
    eta = eta and objective != "floor"
    best = found.among(found.retentions(), [study.eta], [study.steps])
    if eta or steps:
        counts = [study.steps, *steps]
        best = found.sizes(best[0], counts) if eta else found.among([best[0]], [study.eta], counts)
        for _ in range(TURNS):
            before, best = best, found.among(found.retentions(), [best[1]], [best[2]])
            if best == before or not eta:
                break
            best = found.near(best)
    K, size, count = best
    forecast = found.forecasts([best], forecaster.follow_rounds_max)[best]
    found.known[best] = forecast
    tried = tuple(
        {"K": k, "eta": e, "steps": s, "rate": one.rate, objective: found.value(one)}
        for (k, e, s), one in found.known.items()
    )
    return Best(K, size, count, forecast, found.value(forecast), tried)


class _Search:
    """Forecasts of constant admission, each made once."""

    def __init__(
        self,
        forecaster: StudyForecaster,
        objective: Callable[[Forecast], float],
        progress: Callable[[int], None],
    ) -> None:
        self.forecaster, self.objective, self.progress = forecaster, objective, progress
        self.known: dict[tuple[int, float, int], Forecast] = {}

    def value(self, forecast: Forecast) -> float:
        """What is to be small; infinite where descent diverges."""
        value = self.objective(forecast)
        return value if math.isfinite(value) else math.inf

    def retentions(self) -> list[int]:
        """The whole numbers next to x, their neighbours, half and twice."""
        study = self.forecaster.study
        x = fill_ratio(brief_for(study, self.forecaster.constants, self.forecaster.prices).budget)
        low, high = math.floor(x), math.ceil(x)
        wanted = {low // 2, low - 1, low, high, high + 1, 2 * high}
        return sorted({min(max(int(K), 1), study.rounds) for K in wanted})

    def sizes(self, K: int, counts: Sequence[int]) -> tuple[int, float, int]:
        """The best step size: doublings around the study's own, more of them at either end, then what lies near."""
        begin = min(self.forecaster.study.eta, 1 / self.steepest)
        low, high = -SPAN, SPAN
        for _ in range(WIDER):
            tried = self.stable(begin * 2.0**k for k in range(low, high + 1))
            best = self.among([K], tried, counts)
            if best[1] not in (tried[0], tried[-1]):
                break
            low, high = (low - SPAN, high) if best[1] == tried[0] else (low, high + SPAN)
        return self.near(best)

    def near(self, best: tuple[int, float, int]) -> tuple[int, float, int]:
        """The best of the step sizes within a doubling."""
        near = self.stable(best[1] * 2.0 ** (k / FINE) for k in range(-FINE, FINE + 1))
        return self.among([best[0]], near, [best[2]])

    @property
    def steepest(self) -> float:
        """L: no average of losses diverges at a step size below 2/L."""
        L = self.forecaster.constants.L
        assert L is not None
        return float(L)

    def stable(self, sizes: Iterable[float]) -> list[float]:
        """Those below 2/L that a study may have."""
        return [size for size in sizes if size > SMALLEST and size * self.steepest < 2]

    def among(
        self, retentions: Sequence[int], sizes: Sequence[float], steps: Sequence[int]
    ) -> tuple[int, float, int]:
        """The best of all combinations."""
        wanted = list(
            dict.fromkeys((K, size, count) for K in retentions for size in sizes for count in steps)
        )
        self.known.update(self.forecasts([one for one in wanted if one not in self.known]))
        self.progress(len(self.known))
        return min(wanted, key=lambda one: self.value(self.known[one]))

    def forecasts(
        self, settings: Sequence[tuple[int, float, int]], rounds_max: int = SEARCH_ROUNDS_MAX
    ) -> dict[tuple[int, float, int], Forecast]:
        """Of constant admission with these K, step sizes and numbers of steps, all at once."""
        if not settings:
            return {}
        names = [having(*one) for one in settings]
        study = replace(self.forecaster.study, policies=tuple(names))
        made = replace(self.forecaster, study=study, policies=None, follow_rounds_max=rounds_max).forecasts()
        return dict(zip(settings, made.values(), strict=True))
