"""The admission rule of the authors' code, which is not the paper's.

Its region is centred at 40 whatever the budget and hardly contracts, its penalty has 1/√n - 1/√N for
√(1/n - 1/N) and half the logarithm, it counts Pdim samples as already seen, and it finds the minimum by ternary
search. There is a script for each data set, with numbers of its own. Nothing here is meant to be improved.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.bound.theorem1 import linear_term
from theory.control.admission import AdmissionState
from theory.control.region import region_maximum, region_minimum
from theory.setting import Constants, Region

__all__ = ["CONSTANTS", "SCRIPTS", "Script", "at_least_one", "released_admission", "released_penalty"]
__all__ += ["released_region", "script_for", "ternary_search"]

EXPONENT_PER_ROUND = 0.01  # the exponent of ρ is this many times t
LOW_END_MIN, REGION_WIDTH_MIN = 1.0, 10.0
RATE_TOLERANCE = 0.1
SEARCH_STEPS_MAX = 200  # of the search: more only where floats lie further apart than its tolerance


@dataclass(frozen=True)
class Script:
    """The numbers of one script; `cap` is the most that its region's upper end may be."""

    constants: Constants
    V: float
    region: Region
    cap: float


def _script(*, Pdim: float, V: float, eta: float, rho: float, cap: float) -> Script:
    constants = Constants(D=1000.0, sigma=10.0, eta=eta, B=1000.0, Pdim=Pdim)
    return Script(constants, V, Region(rate=40.0, rho=rho), cap)


SCRIPTS = {
    "mnist": _script(Pdim=100.0, V=1000.0, eta=0.5, rho=0.999, cap=50.0),
    "cifar10": _script(Pdim=1024.0, V=10000.0, eta=0.005, rho=0.999, cap=100.0),
    "imagenette": _script(Pdim=1024.0, V=3000.0, eta=0.0005, rho=0.999999, cap=1000.0),
}
MNIST = SCRIPTS["mnist"]
CONSTANTS = MNIST.constants


def script_for(dataset: str) -> Script:
    """The script of a study's data set; that of MNIST for data that the authors did not train on.

    >>> script_for("cifar10").cap, script_for("digits") is script_for("mnist")
    (100.0, True)
    """
    return SCRIPTS.get(dataset, MNIST)


def released_penalty(n: Any, N: Any, constants: Constants = CONSTANTS) -> Any:
    """The penalty of the released code for n samples in memory and N seen, Pdim of them before round 1."""
    c = constants
    root = c.D * c.sigma * (1 / np.sqrt(n) - 1 / np.sqrt(N))
    fresh = 10 * c.B * np.sqrt(c.Pdim / N) * np.sqrt(1 + np.log(np.sqrt(N / c.Pdim)))
    return root + linear_term(1 / n - 1 / N, c) + fresh


def released_region(script: Script, t: int, cap: float = np.inf) -> tuple[float, float]:
    """Both ends in round t: at least 1 below, at most `cap` above unless that leaves a width of less than 10."""
    slow = EXPONENT_PER_ROUND * t
    low = max(float(region_minimum(script.region, slow)), LOW_END_MIN)
    return low, max(min(float(region_maximum(script.region, slow)), cap), low + REGION_WIDTH_MIN)


def ternary_search(
    state: AdmissionState, cost: Any, C: float, *, ends: tuple[float, float], V: float, constants: Constants
) -> NDArray[np.float64]:
    """The rate of each run that minimises Z(cΛ - C) + V·penalty, to within 0.1."""

    def objective(rate: NDArray[np.float64]) -> Any:
        n, N = state.retained + rate, constants.Pdim + state.seen + rate
        return state.debt * (cost * rate - C) + V * released_penalty(n, N, constants)

    left, right = (np.full(state.debt.shape, end) for end in ends)
    for _ in range(SEARCH_STEPS_MAX):
        if (right - left).max() <= RATE_TOLERANCE:
            break
        a, b = left + (right - left) / 3, right - (right - left) / 3
        lower = objective(a) < objective(b)
        left, right = np.where(lower, left, a), np.where(lower, b, right)
    return np.asarray((left + right) / 2)


def released_admission(
    state: AdmissionState, cost: Any, C: float, script: Script = MNIST
) -> NDArray[np.float64]:
    """The real-valued rate of each run."""
    ends = released_region(script, state.round, script.cap)
    return ternary_search(state, cost, C, ends=ends, V=script.V, constants=script.constants)


def at_least_one(rate: NDArray[np.float64], buffers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole admissions, (replicates, clients): each client rounds its share, and admits something.

    >>> at_least_one(np.array([3.0, 14.0]), np.array([4, 5, 7]))
    array([[1, 1, 1],
           [4, 4, 6]])
    """
    whole: NDArray[np.float64] = np.rint(rate[:, np.newaxis] * buffers / buffers.sum())
    return np.maximum(whole, 1).astype(np.int64)
