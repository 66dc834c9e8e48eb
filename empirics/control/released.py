"""The admission rule of the authors' code, which is not the paper's.

Its region is centred at 40 whatever the budget and hardly contracts, its penalty has 1/√n - 1/√N for
√(1/n - 1/N) and half the logarithm, it counts Pdim samples as already seen, and it finds the minimum by ternary
search. Nothing here is meant to be improved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.admission import AdmissionState
from theory.bound import linear_term
from theory.region import region_maximum, region_minimum
from theory.setting import Constants, Region

__all__ = ["CONSTANTS", "REGION", "released_admission", "released_penalty"]

CONSTANTS = Constants(D=1000.0, sigma=10.0, eta=0.5, B=1000.0, Pdim=100.0)
REGION = Region(rate=40.0, rho=0.999)
SLOWNESS = 0.01  # the exponent of ρ is this many times t
MOST, LEAST, WIDTH = 50.0, 1.0, 10.0
V = 1000.0
TOLERANCE = 0.1


def released_penalty(n: Any, N: Any, constants: Constants = CONSTANTS) -> Any:
    """The penalty of the released code for n samples in memory and N seen, Pdim of them before round 1."""
    c = constants
    root = c.D * c.sigma * (1 / np.sqrt(n) - 1 / np.sqrt(N))
    fresh = 10 * c.B * np.sqrt(c.Pdim / N) * np.sqrt(1 + np.log(np.sqrt(N / c.Pdim)))
    return root + linear_term(1 / n - 1 / N, c) + fresh


def released_admission(state: AdmissionState, cost: Any, C: float) -> NDArray[np.float64]:
    """The real-valued rate of each run, by ternary search to within 0.1."""
    t = SLOWNESS * state.round
    low = max(float(region_minimum(REGION, t)), LEAST)
    high = max(min(float(region_maximum(REGION, t)), MOST), low + WIDTH)

    def objective(rate: NDArray[np.float64]) -> Any:
        n, N = state.retained + rate, CONSTANTS.Pdim + state.seen + rate
        return state.debt * (cost * rate - C) + V * released_penalty(n, N)

    left, right = np.full(state.debt.shape, low), np.full(state.debt.shape, high)
    while (right - left).max() > TOLERANCE:
        a, b = left + (right - left) / 3, right - (right - left) / 3
        lower = objective(a) < objective(b)
        left, right = np.where(lower, left, a), np.where(lower, b, right)
    middle: NDArray[np.float64] = (left + right) / 2
    return middle
