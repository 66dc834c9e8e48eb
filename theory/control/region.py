r"""The contracting admission region \([\bar\Lambda(1-\rho^t),\ \bar\Lambda/(1-\rho^t)]\) and its cumulative ends.

All four are functions of a real t, so that they can be summed, integrated and enclosed. Before round 1 the
lower end is 0: nothing was admitted then.
"""

from fractions import Fraction
from typing import Any

from theory.numbers.algebra import exp_above_tangent, kind, log, one_minus_exp, positive_part, ratio
from theory.numbers.lambert import lambert_partial
from theory.setting import Region

__all__ = ["contraction", "region_maximum", "region_maximum_total", "region_minimum", "region_minimum_total"]
__all__ += ["region_minimum_window"]


def contraction(region: Region, t: Any) -> Any:
    r"""\(1-\rho^t\), the region's relative lower end; exact on exact operands, free of cancellation on floats.

    >>> contraction(Region(rate=10, rho=Fraction(1, 2)), 2)
    Fraction(3, 4)
    """
    if isinstance(region.rho, Fraction) and isinstance(t, int):
        return 1 - region.rho**t
    return one_minus_exp(t * log(region.rho))


def region_minimum(region: Region, t: Any) -> Any:
    r"""\(\Lambda_{\min}(t)=\bar\Lambda(1-\rho^t)\) (`eq:lambda-min-max`), 0 for t <= 0; exact.

    >>> region_minimum(Region(rate=10, rho=Fraction(1, 2)), 2)
    Fraction(15, 2)
    """
    return region.rate * contraction(region, positive_part(t))


def region_maximum(region: Region, t: Any) -> Any:
    r"""\(\Lambda_{\max}(t)=\bar\Lambda/(1-\rho^t)\) (`eq:lambda-min-max`), t >= 1; exact.

    >>> region_maximum(Region(rate=10, rho=Fraction(1, 2)), 1)
    Fraction(20, 1)
    """
    return ratio(region.rate, contraction(region, t))


def region_minimum_total(region: Region, t: Any) -> Any:
    r"""\(\sum_{\tau=1}^{t-1}\Lambda_{\min}(\tau)\), a geometric sum; exact.

    >>> region_minimum_total(Region(rate=10, rho=Fraction(1, 2)), 3)
    Fraction(25, 2)
    """
    rho, rounds = region.rho, t - 1
    if kind(rho) in ("exact", "symbol"):
        return region.rate * (rounds - rho * contraction(region, rounds) / (1 - rho))
    # the same, by s(1/ρ-1) - (1-ρ^s) = s(1/ρ-1+log ρ) + (ρ^s-1-s log ρ): both parts are positive
    slope = log(rho)
    parts = rounds * exp_above_tangent(-slope) + exp_above_tangent(rounds * slope)
    return region.rate * (parts * rho / (1 - rho))


def region_minimum_window(region: Region, k: Any, t: Any) -> Any:
    r"""\(\sum_{\tau=t-k+1}^{t-1}\Lambda_{\min}(\tau)\) for k <= t: the last k-1 lower ends; exact.

    Not a difference of two totals, which would cancel for large t: what all k-1 of them share with round t-k, and
    \(\rho^{t-k}\) times the first k-1 lower ends.

    >>> region_minimum_window(Region(rate=10, rho=Fraction(1, 2)), 2, 3)
    Fraction(15, 2)
    """
    shared = contraction(region, t - k)
    return (k - 1) * region.rate * shared + (1 - shared) * region_minimum_total(region, k)


def region_maximum_total(region: Region, t: Any) -> Any:
    r"""\(\sum_{\tau=1}^{t-1}\Lambda_{\max}(\tau)\), a Lambert sum; exact.

    >>> region_maximum_total(Region(rate=3, rho=Fraction(1, 2)), 3)
    Fraction(10, 1)
    """
    return region.rate * (t - 1 + lambert_partial(region.rho, t))
