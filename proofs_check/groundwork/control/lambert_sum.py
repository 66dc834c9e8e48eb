r"""The Lambert sum \(\sum_t\rho^t/(1-\rho^t)\) over the region's upper ends: two bounds, its order, its use.

`theory.violation.cost_violation_rate` bounds it from below and `lambert_bound` from above, term by term and for every
ρ; the two agree to leading order as ρ tends to 1. A round's mean cost is largest at its upper end, so the cost
violation is at most a multiple of the sum: by summation by parts where constant admission can pay up to every round,
and term by term where it can pay for the whole horizon and no round's mean cost exceeds a peak.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.claim import Context
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.repaired_penalty import plain
from proofs_check.groundwork.regret.orders import tight_regions
from proofs_check.symbols import REGION, C, rate, rho, t
from theory.algebra import ball
from theory.lambert import lambert_partial, lambert_total
from theory.region import region_maximum
from theory.violation import cost_violation_by_peak, cost_violation_rate, lambert_bound

__all__ = [
    "abel_step",
    "beyond_rate",
    "lambert_bound",
    "lambert_bounded",
    "lambert_closed",
    "lambert_order",
    "lambert_summand",
    "peak",
    "peak_step",
    "worst_policy",
]

power = sp.Symbol("rho^t", positive=True)
mean = sp.Symbol("m", nonnegative=True)  # E[c(t)]
peak = sp.Symbol("c_max", positive=True)  # a bound on it, the same for all rounds and horizons


def beyond_rate() -> Evidence:
    """Λ_max(t) = Λ̄(1+h) with h = ρ^t/(1-ρ^t), the summand of theory's Lambert sum; it falls in t."""
    summed = lambert_partial(rho, t)
    (index, first, last) = summed.limits[0]
    share = power / (1 - power)
    return together(
        equal(
            plain(region_maximum(REGION, t)),
            rate * (1 + share),
            domain=r"every $t$, $\rho$, $\bar\Lambda$",
            what=r"$\Lambda_{\max}(t)$ and $\bar\Lambda(1+h)$",
        ),
        equal(
            plain(summed.function.subs(index, t)),
            share,
            domain=r"every $t$, $\rho$",
            what="the summand and $h$",
        ),
        equal(last - first, t - 2, domain="every $t$", what=r"the sum's range and rounds 1, $\ldots$, $t-1$"),
        always(
            plain(region_maximum(REGION, t + 1)) < plain(region_maximum(REGION, t)),
            given=[rho < 1, power < 1],
            domain=r"every $t\ge1$, $0<\rho<1$: the upper end falls",
        ),
    )


def lambert_summand() -> Evidence:
    """ρ^t/t <= (1-ρ)h <= √ρ·√ρ^t/t: with g = (1-ρ^t)/(1-ρ) = Σ_{j<t} ρ^j between t·r and t, r² = ρ^(t-1)."""
    g, r, u, v = sp.symbols("g r u v", positive=True)
    return together(
        always(
            rho * r**2 / g <= rho * r / t,
            given=[g >= t * r],
            domain=r"every $0<\rho<1$, $t\ge1$, $\sqrt{\rho}\cdot\rho^{t/2}=\rho r$; summed, $\sum "
            r"\sqrt{\rho}^t/t=\log(1/(1-\sqrt{\rho}))$",
        ),
        always(
            (u**2 + v**2) / 2 >= u * v,
            domain=r"$\rho^j$ and $\rho^{t-1-j}$ average at least $r$: so "
            r"$g\ge t\cdot r$",
        ),
        always(
            rho * r**2 / g >= rho * r**2 / t,
            given=[g <= t],
            domain=r"every $0<\rho<1$, $t\ge1$, $\rho^j\le1$; summed, $\sum \rho^t/t=\log(1/(1-\rho))$",
        ),
    )


def lambert_closed() -> Evidence:
    """The two bounds, as theory has them, are those series: q·Σq^t/t with q = √ρ, and Σq^t/t with q = ρ, over 1-ρ."""
    index, odds = sp.Symbol("j", integer=True, positive=True), sp.Symbol("odds", positive=True)
    q = odds / (1 + odds)
    series = sp.summation(q**index / index, (index, 1, sp.oo))
    return together(
        equal(
            lambert_bound(q**2),
            q * series / (1 - q**2),
            domain=r"every $\sqrt{\rho}$ = odds/(1+odds)",
            what=r"lambert_bound and $\sqrt{\rho}\cdot\sum \sqrt{\rho}^t/t/(1-\rho)$",
        ),
        equal(
            cost_violation_rate(q),
            series / (1 - q),
            domain=r"every $\rho$ = odds/(1+odds)",
            what=r"cost_violation_rate and $\sum \rho^t/t/(1-\rho)$",
        ),
    )


def lambert_bounded(context: Context) -> Evidence:
    """Both bounds against the enclosed sum."""
    grid = tight_regions(context.choose((1, 3, 6), range(1, 10)))

    def at(p: Any) -> Any:
        return p["region"].map(ball).rho

    return together(
        compare(
            lambda p: lambert_total(at(p)),
            "<=",
            lambda p: lambert_bound(at(p)),
            grid,
            domain=r"$\sum \rho^t/(1-\rho^t)$ against $\sqrt{\rho}\cdot\log(1/(1-\sqrt{\rho}))/(1-\rho)$",
        ),
        compare(
            lambda p: lambert_total(at(p)),
            ">=",
            lambda p: cost_violation_rate(at(p)),
            grid,
            domain=r"$\sum \rho^t/(1-\rho^t)$ against $\log(1/(1-\rho))/(1-\rho)$",
        ),
    )


def lambert_order() -> Evidence:
    """The upper bound divided by the lower one tends to 1, so the sum is asymptotic to either."""
    h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
    near = 1 - 1 / h
    return tends_to(
        lambert_bound(near) / cost_violation_rate(near),
        h,
        1,
        what="the upper bound divided by the lower",
        domain=r"$\rho=1-1/h$, $h\to\infty$",
    )


def abel_step() -> Evidence:
    """Summation by parts as an induction: with w falling and prefixes D <= 0 of Σ(E[c]Λ̄-C), U = Σ(E[c]Λ̄-C)w <= Dw."""
    before, after, prefix, longer, weighted = sp.symbols("w_before w_after D D_next U", real=True)
    return together(
        always(
            weighted + (longer - prefix) * after <= longer * after,
            given=[weighted <= prefix * before, before >= after, prefix <= 0],
            domain=r"one round more; $U_1=D_1\cdot w_1$. At the end $U\le Dw\le0$",
        ),
        equal(
            mean * plain(region_maximum(REGION, t)) - C,
            (mean * rate - C) / (1 - power) + C * power / (1 - power),
            domain=r"every $t$, $\rho$, $\mathbb E[c]$, $C$",
            what=r"$\mathbb E[c]\Lambda_{\max}-C$ and $(\mathbb E[c]\bar\Lambda-C)w+C(w-1)$, "
            r"$w=1/(1-\rho^t)$,",
        ),
    )


def peak_step() -> Evidence:
    """Σ(E[c]Λ̄-C) <= 0 over the horizon, and a round adds E[c]Λ̄h <= c_max·Λ̄h to it, by which theory's bound grows."""
    later = lambert_partial(rho, t + 1)
    index = later.limits[0][0]
    unrolled = sp.Sum(later.function, (index, 1, t - 1)) + later.function.subs(index, t)
    now, before = (cost_violation_by_peak(i, REGION, peak) for i in (t, t - 1))
    growth = plain(now.subs(later, unrolled) - before)
    share, (paid, beyond, bound) = power / (1 - power), sp.symbols("paid beyond bound", real=True)
    domain = "every t, ρ, Λ̄, C and mean cost up to c_max"
    return together(
        equal(
            mean * plain(region_maximum(REGION, t)) - C,
            (mean * rate - C) + mean * rate * share,
            domain=domain,
            what=r"$\mathbb E[c]\Lambda_{\max}-C$ and $(\mathbb E[c]\bar\Lambda-C)+\mathbb "
            r"E[c]\bar\Lambda h$",
        ),
        equal(
            cost_violation_by_peak(sp.Integer(0), REGION, peak),
            0,
            domain=domain,
            what="the bound before round 1 and 0",
        ),
        equal(
            growth,
            peak * rate * share,
            domain=domain,
            what="the bound's growth in round $t$ and "
            r"$c_{\max}\cdot\bar\Lambda h$",
        ),
        always(
            mean * rate * share <= peak * rate * share,
            given=[mean <= peak, power < 1],
            domain=domain,
        ),
        always(
            paid + beyond <= bound,
            given=[paid <= 0, beyond <= bound],
            domain=r"the two sums together, and bound $\ge0$: so the positive part as well",
        ),
    )


def worst_policy() -> Evidence:
    """A round's mean cost is largest at the upper end, whatever cost and admission have to do with each other."""
    c, admitted, most = sp.symbols("c admitted most", nonnegative=True)
    return always(
        c * admitted <= c * most,
        given=[admitted <= most],
        domain=r"every path, $c\ge0$ and "
        r"$\Lambda\le\Lambda_{\max}(t)$",
    )
