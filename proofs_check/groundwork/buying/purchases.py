"""The most that money buys at a list of prices, by trying every vertex of what is allowed; exact, and no formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

__all__ = ["most_bought", "price_lists"]


def _vertices(prices: Sequence[Any], places: Any, money: Any) -> Iterator[Any]:
    """The vertices of {0 <= x <= S, Σcx <= money}: all rounds empty or full but for one, which takes what is left."""
    for full in product((0, 1), repeat=len(prices)):
        paid = sum(places * price for price, bought in zip(prices, full, strict=True) if bought)
        if paid > money:
            continue
        amount = Fraction(places * sum(full))
        yield amount
        for price, bought in zip(prices, full, strict=True):
            if not bought and money - paid <= places * price:
                yield amount + Fraction(money - paid) / price


def most_bought(prices: Sequence[Any], places: Any, money: Any) -> Any:
    """max Σx over 0 <= x(t) <= S with Σcx <= money: a linear program is largest at a vertex."""
    return max(_vertices(prices, places, money))


def price_lists(most: int = 6) -> st.SearchStrategy[list[int]]:
    """Prices of a few rounds, whole numbers, repetitions included."""
    return st.lists(st.integers(1, 7), min_size=1, max_size=most)
