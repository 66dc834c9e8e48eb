r"""Orders of growth of the regret, constants left out: as printed and as they are (Theorem 2, Remark 1).

The exponents of Remark 1 are those of T for \(V=T^\gamma\) and \(\rho=1-T^{-\phi}\), first of the regret, then of the
cost violation; logarithms are left out.
"""

from typing import Any

from theory.numbers.algebra import log, maximum, ratio, sqrt

__all__ = ["regret_rate", "regret_rate_as_stated", "remark_1_as_stated", "remark_1_by_drift"]
__all__ += ["remark_1_by_one_constant", "remark_1_by_region"]


def regret_rate_as_stated(T: Any, V: Any, rho: Any) -> Any:
    r"""\(T/V+1/(1-\rho)+\log T\), the printed order of the regret (`eq:dpp-regret-rate`).

    >>> regret_rate_as_stated(6, 4, Fraction(1, 2))
    log(6) + 7/2
    """
    return ratio(T, V) + 1 / (1 - rho) + log(T)


def regret_rate(T: Any, rho: Any) -> Any:
    r"""\(\sqrt{T\log T}+h(1+\log h)\) with \(h=\frac1{1-\rho}\), an upper bound on the order of the regret of every
    policy inside the region, uniform in T >= 2 and ρ (corrects `eq:dpp-regret-rate`); for K >= 2 the first summand is
    the exact order in T at fixed ρ.

    No V: inside the region every policy has \(N(t)\sim\bar\Lambda t\), so none escapes the first term. The second
    bounds what two policies can differ by; its logarithm is that of the Lambert sum.

    >>> regret_rate(2, Fraction(1, 2))
    sqrt(2)*sqrt(log(2)) + 2*log(2) + 2
    """
    return sqrt(T * log(T)) + (1 - log(1 - rho)) / (1 - rho)


def remark_1_as_stated(gamma: Any, phi: Any) -> tuple[Any, Any]:
    r"""The printed exponents \(\max(1-\gamma,\phi)\) and \((\gamma+\max(1,\phi))/2\) (`rem:1`).

    >>> remark_1_as_stated(Fraction(1, 2), Fraction(3, 4)), remark_1_as_stated(Fraction(1, 4), Fraction(1, 2))
    ((Fraction(3, 4), Fraction(3, 4)), (Fraction(3, 4), Fraction(5, 8)))
    """
    return maximum(1 - gamma, phi), ratio(gamma + maximum(1, phi), 2)


def remark_1_by_drift(gamma: Any, phi: Any) -> tuple[Any, Any]:
    r"""The exponents that the drift argument supports with a \(B_t\) for each round, \(\sum_tB_t\) being of order
    \(T+T^{2\phi}\): both below 1 exactly if \(2\phi<1+\gamma\), for γ, φ between 0 and 1 (corrects `rem:1`).

    \[\max(1-\gamma,\,2\phi-\gamma,\,\phi,\,\tfrac12),\qquad\tfrac12\max(1,\,2\phi,\,\gamma+1,\,\gamma+\phi).\]

    >>> remark_1_by_drift(Fraction(1, 4), Fraction(3, 4))
    (Fraction(5, 4), Fraction(3, 4))
    """
    return _by_drift(maximum(1, 2 * phi), gamma, phi)


def remark_1_by_one_constant(gamma: Any, phi: Any) -> tuple[Any, Any]:
    r"""`remark_1` with one constant \(B\ge B_1\) for all rounds, as printed, BT being of order \(T^{1+2\phi}\): both
    below 1 exactly if \(2\phi<\gamma\), for γ, φ between 0 and 1 (corrects `rem:1`).

    \[\max(1+2\phi-\gamma,\,\phi,\,\tfrac12),\qquad\tfrac12\max(1+2\phi,\,\gamma+1,\,\gamma+\phi).\]

    >>> remark_1_by_one_constant(Fraction(3, 4), Fraction(1, 4))
    (Fraction(3, 4), Fraction(7, 8))
    """
    return _by_drift(1 + 2 * phi, gamma, phi)


def _by_drift(squares: Any, gamma: Any, phi: Any) -> tuple[Any, Any]:
    """From the exponent of the drift constants' sum: Ω₂ has exponent φ, Ω₃ 1/2, Σp̄ the larger of 1 and φ."""
    regret = ratio(maximum(2 * maximum(squares - gamma, phi), 1), 2)
    return regret, ratio(maximum(squares, gamma + maximum(1, phi)), 2)


def remark_1_by_region(phi: Any) -> tuple[Any, Any]:
    r"""The exponents \(\max(\phi,\frac12)\) and φ that the region alone gives, whatever γ: below 1 for every φ < 1
    (corrects `rem:1`).

    >>> remark_1_by_region(Fraction(3, 4)), remark_1_by_region(Fraction(1, 4))
    ((Fraction(3, 4), Fraction(3, 4)), (Fraction(1, 2), Fraction(1, 4)))
    """
    return ratio(maximum(2 * phi, 1), 2), phi
