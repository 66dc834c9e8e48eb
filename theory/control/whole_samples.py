"""Whole samples of rates: each client rounds, and carries the remainder into the next round."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.numbers.algebra import minimum
from theory.setting import SettingError

__all__ = ["integer_admissions"]


def integer_admissions(
    Lambda: Any, shares: Any, carry: Any, room: Any = None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    r"""Each client's whole admission \(\lambda_m\) out of \(\Lambda\), and the next carry (`eq:lambda-def`).

    Each client rounds its demand, `carry + Lambda * share`, to the nearest integer and carries the remainder,
    in [-1/2, 1/2): its cumulative admissions never stray more than 1/2 from their target. `Lambda` has shape
    (runs,), `carry` (runs, clients); Fractions stay exact. What exceeds `room` is refused and forgotten.

    >>> admitted, carry = integer_admissions(5, [Fraction(1, 4), Fraction(3, 4)], [0, 0])
    >>> admitted, carry
    (array([1, 4]), array([Fraction(1, 4), Fraction(-1, 4)], dtype=object))
    """
    rate, share, kept = np.asarray(Lambda), np.asarray(shares), np.asarray(carry)
    if not np.all(rate >= 0):
        raise SettingError(f"an admission must not be negative, got {Lambda!r}")
    if not np.all(share >= 0) or abs(share.sum() - 1) > 2**-30:
        raise SettingError(f"shares must be non-negative and sum to 1, such as [0.25, 0.75], got {shares!r}")
    if not np.all((2 * kept >= -1) & (2 * kept < 1)):
        raise SettingError("carry must lie in [-1/2, 1/2): start with 0, then pass on what was returned")
    demand = kept + rate[..., np.newaxis] * share
    whole = demand // 1
    # Comparing the fraction with 1/2, and not taking the floor of demand + 1/2, keeps the remainder inside
    # [-1/2, 1/2) in floats too, where 0.5 plus the number just below it is 1. No admission is negative:
    # demand >= carry >= -1/2, so a negative demand has floor -1 and a fraction of at least 1/2.
    rounded = whole.astype(np.int64) + (2 * (demand - whole) >= 1)
    admitted = rounded if room is None else minimum(rounded, _room(room))
    return admitted, demand - rounded


def _room(room: Any) -> NDArray[np.int64]:
    space = np.asarray(room)
    if not np.all((space >= 0) & (space // 1 == space)):
        raise SettingError(f"room must be whole numbers of at least 0, one for each client, got {room!r}")
    return space.astype(np.int64)
