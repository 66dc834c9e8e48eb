r"""Remark 1 (`rem:1`): \(V=T^\gamma\), \(\rho=1-T^{-\phi}\). Which rates hold, and which argument gives them.

The printed regret is refuted: no V gets below \(\sqrt{T\log T}\). That both quantities are sublinear is true, whatever
γ, by the region alone: it gives \(\sqrt{T\log T}+T^\phi\log T\) for the regret and \(T^\phi\log T\) for the cost
violation. For the latter one bound must do for the mean costs of all rounds, as the paper's drift constant has it, or
constant admission be affordable up to every round. What the printed argument gives is judged in `remark1_drift`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Check, Claim, Context, Correction, Given, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equal
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.control.lambert_sum import (
    abel_step,
    beyond_rate,
    lambert_closed,
    lambert_summand,
    peak_step,
    worst_policy,
)
from proofs_check.groundwork.regret.envelope import regret_end
from proofs_check.groundwork.regret.expansion import (
    LIMIT,
    antiderivative,
    falling,
    leading_order,
    spread_order,
)
from proofs_check.groundwork.regret.orders import RATIONAL, diverges, tends_to
from proofs_check.groundwork.regret.region_rates import (
    BETWEEN,
    gamma,
    highest,
    phi,
    region_exponents,
    violation_order,
)
from proofs_check.groundwork.regret.regret_floor import (
    added_up,
    gap,
    grows_with_rho,
    mismatch_from_below,
    narrowest,
)
from proofs_check.groundwork.regret.transient import most_samples
from proofs_check.groundwork.reuse.corners import always
from proofs_check.notation import K, V, rho, said, written
from theory.algebra import ball
from theory.rates import (
    regret_rate_as_stated,
    remark_1_as_stated,
    remark_1_by_region,
)
from theory.regret_expansion import regret_expansion, regret_lower_bound
from theory.setting import Region
from theory.transient import spread_bound
from theory.violation import cost_violation_rate_as_stated

T, A, C = sp.symbols("T A C", positive=True)
SPREAD = Given(
    "thm:dpp-regret/spread",
    "that the bounds of two policies inside the region differ by spread_bound at most",
)
EXPANDS = Given(
    "thm:dpp-regret/expansion", "that constant admission's regret is the expansion to O(1), whatever ρ"
)


# --- as printed --------------------------------------------------------------------------------------------


def printed_exponents() -> Evidence:
    """The printed rates at V = T^γ, 1-ρ = T^-φ are those powers of T, and `remark_1_as_stated` has their exponents."""
    regret, violation = remark_1_as_stated(gamma, phi)
    domain = "every 0 < γ, φ < 1"
    close = 1 - T**-phi
    return together(
        equal(
            regret_rate_as_stated(T, T**gamma, close),
            T ** (1 - gamma) + T**phi + sp.log(T),
            domain=domain,
            what="the printed regret and its powers",
        ),
        equal(
            sp.expand(cost_violation_rate_as_stated(T, T**gamma, close) ** 2),
            T ** (1 + gamma) + T ** (gamma + phi),
            domain=domain,
            what="the printed violation squared and its powers",
        ),
        always(sp.Eq(regret, highest(1 - gamma, phi)), given=BETWEEN, domain=domain),
        always(sp.Eq(2 * violation, highest(1 + gamma, gamma + phi)), given=BETWEEN, domain=domain),
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
        domain="γ = 3/4, φ = 1/4, K = 2, any Λ̄ and constants, V = T^γ, ρ = 1 - T^-φ; any A; T → ∞",
        example={"T": "1e24", **{name: x.str(5, radius=False) for name, x in example.items()}},
    )
    return obeying(
        found,
        {
            "μ >= 1/n - 2/N(s)": mismatch_from_below(),
            "N(s) >= Λ̄(1-ρ)s": narrowest(),
            "N <= Λ̄(t+S)": most_samples(),
            "the first two terms save Σd": gap(),
            "the third term falls": falling(),
            "H is its integral": antiderivative(),
            "Reg >= regret_lower_bound": added_up(),
            "the expansion ~ limit·√(T log T)": leading_order(),
            "the lower bound subtracts O(T^φ·log T)": grows_with_rho(),
            "the printed exponents": printed_exponents(),
        },
    )


# --- by the region -----------------------------------------------------------------------------------------


def region_regret(context: Context) -> Evidence:
    """The largest regret of any policy inside the region at ρ = 1 - T^-φ, against expansion and spread."""

    def region(p: Any) -> Region:
        return Region(rate=10, rho=1 - Fraction(1, p["1/(1-rho)"]))

    def right(p: Any) -> Any:
        numbers = RATIONAL.map(ball)
        expansion = regret_expansion(ball(p["K"]), ball(10), ball(p["T"]), numbers)
        return expansion + spread_bound(p["K"], region(p).map(ball), numbers).total

    cases = (
        ((10**8, 10**4),) if context.profile == "quick" else ((10**8, 10**2), (10**8, 10**4), (10**12, 10**9))
    )
    return compare(
        lambda p: regret_end(p["K"], region(p), p["T"], RATIONAL, stated=False, upper=True),
        "<=",
        right,
        [{"T": horizon, "1/(1-rho)": wide, "K": 3} for horizon, wide in cases],
        domain="Λ̄ = 10, rational constants, with χ: Reg <= expansion + spread_bound, every policy inside the "
        "region",
    )


def half_power() -> Evidence:
    """T^φ·log T is of lower order than √(T log T) for φ = 1/2 - q < 1/2."""
    q = sp.Symbol("q", positive=True)
    return tends_to(
        T ** (sp.Rational(1, 2) - q) * sp.log(T) / sp.sqrt(T * sp.log(T)),
        T,
        sp.Integer(0),
        what="T^φ·log T over √(T log T)",
        domain="every φ = 1/2 - q < 1/2",
    )


def sublinear() -> Evidence:
    """T^φ·log T, φ = 1-q < 1, and √(T log T), over T."""
    q = sp.Symbol("q", positive=True)
    return together(
        tends_to(
            T ** (1 - q) * sp.log(T) / T,
            T,
            sp.Integer(0),
            what="T^φ·log T over T",
            domain="every φ = 1-q < 1",
        ),
        tends_to(
            sp.sqrt(T * sp.log(T)) / T, T, sp.Integer(0), what="√(T log T) over T", domain="whatever γ, φ"
        ),
    )


SUBLINEAR: dict[str, Check | tuple[Check, ...]] = {
    "regret": (leading_order, spread_order, confirming(region_regret)),
    "violation": (
        worst_policy,
        peak_step,
        abel_step,
        beyond_rate,
        lambert_summand,
        lambert_closed,
        violation_order,
    ),
    "rates": (sublinear, region_exponents),
}
WHY = (
    "Constant admission lies inside the region and its regret is the expansion to O(1), of order √(T log T) "
    "whatever ρ (thm:dpp-regret/expansion). Any other policy's bound differs from it by spread_bound at most "
    "(thm:dpp-regret/spread), which is of order h·log h with h = 1/(1-ρ) = T^φ. The violation: "
    "E[cΛ] <= E[c]Λ_max(t) = E[c]Λ̄(1+ρ^t/(1-ρ^t)), as c >= 0. If E[c(t)] <= c_max in every round and the T rounds "
    "together are affordable, Σ(E[c]Λ̄-C) <= 0 and the rest is at most c_max·Λ̄·S, S = Σρ^t/(1-ρ^t); if constant "
    "admission is affordable up to every round, summation by parts gives C·S. S lies below lambert_bound (see "
    "thm:dpp-cost-constraint), which is of order h·log h as well."
)

COSTS = (
    "constant admission is affordable, Λ̄Σ_{t<=T}E[c(t)] <= CT, with one bound E[c(t)] <= c_max for all rounds and "
    "horizons; or, with costs of any size, affordable up to every round t <= T"
)

CLAIMS = [
    Claim(
        id="rem:1",
        kind="remark",
        title="Reg = O(T^(1-γ) + T^φ + log T) for V = T^γ, ρ = 1-T^-φ",
        statement="With V = T^γ and ρ = 1-T^-φ the regret is of order T^(1-γ) + T^φ + log T and the cost "
        "violation of order T^((1+γ)/2) + T^((γ+φ)/2).",
        formula=written(
            r"\mathrm{Reg}=O\bigl(@r\bigr),\quad\mathrm{Vio}^{\mathrm S}=O\bigl(@v\bigr)\quad "
            r"(V=T^\gamma,\ \rho=1-T^{-\phi})",
            "Reg = O(@r), Vio^S = O(@v) at V = T^γ, ρ = 1-T^-φ",
            r=regret_rate_as_stated(T, V, rho),
            v=cost_violation_rate_as_stated(T, V, rho),
        ),
        domain="0 < γ, φ < 1, K >= 1",
        checks=(rates_limit,),
        corrected=Correction(
            title="Reg = O(√(T log T) + T^φ·log T), Vio^S = O(T^φ·log T), whatever γ",
            statement=said(
                "Whatever γ, the regret (with χ) of every policy inside the region is O(√(T log T) + T^φ·log "
                "T). For K >= 2 and φ < 1/2 it is, in both forms, at least (@limit - o(1))·√(T log T), "
                "however large γ. The cost violation is O(T^φ·log T).",
                limit=LIMIT,
            ),
            formula=written(
                r"\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log T),\quad\mathrm{Reg}\ge\bigl(@limit-o(1)\bigr)\sqrt{T\log T}"
                r"\ (\phi<\tfrac12),\quad\mathrm{Vio}^{\mathrm S}=O(T^\phi\log T)",
                "Reg = O(√(T log T) + T^φ·log T); Reg ≥ (@limit - o(1))·√(T log T) if φ < 1/2; Vio^S = "
                "O(T^φ·log T)",
                limit=LIMIT,
            ),
            symbols={"O": "of that order at most, whatever γ", "o": "of lower order"},
            hypotheses=(
                "the policy stays inside the region",
                "KΛ̄ = ΣB",
                COSTS,
            ),
            given=(WRITTEN, EXPANDS, SPREAD),
            sketch=f"{WHY} From below, in both forms: Reg >= theory.regret_lower_bound, which holds for every T and ρ "
            "(its proof is told under eq:dpp-regret). It is the expansion less a first part, H at 1+S in place of "
            "T, which is o(h), and less what the first two terms can save, of order h·log T: not only where n "
            "exceeds KΛ̄ or N exceeds KΛ̄t, but in every round, because the memory's share of all uses lowers "
            "χ. For φ < 1/2 both are of lower order than √(T log T).",
            parts=("regret, from above", "regret, from below", "violation"),
            checks={
                "regret, from above": SUBLINEAR["regret"],
                "regret, from below": (
                    mismatch_from_below,
                    narrowest,
                    most_samples,
                    gap,
                    falling,
                    antiderivative,
                    added_up,
                    leading_order,
                    grows_with_rho,
                    half_power,
                ),
                "violation": SUBLINEAR["violation"],
            },
        ),
    ),
    Claim(
        id="rem:1/sublinear",
        kind="remark",
        title="regret and violation are sublinear for all γ, φ in (0,1)",
        statement="For every γ and φ between 0 and 1 both the regret and the cost violation are sublinear in T. "
        "(By the region alone, whatever γ, for every policy inside it. The costs are bounded as the paper's uniform "
        "drift constant has it; if they may grow with T, an affordable average is not enough, see "
        "thm:dpp-cost-constraint/largest.)",
        formula=written(
            r"\mathrm{Reg}=O(T^{@r}\log T)=o(T),\quad\mathrm{Vio}^{\mathrm S}=O(T^{@v}\log T)=o(T)",
            "Reg = O(T^(@r)·log T) = o(T), Vio^S = O(T^@v·log T) = o(T)",
            r=remark_1_by_region(phi)[0].replace(sp.Min, lambda *x: -sp.Max(*(-a for a in x))),
            v=remark_1_by_region(phi)[1],
        ),
        symbols={"O": "of that order at most, whatever γ", "o": "of lower order than"},
        domain=f"0 < γ, φ < 1; KΛ̄ = ΣB, the bound with χ; {COSTS}",
        parts=tuple(SUBLINEAR),
        checks=SUBLINEAR,
        given=(WRITTEN, EXPANDS, SPREAD),
        sketch=WHY,
    ),
]
