r"""The contracting admission region \([\bar\Lambda(1-\rho^t),\ \bar\Lambda/(1-\rho^t)]\) and its cumulative ends.

All four are functions of a real t, so that they can be summed, integrated and enclosed. Before round 1 the
lower end is 0: nothing was admitted then.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from theory.algebra import log, one_minus_exp, positive_part, ratio
from theory.lambert import lambert_partial
from theory.setting import Region

__all__ = [
    "contraction",
    "region_maximum",
    "region_maximum_total",
    "region_minimum",
    "region_minimum_total",
    "region_minimum_window",
]


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
    rho = region.rho
    return region.rate * (t - 1 - rho * contraction(region, t - 1) / (1 - rho))


def region_minimum_window(region: Region, k: Any, t: Any) -> Any:
    r"""\(\sum_{\tau=t-k+1}^{t-1}\Lambda_{\min}(\tau)\) for k <= t: the last k-1 lower ends; exact.

    Not a difference of two totals, which would cancel for large t.

    >>> region_minimum_window(Region(rate=10, rho=Fraction(1, 2)), 2, 3)
    Fraction(15, 2)
    """
    rho = region.rho
    decayed = 1 - contraction(region, t - k + 1)
    return region.rate * (k - 1 - decayed * contraction(region, k - 1) / (1 - rho))


def region_maximum_total(region: Region, t: Any) -> Any:
    r"""\(\sum_{\tau=1}^{t-1}\Lambda_{\max}(\tau)\), a Lambert sum; exact.

    >>> region_maximum_total(Region(rate=3, rho=Fraction(1, 2)), 3)
    Fraction(10, 1)
    """
    return region.rate * (t - 1 + lambert_partial(region.rho, t))
