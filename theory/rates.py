"""Orders of growth of the regret, constants left out: as printed and as they are (Theorem 2, Remark 1)."""

from __future__ import annotations

from typing import Any

from theory.algebra import log, maximum, ratio, sqrt

__all__ = [
    "regret_rate",
    "regret_rate_as_stated",
    "remark_1_as_stated",
    "remark_1_by_drift",
    "remark_1_by_region",
]


def regret_rate_as_stated(T: Any, V: Any, rho: Any) -> Any:
    r"""\(T/V+1/(1-\rho)+\log T\), the printed order of the regret (`eq:dpp-regret-rate`).

    >>> regret_rate_as_stated(1, 2, Fraction(1, 2))
    Fraction(5, 2)
    """
    return ratio(T, V) + 1 / (1 - rho) + log(T)


def regret_rate(T: Any, rho: Any) -> Any:
    r"""\(\sqrt{T\log T}+\frac1{1-\rho}(1+\log\frac1{1-\rho})\), the corrected order for K >= 2 (corrects
    `eq:dpp-regret-rate`), in T at fixed ρ and as ρ → 1.

    No V: inside the region every policy has \(N(t)\sim\bar\Lambda t\), so none escapes the first term. The logarithm
    in the second comes from the linear term along the region's lower end.

    >>> regret_rate(1, Fraction(1, 2))
    2*log(2) + 2
    """
    return sqrt(T * log(T)) + (1 - log(1 - rho)) / (1 - rho)


def remark_1_as_stated(gamma: Any, phi: Any) -> tuple[Any, Any]:
    r"""Printed exponents of T in regret and cost violation for \(V=T^\gamma,\rho=1-T^{-\phi}\) (`rem:1`).

    >>> remark_1_as_stated(Fraction(1, 2), Fraction(3, 4))
    (Fraction(3, 4), Fraction(3, 4))
    """
    return maximum(1 - gamma, phi), ratio(gamma + maximum(1, phi), 2)


def remark_1_by_drift(gamma: Any, phi: Any) -> tuple[Any, Any]:
    r"""The exponents that the drift argument supports, \(\sum B_t\) being of order \(T+T^{2\phi}\) and
    \(\Omega_3\) of order \(\sqrt{T\log T}\): below 1 for \(2\phi<1+\gamma\) alone. Logarithms left out.

    >>> remark_1_by_drift(Fraction(1, 4), Fraction(3, 4))
    (Fraction(5, 4), Fraction(3, 4))
    """
    squares = maximum(1, 2 * phi)
    regret = ratio(maximum(2 * maximum(squares - gamma, phi), 1), 2)
    return regret, ratio(maximum(squares, gamma + maximum(1, phi)), 2)


def remark_1_by_region(gamma: Any, phi: Any) -> tuple[Any, Any]:
    r"""The exponents that the region alone gives, whatever γ: below 1 for every φ < 1. Logarithms left out.

    >>> remark_1_by_region(Fraction(1, 4), Fraction(3, 4))
    (Fraction(3, 4), Fraction(3, 4))
    """
    del gamma
    return ratio(maximum(2 * phi, 1), 2), phi
