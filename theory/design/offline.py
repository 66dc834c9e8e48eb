r"""Choosing the retention horizon K and the admission rates offline (`eq:kstep-opt-problem`).

Only the total rate Λ̄ enters the bound, and the bound decreases in Λ̄, so the best rate for a given K is what the
tighter constraint allows: \(\min(\sum B_m/K,\ C/\bar c)\). With \(x=\bar c\sum B_m/C\), cost binds for K <= x and the
buffers bind for K >= x. What is left is a choice of the integer K: in closed form as T → ∞, by an exact search at a
finite horizon (`theory.design.search`), and in between a formula for the horizon at which the ceiling of x passes the
floor.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.bound.theorem1 import linear_term, per_round_constant, root_term
from theory.design.search import Search
from theory.numbers.algebra import minimum, ratio, sqrt
from theory.regret.expansion import generalisation_integral
from theory.setting import Budget, Constants, SettingError, horizon, retention

__all__ = ["Candidate", "Design", "best_rate", "crossover_horizon", "crossover_leading", "crossover_ratio"]
__all__ += ["design", "design_as_stated", "design_limit", "fill_ratio"]

BRACKET_HALVINGS = 53  # of a float: halvings of a bracket whose ends are a factor of 2 apart


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
    up, down = math.ceil(x), max(math.floor(x), 1)
    return (up, up >= x), (down, down >= x)


def design_limit(budget: Budget, constants: Constants, *, around: int = 4) -> Design:
    r"""Corollary 2 corrected: as T → ∞ the smallest K that fills the buffers within the cost budget,
    \(K^\star=\lceil x\rceil\) with \(\lambda_m=B_m/K^\star\), and no other.

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

    K = math.ceil(fill_ratio(budget))
    return _design(K, budget, _landscape(_near(K, budget, around), budget, average), average)


# --- finite horizon ----------------------------------------------------------------------------------------


def design(budget: Budget, T: Any, constants: Constants, *, around: int = 4) -> Design:
    """The optimum of the finite-horizon problem with the corrected bound, over every K from 1 to T.

    K > T keeps every sample and only lowers the rate, so it is never better than K = T. Exact up to the
    summation's error: K whose bounds differ by less cannot be ranked, and any of them may be taken.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> design(Budget(buffers=(10, 11), cost=10, mean_cost=1), 1000, unit).K
    2
    """
    T = horizon(T)
    x = fill_ratio(budget)
    search = Search(budget, x, T, constants)
    K = search.best()
    near = {k for k in _near(K, budget, around) | _near(math.ceil(x), budget, 1) if k <= T}
    result = _design(K, budget, _landscape(near, budget, search.value), search.value)
    return replace(result, evaluations=search.evaluations)


# --- from the finite horizon to the limit ------------------------------------------------------------------


def crossover_ratio(K: Any, x: Any, constants: Constants) -> Any:
    r"""Horizon at which the ceiling of the fill ratio x passes the floor K, at rate C/c̄, as T / log T to leading
    order:

    \[\frac T{\log T}\approx\Bigl[\frac{20B\sqrt{\mathrm{Pdim}}\,(\sqrt{K+1}-\sqrt x)}{D\sigma(\sqrt{x/K}-1)}\Bigr]^2
      \qquad(K<x<K+1).\]

    With S = ΣB, the floor holds SK/x samples and the ceiling S: a round's root term is larger by
    \(D\sigma(\sqrt{x/K}-1)/\sqrt S\). The floor admits S/x samples per round and the ceiling S/(K+1): the
    generalisation terms of T rounds at a rate Λ̄ add up to \(20B\sqrt{\mathrm{Pdim}\,T\log T/\bar\Lambda}\). S cancels.

    >>> unit = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
    >>> round(float(crossover_ratio(2, Fraction(21, 10), unit)))
    262492
    """
    # √x factored out, because the root of an integer K+1 would not be in the number system of x
    gained = 20 * constants.B * sqrt(constants.Pdim * x) * (sqrt(ratio(K + 1, x)) - 1)
    paid = constants.D * constants.sigma * (sqrt(ratio(x, K)) - 1)
    return ratio(gained, paid) ** 2


def crossover_leading(budget: Budget, constants: Constants) -> float:
    """The larger T with T / log T = `crossover_ratio`: the horizon at which ⌈x⌉ passes ⌊x⌋, to leading order.

    1 where there is no such T: then ⌈x⌉ is ahead wherever log T > 0. A rule of thumb: the logarithm's own corrections
    leave tens of per cent, and the linear term, which is left out, matters unless ηEσ is far below D√ΣB.

    >>> unit = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
    >>> round(crossover_leading(Budget(buffers=(10, 11), cost=10, mean_cost=1), unit))  # certified: 2,983,619
    3989668
    """
    level = float(crossover_ratio(*_between(budget), constants.map(float)))
    if level <= math.e:
        return float(1)
    from mpmath import lambertw

    return float(-level * lambertw(-1 / level, -1).real)


def crossover_horizon(budget: Budget, constants: Constants) -> float:
    r"""The horizon at which the ceiling of the fill ratio x passes the floor K, with both leading sums in full:

    \[T\Bigl(\frac{D\sigma}{\sqrt S}\bigl(\sqrt{x/K}-1\bigr)+\frac{\eta E\sigma^2}S\bigl(\frac xK-1\bigr)\Bigr)
      =\frac{10B\,\mathrm{Pdim}}S\Bigl((K+1)\,H\bigl(\tfrac{ST}{(K+1)\mathrm{Pdim}}\bigr)
      -x\,H\bigl(\tfrac{ST}{x\,\mathrm{Pdim}}\bigr)\Bigr),\qquad S=\sum B_m,\]

    H the `generalisation_integral`. Left out is what reuse does to single rounds, of order K + log T in all: too low,
    by less than 1 % in every example beyond 10^4 K, and by half for a few hundred rounds. 1 if ⌈x⌉ is ahead at T = 1.

    >>> unit = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
    >>> round(crossover_horizon(Budget(buffers=(10, 11), cost=10, mean_cost=1), unit))  # certified: 2,983,619
    2983064
    """
    K, x = _between(budget)
    S, merged = float(budget.total_buffer), constants.map(float).merged

    def share(occupancy: float) -> float:
        return float(root_term(1 / occupancy, merged) + linear_term(1 / occupancy, merged))

    paid, scale = share(S * K / x) - share(S), merged.Pdim / S

    def floor_is_ahead(T: float) -> bool:
        ceiling, floor = (float(k * generalisation_integral(T / (scale * k))) for k in (K + 1, x))
        return bool(paid * T < 10 * merged.B * scale * (ceiling - floor))

    low = high = float(1)
    while floor_is_ahead(high):
        low, high = high, 2 * high
    for _ in range(BRACKET_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if floor_is_ahead(middle) else (low, middle)
    return high


def _between(budget: Budget) -> tuple[int, float]:
    """The floor of the fill ratio x and x itself, which must lie strictly between two horizons K >= 1."""
    x = float(fill_ratio(budget))
    if x < 1 or x == math.floor(x):
        raise SettingError(
            f"the fill ratio x must be above 1 and not whole, such as 2.1, got {x:.6g}: "
            "else its floor and its ceiling are one K, and none passes the other"
        )
    return math.floor(x), x


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
            why = f"cost {float(cost):.6g} per round exceeds the budget {float(budget.cost):.6g}"
            points.append(Candidate(K, filling, budget.total_buffer, cost, False, bound(K, filling), why))
        points.append(Candidate(K, best, K * best, best * budget.mean_cost, True, bound(K, best)))
    return tuple(points)


def _times(sizes: tuple[Any, ...], share: Any) -> tuple[Any, ...]:
    """Each size times the share, quickly for a million clients: all floats at once, else each size only once."""
    if set(map(type, sizes)) == {float}:
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
