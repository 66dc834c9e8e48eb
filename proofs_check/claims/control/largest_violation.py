r"""The largest cost violation of a policy inside the region, for any costs: an exact formula, attained.

It needs nothing of the costs but \(c\ge0\). It also tells what an affordable average alone is worth: with costs that
grow with the horizon, all in round 1, the violation outgrows the printed rate. With bounded costs it does not
(`thm:dpp-cost-constraint/one-horizon`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import fractions, regions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.simulation import control_loop
from proofs_check.evidence import Evidence, fails, holds, together
from proofs_check.groundwork.control.drift_step import without_debt
from proofs_check.groundwork.control.inside_region import corners, placed
from proofs_check.groundwork.control.lambert_sum import worst_policy
from proofs_check.groundwork.control.paper_setting import SETTING
from proofs_check.groundwork.control.repaired_penalty import plain, totals_are_sums
from proofs_check.groundwork.regret.orders import tends_to
from proofs_check.groundwork.reuse.corners import always
from proofs_check.notation import REGION, C, T, V, mean_cost, rate, rho, said, t, written
from theory.lambert import lambert_partial
from theory.region import region_maximum, region_maximum_total
from theory.setting import Region
from theory.violation import cost_excess_maximum, cost_violation_bound, cost_violation_rate_as_stated

TOP = region_maximum(REGION, t).replace(sp.exp, lambda x: rho ** (x / sp.log(rho)))


def one_round_more() -> Evidence:
    """Appending a round of mean cost m adds mΛ_max - C to what is largest: for every T, by theory's closed form."""
    later = lambert_partial(rho, t + 1)
    index = later.limits[0][0]
    unrolled = sp.Sum(later.function, (index, 1, t - 1)) + later.function.subs(index, t)
    now, before = (cost_excess_maximum(i, REGION, mean_cost, C) for i in (t, t - 1))
    domain = "every round t, ρ, Λ̄, mean cost and C"
    return together(
        equal(
            plain(now.subs(later, unrolled) - before),
            plain(mean_cost * region_maximum(REGION, t) - C),
            domain=domain,
            what="the growth of the excess in round t and E[c]Λ_max(t) - C",
        ),
        equal(
            cost_excess_maximum(sp.Integer(0), REGION, mean_cost, C),
            0,
            domain=domain,
            what="the excess of no round and 0",
        ),
        equal(
            sp.expand(cost_excess_maximum(T, REGION, mean_cost, C)),
            sp.expand(mean_cost * region_maximum_total(REGION, T + 1) - C * T),
            domain="every T, ρ, Λ̄, mean cost and C",
            what="the excess and mean cost times the upper total, less CT",
        ),
    )


def lists_are_sums() -> Evidence:
    """theory's form for a list of means, one mean after the other, at T = 1, …, 4: each adds mΛ_max(T) - C."""
    means = list(sp.symbols("m1:5", nonnegative=True))
    found = []
    for count in range(1, 5):
        before = cost_excess_maximum(count - 1, REGION, means[: count - 1], C) if count > 1 else 0
        found.append(
            equal(
                plain(cost_excess_maximum(count, REGION, means[:count], C) - before),
                plain(means[count - 1] * region_maximum(REGION, count) - C),
                domain=f"T = {count}, any means",
                what="what the last mean adds and mΛ_max(T) - C",
                strength="certified",
            )
        )
    return together(*found)


def positive_parts() -> Evidence:
    """[x]⁺ grows with x: so the largest violation is the positive part of the largest excess."""
    x, y = sp.symbols("x y", real=True)
    return always(
        sp.Le(sp.Max(0, x), sp.Max(0, y), evaluate=False), given=[x <= y], domain="any two excesses x <= y"
    )


def growing_costs() -> Evidence:
    """All cost in round 1, c(1) = TC/Λ̄: the average over T rounds is C/Λ̄, and no bound on c(1) does for all T."""
    odds, horizon = sp.symbols("odds T", positive=True)  # odds = ρ/(1-ρ)
    dear = horizon * C / rate

    def violation(region: Region) -> Any:
        return sp.simplify(dear * region_maximum(region, 1) - C * horizon)

    fixed = Region(rate=rate, rho=odds / (1 + odds))
    moving = Region(rate=rate, rho=1 - 1 / sp.sqrt(horizon))
    printed = cost_violation_rate_as_stated(horizon, V, fixed.rho)
    domain = "costs TC/Λ̄ in round 1 and 0 later, horizon T → ∞"
    return together(
        without_debt(),
        equal(dear / horizon * rate, C, domain="every T", what="the average cost times Λ̄ and C"),
        tends_to(
            printed / violation(fixed),
            horizon,
            sp.Integer(0),
            what="the printed rate over the violation",
            domain=f"{domain}; any fixed V and ρ = odds/(1+odds)",
        ),
        tends_to(
            horizon / violation(moving),
            horizon,
            sp.Integer(0),
            what="T over the violation",
            domain=f"{domain}; ρ = 1 - T^-1/2, any V",
        ),
    )


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


CLAIMS = [
    Claim(
        id="thm:dpp-cost-constraint/largest",
        kind="addition",
        title="the largest Vio^S inside the region, any costs",
        statement=said(
            "For any costs c(t) >= 0, any dependence and any V, every policy inside the region has Vio^S(T) <= "
            "[ΣE[c(t)]Λ_max(t) - CT]⁺ with Λ_max(t) = @top, and always admitting Λ_max attains it. With one mean c̄ in "
            "every round that is [@one]⁺. If the average over T rounds is affordable but costs may grow with T, the "
            "printed rate does not bound it: with all cost in round 1, c(1) = TC/Λ̄, ACDPP's violation "
            "outgrows the printed rate at fixed V and ρ, and T itself at ρ = 1-1/√T.",
            top=TOP,
            one=cost_excess_maximum(T, REGION, mean_cost, C),
        ),
        formula=written(
            r"\max_\Lambda\mathrm{Vio}^{\mathrm S}(T)=\Bigl[\sum_{t\le T}E[c(t)]\,@top-CT\Bigr]^+",
            "max Vio^S(T) = [ΣE[c(t)]·@top - CT]⁺",
            top=TOP,
        ),
        domain="any costs c(t) >= 0 with finite means, any policy inside the region, every T, C > 0, 0 < ρ < 1",
        given=(WRITTEN,),
        parts=("worst policy", "one round more", "one mean", "positive part", "growing costs"),
        checks={
            "worst policy": worst_policy,
            "one round more": (
                one_round_more,
                confirming(lists_are_sums),
                confirming(extreme_policies),
                confirming(played_by_the_policy),
            ),
            "one mean": totals_are_sums,
            "positive part": positive_parts,
            "growing costs": growing_costs,
        },
        sketch="On every path cΛ <= cΛ_max(t), as c >= 0; expectations keep that, and so do sums over rounds, one "
        "round more adding at most E[c(t)]Λ_max(t) - C. So Σ(E[cΛ]-C) is at most ΣE[c(t)]Λ_max(t) - CT for every "
        "policy inside the region, and the policy that always admits Λ_max, which is inside it, has equality. The "
        "positive part grows with its argument, so the largest violation is the positive part of the largest sum. "
        "With one mean, ΣΛ_max(t) = Λ̄(T + Σρ^t/(1-ρ^t)). All cost in round 1, c(1) = TC/Λ̄: there is no debt yet, so "
        "ACDPP admits Λ_max(1) = Λ̄/(1-ρ), the later rounds cost nothing, and Vio^S(T) = CT/(1-ρ) - CT.",
    ),
]
