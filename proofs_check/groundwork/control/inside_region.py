"""Admission sequences inside the region, and what a switch to Λ̄ leaves in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

from proofs_check.engines.exact import exhaust, grid, unless
from proofs_check.evidence import Evidence
from theory.region import region_maximum, region_minimum, region_minimum_window
from theory.setting import Region


def histories(rounds: int = 10) -> st.SearchStrategy[list[Fraction]]:
    """Where in the region each past round admitted: 0 at its lower end, 1 at its upper end."""
    ends = st.sampled_from([Fraction(0), Fraction(1)])
    return st.lists(st.one_of(ends, st.fractions(0, 1, max_denominator=8)), max_size=rounds)


def corners(rounds: int) -> Iterator[tuple[Fraction, ...]]:
    """Every choice of a lower or an upper end in each of the rounds: the extreme points of all histories."""
    return product((Fraction(0), Fraction(1)), repeat=rounds)


def placed(region: Region, positions: Sequence[Fraction]) -> list[Fraction]:
    """The admissions at these positions."""
    ends = [(region_minimum(region, t), region_maximum(region, t)) for t in range(1, len(positions) + 1)]
    return [low + (high - low) * position for (low, high), position in zip(ends, positions, strict=True)]


def switched(past: Sequence[Any], K: int, rate: Any) -> tuple[Any, Any]:
    """n^C and N^C: what is in memory, and was ever admitted, when the round after `past` admits `rate`."""
    held = past[len(past) - min(K - 1, len(past)) :]
    return sum(held) + rate, sum(past) + rate


def least_held(K: int, t: int, region: Region) -> Any:
    """n_min: what the switch leaves in memory when every round in it admitted its lower end."""
    return region_minimum_window(region, min(K, t), t) + region.rate


def lies_inside(admitted: Sequence[Any], region: Region) -> Evidence:
    """That each round's admission lies in the region, exactly: a hypothesis of every counterexample about it."""

    def outside(t: int) -> Any:
        low, high, amount = region_minimum(region, t), region_maximum(region, t), admitted[t - 1]
        return unless(low <= amount <= high, Λ=amount, Λ_min=low, Λ_max=high)

    return exhaust(
        grid(t=range(1, len(admitted) + 1)),
        outside,
        domain=rf"the {len(admitted)} admissions of the example, $\bar\Lambda={region.rate}$, $\rho={region.rho}$",
    )
