r"""The directions that the law of reuse follows, with the curvature along each and the variance of gradients.

They are the eigenvectors of \(\nabla^2F_P(\theta^\star)\); where the minimiser lies on the ball, its radius and then
those along the sphere. Of a large population that is done for the principal axes that carry most of the inputs. Any
other axis a is taken alone, with the eigenvectors of \(\mathbb E\,x_a^2W\), a matrix of the outputs: what the
curvature has between it and other axes is left out, and along the directions both curvature and noise stay those of the
whole population, or of some of it where no mean path moves. On the ball what these directions have along its radius is
taken from them, and no longer are all of them orthogonal: squares still add up to what they are on the sphere.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from scipy.linalg import helmert
from torch import Tensor
from torch.nn import functional as F

from empirics.training.linear import Linear

__all__ = ["CHUNK", "Directions", "directions"]

FLAT = 1e-12  # directions of less curvature than this part of the largest are none
CHUNK = 20_000_000
MOST_TOGETHER = 100  # parameters whose Hessian is made, where inputs are seen along their principal axes
ROWS = 2000  # samples that are added up at once


@dataclass(frozen=True)
class Directions:
    """Vectors of parameters: those of the first axes, then those of each other axis alone, in some order; without what
    they have along the `radius`, which then comes first."""

    together: Tensor  # (outputs, axes, directions)
    alone: Tensor  # (other axes, outputs, directions of each)
    order: Tensor | None = None
    radius: Tensor | None = None  # a unit vector
    share: Tensor | None = None  # of the radius in each of the others, in their order

    def __len__(self) -> int:
        count = self.together.shape[2] + len(self.alone) * self.alone.shape[2]
        return (count if self.order is None else len(self.order)) + (self.radius is not None)

    def onto(self, vectors: Tensor) -> Tensor:
        """Of parameters the part along each direction: (rows, parameters) to (rows, directions)."""
        axes, count = self.together.shape[1:]
        if not len(self.alone):
            found = vectors @ self.together.view(-1, count)
        else:
            each = self._along_all(vectors)
            others = torch.einsum("noa,aof->naf", each[..., axes:], self.alone)
            found = torch.cat(
                [each[..., :axes].flatten(1) @ self.together.view(-1, count), others.flatten(1)], 1
            )
        return self._from_all(found, None if self.radius is None else (vectors @ self.radius)[:, None])

    def _along_all(self, vectors: Tensor) -> Tensor:
        """(rows, outputs, axes), 0 along axes that no parameters go along."""
        outputs, axes, _ = self.together.shape
        each = vectors.view(len(vectors), outputs, -1)
        return F.pad(each, (0, axes + len(self.alone) - each.shape[2]))

    def seen_by(self, x: Tensor) -> Tensor:
        """What logits change by along each direction, (samples, directions, outputs)."""
        outputs, axes, count = self.together.shape
        turned = self.together.permute(2, 0, 1).reshape(-1, axes)
        found = (x[:, :axes] @ turned.T).view(-1, count, outputs)
        if len(self.alone):
            found = torch.cat([found, (x[:, axes:, None, None] * self.alone.mT).flatten(1, 2)], 1)
        return self._from_all(
            found, None if self.radius is None else (x @ self._along_all(self.radius[None])[0].T)[:, None]
        )

    def _from_all(self, found: Tensor, along: Tensor | None) -> Tensor:
        """Those that are left of (rows, directions, …), with what lies along the radius, (rows, 1, …)."""
        found = found if self.order is None else found[:, self.order]
        if along is None or self.share is None:
            return found
        share = self.share.view(-1, *[1] * (found.dim() - 2))
        return torch.cat([along, found - share * along], 1)


def directions(
    model: Linear, theta: Tensor, *, on_the_ball: bool, beyond: tuple[slice, Tensor] | None = None
) -> tuple[Directions, Tensor, Tensor]:
    """Largest curvature first but for the radius; the curvature along each, and the variance of ∇ℓ.

    Of inputs that are seen along principal axes, `beyond` has which of them are seen along more, and these parts.
    """
    if beyond is not None:
        return _by_axes(model, theta, *beyond, on_the_ball=on_the_ball)
    basis, curvature = _eigenvectors(model, theta, on_the_ball=on_the_ball)
    found = Directions(
        basis.contiguous().view(model.outputs, model.features, -1), basis.new_zeros(0, model.outputs, 1)
    )
    return found, curvature, _noise(model, theta, found)


def _eigenvectors(model: Linear, theta: Tensor, *, on_the_ball: bool) -> tuple[Tensor, Tensor]:
    H = model.hessian(theta)
    first = theta.new_zeros(model.size, 0), theta.new_zeros(0)
    if on_the_ball:
        u = theta[0] / theta.norm()
        first = u[:, None], (u @ H @ u)[None]
        H = _across(H, u)
    values, vectors = torch.linalg.eigh(H)
    kept = values > FLAT * values[-1]
    return torch.cat([first[0], vectors[:, kept].flip(1)], 1), torch.cat([first[1], values[kept].flip(0)])


def _across(H: Tensor, u: Tensor) -> Tensor:
    """A matrix without what it has along a unit vector."""
    turned = H @ u
    return H - torch.outer(u, turned) - torch.outer(turned, u) + (u @ turned) * torch.outer(u, u)


def _noise(model: Linear, theta: Tensor, basis: Directions) -> Tensor:
    """The variance of ∇ℓ at theta, by direction."""
    x, p = model.population.x, model.population.weights[0]
    residual = model.residual(model.logits(theta, x), model.targets[:, None])[:, 0]
    square, mean = (x.new_zeros(len(basis)) for _ in range(2))
    rows = max(CHUNK // (len(basis) * model.outputs), 1)
    for begin in range(0, len(x), rows):
        part = slice(begin, begin + rows)
        slope = (basis.seen_by(x[part]) @ residual[part, :, None])[..., 0]
        square, mean = square + p[part] @ slope.square(), mean + p[part] @ slope
    return square - mean.square()


# --- axis by axis ------------------------------------------------------------------------------------------


def _by_axes(
    model: Linear, theta: Tensor, some: slice, beyond: Tensor, *, on_the_ball: bool
) -> tuple[Directions, Tensor, Tensor]:
    """The first axes together, the others one by one, and so those beyond."""
    x, p = model.population.x, model.population.weights[0][:, None]
    q = model.chances(model.logits(theta, x))[:, 0]
    residual, contrasts = q - model.targets, _contrasts(model.outputs).to(x)
    free = contrasts.shape[1]
    i, j = torch.triu_indices(free, free, device=x.device)
    seen, left = q @ contrasts, residual @ contrasts
    bend = q @ (contrasts[:, i] * contrasts[:, j]) - seen[:, i] * seen[:, j]
    count = min(max(MOST_TOGETHER // free, 1), model.features)
    weights = p * torch.cat([bend, left[:, i] * left[:, j]], 1)
    first, others = _moments(x, weights, count)
    share = p[some].sum().clamp(min=torch.finfo(x.dtype).tiny)
    others = torch.cat([others, beyond.square().T @ weights[some] / share])
    H, C = (_of_pairs(one, free).permute(2, 0, 3, 1).flatten(2).flatten(0, 1) for one in first.chunk(2, -1))
    H_alone, C_alone = (_of_pairs(one, free) for one in others.chunk(2, -1))
    u = theta / theta.norm()
    part = (contrasts.T @ u.view(model.outputs, -1)[:, :count]).flatten()  # of the radius, in the first axes
    across = _across(H, part / part.norm()) if on_the_ball else H
    vectors, (values_alone, vectors_alone) = torch.linalg.eigh(across)[1], torch.linalg.eigh(H_alone)
    curvature = torch.cat([_along(H, vectors), values_alone.flatten()])
    square = torch.cat([_along(C, vectors), _along(C_alone, vectors_alone).flatten()])
    together = (contrasts @ vectors.reshape(free, -1)).view(model.outputs, count, -1)
    found = Directions(together, contrasts @ vectors_alone)
    slope = model.weighted_inputs((p * residual)[:, None])
    if not on_the_ball:
        return _sorted(found, curvature, square - found.onto(slope)[0].square())
    turned = model.curvature(theta)(u)
    pulled = (residual * model.logits(u, x)[:, 0]).sum(1, keepdim=True)
    spread = model.weighted_inputs((p * pulled * residual)[:, None])
    share, *images = found.onto(torch.cat([u, turned, spread]))
    own = [(u * image).sum() for image in (turned, spread)]
    curvature, square = (
        torch.cat([steep[None], old + share * (share * steep - 2 * image)])
        for old, image, steep in zip((curvature, square), images, own, strict=True)
    )
    found = Directions(found.together, found.alone, radius=u[0], share=share)
    return _sorted(found, curvature, square - found.onto(slope)[0].square())


def _contrasts(outputs: int) -> Tensor:
    """An orthonormal basis of what moves chances: with several outputs, of what adds up to 0; (outputs, freedom)."""
    if outputs == 1:
        return torch.ones(1, 1, dtype=torch.float64)
    return torch.from_numpy(helmert(outputs).T)


def _moments(x: Tensor, weights: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Σ_i weight_i x_i x_iᵀ for each column of weights: of the first axes, (axes, axes, weights), and of each of the
    others alone, (axes, weights)."""
    together = x.new_zeros(count, weights.shape[1] * count)
    for begin in range(0, len(x), ROWS):
        part, w = x[begin : begin + ROWS, :count], weights[begin : begin + ROWS]
        together += part.T @ (w[:, :, None] * part[:, None]).flatten(1)
    return together.view(count, -1, count).transpose(1, 2), x[:, count:].square().T @ weights


def _of_pairs(packed: Tensor, free: int) -> Tensor:
    """Symmetric matrices from their upper triangles, which are the last axis: (…, free, free)."""
    i, j = torch.triu_indices(free, free, device=packed.device)
    full = packed.new_empty(*packed.shape[:-1], free, free)
    full[..., i, j] = full[..., j, i] = packed
    return full


def _along(matrices: Tensor, vectors: Tensor) -> Tensor:
    """vᵀ matrix v of each column v."""
    return ((matrices @ vectors) * vectors).sum(-2)


def _sorted(found: Directions, curvature: Tensor, noise: Tensor) -> tuple[Directions, Tensor, Tensor]:
    """The largest curvature first, and none that are flat; the radius stays where it is."""
    first = int(found.radius is not None)
    order = curvature[first:].argsort(descending=True)
    order = order[curvature[first:][order] > FLAT * curvature.max()]
    kept = torch.cat([order.new_zeros(first), order + first])
    share = None if found.share is None else found.share[order]
    ordered = Directions(found.together, found.alone, order, found.radius, share)
    return ordered, curvature[kept], noise[kept]
