r"""The cost violation (`thm:dpp-cost-constraint`): what the theorem says, read three ways, and what is true.

Inside the region \(\Lambda(t)\le\Lambda_{\max}(t)=\bar\Lambda/(1-\rho^t)\), and nothing else is needed: no V, no
independence, no queue. Read literally, at fixed V and ρ and with costs that constant admission can pay at every
horizon, the theorem is true because the violation is even bounded. It is so as well where constant admission can pay
at the last horizon alone, if no round's mean cost exceeds one bound for all rounds and horizons, which the paper's
uniform drift constant implies. With one constant for all V and ρ it is false.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Check, Claim, Context, Correction, confirming
from proofs_check.engines.exact import fractions, regions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.drift_step import after_first_round
from proofs_check.groundwork.control.lambert_sum import (
    abel_step,
    beyond_rate,
    lambert_bounded,
    lambert_closed,
    lambert_order,
    lambert_summand,
    peak,
    peak_step,
    worst_policy,
)
from proofs_check.groundwork.control.paper_setting import WIDE, h
from proofs_check.groundwork.regret.orders import tends_to
from proofs_check.notation import REGION, C, T, V, rate, rho, said, written
from theory.admission import debt_update
from theory.lambert import lambert_partial
from theory.region import region_maximum
from theory.setting import Region
from theory.violation import (
    cost_excess_maximum,
    cost_violation_bound,
    cost_violation_by_peak,
    cost_violation_rate,
    cost_violation_rate_as_stated,
    lambert_bound,
)

STATED = cost_violation_rate_as_stated(T, V, rho)
LAMBERT = lambert_partial(rho, T + 1)
weight = sp.Symbol("w", positive=True)  # V = 1/w


# --- counterexamples ---------------------------------------------------------------------------------------


def first_round_small_weight() -> Evidence:
    """T = 1: without debt the policy admits Λ_max(1) whatever V, so the violation does not vanish with V."""
    violation = debt_update(0, C / rate, region_maximum(REGION, 1).subs(rho, sp.Rational(1, 2)), C)
    return after_first_round(
        violation / cost_violation_rate_as_stated(1, 1 / weight, sp.Rational(1, 2)),
        weight,
        what="the violation of round 1 divided by the printed rate",
        domain="T = 1, c = C/Λ̄, ρ = 1/2, V = 1/w, w → ∞",
        debt=violation,
    )


def first_round_wide_region() -> Evidence:
    """T = 1, V fixed: Λ_max(1) = Λ̄/(1-ρ) grows like 1/(1-ρ), the rate like its root."""
    violation = debt_update(0, C / rate, region_maximum(WIDE, 1), C)
    return after_first_round(
        violation / cost_violation_rate_as_stated(1, V, WIDE.rho),
        h,
        what="the violation of round 1 divided by the printed rate",
        domain="T = 1, c = C/Λ̄, any V; ρ = 1 - 1/h, h → ∞",
        debt=violation,
    )


# --- what the region alone gives ---------------------------------------------------------------------------


def region_bounds_cost(context: Context) -> Evidence:
    """Any mean costs that are affordable on average up to every round, any admissions inside the region."""

    def exceeds(region: Region, costs: list[Fraction], budget: Fraction) -> Any:
        means: list[Fraction] = []
        for i, cost in enumerate(costs, start=1):  # each cut so that no prefix averages more than C/Λ̄
            means.append(min(cost, budget * i / region.rate - sum(means)))
        violation = cost_violation_bound(len(means), region, means, budget)
        bound = budget * lambert_partial(region.rho, len(means) + 1)
        return None if violation <= bound else {"E[c(t)]": means, "violation": violation, "bound": bound}

    return search(
        context,
        {"region": regions(), "costs": st.lists(fractions(0), min_size=1, max_size=8), "budget": fractions()},
        exceeds,
        domain="mean costs with affordable prefixes, drifting as they like; the worst policy inside the region",
        examples=context.choose(60, 400),
    )


def cost_attained() -> Evidence:
    """Costs C/Λ̄ and the upper end in every round: the bound is an equality."""
    return equal(
        sp.expand(cost_excess_maximum(T, REGION, C / rate, C)),
        C * LAMBERT,
        domain="every T, ρ, Λ̄, C",
        what="the violation of always admitting Λ_max and C·Σρ^t/(1-ρ^t)",
    )


def bounded_beats_growing() -> Evidence:
    """C, or c_max·Λ̄, times the bound on the Lambert sum, which has no T, against the printed rate, which grows."""
    now = sp.Symbol("t", positive=True)
    printed = cost_violation_rate_as_stated(now, V, WIDE.rho)
    factor = sp.Symbol("C or c_max·Λ̄", positive=True)
    return together(
        tends_to(
            factor * lambert_bound(WIDE.rho) / printed,
            now,
            0,
            what="C, or c_max·Λ̄, times the bound over the rate",
            domain="V, ρ = 1 - 1/h fixed, T → ∞; the violation is at most that times lambert_bound(ρ)",
        ),
        equal(
            STATED**2,
            V * T + V / (1 - rho),
            domain="every V, T, ρ",
            what="the printed rate squared and its inside",
        ),
    )


def below_two() -> Evidence:
    """√ρ·log(1/(1-√ρ)) < log(2/(1-ρ)): 1/(1-q) = (1+q)/(1-q²) with q = √ρ < 1, and 1+q < 2."""
    q = sp.Symbol("q", positive=True)
    return together(
        always(
            1 / (1 - q) < 2 / (1 - q**2), given=[q < 1], domain="every √ρ: the logarithm is smaller, √ρ < 1"
        ),
        equal(
            lambert_bound(q**2),
            q * sp.log(1 - q) / (q**2 - 1),
            domain="every √ρ",
            what="lambert_bound and √ρ·log(1/(1-√ρ))/(1-ρ)",
        ),
    )


PEAK = "one bound E[c(t)] <= c_max for the mean costs of all rounds and horizons"
EVERY_HORIZON = "constant admission is affordable at every horizon, Λ̄Σ_{s<=t}E[c(s)] <= Ct for every t"
BOUND: dict[str, Check | tuple[Check, ...]] = {
    "worst policy": worst_policy,
    "summation by parts": (abel_step, confirming(region_bounds_cost)),
    "w falls": beyond_rate,
    "Lambert sum, term by term": lambert_summand,
    "Lambert sum, closed": (lambert_closed, confirming(lambert_bounded)),
}
WHY = (
    "E[cΛ] <= E[c]Λ_max(t) = E[c]Λ̄w_t with w_t = 1/(1-ρ^t), because c >= 0, whatever cost and admission have to "
    "do with each other. Then ΣE[c]Λ̄w_t - CT = Σ(E[c]Λ̄-C)w_t + CΣ(w_t-1), and summation by parts makes the "
    "first sum non-positive: w falls, and the prefixes of E[c]Λ̄-C are not positive. With g = (1-ρ^t)/(1-ρ) = "
    "Σ_{j<t}ρ^j, which lies between tρ^((t-1)/2) and t, w_t-1 = ρ^t/(1-ρ^t) lies between ρ^t/(t(1-ρ)) and "
    "√ρ·√ρ^t/(t(1-ρ)), and Σq^t/t = log(1/(1-q))."
)

CLAIMS = [
    Claim(
        id="thm:dpp-cost-constraint",
        kind="theorem",
        title="Vio^S = O(√(VT + V/(1-ρ))), V and ρ fixed",
        statement="Read literally: for one cost process, which constant admission can pay at every horizon, and "
        "fixed V and ρ, the cumulative cost violation is O(√(VT + V/(1-ρ))) as T grows; the constant may depend "
        "on V, ρ and the process. (It is even bounded. Below: one constant for all V and ρ, and costs "
        "affordable at one horizon alone.)",
        formula=written(r"\mathrm{Vio}^{\mathrm S}(T)=O\bigl(@r\bigr)", "Vio^S(T) = O(@r)", r=STATED),
        domain=f"every fixed V > 0 and 0 < ρ < 1, T → ∞; {EVERY_HORIZON}",
        given=(WRITTEN,),
        parts=(*BOUND, "rate"),
        checks={**BOUND, "rate": bounded_beats_growing},
        sketch=f"{WHY} So the violation is bounded in T, and the printed rate grows with T.",
    ),
    Claim(
        id="thm:dpp-cost-constraint/uniform",
        kind="reading",
        title="the same, with one constant for all V and ρ",
        statement="The constant depends on neither V, ρ nor T, for costs that constant admission can pay at every "
        "horizon.",
        formula=written(
            r"\sup_{V,\rho,T}\mathrm{Vio}^{\mathrm S}(T)\big/@r<\infty",
            "sup over V, ρ, T of Vio^S(T)/@r < ∞",
            r=STATED,
        ),
        domain=f"every V > 0, 0 < ρ < 1, T >= 1; {EVERY_HORIZON}",
        checks=(first_round_small_weight, first_round_wide_region),
        corrected=Correction(
            title="Vio^S <= C·Σρ^t/(1-ρ^t) <= C·log(2/(1-ρ))/(1-ρ): no V, no T, no independence",
            statement=said(
                "Every policy inside the region has Vio^S(T) <= C·S with S = @S, for any V and any dependence "
                "between costs and admissions; always admitting Λ_max, at mean cost C/Λ̄, attains it. For all T, "
                "S is at most @U, which is less than log(2/(1-ρ))/(1-ρ). Over all rounds S is at least @R, and "
                "the two agree to leading order as ρ tends to 1.",
                S=LAMBERT,
                U=lambert_bound(rho),
                R=cost_violation_rate(rho),
            ),
            formula=written(
                r"\mathrm{Vio}^{\mathrm S}(T)\le C@S\le C\cdot\bigl(@U\bigr),\qquad@R"
                r"\le\sum_{t\ge1}\frac{\rho^t}{1-\rho^t}\le@U",
                "Vio^S(T) ≤ C·@S ≤ C·(@U), @R ≤ Σ_{t≥1} ρ^t/(1-ρ^t) ≤ @U",
                S=LAMBERT,
                U=lambert_bound(rho),
                R=cost_violation_rate(rho),
            ),
            hypotheses=("Λ̄Σ_{s<=t}E[c(s)] <= Ct for every t <= T",),
            given=(WRITTEN,),
            sketch=WHY,
            parts=(*BOUND, "attained", "below log(2/(1-ρ))", "order in ρ"),
            checks={
                **BOUND,
                "attained": cost_attained,
                "below log(2/(1-ρ))": below_two,
                "order in ρ": lambert_order,
            },
        ),
    ),
    Claim(
        id="thm:dpp-cost-constraint/one-horizon",
        kind="reading",
        title="the same, with costs affordable at horizon T alone",
        statement="As eq:ck-cost-constraint has it: only the average over the whole horizon T is affordable; V and ρ "
        "fixed, one constant for all costs whose means stay below c_max. (The paper asks for that: a drift constant "
        "B < ∞ for all rounds bounds E[c²], and E[c] <= √E[c²]. With costs that grow with T it fails, see "
        "thm:dpp-cost-constraint/largest.) The violation is even bounded in T.",
        formula=written(
            r"\bar c_T\bar\Lambda\le C,\ E[c(t)]\le c_{\max}\Rightarrow"
            r"\mathrm{Vio}^{\mathrm S}(T)\le@peak=O\bigl(@r\bigr)",
            "c̄Λ̄ ≤ C, E[c(t)] ≤ c_max ⇒ Vio^S(T) ≤ @peak = O(@r)",
            peak=cost_violation_by_peak(T, REGION, peak),
            r=STATED,
        ),
        symbols={"c_max": "bound on every round's mean cost"},
        domain=f"every fixed V > 0 and 0 < ρ < 1; Λ̄Σ_{{t<=T}}E[c(t)] <= CT; {PEAK}; any dependence of the costs",
        given=(WRITTEN,),
        parts=("worst policy", "whole horizon", "Λ_max", "Lambert sum", "rate"),
        checks={
            "worst policy": worst_policy,
            "whole horizon": peak_step,
            "Λ_max": beyond_rate,
            "Lambert sum": (lambert_summand, lambert_closed, confirming(lambert_bounded)),
            "rate": bounded_beats_growing,
        },
        sketch="E[cΛ] <= E[c]Λ_max(t) = E[c]Λ̄(1+h(t)) with h(t) = ρ^t/(1-ρ^t), because c >= 0. So Vio^S <= "
        "[Σ(E[c]Λ̄-C) + ΣE[c]Λ̄h(t)]⁺, where the first sum is not positive, the horizon being affordable, and the "
        "second is at most c_max·Λ̄·Σh(t). That sum is bounded in T: with g = (1-ρ^t)/(1-ρ) = Σ_{j<t}ρ^j >= "
        "tρ^((t-1)/2), h(t) is at most √ρ·√ρ^t/(t(1-ρ)), and Σq^t/t = log(1/(1-q)). The printed rate grows with T.",
    ),
]
