"""The order of Ω₁, and what every policy inside the region shares with constant admission at fixed ρ."""

from __future__ import annotations

from functools import cache

import sympy as sp

from proofs_check.engines.limit import converges, diverges, equivalent, tends_to
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.envelope import eventual_range
from proofs_check.groundwork.regret.every_policy import every_policy, widens
from proofs_check.groundwork.regret.expansion import omega3_order
from proofs_check.groundwork.regret.orders import ALL, UNIT, t
from proofs_check.groundwork.regret.transient import fewest_samples
from proofs_check.symbols import CONSTANTS, K, rate
from theory.algebra import ratio
from theory.bound import Terms, generalisation_term, round_terms
from theory.constant_admission import constant_round
from theory.penalty import penalty_limit
from theory.regret import omega1_limit
from theory.reuse import inverse_effective_constant, occupancy_constant

__all__ = ["corrected_order", "lipschitz_near_zero", "narrows", "omega1_round", "omega3_order"]

lag, lambert = sp.symbols("lag S", positive=True)  # ρ/(1-ρ) and the Lambert sum
SUMMABLE = sp.Rational(5, 4)  # t^(-3/2)·√log t is below t^(-5/4) in the end


def omega1_round(*, stated: bool) -> Terms:
    """Round t of Ω₁ under constant admission: the bound's round less the penalty, with ηE where the bound has it."""
    if not stated:
        return constant_round(K, t, rate, CONSTANTS) - penalty_limit(K, t, rate, CONSTANTS.merged)
    inverse = inverse_effective_constant(K, t, rate)
    gap = ratio(1, occupancy_constant(K, t, rate)) - inverse
    return round_terms(gap, inverse, rate * t, CONSTANTS) - penalty_limit(K, t, rate, CONSTANTS)


@cache
def narrows(*, stated: bool) -> Evidence:
    """The range of a round over all policies inside the region has a summable width, at fixed ρ.

    It is that of `envelope.eventual_range`: the proved one with ρ^s replaced by t^-2, which is larger in the end, and
    N(s) by Λ̄(s-lag). The root term's width is that of the linear term divided by (√low + √high)·ησ/D, which tends to a
    positive number.
    """
    growth = sp.Symbol("g", positive=True)  # ρ = 1/(1+g)
    low, high = eventual_range(
        K, t, rate, lag, lambert, CONSTANTS if stated else CONSTANTS.merged, stated=stated
    )
    domain = (
        f"every policy inside the region, ρ fixed, {'as printed without C₂' if stated else 'with χ'}; {ALL}"
    )
    return together(
        every_policy(stated=stated),
        widens(stated=stated),
        fewest_samples(),
        tends_to(
            t**2 * (1 + growth) ** (-t),
            t,
            sp.Integer(0),
            what=r"$t^2\rho^t$",
            domain="every "
            r"$\rho=1/(1+g)$",
        ),
        converges(high.linear - low.linear, t, power=SUMMABLE, domain=domain),
        converges(high.generalisation - low.generalisation, t, power=SUMMABLE, domain=domain),
        tends_to(
            low.root,
            t,
            CONSTANTS.D * CONSTANTS.sigma / sp.sqrt(K * rate),
            what="the root term's lower end",
            domain=domain,
        ),
    )


@cache
def corrected_order() -> Evidence:
    """Ω₁ over log T, under constant admission and with χ: its first two terms one by one; the third is summable."""
    one, limit = omega1_round(stated=False), omega1_limit(K, rate, CONSTANTS)
    domain = f"with χ, constant admission; {ALL}"
    return together(
        equivalent(one.root, t, sp.log(t), limit.root, domain=f"root term, {domain}"),
        equivalent(one.linear, t, sp.log(t), limit.linear, domain=f"linear term, {domain}"),
        converges(one.generalisation, t, power=SUMMABLE, domain=f"third term, {domain}"),
    )


def lipschitz_near_zero() -> Evidence:
    """f(x)/x at x = 1/N, with f(0) = 0: a Lipschitz map would keep it bounded."""
    N = sp.Symbol("N", positive=True)
    return diverges(
        generalisation_term(1 / N, N, UNIT) * N,
        N,
        what="$f(x)/x$ at $x=1/N$",
        domain=r"$f(x)=10B\sqrt{\mathrm{Pdim}\cdot x}\cdot\sqrt{1+\log(1/(\mathrm{Pdim}\cdot x))}$, "
        r"constants 1, $\mathrm{Pdim}$ 5; $x\to0$",
        probes=(10**2, 10**6, 10**12),
    )
