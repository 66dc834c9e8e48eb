r"""Reuse of samples: counts, uniformity, effective sample size, gradient mismatch.

By round t, after training, a sample admitted in round j has been used \(\min(t-j+1,K)\) times: a round admits,
then trains, then drops what has been used K times. Everything here follows from these counts \(A_i\):

* uniformity \(\widetilde V=(\sum A_i)^2/(N\sum A_i^2)\) and effective size \(N_{\mathrm{eff}}=N\widetilde V\)
  (Kish's: \(1/\sum\omega_i^2\) for the weights \(\omega_i=A_i/\sum A_j\));
* mismatch \(\chi=\sum_i(\omega_i-\mathbf 1\{i\in Q\}/n)^2=1/n+1/N_{\mathrm{eff}}-2W_Q/n\), where Q is the
  memory, n its size and \(W_Q\) its weight. At a fixed θ the squared distance between the gradient over all
  samples and the gradient over the memory has mean exactly \(\chi\) times the per-sample variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from theory.numbers.algebra import minimum, ratio, sqrt, wide
from theory.setting import SettingError, is_zero, not_negative, retention, same_length

__all__ = [
    "Trajectory",
    "boundary_deficits",
    "cohort_deficits",
    "crossover_constant",
    "crossover_constant_as_stated",
    "effective_from_sums",
    "effective_sample_size",
    "from_totals",
    "inverse_effective_constant",
    "mean_occupancy_constant",
    "mismatch_constant",
    "mismatch_from_gone",
    "mismatch_from_sums",
    "mismatch_kstep",
    "occupancy_constant",
    "trajectory",
    "uniformity",
    "uniformity_constant",
    "uniformity_constant_as_stated",
    "uniformity_from_deficits",
    "uniformity_kstep",
    "uses_in_memory",
    "uses_kstep",
]


def effective_from_sums(uses: Any, squares: Any) -> Any:
    r"""\(N_{\mathrm{eff}}=(\sum A_i)^2/\sum A_i^2\) from the two sums (`eq:Neff-def`, `eq:omega-l2`); exact.

    >>> effective_from_sums(5, 9)
    Fraction(25, 9)
    """
    return ratio(uses * uses, squares)


def mismatch_from_sums(n: Any, uses: Any, squares: Any, in_memory: Any) -> Any:
    r"""\(\chi=1/n+1/N_{\mathrm{eff}}-2W_Q/n\) for any retention rule, from \(\sum A_i\), \(\sum A_i^2\) and the uses
    \(\sum_{i\in Q}A_i\) of the n samples in memory (corrects `eq:sigma-bar-Neff-app`); exact.

    >>> mismatch_from_sums(2, uses=5, squares=9, in_memory=3)
    Fraction(13, 50)
    """
    return ratio(1, n) + ratio(squares, uses * uses) - ratio(2 * in_memory, uses * n)


def uses_in_memory(n: Any, uses: Any, inverse_effective: Any, mismatch: Any) -> Any:
    r"""\(\sum_{i\in Q}A_i=\tfrac12n\sum A_i\,(1/n+1/N_{\mathrm{eff}}-\chi)\), the uses of the samples in memory from χ:
    the inverse of `mismatch_from_sums`; exact.

    >>> uses_in_memory(2, 5, Fraction(9, 25), mismatch_from_sums(2, uses=5, squares=9, in_memory=3))
    Fraction(3, 1)
    """
    return ratio(n * uses * (ratio(1, n) + inverse_effective - mismatch), 2)


def effective_sample_size(counts: Sequence[Any]) -> Any:
    r"""\(N_{\mathrm{eff}}=(\sum A_i)^2/\sum A_i^2\) of any reuse counts (`eq:Neff-def`, `eq:omega-l2`); exact.

    >>> effective_sample_size([2, 2, 1])
    Fraction(25, 9)
    """
    same_length(counts=counts)
    used = sum(not_negative("the reuse counts", counts))
    if is_zero(used):
        raise SettingError("the reuse counts must not all be zero: no sample has been used")
    return effective_from_sums(used, sum(a * a for a in counts))


def uniformity(counts: Sequence[Any]) -> Any:
    r"""\(\widetilde V=\bar A^2/(\bar A^2+\mathrm{Var}A)\) with the variance over N, not N-1
    (`eq:Vtilde-def-body`); exact, in (0, 1].

    >>> uniformity([2, 1])
    Fraction(9, 10)
    """
    return ratio(effective_sample_size(counts), len(counts))


# --- K-step retention, any admissions ----------------------------------------------------------------------


def _ages(admissions: Sequence[Any], K: Any) -> tuple[int, list[tuple[int, Any]]]:
    """K, and the pairs (uses so far, samples) of the admissions still in memory, newest first."""
    K = retention(K)
    same_length(admissions=not_negative("admissions", admissions))
    return K, [(age, admissions[-age]) for age in range(1, min(K, len(admissions)) + 1)]


def _distinct(admissions: Sequence[Any]) -> Any:
    same_length(admissions=admissions)
    N = sum(not_negative("admissions", admissions))
    if is_zero(N):
        raise SettingError("no sample has been admitted (N = 0), so reuse is undefined: admit at least one")
    return N


def uses_kstep(age: Any, K: Any) -> Any:
    r"""How often a sample has been used by the end of its age-th round, \(\min(t-j+1,K)\) for one of round j
    (`eq:age-evolution` with `eq:kstep-drop`, the drop after the training); exact.

    >>> uses_kstep(3, 5), uses_kstep(8, 5)
    (3, 5)
    """
    return minimum(age, K)


def cohort_deficits(age: Any, K: Any) -> tuple[Any, Any]:
    r"""What a sample of this age lacks of K uses and of \(K^2\): the weights in `eq:boundary-deficit-1` and
    `eq:boundary-deficit-2`; exact, and 0 from age K on.

    >>> cohort_deficits(1, 3), cohort_deficits(4, 3)
    ((2, 8), (0, 0))
    """
    uses = uses_kstep(age, K)
    return K - uses, K * K - uses * uses


def boundary_deficits(admissions: Sequence[Any], K: Any) -> tuple[Any, Any]:
    r"""The deficits \(D^{(1)}_\partial,D^{(2)}_\partial\) of the last K-1 admissions
    (`eq:boundary-deficit-1`, `eq:boundary-deficit-2`), with no admissions before round 1; exact.

    >>> boundary_deficits([1, 1, 1], K=3)
    (3, 13)
    """
    K, memory = _ages(admissions, K)
    weighted = [(cohort_deficits(age, K), samples) for age, samples in memory]
    return (
        sum(first * samples for (first, _), samples in weighted),
        sum(second * samples for (_, second), samples in weighted),
    )


def uniformity_from_deficits(N: Any, first: Any, second: Any, K: Any) -> Any:
    r"""\(\widetilde V=(KN-D^{(1)}_\partial)^2/(N(K^2N-D^{(2)}_\partial))\) (`eq:kstep-vtilde-exact`); exact.

    >>> uniformity_from_deficits(3, 3, 13, K=3)
    Fraction(6, 7)
    """
    return ratio((K * N - first) ** 2, N * (K * K * N - second))


def uniformity_kstep(admissions: Sequence[Any], K: Any) -> Any:
    r"""\(\widetilde V(t)\) after the last of the given admissions (`eq:kstep-vtilde-exact`); exact for every
    sequence with N > 0, the first K-1 rounds included.

    >>> uniformity_kstep([1, 1], K=2)
    Fraction(9, 10)
    """
    K, N = retention(K), _distinct(admissions)
    first, second = boundary_deficits(admissions, K)
    return uniformity_from_deficits(N, first, second, K)


def mismatch_kstep(admissions: Sequence[Any], K: Any) -> Any:
    r"""The gradient mismatch \(\chi(t)\) after the last of the given admissions; exact.

    It replaces the printed \(1/n-1/N_{\mathrm{eff}}\) of `eq:sigma-bar-Neff-app`.

    >>> mismatch_kstep([1, 1, 1], K=2)
    Fraction(13, 50)
    """
    N = _distinct(admissions)
    K, memory = _ages(admissions, K)
    first, second = boundary_deficits(admissions, K)
    n = sum(samples for _, samples in memory)
    if is_zero(n):
        raise SettingError("the memory is empty after the last admissions, so the mismatch is undefined")
    in_memory = sum(uses_kstep(age, K) * samples for age, samples in memory)
    return mismatch_from_sums(n, K * N - first, K * K * N - second, in_memory)


# --- constant admission ------------------------------------------------------------------------------------


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


def _midpoint(k: Any, t: Any) -> Any:
    """y = t - (k-1)/2, the variable in which the constant-admission formulas are short."""
    return ratio(2 * t - k + 1, 2)


def inverse_effective_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(1/N_{\mathrm{eff}}\) under constant admission, every t >= 1; exact.

    \[\frac1{\bar\Lambda}\Bigl(\frac1y-\frac{k^2-1}{6ky^2}\Bigr),\qquad k=\min(K,t),\;y=t-\tfrac{k-1}2.\]

    >>> inverse_effective_constant(2, 2, 1)
    Fraction(5, 9)
    """
    t = wide(t)
    k = minimum(t, _checked(K))
    y = _midpoint(k, t)
    return ratio(ratio(1, y) - ratio(k * k - 1, 6 * k * y * y), rate)


def mismatch_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(\chi(t)\) under constant admission, every t >= 1; exact.

    \[\frac1n\Bigl(1-\frac1y-\frac{k^2-1}{6y^2}\Bigr),\qquad n=k\bar\Lambda,\;k=\min(K,t),\;y=t-\tfrac{k-1}2.\]

    At K = 1 it is the printed \(1/n-1/N\); for K >= 2 and t >= K it exceeds the printed expression by
    \((K-1)(1-\tfrac{K+1}{3y})/(ny)>0\).

    >>> mismatch_constant(2, 3, 1)
    Fraction(13, 50)
    """
    t = wide(t)
    k = minimum(t, _checked(K))
    y = _midpoint(k, t)
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
    """The same threshold with the printed uniformity, about 1.645 K.

    >>> crossover_constant_as_stated(7)
    Fraction(11, 1)
    """
    return ratio(2 * K - 1 + sqrt(ratio(5 * K * K - 2, 3)), 2)


# --- whole trajectories ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trajectory:
    """Per-round quantities of K-step retention for t = 1..T, each an array over rounds."""

    n: Any
    N: Any
    uniformity: Any
    mismatch: Any

    @property
    def effective(self) -> Any:
        """N_eff(t) = N(t) times the uniformity."""
        return self.N * self.uniformity


def _windows(x: Any, K: int) -> tuple[Any, Any]:
    """Sums over the last K entries, plain and weighted by age 1..K, at every position.

    Each window is the head of one block of length K and the tail of the block before it, so that no sum runs
    longer than K: linear in T, and no cancellation between large prefix sums.
    """
    T = len(x)
    blocks = -(-T // K)
    padded = np.concatenate([x, np.zeros(blocks * K - T, dtype=x.dtype)]).reshape(blocks, K)
    position = np.arange(K)
    head = np.cumsum(padded, axis=1)
    head_aged = np.cumsum(head, axis=1)
    tail = np.zeros_like(padded)
    tail_aged = np.zeros_like(padded)
    behind = padded[:-1, :0:-1]
    tail[1:, :-1] = np.cumsum(behind, axis=1)[:, ::-1]
    # an entry at position j of the block before has age K + k + 1 - j seen from position k
    late = np.cumsum(behind * (K - position[:0:-1]), axis=1)[:, ::-1]
    tail_aged[1:, :-1] = late + (position[:-1] + 1) * tail[1:, :-1]
    return (head + tail).reshape(-1)[:T], (head_aged + tail_aged).reshape(-1)[:T]


def mismatch_from_gone(
    n: Any,
    squares: Any,
    in_memory: Any,
    gone: Any,
    gone_squares: Any,
    divide: Callable[[Any, Any], Any] = ratio,
) -> Any:
    r"""\(\chi\cdot(\sum A_i)^2\) from the sums of A and A² over what has left the memory, by any rule; exact.

    \[\sum_{\mathrm{gone}}A^2+\Bigl(\sum_QA^2-\tfrac1n\bigl(\sum_QA\bigr)^2\Bigr)
    +\tfrac1n\bigl(\sum_{\mathrm{gone}}A\bigr)^2.\]
    Unlike \(1/n+1/N_{\mathrm{eff}}-2W_Q/n\) it does not cancel while nothing is gone.

    >>> mismatch_from_gone(2, squares=9, in_memory=3, gone=2, gone_squares=4)
    Fraction(13, 2)
    """
    spread = squares - gone_squares - divide(in_memory * in_memory, n)
    return gone_squares + spread + divide(gone * gone, n)


NOISE = 2**-46  # of ΣA²: what the roundings of a float trajectory can leave of a mismatch that is 0


def trajectory(admissions: Any, K: Any) -> Trajectory:
    """n, N, uniformity and mismatch for every round of an admission sequence, linear in its length.

    Integer and `Fraction` sequences (an object array) stay exact. Floats are accurate to rounding, and a mismatch
    within rounding of 0 is 0 (`from_totals`), so that its root is no noise. The twin of
    `uniformity_kstep` and `mismatch_kstep`, which look at the last round alone.

    >>> trajectory([1, 1, 1], K=2).uniformity[1]
    Fraction(9, 10)
    """
    K = min(retention(K), same_length(admissions=admissions))  # a longer one keeps all, too
    x = np.asarray(admissions)
    if x.dtype.kind not in "iufO" or x.ndim != 1:
        raise SettingError("admissions must be a list of numbers, one a round")
    if x.dtype.kind in "iub":
        x = x.astype(object)  # Python integers: exact, and they don't overflow
    if (x.dtype.kind == "f" and not np.isfinite(x).all()) or (x < 0).any():
        raise SettingError("admissions must be finite and not negative")
    if x[0] <= 0:
        raise SettingError("round 1 must admit at least one sample: before that there is nothing to train on")
    n, aged = _windows(x, K)
    if (n <= 0).any():
        first_empty = int(np.argmax(n <= 0)) + 1
        raise SettingError(
            f"no sample is in memory in round {first_empty}: admit one at least every K rounds"
        )
    N = np.cumsum(x)
    gone = N - n
    return from_totals(n, N, aged, np.cumsum(n), np.cumsum(2 * aged - n), K * gone, K * K * gone)


def from_totals(
    n: Any, N: Any, in_memory: Any, uses: Any, squares: Any, gone: Any, gone_squares: Any
) -> Trajectory:
    r"""The trajectory of running totals, so that long ones can be followed in pieces, under any retention.

    Arrays over rounds, in any further shape: \(\sum A\) over the memory (`in_memory`), over all samples so far (`uses`)
    and over those that have left (`gone`), with \(\sum A^2\) of the last two. A float mismatch within rounding of
    0 is 0.

    >>> one = np.ones(1)
    >>> from_totals(one, one, one, one, one, 0 * one, 0 * one).effective
    array([1.])
    """
    divide = np.frompyfunc(ratio, 2, 1) if n.dtype == object else np.divide
    distance = mismatch_from_gone(n, squares, in_memory, gone, gone_squares, divide)
    if n.dtype != object:
        distance = np.where(distance <= NOISE * squares, 0, distance)  # of an empty memory it is no number
    mismatch = divide(distance, uses * uses)
    return Trajectory(n=n, N=N, uniformity=divide(uses * uses, N * squares), mismatch=mismatch)
