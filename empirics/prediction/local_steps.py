"""Effects of a round's local steps on a distance and on a sample's weight, direction by direction.

Arrays are (columns, lumps): a column is a group of clients of a run, a lump is directions of nearly equal curvature.
`LocalSteps` follows the steps of an observed round; `RoundEffects` applies them to the rounds until the next
observation, in which nothing but the step size changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from empirics.prediction.memory import Counts, Floats
from empirics.training.model import Descent

__all__ = ["AgeClass", "LinearRound", "LocalSteps", "RoundEffects", "age_classes"]

OLD_ROUNDS = 32  # rounds in memory after which the scatter that a sample has seen averages out
_Rates = tuple[Tensor, Tensor, Tensor]  # curvature, that of the other samples, and the push on what is kept


def age_classes(age: Counts) -> Counts:
    """Age class of samples that entered `age` rounds ago: 0 for fresh, 1 for used, 2 for old.

    >>> age_classes(np.array([0, 1, 31, 32])).tolist()
    [0, 1, 1, 2]
    """
    return (age > 0).astype(np.int64) + (age >= OLD_ROUNDS)


@dataclass
class AgeClass:
    """Samples of about one age: the weight of each in its own favour, and their share of the memory.

    `residuals` and `responses` (derivatives of residuals in θ) have an entry for each observation so far.
    """

    weight: Tensor
    share: Tensor
    used: bool  # were in memory before this round
    recent: bool  # have not been for `OLD_ROUNDS`
    residuals: list[Tensor] = field(default_factory=list)
    responses: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.damping: Tensor  # share of a fresh sample's residual that these samples show, (columns, 1)
        self.total_residual: Any = 0
        self.total_response: Any = 0
        self.saturation = torch.ones_like(self.weight[:, 0])

    def observe(self, residual: Tensor, response: Tensor, steps: int) -> None:
        """Add the probes' residuals and responses for a number of steps."""
        self.total_residual = self.total_residual + steps * residual
        self.total_response = self.total_response + steps * response


class LocalSteps:
    """Local steps of a round so far: `contraction` of a distance, weights, and gains of weight and noise by age.

    `by_others` is the contraction by the other samples of a client's memory alone, which is how a sample's own pull
    decays. `sample_share` is the share of one sample in its client's memory.
    """

    def __init__(
        self, sample_share: Tensor, scatter: Tensor, descent: Descent, ages: Mapping[int, AgeClass]
    ) -> None:
        self.sample_share, self.scatter, self.descent, self.ages = sample_share, scatter, descent, ages
        self.contraction = torch.ones_like(scatter)
        self.first_logits: Tensor | None = None  # before the first step
        weights = torch.stack([age.weight for age in ages.values()])
        self._deviation = torch.zeros_like(weights)
        nothing, one = torch.zeros_like(weights), torch.ones_like(scatter)[None]
        # contraction by others; gains of weight, of noise; a sample's first pull; the weight of each age
        self._kept = torch.cat([one, nothing, nothing, one * descent.eta, weights])
        self._pull = 1 + 2 * len(ages)  # index of the pull
        self._moved, self._drawn = torch.zeros_like(self._kept), torch.zeros_like(scatter)  # velocities
        self._moved[self._pull] = 1
        self._pulls = [torch.zeros_like(scatter)]  # cumulative weight of a pull after 0, 1, … steps
        self._observed: list[int] = []  # steps
        self._rates: _Rates
        self._history: list[_Rates] = []  # rates of each step

    @property
    def by_others(self) -> Tensor:
        """(columns, lumps)."""
        return self._kept[0]

    @property
    def gains(self) -> Tensor:
        """Gains of weight and of noise, (2, ages, columns, lumps)."""
        return self._kept[1 : self._pull].view(2, len(self.ages), *self.scatter.shape)

    def variance(self, directions: Tensor) -> Tensor:
        """Variance per direction at this step, (columns, lumps), from the number of directions in each lump."""
        return self.scatter * self.by_others.square() / directions

    def pulls_since_observations(self) -> list[Tensor]:
        """Weights at this step, which is observed, of the pulls between each earlier observation and the next."""
        step = len(self._pulls)
        self._observed.append(step)
        return [self._pulls[step - a] - self._pulls[step - b] for a, b in pairwise(self._observed)]

    def observe(self, variance: Tensor, curvature: Tensor, steps: int) -> None:
        """Set the rates of the next steps from each age's curvature and the variance of its pulls after these steps,
        (ages, columns, lumps). Each step adds equally to the standard deviation."""
        root = variance.sqrt()
        noise, self._deviation = (root - self._deviation) / steps, root
        ages = self.ages.values()
        damping, share = (torch.stack([getattr(age, name) for age in ages]) for name in ("damping", "share"))
        of_all = (share * curvature).sum(0)
        nothing = torch.zeros_like(of_all)[None]
        pushes = [nothing, damping.expand_as(noise), noise, nothing, torch.zeros_like(noise)]
        self._rates = of_all, of_all * (1 - self.sample_share), torch.cat(pushes)

    def advance(self) -> None:
        """One step with the rates last observed."""
        curvature, others, pushed = self._rates
        self._history.append(self._rates)
        momentum, eta = self.descent.momentum, self.descent.eta
        self._pulls.append(self._pulls[-1] + self.sample_share * self._kept[self._pull])
        self._drawn = momentum * self._drawn - curvature * self.by_others
        self._moved = momentum * self._moved + torch.addcmul(pushed, others, self._kept, value=-1)
        self.contraction = self.contraction + eta * self._drawn
        self._kept = self._kept + eta * self._moved
        for age, weight in zip(self.ages.values(), self._kept[self._pull + 1 :].unbind(), strict=True):
            age.weight = weight

    def effects(self) -> tuple[Floats, Floats]:
        """Contraction, (1, columns, lumps), and gains, (1, 2, ages, columns, lumps)."""
        return self.contraction[None].cpu().numpy(), self.gains[None].cpu().numpy()

    def effects_with(self, eta: Tensor) -> tuple[Floats, Floats]:
        """The effects of steps at the same rates with other sizes, (rounds, columns); rounds first."""
        momentum, sizes, most = self.descent.momentum, eta[..., None], self._pull
        contraction = torch.ones_like(self.contraction).repeat(len(eta), 1, 1)
        kept = contraction.new_zeros(len(eta), most, *self.contraction.shape)
        kept[:, 0] = 1  # contraction by others; then the gains
        drawn, moved = torch.zeros_like(contraction), torch.zeros_like(kept)
        for curvature, others, pushed in self._history:
            drawn = momentum * drawn - curvature * kept[:, 0]
            moved = momentum * moved + torch.addcmul(pushed[:most], others, kept, value=-1)
            contraction, kept = contraction + sizes * drawn, kept + sizes[:, None] * moved
        gains = kept[:, 1:].reshape(len(eta), 2, len(self.ages), *self.contraction.shape)
        return contraction.cpu().numpy(), gains.cpu().numpy()


# --- rounds without observations ---------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearRound:
    """Local steps along gradients that are linear in θ, in the eigenbasis of the Hessian."""

    values: Tensor  # (columns, parameters)
    basis: Tensor  # (columns, parameters, parameters)
    pushes: tuple[Tensor, ...]  # gradient of each step at θ = 0, in this basis
    momentum: float

    @classmethod
    def of(cls, hessian: Tensor, slopes: list[tuple[Tensor, Tensor]], momentum: float) -> Self:
        """From θ before each step, and the gradient there."""
        values, basis = torch.linalg.eigh(hessian)
        turned = [[(one[:, None] @ basis)[:, 0] for one in both] for both in slopes]
        return cls(values, basis, tuple(slope - values * there for there, slope in turned), momentum)

    def maps(self, eta: Tensor) -> tuple[Tensor, Tensor]:
        """Factor and offset of θ in this basis by rounds with these step sizes, (rounds, columns); (rounds, columns,
        parameters) each."""
        sizes = eta[..., None]
        factor = torch.ones_like(self.values).repeat(len(eta), 1, 1)
        offset, drawn, pushed = (torch.zeros_like(factor) for _ in range(3))
        for push in self.pushes:
            drawn = self.momentum * drawn + self.values * factor
            pushed = self.momentum * pushed + torch.addcmul(push, self.values, offset)
            factor, offset = factor - sizes * drawn, offset - sizes * pushed
        return factor, offset

    def after(self, theta: Tensor, factor: Tensor, offset: Tensor) -> Tensor:
        """θ of all columns after one such map."""
        here = (theta[:, None] @ self.basis)[:, 0]
        return torch.as_tensor((self.basis @ torch.addcmul(offset, factor, here)[..., None])[..., 0])


class RoundEffects:
    """Contraction and gains of the rounds from `first` to `end`, and the mean path if gradients are linear.

    Without step sizes `etas`, (rounds, columns), all rounds are like the observed one.
    """

    def __init__(
        self,
        first: int,
        end: int,
        local: LocalSteps,
        linear: LinearRound | None = None,
        etas: Tensor | None = None,
    ) -> None:
        self.first, self.end, self._linear = first, end, linear
        self._contraction, self._gains = local.effects() if etas is None else local.effects_with(etas)
        known = list(local.ages)
        nearest = [min(range(len(known)), key=lambda i: abs(known[i] - number)) for number in range(3)]
        self._nearest = np.array(nearest)  # the observed class that stands for each class
        if linear is not None:
            same = (local.contraction[:, :1] * 0 + local.descent.eta).T  # one size per column
            self._maps = linear.maps(same if etas is None else etas)

    def at(self, t: int, ages: Counts, groups: int) -> tuple[Floats, Floats]:
        """Contraction in round t, (rows, groups, lumps), and gains of cohorts of these age classes, (2, cohorts, rows,
        groups, lumps)."""
        k = min(t - self.first, len(self._contraction) - 1)
        gains = self._gains[k][:, self._nearest[ages]]
        shape = (-1, groups, gains.shape[-1])
        return self._contraction[k].reshape(shape), gains.reshape(*gains.shape[:2], *shape)

    def theta_after(self, t: int, theta: Tensor) -> Tensor:
        """θ of all columns after round t, by linear gradients."""
        assert self._linear is not None
        factor, offset = self._maps
        k = min(t - self.first, len(factor) - 1)
        return self._linear.after(theta, factor[k], offset[k])
