r"""Reuse under constant admission, for every round: occupancy, uniformity, effective sample size, mismatch."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

from theory.numbers.algebra import minimum, ratio, sqrt, wide
from theory.setting import retention

__all__ = ["crossover_constant", "crossover_constant_as_stated", "inverse_effective_constant"]
__all__ += ["mean_occupancy_constant", "mismatch_constant", "occupancy_constant", "uniformity_constant"]
__all__ += ["uniformity_constant_as_stated"]


def occupancy_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(n(t)=\min(t,K)\,\bar\Lambda\) (`eq:ck-training-size`, with the first K-1 rounds); exact.

    >>> occupancy_constant(10, 4, 3)
    12
    """
    return minimum(t, K) * rate


def mean_occupancy_constant(K: Any, T: Any, rate: Any) -> Any:
    r"""\(\tfrac1T\sum_{t\le T}n(t)=k\bar\Lambda(2T+1-k)/(2T)\), k = min(T, K): what the average
    buffer constraint bounds under constant admission (corrects `eq:ck-buffer-constraint`); exact.

    >>> mean_occupancy_constant(2, 2, 2)
    Fraction(3, 1)
    """
    k = minimum(T, K)
    return ratio(k * rate * (2 * T + 1 - k), 2 * T)


def uniformity_constant(K: Any, t: Any) -> Any:
    r"""\(\widetilde V^{CK}(t)\) under constant admission, for every t >= 1 (corrects `eq:vck-exact`); exact.

    \[\frac{(kt-\tfrac{k(k-1)}2)^2}{t\,(k^2t-\tfrac{k(k-1)(4k+1)}6)},\qquad k=\min(K,t).\]

    >>> uniformity_constant(2, 2)
    Fraction(9, 10)
    """
    t = wide(t)
    k = minimum(t, _checked(K))
    first = 2 * k * t - k * (k - 1)
    second = 6 * k * k * t - k * (k - 1) * (4 * k + 1)
    return ratio(3 * first * first, 2 * t * second)


def uniformity_constant_as_stated(K: Any, t: Any) -> Any:
    r"""`eq:vck-exact` as printed: K(K-1)(2K-1)/6 in the denominator. Wrong for K >= 2: too small
    from t = K on, zero at t = (K-1)/2 and negative below t = (K-1)(2K-1)/(6K).

    >>> uniformity_constant_as_stated(2, 2)
    Fraction(9, 14)
    """
    t = wide(t)
    first = 2 * K * t - K * (K - 1)
    second = 6 * K * K * t - K * (K - 1) * (2 * K - 1)
    return ratio(3 * first * first, 2 * t * second)


def _checked(K: Any) -> Any:
    """K itself; a plain number must be whole. Arrays and balls are taken as they are, since searches pass them."""
    return _plain(K) if isinstance(K, int | float | Fraction) else K


_plain = lru_cache(maxsize=128, typed=True)(retention)  # sums ask for the same K in every round


def _held(K: Any, t: Any) -> tuple[Any, Any]:
    """k = min(K, t), and y = t - (k-1)/2, the variable in which the constant-admission formulas are short."""
    t = wide(t)
    k = minimum(t, _checked(K))
    return k, ratio(2 * t - k + 1, 2)


def inverse_effective_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(1/N_{\mathrm{eff}}\) under constant admission, every t >= 1; exact.

    \[\frac1{\bar\Lambda}\Bigl(\frac1y-\frac{k^2-1}{6ky^2}\Bigr),\qquad k=\min(K,t),\;y=t-\tfrac{k-1}2.\]

    >>> inverse_effective_constant(2, 2, 1)
    Fraction(5, 9)
    """
    k, y = _held(K, t)
    return ratio(ratio(1, y) - ratio(k * k - 1, 6 * k * y * y), rate)


def mismatch_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(\chi(t)\) under constant admission, every t >= 1; exact.

    \[\frac1n\Bigl(1-\frac1y-\frac{k^2-1}{6y^2}\Bigr),\qquad n=k\bar\Lambda,\;k=\min(K,t),\;y=t-\tfrac{k-1}2.\]

    At K = 1 it is the printed \(1/n-1/N\); for K >= 2 and t >= K it exceeds the printed expression by
    \((K-1)(1-\tfrac{K+1}{3y})/(ny)>0\).

    >>> mismatch_constant(2, 3, 1)
    Fraction(13, 50)
    """
    k, y = _held(K, t)
    return ratio(1 - ratio(1, y) - ratio(k * k - 1, 6 * y * y), k * rate)


def crossover_constant(K: Any) -> Any:
    r"""The t beyond which \(N_{\mathrm{eff}}\ge n\) under constant admission, about 1.289 K; exact.

    Before it, and after round 1, \(1/n-1/N_{\mathrm{eff}}\) is negative and has no real root
    (`thm:regret-neff/radicand`).

    >>> crossover_constant(1)
    Fraction(1, 1)
    """
    return ratio(2 * K - 1 + sqrt(ratio(K * K + 2, 3)), 2)


def crossover_constant_as_stated(K: Any) -> Any:
    """The threshold of `crossover_constant` with the printed uniformity, about 1.645 K.

    >>> crossover_constant_as_stated(7)
    Fraction(11, 1)
    """
    return ratio(2 * K - 1 + sqrt(ratio(5 * K * K - 2, 3)), 2)
