r"""What the law of reuse needs to know of a learning problem: the least risk, the curvature there, and the noise.

Logistic regression with O outputs has \(\nabla\ell_i=x_i\otimes r_i\) and \(\nabla^2\ell_i=x_ix_i^\top\otimes W_i\), r
being the residual of the chances and W their covariance. In the eigenbasis \(v_k\) of \(\nabla^2F_P(\theta^\star)\)
sample i sees direction k through the O numbers \(z_{ik}\) that its logits change by, and all that follows needs their
products alone: \(|z_{ik}|^2\) over the outputs' degrees of freedom, the *leverage*, of every sample, and
\(z_{ik}z_{ik}^\top\) of some, the *probes*, which tell how curvature and noise change away from the minimiser; at the
minimiser both are those of the whole population. Directions of nearly one curvature move alike, so beyond a hundred
they are lumped.

A large population is walked for the minimiser and what holds there, and else seen through samples of it, disjoint and
side by side: how far what they tell lies apart is what that costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from empirics.prediction.eigenbasis import CHUNK, Directions, directions
from empirics.prediction.subsample import ENOUGH, Whole, drawn, principal_axes
from empirics.training.linear import Linear
from empirics.training.model import Population
from empirics.training.risk import Minimiser, minimise
from theory.market.lower_bound import least_risk

__all__ = ["Landscape", "Parts", "mixed", "survey"]

SINGLE, LUMPS = 32, 64  # directions on their own, and lumps of the others, where there are more than both
PROBES = {"cpu": 20_000, "cuda": 200_000}  # times the square of the outputs
MOST = 10_000  # samples of a population that is seen as a whole
PARTS, PART = 4, 250  # samples of a larger one, and their size


def mixed(parts: Sequence[Tensor], w: Tensor | float) -> Tensor:
    """Of two, with this weight of the second."""
    first, second = parts
    return first + w * (second - first)


@dataclass(frozen=True)
class Parts:
    """The two parts of a population that moves: what each group draws of each, (groups, population), what each is as a
    whole, (population,), the weight of the second in every round from the first on, and the least risk then."""

    groups: tuple[Tensor, Tensor]
    everyone: tuple[Tensor, Tensor]
    mixing: Tensor
    least: Tensor

    @property
    def stacked(self) -> Tensor:
        """As `Whole` has them."""
        return torch.cat([*self.groups, *(one[None] for one in self.everyone)])

    def of(self, seen: Whole) -> Parts:
        """The same of what is seen of the population."""
        first, second = (seen.of_part(k) for k in range(2))
        everyone = first.model.population.weights[0], second.model.population.weights[0]
        return replace(self, groups=(first.groups, second.groups), everyone=everyone)


@dataclass(frozen=True)
class Landscape:
    """A learning problem around its minimiser on the ball. Directions are lumped; where the minimiser lies on the
    ball, its radius is the first.

    `groups` tell whose samples come from where, (groups, population), and `best` is the minimiser. Of each lump
    `size` counts directions, `curvature` is their mean and `noise` the sum of their variances of ∇ℓ. Where `model` and
    `groups` are those of samples, `whole` has the population's, and all that holds at the minimiser is the whole's.
    """

    model: Linear
    groups: Tensor
    best: Minimiser
    radius: float
    multiplier: float
    basis: Directions
    lump: Tensor  # of each direction
    size: Tensor
    curvature: Tensor
    noise: Tensor
    leverage: Tensor  # (samples, population, lumps)
    probes: Tensor
    products: Tensor  # (samples, probes, pairs of outputs, lumps), half of an output with itself
    axes: Tensor | None = None  # that the mean path moves along, (features, axes)
    whole: Whole | None = None
    parts: Parts | None = None  # of a population that moves: what is above is then of a mixture of them

    def along_axes(self, theta: Tensor) -> Tensor:
        """What the landscape sees of parameters, (rows, parameters)."""
        if self.axes is None:
            return theta.to(self.size)
        return (theta.to(self.size).view(len(theta), self.model.outputs, -1) @ self.axes).flatten(1)

    @property
    def samples(self) -> int:
        """That lie side by side: 1, the population, if it is seen as a whole."""
        return len(self.leverage)

    @property
    def on_the_ball(self) -> bool:
        return self.multiplier > 0

    def least_final_risk(self, samples: float) -> float:
        """What nobody guarantees less than with so many samples (`theory.market.lower_bound.least_risk`).

        Along the ball where the minimiser lies on it: there the excess risk has the curvature h + μ.
        """
        first = int(self.on_the_ball)
        h = (self.curvature + self.multiplier)[first:]
        return float(least_risk(samples, h=h.tolist(), variance=(self.noise[first:] / h.square()).tolist()))

    @cached_property
    def upper(self) -> Tensor:
        """Where in a matrix of outputs, row by row, each product belongs."""
        return _upper(self.model.outputs, self.probes.device)

    def of_probes(self, groups: Tensor) -> Tensor:
        """The weight of each probe among those of a group, (probes, groups)."""
        weights: Tensor = groups[:, self.probes].T
        shares: Tensor = weights / weights.sum(0)
        return shares

    def levered(self, values: Tensor) -> Tensor:
        """Σ_k leverage_ik value_k of every sample: (columns, lumps) to (population, columns)."""
        each = self.leverage @ values.view(self.samples, -1, len(self.size)).mT
        return each.transpose(0, 1).flatten(1)

    def along(self, matrices: Tensor) -> Tensor:
        """Σ_i z_ikᵀ matrices_i z_ik over the probes, for each lump: (probes, columns, O, O) to (columns, lumps)."""
        packed = (matrices + matrices.mT).flatten(-2).index_select(-1, self.upper)
        each = packed.view(len(packed), self.samples, -1, len(self.upper)).permute(1, 2, 0, 3).flatten(2)
        found: Tensor = each @ self.products.flatten(1, 2)
        return found.flatten(0, 1)

    def squares(self, vectors: Tensor) -> Tensor:
        """⟨v_k, vector⟩² summed over each lump: (columns, parameters) to (columns, lumps)."""
        parts = self.basis.onto(vectors).square()
        return parts.new_zeros(len(vectors), len(self.size)).index_add_(1, self.lump, parts)


def survey(model: Linear, groups: Tensor, radius: float, parts: Parts | None = None) -> Landscape:
    """The landscape of a model over its population, whose weights are one row; of one that moves, with its parts."""
    population = _double(model.population)
    inputs, axes, beyond = population.x, None, None
    if len(inputs) > MOST:
        some = slice(None, None, math.ceil(len(inputs) / ENOUGH))
        every, followed = principal_axes(inputs[some])
        axes, others = every[:, :followed], every[:, followed:]
        beyond = some, inputs[some] @ others
        population = replace(population, x=inputs @ axes, test_x=population.test_x[:0] @ axes)
    model = Linear(population)
    stacked = None if parts is None else parts.stacked.to(population.x)
    whole = Whole(model, groups.to(population.x), stacked)
    best = minimise(model, radius)
    multiplier = _multiplier(model, best.theta, radius)
    basis, curvature, each = directions(model, best.theta, on_the_ball=multiplier > 0, beyond=beyond)
    lump, size = _lumps(curvature)
    noise = _lumped(each, lump, len(size))
    seen, seen_inputs = whole, [inputs]
    if axes is not None:
        seen, index = drawn(whole, PARTS, PART)
        seen_inputs = [inputs[one] @ every for one in index]
    probes = _chosen(seen.groups, PROBES[size.device.type] // model.outputs**2)
    pairs = [_seen(x, model.outputs, basis, lump, size, probes) for x in seen_inputs]
    leverage, products = (torch.stack(one) for one in zip(*pairs, strict=True))
    return Landscape(
        model=seen.model,
        groups=seen.groups,
        best=best,
        radius=radius,
        multiplier=multiplier,
        basis=basis,
        lump=lump,
        size=size,
        curvature=_lumped(curvature, lump, len(size)) / size,
        noise=noise,
        leverage=leverage,
        probes=probes,
        products=products,
        axes=axes,
        whole=None if axes is None else whole,
        parts=None if parts is None else parts.of(seen),
    )


def _double(population: Population) -> Population:
    reals = {name: getattr(population, name).double() for name in ("x", "weights", "test_x")}
    return replace(population, **reals)


def _multiplier(model: Linear, theta: Tensor, radius: float) -> float:
    """μ ≥ 0 with ∇F_P(θ*) = -μθ*, 0 inside the ball."""
    if float(theta.norm()) < radius * (1 - 1e-9):
        return 0.0
    gradient = model.risk_and_gradient(theta)[1]
    return max(-float((gradient * theta).sum()) / radius**2, 0.0)


# --- lumps -------------------------------------------------------------------------------------------------


def _lumps(curvature: Tensor) -> tuple[Tensor, Tensor]:
    """The lump of each direction, and their sizes: its own for the first ones, then by the curvature's logarithm."""
    count = len(curvature)
    number = torch.arange(count, device=curvature.device)
    if count <= SINGLE + LUMPS:
        return number, torch.ones_like(curvature)
    logs = curvature[SINGLE:].log()
    part = ((logs.max() - logs) / (logs.max() - logs.min())).nan_to_num(0)  # all may be alike
    place = (part * LUMPS).long().clamp(max=LUMPS - 1)
    raw = torch.cat([number[:SINGLE], SINGLE + place])
    lump: Tensor
    size: Tensor
    _, lump, size = torch.unique(raw, return_inverse=True, return_counts=True)
    return lump, size.to(curvature)


def _lumped(values: Tensor, lump: Tensor, lumps: int) -> Tensor:
    """Sums over lumps of values whose last axis is directions."""
    return values.new_zeros(*values.shape[:-1], lumps).index_add_(-1, lump, values)


# --- samples -----------------------------------------------------------------------------------------------


def _chosen(groups: Tensor, most: int) -> Tensor:
    """Samples that some group draws: all, or as many of each group as fit."""
    pools = [row.nonzero()[:, 0] for row in groups]
    every = _once(pools)
    if len(every) <= most:
        return every
    generator = torch.Generator().manual_seed(0)
    each = max(most // len(pools), 1)
    parts = [pool[torch.randperm(len(pool), generator=generator)[:each].to(pool.device)] for pool in pools]
    return _once(parts)


def _once(pools: list[Tensor]) -> Tensor:
    """Each sample of the pools once."""
    found: Tensor = torch.unique(torch.cat(pools))
    return found


def _upper(outputs: int, device: torch.device) -> Tensor:
    """Where the pairs i ≤ j are in a matrix, row by row.

    >>> _upper(3, torch.device("cpu")).tolist()
    [0, 1, 2, 4, 5, 8]
    """
    i, j = torch.triu_indices(outputs, outputs, device=device).unbind()
    return i * outputs + j


def _seen(
    x: Tensor, outputs: int, basis: Directions, lump: Tensor, size: Tensor, probes: Tensor
) -> tuple[Tensor, Tensor]:
    """The leverage of all inputs and the probes' products, by lump, in which directions lie side by side."""
    leverage, upper = x.new_empty(len(x), len(size)), _upper(outputs, x.device)
    products = x.new_empty(len(probes), len(upper), len(size))
    rows = max(CHUNK // (len(basis) * outputs), 1)
    for begin in range(0, len(x), rows):
        part = slice(begin, begin + rows)
        squares = basis.seen_by(x[part]).square().sum(-1)
        leverage[part] = _lumped(squares, lump, len(size)) / max(outputs - 1, 1)
    for begin in range(0, len(probes), rows):
        z = basis.seen_by(x[probes[begin : begin + rows]])
        lumps = torch.split(z, size.long().tolist(), 1)
        each = torch.stack([one.mT @ one for one in lumps], -1).flatten(1, 2)
        products[begin : begin + rows] = each[:, upper]
    products[:, upper % (outputs + 1) == 0] /= 2
    return leverage, products
