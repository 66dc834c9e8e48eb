"""What a round's local steps do to a distance and to a sample's weight, direction by direction.

Arrays are (columns, lumps): a column is a group of clients of a run, a lump some directions of nearly one curvature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.training.model import Descent

__all__ = ["AgeClass", "LocalSteps"]

Floats = NDArray[np.float64]


@dataclass
class AgeClass:
    """Samples of about one age: the weight of each in its own favour, and their share of the memory.

    `used`: they were in memory before; `recent`: not for long. At each observation so far, `residuals` are those that
    they show, and `responses` how a change of θ changes these; `damping` is the part of a fresh sample's residual that
    they show.
    """

    weight: Tensor
    share: Tensor
    used: bool
    recent: bool
    residuals: list[Tensor] = field(default_factory=list)
    responses: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.damping = torch.zeros_like(self.weight)
        self.total_residual: Any = 0
        self.total_response: Any = 0
        self.saturation = torch.ones_like(self.weight[:, 0])

    def observe(self, residual: Tensor, response: Tensor, steps: int) -> None:
        """What the probes among them show, for so many steps."""
        self.total_residual = self.total_residual + steps * residual
        self.total_response = self.total_response + steps * response


class LocalSteps:
    """What a round's local steps so far leave of a distance, `contraction`, and of a sample's first pull.

    `by_others` is what the other samples in a client's memory alone would leave of a distance: that is what each
    sample sees, and how its own pull decays. `sample_share` is the share of one sample in its client's memory. Samples
    of each age gain weight, and the same times their noise: `gains`.
    """

    def __init__(
        self, sample_share: Tensor, scatter: Tensor, descent: Descent, ages: Mapping[int, AgeClass]
    ) -> None:
        self.sample_share, self.scatter, self.descent, self.ages = sample_share, scatter, descent, ages
        self.contraction, self.curvature = torch.ones_like(scatter), torch.zeros_like(scatter)
        self.first_logits: Tensor | None = None  # before the first step
        weights = torch.stack([age.weight for age in ages.values()])
        self._deviation = torch.zeros_like(weights)
        nothing, one = torch.zeros_like(weights), torch.ones_like(scatter)[None]
        # by others; the gains of each age, and those of noise; a sample's first pull, and the weight of each age
        self._kept = torch.cat([one, nothing, nothing, one * descent.eta, weights])
        self._moved, self._drawn = torch.zeros_like(self._kept), torch.zeros_like(scatter)  # velocities
        self._moved[1 + 2 * len(ages)] = 1
        self._pulls = [torch.zeros_like(scatter)]  # Σ of a pull's weights after 0, 1, … steps
        self._observed: list[int] = []  # steps
        self._told: tuple[
            Tensor, Tensor, Tensor
        ]  # curvature, that of the others, what moves the numbers kept
        self._course: list[tuple[Tensor, Tensor, Tensor]] = []  # what each step was told

    @property
    def by_others(self) -> Tensor:
        return self._kept[0]

    @property
    def gains(self) -> Tensor:
        """Of weight and of noise, (2, ages, columns, lumps)."""
        return self._kept[1 : 1 + 2 * len(self.ages)].view(2, len(self.ages), *self.scatter.shape)

    def variance(self, directions: Tensor) -> Tensor:
        """Of one direction at this step, (columns, lumps), with so many directions in each lump."""
        return self.scatter * self.by_others.square() / directions

    def pulls_since_observations(self) -> list[Tensor]:
        """What the pulls from each observation to the next weigh at this step, which is observed as well."""
        step = len(self._pulls)
        self._observed.append(step)
        return [self._pulls[step - a] - self._pulls[step - b] for a, b in pairwise(self._observed)]

    def observe(self, variance: Tensor, curvature: Tensor, steps: int) -> None:
        """Of samples of every age, (ages, columns, lumps): the variance of all that each has pulled after so many more
        steps, of whose root each step adds its part, and the curvature."""
        root = variance.sqrt()
        noise, self._deviation = (root - self._deviation) / steps, root
        damping, share = (
            torch.stack([getattr(age, name) for age in self.ages.values()]) for name in ("damping", "share")
        )
        self.curvature = (share * curvature).sum(0)
        nothing = torch.zeros_like(self._kept[:1])
        pushes = [nothing, damping.expand_as(noise), noise, nothing, torch.zeros_like(noise)]
        self._told = self.curvature, self.curvature * (1 - self.sample_share), torch.cat(pushes)

    def advance(self) -> None:
        """One more step, with curvature, noise and damping as last observed."""
        curvature, others, pushed = self._told
        self._course.append(self._told)
        ages, momentum, eta = self.ages.values(), self.descent.momentum, self.descent.eta
        self._pulls.append(self._pulls[-1] + self.sample_share * self._kept[1 + 2 * len(ages)])
        self._drawn = momentum * self._drawn - curvature * self.by_others
        self._moved = momentum * self._moved + torch.addcmul(pushed, others, self._kept, value=-1)
        self.contraction = self.contraction + eta * self._drawn
        self._kept = self._kept + eta * self._moved
        for age, weight in zip(ages, self._kept[2 + 2 * len(ages) :].unbind(), strict=True):
            age.weight = weight

    def told(self) -> tuple[Floats, Floats]:
        """What is left of a distance, (1, columns, lumps), and the weight and noise that each age gains, (1, 2, ages,
        columns, lumps)."""
        return self.contraction[None].cpu().numpy(), self.gains[None].cpu().numpy()

    def again(self, eta: Tensor) -> tuple[Floats, Floats]:
        """The same, told the same at every step, by steps of other sizes, (rounds, columns)."""
        momentum, sizes, number = self.descent.momentum, eta[..., None], 1 + 2 * len(self.ages)
        contraction = torch.ones_like(self.contraction).repeat(len(eta), 1, 1)
        kept = contraction.new_zeros(len(eta), number, *self.contraction.shape)
        kept[:, 0] = 1  # by others; then gains, and those of noise
        drawn, moved = torch.zeros_like(contraction), torch.zeros_like(kept)
        for curvature, others, pushed in self._course:
            drawn = momentum * drawn - curvature * kept[:, 0]
            moved = momentum * moved + torch.addcmul(pushed[:number], others, kept, value=-1)
            contraction, kept = contraction + sizes * drawn, kept + sizes[:, None] * moved
        gains = kept[:, 1:].reshape(len(eta), 2, len(self.ages), *self.contraction.shape)
        return contraction.cpu().numpy(), gains.cpu().numpy()
