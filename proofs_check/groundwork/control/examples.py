"""Regions, constants and costs of the examples about control."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.symbols import rate
from theory.setting import Constants, Region

UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
SETTING = UNIT.map(float)
LIGHTER = Constants(D=1, sigma=1, eta=1, B=Fraction(1, 100), Pdim=4)
# no two alike, so that none can take another's place; B small, so that the first two terms show
UNLIKE = Constants(D=3, sigma=2, eta=Fraction(1, 5), B=Fraction(1, 50), Pdim=2)

h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
WIDE = Region(rate=rate, rho=1 - 1 / h)

EVERY_HORIZON = (
    "constant admission is affordable at every horizon, "
    r"$\bar\Lambda\sum_{s\le t}\mathbb E[c(s)]\le Ct$ for every $t$"
)


def tight_regions(powers: Iterable[int]) -> list[dict[str, Any]]:
    """Grid points 1 - ρ = 10^-e with Λ̄ = 10."""
    return [{"1 - rho": f"1e-{e}", "region": Region(rate=10, rho=1 - Fraction(1, 10**e))} for e in powers]
