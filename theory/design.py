r"""Choosing the retention horizon K and the admission rates offline (`eq:kstep-opt-problem`).

Only the total rate Λ̄ enters the bound, and the bound decreases in Λ̄, so the best rate for a given K is what the
tighter constraint allows: \(\min(\sum B_m/K,\ C/\bar c)\). With \(x=\bar c\sum B_m/C\), cost binds for K <= x and the
buffers bind for K >= x. What is left is a search over the integers K, made finite and fast by monotonicity:

* for K <= x the root and linear terms decrease in K in every round and the generalisation term increases;
* for K >= x the generalisation term still increases; \(n\chi\) decreases in K while K <= t and increases beyond.

So on a block of K the terms are bounded below by their values at its ends, and branch and bound is exact.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from theory.algebra import minimum, ratio
from theory.bound import Terms, linear_term, per_round_constant, root_term
from theory.constant_admission import constant_bound
from theory.reuse import mismatch_constant
from theory.setting import Budget, Constants, horizon, retention
from theory.summation import total

__all__ = ["Candidate", "Design", "best_rate", "design", "design_as_stated", "design_limit", "fill_ratio"]


@dataclass(frozen=True)
class Candidate:
    """One operating point: retention K, total rate, occupancy and mean cost, and the bound there.

    The bound is over the horizon, or a round's share of it as T → ∞. `why` says what an infeasible one breaks.
    """

    K: int
    total_rate: Any
    occupancy: Any
    cost: Any
    feasible: bool
    bound: float
    why: str = ""


@dataclass(frozen=True)
class Design:
    """A chosen operating point, what binds there ("cost", "buffers" or both), and the landscape around it."""

    K: int
    rates: tuple[Any, ...]
    total_rate: Any
    binding: tuple[str, ...]
    bound: float
    candidates: tuple[Candidate, ...]
    evaluations: int = 0


def fill_ratio(budget: Budget) -> Any:
    r"""\(x=\bar c\sum_mB_m/C\): how many rounds it takes to pay for full buffers (`eq:optimal-K`); exact.

    >>> fill_ratio(Budget(buffers=(8, 12), cost=11, mean_cost=Fraction(11, 2)))
    Fraction(10, 1)
    """
    mean, total, cost = budget.mean_cost, budget.total_buffer, budget.cost
    if all(isinstance(value, int | float | Fraction) for value in (mean, total, cost)):
        return Fraction(mean) * Fraction(total) / Fraction(cost)  # a rounded x could miss a whole number
    return mean * total / cost


def best_rate(K: Any, budget: Budget) -> Any:
    r"""\(\min(\sum B_m/K,\ C/\bar c)\), the largest feasible total rate for a given K, which is the best one.

    >>> best_rate(4, Budget(buffers=(8, 12), cost=11, mean_cost=Fraction(11, 2)))
    Fraction(2, 1)
    """
    return minimum(ratio(budget.total_buffer, retention(K)), budget.affordable_rate)


# --- closed forms ------------------------------------------------------------------------------------------


def design_as_stated(budget: Budget) -> tuple[tuple[int, bool], tuple[int, bool]]:
    """Corollary 2 as printed (`eq:optimal-K`): ceiling and floor of x, each with λ_m = B_m/K, and whether that
    is feasible. The floor is not, unless x is whole (or below 1): its cost exceeds the budget.

    >>> design_as_stated(Budget(buffers=(10, 11), cost=10, mean_cost=1))
    ((3, True), (2, False))
    """
    x = fill_ratio(budget)
    up, down = max(math.ceil(x), 1), max(math.floor(x), 1)
    return (up, up >= x), (down, down >= x)


def design_limit(budget: Budget, constants: Constants, *, around: int = 4) -> Design:
    r"""Corollary 2 corrected: as T → ∞ the smallest K that fills the buffers within the cost budget,
    \(K^\star=\max(\lceil x\rceil,1)\) with \(\lambda_m=B_m/K^\star\), and no other.

    Every K >= x attains the least first-order cost, occupancy ΣB; among them the generalisation term,
    \(\propto\sqrt{K\,T\log T}\), is least at the smallest. Optimal in the sense that it beats every other K
    for all large T.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> design_limit(Budget(buffers=(10, 11), cost=10, mean_cost=1), unit).K
    3
    """

    def average(K: int, rate: Any) -> float:
        share = 1 / (float(rate) * K)
        merged = constants.map(float).merged
        return float(
            root_term(share, merged) + linear_term(share, merged) + per_round_constant(constants.map(float))
        )

    K = max(math.ceil(fill_ratio(budget)), 1)
    return _design(K, budget, _landscape(_near(K, budget, around), budget, average), average)


# --- finite horizon ----------------------------------------------------------------------------------------


def design(budget: Budget, T: Any, constants: Constants, *, around: int = 4) -> Design:
    """The optimum of the finite-horizon problem with the corrected bound, over every K from 1 to T.

    K > T keeps every sample and only lowers the rate, so it is never better than K = T. Exact up to the
    summation's error: two K whose bounds differ by less are told apart by nothing, and the smaller is taken.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> design(Budget(buffers=(10, 11), cost=10, mean_cost=1), 1000, unit).K
    2
    """
    T = horizon(T)
    search = _Search(budget, T, constants.map(float))
    K = search.best()
    near = {
        k
        for k in _near(K, budget, around) | _near(max(math.ceil(fill_ratio(budget)), 1), budget, 1)
        if k <= T
    }
    result = _design(K, budget, _landscape(near, budget, search.value), search.value)
    return replace(result, evaluations=search.evaluations)


class _Search:
    """Branch and bound over K: blocks of K with a lower bound on all their bounds, best first."""

    def __init__(self, budget: Budget, T: int, constants: Constants) -> None:
        self.T, self.constants = T, constants
        self.total_buffer, self.affordable = float(budget.total_buffer), float(budget.affordable_rate)
        self.fill = fill_ratio(budget)
        self.evaluations = 0
        self.terms = cache(self._terms)

    def value(self, K: int, rate: Any) -> float:
        return float(constant_bound(K, float(rate), self.T, self.constants).total)

    def _terms(self, K: int) -> tuple[Terms, float]:
        self.evaluations += 1
        rate = self.affordable if self.fill >= K else self.total_buffer / K
        result = constant_bound(K, rate, self.T, self.constants)
        return result.terms, result.error

    def _least(self, first: int, last: int) -> float:
        """A lower bound on the bound of every K in first..last, all on one side of the fill ratio."""
        low, high = self.terms(first)[0], self.terms(last)[0]
        optimisation = high.root + high.linear if last <= self.fill else self._least_optimisation(first, last)
        return float(optimisation + low.generalisation + low.constant + low.initial)

    def _least_optimisation(self, first: int, last: int) -> float:
        """Root and linear terms at the least mismatch of any K in first..last in each round, buffers full."""
        self.evaluations += 1
        merged = self.constants.merged

        def least_round(t: Any) -> Any:
            # nχ is least, over K, at K = t; a K short of it has its least at `last`, one beyond at `first`
            k = np.clip(t, first, last)
            chi = mismatch_constant(k, t, self.total_buffer / k)
            return root_term(chi, merged) + linear_term(chi, merged)

        breaks = (1, first - 1, first, last - 1, last)
        return float(total(least_round, self.T, breaks).value)

    def best(self) -> int:
        """The best K: the smallest of those whose bound is within its error of the least."""
        edge = math.floor(self.fill)
        heap: list[tuple[float, int, int]] = []
        values: dict[int, tuple[float, float]] = {}

        def consider(first: int, last: int) -> None:
            for K in {first, last} if first <= last else ():
                terms, error = self.terms(K)
                values[K] = float(terms.total), error
            if last - first > 1:
                heapq.heappush(heap, (self._least(first, last), first, last))

        consider(1, min(edge, self.T))
        consider(edge + 1, self.T)
        while heap:
            least, error = min(values.values())
            if heap[0][0] >= least - 2 * error:
                break  # nothing left could be told from the best
            _, first, last = heapq.heappop(heap)
            middle = math.isqrt(first * last)
            consider(first, middle)
            consider(middle + 1, last)
        least, error = min(values.values())
        return min(K for K, (value, own_error) in values.items() if value <= least + error + own_error)


# --- the landscape -----------------------------------------------------------------------------------------


def _near(K: int, budget: Budget, around: int) -> set[int]:
    """K, its neighbours, the two horizons of the printed corollary, and no retention at all."""
    stated = {k for k, _ in design_as_stated(budget)}
    return {1} | stated | set(range(max(K - around, 1), K + around + 1))


def _landscape(
    near: Iterable[int], budget: Budget, bound: Callable[[int, Any], float]
) -> tuple[Candidate, ...]:
    """For each K the best feasible point and, where they differ, the one that fills the buffers regardless."""
    points = []
    for K in sorted(near):
        filling, best = ratio(budget.total_buffer, K), best_rate(K, budget)
        if fill_ratio(budget) > K:
            cost = filling * budget.mean_cost
            why = f"cost {float(cost):.6g} a round exceeds the budget {float(budget.cost):.6g}"
            points.append(Candidate(K, filling, budget.total_buffer, cost, False, bound(K, filling), why))
        points.append(Candidate(K, best, K * best, best * budget.mean_cost, True, bound(K, best)))
    return tuple(points)


def _times(sizes: tuple[Any, ...], share: Any) -> tuple[Any, ...]:
    """Each size times the share, quickly for a million clients: all floats at once, else each size only once."""
    if all(type(size) is float for size in sizes):
        return tuple((np.array(sizes) * float(share)).tolist())
    rate_of = {size: size * share for size in set(sizes)}
    return tuple(map(rate_of.__getitem__, sizes))


def _design(
    K: int, budget: Budget, candidates: tuple[Candidate, ...], bound: Callable[[int, Any], float]
) -> Design:
    rate, x = best_rate(K, budget), fill_ratio(budget)
    fits = {"buffers": x <= K, "cost": x >= K}
    share = ratio(rate, budget.total_buffer)
    return Design(
        K=K,
        rates=_times(budget.buffers, share),
        total_rate=rate,
        binding=tuple(name for name, binds in fits.items() if binds),
        bound=bound(K, rate),
        candidates=candidates,
    )
