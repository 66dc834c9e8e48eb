"""What the claims about orders share: symbols, grids, constants, and evidence term by term."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Given
from proofs_check.engines.identity import equations
from proofs_check.engines.limit import tends_to
from proofs_check.evidence import Evidence, together
from proofs_check.symbols import CONSTANTS, rate
from theory.bound import PER_ROUND, Terms
from theory.setting import Constants, Region

t, T = sp.symbols("t T", positive=True)  # a real round and a real horizon, for limits and slopes
h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
ALONG = Region(rate=rate, rho=1 - 1 / h)

RATIONAL = Constants(
    D=Fraction(3, 2), sigma=Fraction(4, 3), eta=Fraction(1, 5), B=Fraction(2, 7), Pdim=6, E=3
)  # all different, so that none stands in for another
UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
ALL = r"every $K\ge1$, $\bar\Lambda$, $D$, $\sigma$, $\eta$, $E$, $B$, $\mathrm{Pdim}>0$"
ROOT = CONSTANTS.D * CONSTANTS.sigma / sp.sqrt(rate)  # units of the first two terms
LINEAR = CONSTANTS.eta * CONSTANTS.E * CONSTANTS.sigma**2 / rate
HORIZONS = tuple(10**e for e in (3, 6, 9, 12, 15))
SPREAD = Given(
    "thm:dpp-regret/spread",
    "that the bounds of two policies inside the region differ by spread_bound at most",
)


def links(*several: Callable[[], Evidence]) -> Callable[[], Evidence]:
    """One check from several links of an argument: it holds only if every one of them does."""
    return lambda: together(*(link() for link in several))


def terms_equal(
    found: Terms, expected: Terms, *, what: str, domain: str, names: Iterable[str] = PER_ROUND
) -> Evidence:
    """That each of these terms is the one expected."""
    rows = ((getattr(found, name), getattr(expected, name), f"{what}, {name} term") for name in names)
    return equations(*rows, domain=domain)


def terms_tend(
    found: Terms, expected: Terms, *, over: Any, what: str, domain: str, names: Iterable[str] = PER_ROUND
) -> Evidence:
    """That each of these terms, divided by `over`, tends to the one expected as h = 1/(1-ρ) grows."""
    return together(
        *(
            tends_to(
                getattr(found, name) / over, h, getattr(expected, name), what=f"{what}, {name}", domain=domain
            )
            for name in names
        )
    )
