r"""Small federated training runs whose population risk is known exactly: evidence for the corrected theorem.

The parameter is a number, a sample is one of a few points z, and losses are convex in θ. Under K-step
retention with constant admission only the numbers of samples of each kind matter, so a round draws these
(multinomial), for all runs at once; clients take E full-batch steps, are weighted by n_m/n, and the server
projects onto Θ.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.reuse import mismatch_constant
from theory.setting import Constants

__all__ = ["LINEAR", "LOGISTIC", "Problem", "Training", "enumerate_quadratic", "train"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Losses on Θ = [low, high] over the points z with their probabilities, and the constants that fit them.

    `loss` and `slope` map θ (an array) and z to the loss and its derivative. `sigma` bounds the derivative's
    deviation.
    """

    name: str
    points: tuple[float, ...]
    chances: tuple[float, ...]
    low: float
    high: float
    start: float
    loss: Callable[[Any, Any], Any]
    slope: Callable[[Any, Any], Any]
    B: float
    G: float
    L: float
    sigma: float

    def constants(self, eta: float, E: int) -> Constants:
        """Pdim is 1: each loss is monotone in θ, so m points see at most m+1 patterns."""
        size = {"D": self.high - self.low, "sigma": self.sigma, "B": self.B, "G": self.G, "L": self.L}
        return Constants(eta=eta, E=E, Pdim=1, **size)

    def risk(self, theta: Any) -> Any:
        """The population risk, exact up to rounding."""
        values = (p * self.loss(np.asarray(theta), z) for z, p in zip(self.points, self.chances, strict=True))
        return sum(values)

    def least_risk(self) -> float:
        """The minimum of the convex risk over Θ, a lower bound to rounding: bisection on its slope."""
        low, high = self.low, self.high
        for _ in range(200):
            middle = (low + high) / 2
            slope = sum(p * self.slope(middle, z) for z, p in zip(self.points, self.chances, strict=True))
            low, high = (low, middle) if slope > 0 else (middle, high)
        return float(self.risk(low))


# the risk falls with slope 1/2 from one end of Θ to the other: projected descent uses up all of D²/(2η)
LINEAR = Problem(
    name="1/2 + zθ on [-1/2, 1/2], z = 1 with chance 3/4, else -1",
    points=(1.0, -1.0),
    chances=(0.75, 0.25),
    low=-0.5,
    high=0.5,
    start=0.5,
    loss=lambda theta, z: 0.5 + z * theta,
    slope=lambda theta, z: z + 0 * theta,
    B=1.0,
    G=1.0,
    L=1e-9,
    sigma=float(np.sqrt(0.75)),
)
# derivatives lie in (-3/2, 1), so their deviation is at most half that range
LOGISTIC = Problem(
    name="log(1 + exp(-zθ)) on [-2, 2], z in {-1, -1/2, 1/2, 1, 3/2}",
    points=(-1.0, -0.5, 0.5, 1.0, 1.5),
    chances=(0.2, 0.1, 0.3, 0.3, 0.1),
    low=-2.0,
    high=2.0,
    start=-2.0,
    loss=lambda theta, z: np.logaddexp(0, -z * theta),
    slope=lambda theta, z: -z / (1 + np.exp(z * theta)),
    B=float(np.logaddexp(0, 3)),
    G=1.5,
    L=0.5625,
    sigma=1.25,
)


@dataclass(frozen=True)
class Training:
    """What runs of T rounds gave: cumulative excess risk, one number a run, and the mismatch at the iterates.

    `mismatch_ratio` is, for each round with χ > 0, the mean squared mismatch at the iterate over σ²χ.
    """

    excess: Floats
    most: float
    mismatch_ratio: Floats


def train(
    problem: Problem,
    *,
    rates: Sequence[int],
    K: int,
    T: int,
    eta: float,
    E: int,
    runs: int,
    rng: np.random.Generator,
) -> Training:
    """Train `runs` models side by side; `rates` are the clients' constant admissions."""
    points, best = np.array(problem.points), problem.least_risk()
    ends = problem.risk([problem.low, problem.high])
    theta = np.full(runs, problem.start)
    excess, ratios = np.zeros(runs), []
    windows: list[deque[Floats]] = [deque(maxlen=K) for _ in rates]
    used = np.zeros((runs, points.size))
    for t in range(1, T + 1):
        excess += problem.risk(theta) - best
        for window, rate in zip(windows, rates, strict=True):
            window.append(rng.multinomial(rate, problem.chances, size=runs).astype(float))
        memories = [np.sum(window, axis=0) for window in windows]
        memory = np.sum(memories, axis=0)
        used += memory
        chi = mismatch_constant(K, t, sum(rates))
        if chi > 0:
            slopes = problem.slope(theta[:, np.newaxis], points)
            apart = used / used.sum(axis=1, keepdims=True) - memory / memory.sum(axis=1, keepdims=True)
            ratios.append(np.mean(np.sum(apart * slopes, axis=1) ** 2) / (problem.sigma**2 * chi))
        step = np.zeros(runs)
        for held in memories:
            local = theta.copy()
            for _ in range(E):
                local -= (
                    eta
                    * np.sum(held * problem.slope(local[:, np.newaxis], points), axis=1)
                    / held.sum(axis=1)
                )
            step += (local - theta) * held.sum(axis=1) / memory.sum(axis=1)
        theta = np.clip(theta + step, problem.low, problem.high)
    return Training(excess, T * float(max(ends) - best), np.array(ratios))


@lru_cache(maxsize=64)
def enumerate_quadratic(K: int, E: int, eta: Fraction, T: int) -> Fraction:
    r"""The exact cumulative excess risk of \((\theta-z)^2/2\) on [0, 1], z = 0 or 1 with equal chances, one
    new sample a round, from θ = 1: all \(2^T\) streams are played.

    >>> enumerate_quadratic(1, 1, Fraction(1, 2), 1)
    Fraction(1, 8)
    """
    total = Fraction(0)
    for stream in product((0, 1), repeat=T):
        theta = Fraction(1)
        for t in range(1, T + 1):
            total += (theta - Fraction(1, 2)) ** 2 / 2
            memory = stream[max(t - K, 0) : t]
            mean = Fraction(sum(memory), len(memory))
            theta = mean + (1 - eta) ** E * (theta - mean)
    return total / Fraction(2**T)
