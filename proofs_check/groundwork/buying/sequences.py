"""Admissions for memories by capacity: clients with buffers of their own, all short sequences, and long ones drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from operator import add
from typing import Any

from hypothesis import strategies as st

from theory.law import Cohorts, by_capacity

__all__ = ["all_short", "drawn", "kept"]


def kept(rounds: Sequence[Sequence[int]], capacities: Sequence[int]) -> Cohorts:
    """The cohorts of several clients, by theory's own rule."""
    clients = zip(zip(*rounds, strict=True), capacities, strict=True)
    return reduce(add, (by_capacity(list(column), size) for column, size in clients))


def all_short(rounds: int = 4, most: int = 3) -> Iterator[dict[str, Any]]:
    """Every sequence of one client, with every size of its memory; round 1 admits at least one."""
    for length in range(1, rounds + 1):
        for sequence in product(range(most + 1), repeat=length):
            if sequence[0]:
                for size in range(1, most + 1):
                    yield {"rounds": [[x] for x in sequence], "capacities": [size]}


def drawn(clients: int = 3, rounds: int = 10, most: int = 6) -> dict[str, st.SearchStrategy[Any]]:
    """Admissions, zeros and more than fit included, and buffers; in round 1 somebody admits."""
    amount = st.one_of(st.just(0), st.integers(0, 2), st.integers(0, 2 * most))
    one = st.lists(amount, min_size=clients, max_size=clients)
    return {
        "rounds": st.lists(one, min_size=1, max_size=rounds).filter(lambda rows: sum(rows[0]) > 0),
        "capacities": st.lists(st.integers(1, most), min_size=clients, max_size=clients),
    }
