r"""The largest cost violation of a policy inside the region, for any costs: an exact formula, attained."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.drift_step import in_round_1
from proofs_check.groundwork.control.printed_log import LARGE
from proofs_check.groundwork.control.region_ends import corners, placed
from theory.control.violation import cost_excess_maximum, cost_violation_bound, cost_violation_rate_as_stated

TOP = region_maximum(REGION, t).replace(sp.exp, lambda x: rho ** (x / sp.log(rho)))


def growing_costs() -> Evidence:
    """All cost in round 1, c(1) = TC/Λ̄: the average over T rounds is C/Λ̄, and no bound on c(1) does for all T."""
    odds, horizon = sp.symbols("odds T", positive=True)  # odds = ρ/(1-ρ)
    dear = horizon * C / rate
    fixed, moving = (Region(rate=rate, rho=rho) for rho in (odds / (1 + odds), 1 - 1 / sp.sqrt(horizon)))
    at_fixed, at_moving = (
        sp.simplify(dear * region_maximum(region, 1) - C * horizon) for region in (fixed, moving)
    )
    printed = cost_violation_rate_as_stated(horizon, V, fixed.rho)
    return argument(
        *in_round_1(REGION, given=LARGE).values(),
        (dear / horizon * rate, C, r"the average cost times $\bar\Lambda$ and $C$"),
        (printed / at_fixed, horizon, 0, "the printed rate over the violation, at fixed $V$ and $\\rho$,"),
        (horizon / at_moving, horizon, 0, r"$T$ over the violation, $\rho=1-T^{-1/2}$, any $V$,"),
        domain=r"costs $TC/\bar\Lambda$ in round 1 and 0 later, horizon $T\to\infty$",
    )


@drawn(
    r"any mean costs, all $2^T$ policies at the ends of the region, $T\le5$: the largest violation, exactly",
    (40, 300),
    region=exact.regions(),
    costs=st.lists(fractions(0), min_size=1, max_size=5),
    budget=fractions(),
)
def extreme_policies(region: Region, costs: list[Fraction], budget: Fraction) -> Found:
    """The largest violation over every choice of ends, for any mean costs, is theory's bound."""
    T = len(costs)
    spent = (sum(c * x for c, x in zip(costs, placed(region, ends), strict=True)) for ends in corners(T))
    largest = max(max(spent) - budget * T, Fraction(0))
    told = cost_violation_bound(T, region, costs, budget)
    same, listed = (cost_violation_bound(T, region, mean, budget) for mean in (costs[0], [costs[0]] * T))
    return unless(told == largest and same == listed, largest=largest, bound=told, mean=same, listed=listed)


CLAIMS = [
    Claim(
        id="thm:dpp-cost-constraint/largest",
        kind="addition",
        title=r"the largest $\mathrm{Vio}^{\mathrm S}$ inside the region, any costs",
        statement=said(
            r"For any dependence between costs and admissions and any $V$, always admitting $\Lambda_{\max}$ has the "
            r"largest violation of the policies inside the region; with one mean $\bar c$ in every round that is "
            "$[@one]^{+}$. If the average over $T$ rounds is affordable but costs may grow with $T$, the printed rate "
            r"does not bound it: with all cost in round 1, $c(1)=TC/\bar\Lambda$, ACDPP's violation outgrows it at "
            r"fixed $V$ and $\rho$ (as printed if $\mathrm{Pdim}\le\bar\Lambda(1-\rho)$, else with $\log^+$ in $p$), "
            r"and with $\log^+$ $T$ itself at $\rho=1-1/\sqrt T$.",
            one=cost_excess_maximum(T, REGION, mean_cost, C),
        ),
        formula=said(
            r"\max_\Lambda\mathrm{Vio}^{\mathrm S}(T)=\Bigl[\sum_{t\le T}E[c(t)]\,@top-CT\Bigr]^+", top=TOP
        ),
        domain=r"any costs $c(t)\ge0$ with finite means, any policy inside the region, every $T$, $C>0$, $0<\rho<1$",
        checks={
            "worst policy": (
                theorem("Control.worst_policy", "Control.worst_policy_attains", domain="any policy"),
                confirming(extreme_policies),
            ),
            "one mean": theorem("Control.worst_violation_of_one_mean", domain="every $T$ and region"),
            "all cost in round 1": theorem("Control.all_cost_in_round_1", domain=r"every $T$, $\rho$, $C$"),
            "growing costs": growing_costs,
        },
        sketch=r"On every path $c\Lambda\le c\Lambda_{\max}(t)$, as $c\ge0$; expectations keep that, and so do sums "
        r"over rounds, one round more adding at most $\mathbb E[c(t)]\Lambda_{\max}(t)-C$. The policy that always "
        r"admits $\Lambda_{\max}$, which is inside the region, has equality; and the positive part grows with its "
        r"argument. With one mean, $\sum\Lambda_{\max}(t)=\bar\Lambda(T+\sum\rho^t/(1-\rho^t))$. All cost in round 1: "
        r"there is no debt yet, so ACDPP admits $\Lambda_{\max}(1)=\bar\Lambda/(1-\rho)$, the later rounds cost "
        r"nothing, and $\mathrm{Vio}^{\mathrm S}(T)=CT/(1-\rho)-CT$.",
    )
]
