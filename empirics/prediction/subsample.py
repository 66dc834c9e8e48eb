"""A large population seen through samples of it, and what a sample misses of the risk and its gradient.

Inputs are seen along their principal axes, as many as carry 99.9 % of what the first leaves: noise and curvature are of
that order, and so is what the other axes would add. The mean path moves along those alone that carry 90 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from empirics.training.linear import Linear

__all__ = ["KEPT", "Anchor", "Beside", "Whole", "drawn", "principal_axes"]

KEPT, FOLLOWED = 0.999, 0.9  # of the square of the inputs, beyond the first axis
ENOUGH = 5_000  # inputs that tell the axes, about


class Beside(Linear):
    """Logistic regression over samples that lie side by side, alike in labels and weights: inputs are (samples,
    population, features), and rows of parameters those of the first sample, then of the next, as many of each."""

    def logits(self, theta: Tensor, x: Tensor) -> Tensor:
        """(population, rows, outputs); of (rounds, rows, parameters) those of all rounds, one after the other."""
        samples, rounds = len(x), theta.shape[:-2].numel()
        each = theta.reshape(rounds, samples, -1, self.features).transpose(0, 1).flatten(1, 2)
        found = (x @ each.mT).view(samples, x.shape[1], rounds, -1).permute(1, 2, 0, 3)
        return found.reshape(x.shape[1], -1, self.outputs)

    def weighted_inputs(self, scaled: Tensor) -> Tensor:
        x = self.population.x
        each = scaled.reshape(len(scaled), len(x), -1).permute(1, 2, 0)
        return (each @ x).reshape(-1, self.size)

    def hessians(self, p: Tensor, q: Tensor) -> Tensor:
        x = self.population.x
        alone = [Linear(replace(self.population, x=one)) for one in x]
        parts = zip(alone, p.chunk(len(x), 1), q.chunk(len(x), 1), strict=True)
        return torch.cat([one.hessians(*both) for one, *both in parts])


@dataclass(frozen=True)
class Whole:
    """A population, or samples of it, with the part that each group draws from, (groups, population).

    Of one that moves, `parts` has the groups of its first part, then those of the second, then both parts as a whole.
    """

    model: Linear
    groups: Tensor
    parts: Tensor | None = None

    def of_part(self, k: int) -> Whole:
        """One part of a population that moves, alone."""
        assert self.parts is not None
        groups, weights = self.parts[k * len(self.groups) :][: len(self.groups)], self.parts[k - 2][None]
        return Whole(type(self.model)(replace(self.model.population, weights=weights)), groups)

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


def principal_axes(x: Tensor) -> tuple[Tensor, int]:
    """The axes that inputs are seen along, (features, axes), from these, and how many of them, the first, a mean path
    follows."""
    squares, axes = torch.linalg.eigh(x.T @ x)
    left = squares[:-1].cumsum(0) / squares[:-1].sum().clamp(min=torch.finfo(squares.dtype).tiny)
    first, followed = (int((left <= 1 - kept).sum()) for kept in (KEPT, FOLLOWED))
    return axes[:, first:].flip(1), len(axes) - followed


def drawn(whole: Whole, parts: int, size: int) -> tuple[Whole, Tensor]:
    """So many parts of about this size, side by side, which share no sample where there are enough, as many of every
    kind as it has; and which samples each has, (parts, size).

    Samples of one kind have one label and are drawn by the same groups, and those of a part stand for all of them.
    """
    population = whole.model.population
    rows = [population.weights, whole.groups, population.y[None].to(whole.groups)]
    kind = torch.zeros_like(population.y)
    for row in torch.cat(rows if whole.parts is None else [*rows, whole.parts]):
        values, number = torch.unique(row, return_inverse=True)
        _, kind, count = torch.unique(kind * len(values) + number, return_inverse=True, return_counts=True)
    generator = torch.Generator().manual_seed(0)
    shuffled = torch.randperm(len(kind), generator=generator).to(kind.device)
    order = shuffled[kind[shuffled].argsort(stable=True)]
    wanted = [-(-n * size // len(kind)) for n in count.tolist()]
    found: list[Tensor] = []
    for members, most in zip(torch.split(order, count.tolist()), wanted, strict=True):
        found.append(torch.stack([members.roll(-k * most)[:most] for k in range(parts)]))
    index = torch.cat(found, 1)  # (parts, size), of the same kinds in each
    first, scale = index[0], (count.to(whole.groups) / torch.tensor(wanted).to(whole.groups))[kind]
    weights, groups = ((scale * one)[:, first] for one in (population.weights, whole.groups))
    ends = None if whole.parts is None else (scale * whole.parts)[:, first]
    few = replace(population, x=population.x[index], y=population.y[first], weights=weights)
    return Whole(Beside(few), groups, ends), index


class Anchor:
    """What a sample misses of risk and gradient, as it was at the last look at the whole population.

    From there on the gradients' part is taken to stay and the risk's to follow it. Samples whose paths run side by side
    share what was seen of the whole, at the path of the first.
    """

    def __init__(self, whole: Whole, samples: Whole) -> None:
        self.whole, self.samples = whole, samples

    def look(self, theta: Tensor) -> None:
        """Anew, at the rows of the first sample."""
        count = len(self.samples.model.population.x)
        there = theta[: len(theta) // count]
        self.theta = there.repeat(count, 1)
        both = zip(self.whole.measured(there), self.samples.measured(self.theta), strict=True)
        self.missed, self.slope, self.slopes = (
            (a.expand(count, *a.shape).flatten(0, 1) - b) for a, b in both
        )

    def risk(self, theta: Tensor) -> Tensor:
        """What the sample misses of the risk of each row."""
        return self.missed + (self.slope * (theta - self.theta)).sum(-1)
