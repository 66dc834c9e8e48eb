"""A large population seen through subsamples, and the error of a subsample's risk and gradient.

Inputs are reduced to the principal axes that carry 99.9 % of their square beyond the first axis: noise and curvature
are of that order. The mean path moves only along the axes that carry 90 %.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from empirics.training.linear import Linear

__all__ = ["AXES_SHARE_FOLLOWED", "AXES_SHARE_SEEN", "GroupedPopulation", "LinearSideBySide"]
__all__ += ["SampleCorrection", "draw_subsamples", "principal_axes"]

AXES_SHARE_SEEN = 0.999  # share of the inputs' square beyond the first axis, for noise and curvature
AXES_SHARE_FOLLOWED = 0.9  # the same for the mean path
AXES_INPUTS = 5_000  # about as many inputs determine the axes


class LinearSideBySide(Linear):
    """Logistic regression on several subsamples at once, with equal labels and weights.

    Inputs are (subsamples, population, features); rows of parameters are those of the first subsample, then the next.
    """

    def logits(self, theta: Tensor, x: Tensor) -> Tensor:
        """(population, rows, outputs); from (rounds, rows, parameters) the rows of all rounds in turn."""
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
class GroupedPopulation:
    """A population or its subsamples, with the distribution of each group of clients, (groups, population).

    If it drifts, `parts` has the groups of the first part, then those of the second, then both parts as a whole.
    """

    model: Linear
    groups: Tensor
    parts: Tensor | None = None

    def of_part(self, k: int) -> Self:
        """One part of a drifting population."""
        assert self.parts is not None
        groups, weights = self.parts[k * len(self.groups) :][: len(self.groups)], self.parts[k - 2][None]
        model = type(self.model)(replace(self.model.population, weights=weights))
        return replace(self, model=model, groups=groups, parts=None)

    def measured(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Risk of each row, its gradient, and the gradients of all columns (a column is a group of a row)."""
        model = self.model
        logits = model.logits(theta, model.population.x)
        residual = model.residual(logits, model.targets[:, None])
        risk = model.population.expected(model.losses(logits, model.population.y))
        (everyone,) = model.population.weights
        slope = model.weighted_inputs(everyone[:, None, None] * residual)
        if torch.equal(self.groups, model.population.weights):
            return risk, slope, slope
        each = [model.weighted_inputs(p[:, None, None] * residual) for p in self.groups]
        return risk, slope, torch.stack(each, 1).flatten(0, 1)


def principal_axes(x: Tensor) -> tuple[Tensor, int]:
    """The principal axes of these inputs, (features, axes), and how many of them a mean path follows."""
    squares, axes = torch.linalg.eigh(x.T @ x)
    left = squares[:-1].cumsum(0) / squares[:-1].sum().clamp(min=torch.finfo(squares.dtype).tiny)
    first, followed = (int((left <= 1 - kept).sum()) for kept in (AXES_SHARE_SEEN, AXES_SHARE_FOLLOWED))
    return axes[:, first:].flip(1), len(axes) - followed


def draw_subsamples(whole: GroupedPopulation, count: int, size: int) -> tuple[GroupedPopulation, Tensor]:
    """Subsamples of about this size, disjoint if there are enough samples, and the indices of each, (count, size).

    They are stratified: samples of one kind have one label and are drawn by the same groups, and those of a subsample
    stand for all of their kind.
    """
    population = whole.model.population
    rows = [population.weights, whole.groups, population.y[None].to(whole.groups)]
    kind = torch.zeros_like(population.y)
    for row in torch.cat(rows if whole.parts is None else [*rows, whole.parts]):
        values, number = torch.unique(row, return_inverse=True)
        _, kind, members = torch.unique(kind * len(values) + number, return_inverse=True, return_counts=True)
    generator = torch.Generator().manual_seed(0)
    shuffled = torch.randperm(len(kind), generator=generator).to(kind.device)
    order = shuffled[kind[shuffled].argsort(stable=True)]
    wanted = [-(-n * size // len(kind)) for n in members.tolist()]
    found: list[Tensor] = []
    for these, most in zip(torch.split(order, members.tolist()), wanted, strict=True):
        found.append(torch.stack([these.roll(-k * most)[:most] for k in range(count)]))
    index = torch.cat(found, 1)  # the same kinds in each row
    first, scale = index[0], (members.to(whole.groups) / torch.tensor(wanted).to(whole.groups))[kind]
    weights, groups = ((scale * one)[:, first] for one in (population.weights, whole.groups))
    ends = None if whole.parts is None else (scale * whole.parts)[:, first]
    few = replace(population, x=population.x[index], y=population.y[first], weights=weights)
    return GroupedPopulation(LinearSideBySide(few), groups, ends), index


class SampleCorrection:
    """The error of a subsample's risk and gradient at the last evaluation of the whole population.

    Until the next evaluation the gradient's error is taken as constant, and the risk's follows from it. All subsamples
    share one evaluation, on the path of the first.
    """

    def __init__(self, whole: GroupedPopulation, samples: GroupedPopulation) -> None:
        self.whole, self.samples = whole, samples

    def look(self, theta: Tensor) -> None:
        """Evaluate the whole population at the rows of the first subsample."""
        count = len(self.samples.model.population.x)
        there = theta[: len(theta) // count]
        self.theta = there.repeat(count, 1)
        both = zip(self.whole.measured(there), self.samples.measured(self.theta), strict=True)
        self.missed, self.slope, self.slopes = (
            (a.expand(count, *a.shape).flatten(0, 1) - b) for a, b in both
        )

    def risk(self, theta: Tensor) -> Tensor:
        """Correction of the risk of each row."""
        return self.missed + (self.slope * (theta - self.theta)).sum(-1)
