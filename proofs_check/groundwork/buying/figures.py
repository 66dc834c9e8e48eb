"""Figures to so many digits, proved: Arb balls, or exact numbers, that lie within half a unit of the last place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.engines.enclosure import compare
from proofs_check.evidence import Evidence, together
from theory.algebra import ball

__all__ = ["between", "rounds_to"]


def between(value: Any, low: Any, high: Any, *, what: str, domain: str) -> Evidence:
    """Whether low < value < high; a proof where it holds, since it is about one number."""
    ends: Sequence[tuple[Any, Any]] = ((">", low), ("<", high))
    found = together(
        *(
            compare(
                lambda p: value,
                relation,
                lambda p: ball(p["end"]),
                [{"what": what, "end": Fraction(end)}],
                domain=f"{what}: {domain}",
            )
            for relation, end in ends
        )
    )
    return replace(found, strength="proof")


def rounds_to(value: Any, figure: str, *, what: str, domain: str) -> Evidence:
    """Whether a value, a ball or an exact number, is this figure to its last digit.

    >>> rounds_to(ball(2).sqrt(), "1.414", what="√2", domain="one number").outcome
    'holds'
    >>> rounds_to(ball(2).sqrt(), "1.415", what="√2", domain="one number").outcome
    'fails'
    """
    half = Fraction(1, 2 * 10 ** len(figure.partition(".")[2]))
    return between(
        value, Fraction(figure) - half, Fraction(figure) + half, what=f"{what} = {figure}", domain=domain
    )
