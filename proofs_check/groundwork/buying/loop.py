"""The online rule, round by round in whole numbers: every place of the memory, many runs at once, no rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_check.engines.simulation import Costs, drifting, integers, markov, uniform
from theory.buying import buys

__all__ = ["QUARTER", "Played", "constant_worth", "drawn_prices", "play", "worth_of_age"]

Ints = NDArray[np.int64]
QUARTER = 4  # prices are drawn and then rounded to quarters, so that four times a price is whole


@dataclass(frozen=True)
class Played:
    """Arrays (rounds, runs): prices, how many were bought, the sum of ages and the largest; the debt has a row more."""

    prices: Ints
    bought: Ints
    debt: Ints
    ages: Ints
    oldest: Ints

    @property
    def spent(self) -> Ints:
        """What each round cost."""
        return self.prices * self.bought


def constant_worth(ages: Ints) -> Ints:
    """w = 1: all samples are worth the same."""
    return np.ones_like(ages)


def worth_of_age(ages: Ints) -> Ints:
    """w(j) = j."""
    return ages


def play(
    prices: Any, *, places: int, budget: int, V: Any, debt: Any, worth: Callable[[Ints], Ints] = worth_of_age
) -> Played:
    """From a memory of S samples that have been used once each, with this debt; prices of shape (rounds, runs)."""
    costs = np.asarray(prices, dtype=np.int64)
    ages = np.ones((costs.shape[1], places), dtype=np.int64)
    Z = np.broadcast_to(np.asarray(debt, dtype=np.int64), costs.shape[1:]).copy()
    rows: list[tuple[Ints, ...]] = []
    debts = [Z]
    for cost in costs:
        taken = buys(Z[:, np.newaxis], cost[:, np.newaxis], V, worth(ages))
        x = taken.sum(axis=1)
        Z = np.maximum(Z + cost * x - budget, 0)
        ages = np.where(taken, 1, ages + 1)
        debts.append(Z)
        rows.append((x, ages.sum(axis=1), ages.max(axis=1)))
    bought, total, oldest = (np.array(column) for column in zip(*rows, strict=True))
    return Played(costs, bought, np.array(debts), total, oldest)


def drawn_prices(rng: np.random.Generator, runs: int, rounds: int) -> Iterator[tuple[Costs, Ints]]:
    """Independent, Markov and drifting prices between 1 and 10, in quarters."""
    for costs in (uniform(1, 10), integers(1, 10), markov(2, 9, 0.9), drifting(3, 8, 2, rounds)):
        yield costs, np.rint(QUARTER * costs.draw(rng, runs, rounds)).astype(np.int64)
