"""The sampling cost c(t), revealed at the beginning of a round and the same for every policy of a replicate.

All processes have mean (low + high) / 2: in every round for the first three, on average over the horizon for
the drifting one, which starts cheap and ends dear and so breaks the paper's factorisation E[Z(cΛ̄-C)] = E[Z]·E[cΛ̄-C].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.draws import Purpose, uniform
from theory.setting import SettingError, positive

__all__ = ["CostProcess", "Process"]

Floats = NDArray[np.float64]


class Process(StrEnum):
    """How c(t) moves."""

    uniform = "uniform"
    integer = "integer"
    markov = "markov"
    drifting = "drifting"


@dataclass(frozen=True, kw_only=True)
class CostProcess:
    """`uniform` on [low, high], `integer` on low..high, `markov`: kept with probability `stay`, else drawn anew
    (its stationary law is the uniform one), `drifting`: uniform times a factor from
    1 - `drift` in the first round to 1 + `drift` in the last.

    >>> CostProcess(process="integer", low=1, high=10).mean
    Fraction(11, 2)
    """

    process: str = "uniform"
    low: float = 1
    high: float = 10
    stay: float = 0.9
    drift: float = 0.5

    def __post_init__(self) -> None:
        if self.process not in list(Process):
            raise SettingError(f"the cost process must be one of {', '.join(Process)}, got {self.process!r}")
        positive("the lowest cost", self.low)
        positive("the highest cost", self.high)
        if self.high < self.low:
            raise SettingError(
                f"the highest cost must not be below the lowest, got {self.low} and {self.high}"
            )
        if self.process == Process.integer and not all(
            float(end).is_integer() for end in (self.low, self.high)
        ):
            raise SettingError(
                f"integer costs need whole ends, such as 1 and 10, got {self.low} and {self.high}"
            )
        for name in ("stay", "drift"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingError(f"{name} must lie in [0, 1), such as 0.5, got {getattr(self, name)!r}")

    @property
    def mean(self) -> Fraction:
        """The mean cost, exact for the decimals that were typed in."""
        return (Fraction(str(self.low)) + Fraction(str(self.high))) / 2

    def _fresh(self, seed: int, replicates: Any, rounds: Any) -> Floats:
        u = uniform(seed, Purpose.cost, replicate=replicates, t=rounds)
        if self.process == Process.integer:
            return np.floor(self.low + u * (self.high - self.low + 1))
        return self.low + u * (self.high - self.low)

    def chunks(self, seed: int, replicates: int, rounds: int, size: int) -> Iterator[Floats]:
        """c(1), c(2), …, in arrays of shape (at most `size`, replicates)."""
        runs = np.arange(replicates)
        last: Floats | None = None
        for first in range(1, rounds + 1, size):
            t = np.arange(first, min(first + size, rounds + 1))[:, np.newaxis]
            c = self._fresh(seed, runs, t)
            if self.process == Process.drifting and rounds > 1:
                c = c * (1 + self.drift * (2 * (t - 1) / (rounds - 1) - 1))
            elif self.process == Process.markov:
                kept = uniform(seed, Purpose.cost_renewal, replicate=runs, t=t) < self.stay
                if last is None:
                    kept[0] = False
                else:
                    c, kept = np.concatenate([last, c]), np.concatenate([np.zeros_like(kept[:1]), kept])
                renewed = np.maximum.accumulate(np.where(kept, 0, np.arange(len(c))[:, np.newaxis]), axis=0)
                c = np.take_along_axis(c, renewed, axis=0)[-len(t) :]
                last = c[-1:]
            yield c
