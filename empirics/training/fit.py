"""The choices of `--fit`: the ball, the scale of features and the step size, from a pilot sample of the data.

On a small ball nothing sharp can be learnt: with inputs of norm 1 a logit is at most the radius. And where one feature
is a thousand times as large as another, nothing is learnt from the other. A logistic regression is fitted to one part
of a pilot sample on balls of doubled radius, one after the other, and its loss is measured on the other part: the
smallest ball that is as good as the best, within a standard error of the difference or a hundredth, is taken. The same
is done with features that all vary by 1, which are taken where the loss is less by more than that. The steps follow
from the smoothness, which is known: of size 1/L no average of losses is overshot.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from empirics.training.constants import smoothness
from empirics.training.linear import Linear
from empirics.training.problem import Problem, make_problem
from empirics.training.risk import duality_gap, project
from empirics.training.scaling import standardised
from theory.setting import SettingError

__all__ = ["FITTED", "Ball", "BallFit", "fit_ball", "fitted_by", "fitted_study", "why_not"]

FITTED = ("scale", "radius", "eta")  # settings that a pilot may choose
PILOT_SAMPLES_MIN, PILOT_SAMPLES_MAX = 30, 900  # of which a third is held out of the fit
RADIUS_FIRST, RADIUS_DOUBLINGS = 5.0, 7
FIT_GAP_MAX, FIT_STEPS_MAX = 1e-3, 400  # of the loss, and steps to get there
LOSS_SHARE_MAX = 0.01  # of the loss: less is no reason to take a larger ball or another scale
ACCURACY_COST_MAX = 0.02  # that a ball may cost unnoticed
ACCURACY_COST_SAMPLES = (
    12  # over the samples, of which a third is held out: two standard errors of such a difference
)
SAMPLES_AT_ONCE = 4096  # samples at a time


@dataclass(frozen=True)
class Ball:
    """One that was tried, with loss and accuracy on held-out samples."""

    scale: str
    radius: float
    loss: float
    accuracy: float

    def __str__(self) -> str:
        return f"radius {self.radius:g} and scale {self.scale}"


@dataclass(frozen=True)
class BallFit:
    """Balls that were tried: the study's own is `given`, the best of all `best`, and of what was free `chosen`."""

    tried: tuple[Ball, ...]
    given: Ball
    chosen: Ball
    best: Ball
    L: float  # of the chosen one
    eta: float
    steps: str  # why of this size, where that was chosen
    samples: int
    free: frozenset[str]

    def stepping(self, study: Study, free: Collection[str]) -> Self:
        """The fit for a study with another learner: its step size, if that is free."""
        eta, why = study.eta, ""
        if "eta" in free:
            eta, why = _digits(1 / self.L), f"steps of size 1/L = {1 / self.L:.3g}"
            if study.decay is not None:
                eta = min(study.eta, _digits(2 / self.L))
                why = f"steps that fall from {eta:.3g}, at most 2/L"
        return replace(self, eta=eta, steps=why, free=frozenset(free))

    def applied(self, study: Study) -> Study:
        return replace(study, scale=self.chosen.scale, radius=self.chosen.radius, eta=self.eta)

    @property
    def words(self) -> str:
        """The choice and its reason, in a sentence."""
        chosen, given = self.chosen, self.given
        features = "standard (all features vary by 1)" if chosen.scale == "standard" else chosen.scale
        there = "" if given == chosen else f", {given.accuracy:.0%} with {given}"
        smallest = "the smallest ball whose loss on held-out samples of {:,} is that of the best"
        given_radius = "which was given; of held-out samples of {:,} the loss is the least"
        why = (smallest if "radius" in self.free else given_radius).format(self.samples)
        return (
            f"scale {features} and radius {chosen.radius:g}, {why} ({chosen.accuracy:.0%} of them right{there})"
            f"{self.steps and f', and {self.steps}'}"
        )

    @property
    def warning(self) -> str | None:
        """A warning if the ball costs accuracy, or if a ball larger than all tried might be better."""
        chosen, best = self.chosen, self.best
        if chosen.accuracy < best.accuracy - max(ACCURACY_COST_MAX, ACCURACY_COST_SAMPLES / self.samples):
            return (
                f"{chosen} cost accuracy, so hard does the ball bind: on held-out samples of a pilot "
                f"{chosen.accuracy:.0%} are right with these, {best.accuracy:.0%} with {best}; --fit takes what is not "
                "given by an option"
            )
        radii = [one.radius for one in self.tried if one.scale == chosen.scale]
        if "radius" in self.free and chosen.radius == radii[-1] > RADIUS_FIRST * 2 ** (RADIUS_DOUBLINGS - 2):
            return f"the ball of radius {chosen.radius:g} still binds, and no larger one was tried: give --radius"
        return None


def fit_ball(problem: Problem, free: Collection[str] = FITTED) -> BallFit:
    """Choose by the first pilot samples of the population, in an order that the data alone decide.

    Of scale, radius and eta what is not `free` stays as the study has it.
    """
    study, model = problem.study, problem.model
    if not isinstance(model, Linear) or study.radius is None:
        raise SettingError("a ball is fitted for logistic regression with a radius alone")
    drawn = torch.nonzero(problem.population.support)[:, 0]
    order = torch.randperm(len(drawn), generator=torch.Generator().manual_seed(0))[:PILOT_SAMPLES_MAX]
    pilot = drawn[order.to(drawn.device)]
    if len(pilot) < PILOT_SAMPLES_MIN:
        raise SettingError(f"{len(pilot)} samples choose no ball: it takes {PILOT_SAMPLES_MIN}")
    losses: dict[Ball, Tensor] = {}
    for scale in ("unit", "standard") if study.scale == "unit" else (study.scale,):
        x = problem.population.x if scale == study.scale else _standard(problem.population.x)
        losses |= _on_balls(problem, x, pilot, scale, study.radius)
    given = next(one for one in losses if (one.scale, one.radius) == (study.scale, study.radius))
    best = _chosen(losses, list(losses), study.scale)
    fixed = [name for name in ("scale", "radius") if name not in free]
    allowed = [one for one in losses if all(getattr(one, name) == getattr(study, name) for name in fixed)]
    chosen = _chosen(losses, allowed, study.scale)
    L = 0.25 if model.outputs == 1 else 0.5  # of standard features, the longest of which has norm 1
    L = smoothness(problem, model) if chosen.scale == study.scale else L
    found = BallFit(tuple(losses), given, chosen, best, L, study.eta, "", len(pilot), frozenset(free))
    return found.stepping(study, free)


def fitted_by(study: Study) -> tuple[str, ...]:
    """The settings of a study that a pilot may choose: without the step size, if its learner has none."""
    return tuple(name for name in FITTED if name != "eta" or study.learner == "descent")


def why_not(problem: Problem) -> str | None:
    """Why nothing is chosen of these data without being asked for."""
    if problem.time is not None or problem.study.drift.kind != "none":
        return "the samples may move in time"
    count = int(problem.population.support.sum())
    return f"{count} samples are too few" if count < PILOT_SAMPLES_MIN else None


def fitted_study(
    dataset: Any, *, preset: str = "own", data_dir: Path | None = None, **settings: Any
) -> tuple[Study, str]:
    """The study with these settings whose ball, scale and steps, as far as they are not among them, suit the data.

    Beside it, a sentence that says what was chosen and why. `dataset` is what `run_study` takes. Samples with times,
    which may be a stream that moves, keep the preset's, as does a study that drifts, and fewer than 30.
    """
    named = {"dataset": dataset} if isinstance(dataset, str) else {}
    study = Study.from_document({**named, **settings}, replace(PRESETS[preset], labels="classes"))
    problem = make_problem(study, "cpu", data_dir, dataset=dataset)
    if reason := why_not(problem):
        return study, f"nothing was chosen: {reason}"
    found = fit_ball(problem, [name for name in fitted_by(study) if name not in settings])
    return found.applied(study), "; ".join(filter(None, [found.words, found.warning]))


def _standard(x: Tensor) -> Tensor:
    """Inputs as a study has them with this scale, from those of another, whose last feature is constant."""
    features = x[:, :-1].numpy()
    less, over = standardised(features)
    parts = [
        (features[k : k + SAMPLES_AT_ONCE] - less) / over for k in range(0, len(features), SAMPLES_AT_ONCE)
    ]
    longest = max(float(np.linalg.norm(part, axis=1).max()) for part in parts) or 1.0
    scaled = torch.from_numpy(np.concatenate(parts) / longest)
    return torch.cat([scaled, scaled.new_ones(len(scaled), 1)], dim=1) / math.sqrt(2)


def _digits(value: float) -> float:
    """The number rounded to few digits: 2 for 2.0000000000000004."""
    return float(f"{value:.6g}")


def _on_balls(problem: Problem, x: Tensor, pilot: Tensor, scale: str, own: float) -> dict[Ball, Tensor]:
    """Losses on held-out samples, ball by ball, of one scale."""
    population = problem.population
    left_out, fitted = pilot[::3], torch.cat([pilot[1::3], pilot[2::3]])
    weights = torch.full((1, len(fitted)), 1 / len(fitted), dtype=torch.float64)
    tested = replace(
        population, test_x=x[left_out].double(), test_y=population.y[left_out], test_weights=None
    )
    part = Linear(replace(tested, x=x[fitted].double(), y=population.y[fitted], weights=weights))
    theta, step = part.start(1), 4 / float(part.square_norms.max()) / min(part.outputs, 2)
    found: dict[Ball, Tensor] = {}
    for radius in sorted({own, *(RADIUS_FIRST * 2**k for k in range(RADIUS_DOUBLINGS))}):
        theta = _nearly_least(part, radius, theta, step)
        logits = part.logits(theta, x[left_out].double())
        losses = part.losses(logits, population.y[left_out])[:, 0]
        before = [one for ball, one in found.items() if ball.radius <= radius / 2]
        found[Ball(scale, radius, float(losses.mean()), float(part.accuracy(theta)))] = losses
        if radius >= own and before and _as_good(before[-1], losses):
            break  # larger ones fit the samples that they see
    return found


def _chosen(losses: dict[Ball, Tensor], among: list[Ball], own: str) -> Ball:
    """The smallest ball of each scale that is as good as its best; another scale than the study's if better."""
    bests = []
    for scale in dict.fromkeys([own, *(one.scale for one in among)]):
        there = [one for one in among if one.scale == scale]
        if there:
            best = min(there, key=lambda one: one.loss)
            bests.append((best, next(one for one in there if _as_good(losses[one], losses[best]))))
    (first, found), *others = bests
    for best, smallest in others:
        if not _as_good(losses[first], losses[best]):
            found = smallest
    return found


def _nearly_least(model: Linear, radius: float, theta: Tensor, step: float) -> Tensor:
    """Nearly the minimiser on a ball, by accelerated descent from that on a smaller ball."""
    ahead = theta
    for k in range(FIT_STEPS_MAX):
        _, gradient = model.risk_and_gradient(ahead)
        if duality_gap(ahead, gradient, radius) <= FIT_GAP_MAX:
            return ahead
        moved = project(ahead - step * gradient, radius)
        ahead, theta = project(moved + k / (k + 3) * (moved - theta), radius), moved
    return theta


def _as_good(losses: Tensor, least: Tensor) -> bool:
    """Within a standard error of the difference, sample by sample, or by so little that it does not matter."""
    apart = losses - least
    error = float(apart.std()) / math.sqrt(len(apart))
    return float(apart.mean()) <= max(error, LOSS_SHARE_MAX * float(least.mean()))
