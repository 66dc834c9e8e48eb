"""What follows once a closure's rounds repeat: from hundreds of rounds to millions, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from empirics.prediction.landscape import Landscape

if TYPE_CHECKING:
    from empirics.prediction.closure import Closure

__all__ = ["Settled"]

ROUNDING = 1e-14
CHUNK = 64


@dataclass(frozen=True)
class Settled:
    """What follows once admissions, curvature and noise are stationary: S and the mean path decay geometrically
    towards limits, which the last half of the rounds tell."""

    round: int
    land: Landscape
    now: Tensor
    left: Tensor
    steep: Tensor
    S: Tensor
    limit: Tensor
    at: Tensor  # the mean path's distance from the minimiser, (rows, directions)
    end: Tensor

    @classmethod
    def of(cls, closure: Closure) -> Settled:
        """As a closure's last rounds tell."""
        land = closure.land
        half = [one for one in closure.earlier if 2 * one[0] <= closure.round]
        since, forced = half[-1] if half else closure.earlier[0]
        left = closure.left.clamp(ROUNDING - 1, 1 - ROUNDING)
        limit = (closure.forced - forced) / max(closure.round - since, 1) / (1 - left.square())
        own = left[:, land.lump]
        at = (closure.theta - land.best.theta) @ land.basis
        moved = ((closure.theta - closure.before) @ land.basis) * own / (1 - own)
        # what is left to go leads towards the minimiser, not past it and not away
        end = at - torch.where(moved * at < 0, at.sign() * torch.minimum(moved.abs(), at.abs()), 0)
        now, _ = closure.excess_risk(anew=False)
        return cls(closure.round, land, now, left, closure.steep, closure.S, limit, at, end)

    @property
    def limit_risk(self) -> Tensor:
        """Expected excess risk in the limit, (rows,)."""
        return self._risk(torch.zeros_like(self.left)[None])[0]

    def risk(self, times: Sequence[int]) -> Tensor:
        """Expected excess risk after so many rounds, (times, rows)."""
        passed = self.left.new_tensor([t - self.round for t in times])
        parts = (passed[begin : begin + CHUNK] for begin in range(0, len(passed), CHUNK))
        return torch.cat([self._risk(self.left.abs() ** part[:, None, None]) for part in parts])

    def _risk(self, part: Tensor) -> Tensor:
        """Where this part of every distance is left, (times, rows, lumps)."""
        land, first = self.land, int(self.land.on_the_ball)  # the radius does not move
        more = ((1 - part.square()) * (self.limit - self.S))[..., first:]
        at = self.end + part[..., land.lump] * (self.at - self.end)
        squares = (at.square() - self.at.square())[..., first:]
        steep, h, mu = self.steep[:, first:], land.curvature[land.lump][first:], land.multiplier
        return self.now + 0.5 * (((steep + mu) * more).sum(-1) + ((h + mu) * squares).sum(-1))
