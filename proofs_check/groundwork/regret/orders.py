"""What the claims about orders share: symbols, grids, and evidence about single limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.evidence import Evidence, together
from theory.setting import Constants, Region

t = sp.Symbol(
    "t", positive=True
)  # a real variable, for limits; K, rate and the constants are those of notation


RATIONAL = Constants(
    D=Fraction(3, 2), sigma=Fraction(4, 3), eta=Fraction(1, 5), B=Fraction(2, 7), Pdim=6, E=3
)  # all different, so that none stands in for another
UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
ALL = r"every $K\ge1$, $\bar\Lambda$, $D$, $\sigma$, $\eta$, $E$, $B$, $\mathrm{Pdim}>0$; $T\to\infty$"
HORIZONS = tuple(10**e for e in (3, 6, 9, 12, 15))


def links(*several: Callable[[], Evidence]) -> Callable[[], Evidence]:
    """One check from several links of an argument: it holds only if every one of them does."""

    def all_links() -> Evidence:
        return together(*(link() for link in several))

    return all_links


def tight_regions(powers: Iterable[int]) -> list[dict[str, Any]]:
    """Grid points 1 - ρ = 10^-e with Λ̄ = 10."""
    return [{"1 - rho": f"1e-{e}", "region": Region(rate=10, rho=1 - Fraction(1, 10**e))} for e in powers]
