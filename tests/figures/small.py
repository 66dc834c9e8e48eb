"""Parts of a result, to draw what is short, has one seed, or lacks something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from figures.measured import Measured

__all__ = ["cut"]


def cut(
    result: Measured,
    rounds: int = 30,
    seeds: int = 3,
    names: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> Measured:
    """The beginning of a result, of some seeds, with other names for as many policies, and without some columns."""
    names = result.policies if names is None else names
    rows = [place % len(result.policies) for place in range(len(names))]
    columns = {
        name: column[rows][:, :seeds, :rounds]
        for name, column in result.columns.items()
        if name not in without
    }
    constants = tuple(result.constants[row] for row in rows)
    return replace(
        result, policies=tuple(names), constants=constants, seeds=seeds, horizon=rounds, columns=columns
    )
