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

from proofs_check.claim import WRITTEN, Claim, Correction, confirming
from proofs_check.engines import exact, identity, limit, smt
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.control.drift_step import after_round_1
from proofs_check.groundwork.control.examples import EVERY_HORIZON, WIDE
from proofs_check.symbols import REGION, C, T, V, rate, rho
from proofs_check.text import said
from theory.lambert import lambert_partial
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
q = sp.Symbol("q", positive=True)  # √ρ


@exact.drawn(
    "mean costs with affordable prefixes, drifting as they like; the worst policy inside the region",
    (60, 400),
    region=exact.regions(),
    costs=st.lists(exact.fractions(0), min_size=1, max_size=8),
    budget=exact.fractions(),
)
def region_bounds_cost(region: Region, costs: list[Fraction], budget: Fraction) -> exact.Found:
    """Any mean costs that are affordable on average up to every round, any admissions inside the region."""
    means: list[Fraction] = []
    for i, cost in enumerate(costs, start=1):  # each cut so that no prefix averages more than C/Λ̄
        means.append(min(cost, budget * i / region.rate - sum(means)))
    violation = cost_violation_bound(len(means), region, means, budget)
    bound = budget * lambert_partial(region.rho, len(means) + 1)
    return exact.unless(violation <= bound, means=means, violation=violation, bound=bound)


def bounded_beats_growing() -> Evidence:
    """C, or c_max·Λ̄, times the bound on the Lambert sum, which has no T, against the printed rate, which grows."""
    now, factor = sp.symbols("t factor", positive=True)
    return together(
        limit.tends_to(
            factor * lambert_bound(WIDE.rho) / cost_violation_rate_as_stated(now, V, WIDE.rho),
            now,
            0,
            what=r"$C$, or $c_{\max}\bar\Lambda$, times the bound over the rate",
            domain=r"$V$, $\rho=1-1/h$ fixed, $T\to\infty$; the violation is at most that factor times "
            r"lambert_bound$(\rho)$",
        ),
        identity.equal(
            STATED**2,
            V * T + V / (1 - rho),
            domain=r"every $V$, $T$, $\rho$",
            what="the printed rate squared and its inside",
        ),
    )


BOUND: dict[str, Any] = {
    "worst policy": lambert_sum.worst_policy,
    "summation by parts": (lambert_sum.abel_step, confirming(region_bounds_cost)),
    "$w$ falls": lambert_sum.beyond_rate,
    "Lambert sum, term by term": lambert_sum.lambert_summand,
    "Lambert sum, closed": (lambert_sum.lambert_closed, confirming(lambert_sum.lambert_bounded)),
}
WHY = (
    r"$\mathbb E[c\Lambda]\le\mathbb E[c]\Lambda_{\max}(t)=\mathbb E[c]\bar\Lambda w_t$ with $w_t=1/(1-\rho^t)$, "
    r"because $c\ge0$, whatever cost and admission have to do with each other. Then "
    r"$\sum\mathbb E[c]\bar\Lambda w_t-CT=\sum(\mathbb E[c]\bar\Lambda-C)w_t+C\sum(w_t-1)$, and summation by parts "
    r"makes the first sum non-positive: $w$ falls, and the prefixes of $\mathbb E[c]\bar\Lambda-C$ are not positive. "
    r"With $g=(1-\rho^t)/(1-\rho)=\sum_{j<t}\rho^j$, which lies between $t\rho^{(t-1)/2}$ and $t$, "
    r"$w_t-1=\rho^t/(1-\rho^t)$ lies between $\rho^t/(t(1-\rho))$ and $\sqrt\rho\,\sqrt\rho^t/(t(1-\rho))$, and "
    r"$\sum q^t/t=\log(1/(1-q))$."
)

CLAIMS = [
    Claim(
        id="thm:dpp-cost-constraint",
        kind="theorem",
        title=r"$\mathrm{Vio}^{\mathrm S}=O(\sqrt{VT+V/(1-\rho)})$, $V$ and $\rho$ fixed",
        statement="Read literally: for one cost process, which constant admission can pay at every horizon, and fixed "
        r"$V$ and $\rho$, the cumulative cost violation is $O(\sqrt{VT+V/(1-\rho)})$ as $T$ grows; the constant may "
        r"depend on $V$, $\rho$ and the process. (It is even bounded. Below: one constant for all $V$ and $\rho$, and "
        "costs affordable at one horizon alone.)",
        formula=said(r"\mathrm{Vio}^{\mathrm S}(T)=O\bigl(@r\bigr)", r=STATED),
        domain=rf"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$; {EVERY_HORIZON}",
        given=(WRITTEN,),
        checks={**BOUND, "rate": bounded_beats_growing},
        sketch=f"{WHY} So the violation is bounded in $T$, and the printed rate grows with $T$.",
    ),
    Claim(
        id="thm:dpp-cost-constraint/uniform",
        kind="reading",
        title=r"the same, with one constant for all $V$ and $\rho$",
        statement=r"The constant depends on neither $V$, $\rho$ nor $T$, for costs that constant admission can pay at "
        "every horizon.",
        formula=said(r"\sup_{V,\rho,T}\mathrm{Vio}^{\mathrm S}(T)\big/@r<\infty", r=STATED),
        domain=rf"every $V>0$, $0<\rho<1$, $T\ge1$; {EVERY_HORIZON}",
        checks=after_round_1(1, "the violation of round 1 divided by the printed rate"),
        corrected=Correction(
            title=r"$\mathrm{Vio}^{\mathrm S}\le C\sum\rho^t/(1-\rho^t)\le C\log(2/(1-\rho))/(1-\rho)$: no $V$, no "
            "$T$, no independence",
            statement=said(
                r"Every policy inside the region has $\mathrm{Vio}^{\mathrm S}(T)\le CS$ with $S=@S$, for any $V$ and "
                r"any dependence between costs and admissions; always admitting $\Lambda_{\max}$, at mean cost "
                r"$C/\bar\Lambda$, attains it. For all $T$, $S$ is at most $@U$, which is less than "
                r"$\log(2/(1-\rho))/(1-\rho)$. Over all rounds $S$ is at least $@R$, and the two agree to leading "
                r"order as $\rho$ tends to 1.",
                S=LAMBERT,
                U=lambert_bound(rho),
                R=cost_violation_rate(rho),
            ),
            formula=said(
                r"\mathrm{Vio}^{\mathrm S}(T)\le C@S\le "
                r"C\cdot\bigl(@U\bigr),\qquad@R\le\sum_{t\ge1}\frac{\rho^t}{1-\rho^t}\le@U",
                S=LAMBERT,
                U=lambert_bound(rho),
                R=cost_violation_rate(rho),
            ),
            hypotheses=(r"$\bar\Lambda\sum_{s\le t}\mathbb E[c(s)]\le Ct$ for every $t\le T$",),
            given=(WRITTEN,),
            sketch=WHY,
            checks={
                **BOUND,
                "attained": lambda: identity.equal(
                    sp.expand(cost_excess_maximum(T, REGION, C / rate, C)),
                    C * LAMBERT,
                    domain=r"every $T$, $\rho$, $\bar\Lambda$, $C$",
                    what=r"the violation of always admitting $\Lambda_{\max}$ and $C\sum\rho^t/(1-\rho^t)$",
                ),
                r"below $\log(2/(1-\rho))$": lambda: (
                    together(  # 1/(1-q) = (1+q)/(1-q²) with q = √ρ < 1, and 1+q < 2
                        smt.always(
                            1 / (1 - q) < 2 / (1 - q**2),
                            given=[q < 1],
                            domain=r"every $\sqrt\rho$: the logarithm is smaller, $\sqrt\rho<1$",
                        ),
                        identity.equal(
                            lambert_bound(q**2),
                            q * sp.log(1 - q) / (q**2 - 1),
                            domain=r"every $\sqrt\rho$",
                            what=r"lambert_bound and $\sqrt\rho\log(1/(1-\sqrt\rho))/(1-\rho)$",
                        ),
                    )
                ),
                r"order in $\rho$": lambert_sum.lambert_order,
            },
        ),
    ),
    Claim(
        id="thm:dpp-cost-constraint/one-horizon",
        kind="reading",
        title="the same, with costs affordable at horizon $T$ alone",
        statement="As eq:ck-cost-constraint has it: only the average over the whole horizon $T$ is affordable; $V$ "
        r"and $\rho$ fixed, one constant for all costs whose means stay below $c_{\max}$. (The paper asks for that: a "
        r"drift constant $B<\infty$ for all rounds bounds $\mathbb E[c^2]$, and "
        r"$\mathbb E[c]\le\sqrt{\mathbb E[c^2]}$. With costs that grow with $T$ it fails, see "
        "thm:dpp-cost-constraint/largest.) The violation is even bounded in $T$.",
        formula=said(
            r"\bar c_T\bar\Lambda\le C,\ E[c(t)]\le c_{\max}\Rightarrow\mathrm{Vio}^{\mathrm "
            r"S}(T)\le@peak=O\bigl(@r\bigr)",
            peak=cost_violation_by_peak(T, REGION, lambert_sum.peak),
            r=STATED,
        ),
        symbols={"c_max": "bound on every round's mean cost"},
        domain=r"every fixed $V>0$ and $0<\rho<1$; $\bar\Lambda\sum_{t\le T}\mathbb E[c(t)]\le CT$; one bound "
        r"$\mathbb E[c(t)]\le c_{\max}$ for the mean costs of all rounds and horizons; any dependence of the costs",
        given=(WRITTEN,),
        checks={
            "worst policy": lambert_sum.worst_policy,
            "whole horizon": lambert_sum.peak_step,
            r"$\Lambda_{\max}$": lambert_sum.beyond_rate,
            "Lambert sum": (
                lambert_sum.lambert_summand,
                lambert_sum.lambert_closed,
                confirming(lambert_sum.lambert_bounded),
            ),
            "rate": bounded_beats_growing,
        },
        sketch=r"$\mathbb E[c\Lambda]\le\mathbb E[c]\Lambda_{\max}(t)=\mathbb E[c]\bar\Lambda(1+h(t))$ with "
        r"$h(t)=\rho^t/(1-\rho^t)$, because $c\ge0$. Of "
        r"$\sum(\mathbb E[c]\bar\Lambda-C)+\sum\mathbb E[c]\bar\Lambda h(t)$ the first sum is not positive, the "
        r"horizon being affordable, and the second is at most $c_{\max}\bar\Lambda\sum h(t)$, which is bounded in $T$ "
        "as in thm:dpp-cost-constraint. The printed rate grows with $T$.",
    ),
]
