"""What a round's local steps do to a distance and to a sample's weight, direction by direction.

Arrays are (columns, lumps): a column is a group of clients of a run, a lump some directions of nearly one curvature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.training.model import Descent

__all__ = ["AgeClass", "LocalSteps"]

Floats = NDArray[np.float64]


def _descended(
    values: Sequence[Tensor], velocities: Sequence[Tensor], slopes: Sequence[Tensor], descent: Descent
) -> tuple[list[Tensor], list[Tensor]]:
    """Values and velocities after a step with momentum along these slopes."""
    moved = [descent.momentum * velocity + slope for velocity, slope in zip(velocities, slopes, strict=True)]
    return [value + descent.eta * velocity for value, velocity in zip(values, moved, strict=True)], moved


@dataclass
class AgeClass:
    """Samples of about one age: the weight of each in its own favour, and their share of the memory.

    `used`: they were in memory before; `recent`: not for long. At each observation so far, `residuals` are those that
    they show, and `responses` how a change of θ changes these. In the round so far they have gained the weight `gain`,
    and `noise_gain`, the same times the noise; `damping` is the part of a fresh sample's residual that they show.
    """

    weight: Tensor
    share: Tensor
    used: bool
    recent: bool
    residuals: list[Tensor] = field(default_factory=list)
    responses: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gain, self.noise_gain, self.damping = (torch.zeros_like(self.weight) for _ in range(3))
        self.noise, self._deviation = torch.zeros_like(self.weight), torch.zeros_like(self.weight)
        self.total_residual: Any = 0
        self.total_response: Any = 0
        self.saturation = torch.ones_like(self.weight[:, 0])
        self._velocities = [torch.zeros_like(self.weight) for _ in range(3)]

    def observe(self, residual: Tensor, response: Tensor, steps: int) -> None:
        """What the probes among them show, for so many steps."""
        self.total_residual = self.total_residual + steps * residual
        self.total_response = self.total_response + steps * response

    def observe_noise(self, variance: Tensor, steps: int) -> None:
        """The variance of all that a sample has pulled after so many more steps: what each adds to its root."""
        self.noise, self._deviation = (variance.sqrt() - self._deviation) / steps, variance.sqrt()

    def advance(self, others: Tensor, descent: Descent) -> None:
        """One more step, with this curvature of the other samples."""
        slopes = (
            self.damping - others * self.gain,
            self.noise - others * self.noise_gain,
            -others * self.weight,
        )
        values, self._velocities = _descended(
            (self.gain, self.noise_gain, self.weight), self._velocities, slopes, descent
        )
        self.gain, self.noise_gain, self.weight = values


class LocalSteps:
    """What a round's local steps so far leave of a distance, `contraction`, and of a sample's first pull, `pull`.

    `by_others` is what the other samples in a client's memory alone would leave of a distance: that is what each
    sample sees, and how its own pull decays. `sample_share` is the share of one sample in its client's memory.
    """

    def __init__(self, sample_share: Tensor, scatter: Tensor, descent: Descent) -> None:
        self.sample_share, self.scatter, self.descent = sample_share, scatter, descent
        self.ages: dict[int, AgeClass] = {}
        self.contraction, self.by_others = torch.ones_like(scatter), torch.ones_like(scatter)
        self.curvature = torch.zeros_like(scatter)
        self.first_logits: Tensor | None = None  # before the first step
        self.pull = torch.zeros_like(scatter) + descent.eta
        self._velocities = [torch.zeros_like(scatter), torch.ones_like(scatter), torch.zeros_like(scatter)]
        self._pulls = [torch.zeros_like(scatter)]  # Σ of a pull's weights after 0, 1, … steps
        self._observed: list[int] = []  # steps
        self._course: list[tuple[Tensor, dict[int, tuple[Tensor, Tensor]]]] = []  # what each step was told

    def variance(self, directions: Tensor) -> Tensor:
        """Of one direction at this step, (columns, lumps), with so many directions in each lump."""
        return self.scatter * self.by_others.square() / directions

    def pulls_since_observations(self) -> list[Tensor]:
        """What the pulls from each observation to the next weigh at this step, which is observed as well."""
        step = len(self._pulls)
        self._observed.append(step)
        return [self._pulls[step - a] - self._pulls[step - b] for a, b in pairwise(self._observed)]

    def advance(self) -> None:
        """One more step, with curvature, noise and damping as last observed."""
        self._course.append((self.curvature, {n: (age.damping, age.noise) for n, age in self.ages.items()}))
        self._pulls.append(self._pulls[-1] + self.sample_share * self.pull)
        others = self.curvature * (1 - self.sample_share)
        slopes = (-self.curvature * self.by_others, -others * self.pull, -others * self.by_others)
        values, self._velocities = _descended(
            (self.contraction, self.pull, self.by_others), self._velocities, slopes, self.descent
        )
        self.contraction, self.pull, self.by_others = values
        for age in self.ages.values():
            age.advance(others, self.descent)

    def told(self) -> tuple[Floats, Floats]:
        """What is left of a distance, (1, columns, lumps), and the weight and noise that each age gains, (1, 2, ages,
        columns, lumps)."""
        gains = [[age.gain for age in self.ages.values()], [age.noise_gain for age in self.ages.values()]]
        found = torch.stack([torch.stack(one) for one in gains])
        return self.contraction[None].cpu().numpy(), found[None].cpu().numpy()

    def again(self, eta: Tensor) -> tuple[Floats, Floats]:
        """The same, told the same at every step, by steps of other sizes, (rounds, columns)."""
        momentum, sizes, number = self.descent.momentum, eta[..., None], len(self.ages)
        contraction = torch.ones_like(self.contraction).repeat(len(eta), 1, 1)
        kept = contraction.new_zeros(len(eta), 1 + 2 * number, *self.contraction.shape)
        kept[:, 0] = 1  # by others; then gains, and those of noise
        drawn, moved = torch.zeros_like(contraction), torch.zeros_like(kept)
        for curvature, others, pushed in self._pushes:
            drawn = momentum * drawn - curvature * kept[:, 0]
            moved = momentum * moved + torch.addcmul(pushed, others, kept, value=-1)
            contraction, kept = contraction + sizes * drawn, kept + sizes[:, None] * moved
        gains = kept[:, 1:].reshape(len(eta), 2, number, *self.contraction.shape)
        return contraction.cpu().numpy(), gains.cpu().numpy()

    @cached_property
    def _pushes(self) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Of every step the curvature, that of the others, and what moves each of the numbers of `again`."""
        found = []
        for curvature, told in self._course:
            pushes = [torch.zeros_like(curvature), *(damping for damping, _ in told.values())]
            pushes += [noise for _, noise in told.values()]
            pushed = torch.stack([one.expand_as(curvature) for one in pushes])
            found.append((curvature, curvature * (1 - self.sample_share), pushed))
        return found
