r"""The two violations, and the first round: what the region alone guarantees.

Inside the region \(\sum_{t\le T}\Lambda(t)\le\bar\Lambda(T+S_T)\) with the Lambert sum
\(S_T=\sum_{t\le T}\rho^t/(1-\rho^t)\). Nothing else is needed for either violation: no V, no independence, no queue.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.comparison import histories, placed
from proofs_check.claims.orders import diverges, tight_regions
from proofs_check.claims.slots import one_round
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import fractions, regions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import limit
from proofs_check.engines.simulation import compare_mean, control_loop, drifting, markov, uniform
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, holds, together, undecided
from theory.admission import debt_update
from theory.algebra import ball
from theory.lambert import lambert_partial, lambert_total
from theory.region import region_maximum, region_maximum_total
from theory.setting import Constants, Region
from theory.violation import cost_violation_bound, cost_violation_rate_as_stated

__all__ = [
    "VIOLATIONS",
    "abel_step",
    "lambert_bound",
    "lambert_bounded",
    "lambert_summand",
]

C, V, rate, h = sp.symbols("C V rate h", positive=True)  # h = 1/(1-ρ)
WIDE = Region(rate=rate, rho=1 - 1 / h)
SETTING = Constants(D=1.0, sigma=1.0, eta=1.0, B=1.0, Pdim=5.0)
# The paper's MNIST experiment: ten clients, ΣB = 100, C = 55, mean cost 5.5, so K* = 10 and Λ̄ = 10, exactly affordable
BUDGET, RATE, RETENTION = 55, 10, 10


# --- the Lambert sum ---------------------------------------------------------------------------------------


def lambert_bound(rho: Any) -> Any:
    r"""\(\sqrt\rho\,\log(1/(1-\sqrt\rho))/(1-\rho)\), an upper bound on \(\sum_t\rho^t/(1-\rho^t)\), every ρ."""
    root = rho.sqrt()
    return -root * (1 - root).log() / (1 - rho)


def lambert_summand() -> Evidence:
    """(1-ρ)x/(1-x) <= √ρ·ρ^(t/2)/t for x = ρ^t: g = (1-x)/(1-ρ) >= t·r with r² = ρ^(t-1), and √ρ·ρ^(t/2) = ρ·r."""
    g, r, t, rho, u, v = sp.symbols("g r t rho u v", positive=True)
    return together(
        always(
            rho * r**2 / g <= rho * r / t,
            given=[g >= t * r],
            domain="every 0 < ρ < 1, t >= 1; summed, Σ√ρ^t/t = log(1/(1-√ρ))",
        ),
        always((u**2 + v**2) / 2 >= u * v, domain="ρ^j and ρ^(t-1-j) average at least r: so g >= t·r"),
    )


def lambert_bounded(context: Context) -> Evidence:
    return compare(
        lambda p: lambert_total(p["region"].map(ball).rho),
        "<=",
        lambda p: lambert_bound(p["region"].map(ball).rho),
        tight_regions(context.choose((1, 3, 6), range(1, 10))),
        domain="Σρ^t/(1-ρ^t) against √ρ·log(1/(1-√ρ))/(1-ρ)",
    )


# --- thm:dpp-cost-constraint -------------------------------------------------------------------------------


def first_round_small_weight() -> Evidence:
    """T = 1: without debt the policy admits Λ_max(1) whatever V, so the violation does not vanish with V."""
    T, weight = 1, sp.Symbol("w", positive=True)  # V = 1/w
    region = Region(rate=1, rho=sp.Rational(1, 2))
    violation = debt_update(0, 1, region_maximum(region, 1), 1)
    return diverges(
        violation / cost_violation_rate_as_stated(T, 1 / weight, region.rho),
        weight,
        what="the violation of round 1 divided by the printed rate",
        domain="T = 1, Λ̄ = C = c = 1, ρ = 1/2, V = 1/w, w → ∞",
        **{"Vio^S(1)": violation},
    )


def first_round_wide_region() -> Evidence:
    violation = debt_update(0, C / rate, region_maximum(WIDE, 1), C)
    return diverges(
        violation / cost_violation_rate_as_stated(1, V, WIDE.rho),
        h,
        what="the violation of round 1 divided by the printed rate",
        domain="T = 1, c = C/Λ̄, any V; ρ = 1 - 1/h, h → ∞",
        **{"Vio^S(1)": violation},
    )


def debt_small_weight() -> Evidence:
    weight = sp.Symbol("w", positive=True)  # V = 1/w
    region = Region(rate=1, rho=sp.Rational(1, 2))
    debt = debt_update(0, 1, region_maximum(region, 1), 1)
    return diverges(
        debt**2 / 2 / cost_violation_rate_as_stated(1, 1 / weight, region.rho) ** 2,
        weight,
        what="L(2) divided by V + V/(1-ρ)",
        domain="T = 1, Λ̄ = C = c = 1, ρ = 1/2, V = 1/w, w → ∞",
        **{"Z(2)": debt},
    )


def debt_wide_region() -> Evidence:
    debt = debt_update(0, C / rate, region_maximum(WIDE, 1), C)
    return diverges(
        debt**2 / 2 / cost_violation_rate_as_stated(1, V, WIDE.rho) ** 2,
        h,
        what="L(2) divided by V + V/(1-ρ)",
        domain="T = 1, c = C/Λ̄, any V; ρ = 1 - 1/h, h → ∞",
        **{"Z(2)": debt},
    )


def dear_first_round() -> Evidence:
    """All cost in round 1, c(1) = TC/Λ̄, the rest free: the average over T rounds is C/Λ̄, but no earlier one is."""
    T, odds = sp.symbols("T odds", positive=True)  # odds = ρ/(1-ρ)
    region = Region(rate=rate, rho=odds / (1 + odds))
    violation = T * C / rate * sp.simplify(region_maximum(region, 1)) - C * T
    return diverges(
        violation / cost_violation_rate_as_stated(T, V, region.rho),
        T,
        what="the violation divided by the printed rate",
        domain="costs TC/Λ̄ in round 1 and 0 later, horizon T; any fixed V and ρ = odds/(1+odds)",
        **{"Vio^S(T)": sp.simplify(violation), "average cost times Λ̄": C},
    )


def bounded_beats_growing() -> Evidence:
    t, S = sp.symbols("t S", positive=True)
    found = limit(C * S / cost_violation_rate_as_stated(t, V, 1 - 1 / h), t)
    domain = "V, ρ fixed, T → ∞; the violation is at most C·S(ρ)"
    certificate = {"ratio's limit": found}
    if found == 0:
        return holds(
            "limit", "C·S divided by the printed rate tends to 0", domain=domain, certificate=certificate
        )
    return undecided("limit", f"the ratio tends to {found}", domain=domain, certificate=certificate)


def _prefix_feasible(costs: list[Fraction], budget: Fraction, pace: Fraction) -> list[Fraction]:
    """The costs, each cut so that no prefix averages more than budget/pace."""
    kept: list[Fraction] = []
    for t, cost in enumerate(costs, start=1):
        kept.append(min(cost, budget * t / pace - sum(kept)))
    return kept


def region_bounds_cost(context: Context) -> Evidence:
    """Any mean costs that are affordable on average up to every round, any admissions inside the region."""

    def exceeds(region: Region, costs: list[Fraction], positions: list[Fraction], budget: Fraction) -> Any:
        T = min(len(costs), len(positions))
        means = _prefix_feasible(costs[:T], budget, Fraction(region.rate))
        spent = sum((c * x for c, x in zip(means, placed(region, positions[:T]), strict=True)), Fraction(0))
        bound = budget * lambert_partial(region.rho, T + 1)
        return (
            None
            if spent - budget * T <= bound
            else {"E[c(t)]": means, "violation": spent - budget * T, "bound": bound}
        )

    return search(
        context,
        {
            "region": regions(),
            "costs": st.lists(fractions(0), min_size=1, max_size=8),
            "positions": histories(8).filter(bool),
            "budget": fractions(),
        },
        exceeds,
        domain="mean costs with affordable prefixes, drifting as they like; any admissions inside the region",
        examples=context.choose(60, 400),
    )


def abel_step() -> Evidence:
    """Summation by parts, one step: weights w fall, prefixes P of Σ(E[c]Λ̄-C) are not positive."""
    before, after, prefix = sp.symbols("w_before w_after P", real=True)
    return always(
        prefix * (before - after) <= 0,
        given=[before >= after, prefix <= 0],
        domain="every round: Σ(E[c]Λ̄-C)w_t = ΣP_t(w_t-w_(t+1)) <= 0, with w_t = 1/(1-ρ^t) falling",
    )


def cost_attained() -> Evidence:
    """Costs C/Λ̄ and the upper end in every round: the bound is an equality."""
    T, region = (
        sp.Symbol("T", integer=True, positive=True),
        Region(rate=rate, rho=sp.Symbol("rho", positive=True)),
    )
    spent = C / rate * region_maximum_total(region, T + 1) - C * T
    return equal(
        sp.expand(spent),
        C * lambert_partial(region.rho, T + 1),
        domain="every T, ρ, Λ̄, C",
        what="the violation of always admitting Λ_max and C·Σρ^t/(1-ρ^t)",
    )


def cost_in_the_loop(context: Context) -> Evidence:
    """The real loop, with the costs of the paper, Markov costs and drifting costs, all of mean 5.5 overall."""
    rounds, runs, region = 200, context.choose(1500, 10000), Region(rate=float(RATE), rho=0.9)
    found = []
    bound = float(cost_violation_bound(rounds, region, 5.5, BUDGET))
    most = 10 * float(region_maximum_total(region, rounds + 1)) - BUDGET * rounds
    for costs in (uniform(1, 10), markov(1, 10, 0.6), drifting(4.5, 6.5, 1, rounds)):
        drawn = costs.draw(context.generator(), runs, rounds)
        played = control_loop(drawn, K=RETENTION, V=1000.0, C=float(BUDGET), region=region, constants=SETTING)
        found.append(
            compare_mean(
                (played.spent - BUDGET).sum(axis=0),
                bound,
                low=-float(BUDGET * rounds),
                high=most,
                domain=f"costs {costs.name}; Λ̄ = 10, C = 55, K = 10, V = 1000, ρ = 0.9, T = {rounds}",
                what="Σ(cΛ-C)",
            )
        )
    return together(*found)


VIOLATIONS = [
    Claim(
        id="thm:dpp-cost-constraint",
        kind="theorem",
        title="Vio^S = O(√(VT + V/(1-ρ)))",
        statement="The cumulative cost violation is of order √(VT + V/(1-ρ)), with a constant that depends "
        "on neither V nor ρ nor T (Remark 1 lets all three vary).",
        latex=r"\mathrm{Vio}^{\mathrm S}(T)=O\bigl(\sqrt{VT+V/(1-\rho)}\bigr)",
        unicode="Vio^S(T) = O(√(VT + V/(1-ρ)))",
        domain="every V > 0, 0 < ρ < 1, T >= 1",
        checks=(first_round_small_weight, first_round_wide_region, dear_first_round),
        hypotheses=(
            "V and ρ stay fixed while T grows, and the constant may depend on them",
            "constant admission is affordable on average up to every round: Λ̄ΣE[c(s)] <= Ct for every t <= T",
        ),
        checks_with_hypotheses=(
            lambda: abel_step().about("bound"),
            lambda: bounded_beats_growing().about("rate"),
        ),
        corrected=Correction(
            title="Vio^S <= C·Σρ^t/(1-ρ^t) <= C·log(2/(1-ρ))/(1-ρ): no V, no T, no independence",
            statement="Every policy inside the region has Vio^S(T) <= C·Σ_{t<=T} ρ^t/(1-ρ^t), which is less "
            "than C·log(2/(1-ρ))/(1-ρ) for all T, for any V and any dependence between costs and "
            "admissions, if constant admission is affordable on average up to every round. Always admitting "
            "Λ_max attains it.",
            latex=r"\mathrm{Vio}^{\mathrm S}(T)\le C\sum_{t\le T}\frac{\rho^t}{1-\rho^t}<\frac C{1-\rho}"
            r"\log\frac2{1-\rho}",
            unicode="Vio^S(T) ≤ C·Σρ^t/(1-ρ^t) < (C/(1-ρ))·log(2/(1-ρ))",
            hypotheses=("Λ̄Σ_{s<=t}E[c(s)] <= Ct for every t <= T",),
            sketch="E[cΛ] <= E[c]Λ_max(t) = E[c]Λ̄w_t with w_t = 1/(1-ρ^t), because c >= 0. Then ΣE[c]Λ̄w_t "
            "- CT = Σ(E[c]Λ̄-C)w_t + CΣ(w_t-1), and summation by parts makes the first sum non-positive: w "
            "falls, and the prefixes of E[c]Λ̄-C are not positive. For the closed bound 1-ρ^t >= "
            "(1-ρ)tρ^((t-1)/2), so ρ^t/(1-ρ^t) <= √ρ·√ρ^t/(t(1-ρ)), which sums to √ρ·log(1/(1-√ρ))/(1-ρ), "
            "and 1/(1-√ρ) = (1+√ρ)/(1-ρ).",
            checks=(
                lambda: abel_step().about("bound"),
                lambda context: region_bounds_cost(context).about("bound"),
                lambda: cost_attained().about("attained"),
                lambda: lambert_summand().about("closed bound"),
                lambda context: lambert_bounded(context).about("closed bound"),
                cost_in_the_loop,
            ),
        ),
    ),
    Claim(
        id="eq:cost-proof-3",
        kind="step",
        title="E[L(T+1)] = O(VT) + O(V/(1-ρ))",
        statement="After T rounds the mean Lyapunov function is of order VT + V/(1-ρ): the drift constants "
        "are absorbed.",
        latex=r"E[L(T+1)]=O(VT)+O(V/(1-\rho))",
        unicode="E[L(T+1)] = O(VT) + O(V/(1-ρ))",
        domain="every V > 0, 0 < ρ < 1, T >= 1",
        checks=(debt_small_weight, debt_wide_region),
        corrected=Correction(
            title="E[L(T+1)] <= ΣB_t + VΣp̄^CK: the term T + (1-ρ)^-2, without V, stays",
            statement="The sum of the drift constants, of order T + (1-ρ)^-2 and free of V, must be kept: "
            "E[L(T+1)] <= ΣB_t + VΣp̄^CK, with the repaired p̄^CK.",
            latex=r"E[L(T+1)]\le\sum_tB_t+V\sum_t\bar p^{CK}(t)",
            unicode="E[L(T+1)] ≤ ΣB_t + VΣp̄^CK",
            hypotheses=("E[c(t) | past]·Λ̄ <= C", "E[c(t)² | past] <= E[c²]"),
            sketch="lem:dpp-T-slot-upper, corrected, without its non-negative penalties. It may be absorbed "
            "into O(VT) only for V bounded below and 1-ρ of order T^(-1/2) at least.",
            checks=(one_round,),
        ),
    ),
]
