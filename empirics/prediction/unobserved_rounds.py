"""Rounds in which nothing is observed, worked out together: they are told the same, and differ in their step sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.local_steps import LocalSteps

__all__ = ["Course", "Line"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Line:
    """Local steps along gradients that are straight in θ: in the eigenbasis of its Hessian each direction is alone."""

    values: Tensor  # (columns, parameters)
    basis: Tensor  # (columns, parameters, parameters)
    pushes: tuple[Tensor, ...]  # of each step what the gradient has at θ = 0, in this basis
    momentum: float

    @classmethod
    def of(cls, hessian: Tensor, slopes: list[tuple[Tensor, Tensor]], momentum: float) -> Line:
        """From where each step began, and the gradient there."""
        values, basis = torch.linalg.eigh(hessian)
        turned = [[(one[:, None] @ basis)[:, 0] for one in both] for both in slopes]
        return cls(values, basis, tuple(slope - values * there for there, slope in turned), momentum)

    def rounds(self, eta: Tensor) -> tuple[Tensor, Tensor]:
        """What rounds of steps of these sizes, (rounds, columns), make of θ in this basis: a factor, and what is added;
        (rounds, columns, parameters) each."""
        sizes = eta[..., None]
        factor = torch.ones_like(self.values).repeat(len(eta), 1, 1)
        added, drawn, pushed = (torch.zeros_like(factor) for _ in range(3))
        for push in self.pushes:
            drawn = self.momentum * drawn + self.values * factor
            pushed = self.momentum * pushed + torch.addcmul(push, self.values, added)
            factor, added = factor - sizes * drawn, added - sizes * pushed
        return factor, added

    def after(self, theta: Tensor, factor: Tensor, added: Tensor) -> Tensor:
        """One of them, of all columns."""
        here = (theta[:, None] @ self.basis)[:, 0]
        found: Tensor = (self.basis @ torch.addcmul(added, factor, here)[..., None])[..., 0]
        return found


class Course:
    """What rounds from `first` on to `end` leave of a distance, what weight and noise samples gain in them, and where
    the mean path goes if it goes along a line.

    Without step sizes, (rounds, columns), all rounds are as the local steps that were observed.
    """

    def __init__(
        self, first: int, end: int, local: LocalSteps, line: Line | None = None, etas: Tensor | None = None
    ) -> None:
        self.first, self.end, self._line = first, end, line
        self._contraction, self._gains = local.told() if etas is None else local.again(etas)
        known = list(local.ages)
        nearest = [min(range(len(known)), key=lambda i: abs(known[i] - number)) for number in range(3)]
        self._nearest = np.array(nearest)  # of the classes that were observed, the one that stands for each
        if line is not None:
            same = (local.contraction[:, :1] * 0 + local.descent.eta).T  # or one size for each column
            self._rounds = line.rounds(same if etas is None else etas)

    def at(self, t: int, ages: Counts, groups: int) -> tuple[Floats, Floats]:
        """Of round t, (rows, groups, lumps), and of cohorts of these classes, (2, cohorts, rows, groups, lumps)."""
        k = min(t - self.first, len(self._contraction) - 1)
        gains = self._gains[k][:, self._nearest[ages]]
        shape = (-1, groups, gains.shape[-1])
        return self._contraction[k].reshape(shape), gains.reshape(*gains.shape[:2], *shape)

    def straight(self, t: int, theta: Tensor) -> Tensor:
        """θ of all columns after round t."""
        assert self._line is not None
        factor, added = self._rounds
        k = min(t - self.first, len(factor) - 1)
        return self._line.after(theta, factor[k], added[k])
