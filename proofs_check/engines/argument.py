"""An argument of several links, a row each: equations by SymPy, inequalities by Z3, limits by Gruntz.

It holds if every link does, as firmly as the weakest of them.
"""

from __future__ import annotations

from typing import Any

from proofs_check.engines import identity, limit, smt
from proofs_check.evidence import Evidence, together

__all__ = ["argument"]


def argument(*links: Any, domain: str = "") -> Evidence:
    """Rows of two equal sides and what they are, on the domain; of an inequality, a list of what is given, and where
    it holds; of an expression, its variable, its limit, and what it is. Evidence made elsewhere stands for itself.

    >>> import sympy as sp
    >>> K = sp.Symbol("K", integer=True, positive=True)
    >>> found = argument(
    ...     (K + K, 2 * K, "the sum and twice K"),
    ...     (2 * K > K + 1, [K > 1], "K > 1"),
    ...     (1 / K, K, 0, "1/K"),
    ...     domain="every K",
    ... )
    >>> found.outcome, found.pieces, found.domain
    ('holds', 3, 'every K; K > 1')
    """
    found = [link if isinstance(link, Evidence) else _shown(*link, domain=domain) for link in links]
    return together(*found) if len(found) > 1 else found[0]


def _shown(first: Any, second: Any, *rest: Any, domain: str) -> Evidence:
    if isinstance(second, list):
        return smt.always(first, given=second, domain=rest[0])
    if len(rest) == 1:
        return identity.equal(first, second, domain=domain, what=rest[0])
    end, what = rest
    return limit.tends_to(first, second, end, what=what, domain=domain)
