r"""Buy where it is cheap, keep the memory full: samples leave when their place is needed, first in, first out.

A sample that has been used j times is worth replacing up to a price of about w(j): it goes where
\(Z(t)\,c(t)<Z_0\,w(j)\) (`theory.market.online`). The debt Z starts at the reserve \(Z_0\): below it money is left
over, above it too much was spent. Round 1 fills the memory at once and leaves the rest to the debt.
"""

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import FOREVER, Floats, Whole
from theory.control.admission import debt_update
from theory.market.online import buys, savings_price, used_again
from theory.setting import Budget, SettingError, positive

__all__ = ["BuyCheap", "Filled", "Places", "Taper", "rising"]

AGES_MAX = 2**12  # distinguished by the rule for unknown prices, as by the rule for known ones


@dataclass(frozen=True)
class Places:
    """The round about to be played, Z, (replicates,), and the round in which the sample of each place was admitted.

    `born` is (replicates, clients, places), the oldest first: an empty place is as old as can be, and one that its
    client does not have is never born.
    """

    round: int
    debt: Floats
    born: Whole


@dataclass(frozen=True)
class BuyCheap:
    """`worth` is w(1), …, w(J), the last for all later ages; `reserve` is Z_0; buffers are the budget's, and held.

    Samples are kept until their place is needed, or for `kept` rounds at most. Of one that has left the place still
    counts the rounds since it came: what has been saved for the next. With one worth for all ages, or as many for all
    places, all are bought or none: kept for a round they are bursts that are used once, with idle rounds in between.

    The debt never exceeds `theory.market.online.debt_ceiling` for V = Z_0 and w(J), unless the reserve or the first
    round puts it higher.
    """

    worth: tuple[float, ...]
    reserve: float
    budget: Budget
    kept: int = FOREVER

    def __post_init__(self) -> None:
        positive("the reserve", self.reserve)
        steps = np.diff(np.array([0.0, *self.worth]))
        if not self.worth or not np.isfinite(self.worth).all() or (steps < 0).any():
            raise SettingError(
                "the worth of replacing a sample must not fall with its age, such as (1.0, 2.5, 4.0), got "
                f"{self.worth!r:.60}"
            )

    @property
    def retention(self) -> int:
        return self.kept

    @property
    def capacity(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self.budget.buffers)

    @cached_property
    def _worth(self) -> Floats:
        return np.array(self.worth)

    def start(self, replicates: int) -> Places:
        sizes = np.array(self.capacity)
        empty = np.where(np.arange(sizes.max()) < sizes[:, np.newaxis], -FOREVER, FOREVER)
        born = np.broadcast_to(empty, (replicates, *empty.shape)).copy()
        return Places(1, np.full(replicates, float(self.reserve)), born)

    def decide(self, state: Places, cost: Floats) -> tuple[Places, Whole]:
        if state.round == 1:
            return state, np.broadcast_to(np.array(self.capacity), state.born.shape[:2])
        age = state.round - state.born
        worth = self._worth[np.clip(age, 1, len(self.worth)) - 1]
        debt, price = (each[:, np.newaxis, np.newaxis] for each in (state.debt, cost))
        replaced = (age > 0) & buys(debt, price, self.reserve, worth)
        return state, replaced.sum(axis=2)

    def book(self, state: Places, cost: Floats, delivered: Whole) -> Places:
        oldest = np.arange(state.born.shape[2]) < delivered[..., np.newaxis]
        born = np.sort(np.where(oldest, state.round, state.born), axis=2)
        debt = debt_update(state.debt, cost, delivered.sum(axis=1), float(self.budget.cost))
        return Places(state.round + 1, debt, born)


@dataclass(frozen=True)
class Filled(Places):
    """Places, and how many samples have come so far, (replicates,)."""

    bought: Whole

    @classmethod
    def of(cls, places: Places, bought: Whole) -> Self:
        return cls(**{field.name: getattr(places, field.name) for field in fields(Places)}, bought=bought)


@dataclass(frozen=True)
class Taper(BuyCheap):
    """Buys as `BuyCheap` does; what a filling brought is used again while few came before it (`used_again`).

    Early on models are scarce, and to train once more on the same samples makes one; later samples are, and each is
    used once. Without a `patience` of its own it is the rounds that a filling has lasted so far, on average.
    """

    patience: float | None = None

    def start(self, replicates: int) -> Filled:
        return Filled.of(super().start(replicates), np.zeros(replicates, dtype=np.int64))

    def drops(self, state: Filled) -> NDArray[np.bool_]:
        """The samples in memory have been used as often as they may."""
        fillings = state.bought / sum(self.capacity)
        newest = np.where(state.born < FOREVER, state.born, 0).max(axis=(1, 2))
        lasted = state.round / np.maximum(fillings, 1 / state.round)
        patience = lasted if self.patience is None else self.patience
        return ~np.asarray(used_again(state.round - newest, fillings, patience))

    def book(self, state: Places, cost: Floats, delivered: Whole) -> Filled:
        assert isinstance(state, Filled)
        return Filled.of(super().book(state, cost, delivered), state.bought + delivered.sum(axis=1))


def rising(budget: Budget) -> tuple[float, ...]:
    """w(j) for prices of which nothing is known: what a place has saved since its sample came (`savings_price`).

    >>> rising(Budget(buffers=(8, 12), cost=5, mean_cost=1))[:3]
    (0.25, 0.5, 0.75)
    """
    return _rising(budget.total_buffer, budget.cost)


@lru_cache(typed=True)  # a study makes its policies several times, and fractions take a while
def _rising(places: Any, cost: Any) -> tuple[float, ...]:
    return tuple(float(savings_price(1 + uses, places, cost)) for uses in range(AGES_MAX))
