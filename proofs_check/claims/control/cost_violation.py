r"""The cost violation (`thm:dpp-cost-constraint`): what the theorem says, read three ways, and what is true.

Inside the region \(\Lambda(t)\le\Lambda_{\max}(t)=\bar\Lambda/(1-\rho^t)\), and nothing else is needed: no V, no
independence, no queue. Read literally, at fixed V and ρ and with costs that constant admission can pay at every
horizon, the theorem is true because the violation is even bounded. With a constant free of V and ρ, as Remark 1 needs
it, or with costs that are affordable at the last horizon alone, it is false.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Check, Claim, Context, Correction
from proofs_check.engines.exact import fractions, regions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.simulation import control_loop
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, fails, holds, obeying, together
from proofs_check.groundwork.control.drift_step import after_first_round, without_debt
from proofs_check.groundwork.control.inside_region import corners, placed
from proofs_check.groundwork.control.lambert_sum import (
    abel_step,
    beyond_rate,
    lambert_bounded,
    lambert_closed,
    lambert_order,
    lambert_summand,
)
from proofs_check.groundwork.control.paper_setting import SETTING, WIDE, h
from proofs_check.groundwork.control.repaired_penalty import plain, totals_are_sums
from proofs_check.groundwork.regret.orders import diverges, tends_to
from proofs_check.notation import REGION, C, T, V, mean_cost, rate, rho, said, t, written
from theory.admission import debt_update
from theory.lambert import lambert_partial
from theory.region import region_maximum, region_maximum_total
from theory.setting import Region
from theory.violation import (
    cost_excess_maximum,
    cost_violation_bound,
    cost_violation_rate,
    cost_violation_rate_as_stated,
    lambert_bound,
)

STATED = cost_violation_rate_as_stated(T, V, rho)
LAMBERT = lambert_partial(rho, T + 1)
TOP = region_maximum(REGION, t).replace(sp.exp, lambda x: rho ** (x / sp.log(rho)))
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


def dear_first_round() -> Evidence:
    """All cost in round 1, c(1) = TC/Λ̄, the rest free: the average over T rounds is C/Λ̄, but no earlier one is."""
    odds, horizon = sp.symbols("odds T", positive=True)  # odds = ρ/(1-ρ)
    region = Region(rate=rate, rho=odds / (1 + odds))
    dear = horizon * C / rate
    violation = sp.simplify(dear * region_maximum(region, 1) - C * horizon)
    found = diverges(
        violation / cost_violation_rate_as_stated(horizon, V, region.rho),
        horizon,
        what="the violation divided by the printed rate",
        domain="costs TC/Λ̄ in round 1 and 0 later, horizon T; any fixed V and ρ = odds/(1+odds)",
        **{"Vio^S(T)": violation},
    )
    facts = {
        "round 1 of ACDPP admits Λ_max(1)": without_debt(),
        "an affordable average over T rounds": equal(
            dear / horizon * rate, C, domain="every T", what="the average cost times Λ̄ and C"
        ),
    }
    return obeying(found, facts)


# --- what the region alone gives ---------------------------------------------------------------------------


def worst_policy() -> Evidence:
    """A round's mean cost is largest at the upper end, whatever cost and admission have to do with each other."""
    c, admitted, most = sp.symbols("c admitted most", nonnegative=True)
    return always(
        c * admitted <= c * most, given=[admitted <= most], domain="every path, c >= 0 and Λ <= Λ_max(t)"
    )


def excess_is_the_sum() -> Evidence:
    """theory's closed form is ΣE[c]Λ_max - CT: for one mean at every T, for a list of means at T = 1, 2, 3."""
    means = sp.symbols("m1:4", nonnegative=True)
    found = [
        equal(
            sp.expand(cost_excess_maximum(T, REGION, mean_cost, C)),
            sp.expand(mean_cost * region_maximum_total(REGION, T + 1) - C * T),
            domain="every T, ρ, Λ̄, mean cost and C",
            what="the excess and mean cost times the upper total, less CT",
        )
    ]
    for count in (1, 2, 3):
        some = list(means[:count])
        spent = sum(m * region_maximum(REGION, i) for i, m in enumerate(some, start=1))
        found.append(
            equal(
                plain(cost_excess_maximum(count, REGION, some, C)),
                plain(spent - C * count),
                domain=f"T = {count}, any means",
                what="the excess and ΣE[c]Λ_max - CT",
            )
        )
    return together(*found)


def extreme_policies(context: Context) -> Evidence:
    """The largest violation over every choice of ends, for any mean costs, is theory's bound."""

    def differs(region: Region, costs: list[Fraction], budget: Fraction) -> Any:
        T = len(costs)
        violations = [
            max(
                sum(c * x for c, x in zip(costs, placed(region, ends), strict=True)) - budget * T, Fraction(0)
            )
            for ends in corners(T)
        ]
        told = cost_violation_bound(T, region, costs, budget)
        if told != max(violations):
            return {"largest violation": max(violations), "bound": told}
        same = cost_violation_bound(T, region, costs[0], budget)
        return (
            None
            if same == cost_violation_bound(T, region, [costs[0]] * T, budget)
            else {"constant mean": same}
        )

    return search(
        context,
        {
            "region": regions(),
            "costs": st.lists(fractions(0), min_size=1, max_size=5),
            "budget": fractions(),
        },
        differs,
        domain="any mean costs, all 2^T policies at the ends of the region, T <= 5: the largest violation, exactly",
        examples=context.choose(40, 300),
    )


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
    """C times the bound on the Lambert sum, which has no T, against the printed rate, which grows."""
    now = sp.Symbol("t", positive=True)
    printed = cost_violation_rate_as_stated(now, V, WIDE.rho)
    domain = "V, ρ = 1 - 1/h fixed, T → ∞; the violation is at most C·lambert_bound(ρ)"
    return together(
        tends_to(
            C * lambert_bound(WIDE.rho) / printed,
            now,
            0,
            what="C times the bound over the rate",
            domain=domain,
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


def played_by_the_policy() -> Evidence:
    """The real loop never exceeds the bound, and with a huge V, where it admits the upper ends, it attains it."""
    rounds, region, budget = 30, Region(rate=4.0, rho=0.8), 10.0
    costs = np.array([[1 + 3 * (i % 3)] for i in range(rounds)], dtype=float)
    bound = float(cost_violation_bound(rounds, region, costs[:, 0].tolist(), budget))
    found = {}
    for weight in (1e-3, 10.0, 1e12):
        played = control_loop(costs, K=3, V=weight, C=budget, region=region, constants=SETTING)
        found[f"V = {weight:g}"] = float(np.sum(played.spent - budget))
    shown = {**found, "bound": bound}
    domain = "costs 1, 4, 7 in turn, Λ̄ = 4, C = 10, ρ = 0.8, K = 3, T = 30; V = 1/1000, 10, 10^12"
    if max(found.values()) > bound * (1 + 1e-9) or found["V = 1e+12"] < bound * (1 - 1e-9):
        return fails(
            "simulation", "the policy's violations do not fit the bound", domain=domain, certificate=shown
        )
    return holds("simulation", "below the bound, and at it for V = 10^12", domain=domain, certificate=shown)


EVERY_HORIZON = "constant admission is affordable at every horizon, Λ̄Σ_{s<=t}E[c(s)] <= Ct for every t"
BOUND: dict[str, Check | tuple[Check, ...]] = {
    "worst policy": worst_policy,
    "summation by parts": (abel_step, region_bounds_cost),
    "w falls": beyond_rate,
    "Lambert sum, term by term": lambert_summand,
    "Lambert sum, closed": (lambert_closed, lambert_bounded),
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
        "on V, ρ and the process. (It is even bounded. The readings that Remark 1 and a single horizon need "
        "follow below.)",
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
        statement="As Remark 1 uses the theorem, V and ρ moving with T: the constant depends on neither V, ρ nor T.",
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
                r"\mathrm{Vio}^{\mathrm S}(T)\le C@S\le C\cdot@U,\qquad@R\le\sum_{t\ge1}\frac{\rho^t}{1-\rho^t}\le@U",
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
        statement="As eq:ck-cost-constraint has it: only the average over the whole horizon T is affordable; V "
        "and ρ fixed, one constant for all such costs.",
        formula=written(
            r"\bar c_T\bar\Lambda\le C\Rightarrow\mathrm{Vio}^{\mathrm S}(T)=O\bigl(@r\bigr)",
            "c̄Λ̄ ≤ C ⇒ Vio^S(T) = O(@r)",
            r=STATED,
        ),
        domain="every fixed V > 0 and 0 < ρ < 1; Λ̄Σ_{t<=T}E[c(t)] <= CT",
        checks=(dear_first_round,),
        hypotheses=(EVERY_HORIZON,),
        checks_with_hypotheses=(abel_step, bounded_beats_growing),
        corrected=Correction(
            title="Vio^S <= [ΣE[c(t)]Λ_max(t) - CT]⁺, no hypothesis on the costs; attained",
            statement=said(
                "For any costs, any dependence and any V, Vio^S(T) <= [ΣE[c(t)]Λ_max(t) - CT]⁺ with Λ_max(t) = "
                "@top, and always admitting Λ_max attains it. With one mean c̄ in every round that is [@one]⁺.",
                top=TOP,
                one=cost_excess_maximum(T, REGION, mean_cost, C),
            ),
            formula=written(
                r"\mathrm{Vio}^{\mathrm S}(T)\le\Bigl[\sum_{t\le T}E[c(t)]\,@top-CT\Bigr]^+",
                "Vio^S(T) ≤ [ΣE[c(t)]·@top - CT]⁺",
                top=TOP,
            ),
            sketch="Σ(E[cΛ]-C) grows in every admission, as c >= 0, so its largest value inside the region is at "
            "the upper ends, Λ_max(t) = Λ̄ + Λ̄ρ^t/(1-ρ^t), where it is ΣE[c(t)]Λ̄ - CT + Λ̄ΣE[c(t)]ρ^t/(1-ρ^t). "
            "The policy that admits these attains it. The positive part of a largest value is the largest "
            "positive part.",
            parts=("worst policy", "the sum", "theory's totals"),
            checks={
                "worst policy": worst_policy,
                "the sum": (excess_is_the_sum, extreme_policies, played_by_the_policy),
                "theory's totals": totals_are_sums,
            },
        ),
    ),
]
