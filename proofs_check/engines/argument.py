"""Arguments of several links, one row per link: equations by SymPy, inequalities by Z3, limits by expansion.

A positive outcome shows that every link holds, with the strength of the weakest.
"""

from typing import Any

from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together

__all__ = ["argument"]


def argument(*links: Any, domain: str = "") -> Evidence:
    """Test whether all links hold. A link is a row of one of these kinds, or evidence made elsewhere:

    * an equation: left side, right side, what they are, and optionally a domain of its own;
    * an inequality: the inequality, a list of premises, and the domain;
    * a limit: the expression, its variable, the limit, and what it is.

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
    >>> argument((1 / K, K, 0, "1/K")).certificate
    {'expression': '1/K', 'limit': '0'}
    """
    first, *rest = (link if isinstance(link, Evidence) else _shown(*link, domain=domain) for link in links)
    return together(first, *rest) if rest else first


def _shown(first: Any, second: Any, *rest: Any, domain: str) -> Evidence:
    if isinstance(second, list):
        (domain,) = rest
        return always(first, given=second, domain=domain)
    if isinstance(rest[0], str):
        what, domain = (*rest, domain)[:2]
        return equal(first, second, domain=domain, what=what)
    end, what = rest
    return tends_to(first, second, end, what=what, domain=domain)
