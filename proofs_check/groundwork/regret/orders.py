"""What the claims about orders share: symbols, grids, and evidence about single limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.engines.limit import eventually, limit
from proofs_check.evidence import Evidence, fails, holds, together, undecided
from theory.setting import Constants, Region

t = sp.Symbol(
    "t", positive=True
)  # a real variable, for limits; K, rate and the constants are those of notation


RATIONAL = Constants(
    D=Fraction(3, 2), sigma=Fraction(4, 3), eta=Fraction(1, 5), B=Fraction(2, 7), Pdim=6, E=3
)  # all different, so that none stands in for another
UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
ALL = "every K >= 1, Λ̄, D, σ, η, E, B, Pdim > 0; T → ∞"
HORIZONS = tuple(10**e for e in (3, 6, 9, 12, 15))


def links(*several: Callable[[], Evidence]) -> Callable[[], Evidence]:
    """One check from several links of an argument: it holds only if every one of them does."""

    def all_links() -> Evidence:
        return together(*(link() for link in several))

    return all_links


def tight_regions(powers: Iterable[int]) -> list[dict[str, Any]]:
    """Grid points 1 - ρ = 10^-e with Λ̄ = 10."""
    return [{"1 - rho": f"1e-{e}", "region": Region(rate=10, rho=1 - Fraction(1, 10**e))} for e in powers]


def diverges(
    expression: Any, variable: Any, *, what: str, domain: str, probes: Iterable[int] = (), **certificate: Any
) -> Evidence:
    """Evidence against "bounded": the expression tends to infinity with the variable. With its values at the probes."""
    found = limit(eventually(expression, variable), variable)
    values = {f"{variable}={p:.0e}": str(sp.N(expression.subs(variable, p), 8)) for p in probes}
    shown = {
        **certificate,
        "expression": expression,
        **({"values": values} if values else {}),
        "limit": found,
    }
    if found == sp.oo:
        return fails("limit", f"{what} tends to infinity", domain=domain, certificate=shown)
    return undecided("limit", f"{what} has the limit {found}", domain=domain, certificate=shown)


def tends_to(expression: Any, variable: Any, expected: Any, *, what: str, domain: str) -> Evidence:
    """Evidence for one limit; open where SymPy finds another form of it or none."""
    found = limit(eventually(expression, variable), variable)
    shown = {"expression": expression, "limit": found}
    if found is not None and sp.simplify(found - expected) == 0:
        return holds("limit", f"{what} tends to {expected}", domain=domain, certificate=shown)
    return undecided(
        "limit", f"{what} has the limit {found}, expected {expected}", domain=domain, certificate=shown
    )
