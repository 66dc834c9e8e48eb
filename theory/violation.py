"""The two constraints, cost and buffers: by how much a policy inside the region can violate them."""

from __future__ import annotations

from typing import Any

from theory.algebra import log, positive_part, sqrt
from theory.lambert import lambert_partial
from theory.region import region_maximum_total
from theory.setting import Region

__all__ = [
    "buffer_violation_bound",
    "cost_violation_bound",
    "cost_violation_rate",
    "cost_violation_rate_as_stated",
]


def cost_violation_rate_as_stated(T: Any, V: Any, rho: Any) -> Any:
    r"""\(\sqrt{VT+V/(1-\rho)}\), the printed order of the cost violation (`eq:cost-violation-rate`).

    >>> cost_violation_rate_as_stated(2, 1, Fraction(1, 2))
    Fraction(2, 1)
    """
    return sqrt(V * T + V / (1 - rho))


def cost_violation_rate(rho: Any) -> Any:
    r"""\(\frac1{1-\rho}\log\frac1{1-\rho}\), the order as ρ → 1 of the bound that the region alone gives
    (sharpens `eq:cost-violation-rate`): no V, no T, no independence.

    >>> cost_violation_rate(Fraction(1, 2))
    2*log(2)
    """
    return -log(1 - rho) / (1 - rho)


def cost_violation_bound(T: Any, region: Region, mean_cost: Any, C: Any) -> Any:
    r"""\([\bar c\sum_{t\le T}\Lambda_{\max}(t)-CT]^+\), an upper bound on the cost violation of every policy
    inside the region when all costs have mean \(\bar c\) (sharpens `thm:dpp-cost-constraint`); exact.

    >>> cost_violation_bound(2, Region(rate=1, rho=Fraction(1, 2)), 1, 1)
    Fraction(4, 3)
    """
    return positive_part(mean_cost * region_maximum_total(region, T + 1) - C * T)


def buffer_violation_bound(K: Any, T: Any, region: Region) -> Any:
    r"""\(K\bar\Lambda\sum_{t\le T}\rho^t/(1-\rho^t)\), an upper bound on \([\sum_t(n(t)-\sum_mB_m)]^+\) inside
    the region when \(\sum_mB_m=K\bar\Lambda\) (`rem:buffer-violation`, for all clients together: single ones may
    still overflow); bounded in T, not in ρ. Exact rationals grow with \(T^2\) digits: use floats or balls for large T.

    >>> buffer_violation_bound(3, 2, Region(rate=1, rho=Fraction(1, 2)))
    Fraction(4, 1)
    """
    return K * region.rate * lambert_partial(region.rho, T + 1)
