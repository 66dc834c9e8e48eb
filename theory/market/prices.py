r"""Price laws: probabilities of low prices, and the cost of buying everything below a threshold.

Two numbers of a law decide what money buys: \(F(\theta)=P(c\le\theta)\) and \(m(\theta)=\mathbb E[c;\,c\le\theta]\).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol, Self

import numpy as np

from theory.numbers.algebra import maximum, minimum, ratio, sqrt
from theory.setting import SettingError, positive

__all__ = ["Atoms", "PriceLaw", "Uniform"]


class PriceLaw(Protocol):
    """The law of a price."""

    @property
    def lowest(self) -> Any:
        """No price is below it."""

    @property
    def highest(self) -> Any:
        """No price is above it."""

    @property
    def mean(self) -> Any:
        r"""\(\mathbb E[c]\)."""

    def mass(self, price: Any) -> Any:
        r"""\(F(\theta)\): how often a price is at most this."""

    def spent(self, price: Any) -> Any:
        r"""\(m(\theta)\): mean cost per round of buying one sample at every price up to this."""

    def scaled(self, factor: Any) -> PriceLaw:
        """Every price times this."""

    def indifferent(self, saving: Any) -> Any:
        r"""\(\theta\) with \(\mathbb E(\theta-c)^+\) = saving: the price to take if a round of waiting costs it."""


@dataclass(frozen=True)
class Uniform:
    """Prices spread evenly over [low, high].

    >>> Uniform(1, 10).mass(4), Uniform(1, 10).spent(4)
    (Fraction(1, 3), Fraction(5, 6))
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        positive("the lowest price", self.low)
        if not _above(positive("the highest price", self.high), self.low):
            raise SettingError(
                f"uniform prices need two ends, the lower first, such as 1 and 10, got {self.low} and {self.high}"
            )

    @property
    def lowest(self) -> Any:
        return self.low

    @property
    def highest(self) -> Any:
        return self.high

    @property
    def mean(self) -> Any:
        return ratio(self.low + self.high, 2)

    def mass(self, price: Any) -> Any:
        return ratio(self._inside(price) - self.low, self.high - self.low)

    def spent(self, price: Any) -> Any:
        top = self._inside(price)
        return ratio((top - self.low) * (top + self.low), 2 * (self.high - self.low))

    def indifferent(self, saving: Any) -> Any:
        width = self.high - self.low
        return self.low + sqrt(2 * width * saving) if 2 * saving <= width else self.mean + saving

    def scaled(self, factor: Any) -> Self:
        """Every price times this."""
        return type(self)(factor * self.low, factor * self.high)

    def _inside(self, price: Any) -> Any:
        if isinstance(price, float):  # the same, much faster
            return min(max(price, self.low), self.high)
        return minimum(maximum(price, self.low), self.high)


def _above(high: Any, low: Any) -> bool:
    gap = high - low
    certain = getattr(gap, "is_positive", None) if hasattr(gap, "free_symbols") else bool(gap > 0)
    return certain is not False


@dataclass(frozen=True)
class Atoms:
    """Prices from a list, in order, with their probabilities: whole prices, or a trace.

    >>> dice = Atoms.of([1, 2, 3, 4, 5, 6])
    >>> dice.mean, dice.mass(2), dice.spent(2)
    (Fraction(7, 2), Fraction(1, 3), Fraction(1, 2))
    """

    prices: tuple[Any, ...]
    weights: tuple[Any, ...]

    def __post_init__(self) -> None:
        for price in self.prices:
            positive("a price", price)
        if not self.prices or len(self.prices) != len(self.weights):
            raise SettingError("a law of prices needs at least one price, and a probability for each")
        if any(later <= earlier for earlier, later in zip(self.prices, self.prices[1:], strict=False)):
            raise SettingError("the prices of a law must be different and in rising order")
        if any(weight <= 0 for weight in self.weights) or abs(sum(self.weights) - 1) > 2**-30:
            raise SettingError("the probabilities of prices must be positive with sum 1")

    @classmethod
    def of(cls, prices: Iterable[Any]) -> Self:
        """Equally likely prices, such as those of a trace; exact for whole numbers and fractions."""
        listed = prices.ravel().tolist() if isinstance(prices, np.ndarray) else list(prices)
        counts = Counter(positive("a price", price) for price in listed)
        total = sum(counts.values())
        values = sorted(counts)
        exact = all(isinstance(value, int | Fraction) for value in values)
        share = Fraction if exact else (lambda count, whole: count / whole)
        return cls(tuple(values), tuple(share(counts[value], total) for value in values))

    @classmethod
    def thinned(cls, prices: Iterable[float], most: int = 10_000) -> Self:
        """The law with at most this many prices: for a longer list, means of equal shares in rising order.

        >>> Atoms.thinned([4.0, 1.0, 3.0, 2.0], most=2).prices
        (1.5, 3.5)
        """
        values = np.sort(np.asarray(prices, dtype=float))
        return cls.of([float(part.mean()) for part in np.array_split(values, min(most, len(values)))])

    def scaled(self, factor: Any) -> Self:
        """Every price times this."""
        return type(self)(tuple(factor * price for price in self.prices), self.weights)

    @cached_property
    def _masses(self) -> list[Any]:
        return [0 * self.weights[0], *accumulate(self.weights)]

    @cached_property
    def _sums(self) -> list[Any]:
        paid = [weight * price for weight, price in zip(self.weights, self.prices, strict=True)]
        return [0 * paid[0], *accumulate(paid)]

    @cached_property
    def _savings(self) -> list[Any]:
        return [price * self.mass(price) - self.spent(price) for price in self.prices]

    @property
    def lowest(self) -> Any:
        return self.prices[0]

    @property
    def highest(self) -> Any:
        return self.prices[-1]

    @property
    def mean(self) -> Any:
        return self._sums[-1]

    def mass(self, price: Any) -> Any:
        return self._masses[bisect_right(self.prices, price)]

    def spent(self, price: Any) -> Any:
        return self._sums[bisect_right(self.prices, price)]

    def indifferent(self, saving: Any) -> Any:
        known = max(bisect_right(self._savings, saving), 1)
        price = ratio(saving + self._sums[known], self._masses[known])
        return max(price, self.prices[known - 1])  # below it only by rounding
