r"""What the admission region alone says about a policy: two-sided bounds on every round's terms and on the regret.

Let a policy stay inside the region, whatever it looks at, with K-step retention. In round t write
\(k=\min(t,K)\), \(s=t-k+1\) for the oldest admission still in memory, \(x=\rho^s\). Then

* every admission in memory, and Λ̄, lie in \([\bar\Lambda(1-x),\bar\Lambda/(1-x)]\), since the region
  contracts;
* \(N(s)\le N_{\mathrm{eff}}(t)\le N(t)\): no sample has been used more than k times, so
  \(1/N_{\mathrm{eff}}=\sum A_i^2/(\sum A_i)^2\le k/\sum A_i\), and the N(s) oldest ones k times;
* the share of the memory in all uses, divided by n, is \(\sum_a a\Lambda(t-a+1)/(n\sum A_i)\) with
  \(kN(s)\le\sum A_i\le kN(t)\).

With \(N(s)\ge\sum_{j\le s}\Lambda_{\min}(j)\) and \(N(t)\le\bar\Lambda(t+S)\), \(S=\sum_j\rho^j/(1-\rho^j)\), the
mismatch of either form is enclosed to \(O(x)+O(t^{-2})\), so the enclosures of the regret differ by a number
that stays bounded as T grows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from theory.algebra import ball, minimum, positive_part, precise, ratio
from theory.bound import Terms, generalisation_term, linear_term, root_term
from theory.constant_admission import oracle_bound, oracle_bound_as_stated, sum_rounds
from theory.lambert import lambert_total
from theory.region import contraction, region_minimum_total
from theory.setting import Constants, Region


def three(terms: Terms) -> Any:
    """The three terms of a bound, without the constants, which cancel in a regret."""
    return terms.root + terms.linear + terms.generalisation


def mismatch_range(k: Any, x: Any, rate: Any, fewest: Any, most: Any, *, stated: bool) -> tuple[Any, Any]:
    """Bounds on 1/n - 1/N_eff (stated) or χ, for admissions in memory within a factor 1 - x of the rate,
    N(s) >= `fewest` and N(t) <= `most`. A larger x, a smaller `fewest` and a larger `most` widen them.
    """
    low, high = ratio(1 - x, k * rate), ratio(1, k * rate * (1 - x))
    if stated:
        return low - ratio(1, fewest), high - ratio(1, most)
    most_weight = ratio(k + 1, k * (1 - x) ** 2 * fewest)
    least_weight = ratio((k + 1) * (1 - x) ** 2, k * most)
    return low + ratio(1, most) - most_weight, high + ratio(1, fewest) - least_weight


def _terms_range(
    mismatch: tuple[Any, Any], fewest: Any, most: Any, constants: Constants
) -> tuple[Terms, Terms]:
    low, high = mismatch
    return (
        Terms(
            root=root_term(low, constants),
            linear=linear_term(low, constants),
            generalisation=generalisation_term(ratio(1, most), most, constants),
        ),
        Terms(
            root=root_term(high, constants),
            linear=linear_term(high, constants),
            generalisation=generalisation_term(ratio(1, fewest), most, constants),
        ),
    )


def round_range(
    K: Any, t: Any, region: Region, lambert: Any, constants: Constants, *, stated: bool
) -> tuple[Terms, Terms]:
    """Round t of the bound, from below and from above, for every policy inside the region; every t >= 1.

    `lambert` is at least the Lambert sum over the rounds up to t. χ, unlike the printed expression, is never negative.
    """
    k = minimum(t, K)
    oldest = t - k + 1
    fewest, most = region_minimum_total(region, oldest + 1), region.rate * (t + lambert)
    low, high = mismatch_range(k, 1 - contraction(region, oldest), region.rate, fewest, most, stated=stated)
    return _terms_range((low if stated else positive_part(low), high), fewest, most, constants)


def eventual_range(
    K: Any, t: Any, rate: Any, lag: Any, lambert: Any, constants: Constants, *, stated: bool
) -> tuple[Terms, Terms]:
    r"""The same for all large t, in powers of t alone: \(\rho^s\le t^{-2}\) in the end, and N(s) is at least
    \(\bar\Lambda(s-\mathrm{lag})\) with lag = ρ/(1-ρ).
    """
    fewest, most = rate * (t - K + 1 - lag), rate * (t + lambert)
    return _terms_range(mismatch_range(K, t**-2, rate, fewest, most, stated=stated), fewest, most, constants)


def summed(make_round: Callable[[Any], Terms], K: int, T: int) -> Terms:
    """A round's formula summed over T rounds, in balls. Differences are taken of sums, never summed: they cancel."""
    return sum_rounds(make_round, T, (1, K - 1, K, K + 1), certified=True).terms


@cache
def bound_end(K: int, region: Region, T: int, constants: Constants, *, stated: bool, upper: bool) -> Any:
    """A ball below (or above) the three terms of the bound, over T rounds of every policy inside the region."""
    with precise():
        exact, numbers = region.map(ball), (constants if stated else constants.merged).map(ball)
        lambert = lambert_total(exact.rho)
        return three(summed(lambda t: round_range(K, t, exact, lambert, numbers, stated=stated)[upper], K, T))


@cache
def regret_end(K: int, region: Region, T: int, constants: Constants, *, stated: bool, upper: bool) -> Any:
    """A ball below (or above) Reg(T) of every policy inside the region, with ΣB = KΛ̄; certified."""
    oracle = (oracle_bound_as_stated if stated else oracle_bound)(
        K * region.rate, T, constants, certified=True
    )
    with precise():
        return bound_end(K, region, T, constants, stated=stated, upper=upper) - three(oracle.terms)


def spread(K: int, region: Region, T: int, constants: Constants, *, stated: bool) -> Any:
    """How far apart the bounds of two policies inside the region can be after T rounds, at most."""
    with precise():
        low, high = (
            bound_end(K, region, T, constants, stated=stated, upper=upper) for upper in (False, True)
        )
        return high - low


USUAL = Region(rate=10, rho=Fraction(9, 10))
