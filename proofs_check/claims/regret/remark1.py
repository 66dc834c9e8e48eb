r"""Remark 1 (`rem:1`): \(V=T^\gamma\), \(\rho=1-T^{-\phi}\). Which rates hold, and which argument gives them.

The printed regret is refuted: no V gets below \(\sqrt{T\log T}\). That both quantities are sublinear is true, whatever
γ, by the region alone. For the cost violation one bound must do for the mean costs of all rounds, as the paper's drift
constant has it, or constant admission be affordable up to every round. What the printed argument gives is judged in
`remark1_drift`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Check, Claim, Context, Correction, Given, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equations
from proofs_check.engines.limit import diverges, tends_to
from proofs_check.engines.smt import steps
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.regret import region_rates
from proofs_check.groundwork.regret.envelope import regret_end
from proofs_check.groundwork.regret.expansion import LIMIT, leading_order, spread_order
from proofs_check.groundwork.regret.orders import RATIONAL, SPREAD, T
from proofs_check.groundwork.regret.region_rates import BETWEEN, gamma, highest, phi
from proofs_check.groundwork.regret.regret_floor import FLOOR, grows_with_rho
from proofs_check.symbols import K, V, rho
from proofs_check.text import said
from theory.algebra import ball
from theory.rates import regret_rate_as_stated, remark_1_as_stated, remark_1_by_region
from theory.regret_expansion import regret_expansion, regret_lower_bound
from theory.setting import Region
from theory.transient import spread_bound
from theory.violation import cost_violation_rate_as_stated

A, q = sp.symbols("A q", positive=True)
EXPANDS = Given(
    "thm:dpp-regret/expansion",
    r"that constant admission's regret is the expansion to $O(1)$, whatever $\rho$",
)

# --- as printed --------------------------------------------------------------------------------------------


def printed_exponents() -> Evidence:
    """The printed rates at V = T^γ, 1-ρ = T^-φ are those powers of T, and `remark_1_as_stated` has their exponents."""
    regret, violation = remark_1_as_stated(gamma, phi)
    domain, setting = r"every $0<\gamma,\phi<1$", (T, T**gamma, 1 - T**-phi)
    powers = T ** (1 - gamma) + T**phi + sp.log(T), T ** (1 + gamma) + T ** (gamma + phi)
    return together(
        equations(
            (regret_rate_as_stated(*setting), powers[0], "the printed regret and its powers"),
            (
                sp.expand(cost_violation_rate_as_stated(*setting) ** 2),
                powers[1],
                "the printed violation squared and its powers",
            ),
            domain=domain,
        ),
        steps(
            (sp.Eq(regret, highest(1 - gamma, phi)), BETWEEN, domain),
            (sp.Eq(2 * violation, highest(1 + gamma, gamma + phi)), BETWEEN, domain),
        ),
    )


def rates_limit() -> Evidence:
    """γ = 3/4, φ = 1/4: half of the expansion's order, less any multiple of T^φ·log T, over the printed rate.

    By the facts named, the regret of every policy inside the region is more than that for large T, in both forms.
    """
    weight, width = T ** sp.Rational(3, 4), T ** sp.Rational(1, 4)
    horizon, region = 10**24, Region(rate=5, rho=1 - Fraction(1, 10**6)).map(ball)
    example = {
        "regret_lower_bound": regret_lower_bound(ball(2), region, ball(horizon), RATIONAL.map(ball)),
        "printed rate": regret_rate_as_stated(ball(horizon), ball(horizon**3).root(4), region.rho),
    }
    found = diverges(
        (LIMIT.subs(K, 2) / 2 * sp.sqrt(T * sp.log(T)) - A * width * sp.log(T))
        / regret_rate_as_stated(T, weight, 1 - 1 / width),
        T,
        what="what every policy inside the region pays, over the printed rate,",
        domain=r"$\gamma=3/4$, $\phi=1/4$, $K=2$, any $\bar\Lambda$ and constants, $V=T^\gamma$, "
        r"$\rho=1-T^{-\phi}$; any $A$; $T\to\infty$",
        example={"T": "1e24", **{name: x.str(5, radius=False) for name, x in example.items()}},
    )
    facts = {name: fact() for name, fact in FLOOR.items()} | {
        r"the expansion is asymptotic to the limit times $\sqrt{T\log T}$": leading_order(),
        r"the lower bound subtracts $O(T^\phi\log T)$": grows_with_rho(),
        "the printed exponents": printed_exponents(),
    }
    return obeying(found, facts)


# --- by the region -----------------------------------------------------------------------------------------


def region_regret(context: Context) -> Evidence:
    """The largest regret of any policy inside the region at ρ = 1 - T^-φ, against expansion and spread."""

    def region(p: Any) -> Region:
        return Region(rate=10, rho=1 - Fraction(1, p["1/(1-rho)"]))

    def right(p: Any) -> Any:
        numbers = RATIONAL.map(ball)
        expansion = regret_expansion(ball(p["K"]), ball(10), ball(p["T"]), numbers)
        return expansion + spread_bound(p["K"], region(p).map(ball), numbers).total

    more = ((10**8, 10**2), (10**8, 10**4), (10**12, 10**9))
    return compare(
        lambda p: regret_end(p["K"], region(p), p["T"], RATIONAL, stated=False, upper=True),
        "<=",
        right,
        [{"T": horizon, "1/(1-rho)": wide, "K": 3} for horizon, wide in context.choose(more[1:2], more)],
        domain=r"$\bar\Lambda=10$, rational constants, with $\chi$: "
        r"$\mathrm{Reg}\le\text{expansion}+\text{spread bound}$, every policy inside the region",
    )


def sublinear() -> Evidence:
    return together(
        tends_to(T ** (1 - q) * sp.log(T) / T, T, 0, what=r"$T^\phi\log T$ over $T$", domain=r"$\phi=1-q<1$"),
        tends_to(sp.sqrt(T * sp.log(T)) / T, T, 0, what=r"$\sqrt{T\log T}$ over $T$", domain=r"any $\phi$"),
    )


SUBLINEAR: dict[str, Check | tuple[Check, ...]] = {
    "regret": (leading_order, spread_order, confirming(region_regret)),
    "violation": (
        lambert_sum.worst_policy,
        lambert_sum.peak_step,
        lambert_sum.abel_step,
        lambert_sum.beyond_rate,
        lambert_sum.lambert_summand,
        lambert_sum.lambert_closed,
        region_rates.violation_order,
    ),
    "rates": (sublinear, region_rates.region_exponents),
}
WHY = (
    "Constant admission lies inside the region and its regret is the expansion to $O(1)$, of order "
    r"$\sqrt{T\log T}$ whatever $\rho$ (thm:dpp-regret/expansion). Any other policy's bound differs from it "
    r"by spread_bound at most (thm:dpp-regret/spread), which is of order $h\log h$ with "
    r"$h=1/(1-\rho)=T^\phi$. The violation: $\mathbb E[c\Lambda]\le\mathbb E[c]\Lambda_{\max}(t)=\mathbb "
    r"E[c]\bar\Lambda(1+\rho^t/(1-\rho^t))$, as $c\ge0$. If $\mathbb E[c(t)]\le "
    r"c_{\max}$ in every round and the $T$ rounds together are affordable, $\sum(\mathbb "
    r"E[c]\bar\Lambda-C)\le0$ and the rest is at most $c_{\max}\cdot\bar\Lambda\cdot S$, $S=\sum "
    r"\rho^t/(1-\rho^t)$; if constant admission is affordable up to every round, summation by parts gives "
    r"$C\cdot S$. $S$ lies below lambert_bound (see thm:dpp-cost-constraint), which is of order $h\log h$ "
    "as well."
)

COSTS = (
    r"constant admission is affordable, $\bar\Lambda\sum_{t\le T}\mathbb E[c(t)]\le CT$, with one bound "
    r"$\mathbb E[c(t)]\le c_{\max}$ for all rounds and horizons; or, with costs of any size, affordable up "
    r"to every round $t\le T$"
)

CLAIMS = [
    Claim(
        id="rem:1",
        kind="remark",
        title=r"$\mathrm{Reg}=O(T^{1-\gamma}+T^\phi+\log T)$ for $V=T^\gamma$, $\rho=1-T^{-\phi}$",
        statement=r"With $V=T^\gamma$ and $\rho=1-T^{-\phi}$ the regret is of order "
        r"$T^{1-\gamma}+T^\phi+\log T$ and the cost violation of order "
        r"$T^{(1+\gamma)/2}+T^{(\gamma+\phi)/2}$.",
        formula=said(
            r"\mathrm{Reg}=O\bigl(@r\bigr),\quad\mathrm{Vio}^{\mathrm S}=O\bigl(@v\bigr)\quad (V=T^\gamma,\ "
            r"\rho=1-T^{-\phi})",
            r=regret_rate_as_stated(T, V, rho),
            v=cost_violation_rate_as_stated(T, V, rho),
        ),
        domain=r"$0<\gamma$, $\phi<1$, $K\ge1$",
        checks=(rates_limit,),
        corrected=Correction(
            title=r"$\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log T)$, "
            r"$\mathrm{Vio}^{\mathrm S}=O(T^\phi\log T)$, whatever $\gamma$",
            statement=said(
                r"Whatever $\gamma$, the regret (with $\chi$) of every policy inside the region is "
                r"$O(\sqrt{T\log T}+T^\phi\log T)$. For $K\ge2$ and $\phi<1/2$ it is, in both forms, at "
                r"least $(@limit-o(1))\sqrt{T\log T}$, however large $\gamma$. The cost violation is "
                r"$O(T^\phi\log T)$.",
                limit=LIMIT,
            ),
            formula=said(
                r"\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log "
                r"T),\quad\mathrm{Reg}\ge\bigl(@limit-o(1)\bigr)\sqrt{T\log T}\ "
                r"(\phi<\tfrac12),\quad\mathrm{Vio}^{\mathrm S}=O(T^\phi\log T)",
                limit=LIMIT,
            ),
            symbols={"O": r"of that order at most, whatever $\gamma$", "o": "of lower order"},
            hypotheses=("the policy stays inside the region", r"$K\bar\Lambda=\sum B$", COSTS),
            given=(WRITTEN, EXPANDS, SPREAD),
            sketch=rf"{WHY} From below, in both forms: the regret is at least theory.regret_lower_bound, which "
            r"holds for every $T$ and $\rho$ (its proof is told under eq:dpp-regret). It is the expansion less a "
            r"first part, $H$ at $1+S$ in place of $T$, which is $o(h)$, and less what the first two terms can save, "
            r"of order $h\log T$: not only where $n$ exceeds $K\bar\Lambda$ or $N$ exceeds $K\bar\Lambda t$, but "
            r"in every round, because the memory's share of all uses lowers $\chi$. For $\phi<1/2$ both are of "
            r"lower order than $\sqrt{T\log T}$.",
            checks={
                "regret, from above": SUBLINEAR["regret"],
                "regret, from below": (
                    *FLOOR.values(),
                    leading_order,
                    grows_with_rho,
                    lambda: tends_to(
                        T ** (sp.Rational(1, 2) - q) * sp.log(T) / sp.sqrt(T * sp.log(T)),
                        T,
                        0,
                        what=r"$T^\phi\log T$ over $\sqrt{T\log T}$",
                        domain=r"every $\phi=1/2-q<1/2$",
                    ),
                ),
                "violation": SUBLINEAR["violation"],
            },
        ),
    ),
    Claim(
        id="rem:1/sublinear",
        kind="remark",
        title=r"regret and violation are sublinear for all $\gamma$, $\phi$ in (0,1)",
        statement=r"For every $\gamma$ and $\phi$ between 0 and 1 both the regret and the cost violation "
        r"are sublinear in $T$. (By the region alone, whatever $\gamma$, for every policy inside it. The "
        "costs are bounded as the paper's uniform drift constant has it; if they may grow with $T$, an "
        "affordable average is not enough, see thm:dpp-cost-constraint/largest.)",
        formula=said(
            r"\mathrm{Reg}=O(T^{@r}\log T)=o(T),\quad\mathrm{Vio}^{\mathrm S}=O(T^{@v}\log T)=o(T)",
            r=remark_1_by_region(phi)[0].replace(sp.Min, lambda *x: -sp.Max(*(-a for a in x))),
            v=remark_1_by_region(phi)[1],
        ),
        symbols={"O": r"of that order at most, whatever $\gamma$", "o": "of lower order than"},
        domain=rf"$0<\gamma,\phi<1$; $K\bar\Lambda=\sum B$, the bound with $\chi$; {COSTS}",
        checks=SUBLINEAR,
        given=(WRITTEN, EXPANDS, SPREAD),
        sketch=WHY,
    ),
]
