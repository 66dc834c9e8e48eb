"""The admission policies, each a pure transition from a state and a cost to whole admissions per client.

Every decision is `theory`'s; here it is turned into whole samples and booked as such: debt and counts follow what was
admitted, not the real-valued rate. States hold all replicates of a policy at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from empirics.control.released import released_admission
from empirics.settings.study import Study
from theory.admission import AdmissionState, acdpp_round, advance, integer_admissions
from theory.design import best_rate, design_limit
from theory.setting import Budget, Constants, Region

__all__ = ["Policy", "State", "make_policy"]

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """Books of all replicates: the server's state, the clients' carries, and their last K-1 admissions."""

    server: AdmissionState
    carry: NDArray[Any]
    held: Whole


class Policy(Protocol):
    """What `schedule` plays."""

    @property
    def retention(self) -> Whole:
        """How many rounds each client keeps a sample."""

    def start(self, replicates: int) -> State:
        """Before round 1."""

    def play(self, state: State, cost: NDArray[np.float64]) -> tuple[State, Whole]:
        """A round: the next state and the admissions, of shape (replicates, clients)."""


def _staggered(clients: int) -> list[Fraction]:
    """First carries, evenly spread over [-1/2, 1/2): equal rates then don't all round up in the same round."""
    return [Fraction(2 * m + 1 - clients, 2 * clients) for m in range(clients)]


@lru_cache(maxsize=4096)
def _whole(rates: tuple[Fraction, ...], carry: tuple[Fraction, ...]) -> tuple[Whole, NDArray[Any]]:
    """Whole admissions at constant rates. Carries recur with the period of the rates, so few are ever computed."""
    total = sum(rates, Fraction(0))
    return integer_admissions(total, [rate / total for rate in rates], np.array(carry, dtype=object))


@dataclass(frozen=True)
class Fixed:
    """Constant admission at given rates, with samples kept for `retention` rounds; `opening` adds to round 1.

    Rates are exact, so that a client at rate B/K never holds more than B. Costs enter the books alone.
    """

    rates: tuple[Fraction, ...]
    opening: Whole
    retention: Whole
    budget: Budget

    def start(self, replicates: int) -> State:
        carry = np.array(_staggered(len(self.rates)), dtype=object)
        return State(
            AdmissionState.initial(replicates, 1), carry, np.zeros((0, len(self.rates)), dtype=np.int64)
        )

    def play(self, state: State, cost: NDArray[np.float64]) -> tuple[State, Whole]:
        admitted, carry = _whole(self.rates, tuple(state.carry))
        if state.server.round == 1:
            admitted = admitted + self.opening
        server = advance(state.server, float(admitted.sum()), cost, float(self.budget.cost))
        return State(server, carry, state.held), np.broadcast_to(admitted, (len(cost), len(admitted)))


@dataclass(frozen=True)
class DriftPlusPenalty:
    """ACDPP: as printed, or with nobody admitting more than fits (`capped`)."""

    K: int
    V: float
    region: Region
    constants: Constants
    budget: Budget
    capped: bool = False

    @property
    def retention(self) -> Whole:
        return np.full(len(self.budget.buffers), self.K)

    def start(self, replicates: int) -> State:
        M = len(self.budget.buffers)
        carry = np.broadcast_to(np.array(_staggered(M), dtype=float), (replicates, M))
        held = np.zeros((self.K - 1, replicates, M) if self.capped else (0, replicates, M), dtype=np.int64)
        return State(AdmissionState.initial(replicates, self.K), carry, held)

    def play(self, state: State, cost: NDArray[np.float64]) -> tuple[State, Whole]:
        buffers = np.array(self.budget.buffers)
        C, capacity = float(self.budget.cost), float(buffers.sum()) if self.capped else None
        _, rate = acdpp_round(
            state.server, cost, V=self.V, C=C, region=self.region, constants=self.constants, capacity=capacity
        )
        room = buffers - state.held.sum(axis=0) if self.capped else None
        admitted, carry = integer_admissions(rate, buffers / buffers.sum(), state.carry, room)
        held = np.concatenate([state.held, admitted[np.newaxis]])[1:] if self.capped else state.held
        return State(
            advance(state.server, admitted.sum(axis=1).astype(float), cost, C), carry, held
        ), admitted


@dataclass(frozen=True)
class Released:
    """The authors' code (`empirics.control.released`): at least one sample a client and round, nothing carried over."""

    K: int
    budget: Budget

    @property
    def retention(self) -> Whole:
        return np.full(len(self.budget.buffers), self.K)

    def start(self, replicates: int) -> State:
        M = len(self.budget.buffers)
        none = np.zeros((replicates, M))
        return State(AdmissionState.initial(replicates, self.K), none, np.zeros((0, M), dtype=np.int64))

    def play(self, state: State, cost: NDArray[np.float64]) -> tuple[State, Whole]:
        buffers = np.array(self.budget.buffers)
        rate = released_admission(state.server, cost, float(self.budget.cost))
        admitted = np.maximum(np.rint(rate[:, np.newaxis] * buffers / buffers.sum()), 1).astype(np.int64)
        server = advance(state.server, admitted.sum(axis=1).astype(float), cost, float(self.budget.cost))
        return replace(state, server=server), admitted


# --- from a study to its policies --------------------------------------------------------------------------


def make_policy(name: str, study: Study, constants: Constants) -> Policy:
    """The named policy with the study's budgets; `constants` are what the penalty of the DPP policies knows.

    hybrid: the first half of the clients admit constantly, designed for their own buffers with the whole budget;
    the others take B_m samples in round 1 and keep them.
    """
    budget = study.theory_budget
    M = study.clients
    none = np.zeros(M, dtype=np.int64)
    K = design_limit(budget, constants).K if study.K is None else study.K
    if name == "oracle":
        return Fixed(tuple(map(Fraction, budget.buffers)), none, np.ones(M, dtype=np.int64), budget)
    if name == "constant":
        return Fixed(_rates(budget, K), none, np.full(M, K), budget)
    if name == "hybrid":
        live = max(M // 2, 1)
        half = Budget(buffers=budget.buffers[:live], cost=budget.cost, mean_cost=budget.mean_cost)
        K = design_limit(half, constants).K if study.hybrid_K is None else study.hybrid_K
        idle = M - live
        opening = np.array([0] * live + list(budget.buffers[live:]))
        kept = np.array([K] * live + [study.rounds] * idle)
        return Fixed(_rates(half, K) + (Fraction(0),) * idle, opening, kept, budget)
    if name == "released":
        return Released(study.released_K, budget)
    rate = float(best_rate(K, budget)) if study.rate is None else study.rate
    region = Region(rate=rate, rho=study.rho)
    return DriftPlusPenalty(K, study.V, region, constants, budget, capped=name == "acdpp-capped")


def _rates(budget: Budget, K: int) -> tuple[Fraction, ...]:
    """The best feasible rates for a given K, in proportion to the buffers."""
    share = Fraction(best_rate(K, budget)) / budget.total_buffer
    return tuple(size * share for size in budget.buffers)
