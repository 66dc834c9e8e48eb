r"""Reuse along whole trajectories: every round of any admission sequence, in time linear in its length."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.numbers.algebra import ratio
from theory.setting import SettingError, retention, same_length

__all__ = ["Trajectory", "from_totals", "mismatch_from_gone", "trajectory"]


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


EPS = 2**-46  # of ΣA²: what the roundings of a float trajectory can leave of a mismatch that is 0


def trajectory(admissions: Any, K: Any) -> Trajectory:
    """n, N, uniformity and mismatch for every round of an admission sequence, linear in its length.

    Integer and `Fraction` sequences (an object array) stay exact. Floats are accurate to rounding, and a mismatch
    within rounding of 0 is 0 (`from_totals`), so that its root is no noise. The twin of
    `uniformity_kstep` and `mismatch_kstep`, which look at the last round alone.

    >>> trajectory([1, 1, 1], K=2).uniformity[1]
    Fraction(9, 10)
    """
    K = min(retention(K), same_length(admissions=admissions))  # a longer K keeps all, too
    x = np.asarray(admissions)
    if x.dtype.kind not in "iufO" or x.ndim != 1:
        raise SettingError("admissions must be a list of numbers, one per round")
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
        distance = np.where(distance <= EPS * squares, 0, distance)  # NaN for an empty memory stays NaN
    mismatch = divide(distance, uses * uses)
    return Trajectory(n=n, N=N, uniformity=divide(uses * uses, N * squares), mismatch=mismatch)
