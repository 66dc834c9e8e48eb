"""The ball and the step size that suit data of one's own, from a pilot sample of it.

On a small ball nothing sharp can be learnt: with inputs of norm 1 a logit is at most the radius. A logistic regression
is fitted to one part of a pilot sample on balls of doubled radius, one after the other, and its loss is measured on the
other part: the smallest ball that is as good as the best, within a standard error of the difference, is taken. The
steps follow from the smoothness, which is known: of size 1/L no average of losses is overshot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from empirics.training.constants import smoothness
from empirics.training.linear import Linear
from empirics.training.problem import Problem
from empirics.training.risk import duality_gap, project
from theory.setting import SettingError

__all__ = ["BallFit", "fit_ball"]

PILOT = 900  # samples, of which a third is left out of the fit
FIRST, DOUBLINGS = 5.0, 7
NEARLY, MOST_STEPS = 1e-3, 400  # of the loss, and to get there
CLOSE = 0.02  # of accuracy, that a ball may cost unnoticed


@dataclass(frozen=True)
class BallFit:
    """Balls that were tried, with loss and accuracy on held-out samples; the radius that suits, and the step size 1/L.

    `given` is the study's own radius, which is one of those that were tried.
    """

    radii: tuple[float, ...]
    losses: tuple[float, ...]
    accuracies: tuple[float, ...]
    radius: float
    eta: float
    given: float

    def accuracy(self, radius: float) -> float:
        """Held out."""
        return self.accuracies[self.radii.index(radius)]

    @property
    def chosen(self) -> str:
        """What was chosen, and why, in a sentence."""
        return (
            f"radius {self.radius:g}, the smallest ball whose loss on held-out samples is that of the best "
            f"({self.accuracy(self.radius):.0%} of them right, {self.accuracy(self.given):.0%} with {self.given:g}), "
            f"and steps of size 1/L = {self.eta:.3g}"
        )

    @property
    def warning(self) -> str | None:
        """That the study's own ball binds, if it costs accuracy."""
        here, there = self.accuracy(self.given), self.accuracy(self.radius)
        if here >= there - CLOSE:
            return None
        return (
            f"the ball of radius {self.given:g} binds: on held-out samples of a pilot {here:.0%} are right within it, "
            f"{there:.0%} with radius {self.radius:g}; --fit takes that one"
        )


def fit_ball(problem: Problem) -> BallFit:
    """From the first pilot samples of the population in an order that the study's data alone decide."""
    study, model = problem.study, problem.model
    if not isinstance(model, Linear) or study.radius is None:
        raise SettingError("a ball is fitted for logistic regression with a radius alone")
    population = problem.population
    drawn = torch.nonzero(population.support)[:, 0]
    order = torch.randperm(len(drawn), generator=torch.Generator().manual_seed(0))[:PILOT]
    pilot = drawn[order.to(drawn.device)]
    left_out, fitted = pilot[::3], torch.cat([pilot[1::3], pilot[2::3]])
    x, y = population.x[fitted].double(), population.y[fitted]
    weights = x.new_full((1, len(fitted)), 1 / len(fitted))
    part = Linear(replace(population, x=x, y=y, weights=weights))
    theta, step = part.start(1), 1 / smoothness(problem, model)
    found: dict[float, tuple[Tensor, float]] = {}
    for radius in sorted({study.radius, *(FIRST * 2**k for k in range(DOUBLINGS))}):
        theta = _nearly_least(part, radius, theta, step)
        logits = part.logits(theta, population.x[left_out].double())
        losses = part.losses(logits, population.y[left_out])[:, 0]
        right = _classes(logits[:, 0]) == population.y[left_out]
        found[radius] = losses, float(right.double().mean())
        earlier = [losses for one, (losses, _) in found.items() if one < radius]
        if radius >= study.radius and earlier and _as_good(earlier[-1], losses):
            break  # larger ones fit the samples that they see
    best = min(found, key=lambda radius: float(found[radius][0].mean()))
    radius = next(one for one in found if _as_good(found[one][0], found[best][0]))
    return BallFit(
        tuple(found),
        tuple(float(losses.mean()) for losses, _ in found.values()),
        tuple(right for _, right in found.values()),
        radius,
        step,
        study.radius,
    )


def _nearly_least(model: Linear, radius: float, theta: Tensor, step: float) -> Tensor:
    """By accelerated descent from what was least on a smaller ball: a third digit of the loss decides nothing here."""
    ahead = theta
    for k in range(MOST_STEPS):
        _, gradient = model.risk_and_gradient(ahead)
        if duality_gap(ahead, gradient, radius) <= NEARLY:
            return ahead
        moved = project(ahead - step * gradient, radius)
        ahead, theta = project(moved + k / (k + 3) * (moved - theta), radius), moved
    return theta


def _as_good(losses: Tensor, least: Tensor) -> bool:
    """Within a standard error of the difference, sample by sample."""
    apart = losses - least
    return float(apart.mean()) <= float(apart.std()) / math.sqrt(len(apart))


def _classes(logits: Tensor) -> Tensor:
    return (logits[:, 0] > 0).long() if logits.shape[1] == 1 else logits.argmax(1)
