"""Remark 1 by the region alone: the exponents of T that expansion, spread and Lambert sum have for 1-ρ = T^-φ."""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.orders import ALONG, h
from theory.rates import remark_1_by_region
from theory.violation import lambert_bound

gamma, phi = sp.symbols("gamma phi", positive=True)
BETWEEN = [gamma < 1, phi < 1]


def highest(*exponents: Any) -> Any:
    """The highest of some exponents: that of their sum."""
    return sp.Max(*exponents, evaluate=False)


def violation_order() -> Evidence:
    """The bound on Σρ^t/(1-ρ^t), over h·log h."""
    return tends_to(
        lambert_bound(ALONG.rho) / (h * sp.log(h)),
        h,
        1,
        what=r"the bound over $h\log h$",
        domain=r"$h=1/(1-\rho)=T^\phi\to\infty$",
    )


def region_exponents() -> Evidence:
    """`remark_1_by_region` has the exponents of √(T log T), T^φ·log T, and is below 1."""
    regret, violation = remark_1_by_region(phi)
    return together(
        always(sp.Eq(regret, highest(sp.Rational(1, 2), phi)), domain=r"expansion $1/2$, spread $\phi$"),
        equal(violation, phi, domain=r"every $\phi$", what="the violation's exponent and the Lambert sum's"),
        always([regret < 1, sp.Lt(violation, 1)], given=[phi < 1], domain=r"every $\phi<1$, any $\gamma$"),
    )
