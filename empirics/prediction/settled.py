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
    path: Tensor
    left: Tensor
    steep: Tensor
    S: Tensor
    limit: Tensor
    at: Tensor  # the mean path's distance from the minimiser, (rows, directions)
    end: Tensor
    doubt: Tensor  # the risk that the mean path's way to go is worth, at most, if it goes as it went, (rows,)

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
        now, path = closure.excess_risk(anew=False)
        steep = land.curvature[land.lump] + land.multiplier
        doubt = 0.5 * (steep * (2 * at.abs() + moved.abs()) * moved.abs()).sum(1)
        return cls(closure.round, land, now, path, left, closure.steep, closure.S, limit, at, end, doubt)

    @property
    def limit_risk(self) -> Tensor:
        """Expected excess risk in the limit, (rows,)."""
        return self._risks(torch.zeros_like(self.left)[None])[0][0]

    def risks(self, times: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Expected excess risk after so many rounds, and of it what the mean path has, (times, rows) each."""
        passed = self.left.new_tensor([t - self.round for t in times])
        parts = (passed[begin : begin + CHUNK] for begin in range(0, len(passed), CHUNK))
        found = [self._risks(self.left.abs() ** part[:, None, None]) for part in parts]
        return torch.cat([risk for risk, _ in found]), torch.cat([path for _, path in found])

    def _risks(self, part: Tensor) -> tuple[Tensor, Tensor]:
        """Where this part of every distance is left, (times, rows, lumps).

        On the ball nothing moves along its radius, and the rest costs the multiplier too.
        """
        land = self.land
        mu = land.multiplier * (self.left[:, :1] == 0)
        free = torch.ones_like(self.left)
        free[:, :1] -= (mu > 0).to(free)
        more = free * (1 - part.square()) * (self.limit - self.S)
        at = self.end + part[..., land.lump] * (self.at - self.end)
        squares = free[:, land.lump] * (at.square() - self.at.square())
        moved = 0.5 * (((land.curvature[land.lump] + mu) * squares).sum(-1) + (mu * more).sum(-1))
        return self.now + moved + 0.5 * (self.steep * more).sum(-1), self.path + moved
