"""What a round's local steps do to a distance and to a sample's weight, direction by direction."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from empirics.training.model import Descent

__all__ = ["Kind", "Ways"]


@dataclass
class Kind:
    """Samples of about one age: their weight in their own favour, (columns, lumps), and part of the memory.

    At each look so far, `shown` are their residuals, and `damped` how a change of θ changes these. `gain` is the
    weight that they gain in the round, `noisy` the same times the noise.
    """

    own: Tensor
    part: Tensor
    used: bool
    short: bool
    shown: list[Tensor] = field(default_factory=list)
    damped: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gain, self.noisy, self.damping = (torch.zeros_like(self.own) for _ in range(3))
        self.total, self.noise = torch.zeros_like(self.own), torch.zeros_like(self.own)
        self.pulled: Any = 0
        self.answered: Any = 0
        self.saturation = torch.ones_like(self.own[:, 0])
        self.moving = [torch.zeros_like(self.own) for _ in range(3)]

    def see(self, variance: Tensor, steps: int) -> None:
        """The variance of all that a sample has pulled after so many more steps: what each of them adds to its root."""
        self.noise, self.total = (variance.sqrt() - self.total) / steps, variance.sqrt()

    def advance(self, others: Tensor, descent: Descent) -> None:
        """One more step, with this curvature of the others."""
        drives = (
            self.damping - others * self.gain,
            self.noise - others * self.noisy,
            -others * self.own,
        )
        self.moving = [descent.momentum * m + drive for m, drive in zip(self.moving, drives, strict=True)]
        before = (self.gain, self.noisy, self.own)
        self.gain, self.noisy, self.own = (
            one + descent.eta * m for one, m in zip(before, self.moving, strict=True)
        )


class Ways:
    """What a round's local steps so far leave of a distance, `keep`, and of a sample's first pull, `pull`.

    `kept` is what the others in a client's memory alone would leave of a distance: that is what each sample sees, and
    how its own pull decays. Arrays are (columns, lumps).
    `looks` are the steps at which the closure looked.
    """

    def __init__(self, share: Tensor, S: Tensor, descent: Descent) -> None:
        self.share, self.S, self.descent = share, S, descent
        self.kinds: dict[int, Kind] = {}
        self.keep, self.kept, self.curvature = torch.ones_like(S), torch.ones_like(S), torch.zeros_like(S)
        self.first = S
        self.pull = torch.zeros_like(S) + descent.eta
        self.moving = [torch.zeros_like(S), torch.ones_like(S), torch.zeros_like(S)]
        self.pulls = [torch.zeros_like(S)]  # Σ of a pull's weights after 0, 1, … steps
        self.looks: list[int] = []

    def kind(self, number: int) -> Kind:
        """The one of this number, or the nearest that was there when the closure last looked."""
        return self.kinds[min(self.kinds, key=lambda known: abs(known - number))]

    def scatter(self, size: Tensor) -> Tensor:
        """The variance of one direction at this step, (lumps, columns)."""
        return (self.S * self.kept.square() / size).T

    def weights_since_looks(self) -> list[Tensor]:
        """What the pulls of the steps from each look to the next weigh at this step, which is a look as well."""
        step = len(self.pulls) - 1
        self.looks.append(step)
        return [self.pulls[step - a] - self.pulls[step - b] for a, b in pairwise(self.looks)]

    def advance(self) -> None:
        """One more step, with curvature, noise and damping as last seen."""
        self.pulls.append(self.pulls[-1] + self.share * self.pull)
        others = self.curvature * (1 - self.share)
        drives = (-self.curvature * self.kept, -others * self.pull, -others * self.kept)
        self.moving = [
            self.descent.momentum * m + drive for m, drive in zip(self.moving, drives, strict=True)
        ]
        self.keep = self.keep + self.descent.eta * self.moving[0]
        self.pull = self.pull + self.descent.eta * self.moving[1]
        self.kept = self.kept + self.descent.eta * self.moving[2]
        for kind in self.kinds.values():
            kind.advance(others, self.descent)
