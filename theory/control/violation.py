r"""The two constraints, cost and buffers: by how much a policy inside the region can violate them.

Both violations are linear and increasing in every admission, so the worst policy inside the region admits
\(\Lambda_{\max}(t)\) in every round, whatever the costs. What it admits beyond \(\bar\Lambda T\) is
\(\bar\Lambda\sum_{t\le T}\rho^t/(1-\rho^t)\), a Lambert sum, which is bounded in T and lies between
`cost_violation_rate` and `lambert_bound`, whose ratio tends to 1 as ρ does.
"""

from typing import Any

from theory.bound.theorem1 import generalisation_term, linear_term, root_term
from theory.control.region import contraction
from theory.numbers.algebra import kind, log, minimum, positive_part, ratio, sqrt
from theory.numbers.lambert import lambert_partial
from theory.numbers.summation import total, total_ball
from theory.setting import Constants, Region, SettingError, horizon, retention

__all__ = ["buffer_excess_maximum", "buffer_violation_bound", "buffer_violation_maximum"]
__all__ += ["cost_excess_maximum", "cost_violation_bound", "cost_violation_by_debt", "cost_violation_by_peak"]
__all__ += ["cost_violation_every_round", "cost_violation_least", "cost_violation_rate"]
__all__ += ["cost_violation_rate_as_stated", "cost_violation_toss", "lambert_bound"]


# --- orders ------------------------------------------------------------------------------------------------


def cost_violation_rate_as_stated(T: Any, V: Any, rho: Any) -> Any:
    r"""\(\sqrt{VT+V/(1-\rho)}\), the printed order of the cost violation (`eq:cost-violation-rate`).

    >>> cost_violation_rate_as_stated(6, 2, Fraction(1, 2))
    Fraction(4, 1)
    """
    return sqrt(V * T + V / (1 - rho))


def cost_violation_rate(rho: Any) -> Any:
    r"""\(\frac1{1-\rho}\log\frac1{1-\rho}\), the order as ρ → 1 of what the region alone allows (sharpens
    `eq:cost-violation-rate`): no V, no T, no independence. A lower bound on \(\sum_t\rho^t/(1-\rho^t)\), every ρ.

    >>> cost_violation_rate(Fraction(1, 2))
    2*log(2)
    """
    return -log(1 - rho) / (1 - rho)


def lambert_bound(rho: Any) -> Any:
    r"""\(\sqrt\rho\,\log(1/(1-\sqrt\rho))/(1-\rho)\), an upper bound on \(\sum_t\rho^t/(1-\rho^t)\), every ρ; itself
    below \(\log(2/(1-\rho))/(1-\rho)\).

    >>> lambert_bound(Fraction(1, 4))
    2*log(2)/3
    """
    root = sqrt(rho)
    return -root * log(1 - root) / (1 - rho)


# --- cost --------------------------------------------------------------------------------------------------


def cost_excess_maximum(T: Any, region: Region, mean_cost: Any, C: Any) -> Any:
    r"""\(\sum_{t\le T}(E[c(t)]\Lambda_{\max}(t)-C)\), the largest \(\sum_tE[c(t)\Lambda(t)-C]\) of a policy
    inside the region, attained by always admitting the upper end; exact, negative where the costs leave room.

    `mean_cost` is one number, the mean in every round, or a list or tuple with one mean per round. Written as
    \((\bar c\bar\Lambda-C)T\) and a Lambert sum, so that nothing cancels at large T.

    >>> cost_excess_maximum(2, Region(rate=3, rho=Fraction(1, 2)), 1, 7)
    Fraction(-4, 1)
    """
    if isinstance(mean_cost, list | tuple):
        if len(mean_cost) != horizon(T):
            raise SettingError(
                f"mean_cost must have one entry for each of the {T} rounds, got {len(mean_cost)}"
            )
        rounds = [(mean * region.rate, _beyond(region, t)) for t, mean in enumerate(mean_cost, start=1)]
        return sum(pace - C for pace, _ in rounds) + sum(pace * beyond for pace, beyond in rounds)
    pace = mean_cost * region.rate
    return (pace - C) * T + pace * lambert_partial(region.rho, T + 1)


def cost_violation_bound(T: Any, region: Region, mean_cost: Any, C: Any) -> Any:
    r"""\(\bigl[\sum_{t\le T}(E[c(t)]\Lambda_{\max}(t)-C)\bigr]^+\), the largest cost violation of a policy inside
    the region (sharpens `thm:dpp-cost-constraint`), attained; exact. No hypothesis on the costs but \(c\ge0\).

    >>> region = Region(rate=3, rho=Fraction(1, 2))
    >>> cost_violation_bound(2, region, 1, 4), cost_violation_bound(2, region, [0, 5], 4)
    (Fraction(2, 1), Fraction(12, 1))
    """
    return positive_part(cost_excess_maximum(T, region, mean_cost, C))


def cost_violation_by_peak(T: Any, region: Region, peak: Any) -> Any:
    r"""\(c_{\max}\bar\Lambda\sum_{t\le T}\rho^t/(1-\rho^t)\), an upper bound on the cost violation of every policy
    inside the region when \(E[c(t)]\le c_{\max}\) in each round and constant admission can pay for the T rounds
    together (sharpens `thm:dpp-cost-constraint`); attained for one mean \(c_{\max}=C/\bar\Lambda\).

    Where constant admission can pay up to every round, \(C/\bar\Lambda\) does for `peak`, however large the costs.

    >>> cost_violation_by_peak(2, Region(rate=3, rho=Fraction(1, 2)), 5)
    Fraction(20, 1)
    """
    return peak * region.rate * lambert_partial(region.rho, T + 1)


def cost_violation_least(T: Any, rho: Any, C: Any) -> Any:
    r"""\(C(\rho+\rho^{T+1}/(1-\rho))\), the least cost violation inside the region after a first round at its upper
    end, which ACDPP's is, when \(E[c(t)\mid\text{past}]\bar\Lambda=C\) (`alg:acdpp`): a lower bound, exact.

    >>> cost_violation_least(2, Fraction(1, 2), 4)
    Fraction(3, 1)
    """
    return C * (rho + rho ** (T + 1) / (1 - rho))


def cost_violation_toss(rho: Any, C: Any) -> Any:
    r"""\(C\bigl(\rho+\tfrac12\rho^2+\tfrac12\frac{\rho^2}{1-\rho^2}\bigr)\), what ACDPP's cost violation is at least
    when the toss of a coin makes \(c(1)\) 0 or \(2C/\bar\Lambda\), and \(c(t)=C/\bar\Lambda\) later (corrects
    `rem:1/violation`).

    For every T >= 2, V and K. A quarter of \(C/(1-\rho)\) as ρ → 1, though every round is affordable in the mean.

    >>> cost_violation_toss(Fraction(1, 2), 24)
    Fraction(19, 1)
    """
    square = rho * rho
    return C * (rho + ratio(square, 2) + ratio(square, 2 * (1 - square)))


def cost_violation_by_debt(region: Region, V: Any, second_moment: Any, C: Any, constants: Constants) -> Any:
    r"""\(2\sqrt{2VPh}+(6\sqrt{E[c^2]}\,\bar\Lambda+2C)h\), \(h=1/(1-\rho)\): an upper bound on ACDPP's cost violation,
    every T, when \(E[c(t)^2]\) is at most `second_moment` in each round and constant admission can pay for the T
    rounds together (sharpens `thm:dpp-cost-constraint`); no logarithm, no independence. P is the largest penalty at Λ̄.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=Fraction(3, 5), Pdim=1)
    >>> cost_violation_by_debt(Region(rate=1, rho=Fraction(1, 2)), 2, 1, 3, unit)
    Fraction(40, 1)
    """
    wide = ratio(1, 1 - region.rho)
    level = sqrt(2 * V * _penalty_at_most(region.rate, constants) * wide)
    return 2 * level + (6 * sqrt(second_moment) * region.rate + 2 * C) * wide


def cost_violation_every_round(T: Any, region: Region, V: Any, C: Any, constants: Constants) -> Any:
    r"""\(2\sqrt{VP\,(T+h(1+\log T))}+C(1+h\rho^{T+1})\), \(h=1/(1-\rho)\): an upper bound on ACDPP's cost violation if
    \(c(t)\bar\Lambda\le C\) in every round, whatever happens (where `rem:1/violation` is true). P as in
    `cost_violation_by_debt`.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=Fraction(3, 5), Pdim=1)
    >>> cost_violation_every_round(1, Region(rate=1, rho=Fraction(1, 2)), 6, 2, unit)
    Fraction(27, 1)
    """
    wide = ratio(1, 1 - region.rho)
    rounds = T + wide * (1 + log(T))
    level = sqrt(V * _penalty_at_most(region.rate, constants) * rounds)
    return 2 * level + C * (1 + wide * region.rho ** (T + 1))


def _penalty_at_most(rate: Any, constants: Constants) -> Any:
    r"""The penalty's terms with \(1/\bar\Lambda\) for \(1/n-1/N\) and Λ̄ for N: the most that admitting Λ̄ can cost."""
    most = ratio(1, rate)
    first = root_term(most, constants) + linear_term(most, constants)
    return first + generalisation_term(most, rate, constants)


def _beyond(region: Region, t: Any) -> Any:
    r"""\(\rho^t/(1-\rho^t)\): what the upper end of round t adds to Λ̄, in units of it."""
    share = contraction(region, t)
    return ratio(1 - share, share)


# --- buffers -----------------------------------------------------------------------------------------------


def buffer_excess_maximum(K: Any, T: Any, region: Region) -> Any:
    r"""\(\sum_{s\le T}\Lambda_{\max}(s)\min(K,T-s+1)-K\bar\Lambda T\), the largest \(\sum_t(n(t)-\sum_mB_m)\) inside
    the region when \(\sum_mB_m=K\bar\Lambda\) (`rem:buffer-violation`); exact, negative where the buffers, empty at
    first, make up for the wide early region.

    With \(k=\min(K,T)\) and \(h(s)=\rho^s/(1-\rho^s)\) it is
    \(\bar\Lambda[K\sum_{s\le T}h(s)-\sum_{j\le k}(K-j)h(T-j+1)-k(2K-k-1)/2]\): the last k admissions are counted
    less than K times. No cancellation, and a fast sum on floats (to T < 2^52) and balls. Exact rationals grow
    with \(T^2\) digits.

    >>> half = Region(rate=1, rho=Fraction(1, 2))
    >>> buffer_excess_maximum(2, 2, half), buffer_excess_maximum(3, 1, half)
    (Fraction(4, 3), Fraction(-1, 1))
    """
    K, T = retention(K), horizon(T)
    k = minimum(K, T)
    beyond = K * lambert_partial(region.rho, T + 1) - _late(K, T, k, region)
    return region.rate * (2 * beyond - k * (2 * K - k - 1)) / 2


def _late(K: Any, T: Any, k: Any, region: Region) -> Any:
    r"""\(\sum_{j=1}^k(K-j)h(T-j+1)\), in s = T-j+1, the last k rounds."""

    def summand(s: Any) -> Any:
        return (s + (K - T - 1)) * _beyond(region, s)

    if kind(region.rho) == "ball":
        return total_ball(summand, T, start=T - k + 1)
    if isinstance(region.rho, float):
        return total(summand, T, start=T - k + 1).value
    if kind(k) == "symbol":
        import sympy

        s = sympy.Symbol("s", integer=True, positive=True)
        return sympy.Sum((s + (K - T - 1)) * region.rho**s / (1 - region.rho**s), (s, T - k + 1, T))
    return sum(summand(s) for s in range(T - k + 1, T + 1))


def buffer_violation_maximum(K: Any, T: Any, region: Region) -> Any:
    r"""\([\sum_{s\le T}\Lambda_{\max}(s)\min(K,T-s+1)-K\bar\Lambda T]^+\), the largest buffer violation of a policy
    inside the region that splits its admissions in proportion to the buffers, \(\sum_mB_m=K\bar\Lambda\)
    (sharpens `rem:buffer-violation`); exact, attained by always admitting the upper end.

    >>> buffer_violation_maximum(2, 2, Region(rate=1, rho=Fraction(1, 2)))
    Fraction(4, 3)
    >>> float(buffer_violation_maximum(10, 10**15, Region(rate=10.0, rho=0.5)))
    0.0
    """
    return positive_part(buffer_excess_maximum(K, T, region))


def buffer_violation_bound(K: Any, T: Any, region: Region) -> Any:
    r"""\(K\bar\Lambda\sum_{t\le T}\rho^t/(1-\rho^t)\), an upper bound on `buffer_violation_maximum` in one sum: each
    admission counted K times. Bounded in T, not in ρ.

    >>> buffer_violation_bound(3, 2, Region(rate=1, rho=Fraction(1, 2)))
    Fraction(4, 1)
    """
    return K * region.rate * lambert_partial(region.rho, T + 1)
