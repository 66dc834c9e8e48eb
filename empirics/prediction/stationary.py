"""The long run: later rounds in closed form once rounds repeat, and the noise floor by the plain law before that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from empirics.prediction.loss_landscape import LossLandscape
from empirics.prediction.memory import Counts, Floats, Memories
from empirics.training.model import Descent
from theory.law.quadratic import stationary_noise

__all__ = ["LastRound", "StationaryPhase", "law_floor"]

CONTRACTION_GAP_MIN = 1e-14  # between a contraction and ±1, so that limits stay finite
TIMES_AT_ONCE = 64  # rounds whose risk is computed at once, which bounds memory
ROUNDS_KEPT_MAX = 1e9  # rounds for which a client without further admissions keeps its samples


@dataclass(frozen=True)
class LastRound:
    """The state after the last followed round; (rows,) for risks, (rows, parameters) for θ, else (rows, lumps)."""

    round: int
    risk: Tensor
    path: Tensor
    theta: Tensor
    theta_before: Tensor
    contraction: Tensor
    scatter: Tensor
    growth: Tensor  # scatter that a round adds, averaged over the last half of all rounds
    curvature: Tensor


@dataclass(frozen=True)
class StationaryPhase:
    """Rounds with stationary admissions, curvature and noise: the scatter and the mean path's distance from the
    minimiser decay geometrically towards limits."""

    landscape: LossLandscape
    last: LastRound
    contraction: Tensor
    limit: Tensor  # of the scatter
    distance: Tensor  # of the mean path from the minimiser, (rows, directions)
    final_distance: Tensor
    doubt: Tensor  # upper estimate of the risk that the mean path still has to lose, (rows,)

    @classmethod
    def after(cls, last: LastRound, landscape: LossLandscape) -> Self:
        """Extrapolate the last round."""
        lump = landscape.lump
        contraction = last.contraction.clamp(CONTRACTION_GAP_MIN - 1, 1 - CONTRACTION_GAP_MIN)
        each = contraction[:, lump]
        distance = landscape.basis.onto(last.theta - landscape.best.theta)
        to_go = landscape.basis.onto(last.theta - last.theta_before) * each / (1 - each)
        # the remaining way leads towards the minimiser, not past it and not away
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
        """Expected excess risk after these rounds, and the mean path's part of it, (times, rows) each."""
        passed = self.contraction.new_tensor([t - self.last.round for t in times])
        chunks = (passed[begin : begin + TIMES_AT_ONCE] for begin in range(0, len(passed), TIMES_AT_ONCE))
        found = [self._risks(self.contraction.abs() ** part[:, None, None]) for part in chunks]
        return torch.cat([risk for risk, _ in found]), torch.cat([path for _, path in found])

    def _risks(self, part: Tensor) -> tuple[Tensor, Tensor]:
        """Risks where this share of every distance remains, (times, rows, lumps).

        On the ball nothing moves along its radius, and motion along the sphere costs the multiplier too.
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


# --- the plain law -----------------------------------------------------------------------------------------


def law_floor(land: LossLandscape, descent: Descent, memories: Memories, trainings: Counts) -> Floats:
    r"""The noise floor at the minimiser with the last memories, for curves that have not settled, (rows,):
    \(\tfrac12\sum_h(h+\mu)s_h^2\sum_mw_m^2K_mv(a_h,K_m)/n_m\).

    Client m's samples count as a memory of its own, of \(n_m\) samples kept for \(K_m=n_m/\lambda_m\) rounds. Each row
    has its own number of trainings; a row without any is NaN."""
    n = memories.ends - memories.starts
    h, mu = land.curvature.cpu().numpy(), land.multiplier
    noise = land.noise.cpu().numpy()
    first = int(land.on_the_ball)
    found = np.full(memories.rows, np.nan)
    for row, count in enumerate(trainings.tolist()):
        if not count:
            continue
        recent = memories.admissions[count // 2 : count, row].mean(axis=0)
        eta = descent.eta[row * len(land.groups), 0] if isinstance(descent.eta, Tensor) else descent.eta
        contraction, response = _round(h, float(eta), descent, mu)
        spread = np.zeros_like(h)
        for size, rate, w in zip(n[count - 1, row], recent, memories.weights[count - 1, row], strict=True):
            if size:
                K = min(max(size / rate, 1.0), ROUNDS_KEPT_MAX) if rate else ROUNDS_KEPT_MAX
                spread += w**2 * K / size * np.array([stationary_noise(float(one), K) for one in contraction])
        scatter = noise * (response / (1 - contraction)) ** 2 * spread
        found[row] = 0.5 * ((h + mu) * scatter)[first:].sum()
    return found


def _round(h: Floats, eta: float, descent: Descent, mu: float) -> tuple[Floats, Floats]:
    """Contraction of a distance by one round, and the response to a unit gradient, by direction."""
    contraction, response = np.ones_like(h), np.zeros_like(h)
    speed, push = np.zeros_like(h), np.zeros_like(h)
    for _ in range(descent.steps):
        speed, push = descent.momentum * speed - h * contraction, descent.momentum * push + 1 - h * response
        contraction, response = contraction + eta * speed, response + eta * push
    ball = 1 + mu * response
    return np.clip(contraction / ball, 0, 1 - 1e-12), response / ball
