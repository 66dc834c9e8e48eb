r"""Speed of a drifting population from timestamps: the q of `theory.drift.moving_optimum`, with an interval.

At the minimiser of all samples, in the eigenbasis of the Hessian, the mean gradient of the samples of a stretch of time
is about \(-h\) times the displacement of that stretch's optimum. Gradients are divided by the standard deviation of one
sample's, which is estimated from differences of neighbours in time, almost free of drift. If the optimum walks, the
means of stretches have the covariance \(c+qC\), with the noise c and the covariance C of a walk of variance 1 per round
at these times. In the centred eigenbasis of C they are independent with variances \(c+qw_k\). So q solves the
likelihood equation, and its interval has all q that a test of that equation does not reject, with the degrees of
freedom of its first two moments (Satterthwaite 1946). Directions may drift differently: their effective number is
estimated from products of different k. q is the mean over directions, and each direction has a share of it, shrunk
towards q by as much as chance alone would scatter it.

Nothing is fitted to an outcome. Where a walk goes far the loss is curved, and q is biased low; so it is, by
\(1+q\delta/2\), for directions that move much in the time δ between neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import gammainc

from empirics.prediction.loss_landscape import POPULATION_WHOLE_MAX, LossLandscape
from empirics.prediction.memory import Floats
from theory.setting import SettingError

__all__ = ["DriftSpeed", "StretchMeans", "measure_drift", "stretch_means"]

STRETCHES_MIN, STRETCHES_MAX = 8, 24
STRETCH_SAMPLES_MIN = 10
LEVEL = 0.95  # of the interval
CURVATURE_RATIO_MIN = 1e-3  # of the largest: flatter directions are hardly learnt, and hardly measured
GRID_POINTS, GRID_SPAN = 200, 1e-12  # of q, down to this share of the largest
BISECTIONS = 60
WALK_RATIO_MIN = 1e-9  # of the largest variance of a walk: less is rounding


@dataclass(frozen=True)
class DriftSpeed:
    """q per round as a share of a sample's variance, with its 95 % interval; and for each direction the curvature, the
    variance of a sample, and its drift over q."""

    drift: float
    low: float
    high: float
    samples: int
    rounds: int
    h: tuple[float, ...]
    variance: tuple[float, ...]
    shares: tuple[float, ...]
    lumps: tuple[int, ...]  # of the landscape, by direction
    moving: float  # effective number of directions that drift

    @property
    def significant(self) -> bool:
        """True if the interval excludes 0."""
        return self.low > 0


@dataclass(frozen=True)
class StretchMeans:
    """Independent combinations of the means of stretches, with variance `noise` + q·`walk` in every direction.

    `found` is (combinations, directions), in units of a sample's standard deviation. `alike` is the trace of the
    squared correlations of a sample's directions: their number, if there are no correlations.
    """

    found: Floats
    walk: Floats
    noise: float
    alike: float

    @property
    def _squares(self) -> Floats:
        return np.asarray((self.found**2).mean(axis=1))

    def drift(self) -> float:
        """The q of maximum likelihood, at least 0."""

        def score(q: float) -> float:
            variance = self.noise + q * self.walk
            return float((self.walk * (self._squares - variance) / variance**2).sum())

        return 0.0 if score(0.0) <= 0 else _crossing(score, 0.0, self._most)

    @property
    def _most(self) -> float:
        return float(1e4 * (self._squares / self.walk).max())

    def moving_directions(self) -> float:
        """Effective number of directions that drift: (tr Q)²/tr Q², from products of different combinations."""
        q, (_, D), w, c = self.drift(), self.found.shape, self.walk, self.noise
        i, j = np.triu_indices(len(w), 1)
        products = ((self.found @ self.found.T) ** 2)[i, j]
        by_noise = self.alike * c * (c + q * (w[i] + w[j]))
        weight = w[i] * w[j] / ((c + q * w[i]) * (c + q * w[j])) ** 2
        square = float((weight * (products - by_noise)).sum() / (weight * w[i] * w[j]).sum())
        return float(np.clip((D * q) ** 2 / square, 1, D)) if square > 0 else float(D)

    def shares(self) -> Floats:
        """The drift of each direction over q, of mean 1, shrunk by the part that is chance."""
        q, D, w, c = self.drift(), self.found.shape[1], self.walk, self.noise
        if q == 0:
            return np.ones(D)
        weight = w / (c + q * w) ** 2
        own = weight @ (self.found**2 - c) / (weight @ w)
        by_chance = 2 * float(weight**2 @ (c + q * w) ** 2) / float(weight @ w) ** 2
        apart = q**2 * (D / self.moving_directions() - 1)
        found = np.maximum(q + apart / (apart + by_chance) * (own - q), 0)
        return np.asarray(found / found.mean())

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """The smallest and the largest q that the test does not reject."""
        directions, D, half = self.moving_directions(), self.found.shape[1], (1 - level) / 2
        squares, w, c = self._squares, self.walk, self.noise

        def rank(q: float) -> float:
            """Quantile of the statistic if this is q."""
            variance = c + q * w
            weight = w / variance**2
            expected = (weight * variance).sum()
            scatter = self.alike * c * (c + 2 * q * w) / D**2 + (q * w) ** 2 / directions
            freedom = expected**2 / (weight**2 * scatter).sum()
            return float(gammainc(freedom / 2, freedom * (weight * squares).sum() / expected / 2))

        grid = np.concatenate([[0.0], np.geomspace(GRID_SPAN * self._most, self._most, GRID_POINTS)])
        held = np.flatnonzero([half <= rank(q) <= 1 - half for q in grid])
        if not len(held):  # less than noise alone
            return 0.0, 0.0
        first, last = int(held[0]), int(held[-1])
        low, high = 0.0, self._most
        if first > 0:
            low = _crossing(lambda q: rank(q) - 1 + half, grid[first - 1], grid[first])
        if last < GRID_POINTS:
            high = _crossing(lambda q: rank(q) - half, grid[last], grid[last + 1])
        return float(low), float(high)


def _crossing(falling: Callable[[float], float], low: float, high: float) -> float:
    """Root of a falling function between these, by bisection."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def stretch_means(scores: Floats, time: Floats) -> StretchMeans:
    """Means of scores (samples, directions) in the order of their times, which are in rounds."""
    count, D = scores.shape
    stretches = min(STRETCHES_MAX, count // STRETCH_SAMPLES_MIN)
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
    walks = spread > WALK_RATIO_MIN * spread[-1]  # neither the mean of all, nor differences at one moment
    return StretchMeans(axes[:, walks].T @ means, spread[walks], 1 / size, max(alike, float(D)))


def measure_drift(land: LossLandscape, time: Floats, rounds: int) -> DriftSpeed:
    """The drift of samples with these times; a round is their time span divided by `rounds`."""
    model = land.model
    count, span = len(time), float(time.max() - time.min())
    if land.whole is not None:
        raise SettingError(
            f"drift is measured on at most {POPULATION_WHOLE_MAX:,} samples: take a pilot sample, such as one of 2,000"
        )
    times, least = len(np.unique(time)), STRETCHES_MIN * STRETCH_SAMPLES_MIN
    if count < least or times < STRETCHES_MIN:
        raise SettingError(
            f"drift cannot be measured from {count} samples of {times} different times: it takes at least {least} "
            f"samples, of at least {STRETCHES_MIN} different times"
        )
    order = np.argsort(time, kind="stable")
    logits = model.logits(land.best.theta, model.population.x)
    residual = model.residual(logits, model.targets[:, None])[:, 0]
    gradients = (land.basis.seen_by(model.population.x) @ residual[..., None])[..., 0]
    h = (land.curvature[land.lump] + land.multiplier).double()
    steep = h >= CURVATURE_RATIO_MIN * h.max()
    steep[: int(land.on_the_ball)] = False  # the ball holds the radius
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
