"""Which retention, rate and step size to take: constant admission with the least predicted excess risk.

For quadratic losses the best K is one of the two whole numbers next to x = c̄ΣB/C (the claim law:reuse/best-k); for
curved ones, and over a finite horizon, the neighbours and twice and half of it are looked at as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from empirics.control.prices import make_prices
from empirics.prediction.forecast import Forecast, Outlook
from theory.design import fill_ratio

__all__ = ["OBJECTIVES", "Best", "best_constant"]

OBJECTIVES: dict[str, Callable[[Forecast], float]] = {
    "cumulative": lambda found: found.cumulative,
    "final": lambda found: float(found.risk[-1]),
    "floor": lambda found: found.noise_floor,
}
SPAN, FINE = 4, 2  # doublings of the step size to either side, and points within a doubling at the end


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
    def rate(self) -> float:
        """Samples a round."""
        return self.forecast.rate

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        chosen = {"K": self.K, "rate": self.rate, "eta": self.eta, "steps": self.steps}
        return chosen | {"predicted": self.forecast.document(), "tried": list(self.tried)}


def best_constant(
    outlook: Outlook,
    *,
    objective: str = "cumulative",
    eta: bool = True,
    steps: Sequence[int] = (),
    progress: Callable[[int], None] = lambda done: None,
) -> Best:
    """Searches K, then the step size and E if asked for, then K again; `progress` is told what has been tried."""
    found = _Search(outlook, OBJECTIVES[objective], progress)
    study = outlook.study
    best = found.among(found.retentions(), [study.eta], [study.steps])
    if eta or steps:
        wider = [study.steps, *steps]
        sizes = [study.eta * 2.0**k for k in range(-SPAN, SPAN + 1)] if eta else [study.eta]
        best = found.among([best[0]], found.stable(sizes), wider)
        if eta:
            near = [best[1] * 2.0 ** (k / FINE) for k in range(1 - FINE, FINE)]
            best = found.among([best[0]], found.stable(near), [best[2]])
        best = found.among(found.retentions(), [best[1]], [best[2]])
    K, size, count = best
    forecast = found.known[best]
    tried = tuple(
        {"K": k, "eta": e, "steps": s, "rate": one.rate, objective: found.value(one)}
        for (k, e, s), one in found.known.items()
    )
    return Best(K, size, count, forecast, found.value(forecast), tried)


class _Search:
    """Forecasts of constant admission, each made once."""

    def __init__(
        self, outlook: Outlook, objective: Callable[[Forecast], float], progress: Callable[[int], None]
    ) -> None:
        self.outlook, self.objective, self.progress = outlook, objective, progress
        self.known: dict[tuple[int, float, int], Forecast] = {}

    def value(self, forecast: Forecast) -> float:
        """What is to be small; infinite where descent diverges."""
        value = self.objective(forecast)
        return value if math.isfinite(value) else math.inf

    def retentions(self) -> list[int]:
        """The whole numbers next to x, their neighbours, half and twice."""
        study = self.outlook.study
        mean = (make_prices(study.cost) if self.outlook.prices is None else self.outlook.prices).mean
        x = fill_ratio(study.theory_budget(mean))
        low, high = math.floor(x), math.ceil(x)
        wanted = {low // 2, low - 1, low, high, high + 1, 2 * high}
        return sorted({min(max(int(K), 1), study.rounds) for K in wanted})

    def stable(self, sizes: Sequence[float]) -> list[float]:
        """Step sizes below 2/L, or the smallest one: no average of losses diverges below that."""
        L = self.outlook.constants.L
        return [size for size in sizes if L is None or size * L < 2] or [min(sizes)]

    def among(
        self, retentions: Sequence[int], sizes: Sequence[float], steps: Sequence[int]
    ) -> tuple[int, float, int]:
        """The best of all combinations."""
        wanted = [(K, size, count) for K in retentions for size in sizes for count in steps]
        fresh = [one for one in dict.fromkeys(wanted) if one not in self.known]
        if fresh:
            names = [f"constant@K={K},eta={size!r},steps={count}" for K, size, count in fresh]
            study = replace(self.outlook.study, policies=tuple(names), seeds=1)
            made = replace(self.outlook, study=study, policies=None).forecasts()
            self.known.update(zip(fresh, made.values(), strict=True))
            self.progress(len(self.known))
        return min(dict.fromkeys(wanted), key=lambda one: self.value(self.known[one]))
