"""Statements with minima and maxima, for Z3: each becomes a number that is one of its arguments and bounds them all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from proofs_check.engines import smt
from proofs_check.evidence import Evidence

__all__ = ["always"]


def always(statement: Any, *, given: Iterable[Any] = (), domain: str) -> Evidence:
    """As `proofs_check.engines.smt.always`, where min and max may occur.

    >>> x, y = sp.symbols("x y", real=True)
    >>> always(sp.Min(x, y) + sp.Max(x, y) <= x + y, domain="any x, y").outcome
    'holds'
    """
    several = list(statement) if isinstance(statement, list | tuple) else [statement]
    whole = sp.Tuple(*several, *given)
    number = 0
    while corners := sorted(whole.atoms(sp.Min, sp.Max), key=sp.count_ops):
        corner, number = corners[0], number + 1  # the shortest holds no other
        value = sp.Symbol(f"corner{number}", real=True)
        bounds = [value <= x if isinstance(corner, sp.Min) else value >= x for x in corner.args]
        one_of_them = sp.Or(*(sp.Eq(value, x) for x in corner.args))
        whole = sp.Tuple(*whole.xreplace({corner: value}), one_of_them, *bounds)
    return smt.always(list(whole[: len(several)]), given=whole[len(several) :], domain=domain)
