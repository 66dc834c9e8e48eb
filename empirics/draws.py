"""Random numbers addressed by what they are for, not by the order in which they are asked for.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011) maps a key and a counter to four 32-bit words. The key is
(seed, purpose) and the counter (slot, round, client, replicate), so a draw is the same whatever else the study
holds, on every device, and after any restart. NumPy's own Philox is the 64-bit variant and takes one counter a
call, which is too slow for a million short streams.
"""

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.setting import SettingError

__all__ = ["Purpose", "check_seed", "permutation", "philox", "uniform"]

LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10

Words = tuple[Any, Any, Any, Any]


class Purpose(IntEnum):
    """Streams that must never meet."""

    cost = 1
    cost_renewal = 2
    sample = 3
    shuffle = 4
    partition = 5
    start = 6
    part = 7


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[int, int]) -> Words:
    """Four arrays of 32-bit words (held as uint64) for broadcastable arrays of counter words.

    >>> [f"{int(word):08x}" for word in philox((0, 0, 0, 0), (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    a, b, c, d = (np.asarray(word).astype(np.uint64) for word in counter)
    for step in range(ROUNDS):
        k0, k1 = (np.uint64((k + step * w) & 0xFFFFFFFF) for k, w in zip(key, WEYL, strict=True))
        first, second = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b, c, d = (second >> SHIFT) ^ b ^ k0, second & LOW, (first >> SHIFT) ^ d ^ k1, first & LOW
    return a, b, c, d


def check_seed(seed: Any) -> int:
    """A seed that fits the key."""
    if type(seed) is not int or not 0 <= seed < 2**32:
        raise SettingError(f"seed must be a whole number from 0 to 2^32 - 1, such as 0, got {seed!r}")
    return seed


def uniform(
    seed: int, purpose: Purpose, *, replicate: Any = 0, client: Any = 0, t: Any = 0, slot: Any = 0
) -> NDArray[np.float64]:
    """Uniform on [0, 1) with 53 bits, one for each address; the addresses broadcast together.

    >>> bool(uniform(0, Purpose.cost, replicate=3, t=7) == uniform(0, Purpose.cost, replicate=[2, 3], t=7)[1])
    True
    """
    a, b, _, _ = philox((slot, t, client, replicate), (seed, int(purpose)))
    high, low = (a >> np.uint64(5)).astype(np.float64), (b >> np.uint64(6)).astype(np.float64)
    value: NDArray[np.float64] = (high * 2.0**26 + low) / 2.0**53
    return value


def permutation(size: int, seed: int, purpose: Purpose, **address: int) -> NDArray[np.int64]:
    """A uniformly random order of 0..size-1, by sorting draws of 53 bits, which as good as never tie."""
    return np.argsort(uniform(seed, purpose, slot=np.arange(size), **address), kind="stable")
