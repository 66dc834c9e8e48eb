"""The local steps of a round along the mean path of every column, with samples observed or as last observed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from empirics.prediction.accuracy import Accuracy
from empirics.prediction.cuda_graph import GraphReplay
from empirics.prediction.local_steps import AgeClass, LocalSteps
from empirics.prediction.observation import Observer
from empirics.prediction.residuals import chances
from empirics.training.model import Descent

__all__ = ["MeanPath", "ObservedRound"]

LINEAR_PARAMETERS_MAX = 200  # of several classes: beyond, the Hessian's eigenvectors cost more than they save


@dataclass(frozen=True)
class ObservedRound:
    """A round in which samples are observed."""

    theta: Tensor  # after the round, (columns, parameters)
    local: LocalSteps
    corrections: Tensor  # residuals shown less probabilities, at each observed step
    latest: list[int]  # index of the last correction, at each local step
    fitted: Tensor  # largest share of a fresh residual that was fitted, (columns,)
    slopes: list[tuple[Tensor, Tensor]]  # θ before each local step, and the gradient there
    hessian: Tensor | None  # before the first step, if gradients are linear in θ from here on


class MeanPath:
    """E local steps of all columns. If `linear`, gradients are linear in θ between observations."""

    def __init__(self, observer: Observer, descent: Descent, accuracy: Accuracy) -> None:
        self.observer, self.descent, self.accuracy = observer, descent, accuracy
        land = observer.landscape
        self.model, self.still = land.model, land.parts is None
        few = self.model.outputs == 1 or self.model.size <= LINEAR_PARAMETERS_MAX
        self.linear = accuracy is not Accuracy.FULL and self.still and few
        self._observing, self._repeating = (GraphReplay(recorded=self.still) for _ in range(2))

    def observe(self, t: int, ages: tuple[int, ...], **given: Tensor) -> ObservedRound:
        """Round t from θ, with observations. On a GPU the next call overwrites the result.

        Given are `theta`; `share`, one sample's share in its client's memory; `scatter` of θ; `weight_n` and `share_n`
        of each age class n; perhaps `eta` of each column, and `missed`, a correction of its gradient.
        """
        steps = tuple(e for e in range(self.descent.steps) if self.accuracy.observes_step(e, t))
        return self._observing(steps, partial(self._observed, ages, steps), **given)

    def repeat(self, seen: ObservedRound, **given: Tensor) -> Tensor:
        """θ after a round with the corrections of an observed one, from another θ."""
        function = partial(self._repeated, seen.latest)
        return self._repeating(None, function, corrections=seen.corrections, **given).clone()

    def _observed(
        self,
        ages: tuple[int, ...],
        observed: tuple[int, ...],
        theta: Tensor,
        share: Tensor,
        scatter: Tensor,
        eta: Tensor | None = None,
        missed: Tensor | None = None,
        **of_age: Tensor,
    ) -> ObservedRound:
        classes = {
            n: AgeClass(of_age[f"weight_{n}"], of_age[f"share_{n}"], used=n > 0, recent=n < 2) for n in ages
        }
        descent = self.descent if eta is None else replace(self.descent, eta=eta)
        local = LocalSteps(share, scatter, descent, classes)
        latest = [sum(one <= e for one in observed) - 1 for e in range(descent.steps)]
        corrections: list[Tensor] = []
        slopes: list[tuple[Tensor, Tensor]] = []
        hessians: list[Tensor] = []
        fitted = [theta.new_zeros(len(theta))]

        def correction(e: int, logits: Tensor, q: Tensor) -> Tensor:
            if self.linear and e == 0:
                hessians.append(self.model.hessians(self.observer.p.expand(q.shape[:2]), q))
            if e in observed:
                following = next((one for one in observed if one > e), descent.steps)
                shown = self.observer.residuals(local, logits, q, following - e) - q
                corrections.append(self.observer.p[..., None] * shown if self.still else shown)
                fitted.extend(1 - age.damping[:, 0] for age in classes.values() if not age.used)
            local.advance()
            return corrections[-1]

        after = self._steps(theta, correction, descent.eta, missed, slopes if self.linear else None)
        for age in classes.values():  # needed only by later steps of the round
            age.residuals.clear()
            age.responses.clear()
        return ObservedRound(
            theta=after,
            local=local,
            corrections=torch.stack(corrections),
            latest=latest,
            fitted=torch.stack(fitted).amax(0),
            slopes=slopes,
            hessian=hessians[0] if hessians else None,
        )

    def _repeated(
        self,
        latest: list[int],
        corrections: Tensor,
        theta: Tensor,
        eta: Tensor | None = None,
        missed: Tensor | None = None,
    ) -> Tensor:
        each = corrections.unbind()
        size = self.descent.eta if eta is None else eta
        return self._steps(theta, lambda e, logits, q: each[latest[e]], size, missed)

    def _steps(
        self,
        theta: Tensor,
        correction: Callable[[int, Tensor, Tensor], Tensor],
        eta: Tensor | float,
        missed: Tensor | None,
        slopes: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """θ after E local steps; `correction` turns probabilities into the residuals that samples show."""
        model, p, velocity = self.model, self.observer.p[..., None], torch.zeros_like(theta)
        for e in range(self.descent.steps):
            logits = model.logits(theta, model.population.x)
            q = chances(logits)
            turn = correction(e, logits, q)
            shown = torch.addcmul(turn, p, q) if self.still else p * (turn + q)
            gradient = model.weighted_inputs(shown)
            if missed is not None:
                gradient = gradient + missed
            if slopes is not None:
                slopes.append((theta, gradient))
            velocity = self.descent.velocity(e, velocity, gradient)
            theta = theta - eta * velocity
        return theta
