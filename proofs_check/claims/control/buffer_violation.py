r"""The buffers (`rem:buffer-violation`): how far a policy inside the region can overfill them.

\(J_t\) sees the total alone, so single clients may overflow without end. If the total is split in proportion to the
buffers, the largest violation is known exactly: every admission is trained on in min(K, T-s+1) rounds, so the worst
policy admits the upper end in every round. It is bounded in T, often 0, and not bounded as ρ tends to 1.

Literally the remark says that a K chosen so that the violation stays bounded makes it bounded, which needs no proof and
names no K. Judged is the K that the paper itself designs (`cor:optimal-k`), with which the buffers hold just what
constant admission keeps in them: \(\sum_mB_m=K\bar\Lambda\).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Check, Claim, Context, Correction, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import diverges, tends_to
from proofs_check.engines.smt import always
from proofs_check.engines.smt import always as decided
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.control.drift_step import rate_is_a_choice, without_debt
from proofs_check.groundwork.control.inside_region import corners, placed
from proofs_check.groundwork.control.lambert_sum import (
    beyond_rate,
    lambert_closed,
    lambert_order,
    lambert_summand,
)
from proofs_check.groundwork.control.repaired_penalty import plain, totals_are_sums
from proofs_check.groundwork.control.violation_symbols import WIDE, h
from proofs_check.simulator import simulate
from proofs_check.symbols import REGION, K, T, rate, rho, t
from proofs_check.text import said
from theory.lambert import lambert_partial
from theory.region import region_maximum, region_minimum_total
from theory.setting import Region
from theory.violation import (
    buffer_excess_maximum,
    buffer_violation_bound,
    buffer_violation_maximum,
    cost_violation_rate,
)

EXCESS = buffer_excess_maximum(K, T, REGION)
gap = sp.Symbol("gap", integer=True, nonnegative=True)
S, LATE = sp.symbols(
    "S LATE", nonnegative=True
)  # Σh(s) over all rounds, and what the late ones are counted less
CASES = {"T = K+gap": (K, K + gap), "K = T+gap": (T + gap, T)}  # every pair (K, T)


# --- counterexamples ---------------------------------------------------------------------------------------


def one_client_takes_all() -> Evidence:
    """Two clients with buffers 2 and 2, K = 2, two admissions a round, all for the first client: J_t cannot tell."""

    def grows(T: int) -> Any:
        rounds = simulate([[2, 0]] * T, 2)
        violation = max(sum(s.n_of(0) - 2 for s in rounds), 0) + max(sum(s.n_of(1) - 2 for s in rounds), 0)
        held = [s.n_of(0) for s in rounds][-1]
        return None if violation <= 2 else {"Vio^B(T)": violation, "n_1": held, "B_1": 2}

    found = exhaust(
        [{"T": T} for T in (1, 2, 40)],
        grows,
        domain=r"sample-level simulation; $\Lambda=2$ in every round, $\sum B=K\bar\Lambda=4$; the "
        "violation is $2(T-1)$",
    )
    return obeying(found, {r"$\bar\Lambda$ inside the region": rate_is_a_choice()})


def one_client_without_end() -> Evidence:
    """Every round at its lower end, the least of any policy: n(t) still tends to KΛ̄, and B_1 = KΛ̄/2."""
    horizon, K, decay = sp.symbols("T K decay", positive=True)
    region = Region(rate=rate, rho=sp.exp(-decay))
    least = K * region_minimum_total(region, horizon - K + 1)
    found = diverges(
        least - K * rate / 2 * horizon,
        horizon,
        what=r"the first client's violation, at least $K\cdot\sum \Lambda_{\min}$ over rounds 1, "
        r"$\ldots$, $T-K$ less $K\bar\Lambda T/2$,",
        domain=r"all admissions for a client with $B_1=K\bar\Lambda/2$; every policy inside the region, "
        r"any $K$, $\bar\Lambda$, $\rho=\exp(-\text{decay})$",
    )
    return obeying(found, {"the total is the sum of lower ends": totals_are_sums()})


def overflow_in_rho() -> Evidence:
    """Round 1 alone: ACDPP admits Λ̄/(1-ρ)."""
    found = diverges(
        region_maximum(WIDE, 1) - K * rate,
        h,
        what=r"the buffer violation of round 1, $\Lambda_{\max}(1)-\sum B$,",
        domain=r"$T=1$, $\sum B=K\bar\Lambda$, any split; $\rho=1-1/h$, $h\to\infty$",
    )
    return obeying(found, {r"round 1 of ACDPP admits $\Lambda_{\max}(1)$": without_debt()})


# --- the largest violation ---------------------------------------------------------------------------------


def split_in_proportion() -> Evidence:
    """n_m = n·B_m/ΣB: all clients violate or none does, and the positive parts add up to that of the total."""
    share, excess = sp.symbols("share excess", real=True)
    return always(
        sp.Eq(sp.Max(0, share * excess) + sp.Max(0, (1 - share) * excess), sp.Max(0, excess), evaluate=False),
        given=[share >= 0, share <= 1],
        domain="two clients, or one and all the others: by induction any number of them",
    )


def counted() -> Evidence:
    """Σ_{t<=T} n(t) = ΣΛ(s)·min(K, T-s+1), by induction over T: in round T+1 the count grows by 1 if s is in memory."""
    age, horizon = sp.symbols("age K", integer=True, positive=True)  # age = T+1-s in round T
    grown = sp.Min(horizon, age + 1) - sp.Min(horizon, age)
    domain = "every K, T and round s <= T; a new round counts once: min(K, 1) = 1"
    return together(
        always(sp.Eq(grown, 1, evaluate=False), given=[age < horizon], domain=domain),
        always(sp.Eq(grown, 0, evaluate=False), given=[age >= horizon], domain=domain),
        always(sp.Eq(sp.Min(horizon, age), 1, evaluate=False), given=[sp.Eq(age, 1)], domain=domain),
    )


def counted_by_name() -> Evidence:
    """The same with every sample by name."""

    def differs(K: int, admissions: list[int]) -> Any:
        T = len(admissions)
        held = sum(s.n for s in simulate([[a] for a in admissions], K))
        weighed = sum(a * min(K, T - s + 1) for s, a in enumerate(admissions, start=1))
        return None if held == weighed else {"Σn": held, "ΣΛ·min(K, T-s+1)": weighed}

    paths = [[1], [2, 0, 3], [1, 5, 0, 2, 2, 1], [4, 1, 1, 0, 0, 0, 7, 2]]
    return exhaust(
        [{"K": K, "admissions": path} for K in (1, 2, 3, 5, 9) for path in paths],
        differs,
        domain="sample-level simulation, $K=1$, 2, 3, 5, 9",
    )


def worst_policy() -> Evidence:
    """Linear and increasing in every admission: the upper end is worst, in every round at once."""
    count, admitted, most = sp.symbols("count admitted most", nonnegative=True)
    return decided(
        count * admitted <= count * most,
        given=[admitted <= most],
        domain="every round, every policy inside the region",
    )


def taken_apart(horizon: Any, rounds: Any) -> tuple[Any, Any]:
    """theory's largest excess with its two sums as symbols S and LATE, and the second sum."""
    excess, whole = buffer_excess_maximum(horizon, rounds, REGION), lambert_partial(rho, rounds + 1)
    (late,) = excess.atoms(sp.Sum) - {whole}
    return excess.xreplace({whole: S, late: LATE}), late


def closed_form() -> Evidence:
    """theory's form: h(s) = ρ^s/(1-ρ^s) has the weight min(K, T-s+1), and what is left is Λ̄(Σmin(K, j) - KT)."""
    found, s, j = [], sp.Symbol("s", integer=True, positive=True), sp.Symbol("j", integer=True, positive=True)
    for case, (horizon, rounds) in CASES.items():
        k, domain = sp.Min(horizon, rounds), f"{case}, every ρ and Λ̄"
        excess, late = taken_apart(horizon, rounds)
        index, first, last = late.limits[0]
        counts = sp.summation(j, (j, 1, k)) + (rounds - k) * k  # Σ_{j<=T} min(K, j)
        less = late.function.subs(index, s) / (rho**s / (1 - rho**s))
        found += [
            equal(
                excess,
                rate * (horizon * S - LATE + counts - horizon * rounds),
                domain=domain,
                what=r"the excess and $\bar\Lambda(K\sum h-\ \text{late}\ +\sum \min(K,j)-KT)$",
            ),
            equal(horizon - less, rounds - s + 1, domain=domain, what="a late round's weight and $T-s+1$"),
            equal(first, rounds - k + 1, domain=domain, what=r"the first late round and $T-\min(K,T)+1$"),
            equal(last, rounds, domain=domain, what="the last late round and $T$"),
        ]
    return together(*found)


def extreme_policies(context: Context) -> Evidence:
    """Every choice of ends: the largest Σ(n - KΛ̄) is theory's number, in exact arithmetic."""

    def differs(K: int, T: int, region: Region) -> Any:
        totals = []
        for ends in corners(T):
            admitted = placed(region, ends)
            totals.append(sum(sum(admitted[max(t - K, 0) : t], Fraction(0)) for t in range(1, T + 1)))
        largest = max(totals) - K * region.rate * T
        told = (buffer_excess_maximum(K, T, region), buffer_violation_maximum(K, T, region))
        return None if told == (largest, max(largest, 0)) else {"largest": largest, "theory": told}

    horizons = range(1, context.choose(6, 9))
    spaces = [Region(rate=2, rho=Fraction(1, 2)), Region(rate=Fraction(5, 3), rho=Fraction(9, 10))]
    return exhaust(
        [{"K": K, "T": T, "region": region} for region in spaces for K in (1, 2, 3, 4, 7) for T in horizons],
        differs,
        domain="all $2^T$ policies at the ends of the region; $K=1$, 2, 3, 4, 7, two regions",
    )


def one_sum() -> Evidence:
    """The simpler bound exceeds it by what the last rounds are counted less: sums of numbers that are not negative."""
    found = []
    for case, (horizon, rounds) in CASES.items():
        k = sp.Min(horizon, rounds)
        excess, _ = taken_apart(horizon, rounds)
        simple = buffer_violation_bound(horizon, rounds, REGION).xreplace(
            {lambert_partial(rho, rounds + 1): S}
        )
        found.append(
            equal(
                simple - excess,
                rate * (LATE + k * (2 * horizon - k - 1) / 2),
                domain=f"{case}, every ρ",
                what="the difference and what is counted less",
            )
        )
    s, k, horizon, rounds = sp.symbols("s k K T", integer=True, positive=True)
    found.append(
        decided(
            [s + horizon - rounds - 1 >= 0, k * (2 * horizon - k - 1) >= 0],
            given=[s >= rounds - k + 1, k <= horizon],
            domain=r"the weights of the late rounds, and what the first rounds lack, $k=\min(K,T)$",
        )
    )
    return together(*found)


def vanishing_tail() -> Evidence:
    """At most K² terms ρ^s/(1-ρ^s) with s > T-K are counted less: they tend to 0, and what is left has no T."""
    horizon, decay, count = sp.symbols("T decay K", positive=True)
    last = sp.exp(-decay * (horizon - count + 1))
    return tends_to(
        count**2 * last / (1 - last),
        horizon,
        0,
        what=r"$K^2\cdot\rho^s/(1-\rho^s)$ at $s=T-K+1$",
        domain=r"any $K$ and $\rho=\exp(-\text{decay})$",
    )


def turns_once() -> Evidence:
    """n(t) at the upper ends: it grows up to round K, from where K admissions above Λ̄ make it more than KΛ̄."""
    top = sp.cancel(plain(region_maximum(REGION, t)))
    power = sp.Symbol("rho^t", positive=True)
    held, full = sp.symbols("held full", nonnegative=True)
    domain = "every round t, 0 < ρ < 1, Λ̄"
    return together(
        decided(held + top > held, given=[power < 1], domain=f"{domain}: up to round K a round only adds"),
        decided(
            held + top > full + rate,
            given=[held >= full, power < 1],
            domain=f"{domain}; K such admissions against K times Λ̄, one after the other",
        ),
    )


MAXIMUM: dict[str, Check | tuple[Check, ...]] = {
    "split": split_in_proportion,
    "counted": (counted, confirming(counted_by_name)),
    "worst policy": worst_policy,
    "closed form": (closed_form, confirming(extreme_policies)),
    "Λ_max": beyond_rate,
}
WHY = (
    r"With $n_m=n\cdot B_m/\sum B$ all clients violate or none does, and "
    r"$\mathrm{Vio}^{\mathrm{B}}=[\sum (n-\sum B)]^{+}$. A sample of round $s$ is trained on in "
    r"$\min(K,T-s+1)$ of the rounds up to $T$, so $\sum n=\sum \Lambda(s)\cdot\min(K,T-s+1)$: linear and "
    r"increasing in every $\Lambda(s)$, hence largest at $\Lambda_{\max}(s)$, which is inside the "
    "region. The positive part of a largest value is the largest positive part."
)
BOUNDED = (
    r"It is at most $K\bar\Lambda\sum h(s)$, $h(s)=\rho^s/(1-\rho^s)$, which is bounded in $T$: with "
    r"$g=(1-\rho^s)/(1-\rho)=\sum_{j<s}\rho^j\ge s\rho^{(s-1)/2}$, $h(s)$ is at most "
    r"$\sqrt{\rho}\cdot\sqrt{\rho}^s/(s(1-\rho))$, and $\sum q^s/s=\log(1/(1-q))$."
)
DESIGN = r"$\sum B=K\bar\Lambda$ (the paper's design, $\lambda_m=B_m/K$ of cor:optimal-k)"
PROPORTIONAL = r"$\Lambda(t)$ is split over the clients in proportion to $B_m$"

CLAIMS = [
    Claim(
        id="rem:buffer-violation",
        kind="remark",
        title=r"$\mathrm{Vio}^{\mathrm{B}}=O(1)$",
        statement=r"With the $K$ of the paper's design, $\sum B=K\bar\Lambda$ (cor:optimal-k, which the "
        "paper adopts from there on), the cumulative buffer violation, client by client, stays bounded "
        r"in $T$. (The policy chooses the total admission alone; $\rho$ is fixed. Literally the remark "
        "takes a $K$ for which the violation stays bounded and concludes that it does: a tautology, "
        "which names no $K$, and not what is judged.)",
        formula=r"\mathrm{Vio}^{\mathrm B}(T)=\sum_m\Bigl[\sum_tE[n_m(t)-B_m]\Bigr]^+=O(1)",
        domain=f"{DESIGN}, any split of Λ(t) over the clients, 0 < ρ < 1 fixed",
        symbols={"n_m": "samples in the buffer of client $m$"},
        checks=(one_client_takes_all, one_client_without_end),
        hypotheses=(PROPORTIONAL,),
        given=(WRITTEN,),
        checks_with_hypotheses={
            **MAXIMUM,
            "at most": one_sum,
            "bounded in $T$": (lambert_summand, lambert_closed),
        },
        sketch=f"{WHY}{BOUNDED}",
        corrected=Correction(
            title=r"split $\propto B_m$: the largest $\mathrm{Vio}^{\mathrm{B}}$ is $[\sum "
            r"\Lambda_{\max}(s)\cdot\min(K,T-s+1)-K\bar\Lambda T]^{+}$, exactly",
            statement=said(
                r"If $\Lambda(t)$ is split in proportion to the buffers, the largest buffer violation of "
                r"a policy inside the region is $[\sum \Lambda_{\max}(s)\cdot\min(K,T-s+1)-K\bar\Lambda "
                r"T]^{+}$, attained by always admitting $\Lambda_{\max}$. It is at most $@bound$, and as "
                r"$T$ grows it tends to $[K\bar\Lambda(\sum \rho^s/(1-\rho^s)-(K-1)/2)]^{+}$: 0 wherever "
                "that sum, over all rounds, is at most $(K-1)/2$. $J_t$ sees only the total, so without "
                "a rule for the split nothing bounds single clients.",
                bound=buffer_violation_bound(K, T, REGION),
            ),
            formula=said(
                r"\max_\Lambda\mathrm{Vio}^{\mathrm B}(T)=\Bigl[\sum_{s\le T}\Lambda_{\max}(s)\min(K,T-s+1)"
                r"-K\bar\Lambda T\Bigr]^+=\Bigl[@M\Bigr]^+",
                M=EXCESS,
            ),
            hypotheses=(r"$\lambda_m(t)=\Lambda(t)B_m/\sum B$", r"$\sum B=K\bar\Lambda$"),
            given=(WRITTEN,),
            symbols={"s": "a round", "Λ_max": "upper end of the region"},
            sketch=f"{WHY} Write Λ_max(s) = Λ̄(1+h(s)), h(s) = ρ^s/(1-ρ^s), and min(K, T-s+1) = K less what the last "
            "min(K, T) rounds are counted less; Σ_{j<=T}min(K, j) - KT = -k(2K-k-1)/2 with k = min(K, T).",
            checks={**MAXIMUM, "at most": one_sum, "as $T$ grows": vanishing_tail},
        ),
    ),
    Claim(
        id="rem:buffer-violation/uniform",
        kind="reading",
        title=r"$\mathrm{Vio}^{\mathrm{B}}=O(1)$ with one bound for all $\rho$",
        statement=r"With a fixed $K$ one bound on the buffer violation does for all $\rho$ and $T$.",
        formula=r"\sup_{\rho,T}\mathrm{Vio}^{\mathrm B}(T)<\infty",
        domain=f"{DESIGN}, any split of Λ(t), every 0 < ρ < 1 and T >= 1",
        checks=(overflow_in_rho,),
        corrected=Correction(
            title=said(
                r"the supremum over $T$ is asymptotic to $@r$, $\rho\to1$",
                r=K * rate * cost_violation_rate(rho),
            ),
            statement=said(
                r"If $\Lambda(t)$ is split in proportion to the buffers, the supremum of "
                r"$\mathrm{Vio}^{\mathrm{B}}$ over all $T$ and all policies inside the region is "
                r"$K\bar\Lambda(S-(K-1)/2)$ with $S=\sum \rho^s/(1-\rho^s)$ over all rounds, as soon as "
                r"that is positive: always admitting $\Lambda_{\max}$ comes as close as one likes, and "
                r"no finite $T$ attains it. $S$ is asymptotic to $@r$ as $\rho$ tends to 1.",
                r=cost_violation_rate(rho),
            ),
            formula=said(
                r"\sup_{\Lambda,T}\mathrm{Vio}^{\mathrm B}(T)\sim@r\quad(\rho\to1)",
                r=K * rate * cost_violation_rate(rho),
            ),
            hypotheses=(r"$\lambda_m(t)=\Lambda(t)B_m/\sum B$", r"$\sum B=K\bar\Lambda$"),
            given=(WRITTEN,),
            sketch=f"{WHY} In T the excess falls while n(t) < KΛ̄ and grows strictly from then on, as n(t) grows up to "
            "round K and is more than KΛ̄ from there on; so its positive part has its limit or 0 for a supremum. The "
            "limit is KΛ̄(S - (K-1)/2): of the closed form only the late rounds, at most K terms that tend to 0, are "
            "lost. For S see "
            "thm:dpp-cost-constraint/uniform: it lies between Σρ^t/(t(1-ρ)) and √ρΣ√ρ^t/(t(1-ρ)), and these agree "
            "to leading order.",
            checks={
                **MAXIMUM,
                "turns once": turns_once,
                "as $T$ grows": vanishing_tail,
                "term by term": lambert_summand,
                "closed": lambert_closed,
                r"order in $\rho$": lambert_order,
            },
        ),
    ),
]
