"""Symbolic identities, for all values of the symbols at once.

A positive outcome proves that two expressions agree wherever both are defined: SymPy reduces their difference to 0 from
the symbols' assumptions (integer, positive) alone. A negative outcome is an exact point where the sides differ.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from proofs_check.evidence import Evidence, fails, holds, spelled, undecided

__all__ = ["equal", "symbolic_sum"]

Where = Callable[[dict[str, Any]], bool]
TRIED_POINTS_MAX = 2000


def symbolic_sum(summand: Any, index: Any, first: Any, last: Any) -> Any:
    """The sum in closed form; an error where SymPy finds none.

    >>> K, j = sp.symbols("K j", integer=True, positive=True)
    >>> sp.factor(symbolic_sum(j, j, 1, K))
    K*(K + 1)/2
    """
    closed = sp.summation(sp.expand(summand), (index, first, last))
    if closed.has(sp.Sum) or closed.has(sp.Piecewise):
        raise ArithmeticError(f"no closed form for the sum of {summand} over {index}")
    return closed


def _points(symbols: list[Any]) -> Iterator[dict[Any, Any]]:
    """Points to try, small ones first; fewer values for many symbols."""
    most = max(2, int(TRIED_POINTS_MAX ** (1 / max(len(symbols), 1))))

    def values(symbol: Any) -> list[Fraction]:
        whole = [Fraction(v) for v in range(0 if symbol.is_positive is None else 1, 9)]
        broken = [] if symbol.is_integer else [Fraction(1, 2), Fraction(1, 3)]
        return [*whole[:3], *broken, *whole[3:]][:most]

    for point in sorted(product(*map(values, symbols)), key=lambda p: (sum(p), p)):
        yield {s: sp.Rational(v.numerator, v.denominator) for s, v in zip(symbols, point, strict=True)}


def equal(
    left: Any,
    right: Any,
    *,
    domain: str,
    where: Where | None = None,
    what: str = "both sides",
    strength: Any = None,
) -> Evidence:
    """Test whether two expressions agree on the domain. `where` restricts the search for a counterexample to it, by the
    names and values of the symbols; the proof uses the symbols' assumptions alone.

    >>> K = sp.Symbol("K", integer=True, positive=True)
    >>> equal((K + 1)**2, K**2 + 2*K + 1, domain="all K").outcome
    'holds'
    >>> equal((K + 1)**2, K**2 + 1, domain="all K").certificate["at"]
    {'K': '1'}
    """
    left, right = sp.sympify(left), sp.sympify(right)
    rest = _reduced(left - right)
    if rest != 0:
        apart = _differing_point(left, right, where)
        if apart:
            detail = f"{what} differ at {spelled(apart['at'])}: {apart['left']} against {apart['right']}"
            return fails("identity", detail, domain=domain, certificate={**apart, "difference": rest})
        rest = sp.simplify(rest)
    if rest == 0:
        certificate = {"left": left, "right": right, "difference": 0}
        detail = f"{what} agree: their difference reduces to 0"
        return holds("identity", detail, domain=domain, certificate=certificate, strength=strength)
    detail = f"the difference {rest} does not reduce to 0, and no point was found where it is not 0"
    return undecided("identity", detail, domain=domain, certificate={"difference": rest})


def _reduced(difference: Any) -> Any:
    """The difference as one cancelled fraction; most are 0 as polynomials, which is the quickest test."""
    numerator, _ = sp.fraction(sp.together(difference))
    if sp.polys.rings.sring(numerator)[1] == 0:
        return sp.Integer(0)
    return sp.cancel(sp.together(sp.expand(difference)))


def _differing_point(left: Any, right: Any, where: Where | None) -> dict[str, Any] | None:
    """The first point of the domain where the sides are different numbers, exactly."""
    for point in _points(sorted((left - right).free_symbols, key=str)):
        named = {str(symbol): value for symbol, value in point.items()}
        if where is not None and not where({k: Fraction(int(v.p), int(v.q)) for k, v in named.items()}):
            continue
        a, b = (side.subs(point).doit() for side in (left, right))
        if a.is_number and b.is_number and a.is_finite and b.is_finite and (a - b).equals(0) is False:
            return {"at": named, "left": a, "right": b}
    return None
