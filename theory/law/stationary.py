r"""The law of reuse under steady admission: on the way, in the long run, and for small steps.

Constant admission of \(\bar\Lambda\) samples per round, each kept for K rounds, has the stationary noise
\(v(a,K)/\bar\Lambda\) (`theory.law.quadratic.stationary_noise`). This module has the noise after t rounds, the part of
K that remains when steps are small, what takes the place of \(1/\bar\Lambda\) when admissions vary periodically, and
which K is best.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from theory.design.offline import best_rate, fill_ratio
from theory.law.quadratic import noise_floor, settling, stationary_noise
from theory.numbers.algebra import exp, minimum, one_minus_exp, ratio
from theory.setting import Budget, SettingError, is_zero, not_negative, retention, same_length

__all__ = ["best_retention", "full_memory_noise", "inverse_effective_rate", "mean_lag", "small_step_floor"]
__all__ += ["start_up_bound", "total_weights"]


# --- after t rounds ----------------------------------------------------------------------------------------


def full_memory_noise(a: Any, K: Any, t: Any) -> Any:
    r"""\(\bar\Lambda\sum_ic_i^2\) after t rounds that begin with a full memory; exact, accurate on floats.

    With \(k=\min(K,t)\) and \(k^2w(a,k)=k(1+a^{2k})-2a\frac{1-a^{2k}}{1-a^2}\), where w is V for K = t = k,

    \[V(a,K,t)=v(a,K)\bigl(1-a^{2(t-k)}\bigr)+a^{2(t-k)}\,\frac{k^2w(a,k)+(K-k)(1-a^k)^2}{K^2}.\]

    A memory that begins empty has more noise and never less, for \(a\ge0\); how much more, `start_up_bound` says.

    >>> [full_memory_noise(Fraction(1, 2), 2, t) for t in (0, 1, 2)]
    [Fraction(0, 1), Fraction(1, 8), Fraction(7, 32)]
    """
    k = minimum(K, t)
    early = _first_rounds(a, k) + (K - k) * _forgotten(a, k) ** 2
    later = 2 * (t - k)
    return stationary_noise(a, K) * _forgotten(a, later) + ratio(a**later * early, K * K)


def _small_steps(a: Any) -> bool:
    """True if `a` is a float near 1, where differences of its powers cancel."""
    return isinstance(a, float | np.floating) and bool(2 * a > 1)


def _forgotten(a: Any, rounds: Any) -> Any:
    """1 - a^m."""
    return one_minus_exp(rounds * np.log(a)) if _small_steps(a) else 1 - a**rounds


def _first_rounds(a: Any, k: Any) -> Any:
    r"""\(k^2w(a,k)=k(1+a^{2k})-2a\frac{1-a^{2k}}{1-a^2}\).

    With \(a=e^{-\lambda}\), \(y=k\lambda\) it is \(2e^{-y}/\sinh\lambda\) times
    \(\varphi(y)+k(\sinh\lambda-\lambda)\cosh y\), where \(\varphi(y)=y\cosh y-\sinh y\): nothing in it cancels.
    """
    gone = _forgotten(a, 2 * k)
    if not _small_steps(a):
        return k * (2 - gone) - ratio(2 * a * gone, 1 - a * a)
    rate = -np.log(a)
    third = rate * (1 - a) ** 2 / (2 * a) - _tilt(rate) / a  # sinh λ - λ
    return 2 * a * (2 * _tilt(k * rate) + k * third * (2 - gone)) / ((1 - a) * (1 + a))


def _tilt(y: Any) -> Any:
    r"""\(e^{-y}\varphi(y)=e^{-y}\sum_{j\ge1}\frac{2j}{(2j+1)!}y^{2j+1}\) for a float y >= 0."""
    if y > 1:
        return ((y - 1) + (y + 1) * exp(-2 * y)) / 2
    terms = (2 * j * y ** (2 * j + 1) / math.factorial(2 * j + 1) for j in range(10, 0, -1))
    return exp(-y) * sum(terms)


def start_up_bound(a: Any, K: Any, t: Any) -> Any:
    r"""Upper bound on how far \(\sqrt{\bar\Lambda\sum_ic_i^2}\) after t rounds from an empty memory exceeds \(\sqrt
    V\), at most.

    \[a^{t-k}(1-a^k),\qquad k=\min(K-1,t),\quad0\le a<1;\] an upper bound that falls like \(a^t\), and 0 for K = 1.

    >>> start_up_bound(Fraction(1, 2), 2, 3)
    Fraction(1, 8)
    """
    k = minimum(K - 1, t)
    return a ** (t - k) * _forgotten(a, k)


# --- small steps -------------------------------------------------------------------------------------------


def mean_lag(K: Any) -> Any:
    r"""\(\frac{K^2-1}{3K}\), the mean of |i-j| over all pairs of K rounds; exact.

    \(v(a,K)\ge\frac{1-a}{1+a}a^{(K^2-1)/(3K)}\): keeping samples for K rounds divides the noise floor by at most
    \(a^{-(K^2-1)/(3K)}\), so K matters only where \(K(1-a)\) is not small.

    >>> mean_lag(2)
    Fraction(1, 2)
    """
    return ratio(K * K - 1, 3 * K)


def total_weights(admissions: Sequence[Any], K: Any) -> list[Any]:
    r"""\(u_j=\sum_{\tau=j}^{j+K-1}1/n(\tau)\), what a sample of round j weighs in all; admissions repeat; exact.

    >>> total_weights([1, 3], K=1), total_weights([1, 3], K=5)
    ([Fraction(1, 1), Fraction(1, 3)], [Fraction(17, 33), Fraction(49, 99)])
    """
    K, period = retention(K), same_length(admissions=not_negative("admissions", admissions))
    cycles, rest = divmod(K, period)

    def window(values: Sequence[Any], first: int) -> Any:
        """The sum of K neighbours, beginning anywhere, of values that repeat."""
        return (cycles * sum(values) if cycles else 0) + sum(
            values[(first + d) % period] for d in range(rest)
        )

    occupancy = [window(admissions, j - K + 1) for j in range(period)]
    if any(map(is_zero, occupancy)):
        raise SettingError("a round has no sample in memory: admit one at least every K rounds")
    shares = [ratio(1, n) for n in occupancy]
    return [window(shares, j) for j in range(period)]


def inverse_effective_rate(admissions: Sequence[Any], K: Any) -> Any:
    r"""\(\frac1p\sum_{j\le p}\Lambda_ju_j^2\) for admissions of period p, each kept for K rounds; exact.

    It is the limit of \(t\sum_i\omega_i(t)^2\) for the weights \(\omega_i(t)=\frac1t\sum_{\tau\le t,\,i\in
    Q(\tau)}1/n(\tau)\), and for small steps the noise is \(\frac{1-a}2\) times it. It is at least
    \(1/\bar\Lambda\), with equality if and only if all samples weigh the same; \(t/N_{\mathrm{eff}}\), which counts
    uses (`eq:Neff-def`), always tends to \(1/\bar\Lambda\).

    >>> inverse_effective_rate([1, 3], K=1), inverse_effective_rate([1, 3], K=2)
    (Fraction(2, 3), Fraction(1, 2))
    """
    squares = sum(
        admitted * weight**2
        for admitted, weight in zip(admissions, total_weights(admissions, K), strict=True)
    )
    return ratio(squares, len(admissions))


def small_step_floor(inverse_rate: Any, *, h: Any, variance: Any, eta: Any, E: Any = 1) -> Any:
    r"""\(\frac{\eta E}4\sum_hh^2s_h^2\) times \(1/\bar\Lambda\): the noise floor to first order in η.

    Whatever K under constant admission; in general \(1/\bar\Lambda\) gives way to `inverse_effective_rate`.

    >>> small_step_floor(Fraction(1, 10), h=[2], variance=[3], eta=Fraction(1, 100))
    Fraction(3, 1000)
    """
    curvature = sum(value * value * spread for value, spread in zip(h, variance, strict=True))
    return ratio(eta * E * curvature * inverse_rate, 4)


# --- which K -----------------------------------------------------------------------------------------------


def best_retention(budget: Budget, *, h: Any, variance: Any, eta: Any, E: Any = 1) -> tuple[int, Any]:
    r"""The K and the rate with the least noise floor within the budgets, and with no search: an integer next to x.

    At a given K the best rate is \(\min(\sum B/K,C/\bar c)\). Up to \(x=\bar c\sum B/C\) it does not depend on K, and
    v falls; beyond x the floor is \(Kv/\sum B\), and Kv does not fall. It takes \(0\le a<1\) in every direction.

    >>> budget = Budget(buffers=(21,), cost=10, mean_cost=1)
    >>> [best_retention(budget, h=[1], variance=[1], eta=eta)[0] for eta in (Fraction(1, 9), Fraction(8, 9))]
    [2, 3]
    >>> best_retention(budget, h=[1], variance=[1], eta=ratio(1, 9), E=18)[0]  # more local steps are a larger step
    3
    """
    settling(h, eta, E)
    x = fill_ratio(budget)
    near = dict.fromkeys(max(side, 1) for side in (math.floor(x), math.ceil(x)))

    def floor(K: int) -> Any:
        return noise_floor(best_rate(K, budget), K, h=h, variance=variance, eta=eta, E=E)

    best = min(near, key=floor)
    return best, best_rate(best, budget)
