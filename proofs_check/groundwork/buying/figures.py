"""Figures to so many digits, proved: Arb balls, or exact numbers, that lie within half a unit of the last place."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.engines.enclosure import compare
from proofs_check.evidence import Evidence, together
from theory.algebra import ball

__all__ = ["figures"]


def figures(domain: str, *found: tuple[str, Any, Any]) -> Evidence:
    """What, its value (a ball or an exact number), and its figure to the last digit or two ends that it is between.

    A proof where it holds, since it is about single numbers.

    >>> figures("one number", ("√2", ball(2).sqrt(), "1.414"), ("2√2", ball(8).sqrt(), (2, 3))).outcome
    'holds'
    >>> figures("one number", ("√2", ball(2).sqrt(), "1.415")).outcome
    'fails'
    """
    return together(*(_lies(domain, *one) for one in found))


def _lies(domain: str, what: str, value: Any, figure: Any) -> Evidence:
    low, high = figure if isinstance(figure, tuple) else _rounded(figure)
    name = f"{what} = {figure}" if isinstance(figure, str) else what

    def compared(relation: Any, end: Any) -> Evidence:
        points = [{"what": name, "end": Fraction(end)}]
        return compare(
            lambda p: value, relation, lambda p: ball(p["end"]), points, domain=f"{name}: {domain}"
        )

    return replace(together(compared(">", low), compared("<", high)), strength="proof")


def _rounded(figure: str) -> tuple[Fraction, Fraction]:
    half = Fraction(1, 2 * 10 ** len(figure.partition(".")[2]))
    return Fraction(figure) - half, Fraction(figure) + half
