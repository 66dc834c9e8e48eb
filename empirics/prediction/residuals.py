r"""Residuals and curvatures of single samples, averaged over scattered logits and reduced by a sample's own pull.

Arrays are (samples, columns), with outputs last if there are any. The covariance of the logits is taken as isotropic
in the directions that change probabilities, \(v\,(1-\tfrac1O\mathbf 1\mathbf 1^\top)\), and so is a sample's pull on
its own logits, \(\lambda\): exact for one output, and for small steps.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["View", "at_rest", "chances", "covariance", "damped", "mean_damping", "resolved", "saturation"]
__all__ += ["scattered", "shifted", "total", "view"]

SATURATION_MIN = 0.01  # lower end of the bracket for the remaining share of a pull
SATURATION_HALVINGS = 5  # of the bracket's logarithm; the rest is interpolated
NEWTON_STEPS = 4
NEWTON_STEP_MAX = 2  # in logits: where probabilities are near 0 or 1 the loss is nearly linear


def scattered(variance: Tensor, outputs: int) -> tuple[Tensor, Tensor]:
    """Quadrature points (…, points, O) and weights of a Gaussian, exact to third moments, to fifth with one output."""
    if outputs == 1:
        root = (3 * variance[..., None, None]).sqrt()
        weights = torch.cat([variance.new_full((1,), 2 / 3), variance.new_full((2,), 1 / 6)])
        return torch.cat([torch.zeros_like(root), root, -root], -2), weights
    frame = torch.eye(outputs, dtype=variance.dtype, device=variance.device) - 1 / outputs
    frame = torch.cat([frame, -frame])
    weights = variance.new_full((2 * outputs,), 1 / (2 * outputs))
    return (outputs * variance[..., None, None]).sqrt() * frame, weights


def chances(logits: Tensor) -> Tensor:
    """Class probabilities: the model's, but faster for few outputs and many samples on a CPU."""
    if logits.shape[-1] == 1:
        return logits.sigmoid()
    powers = (logits - logits.amax(-1, keepdim=True)).exp_()
    return powers.div_(powers.sum(-1, keepdim=True))


def shifted(logits: Tensor, by: Tensor) -> Tensor:
    """Probabilities at these logits, shifted, and kept between 0 and 1 with sum 1."""
    found = (chances(logits) + by).clamp(0, 1)
    return found if logits.shape[-1] == 1 else found / found.sum(-1, keepdim=True)


@dataclass(frozen=True)
class View:
    """Probabilities averaged over scattered logits, and `bend`, the factor by which that reduces their covariance."""

    chances: Tensor
    bend: Tensor

    @property
    def steepness(self) -> Tensor:
        """Mean curvature of the loss in a logit, tr W over the degrees of freedom."""
        return self.bend * _trace(self.chances)

    @property
    def curvature(self) -> Tensor:
        """W, (…, O, O)."""
        q = self.chances
        return self.bend[..., None, None] * (torch.diag_embed(q) - q[..., None] * q[..., None, :])

    def turned(self, matrices: Tensor) -> Tensor:
        """W times matrices (…, O, O), without a matrix product: W is diagonal less rank one."""
        own = self.chances[..., None] * matrices
        return self.bend[..., None, None] * (own - self.chances[..., None] * own.sum(-2, keepdim=True))


def view(logits: Tensor, variance: Tensor) -> View:
    """Average over logits with this variance."""
    moves, weights = scattered(variance, logits.shape[-1])
    points = chances(logits[..., None, :] + moves)
    mean = (weights[:, None] * points).sum(-2)
    own = (weights * _trace(points)).sum(-1)
    return View(mean, own / _trace(mean).clamp(min=torch.finfo(mean.dtype).tiny))


def covariance(logits: Tensor, variance: Tensor, response: Tensor) -> Tensor:
    """Covariance of response times probabilities over scattered logits, (…, O, O)."""
    moves, weights = scattered(variance, logits.shape[-1])
    points = chances(logits[..., None, :] + moves)
    apart = points - (weights[:, None] * points).sum(-2, keepdim=True)
    if logits.shape[-1] == 1:  # faster than matrix products
        return response.square() * (weights[:, None] * apart.square()).sum(-2, keepdim=True)
    turned = apart @ response.mT
    return (weights[:, None] * turned).mT @ turned


def _trace(q: Tensor) -> Tensor:
    """tr W over the degrees of freedom of the outputs."""
    return (q * (1 - q)).sum(-1) / max(q.shape[-1] - 1, 1)


def damped(seen: View, pull: Tensor, matrices: Tensor) -> Tensor:
    """(1 + λW)⁻¹ times matrices (…, O, columns), since W is diagonal less rank one."""
    q, strength = seen.chances[..., None], (seen.bend * pull)[..., None, None]
    if q.shape[-2] == 1:
        return matrices / (1 + strength * q * (1 - q))
    part = q / (1 + strength * q)
    y = matrices / (1 + strength * q)
    return y + strength * part * (q * y).sum(-2, keepdim=True) / part.sum(-2, keepdim=True)


def at_rest(
    logits: Tensor, targets: Tensor, pull: Tensor, seen: View, smoothed: Tensor
) -> tuple[Tensor, View]:
    """Equilibrium of samples that pull their own logits: u' with u' = u - λr(u'), and the averages there.

    Newton's method with steps of bounded length.
    """
    here = logits
    for _ in range(NEWTON_STEPS):
        off = here - logits + pull[..., None] * (seen.chances - targets)
        step = damped(seen, pull, off[..., None])[..., 0]
        long = step.abs().amax(-1, keepdim=True)
        here = here - step * (NEWTON_STEP_MAX / long.clamp(min=NEWTON_STEP_MAX))
        seen = View(shifted(here, smoothed), seen.bend)
    return here, seen


def resolved(seen: View, pull: Tensor, before: Tensor | float) -> Tensor:
    """(1 + λW)⁻¹(1 - W·before), (…, O, O)."""
    one = torch.eye(seen.chances.shape[-1], dtype=pull.dtype, device=pull.device)
    return damped(seen, pull, one - seen.turned(before) if isinstance(before, Tensor) else one)


def saturation(
    p: Tensor, logits: Tensor, targets: Tensor, pull: Tensor, seen: View, smoothed: Tensor
) -> Tensor:
    """Remaining share d of a pull, averaged over samples, (columns,).

    A sample whose pulls have faded with its residual is where 1/d times as many undamped pulls would have put it, and
    d is then the share of their residuals that such samples show: a root, found by bisection of its logarithm.
    """
    fresh = seen.chances - targets

    def excess(d: Tensor) -> Tensor:
        shown = at_rest(logits, targets, pull / d, seen, smoothed)[1].chances - targets
        return mean_damping(p, fresh, shown) - d

    high = pull.new_ones(pull.shape[1])
    low, above, below = torch.full_like(high, SATURATION_MIN), torch.ones_like(high), excess(high)
    for _ in range(SATURATION_HALVINGS):
        middle = (low * high).sqrt()
        value = excess(middle)
        low, above = torch.where(value > 0, middle, low), torch.where(value > 0, value, above)
        high, below = torch.where(value > 0, high, middle), torch.where(value > 0, below, value)
    part = (above / (above - below)).clamp(0, 1)
    return low + part * (high - low)


def mean_damping(p: Tensor, residual: Tensor, shown: Tensor) -> Tensor:
    """Share of their residuals that samples still show, weighted by the square, (columns,)."""
    whole = (p[..., None] * residual.square()).sum((0, 2))
    return (p[..., None] * residual * shown).sum((0, 2)) / whole.clamp(min=torch.finfo(p.dtype).tiny)


def total(parts: Iterable[Tensor]) -> Any:
    """Sum, 0 if there are no parts."""
    return sum(parts, 0)
