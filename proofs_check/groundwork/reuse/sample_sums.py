"""Sums over samples of any number: added up term by term, and what holds for them by induction over the samples.

Of counts A_1, …, A_p only p, q = ΣA and r = ΣA² matter here. One more sample of count a makes them p+1, q+a, r+a².
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence

__all__ = ["added_up", "cauchy_schwarz", "cauchy_schwarz_equality", "counts_at_most", "lists_of"]

p, q, r = sp.symbols("p q r", positive=True)
a = sp.Symbol("a", nonnegative=True)


def added_up(summand: Any, count: Any, *moments: Any) -> Any:
    """The sum over samples of a polynomial in a sample's count, given the sums Σ1, ΣA, ΣA², … over these samples.

    >>> x, size, total = sp.symbols("x size total")
    >>> added_up(2 * x + 1, x, size, total)
    size + 2*total
    """
    coefficients = sp.Poly(summand, count).all_coeffs()[::-1]
    if len(coefficients) > len(moments):
        raise ArithmeticError(f"{summand} asks for the sum of {count}^{len(coefficients) - 1}")
    return sum(c * m for c, m in zip(coefficients, moments, strict=False))


def cauchy_schwarz() -> Evidence:
    """(ΣA)² <= p·ΣA², by induction over the samples."""
    return always(
        (q + a) ** 2 <= (p + 1) * (r + a**2),
        given=[q**2 <= p * r],
        domain=r"one more sample, any counts $\ge0$; with one sample both sides are its square",
    )


def cauchy_schwarz_equality() -> Evidence:
    """(ΣA)² = pΣA² if and only if all counts are equal: carried on to one more sample, equal to the mean."""
    equality = sp.Eq((q + a) ** 2, (p + 1) * (r + a**2), evaluate=False)
    return always(
        sp.Equivalent(equality, sp.And(sp.Eq(q**2, p * r), sp.Eq(a * p, q))),
        given=[q**2 <= p * r],
        domain="one more sample: equality after it if and only if there was before and its count is the mean",
    )


def counts_at_most(most: Any) -> Evidence:
    """ΣA² <= K·ΣA where no count exceeds K, by induction over the samples."""
    return always(
        r + a**2 <= most * (q + a),
        given=[r <= most * q, a <= most],
        domain="one more sample, no count above $K$; with no sample both sides are 0",
    )


def lists_of(size: int) -> list[Any]:
    """Symbols for that many positive numbers."""
    return list(sp.symbols(f"A1:{size + 1}", positive=True))
