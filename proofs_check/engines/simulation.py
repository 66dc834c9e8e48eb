r"""Monte Carlo of the real control loop (`theory.control.admission.acdpp_round`), many runs at once.

Runs are independent, so a quantity of a run that lies in a known interval [a, b] has a mean for which a
confidence interval holds at every sample size, with no normality assumed: the empirical Bernstein bound
(Maurer and Pontil, 2009, Theorem 4). With probability at least \(1-\delta\), for m runs with sample variance
v,

\[|\text{mean}-E|\le\sqrt{\frac{2v\log(4/\delta)}m}+\frac{7(b-a)\log(4/\delta)}{3(m-1)}.\]

What it shows is statistical: it supports a statement about an expectation, or speaks against it; alone it
never refutes. The interval [a, b] must be known beforehand, from the admission region for instance, not read
off the runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_check.evidence import Evidence, fails, holds, undecided
from theory.control.admission import AdmissionState, acdpp_round
from theory.setting import Constants, Region

__all__ = [
    "Costs",
    "Runs",
    "compare_mean",
    "confidence",
    "control_loop",
    "drifting",
    "markov",
    "uniform",
]

Floats = NDArray[np.float64]
DELTA = 1e-6  # the probability that a confidence statement is wrong


@dataclass(frozen=True)
class Costs:
    """A cost process: `draw(generator, runs, rounds)` gives an array (rounds, runs); `mean(t)` is E[c(t)] for
    t = 1, 2, …
    """

    name: str
    low: float
    high: float
    mean: Callable[[Any], Any]
    draw: Callable[[np.random.Generator, int, int], Floats]


def uniform(low: float, high: float) -> Costs:
    """Independent, uniform on an interval."""
    middle = (low + high) / 2
    return Costs(
        f"i.i.d. uniform on [{low}, {high}]",
        low,
        high,
        lambda t: middle + 0 * t,
        lambda rng, runs, rounds: rng.uniform(low, high, (rounds, runs)),
    )


def markov(low: float, high: float, stay: float) -> Costs:
    """Two states, each kept with probability `stay`; stationary, so every round has the same mean."""
    middle = (low + high) / 2

    def draw(rng: np.random.Generator, runs: int, rounds: int) -> Floats:
        flips = (
            rng.random((rounds, runs)) >= np.concatenate([[0.5], np.full(rounds - 1, stay)])[:, np.newaxis]
        )
        return np.where(np.cumsum(flips, axis=0) % 2 == 1, high, low)

    return Costs(
        f"Markov on {{{low}, {high}}}, stays with probability {stay}",
        low,
        high,
        lambda t: middle + 0 * t,
        draw,
    )


def drifting(first: float, last: float, spread: float, rounds: int) -> Costs:
    """Independent, uniform within `spread` of a mean that moves linearly from `first` to `last`."""

    def mean(t: Any) -> Any:
        return first + (last - first) * (t - 1) / max(rounds - 1, 1)

    def draw(rng: np.random.Generator, runs: int, count: int) -> Floats:
        middle: Floats = mean(np.arange(1, count + 1))
        return rng.uniform(-spread, spread, (count, runs)) + middle[:, np.newaxis]

    name = f"uniform within {spread} of a mean drifting from {first} to {last}"
    return Costs(name, min(first, last) - spread, max(first, last) + spread, mean, draw)


@dataclass(frozen=True)
class Runs:
    """What happened: costs and admissions, arrays (rounds, runs), and the debt Z(1..T+1), (rounds + 1,
    runs).
    """

    costs: Floats
    admitted: Floats
    debt: Floats

    @property
    def spent(self) -> Floats:
        """c(t)Λ(t)."""
        return self.costs * self.admitted


def control_loop(costs: Floats, *, K: int, V: float, C: float, region: Region, constants: Constants) -> Runs:
    """Play ACDPP, as printed, against given costs of shape (rounds, runs)."""
    state = AdmissionState.initial(costs.shape[1], K)
    admitted, debt = [], [state.debt]
    for cost in costs:
        state, Lambda = acdpp_round(state, cost, V=V, C=C, region=region, constants=constants)
        admitted.append(Lambda)
        debt.append(state.debt)
    return Runs(costs, np.array(admitted), np.array(debt))


def confidence(samples: Floats, low: float, high: float, delta: float = DELTA) -> tuple[float, float]:
    """An interval that contains the mean with probability at least 1 - delta: empirical Bernstein, cut to
    [low, high].

    >>> a, b = confidence(np.tile([0.0, 1.0], 5000), 0, 1)
    >>> a < 0.5 < b and b - a < 0.1
    True
    """
    values = np.asarray(samples, dtype=float)
    if values.ndim != 1 or values.size < 2:
        raise ValueError("a confidence interval needs one number a run, and at least 2 runs")
    slack = 1e-9 * max(abs(low), abs(high), 1.0)  # rounding in the samples
    if values.min() < low - slack or values.max() > high + slack:
        raise ValueError(f"a run lies outside [{low}, {high}], so the interval would prove nothing")
    m, mean, log = values.size, values.mean(), np.log(4 / delta)
    width = np.sqrt(2 * values.var(ddof=1) * log / m) + 7 * (high - low) * log / (3 * (m - 1))
    return max(float(mean - width), low), min(float(mean + width), high)


def compare_mean(
    samples: Floats,
    bound: float,
    *,
    low: float,
    high: float,
    domain: str,
    what: str,
    delta: float = DELTA,
    **more: Any,
) -> Evidence:
    """Whether the mean of a quantity, one sample a run, is at most `bound`. Extra keywords go into the
    certificate.
    """
    a, b = confidence(samples, low, high, delta)
    certificate = {
        "mean": float(np.mean(samples)),
        "interval": [a, b],
        "bound": float(bound),
        "runs": len(samples),
        "error probability": delta,
        "range": [float(low), float(high)],
        **more,
    }
    sure = f"but for probability {delta:g} (empirical Bernstein)"
    detail = f"{what}: mean in [{a:.6g}, {b:.6g}] {sure}, bound {bound:.6g}"
    if b <= bound:
        return holds("simulation", detail, domain=domain, certificate=certificate)
    if a > bound:
        return fails("simulation", detail, domain=domain, certificate=certificate)
    return undecided("simulation", detail, domain=domain, certificate=certificate)
