"""The admission policies, each a pure transition from a state and a cost to whole admissions per client.

Every decision is `theory`'s; here it is turned into whole samples and booked as such: debt and counts follow what was
delivered, not the real-valued rate. States hold all replicates of a policy at once. A policy of the user's own is
anything with the `Policy` protocol, and enters by the same door as the built-in ones (`empirics.control.registry`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from empirics.control.released import Script, at_least_one, released_admission
from theory.control.admission import AdmissionState, acdpp_round, advance
from theory.control.whole_samples import integer_admissions
from theory.setting import Budget, Constants, Region

__all__ = ["FOREVER", "DriftPlusPenalty", "Fixed", "Floats", "Policy", "Released", "State", "Whole"]

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
FOREVER = 2**53  # a retention that no study outlives


@runtime_checkable
class Policy(Protocol):
    """The protocol of policies. Derive from it to inherit `start` and `book`, which suit a policy without a memory.

    `retention` says for how many rounds samples are kept, one number, or one per client: an attribute of the class or
    of the instance, or a property.

    A state is a tree of dataclasses, tuples, lists, dicts, numbers, fractions, strings and arrays, if the policy is to
    be used by a `Controller` that can be saved.

    A policy may also have a `capacity`, one number or one per client: of its samples a client then keeps the newest so
    many, and older ones leave when newer ones need their place, before their age or, with retention FOREVER, by that
    alone. It must not admit more than that in a round. With a capacity it may also have `drops(state)`, asked of a
    round that is decided: in which replicates all that was held before leaves, (replicates,). With `observe(state,
    loss)`, which returns a state, it is told the loss of each replicate's model on the samples that the round brought,
    before it trains on them, (replicates,), NaN where none came: by a study after every round, or by a `Controller`
    whose `observe` is called.
    """

    if TYPE_CHECKING:

        @property
        def retention(self) -> int | Sequence[int]: ...

    else:  # a property would forbid what derives from it to set an attribute
        retention: int | Sequence[int]

    def start(self, replicates: int) -> Any:
        """The state before round 1, of all replicates at once."""
        return None

    def decide(self, state: Any, cost: Floats) -> tuple[Any, Whole]:
        """The state and the admissions, (replicates, clients), at these costs, (replicates,)."""

    def book(self, state: Any, cost: Floats, delivered: Whole) -> Any:
        """The state after the round, in which this much arrived; in a study that is what was decided."""
        return state


@dataclass(frozen=True)
class State:
    """Books of all replicates: the server's state, the clients' carries, and their last K-1 admissions."""

    server: AdmissionState
    carry: NDArray[Any]
    held: Whole


def _staggered(clients: int) -> list[Fraction]:
    """First carries, evenly spread over [-1/2, 1/2): equal rates then don't all round up in the same round."""
    return [Fraction(2 * m + 1 - clients, 2 * clients) for m in range(clients)]


def _whole(rates: Iterable[Fraction], carry: Iterable[Fraction]) -> tuple[Whole, NDArray[Any]]:
    """Whole admissions at constant rates."""
    return _whole_of_ratios(*(tuple([one.as_integer_ratio() for one in each]) for each in (rates, carry)))


@lru_cache(maxsize=4096)
def _whole_of_ratios(*both: tuple[tuple[int, int], ...]) -> tuple[Whole, NDArray[Any]]:
    """Carries recur with the period of the rates, so few are ever computed. To hash a fraction would take longer."""
    rates, carry = ([Fraction(*one) for one in each] for each in both)
    total = sum(rates, Fraction(0))
    return integer_admissions(total, [rate / total for rate in rates], np.array(carry, dtype=object))


class _Booking:
    """Books what was delivered, within the policy's budget."""

    budget: Budget

    def book(self, state: State, cost: Floats, delivered: Whole) -> State:
        admitted = delivered.sum(axis=1).astype(float)
        return replace(state, server=advance(state.server, admitted, cost, float(self.budget.cost)))


@dataclass(frozen=True)
class Fixed(_Booking):
    """Constant admission at given rates, with samples kept for `retention` rounds; `opening` adds to round 1.

    Rates are exact, so that a client at rate B/K never holds more than B. Costs enter the books alone. Carries start
    staggered or, `floored`, so that a client's admissions are the floor of their running sum.
    """

    rates: tuple[Fraction, ...]
    opening: tuple[int, ...]
    retention: tuple[int, ...]
    budget: Budget
    floored: bool = False

    def start(self, replicates: int) -> State:
        M = len(self.rates)
        # to the nearest from -1/2 on, halves upwards, is the floor from 0 on
        carry = np.array([Fraction(-1, 2)] * M if self.floored else _staggered(M), dtype=object)
        nothing = np.zeros((0, replicates, M), dtype=np.int64)
        return State(AdmissionState.initial(replicates, 1), carry, nothing)

    def decide(self, state: State, cost: Floats) -> tuple[State, Whole]:
        admitted, carry = _whole(self.rates, state.carry)
        if state.server.round == 1:
            admitted = admitted + np.array(self.opening)
        return replace(state, carry=carry), np.broadcast_to(admitted, (len(cost), len(admitted)))


class _Aging(_Booking):
    """Keeps samples for K rounds."""

    K: int

    @property
    def retention(self) -> int:
        return self.K


@dataclass(frozen=True)
class DriftPlusPenalty(_Aging):
    """ACDPP: as printed, or admitting no more than fits (`capped`).

    `window` is how many rounds the books look back: K, or less in a study that is shorter.
    """

    K: int
    window: int
    V: float
    region: Region
    constants: Constants
    budget: Budget
    capped: bool = False

    def start(self, replicates: int) -> State:
        M = len(self.budget.buffers)
        carry = np.broadcast_to(np.array(_staggered(M), dtype=float), (replicates, M))
        held = np.zeros((self.window - 1 if self.capped else 0, replicates, M), dtype=np.int64)
        return State(AdmissionState.initial(replicates, self.window), carry, held)

    def decide(self, state: State, cost: Floats) -> tuple[State, Whole]:
        buffers = np.array(self.budget.buffers)
        C, capacity = float(self.budget.cost), float(buffers.sum()) if self.capped else None
        _, rate = acdpp_round(
            state.server, cost, V=self.V, C=C, region=self.region, constants=self.constants, capacity=capacity
        )
        room = buffers - state.held.sum(axis=0) if self.capped else None
        admitted, carry = integer_admissions(rate, buffers / buffers.sum(), state.carry, room)
        return replace(state, carry=carry), admitted

    def book(self, state: State, cost: Floats, delivered: Whole) -> State:
        held = np.concatenate([state.held, delivered[np.newaxis]])[1:] if self.capped else state.held
        return replace(super().book(state, cost, delivered), held=held)


@dataclass(frozen=True)
class Released(_Aging):
    """The authors' code (`empirics.control.released`): at least one sample per client and round, without carries."""

    K: int
    window: int
    budget: Budget
    script: Script

    def start(self, replicates: int) -> State:
        M = len(self.budget.buffers)
        none = np.zeros((replicates, M))
        nothing = np.zeros((0, replicates, M), dtype=np.int64)
        return State(AdmissionState.initial(replicates, self.window), none, nothing)

    def decide(self, state: State, cost: Floats) -> tuple[State, Whole]:
        buffers = np.array(self.budget.buffers)
        rate = released_admission(state.server, cost, float(self.budget.cost), self.script)
        return state, at_least_one(rate, buffers)
