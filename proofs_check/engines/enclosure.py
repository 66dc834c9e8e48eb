"""Comparisons by Arb balls on a stated grid.

A positive outcome certifies the inequality at every listed point, rounding errors included. A ball on the wrong side at
one point disproves it. Overlapping balls at any point leave the check open.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from proofs_check.evidence import Evidence, fails, holds, spelled, undecided

__all__ = ["compare"]

Point = Mapping[str, Any]
Relation = Literal["<", "<=", ">", ">="]
PRECISION_BITS = 128
# a relation and its negation, each True only where the balls leave no doubt
RELATIONS: dict[Relation, tuple[Callable[..., bool], Callable[..., bool]]] = {
    "<": (operator.lt, operator.ge),
    "<=": (operator.le, operator.gt),
    ">": (operator.gt, operator.le),
    ">=": (operator.ge, operator.lt),
}


def compare(
    left: Callable[[Point], Any],
    relation: Relation,
    right: Callable[[Point], Any],
    grid: Iterable[Point],
    *,
    domain: str,
    precision: int = PRECISION_BITS,
) -> Evidence:
    """Test whether `left relation right` holds at every grid point; both are functions of a point that return a ball
    (`flint.arb`) or an integer.

    >>> import flint
    >>> grid = [{"x": x} for x in (1, 2, 3)]
    >>> compare(lambda p: flint.arb(p["x"]).sqrt(), "<=", lambda p: 2, grid, domain="x in 1..3").outcome
    'holds'
    >>> compare(lambda p: flint.arb(2).sqrt() ** 2, "<=", lambda p: 2, grid, domain="any x").outcome
    'open'
    """
    import flint

    certain, excluded = RELATIONS[relation]
    seen: list[dict[str, Any]] = []
    overlapping = None
    with flint.ctx.workprec(precision):
        for point in grid:
            a, b = flint.arb(left(point)), flint.arb(right(point))
            if not (a.is_finite() and b.is_finite()):
                detail = f"a side has no finite enclosure at {spelled(point)}"
                return undecided("enclosure", detail, domain=domain)
            row = {**point, "left": a.str(12), "right": b.str(12)}
            if excluded(a, b):
                detail = f"{row['left']} {relation} {row['right']} is false at {spelled(point)}"
                return fails("enclosure", detail, domain=domain, certificate=row)
            if not certain(a, b):
                overlapping = overlapping or row
            seen.append(row)
    if not seen:
        raise ValueError("an empty grid shows nothing")
    if overlapping:
        return undecided("enclosure", "the balls overlap", domain=domain, certificate=overlapping)
    certificate = {"first": seen[0], "last": seen[-1], "points": len(seen), "bits": precision}
    detail = f"balls are apart at all {len(seen)} points"
    return holds("enclosure", detail, domain=domain, certificate=certificate)
