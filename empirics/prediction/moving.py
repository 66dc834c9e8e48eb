r"""How fast a population moves, from samples that have times: the q of `theory.drift`, with an interval.

All samples together have a minimiser. Around it, in the eigenbasis of the Hessian, the gradients of samples have mean 0
over all of them and, over a stretch of time, about \(-h\) times what the optimum of that stretch is away. So stretches
of equal length that are neighbours differ, beyond the scatter of their samples, by what the optimum has moved: behind a
walk by \(\tfrac{2R^2+1}{3R}q\), R being the rounds of a stretch. Each pair is one independent measurement of q,
relative to the variance of a sample, averaged over all directions; Student's t makes the interval. Nothing is fitted to
an outcome. Few long stretches tell a slow walk better than many short ones: the scatter of a stretch's mean falls with
its length, and what a walk does grows with it. Where a walk goes far the loss bends, and q comes out too low.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.forecast import landscape_of
from empirics.prediction.landscape import projected
from empirics.training.problem import Problem
from theory.setting import SettingError
from theory.student import half_width

__all__ = ["Moving", "drift_of_pairs", "how_it_moves"]

PAIRS, FEWEST, LEVEL = 6, 4, 0.95
LEAST = 10  # samples of a stretch
STEEP = 1e-3  # of the largest curvature: flatter directions are hardly learnt, and hardly measured


@dataclass(frozen=True)
class Moving:
    """q over the variance of a sample, for a round, and half its 95 % interval; curvatures and variances of samples."""

    drift: float
    half_width: float
    pairs: int
    samples: int
    h: tuple[float, ...]
    variance: tuple[float, ...]

    @property
    def low(self) -> float:
        return max(self.drift - self.half_width, 0.0)

    @property
    def high(self) -> float:
        return max(self.drift + self.half_width, 0.0)

    @property
    def told(self) -> bool:
        """Whether it is told from no drift at all."""
        return self.drift > self.half_width


def how_it_moves(problem: Problem, time: NDArray[np.float64] | None, rounds: int) -> Moving:
    """Of all training samples, in the order of their times or of their file, which took so many rounds to come."""
    land = landscape_of(problem)
    model = (land.whole or land).model
    count = len(model.population.x)
    pairs = min(PAIRS, count // (2 * LEAST), rounds // 2)
    if pairs < FEWEST:
        raise SettingError(
            f"{count} samples of {rounds} rounds do not tell how the population moves: take "
            f"{2 * LEAST * FEWEST} samples and {2 * FEWEST} rounds or more"
        )
    order = np.arange(count) if time is None else np.argsort(time, kind="stable")
    logits = model.logits(land.best.theta, model.population.x)
    residual = model.residual(logits, model.targets[:, None])[:, 0]
    scores = (projected(model.population.x, land.basis, model) @ residual[..., None])[..., 0]
    h = (land.curvature[land.lump] + land.multiplier).double()
    steep = h >= STEEP * h.max()
    steep[: int(land.on_the_ball)] = False  # the ball holds what is along its radius
    scores, h = scores[torch.from_numpy(order).to(scores.device)][:, steep], h[steep]
    found = drift_of_pairs(scores, pairs, rounds)
    variance = scores.var(0) / h.square()
    return Moving(
        drift=float(found.mean()),
        half_width=float(half_width(found, LEVEL)),
        pairs=pairs,
        samples=count,
        h=tuple(h.tolist()),
        variance=tuple(variance.tolist()),
    )


def drift_of_pairs(scores: Tensor, pairs: int, rounds: int) -> NDArray[np.float64]:
    """q by each pair of neighbouring stretches: the square of the difference of their means, less what the scatter of
    samples within them makes of it, over the variance of a sample, on average over directions; and over what a walk
    with q = 1 does between two stretches."""
    stretch, found = rounds / (2 * pairs), []
    behind = (2 * stretch**2 + 1) / (3 * stretch)
    for pair in torch.tensor_split(scores, pairs):
        halves = torch.tensor_split(pair, 2)
        first, second = (half.mean(0) for half in halves)
        scatter = [half.var(0) / len(half) for half in halves]
        each = (first - second).square() - scatter[0] - scatter[1]
        inner = (halves[0].var(0) + halves[1].var(0)) / 2
        found.append((each / inner.clamp(min=torch.finfo(each.dtype).tiny)).mean())
    return torch.stack(found).cpu().numpy() / behind
