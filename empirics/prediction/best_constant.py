"""Constant admission with the least predicted excess risk: its retention, rate, step size and local steps.

For quadratic losses and steps that do not overshoot, the best K is one of the two integers next to x = c̄ΣB/C (claim
law:reuse/best-k). For curved losses and finite horizons the neighbours, half and twice are tried too.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from empirics.prediction.forecast import Forecast
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.policy_name import PolicyName
from theory.design.offline import fill_ratio

__all__ = ["OBJECTIVES", "OWN", "SEARCH_ROUNDS_MAX", "BestConstant", "best_constant", "constant_name", "gain"]

OBJECTIVES: dict[str, Callable[[Forecast], float]] = {
    "cumulative": lambda found: found.cumulative,
    "final": lambda found: float(found.risk[-1]),
    "floor": lambda found: found.noise_floor,
}
OWN = "constant"  # the policy whose settings are searched
STEP_SIZE_DOUBLINGS = 4  # to either side of the first step size
STEP_SIZES_PER_DOUBLING = 2  # near the best one
STEP_SIZE_MIN = 1e-14
WIDENINGS_MAX = 4  # times that doublings are added where the best step size is the smallest or the largest
TURNS_MAX = 5  # of searching K and the step size in turn
SEARCH_ROUNDS_MAX = 4096  # rounds followed in a search; the best is then followed for longer
Setting = tuple[int, float, int]  # K, step size, local steps


@dataclass(frozen=True)
class BestConstant:
    """The best settings found for constant admission, their forecast, and all that were tried with their values."""

    K: int
    eta: float
    steps: int
    forecast: Forecast
    value: float
    tried: tuple[dict[str, Any], ...]

    @property
    def name(self) -> PolicyName:
        """The policy's name in a study."""
        return constant_name(self.K, self.eta, self.steps)

    @property
    def rate(self) -> float:
        """Samples per round."""
        return self.forecast.rate

    def document(self) -> dict[str, Any]:
        chosen = {"K": self.K, "rate": self.rate, "eta": self.eta, "steps": self.steps}
        tried = [{k: None if v == math.inf else v for k, v in one.items()} for one in self.tried]
        return chosen | {"predicted": self.forecast.document(), "tried": tried}


def constant_name(K: int, eta: float, steps: int) -> PolicyName:
    """The name of constant admission with these settings."""
    return PolicyName(OWN).having(K=K, eta=eta, steps=steps)


def gain(objective: str, own: Forecast, best: Forecast) -> float:
    """Share by which the best objective is below the study's own."""
    value = OBJECTIVES[objective]
    return 1 - value(best) / value(own)


def best_constant(
    forecaster: StudyForecaster,
    *,
    objective: str = "cumulative",
    eta: bool = True,
    steps: Sequence[int] = (),
    progress: Callable[[int], None] = lambda tried: None,
) -> BestConstant:
    """Search K, then the step size (if `eta`) and E (if `steps`), then K and the step size in turn.

    For the objective `floor` the smallest step size is always the best, and is not searched. `progress` is called with
    the number of settings tried.
    """
    found = _Search(forecaster, OBJECTIVES[objective], progress)
    study = forecaster.study
    eta = eta and objective != "floor"
    best = found.among(found.retentions(), [study.eta], [study.steps])
    if eta or steps:
        counts = [study.steps, *steps]
        best = found.step_size(best[0], counts) if eta else found.among([best[0]], [study.eta], counts)
        for _ in range(TURNS_MAX):
            before, best = best, found.among(found.retentions(), [best[1]], [best[2]])
            if best == before or not eta:
                break
            best = found.near(best)
    forecast = found.forecasts([best], forecaster.follow_rounds_max)[best]
    found.known[best] = forecast
    tried = tuple(
        {"K": k, "eta": e, "steps": s, "rate": one.rate, objective: found.value(one)}
        for (k, e, s), one in found.known.items()
    )
    return BestConstant(*best, forecast, found.value(forecast), tried)


class _Search:
    """Forecasts of constant admission, each made once."""

    def __init__(
        self,
        forecaster: StudyForecaster,
        objective: Callable[[Forecast], float],
        progress: Callable[[int], None],
    ) -> None:
        self.forecaster, self.objective, self.progress = forecaster, objective, progress
        self.known: dict[Setting, Forecast] = {}

    def value(self, forecast: Forecast) -> float:
        """The objective; infinite if descent diverges."""
        value = self.objective(forecast)
        return value if math.isfinite(value) else math.inf

    def retentions(self) -> list[int]:
        """The integers next to x, their neighbours, half and twice."""
        study = self.forecaster.study
        x = fill_ratio(self.forecaster.brief.budget)
        low, high = math.floor(x), math.ceil(x)
        rising = low // 2, low - 1, low, high, high + 1, 2 * high
        return list(dict.fromkeys(min(max(int(K), 1), study.rounds) for K in rising))

    def step_size(self, K: int, counts: Sequence[int]) -> Setting:
        """The best step size: doublings around the study's own, more of them at either end, then what lies near."""
        begin = min(self.forecaster.study.eta, 1 / self.forecaster.smoothness)
        low, high = -STEP_SIZE_DOUBLINGS, STEP_SIZE_DOUBLINGS
        for _ in range(WIDENINGS_MAX):
            tried = self.stable(begin * 2.0**k for k in range(low, high + 1))
            best = self.among([K], tried, counts)
            if best[1] not in (tried[0], tried[-1]):
                break
            if best[1] == tried[0]:
                low -= STEP_SIZE_DOUBLINGS
            else:
                high += STEP_SIZE_DOUBLINGS
        return self.near(best)

    def near(self, best: Setting) -> Setting:
        """The best of the step sizes within a doubling."""
        fine = STEP_SIZES_PER_DOUBLING
        near = self.stable(best[1] * 2.0 ** (k / fine) for k in range(-fine, fine + 1))
        return self.among([best[0]], near, [best[2]])

    def stable(self, sizes: Iterable[float]) -> list[float]:
        """Step sizes below 2/L, at which no average of losses diverges."""
        return [size for size in sizes if size > STEP_SIZE_MIN and size * self.forecaster.smoothness < 2]

    def among(self, retentions: Sequence[int], sizes: Sequence[float], steps: Sequence[int]) -> Setting:
        """The best of all combinations."""
        each = ((K, size, count) for K in retentions for size in sizes for count in steps)
        wanted = list(dict.fromkeys(each))
        self.known.update(self.forecasts([one for one in wanted if one not in self.known]))
        self.progress(len(self.known))
        return min(wanted, key=lambda one: self.value(self.known[one]))

    def forecasts(
        self, settings: Sequence[Setting], rounds_max: int = SEARCH_ROUNDS_MAX
    ) -> dict[Setting, Forecast]:
        """Forecasts of constant admission with these settings, all at once."""
        if not settings:
            return {}
        names = [constant_name(*one) for one in settings]
        asked = self.forecaster.for_policies(names, follow_rounds_max=rounds_max)
        return dict(zip(settings, asked.forecasts().values(), strict=True))
