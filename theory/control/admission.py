"""A round of admission control: ACDPP's admission, the state after it, and whole samples from a real rate.

`AdmissionState` is all that the server remembers under K-step retention. `acdpp_round` plays a round of the
paper's policy, and `advance` books the admission of any policy.
States hold arrays over runs, so many runs move with one call.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theory.control.minimiser import optimal_admission
from theory.control.region import region_maximum, region_minimum
from theory.numbers.algebra import positive_part
from theory.setting import Constants, Region, SettingError, positive, retention

__all__ = ["AdmissionState", "acdpp_round", "advance", "debt_update"]


# --- the cost-debt queue and the state of a run ------------------------------------------------------------


def debt_update(Z: Any, cost: Any, Lambda: Any, C: Any) -> Any:
    r"""\(Z(t+1)=[Z(t)+c(t)\Lambda(t)-C]^+\) (`eq:Z-update`), exact.

    >>> debt_update(1, 2, 4, 5), debt_update(0, 1, 4, 5)
    (4, 0)
    """
    return positive_part(Z + cost * Lambda - C)


@dataclass(frozen=True, kw_only=True)
class AdmissionState:
    """State of the server when a round begins (`alg:acdpp`), for a batch of runs under K-step retention.

    `round` is the round t about to be played, `debt` is Z(t), `window` holds the last K-1 admissions, oldest
    first, with shape (K-1, runs). `expired` counts the samples that have left for good. It is kept in place
    of N(t-1) because N(t-1) - n(t-1), which the penalty takes the root of, is then exactly 0 until round K.

    >>> state = advance(AdmissionState.initial(1, 3), np.array([4.0]), cost=2, C=6)
    >>> state.round, state.debt, state.retained, state.seen
    (2, array([2.]), array([4.]), array([4.]))
    """

    round: int
    debt: NDArray[Any]
    window: NDArray[Any]
    expired: NDArray[Any]

    def __post_init__(self) -> None:
        shape = self.debt.shape
        if self.debt.ndim != 1 or self.window.shape[1:] != shape or self.expired.shape != shape:
            raise SettingError(
                "debt and expired must be of shape (runs,) and window of shape (K-1, runs), got "
                f"{shape}, {self.expired.shape} and {self.window.shape}"
            )

    @classmethod
    def initial(cls, runs: int, K: int, dtype: Any = float) -> Self:
        """Before round 1: no debt, Z(1) = 0, nothing admitted. With dtype `object`, Fractions stay exact."""
        if type(runs) is not int or runs < 1:
            raise SettingError(f"runs must be a whole number of at least 1, such as 40, got {runs!r}")
        window = np.zeros((retention(K) - 1, runs), dtype)
        return cls(round=1, debt=np.zeros(runs, dtype), window=window, expired=np.zeros(runs, dtype))

    @property
    def retained(self) -> NDArray[Any]:
        """Samples still in the buffers before this round admits: the sum of the last K-1 admissions."""
        total: NDArray[Any] = self.window.sum(axis=0)
        return total

    @property
    def seen(self) -> NDArray[Any]:
        """N(t-1), the distinct samples admitted so far."""
        total: NDArray[Any] = self.expired + self.retained
        return total


def advance(state: AdmissionState, Lambda: Any, cost: Any, C: Any) -> AdmissionState:
    """The state after a round that admitted `Lambda` at `cost` a sample, by any policy (`eq:Z-update`).

    >>> advance(AdmissionState.initial(2, 1), 5.0, cost=np.array([1.0, 2.0]), C=6).debt
    array([0., 4.])
    """
    admitted = np.broadcast_to(Lambda, state.debt.shape)
    if not (np.all(admitted >= 0) and np.all(np.asarray(cost) >= 0)):
        raise SettingError(f"admissions and costs must not be negative, got {Lambda!r} at {cost!r}")
    held = np.concatenate([state.window, admitted[np.newaxis]])
    debt = debt_update(state.debt, cost, admitted, positive("the cost budget C", C))
    return AdmissionState(round=state.round + 1, debt=debt, window=held[1:], expired=state.expired + held[0])


def acdpp_round(
    state: AdmissionState,
    cost: Any,
    *,
    V: Any,
    C: Any,
    region: Region,
    constants: Constants,
    capacity: Any = None,
) -> tuple[AdmissionState, NDArray[np.float64]]:
    r"""One round of Algorithm 1 (`alg:acdpp`): the next state, and \(\Lambda^\star(t)\) of `eq:dpp-policy`.

    As printed, except for log⁺ (see `theory.control.penalty`), where `capacity` is None: Z(1) = 0 then makes round 1
    admit \(\Lambda_{\max}(1)\), whatever the buffers hold. With a capacity no run admits more than fits, be that less
    than \(\Lambda_{\min}(t)\).

    >>> rules = dict(V=1, C=6, region=Region(rate=3, rho=0.75), capacity=np.array([9, 30]))
    >>> setting = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> state, admitted = acdpp_round(AdmissionState.initial(2, 3), 2, constants=setting, **rules)
    >>> admitted, state.debt
    (array([ 9., 12.]), array([12., 18.]))
    """
    lo, hi = (np.float64(end(region, state.round)) for end in (region_minimum, region_maximum))
    retained = state.retained
    if capacity is not None:
        hi = np.minimum(hi, positive_part(capacity - retained))
        lo = np.minimum(lo, hi)
    seen = state.expired + retained
    admitted = optimal_admission(
        Z=state.debt, cost=cost, retained=retained, seen=seen, lo=lo, hi=hi, V=V, constants=constants
    )
    return advance(state, admitted, cost, C), admitted
