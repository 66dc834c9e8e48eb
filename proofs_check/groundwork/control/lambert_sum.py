r"""The Lambert sum \(\sum_t\rho^t/(1-\rho^t)\) over the region's upper ends: two bounds, its order, its use.

`theory.violation.cost_violation_rate` bounds it from below and `lambert_bound` from above, term by term. The cost
violation is at most a multiple of it: by summation by parts where constant admission can pay up to every round, and
term by term where it can pay for the whole horizon and no round's mean cost exceeds a peak.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.claim import Context
from proofs_check.engines import enclosure, smt
from proofs_check.engines.argument import argument
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.orders import ALONG, h, tight_regions
from proofs_check.groundwork.control.region_ends import growth, plain, power
from proofs_check.symbols import REGION, C, rate, rho, t
from theory.algebra import ball
from theory.lambert import lambert_partial, lambert_total
from theory.region import region_maximum
from theory.violation import cost_violation_by_peak, cost_violation_rate, lambert_bound

mean = sp.Symbol("m", nonnegative=True)  # E[c(t)]
peak = sp.Symbol("c_max", positive=True)  # a bound on it, the same for all rounds and horizons
share = power / (1 - power)  # h(t) = ρ^t/(1-ρ^t)
EXCESS = mean * plain(region_maximum(REGION, t)) - C


def beyond_rate() -> Evidence:
    """Λ_max(t) = Λ̄(1+h) with h = ρ^t/(1-ρ^t), the summand of theory's Lambert sum; it falls in t."""
    summed, top = lambert_partial(rho, t), plain(region_maximum(REGION, t))
    (index, first, last) = summed.limits[0]
    falls = plain(region_maximum(REGION, t + 1)) < top
    return argument(
        (top, rate * (1 + share), r"$\Lambda_{\max}(t)$ and $\bar\Lambda(1+h)$"),
        (plain(summed.function.subs(index, t)), share, "the summand and $h$"),
        (last - first, t - 2, r"the sum's range and rounds 1, $\ldots$, $t-1$"),
        (falls, [rho < 1, power < 1], r"every $t\ge1$, $0<\rho<1$: the upper end falls"),
        domain=r"every $t$, $\rho$, $\bar\Lambda$",
    )


def lambert_summand() -> Evidence:
    """ρ^t/t <= (1-ρ)h <= √ρ·√ρ^t/t: with g = (1-ρ^t)/(1-ρ) = Σ_{j<t} ρ^j between t·r and t, r² = ρ^(t-1)."""
    g, r, u, v = sp.symbols("g r u v", positive=True)
    above = r"$\sqrt\rho\,\rho^{t/2}=\rho r$; summed, $\sum\sqrt\rho^t/t=\log(1/(1-\sqrt\rho))$"
    below = r"$\rho^j\le1$; summed, $\sum\rho^t/t=\log(1/(1-\rho))$, every $0<\rho<1$, $t\ge1$"
    return argument(
        (rho * r**2 / g <= rho * r / t, [g >= t * r], above),
        ((u**2 + v**2) / 2 >= u * v, [], r"$\rho^j$ and $\rho^{t-1-j}$ average at least $r$: so $g\ge tr$"),
        (rho * r**2 / g >= rho * r**2 / t, [g <= t], below),
    )


def lambert_closed() -> Evidence:
    """The two bounds, as theory has them, are those series: q·Σq^t/t with q = √ρ, and Σq^t/t with q = ρ, over 1-ρ."""
    index, odds = sp.Symbol("j", integer=True, positive=True), sp.Symbol("odds", positive=True)
    q = odds / (1 + odds)
    series = sp.summation(q**index / index, (index, 1, sp.oo))
    upper = q * series / (1 - q**2)
    return argument(
        (lambert_bound(q**2), upper, r"lambert_bound and $\sqrt\rho\sum\sqrt\rho^t/t/(1-\rho)$"),
        (cost_violation_rate(q), series / (1 - q), r"cost_violation_rate and $\sum\rho^t/t/(1-\rho)$"),
        domain=r"every $\sqrt\rho$, and every $\rho$, as odds/(1+odds)",
    )


def lambert_bounded(context: Context) -> Evidence:
    """Both bounds against the enclosed sum."""
    grid = tight_regions(context.choose((1, 3, 6), range(1, 10)))

    def against(relation: Any, bound: Any, name: str) -> Evidence:
        return enclosure.compare(
            lambda p: lambert_total(ball(p["region"].rho)),
            relation,
            lambda p: bound(ball(p["region"].rho)),
            grid,
            domain=rf"$\sum\rho^t/(1-\rho^t)$ against ${name}/(1-\rho)$",
        )

    return together(
        against("<=", lambert_bound, r"\sqrt\rho\log(1/(1-\sqrt\rho))"),
        against(">=", cost_violation_rate, r"\log(1/(1-\rho))"),
    )


def lambert_order() -> Evidence:
    """The upper bound divided by the lower one tends to 1, so the sum is asymptotic to either."""
    quotient = lambert_bound(ALONG.rho) / cost_violation_rate(ALONG.rho)
    return argument((quotient, h, 1, "upper over lower bound"), domain=r"$\rho=1-1/h$, $h\to\infty$")


def abel_step() -> Evidence:
    """Summation by parts as an induction: with w falling and prefixes D <= 0 of Σ(E[c]Λ̄-C), U = Σ(E[c]Λ̄-C)w <= Dw."""
    before, after, prefix, longer, weighted = sp.symbols("w_before w_after D D_next U", real=True)
    parts = (mean * rate - C) / (1 - power) + C * share
    return argument(
        (
            weighted + (longer - prefix) * after <= longer * after,
            [weighted <= prefix * before, before >= after, prefix <= 0],
            r"one round more; $U_1=D_1w_1$. At the end $U\le Dw\le0$",
        ),
        (EXCESS, parts, r"$\mathbb E[c]\Lambda_{\max}-C$ and $(\mathbb E[c]\bar\Lambda-C)w+C(w-1)$"),
        domain=r"every $t$, $\rho$, $\mathbb E[c]$, $C$; $w=1/(1-\rho^t)$",
    )


def peak_step() -> Evidence:
    """Σ(E[c]Λ̄-C) <= 0 over the horizon, and a round adds E[c]Λ̄h <= c_max·Λ̄h to it, by which theory's bound grows."""
    none, before, now = (cost_violation_by_peak(i, REGION, peak) for i in (sp.Integer(0), t - 1, t))
    paid, beyond, bound = sp.symbols("paid beyond bound", real=True)
    added, most = mean * rate * share, peak * rate * share
    both = r"the two sums together, and bound $\ge0$: so the positive part as well"
    return argument(
        (EXCESS, mean * rate - C + added, r"$\mathbb E[c]\Lambda_{\max}-C$ and its two parts"),
        (none, 0, "the bound before round 1 and 0"),
        (growth(now, before), most, r"the bound's growth in round $t$ and $c_{\max}\bar\Lambda h$"),
        (added <= most, [mean <= peak, power < 1], r"every mean cost up to $c_{\max}$"),
        (paid + beyond <= bound, [paid <= 0, beyond <= bound], both),
        domain=r"every $t$, $\rho$, $\bar\Lambda$, $C$",
    )


def worst_policy() -> Evidence:
    """What a round adds is largest at the upper end, whatever weight and admission have to do with each other."""
    c, admitted, most = sp.symbols("c admitted most", nonnegative=True)
    domain = r"every path, weight $c\ge0$ (a cost, or rounds of training) and $\Lambda\le\Lambda_{\max}(t)$"
    return smt.always(c * admitted <= c * most, given=[admitted <= most], domain=domain)
