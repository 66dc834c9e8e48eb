r"""How fast a population moves, from samples that have times: the q of `theory.drift.moving_optimum`, with an interval.

All samples together have a minimiser. There, in the eigenbasis of the Hessian, the mean gradient of the samples of a
stretch of time is about \(-h\) times what the optimum of that stretch is away. Gradients are taken over the standard
deviation of one sample's, which neighbours in time tell: their differences hold next to nothing of the drift. If the
optimum walks, the means of stretches have the covariance \(c+qC\), c the noise and C the covariance of a walk of
variance 1 a round, seen at these times. In the eigenbasis of C, centred, they are independent with variances
\(c+qw_k\). So q solves the equation of greatest likelihood, and its interval is what a test of that equation does not
reject, with as many degrees of freedom as its first two moments say (Satterthwaite 1946). Directions need not move
alike: how many do, in effect, is measured by the products of different k. q is the mean over directions, and each has
a share of it: what was found along it, drawn towards q by as much as chance alone would scatter it.

Nothing is fitted to an outcome. Where a walk goes far the loss bends, and q comes out too low; and so it does, by
\(1+q\delta/2\), for directions that move much in the time δ between neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import gammainc

from empirics.prediction.loss_landscape import LossLandscape
from theory.setting import SettingError

__all__ = ["DriftSpeed", "StretchMeans", "measure_drift", "stretch_means"]

MOST, FEWEST, LEAST = 24, 8, 10  # stretches, and samples of one
LEVEL = 0.95
STEEP = 1e-3  # of the largest curvature: flatter directions are hardly learnt, and hardly measured
GRID, SPAN, HALVINGS = 200, 1e-12, 60
ROUNDED = 1e-9
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DriftSpeed:
    """q over the variance of a sample, in a round, and its 95 % interval; curvatures and variances of samples, and what
    each direction moves over q."""

    drift: float
    low: float
    high: float
    samples: int
    rounds: int
    h: tuple[float, ...]
    variance: tuple[float, ...]
    shares: tuple[float, ...]
    lumps: tuple[int, ...]  # of the landscape, that these directions belong to
    moving: float  # directions, as many as would move alike

    @property
    def told(self) -> bool:
        """Whether it is told from no drift at all."""
        return self.low > 0


@dataclass(frozen=True)
class StretchMeans:
    """Independent combinations of the means of stretches: of variance `noise` + q·`walk` in every direction.

    `found` is (combinations, directions), in units of a sample's standard deviation, and `alike` the trace of the
    square of the correlations of a sample's directions, their number if there are none.
    """

    found: Floats
    walk: Floats
    noise: float
    alike: float

    @property
    def _squares(self) -> Floats:
        squares: Floats = (self.found**2).mean(axis=1)
        return squares

    def drift(self) -> float:
        """The q of greatest likelihood, at least 0."""

        def score(q: float) -> float:
            variance = self.noise + q * self.walk
            return float((self.walk * (self._squares - variance) / variance**2).sum())

        return 0.0 if score(0.0) <= 0 else _crossing(score, 0.0, self._most)

    @property
    def _most(self) -> float:
        return float(1e4 * (self._squares / self.walk).max())

    def moving_directions(self) -> float:
        """How many directions move, as many as would alike: (tr Q)²/tr Q², from products of different combinations."""
        q, (_, D), w, c = self.drift(), self.found.shape, self.walk, self.noise
        i, j = np.triu_indices(len(w), 1)
        products = ((self.found @ self.found.T) ** 2)[i, j]
        by_noise = self.alike * c * (c + q * (w[i] + w[j]))
        weight = w[i] * w[j] / ((c + q * w[i]) * (c + q * w[j])) ** 2
        square = float((weight * (products - by_noise)).sum() / (weight * w[i] * w[j]).sum())
        return float(np.clip((D * q) ** 2 / square, 1, D)) if square > 0 else float(D)

    def shares(self) -> Floats:
        """What each direction moves over q, of mean 1: what was found along it, as far as that is more than chance."""
        q, D, w, c = self.drift(), self.found.shape[1], self.walk, self.noise
        if q == 0:
            return np.ones(D)
        weight = w / (c + q * w) ** 2
        own = weight @ (self.found**2 - c) / (weight @ w)
        by_chance = 2 * float(weight**2 @ (c + q * w) ** 2) / float(weight @ w) ** 2
        apart = q**2 * (D / self.moving_directions() - 1)
        found = np.maximum(q + apart / (apart + by_chance) * (own - q), 0)
        shares: Floats = found / found.mean()
        return shares

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """All q that the test does not reject, from the least to the greatest."""
        directions, D, half = self.moving_directions(), self.found.shape[1], (1 - level) / 2
        squares, w, c = self._squares, self.walk, self.noise

        def rank(q: float) -> float:
            """Of what was found among what this q would make: 0 for the least."""
            variance = c + q * w
            weight = w / variance**2
            expected = (weight * variance).sum()
            scatter = self.alike * c * (c + 2 * q * w) / D**2 + (q * w) ** 2 / directions
            freedom = expected**2 / (weight**2 * scatter).sum()
            return float(gammainc(freedom / 2, freedom * (weight * squares).sum() / expected / 2))

        grid = np.concatenate([[0.0], np.geomspace(SPAN * self._most, self._most, GRID)])
        held = np.flatnonzero([half <= rank(q) <= 1 - half for q in grid])
        if not len(held):  # quieter than noise alone
            return 0.0, 0.0
        first, last = int(held[0]), int(held[-1])
        low = 0.0 if first == 0 else _crossing(lambda q: rank(q) - 1 + half, grid[first - 1], grid[first])
        high = self._most if last == GRID else _crossing(lambda q: rank(q) - half, grid[last], grid[last + 1])
        return float(low), float(high)


def _crossing(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where it falls below 0, between these."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def stretch_means(scores: Floats, time: Floats) -> StretchMeans:
    """Of (samples, directions) in the order of their times, which are in rounds."""
    count, D = scores.shape
    stretches = min(MOST, count // LEAST)
    steps = np.diff(scores, axis=0)
    scale = np.sqrt((steps**2).mean(axis=0) / 2)
    scale[scale == 0] = 1
    steps, scores = steps / scale, scores / scale
    alike = float(((steps.T @ steps / (2 * len(steps))) ** 2).sum() - 1.5 * D * D / count)
    size = count // stretches
    kept = slice(count - size * stretches, None)
    means = scores[kept].reshape(stretches, size, D).mean(axis=1)
    when = time[kept].reshape(stretches, size) - time[0]
    walk = np.minimum.outer(when.mean(axis=1), when.mean(axis=1))
    younger = 2 * (size - np.arange(size)) - 1  # pairs in which a sample is the younger one
    np.fill_diagonal(walk, (when * younger).sum(axis=1) / size**2)
    centred = np.eye(stretches) - 1 / stretches
    spread, axes = np.linalg.eigh(centred @ walk @ centred)
    walks = spread > ROUNDED * spread[-1]  # not what is the same in all, nor what is apart within one moment
    return StretchMeans(axes[:, walks].T @ means, spread[walks], 1 / size, max(alike, float(D)))


def measure_drift(land: LossLandscape, time: Floats, rounds: int) -> DriftSpeed:
    """Of samples with these times, a round being a part of all the time that they took."""
    model = land.model
    count, span = len(time), float(time.max() - time.min())
    if land.whole is not None:
        raise SettingError(
            "it is measured on 10,000 samples at most: take a pilot sample, such as one of 2,000"
        )
    if count < FEWEST * LEAST or len(np.unique(time)) < FEWEST:
        raise SettingError(
            f"{count} samples of {len(np.unique(time))} different times do not tell it: that takes {FEWEST * LEAST} "
            f"samples or more, of {FEWEST} different times or more"
        )
    order = np.argsort(time, kind="stable")
    logits = model.logits(land.best.theta, model.population.x)
    residual = model.residual(logits, model.targets[:, None])[:, 0]
    gradients = (land.basis.seen_by(model.population.x) @ residual[..., None])[..., 0]
    h = (land.curvature[land.lump] + land.multiplier).double()
    steep = h >= STEEP * h.max()
    steep[: int(land.on_the_ball)] = False  # the ball holds what is along its radius
    scores = gradients[torch.from_numpy(order).to(gradients.device)][:, steep].double().cpu().numpy()
    found = stretch_means(scores, (time[order] - time.min()) * rounds / span)
    low, high = found.interval()
    variance = (np.diff(scores, axis=0) ** 2).mean(axis=0) / 2 / h[steep].cpu().numpy() ** 2
    return DriftSpeed(
        drift=found.drift(),
        low=low,
        high=high,
        samples=count,
        rounds=rounds,
        h=tuple(h[steep].tolist()),
        variance=tuple(variance.tolist()),
        shares=tuple(found.shares().tolist()),
        lumps=tuple(land.lump[steep].tolist()),
        moving=found.moving_directions(),
    )
