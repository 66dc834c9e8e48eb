"""The forecast of one policy with its standard errors, and caveats where the law is known to be inaccurate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from empirics.prediction.decided_rounds import ROUNDS_FOLLOWED_MAX
from empirics.prediction.memory import Floats
from empirics.prediction.subsample import AXES_SHARE_FOLLOWED, AXES_SHARE_SEEN
from empirics.settings.study import Study

__all__ = ["NUMBERS", "Forecast", "caveats", "combined", "errors_of", "mean_of", "standard_error", "together"]

ROUNDING = 1e-9  # by which a step at the limit and a risk of 0 may miss it
OF_INFORMATION = (
    "a server that adds up information is predicted to be at the lower bound for the samples that each policy buys: "
    "too low where a plane separates the classes, and in the first rounds"
)
NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")


@dataclass(frozen=True)
class Forecast:
    """A policy's expected excess risk at θ(1), …, θ(T+1), the mean path's part of it (`path`), and its long run.

    For means of models, falling steps and drifting populations the long run is the end of the study. All are means over
    price paths and subsamples; `errors` are their standard errors by the names of `document`, None for a single one.
    """

    risk: Floats
    path: Floats
    noise_floor: float
    rate: float  # samples admitted per round, on average
    followed: int  # rounds computed one by one
    settled: bool
    fitted: float  # largest share of a fresh sample's residual that is fitted within a round
    errors: dict[str, float] | None = None
    risk_error: Floats | None = None  # standard error of `risk`
    lag: Floats | None = None  # mean ΣW² of `theory.drift.moving_optimum`, by lump; None with idle rounds
    sampled: tuple[int, ...] = ()  # sizes of the subsamples of a large population

    @property
    def cumulative(self) -> float:
        """Σ over θ(1), …, θ(T)."""
        return float(self.risk[:-1].sum())

    @property
    def path_share(self) -> float:
        """The mean path's share of the cumulative excess risk."""
        return max(float(self.path[:-1].sum()) / self.cumulative, 0.0) if self.cumulative > 0 else 0.0

    @property
    def possible(self) -> bool:
        """False if an excess risk comes out below 0: then the law's terms are far from what they stand for."""
        return not min(self.cumulative, float(self.risk[-1])) < -ROUNDING * float(np.abs(self.risk).max())

    def document(self) -> dict[str, float]:
        return dict(zip(NUMBERS, (self.cumulative, float(self.risk[-1]), self.noise_floor), strict=True))


def mean_of(made: Sequence[Forecast], size: int) -> Forecast:
    """The mean over subsamples of this size; its error combines price paths and subsamples."""
    first, *others = made
    if not others:
        return first
    of_samples = errors_of(np.array([list(one.document().values()) for one in made]).T)
    return Forecast(
        risk=np.mean([one.risk for one in made], axis=0),
        path=np.mean([one.path for one in made], axis=0),
        noise_floor=float(np.mean([one.noise_floor for one in made])),
        rate=first.rate,
        followed=min(one.followed for one in made),
        settled=all(one.settled for one in made),
        fitted=max(one.fitted for one in made),
        errors=together(first.errors, of_samples),
        risk_error=combined(first.risk_error, standard_error(np.stack([one.risk for one in made], axis=1))),
        sampled=(size,) * len(made),
    )


def caveats(study: Study, steepness: float, found: Mapping[str, Forecast]) -> list[str]:
    """Notes where recorded predictions were off (docs/predict.md), and on what was not computed in full.

    `steepness` is the largest curvature at θ = 0; names include a recommended policy, if any.
    """
    if study.learner == "information":
        return [OF_INFORMATION]
    own = {name: study.of_policy(name) for name in found}
    steep = [
        name
        for name, one in own.items()
        if one.steps > 1 and one.eta * steepness > 2 * (1 - one.momentum) * (1 + ROUNDING)
    ]
    again = [name for name, one in own.items() if not one.replacement and one.average != "none"]
    unsettled = [name for name, one in found.items() if one.followed < study.rounds and not one.settled]
    impossible = [name for name, one in found.items() if not one.possible]
    sampled = next((one.sampled for one in found.values() if one.sampled), ())
    notes = {
        f"{len(sampled)} samples of about {max(sampled, default=0):,} stand for the population away from the "
        f"minimiser, and axes that carry {AXES_SHARE_SEEN:.1%} of the inputs for all, {AXES_SHARE_FOLLOWED:.0%} for "
        "mean paths: ± contains what the samples cost, not what the axes do": bool(sampled),
        f"several local steps of {', '.join(steep)} are beyond 2 over the largest curvature at the start: with such "
        "steps cumulative risk was predicted more than a tenth off in nine of ten cases, and up to 44 times too "
        "high": bool(steep),
        f"the predicted excess risk of {', '.join(impossible)} is below 0, which no excess risk is: the law does not "
        "hold there, and its numbers say nothing": bool(impossible),
        "samples are drawn without replacement and taken for independent: final risks of means of models "
        f"({', '.join(again)}) were predicted 1.3 to 3 times too high": bool(again),
        f"{', '.join(unsettled)} had not settled after {ROUNDS_FOLLOWED_MAX:,} rounds: the rest is extrapolated": bool(
            unsettled
        ),
    }
    return [note for note, holds in notes.items() if holds]


def together(*errors: Mapping[str, float] | None) -> dict[str, float] | None:
    """Independent errors of a forecast's numbers: the root of the sum of squares."""
    known = [one for one in errors if one is not None]
    return {name: math.hypot(*(one[name] for one in known)) for name in NUMBERS} if known else None


def combined(first: Floats | None, second: Floats | None) -> Floats | None:
    """Independent errors of curves: the root of the sum of squares; either may be None."""
    known = [one for one in (first, second) if one is not None]
    return np.asarray(np.sqrt(sum(np.square(one) for one in known))) if known else None


def errors_of(each: Floats) -> dict[str, float] | None:
    """Standard errors of the means of independent rows, by the names of `Forecast.document`."""
    found = standard_error(each)
    return None if found is None else dict(zip(NUMBERS, found.tolist(), strict=True))


def standard_error(each: Floats) -> Floats | None:
    """Standard errors of the means along the second axis; None for a single column."""
    count = each.shape[1]
    return None if count == 1 else np.asarray(each.std(axis=1, ddof=1) / math.sqrt(count))
