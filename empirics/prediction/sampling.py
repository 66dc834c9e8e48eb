"""A large population seen through samples of it, and what a sample misses of the risk and its gradient.

Inputs are seen along their principal axes, as many as carry 99 % of what the first leaves: noise and curvature are of
that order, and so is what the other axes would add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from empirics.training.linear import Linear

__all__ = ["KEPT", "Anchor", "Look", "Whole", "drawn", "principal_axes"]

Look = tuple[Tensor, tuple[Tensor, Tensor, Tensor]]  # where, and what `Whole.measured` found there
KEPT = 0.99  # of the square of the inputs, beyond the first axis
ENOUGH = 10_000  # inputs that tell the axes


@dataclass(frozen=True)
class Whole:
    """A population, or a sample of it, with the part that each group draws from, (groups, population).

    Of one that moves, `parts` has the groups of its first part, then those of the second, then both parts as a whole.
    """

    model: Linear
    groups: Tensor
    parts: Tensor | None = None

    def of_part(self, k: int) -> Whole:
        """One part of a population that moves, alone."""
        assert self.parts is not None
        groups, weights = self.parts[k * len(self.groups) :][: len(self.groups)], self.parts[k - 2][None]
        return Whole(Linear(replace(self.model.population, weights=weights)), groups)

    def measured(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Risk of each row, its gradient, and the gradients of all columns: those of each row's groups."""
        model = self.model
        logits = model.logits(theta, model.population.x)
        residual = model.residual(logits, model.targets[:, None])
        risk = model.population.expected(model.losses(logits, model.population.y))
        everyone = model.population.weights[0]
        slope = model.weighted_inputs(everyone[:, None, None] * residual)
        if len(self.groups) == 1 and torch.equal(self.groups[0], everyone):
            return risk, slope, slope
        each = [model.weighted_inputs(p[:, None, None] * residual) for p in self.groups]
        return risk, slope, torch.stack(each, 1).flatten(0, 1)


def principal_axes(x: Tensor) -> Tensor:
    """The axes that inputs are seen along, (features, axes), from some of them, evenly spaced."""
    some = x[:: math.ceil(len(x) / ENOUGH)]
    squares, axes = torch.linalg.eigh(some.T @ some)
    left = squares[:-1].cumsum(0) / squares[:-1].sum().clamp(min=torch.finfo(x.dtype).tiny)
    found: Tensor = axes[:, int((left <= 1 - KEPT).sum()) :].flip(1)
    return found


def drawn(whole: Whole, parts: int, size: int) -> list[Whole]:
    """Samples of about this size, which share no sample where there are enough: as many of every kind as it has.

    Samples of one kind have one label and are drawn by the same groups, and those of a part stand for all of them.
    """
    population = whole.model.population
    rows = [population.weights, whole.groups, population.y[None].to(whole.groups)]
    kinds = torch.cat(rows if whole.parts is None else [*rows, whole.parts]).T
    kind, count = torch.unique(kinds, dim=0, return_inverse=True, return_counts=True)[1:]
    generator = torch.Generator().manual_seed(0)
    shuffled = torch.randperm(len(kind), generator=generator).to(kind.device)
    order = shuffled[kind[shuffled].argsort(stable=True)]
    wanted = [-(-n * size // len(kind)) for n in count.tolist()]
    found: list[list[Tensor]] = [[] for _ in range(parts)]
    for members, most in zip(torch.split(order, count.tolist()), wanted, strict=True):
        for k in range(parts):
            found[k].append(members.roll(-k * most)[:most])
    scale = (count.to(whole.groups) / torch.tensor(wanted).to(whole.groups))[kind]
    return [_part(whole, torch.cat(index), scale) for index in found]


def _part(whole: Whole, index: Tensor, scale: Tensor) -> Whole:
    was = whole.model.population
    weights = (scale * was.weights)[:, index]
    population = replace(was, x=was.x[index], y=was.y[index], weights=weights)
    parts = None if whole.parts is None else (scale * whole.parts)[:, index]
    return Whole(Linear(population), (scale * whole.groups)[:, index], parts)


class Anchor:
    """What a sample misses of risk and gradient, as it was at the last look at the whole population.

    From there on the gradients' part is taken to stay and the risk's to follow it. Samples whose paths run side by side
    share what was seen of the whole, `looks`: the first of them looks, at its own path.
    """

    def __init__(self, whole: Whole, sample: Whole, looks: list[Look]) -> None:
        self.whole, self.sample = whole, sample
        self.looks, self.count = looks, 0

    def look(self, theta: Tensor) -> None:
        """Anew, at these rows, or at those of the sample that looked first."""
        if self.count == len(self.looks):
            self.looks.append((theta, self.whole.measured(theta)))
        self.theta, of_whole = self.looks[self.count]
        self.count += 1
        of_sample = self.sample.measured(self.theta)
        self.missed, self.slope, self.slopes = (a - b for a, b in zip(of_whole, of_sample, strict=True))

    def risk(self, theta: Tensor) -> Tensor:
        """What the sample misses of the risk of each row."""
        return self.missed + (self.slope * (theta - self.theta)).sum(-1)
