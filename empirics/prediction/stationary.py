"""What follows once a closure's rounds repeat: from hundreds of rounds to millions, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from empirics.prediction.loss_landscape import Landscape

__all__ = ["LastRound", "Settled"]

ROUNDING = 1e-14
CHUNK = 64


@dataclass(frozen=True)
class LastRound:
    """The state after a closure's last round; `growth` is the scatter that a round adds, on average over the last
    half of the rounds. Of risks and parameters there is one row per run, of the others (rows, lumps)."""

    round: int
    risk: Tensor
    path: Tensor
    theta: Tensor
    theta_before: Tensor
    contraction: Tensor
    scatter: Tensor
    growth: Tensor
    curvature: Tensor


@dataclass(frozen=True)
class Settled:
    """What follows once admissions, curvature and noise are stationary: the scatter and the mean path's distance from
    the minimiser decay geometrically towards limits."""

    landscape: Landscape
    last: LastRound
    contraction: Tensor
    limit: Tensor  # of the scatter
    distance: Tensor  # of the mean path, (rows, directions)
    final_distance: Tensor
    doubt: Tensor  # the risk that the mean path's way to go is worth, at most, if it goes as it went, (rows,)

    @classmethod
    def after(cls, last: LastRound, landscape: Landscape) -> Settled:
        """As the last round tells."""
        lump = landscape.lump
        contraction = last.contraction.clamp(ROUNDING - 1, 1 - ROUNDING)
        each = contraction[:, lump]
        distance = landscape.basis.onto(last.theta - landscape.best.theta)
        to_go = landscape.basis.onto(last.theta - last.theta_before) * each / (1 - each)
        # what is left to go leads towards the minimiser, not past it and not away
        gone = torch.where(
            to_go * distance < 0, distance.sign() * torch.minimum(to_go.abs(), distance.abs()), 0
        )
        steepness = landscape.curvature[lump] + landscape.multiplier
        return cls(
            landscape,
            last,
            contraction,
            limit=last.growth / (1 - contraction.square()),
            distance=distance,
            final_distance=distance - gone,
            doubt=0.5 * (steepness * (2 * distance.abs() + to_go.abs()) * to_go.abs()).sum(1),
        )

    @property
    def limit_risk(self) -> Tensor:
        """Expected excess risk in the limit, (rows,)."""
        return self._risks(torch.zeros_like(self.contraction)[None])[0][0]

    def risks(self, times: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Expected excess risk after so many rounds, and of it what the mean path has, (times, rows) each."""
        passed = self.contraction.new_tensor([t - self.last.round for t in times])
        parts = (passed[begin : begin + CHUNK] for begin in range(0, len(passed), CHUNK))
        found = [self._risks(self.contraction.abs() ** part[:, None, None]) for part in parts]
        return torch.cat([risk for risk, _ in found]), torch.cat([path for _, path in found])

    def _risks(self, part: Tensor) -> tuple[Tensor, Tensor]:
        """Where this part of every distance is left, (times, rows, lumps).

        On the ball nothing moves along its radius, and the rest costs the multiplier too.
        """
        land, last = self.landscape, self.last
        mu = land.multiplier * (self.contraction[:, :1] == 0)
        free = torch.ones_like(self.contraction)
        free[:, :1] -= (mu > 0).to(free)
        more = free * (1 - part.square()) * (self.limit - last.scatter)
        there = self.final_distance + part[..., land.lump] * (self.distance - self.final_distance)
        squares = there.square() - self.distance.square()
        moved = 0.5 * (((land.curvature[land.lump] + mu) * squares).sum(-1) + (mu * more).sum(-1))
        return last.risk + moved + 0.5 * (last.curvature * more).sum(-1), last.path + moved
