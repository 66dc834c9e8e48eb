"""The local steps of a round along the mean path of every column: with samples observed, or as they were last seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from empirics.prediction.cuda_graph import Replay
from empirics.prediction.local_steps import AgeClass, LocalSteps
from empirics.prediction.observation import Observer
from empirics.prediction.residuals import chances
from empirics.training.model import Descent

__all__ = ["Look", "Walk"]

STRAIGHT = 200  # parameters of several classes up to which a Hessian's eigenvectors cost less than they spare


@dataclass(frozen=True)
class Look:
    """What a round shows in which samples are observed, and where it leads."""

    theta: Tensor  # after it, (columns, parameters)
    local: LocalSteps
    corrections: Tensor  # from chances to the residuals shown, at each step that was observed
    latest: list[int]  # of these, at each local step
    fitted: Tensor  # of a fresh residual, at most, (columns,)
    slopes: list[tuple[Tensor, Tensor]]  # where each local step began, and the gradient there
    hessian: Tensor | None  # at the first of them, if gradients are taken to be straight in θ from here on


class Walk:
    """Local steps of all columns, E of them; if `hurried`, gradients are straight in θ between looks, of one output or
    few parameters, and a `coarse` one observes few steps."""

    def __init__(self, observer: Observer, descent: Descent, *, hurried: bool, coarse: bool) -> None:
        self.observer, self.descent, self.coarse = observer, descent, coarse
        land = observer.landscape
        self.model, self.still = land.model, land.parts is None
        few = self.model.outputs == 1 or self.model.size <= STRAIGHT
        self.straight = hurried and self.still and few
        self.looks, self.rounds = (Replay(recorded=self.still) for _ in range(2))

    def look(self, ages: tuple[int, ...], *, early: bool, **given: Tensor) -> Look:
        """A round from θ in which samples are observed: `share` is one sample's in its client's memory, `scatter` that
        of θ, and each age class n has `weight_n` and `share_n`; there may be an `eta` for each column, and what samples
        have `missed` of its gradient. On a card the next look is written over this one."""
        return self.looks(early, partial(self._observed, ages, early), **given)

    def again(self, seen: Look, **given: Tensor) -> Tensor:
        """θ after a round like that one, from another place."""
        function = partial(self._steps, seen.latest)
        return self.rounds(None, function, corrections=seen.corrections, **given).clone()

    def _observed(
        self,
        ages: tuple[int, ...],
        early: bool,
        theta: Tensor,
        share: Tensor,
        scatter: Tensor,
        eta: Tensor | None = None,
        missed: Tensor | None = None,
        **of_age: Tensor,
    ) -> Look:
        classes = {
            n: AgeClass(of_age[f"weight_{n}"], of_age[f"share_{n}"], used=n > 0, recent=n < 2) for n in ages
        }
        descent = self.descent if eta is None else replace(self.descent, eta=eta)
        local = LocalSteps(share, scatter, descent, classes)
        observed = [e for e in range(descent.steps) if self.observes(e, early=early)]
        latest = [sum(one <= e for one in observed) - 1 for e in range(descent.steps)]
        corrections: list[Tensor] = []
        slopes: list[tuple[Tensor, Tensor]] = []
        hessians: list[Tensor] = []
        fitted = [theta.new_zeros(len(theta))]

        def correction(e: int, logits: Tensor, q: Tensor) -> Tensor:
            if self.straight and e == 0:
                hessians.append(self.model.hessians(self.observer.p.expand(q.shape[:2]), q))
            if e in observed:
                following = next((one for one in observed if one > e), descent.steps)
                shown = self.observer.residuals(local, logits, q, following - e) - q
                corrections.append(self.observer.p[..., None] * shown if self.still else shown)
                fitted.extend(1 - age.damping[:, 0] for age in classes.values() if not age.used)
            local.advance()
            return corrections[-1]

        after = self._walked(theta, correction, descent.eta, missed, slopes if self.straight else None)
        for age in classes.values():  # what only later steps of the round would have asked for
            age.residuals.clear()
            age.responses.clear()
        return Look(
            theta=after,
            local=local,
            corrections=torch.stack(corrections),
            latest=latest,
            fitted=torch.stack(fitted).amax(0),
            slopes=slopes,
            hessian=hessians[0] if hessians else None,
        )

    def _steps(
        self,
        latest: list[int],
        corrections: Tensor,
        theta: Tensor,
        eta: Tensor | None = None,
        missed: Tensor | None = None,
    ) -> Tensor:
        each = corrections.unbind()
        size = self.descent.eta if eta is None else eta
        return self._walked(theta, lambda e, logits, q: each[latest[e]], size, missed)

    def _walked(
        self,
        theta: Tensor,
        correction: Callable[[int, Tensor, Tensor], Tensor],
        eta: Tensor | float,
        missed: Tensor | None,
        slopes: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Where E local steps lead; `correction` turns chances into the residuals that samples show."""
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

    def observes(self, step: int, *, early: bool) -> bool:
        """Whether samples are observed at a local step from 0: ever less, and less when a path is under way."""
        octave: int = 2 ** (step.bit_length() - 1) if step else 1
        if self.coarse:
            return step == 0 or (step > 1 and step == octave and step.bit_length() % 2 == 1)
        return step % (max(octave // 2, 1) if early else octave) == 0
