r"""What one round does to half the squared debt: the link that every claim about the online rule shares.

\(Z'=[Z+cx-C]^+\), and \((cx-C)^2\le2B\) for every purchase \(0\le x\le S\) at a price of at most \(c_+\).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.smt import always, steps
from proofs_check.evidence import Evidence
from proofs_check.groundwork.buying.market import B, C, S, Z, c, high
from theory.algebra import positive_part
from theory.buying import purchase_drift

__all__ = ["debt_after", "drift_of_a_round", "moves", "with_maxima", "x"]

x = sp.Symbol("x", nonnegative=True)


def debt_after(debt: Any, cost: Any, bought: Any, budget: Any) -> Any:
    """Z' = [Z + cx - C]⁺."""
    return positive_part(debt + cost * bought - budget)


def with_maxima(expression: Any) -> Any:
    """The same, each -min(-a, -b) written as max(a, b)."""
    return sp.sympify(expression).replace(
        lambda e: isinstance(e, sp.Min), lambda e: -sp.Max(*(-argument for argument in e.args))
    )


@cache
def moves() -> Evidence:
    """cx - C lies within δ of 0, δ² = 2B; B is no larger than it must be; and the debt moves by δ at most."""
    most, move = 2 * purchase_drift(S, C, high), debt_after(Z, c, x, C) - Z
    step = sp.Symbol("delta", positive=True)
    either = sp.Or(sp.Eq(most, C**2), sp.Eq(most, (high * S - C) ** 2))
    return steps(
        ((c * x - C) ** 2 <= most, [x <= S, c <= high], "every purchase and price"),
        (either, [], "one of the two: nothing is bought, or $S$ at the highest price"),
        (
            [move <= step, move >= -step],
            [step >= C, c * x - C <= step],
            r"every debt, $\delta$ at least $C$ and $cx-C$",
        ),
    )


@cache
def drift_of_a_round() -> Evidence:
    """½Z'² - ½Z² <= B + Z(cx - C): the positive part takes nothing away from that."""
    after, spare = sp.symbols("after spare", real=True)
    return always(
        after**2 / 2 - Z**2 / 2 <= B + Z * spare,
        given=[spare**2 <= 2 * B, sp.Or(sp.Eq(after, Z + spare), sp.And(sp.Eq(after, 0), Z + spare <= 0))],
        domain=r"every $Z\ge0$ and $cx-C=\mathrm{spare}$ with $\mathrm{spare}^2\le2B$",
    )
