r"""The loss around its minimiser on the ball: least risk, curvature and gradient noise, or why there is no prediction.

Logistic regression with O outputs has \(\nabla\ell_i=x_i\otimes r_i\) and \(\nabla^2\ell_i=x_ix_i^\top\otimes W_i\),
with the residual r and the covariance W of the class probabilities. In the eigenbasis \(v_k\) of
\(\nabla^2F_P(\theta^\star)\) the logits of sample i change by the O numbers \(z_{ik}\) along direction k. Only products
of these are needed: the *leverage*, \(|z_{ik}|^2\) over the outputs' degrees of freedom, of every sample, and
\(z_{ik}z_{ik}^\top\) of some samples, the *probes*, which show how curvature and noise change away from the minimiser.
At the minimiser both are computed from the whole population. Directions of nearly equal curvature are lumped.

Of a large population only the minimiser, curvature and noise are computed from all samples. Elsewhere disjoint
subsamples stand for it, and their spread measures what that costs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import torch
from torch import Tensor

from empirics.prediction.eigenbasis import CHUNK_CELLS, Eigenbasis, eigenbasis
from empirics.prediction.predictable import refusal
from empirics.prediction.subsample import AXES_INPUTS, GroupedPopulation, draw_subsamples, principal_axes
from empirics.settings.study import Study
from empirics.training.linear import Linear
from empirics.training.partition import Streams
from empirics.training.problem import Problem
from empirics.training.risk import Least, Minimiser, alone, minimise
from theory.market.lower_bound import least_risk
from theory.setting import SettingError

__all__ = ["DriftParts", "LossLandscape", "drawn_alike", "landscape_of", "mixed", "survey"]

DIRECTIONS_ALONE = 32  # directions of largest curvature that are not lumped
DIRECTION_LUMPS = 64  # lumps of all other directions
PROBE_CELLS_MAX = {"cpu": 20_000, "cuda": 200_000}  # probes times outputs squared: bounds memory and time
POPULATION_WHOLE_MAX = 10_000  # samples; a larger population is seen through subsamples
SUBSAMPLES, SUBSAMPLE_SIZE = 4, 250  # of a larger population: enough for an error estimate
MIXING_MIN = 0.01  # weight of either part in the mixture that is surveyed, so that both parts are seen


def mixed(parts: Sequence[Tensor], w: Tensor | float) -> Tensor:
    """Mixture of two tensors with weight w of the second; a single one is itself."""
    mixture, *others = parts
    for other in others:
        mixture = mixture + w * (other - mixture)
    return mixture


@dataclass(frozen=True)
class DriftParts:
    """The two populations that a drifting one is a mixture of."""

    groups: tuple[Tensor, Tensor]  # distribution of each group in each part, (groups, population)
    everyone: tuple[Tensor, Tensor]  # distribution of each part, (population,)
    mixing: Tensor  # weight of the second part in every round
    least: Tensor  # least risk in every round

    @property
    def stacked(self) -> Tensor:
        """All distributions as rows, in the order of `GroupedPopulation.parts`."""
        return torch.cat([*self.groups, *(one[None] for one in self.everyone)])

    def of(self, seen: GroupedPopulation) -> Self:
        """The parts of a subsample."""
        first, second = (seen.of_part(k) for k in range(2))
        (one,), (other,) = first.model.population.weights, second.model.population.weights
        return replace(self, groups=(first.groups, second.groups), everyone=(one, other))


@dataclass(frozen=True)
class LossLandscape:
    """A learning problem around its minimiser. If the minimiser is on the ball, its radius is the first direction.

    Values at the minimiser are those of the whole population, also where `model` and `groups` are subsamples.
    """

    model: Linear
    groups: Tensor  # distribution of the samples of each group of clients, (groups, population)
    best: Minimiser
    radius: float
    multiplier: float  # μ of the ball, 0 inside
    basis: Eigenbasis
    lump: Tensor  # lump of each direction
    size: Tensor  # directions in each lump
    curvature: Tensor  # mean in each lump
    noise: Tensor  # variance of ∇ℓ, summed over each lump
    leverage: Tensor  # (subsamples, population, lumps)
    probes: Tensor
    products: Tensor  # (subsamples, probes, pairs of outputs, lumps), half for an output with itself
    axes: Tensor | None = None  # principal axes that the mean path moves along, (features, axes)
    whole: GroupedPopulation | None = None  # the population, if `model` has subsamples
    parts: DriftParts | None = None  # of a drifting population, of which a mixture was surveyed

    def along_axes(self, theta: Tensor) -> Tensor:
        """Parameters along the principal axes, from (rows, parameters)."""
        if self.axes is None:
            return theta.to(self.size)
        return (theta.to(self.size).view(len(theta), self.model.outputs, -1) @ self.axes).flatten(1)

    @property
    def samples(self) -> int:
        """Number of subsamples; 1 if the population is seen as a whole."""
        return len(self.leverage)

    @property
    def on_the_ball(self) -> bool:
        return self.multiplier > 0

    def least_final_risk(self, samples: float) -> float:
        """Lower bound on the guaranteed excess risk for a number of samples (`theory.market.lower_bound.least_risk`).

        On the ball the excess risk has the curvature h + μ along the sphere.
        """
        first = int(self.on_the_ball)
        h = (self.curvature + self.multiplier)[first:]
        return float(least_risk(samples, h=h.tolist(), variance=(self.noise[first:] / h.square()).tolist()))

    @cached_property
    def steepness(self) -> float:
        """The largest curvature of the population's risk at θ = 0."""
        model = self.model if self.whole is None else self.whole.model
        x, (share,) = model.population.x, model.population.weights.to(model.population.x)
        parts = (slice(k, k + POPULATION_WHOLE_MAX) for k in range(0, len(x), POPULATION_WHOLE_MAX))
        moment = sum(x[part].T @ (share[part, None] * x[part]) for part in parts)
        largest = float(torch.linalg.eigvalsh(torch.as_tensor(moment))[-1])
        return largest / (4 if model.outputs == 1 else model.outputs)

    @cached_property
    def upper(self) -> Tensor:
        """Index of each product in a flattened matrix of outputs."""
        return _upper(self.model.outputs, self.probes.device)

    def of_probes(self, groups: Tensor) -> Tensor:
        """Weight of each probe among the probes of a group, (probes, groups)."""
        weights = groups[:, self.probes].T
        return torch.as_tensor(weights / weights.sum(0))

    def levered(self, values: Tensor) -> Tensor:
        """Σ_k leverage_ik value_k of every sample: (columns, lumps) to (population, columns)."""
        each = self.leverage @ values.view(self.samples, -1, len(self.size)).mT
        return each.transpose(0, 1).flatten(1)

    def along(self, matrices: Tensor) -> Tensor:
        """Σ_i z_ikᵀ matrices_i z_ik over the probes, for each lump: (probes, columns, O, O) to (columns, lumps)."""
        packed = (matrices + matrices.mT).flatten(-2).index_select(-1, self.upper)
        each = packed.view(len(packed), self.samples, -1, len(self.upper)).permute(1, 2, 0, 3).flatten(2)
        return torch.as_tensor((each @ self.products.flatten(1, 2)).flatten(0, 1))

    def squares(self, vectors: Tensor) -> Tensor:
        """⟨v_k, vector⟩² summed over each lump: (columns, parameters) to (columns, lumps)."""
        return _lumped(self.basis.onto(vectors).square(), self.lump, len(self.size))


# --- a study's problem -------------------------------------------------------------------------------------


def landscape_of(problem: Problem) -> LossLandscape:
    """The landscape of a study's problem; with a partition per replicate, that of the first replicate."""
    reason, study = refusal(problem), problem.study
    if reason is not None or not isinstance(problem.model, Linear) or study.radius is None:
        raise SettingError(f"nothing can be predicted: {reason}")
    model = next(alone(problem.model))
    if not study.drift.mixes:
        return survey(model, _groups(study, problem.streams), study.radius)
    first, second = (_groups(study, problem.streams, k).to(model.population.x) for k in range(2))
    parts = [torch.from_numpy(problem.streams.of_part(k)[0]).to(model.population.x) for k in range(2)]
    mixing, least = study.mixing(1, study.rounds + 1), problem.least
    assert least is not None
    w = float(mixing.mean().clip(MIXING_MIN, 1 - MIXING_MIN))
    mean = Linear(replace(model.population, weights=mixed(parts, w)[None]))
    along = torch.from_numpy(least.of_runs(len(least.values), mixing)[:, 0])
    rounds = (one.to(model.population.x.device) for one in (torch.from_numpy(mixing), along))
    drift = DriftParts((first, second), (parts[0], parts[1]), *rounds)
    found = survey(mean, mixed((first, second), w), study.radius, drift)
    return found if found.whole is None else _with_least_along_axes(found, found.whole, drift, least)


def _with_least_along_axes(
    land: LossLandscape, whole: GroupedPopulation, drift: DriftParts, least: Least
) -> LossLandscape:
    """The landscape with the least risk along its axes: the excess of each part's minimum, mixed like the parts."""
    ends = least.of_runs(len(least.values), np.array([0.0, 1.0]))[:, 0]
    more = [minimise(whole.of_part(k).model, land.radius).risk - float(ends[k]) for k in range(2)]
    assert land.parts is not None
    higher = drift.least + more[0] + drift.mixing * (more[1] - more[0])
    return replace(land, parts=replace(land.parts, least=higher))


def _groups(study: Study, streams: Streams, part: int = 0) -> Tensor:
    """Distribution of samples in a part of the population: one row for all clients, or one per client."""
    if drawn_alike(study, streams):
        return torch.from_numpy(streams.of_part(part)[:1])
    pools = (streams.later or streams.pools)[0] if part else streams.pools[0]
    rows = torch.zeros(len(pools), streams.population, dtype=torch.float64)
    for row, pool in zip(rows, pools, strict=True):
        row[torch.from_numpy(pool)] = 1 / len(pool)
    return rows


def drawn_alike(study: Study, streams: Streams) -> bool:
    """True if all clients draw from one distribution and their samples weigh the same."""
    equal = study.weights == "samples" or study.alpha is None or len(set(study.alpha)) == 1
    return equal and streams.shared


# --- survey ------------------------------------------------------------------------------------------------


def survey(model: Linear, groups: Tensor, radius: float, parts: DriftParts | None = None) -> LossLandscape:
    """The landscape of a model over its population (one row of weights); `parts` if the population drifts."""
    population = model.population.double()
    inputs, axes, beyond = population.x, None, None
    if len(inputs) > POPULATION_WHOLE_MAX:
        some = slice(None, None, math.ceil(len(inputs) / AXES_INPUTS))
        every, followed = principal_axes(inputs[some])
        axes, others = every[:, :followed], every[:, followed:]
        beyond = some, inputs[some] @ others
        population = replace(population, x=inputs @ axes, test_x=population.test_x[:0] @ axes)
    model = Linear(population)
    stacked = None if parts is None else parts.stacked.to(population.x)
    whole = GroupedPopulation(model, groups.to(population.x), stacked)
    best = minimise(model, radius)
    multiplier = _multiplier(model, best.theta, radius)
    basis, curvature, each = eigenbasis(model, best.theta, on_the_ball=multiplier > 0, beyond=beyond)
    lump, size = _lumps(curvature)
    seen, seen_inputs = whole, [inputs]
    if axes is not None:
        seen, index = draw_subsamples(whole, SUBSAMPLES, SUBSAMPLE_SIZE)
        seen_inputs = [inputs[one] @ every for one in index]
    probes = _chosen_probes(seen.groups, PROBE_CELLS_MAX[size.device.type] // model.outputs**2)
    pairs = [_leverage_and_products(x, model.outputs, basis, lump, size, probes) for x in seen_inputs]
    leverage, products = (torch.stack(one) for one in zip(*pairs, strict=True))
    return LossLandscape(
        model=seen.model,
        groups=seen.groups,
        best=best,
        radius=radius,
        multiplier=multiplier,
        basis=basis,
        lump=lump,
        size=size,
        curvature=_lumped(curvature, lump, len(size)) / size,
        noise=_lumped(each, lump, len(size)),
        leverage=leverage,
        probes=probes,
        products=products,
        axes=axes,
        whole=None if axes is None else whole,
        parts=None if parts is None else parts.of(seen),
    )


def _multiplier(model: Linear, theta: Tensor, radius: float) -> float:
    """μ ≥ 0 with ∇F_P(θ*) = -μθ*, 0 inside the ball."""
    if float(theta.norm()) < radius * (1 - 1e-9):
        return 0.0
    gradient = model.risk_and_gradient(theta)[1]
    return max(-float((gradient * theta).sum()) / radius**2, 0.0)


def _lumps(curvature: Tensor) -> tuple[Tensor, Tensor]:
    """The lump of each direction, and lump sizes: the first directions alone, others by the curvature's logarithm."""
    number = torch.arange(len(curvature), device=curvature.device)
    if len(curvature) <= DIRECTIONS_ALONE + DIRECTION_LUMPS:
        return number, torch.ones_like(curvature)
    logs = curvature[DIRECTIONS_ALONE:].log()
    part = ((logs.max() - logs) / (logs.max() - logs.min())).nan_to_num(0)  # 0/0 if all are equal
    place = (part * DIRECTION_LUMPS).long().clamp(max=DIRECTION_LUMPS - 1)
    raw = torch.cat([number[:DIRECTIONS_ALONE], DIRECTIONS_ALONE + place])
    _, lump, size = torch.unique(raw, return_inverse=True, return_counts=True)
    return lump, size.to(curvature)


def _lumped(values: Tensor, lump: Tensor, lumps: int) -> Tensor:
    """Sums over lumps of values whose last axis is directions."""
    return values.new_zeros(*values.shape[:-1], lumps).index_add_(-1, lump, values)


def _chosen_probes(groups: Tensor, most: int) -> Tensor:
    """Samples that some group draws: all, or equally many of each group if they are too many."""
    pools = [row.nonzero()[:, 0] for row in groups]
    every: Tensor = torch.unique(torch.cat(pools))
    if len(every) <= most:
        return every
    generator = torch.Generator().manual_seed(0)
    each = max(most // len(pools), 1)
    parts = [pool[torch.randperm(len(pool), generator=generator)[:each].to(pool.device)] for pool in pools]
    return torch.as_tensor(torch.unique(torch.cat(parts)))


def _upper(outputs: int, device: torch.device) -> Tensor:
    """Indices of the pairs i ≤ j in a flattened matrix.

    >>> _upper(3, torch.device("cpu")).tolist()
    [0, 1, 2, 4, 5, 8]
    """
    i, j = torch.triu_indices(outputs, outputs, device=device).unbind()
    return i * outputs + j


def _leverage_and_products(
    x: Tensor, outputs: int, basis: Eigenbasis, lump: Tensor, size: Tensor, probes: Tensor
) -> tuple[Tensor, Tensor]:
    """The leverage of all inputs and the probes' products, by lump; directions of a lump are adjacent."""
    leverage, upper = x.new_empty(len(x), len(size)), _upper(outputs, x.device)
    products = x.new_empty(len(probes), len(upper), len(size))
    rows = max(CHUNK_CELLS // (len(basis) * outputs), 1)
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
