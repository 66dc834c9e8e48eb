r"""Remark 1 by the printed argument (`rem:1/drift`): for which γ and φ does drift plus penalty give sublinear rates?

Round 1 alone has a drift constant of order \((1-\rho)^{-2}=T^{2\phi}\). With one constant B for all rounds, as printed,
the regret's bound carries \(BT/V\), and that is sublinear for \(2\phi<\gamma\) alone; with a constant for each round
\(\sum_tB_t/V\), for \(2\phi<1+\gamma\). The region alone needs no such condition.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Correction
from proofs_check.engines.limit import diverges, eventually, tends_to
from proofs_check.engines.smt import always, steps
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.control.drift_step import drift_excess, drift_summand, without_debt
from proofs_check.groundwork.regret import region_rates
from proofs_check.groundwork.regret.expansion import leading_order, spread_order, surrogate_round
from proofs_check.groundwork.regret.orders import ALL, ALONG, T, h
from proofs_check.groundwork.regret.region_rates import BETWEEN, gamma, highest, phi
from proofs_check.symbols import CONSTANTS, C, K, rate
from theory.rates import remark_1_by_drift, remark_1_by_one_constant
from theory.regret import drift_constant, omega2_limit
from theory.setting import Region
from theory.transient import omega2_bound

square = sp.Symbol("second_moment", positive=True)


def drift_grows() -> Evidence:
    """γ = 3/4, φ = 1/2: the printed BT/V with the least possible constant B = B_1, over T."""
    region = Region(rate=rate, rho=1 - T ** sp.Rational(-1, 2))
    found = diverges(
        drift_constant(region, 1, square, C) * T / T ** sp.Rational(3, 4) / T,
        T,
        what="$BT/V$ over $T$",
        domain=r"$\gamma=3/4$, $\phi=1/2$, $B=B_1$, any $\bar\Lambda$, $C$, $E[c^2]$",
    )
    return obeying(found, {r"ACDPP admits $\Lambda_{\max}(1)$, so $B\ge B_1$": without_debt()})


def drift_orders() -> Evidence:
    """The powers of T and h that the drift argument adds up: B_1, ΣB_t, Ω₂, Σp̄; Ω₃ is `leading_order`'s."""
    wide, steady, c = omega2_bound(K, ALONG, CONSTANTS), surrogate_round(T), CONSTANTS.merged
    return together(
        tends_to(
            drift_constant(ALONG, 1, square, C) / h**2,
            h,
            square * rate**2 / 2,
            what="$B_1/h^2$",
            domain=r"$\rho\to1$",
        ),
        drift_excess(),
        drift_summand(),
        tends_to(
            eventually(wide.root + wide.linear, h) / h,
            h,
            omega2_limit(K, rate, CONSTANTS).total,
            what=r"$\Omega_2$'s first two terms, over $h$,",
            domain=rf"$\rho\to1$; {ALL}",
        ),
        tends_to(
            eventually(steady.root + steady.linear, T),
            T,
            c.D * c.sigma / sp.sqrt(K * rate) + c.eta * c.sigma**2 / (K * rate),
            what=r"a round of $\sum\bar p$, less $\Omega_2$,",
            domain=rf"$t\to\infty$; {ALL}",
        ),
    )


def exponents(function: Any, *drift: Any) -> Evidence:
    """The theory's exponents are the highest of those added up: of the drift, Ω₂ (φ), Ω₃ (1/2), VΣp̄ (γ+max(1,φ))."""
    regret, violation = function(gamma, phi)
    most = highest(*(d - gamma for d in drift), phi, sp.Rational(1, 2))
    return steps(
        (sp.Eq(regret, most), BETWEEN, r"the regret, $0<\gamma,\phi<1$"),
        (sp.Eq(2 * violation, highest(*drift, gamma + 1, gamma + phi)), BETWEEN, "the violation, twice"),
    )


def exactly_if(function: Any, condition: Any) -> Evidence:
    regret, violation = function(gamma, phi)
    return always(
        sp.Equivalent(sp.And(regret < 1, violation < 1), condition),
        given=BETWEEN,
        domain=r"both exponents are below 1 if and only if the condition holds; $0<\gamma,\phi<1$",
    )


def one_constant_exponents() -> Evidence:
    return exponents(remark_1_by_one_constant, 1 + 2 * phi)


def one_constant_threshold() -> Evidence:
    return exactly_if(remark_1_by_one_constant, 2 * phi < gamma)


CLAIMS = [
    Claim(
        id="rem:1/drift",
        kind="step",
        title=r"the drift argument gives it for all $\gamma$, $\phi$ in (0,1)",
        statement="The paper's own argument, drift plus penalty with one constant $B$, gives sublinear "
        r"rates for every $\gamma$ and $\phi$ between 0 and 1.",
        formula=r"BT/V=o(T)\quad\forall\gamma,\phi\in(0,1)",
        symbols={"B": "the one constant that bounds the drift's quadratic part", "o": "of lower order than"},
        domain=r"$0<\gamma$, $\phi<1$",
        checks=(drift_grows,),
        hypotheses=(r"$2\phi<\gamma$",),
        checks_with_hypotheses={
            "orders": (drift_orders, leading_order),
            "exponents": one_constant_exponents,
            "threshold": one_constant_threshold,
        },
        given=(WRITTEN,),
        corrected=Correction(
            title=r"with one $B$ if and only if $2\phi<\gamma$, with a $B_t$ per round if and only if "
            r"$2\phi<1+\gamma$; the region: every $\phi<1$",
            statement=r"Round 1 alone has $B_1$ of order $(1-\rho)^{-2}=T^{2\phi}$. So with one constant "
            r"$B$ the argument carries $BT/V$, of order $T^{1+2\phi-\gamma}$ at least, and gives sublinear "
            r"rates if and only if $2\phi<\gamma$. With a $B_t$ for each round it carries $\sum B_t/V$, of "
            r"order $T^{1-\gamma}+T^{2\phi-\gamma}$, and gives them if and only if $2\phi<1+\gamma$. The "
            r"region alone gives them for every $\phi<1$.",
            formula=r"\tfrac{B_1T}V=\Theta(T^{1+2\phi-\gamma}),\qquad\tfrac1V\sum_tB_t=\Theta(T^{1-\gamma}+T^{2\phi-\gamma})",
            symbols={
                "B_1": "the drift's quadratic part in round 1, bounded",
                "Θ": "of exactly that order",
                "ΣB_t": "their sum",
            },
            given=(WRITTEN,),
            sketch=r"$B_t=(\mathbb E[c^2]\Lambda_{\max}(t)^2+C^2)/2$ exceeds "
            r"$(\mathbb E[c^2]\bar\Lambda^2+C^2)/2$ by a multiple of $h^2\cdot q_t$ with $q_t\le2/t^2$ and "
            r"$h=1/(1-\rho)=T^\phi$: so $\sum B_t$ is at most of order $T+h^2$, and at least, since $B_1$ "
            "is of order $h^2$ and every $B_t$ of order 1. The argument bounds the regret by "
            r"$\sum B_t/V+\Omega_1+\Omega_2+\Omega_3$ with $\Omega_1$ of order $\log T$ (at fixed $\rho$; "
            r"as $\rho$ moves it is of order $h\log T$ at most, which has the exponent of $\Omega_2$), "
            r"$\Omega_2$ of order $h$, $\Omega_3$ of order $\sqrt{T\log T}$, and half the squared violation "
            r"by $\sum B_t+V\sum\bar p$, $\sum\bar p$ being of order $T$ and $\Omega_2$. The exponents are "
            "the highest of those added up; logarithms do not matter for being below 1. With one constant "
            r"put $BT$, $B\ge B_1$, for $\sum B_t$.",
            checks={
                "orders": (drift_orders, leading_order),
                "one constant": (one_constant_exponents, one_constant_threshold),
                "a constant per round": (
                    lambda: exponents(remark_1_by_drift, 1, 2 * phi),
                    lambda: exactly_if(remark_1_by_drift, 2 * phi < 1 + gamma),
                ),
                "the region alone": (
                    region_rates.region_exponents,
                    leading_order,
                    spread_order,
                    region_rates.violation_order,
                ),
            },
        ),
    )
]
