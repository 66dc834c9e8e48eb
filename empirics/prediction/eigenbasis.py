r"""The directions that the law of reuse follows, with the curvature along each and the variance of gradients.

They are the eigenvectors of \(\nabla^2F_P(\theta^\star)\); if the minimiser is on the ball, its radius comes first
and the others are tangent to the sphere. Of a large population only the first principal axes of the inputs have their
Hessian computed. Any other axis a is taken alone, with the eigenvectors of \(\mathbb E\,x_a^2W\), a matrix of the
outputs: curvature between it and other axes is neglected. Curvature and noise along the directions remain those of the
whole population, or of part of it on axes that no mean path moves along. On the ball the radial component is removed
from these directions, which are then not all orthogonal; sums of squares on the sphere are still right.
"""

from dataclasses import dataclass

import torch
from scipy.linalg import helmert
from torch import Tensor
from torch.nn import functional as F

from empirics.training.linear import Linear

__all__ = ["CHUNK_CELLS", "Eigenbasis", "eigenbasis"]

CURVATURE_RATIO_MIN = 1e-12  # of the largest curvature: flatter directions are dropped
CHUNK_CELLS = 20_000_000  # samples, directions and outputs held in memory at once
HESSIAN_PARAMETERS_MAX = 100  # parameters on the first principal axes, whose Hessian is computed
MOMENT_SAMPLES = 2000  # samples whose moments are summed at once


@dataclass(frozen=True)
class Eigenbasis:
    """Vectors of parameters: those of the first axes, then those of each other axis alone, in the given order. With a
    `radius`, that comes first and is projected out of the others."""

    together: Tensor  # (outputs, axes, directions)
    alone: Tensor  # (other axes, outputs, directions of each)
    order: Tensor | None = None
    radius: Tensor | None = None  # a unit vector
    share: Tensor | None = None  # component of each other vector along the radius

    def __len__(self) -> int:
        count = self.together.shape[2] + len(self.alone) * self.alone.shape[2]
        return (count if self.order is None else len(self.order)) + (self.radius is not None)

    def onto(self, vectors: Tensor) -> Tensor:
        """Components of parameters: (rows, parameters) to (rows, directions)."""
        axes, count = self.together.shape[1:]
        if not len(self.alone):
            found = vectors @ self.together.view(-1, count)
        else:
            each = self._along_all(vectors)
            others = torch.einsum("noa,aof->naf", each[..., axes:], self.alone)
            first = each[..., :axes].flatten(1) @ self.together.view(-1, count)
            found = torch.cat([first, others.flatten(1)], 1)
        return self._from_all(found, None if self.radius is None else (vectors @ self.radius)[:, None])

    def _along_all(self, vectors: Tensor) -> Tensor:
        """(rows, outputs, axes), padded with 0 for axes without parameters."""
        outputs, axes, _ = self.together.shape
        each = vectors.view(len(vectors), outputs, -1)
        return F.pad(each, (0, axes + len(self.alone) - each.shape[2]))

    def seen_by(self, x: Tensor) -> Tensor:
        """Change of the logits along each direction, (samples, directions, outputs)."""
        outputs, axes, count = self.together.shape
        turned = self.together.permute(2, 0, 1).reshape(-1, axes)
        found = (x[:, :axes] @ turned.T).view(-1, count, outputs)
        if len(self.alone):
            found = torch.cat([found, (x[:, axes:, None, None] * self.alone.mT).flatten(1, 2)], 1)
        if self.radius is None:
            return self._from_all(found, None)
        return self._from_all(found, (x @ self._along_all(self.radius[None])[0].T)[:, None])

    def _from_all(self, found: Tensor, along: Tensor | None) -> Tensor:
        """Components (rows, directions, …) in order, after those along the radius, (rows, 1, …)."""
        found = found if self.order is None else found[:, self.order]
        if along is None or self.share is None:
            return found
        share = self.share.view(-1, *[1] * (found.dim() - 2))
        return torch.cat([along, found - share * along], 1)


def eigenbasis(
    model: Linear, theta: Tensor, *, on_the_ball: bool, beyond: tuple[slice, Tensor] | None = None
) -> tuple[Eigenbasis, Tensor, Tensor]:
    """Eigenbasis by falling curvature, after the radius if any; the curvature along each, and the variance of ∇ℓ.

    Where the model's inputs are principal components, `beyond` has some of the samples and their further components.
    """
    if beyond is not None:
        return _by_axes(model, theta, *beyond, on_the_ball=on_the_ball)
    basis, curvature = _eigenvectors(model, theta, on_the_ball=on_the_ball)
    together = basis.contiguous().view(model.outputs, model.features, -1)
    found = Eigenbasis(together, basis.new_zeros(0, model.outputs, 1))
    return found, curvature, _noise(model, theta, found)


def _eigenvectors(model: Linear, theta: Tensor, *, on_the_ball: bool) -> tuple[Tensor, Tensor]:
    H = model.hessian(theta)
    first = theta.new_zeros(model.size, 0), theta.new_zeros(0)
    if on_the_ball:
        (u,) = theta / theta.norm()
        first = u[:, None], (u @ H @ u)[None]
        H = _across(H, u)
    values, vectors = torch.linalg.eigh(H)
    kept = values > CURVATURE_RATIO_MIN * values[-1]
    return torch.cat([first[0], vectors[:, kept].flip(1)], 1), torch.cat([first[1], values[kept].flip(0)])


def _across(H: Tensor, u: Tensor) -> Tensor:
    """A matrix projected onto the complement of a unit vector."""
    turned = H @ u
    return H - torch.outer(u, turned) - torch.outer(turned, u) + (u @ turned) * torch.outer(u, u)


def _noise(model: Linear, theta: Tensor, basis: Eigenbasis) -> Tensor:
    """Variance of ∇ℓ at theta, by direction."""
    x, (p,) = model.population.x, model.population.weights
    residual = model.residual(model.logits(theta, x), model.targets[:, None])[:, 0]
    square, mean = (x.new_zeros(len(basis)) for _ in range(2))
    rows = max(CHUNK_CELLS // (len(basis) * model.outputs), 1)
    for begin in range(0, len(x), rows):
        part = slice(begin, begin + rows)
        slope = (basis.seen_by(x[part]) @ residual[part, :, None])[..., 0]
        square, mean = square + p[part] @ slope.square(), mean + p[part] @ slope
    return square - mean.square()


# --- axis by axis ------------------------------------------------------------------------------------------


def _by_axes(
    model: Linear, theta: Tensor, some: slice, beyond: Tensor, *, on_the_ball: bool
) -> tuple[Eigenbasis, Tensor, Tensor]:
    """The first axes together; all others, and those beyond, one by one."""
    x, p = model.population.x, model.population.weights.T
    q = model.chances(model.logits(theta, x))[:, 0]
    residual, contrasts = q - model.targets, _contrasts(model.outputs).to(x)
    free = contrasts.shape[1]
    i, j = torch.triu_indices(free, free, device=x.device)
    seen, left = q @ contrasts, residual @ contrasts
    bend = q @ (contrasts[:, i] * contrasts[:, j]) - seen[:, i] * seen[:, j]
    count = min(max(HESSIAN_PARAMETERS_MAX // free, 1), model.features)
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
    found = Eigenbasis(together, contrasts @ vectors_alone)
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
    found = Eigenbasis(found.together, found.alone, radius=u[0], share=share)
    return _sorted(found, curvature, square - found.onto(slope)[0].square())


def _contrasts(outputs: int) -> Tensor:
    """Orthonormal basis of the logits that change probabilities, those of sum 0; (outputs, degrees of freedom)."""
    if outputs == 1:
        return torch.ones(1, 1, dtype=torch.float64)
    return torch.from_numpy(helmert(outputs).T)


def _moments(x: Tensor, weights: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Σ_i weight_i x_i x_iᵀ for each column of weights: on the first axes, (axes, axes, weights), and the diagonal on
    the others, (axes, weights)."""
    together = x.new_zeros(count, weights.shape[1] * count)
    for begin in range(0, len(x), MOMENT_SAMPLES):
        part, w = x[begin : begin + MOMENT_SAMPLES, :count], weights[begin : begin + MOMENT_SAMPLES]
        together += part.T @ (w[:, :, None] * part[:, None]).flatten(1)
    return together.view(count, -1, count).transpose(1, 2), x[:, count:].square().T @ weights


def _of_pairs(packed: Tensor, free: int) -> Tensor:
    """Symmetric matrices (…, free, free) from their upper triangles on the last axis."""
    i, j = torch.triu_indices(free, free, device=packed.device)
    full = packed.new_empty(*packed.shape[:-1], free, free)
    full[..., i, j] = full[..., j, i] = packed
    return full


def _along(matrices: Tensor, vectors: Tensor) -> Tensor:
    """vᵀ matrix v of each column v."""
    return ((matrices @ vectors) * vectors).sum(-2)


def _sorted(found: Eigenbasis, curvature: Tensor, noise: Tensor) -> tuple[Eigenbasis, Tensor, Tensor]:
    """Eigenbasis by falling curvature, without flat ones; the radius stays first."""
    first = int(found.radius is not None)
    order = curvature[first:].argsort(descending=True)
    order = order[curvature[first:][order] > CURVATURE_RATIO_MIN * curvature.max()]
    kept = torch.cat([order.new_zeros(first), order + first])
    share = None if found.share is None else found.share[order]
    ordered = Eigenbasis(found.together, found.alone, order, found.radius, share)
    return ordered, curvature[kept], noise[kept]
