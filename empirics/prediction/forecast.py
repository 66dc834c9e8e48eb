"""What is predicted of a policy, with its errors, and where the law was not found to be good."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empirics.prediction.decided_rounds import MOST_PLAYED
from empirics.prediction.subsample import FOLLOWED, KEPT
from empirics.settings.study import Study
from theory.setting import Constants

__all__ = [
    "MOST_FITTED",
    "Forecast",
    "caveats",
    "combined",
    "errors_of",
    "mean_of",
    "standard_error",
    "together",
]

MOST_FITTED = 0.8
NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Forecast:
    """A policy's expected excess risk at θ(1), …, θ(T+1), without the scatter of θ (`path`), and in the long run.

    Of a mean of models and of falling steps, whose noise keeps falling, the long run is the end of the study, and so it
    is where the population moves. All are means over some paths of prices and samples of a large population, and
    `errors` the standard errors of these means, by the names of `document`; None where there was one of each, as where
    prices change nothing.
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
    lag: Floats | None = (
        None  # ΣW² of `theory.drift.moving_optimum`, mean over all rounds, by lump; none if some are idle
    )
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


def mean_of(made: Sequence[Forecast], size: int) -> Forecast:
    """Of what several samples of this size foretell: its error is of the paths of prices, and of the sampling."""
    if len(made) == 1:
        return made[0]
    of_samples = errors_of(np.array([list(one.document().values()) for one in made]).T)
    return Forecast(
        risk=np.mean([one.risk for one in made], axis=0),
        path=np.mean([one.path for one in made], axis=0),
        noise_floor=float(np.mean([one.noise_floor for one in made])),
        rate=made[0].rate,
        played=min(one.played for one in made),
        settled=all(one.settled for one in made),
        fitted=max(one.fitted for one in made),
        errors=together(made[0].errors, of_samples),
        risk_error=combined(made[0].risk_error, standard_error(np.stack([one.risk for one in made], axis=1))),
        sampled=(size,) * len(made),
    )


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


def together(*errors: Mapping[str, float] | None) -> dict[str, float] | None:
    """Of what is independent: the root of the sum of squares."""
    known = [one for one in errors if one is not None]
    return {name: math.hypot(*(one[name] for one in known)) for name in known[0]} if known else None


def combined(first: Floats | None, second: Floats | None) -> Floats | None:
    """The error of what has both, which are independent; either may be none."""
    known = [one for one in (first, second) if one is not None]
    return np.asarray(np.sqrt(sum(np.square(one) for one in known))) if known else None


def errors_of(each: Floats) -> dict[str, float] | None:
    """Standard errors of the means over independent ones, (numbers, …)."""
    found = standard_error(each)
    return None if found is None else dict(zip(NUMBERS, found.tolist(), strict=True))


def standard_error(each: Floats) -> Floats | None:
    """Of the means along the second axis; None of a single one."""
    count = each.shape[1]
    return None if count == 1 else np.asarray(each.std(axis=1, ddof=1) / math.sqrt(count))
