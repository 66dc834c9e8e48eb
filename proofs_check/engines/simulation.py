r"""Monte Carlo of the real control loop (`theory.control.admission.acdpp_round`), many runs at once.

A positive outcome supports a statement about an expectation by a confidence interval; a negative outcome speaks against
it but never refutes alone. The interval is the empirical Bernstein bound (Maurer and Pontil, 2009, Theorem 4), valid at
every sample size without normality. For m independent runs in [a, b] with sample variance v, with probability at least
\(1-\delta\),

\[|\text{mean}-E|\le\sqrt{\frac{2v\log(4/\delta)}m}+\frac{7(b-a)\log(4/\delta)}{3(m-1)}.\]

[a, b] must be known beforehand, for instance from the admission region, not from the runs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_check.evidence import Evidence, fails, holds, undecided
from theory.control.admission import AdmissionState, acdpp_round
from theory.setting import Constants, Region

__all__ = ["ControlRuns", "compare_mean", "confidence", "control_loop"]

Floats = NDArray[np.float64]
ERROR_CHANCE = 1e-6  # probability that a confidence statement is wrong


@dataclass(frozen=True)
class ControlRuns:
    """Costs and admissions, arrays (rounds, runs), and the debt Z(1..T+1), (rounds + 1, runs)."""

    costs: Floats
    admitted: Floats
    debt: Floats

    @property
    def spent(self) -> Floats:
        """c(t)Λ(t)."""
        return self.costs * self.admitted


def control_loop(
    costs: Floats, *, K: int, V: float, C: float, region: Region, constants: Constants
) -> ControlRuns:
    """Play ACDPP, as printed, against given costs of shape (rounds, runs)."""
    state = AdmissionState.initial(costs.shape[1], K)
    admitted, debt = [], [state.debt]
    for cost in costs:
        state, Lambda = acdpp_round(state, cost, V=V, C=C, region=region, constants=constants)
        admitted.append(Lambda)
        debt.append(state.debt)
    return ControlRuns(costs, np.array(admitted), np.array(debt))


def confidence(samples: Floats, low: float, high: float, delta: float = ERROR_CHANCE) -> tuple[float, float]:
    """Empirical-Bernstein interval, within [low, high], that contains the mean with probability at least 1 - delta.

    >>> a, b = confidence(np.tile([0.0, 1.0], 5000), 0, 1)
    >>> a < 0.5 < b and b - a < 0.1
    True
    """
    values = np.asarray(samples, dtype=float)
    if values.ndim != 1 or values.size < 2:
        raise ValueError("a confidence interval needs one number per run, and at least 2 runs")
    slack = 1e-9 * max(-low, high, 1.0)  # rounding in the samples
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
    delta: float = ERROR_CHANCE,
    **more: Any,
) -> Evidence:
    """Test whether the mean of a quantity, sampled per run, is at most `bound`. `more` goes into the certificate."""
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
    sure = f"except with probability {delta:g} (empirical Bernstein)"
    detail = f"{what}: mean in [{a:.6g}, {b:.6g}] {sure}, bound {bound:.6g}"
    make = holds if b <= bound else fails if a > bound else undecided
    return make("simulation", detail, domain=domain, certificate=certificate)
