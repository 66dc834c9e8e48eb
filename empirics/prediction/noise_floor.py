"""The noise floor by the plain law of reuse, for what has not settled: at the minimiser, with the last memories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.cohorts import Memories
from empirics.prediction.loss_landscape import Landscape
from empirics.training.model import Descent
from theory.law.quadratic import stationary_noise

__all__ = ["law_floor"]

FOREVER = 1e9  # rounds: who admits nothing any more keeps what he has


def law_floor(
    land: Landscape, descent: Descent, memories: Memories, trainings: NDArray[np.int64]
) -> NDArray[np.float64]:
    r"""\(\tfrac12\sum_h(h+\mu)s_h^2\sum_mw_m^2K_mv(a_h,K_m)/n_m\), (rows,): client m's part of the memory is
    a memory of its own, of \(n_m\) samples that stay for \(K_m=n_m/\lambda_m\) rounds. Of each row so many rounds
    count as it has trained; one that never has is not a number."""
    n = memories.ends - memories.starts
    h, mu = land.curvature.cpu().numpy(), land.multiplier
    noise = land.noise.cpu().numpy()
    first = int(land.on_the_ball)
    found = np.full(memories.rows, np.nan)
    for row, count in enumerate(trainings.tolist()):
        if not count:
            continue
        recent = memories.admissions[count // 2 : count, row].mean(axis=0)
        contraction, response = _round(h, _step_size(descent.eta, row, len(land.groups)), descent, mu)
        spread = np.zeros_like(h)
        for size, rate, w in zip(n[count - 1, row], recent, memories.weights[count - 1, row], strict=True):
            if size:
                K = min(max(size / rate, 1.0), FOREVER) if rate else FOREVER
                spread += w**2 * K / size * np.array([stationary_noise(float(one), K) for one in contraction])
        scatter = noise * (response / (1 - contraction)) ** 2 * spread
        found[row] = 0.5 * ((h + mu) * scatter)[first:].sum()
    return found


def _step_size(eta: float | Tensor, row: int, groups: int) -> float:
    return float(eta[row * groups, 0]) if isinstance(eta, Tensor) else float(eta)


def _round(
    h: NDArray[np.float64], eta: float, descent: Descent, mu: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a round leaves of a distance, and what a unit gradient adds, by direction."""
    contraction, response = np.ones_like(h), np.zeros_like(h)
    speed, push = np.zeros_like(h), np.zeros_like(h)
    for _ in range(descent.steps):
        speed, push = descent.momentum * speed - h * contraction, descent.momentum * push + 1 - h * response
        contraction, response = contraction + eta * speed, response + eta * push
    ball = 1 + mu * response
    return np.clip(contraction / ball, 0, 1 - 1e-12), response / ball
