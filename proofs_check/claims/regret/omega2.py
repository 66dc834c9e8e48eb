r"""Ω₂, the price of the region's transient (`lem:omega2-order`): its order in 1-ρ, its limit, and a step of the proof.

The lemma is true, for the printed comparison and for the repaired one, uniformly in T and with constants that can be
written down (`theory.transient.omega2_bound`). It is sharp for K >= 2: with \(t=s/(1-\rho)\) the occupancy of the
comparison tends to \(\bar\Lambda(K-(K-1)e^{-s})\) and 1/N to 0, so \((1-\rho)\Omega_2\) tends to an integral over s,
which \(u=e^{-s}\) makes elementary. The printed proof divides by \((1-\rho)t^2-t\), which is negative or 0 at first.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.omega2_rounds import (
    early_rounds,
    linear_rounds,
    printed_below,
    repaired_below,
    root_rounds,
    sequences,
    third_rounds,
    window,
)
from proofs_check.groundwork.regret.omega2_sums import (
    assembled,
    floor_assembled,
    floor_of_order_h,
    integrals,
    of_order_h,
    other_sums,
    positive_from_two,
    stated_floor,
)
from proofs_check.groundwork.regret.orders import RATIONAL, links
from proofs_check.groundwork.regret.transient import most_samples, plain, third_term
from proofs_check.notation import CONSTANTS, REGION, Formula, K, rate, rho, said, t, written
from theory.algebra import ball, log_plus, precise, ratio, sqrt
from theory.bound import PER_ROUND
from theory.region import region_maximum, region_minimum, region_minimum_total
from theory.regret import omega2, omega2_as_stated, omega2_limit
from theory.setting import Region
from theory.transient import omega2_bound, omega2_floor, omega2_floor_as_stated

# --- Ω₂ itself ---------------------------------------------------------------------------------------------


def _by_hand(K: int, region: Region, T: int, *, stated: bool) -> list[Any]:
    """Ω₂'s three terms from the definitions, a round at a time, with the region's ends added up one by one."""
    c, target = (RATIONAL if stated else RATIONAL.merged), region.rate
    least, most = ([end(region, j) for j in range(1, T)] for end in (region_minimum, region_maximum))
    sums = [ball(0)] * 3

    def third(N: Fraction, inside: Fraction) -> Any:
        return 10 * ball(c.B) * sqrt(ball(c.Pdim / N) * (1 + log_plus(ball(inside / c.Pdim))))

    for now in range(1, T + 1):
        few, many = sum(least[: now - 1]) + target, sum(most[: now - 1]) + target
        if stated:
            n, N, inside = (K - 1) * (least[now - K - 1] if now > K else 0) + target, few, many
            steady = 1 / (K * target) - 1 / (now * target)
        else:
            n, N, inside = sum(least[max(now - K, 0) : now - 1]) + target, many, few
            steady = 1 / (min(now, K) * target) - 1 / (now * target)
        gap = 1 / n - 1 / N
        roots = [sqrt(ball(max(x, Fraction(0)))) for x in (gap, steady)]
        sums[0] += ball(c.D * c.sigma) * (roots[0] - roots[1])
        sums[1] += ball(c.eta * c.sigma**2 * (gap - steady))
        sums[2] += third(few, inside) - third(now * target, now * target)
    return sums


POINT = {"K": 3, "rho": "4/5", "Λ̄": "7/2"}


def the_sum(context: Context, *, stated: bool) -> Evidence:
    """theory.regret's Ω₂(T), summed by Euler-Maclaurin, against the definition added up round by round."""
    region, T = Region(rate=Fraction(7, 2), rho=Fraction(4, 5)), context.choose(12, 60)
    with precise():
        value = (omega2_as_stated if stated else omega2)(3, region, T, RATIONAL, certified=True).terms
        slow = _by_hand(3, region, T, stated=stated)
    return compare(
        lambda p: abs(getattr(value, PER_ROUND[p["term"]]) - slow[p["term"]]),
        "<=",
        lambda p: ball(Fraction(1, 10**15)),
        [{**POINT, "T": T, "term": i} for i in range(3)],
        domain=f"constants {RATIONAL}",
    )


@cache
def _bracketed(power: int, *, stated: bool) -> list[tuple[Any, Any, Any]]:
    """Lower bound, certified Ω₂(10^9), upper bound, for each term."""
    value_of, floor_of = (omega2_as_stated, omega2_floor_as_stated) if stated else (omega2, omega2_floor)
    region = Region(rate=Fraction(7, 2), rho=1 - Fraction(1, 10**power))
    value = value_of(3, region, 10**9, RATIONAL, certified=True).terms
    with precise():
        low, high = (bound(3, region.map(ball), RATIONAL.map(ball)) for bound in (floor_of, omega2_bound))
    return [tuple(getattr(x, name) for x in (low, value, high)) for name in PER_ROUND]


def between(context: Context, *, stated: bool) -> Evidence:
    """Certified Ω₂(T), term by term, inside the bounds."""

    def slack(p: Any) -> Any:
        low, value, high = _bracketed(p["e"], stated=stated)[p["term"]]
        return (value - low).min(high - value)

    return compare(
        slack,
        ">=",
        lambda p: 0,
        [
            {"K": 3, "1-rho": f"1e-{e}", "e": e, "T": 10**9, "term": i}
            for e in context.choose((1,), (1, 2, 4))
            for i in range(3)
        ],
        domain=f"Λ̄ = 7/2, constants {RATIONAL}: the smaller distance of a term of Ω₂ from its two bounds",
    )


# --- a step of the printed proof ---------------------------------------------------------------------------


def _recip(rho: Fraction, t: int) -> Fraction:
    """1/N_lb - 1/(Λ̄t), Λ̄ = 1."""
    return Fraction(ratio(1, region_minimum_total(Region(rate=1, rho=rho), t) + 1)) - Fraction(1, t)


def division_as_stated() -> Evidence:
    def violated(rho: Fraction, t: int) -> Any:
        left, divisor = _recip(rho, t), (1 - rho) * t * t - t
        if divisor == 0:
            return {"left": left, "(1-ρ)t²-t": divisor, "right": "division by zero"}
        return None if left <= 1 / divisor else {"left": left, "(1-ρ)t²-t": divisor, "right": 1 / divisor}

    return exhaust(
        [{"rho": Fraction(3, 4), "t": t} for t in (2, 3, 4, 5)], violated, domain="Λ̄ = 1, ρ = 3/4, t >= K = 2"
    )


def division_late() -> Evidence:
    gap, most, s = sp.symbols("delta h t", positive=True)  # N_lb = Λ̄(t-δ), δ <= h = 1/(1-ρ)
    return always(
        1 / (s - gap) - 1 / s <= 1 / (s**2 / most - s),
        given=[gap <= most, most < s],
        domain="every t > 1/(1-ρ): δ = Σρ^τ <= 1/(1-ρ); both sides times Λ̄",
    )


def division_early() -> Evidence:
    gap, s = sp.symbols("delta t", positive=True)
    return always(
        [1 / (s - gap) - 1 / s >= 0, 1 / (s - gap) - 1 / s <= 1],
        given=[gap <= s - 1],
        domain="every t >= 1: δ = Σ_{τ<t}ρ^τ <= t-1, so N_lb >= Λ̄; both sides times Λ̄",
    )


def deficit() -> Evidence:
    """N_lb = Λ̄(t-δ) with δ = (ρ-ρ^t)/(1-ρ), on theory's sum; δ <= ρ/(1-ρ), and δ <= t-1 because Λ_min >= 0."""
    y = sp.Symbol("y", positive=True)  # ρ^t
    fewest = plain((region_minimum_total(REGION, t) + rate) / rate, y=t)
    return together(
        equal(fewest, t - (rho - y) / (1 - rho), domain="every t, ρ", what="N_lb/Λ̄ and t-δ"),
        always((rho - y) / (1 - rho) <= 1 / (1 - rho), given=[rho < 1], domain="every t, ρ"),
    )


FIRST_TWO = (window, early_rounds, linear_rounds, root_rounds, integrals, other_sums, most_samples)


LIMIT = omega2_limit(K, rate, CONSTANTS).total
BOUND_SKETCH = (
    "Units of Λ̄; h = 1/(1-ρ), S = Σρ^t/(1-ρ^t) <= h·log 2h. Theory's sequences are as in `sequences`: "
    "the repaired mismatch is 1/(k-d) - 1/(t+S_t), the printed one 1/(K-d) - 1/(t-δ), the limit 1/K - "
    "1/t, k = min(t, K). The window lacks (k-1)ρ^(t-1) <= d <= (k-1)u, u = ρ^(t-k+1) (printed: d = "
    "(K-1)ρ^(t-K), u = ρ^(t-K)). Rounds t <= K: each is at most 1, for root and linear term. Linear "
    "term, t > K: the gap is φ(d) + S_t/(t(t+S_t)), φ(d) = d/(K(K-d)), which grows in d; the sum over u "
    "= ρ^j of a function that grows in u is at most its integral over j from 0, and ∫φ = log K/(K·a), a "
    "= log 1/ρ >= 1-ρ; ΣS/(t(t+S)) <= 1+log(1+S) by the integral test. Printed: the gap is at most φ(d). "
    "Root term, t > K: √(a-c)-√(b-c) <= (√a-√b)·t/(t-K) with a = 1/(K-d), b = 1/K, c <= 1/t. √a-√b <= "
    "ψ(u) = 1/√(K-(K-1)u) - 1/√K; its sum is at most ∫ψ = (2/√K)·log(2√K/(1+√K))/a, and that of "
    "K/(t-K)·ψ(u) <= K(1-1/√K)·ρ^(t-K)/(t-K) is (K-√K)·log h. Repaired, what is left is "
    "√(1/K-1/(t+S))-√(1/K-1/t) <= (K+1)/2·S/(t(t+S)). Third term: 10B√(Pdim/Λ̄) times (1/√f-1/√t)·L(M) + "
    "(L(M)-L(t))/√t, L(M) = √(1+log⁺(Λ̄M/Pdim)); repaired M = f <= t, printed M <= t+S, and f >= F_t >= "
    "t(t+1)/(2(h+t)). Up to t = 2h, 1/√f <= (5/2)√h/t and L(M) <= L(2h+S); beyond, 1/√f-1/√t <= "
    "h·t^(-3/2) and L(M) <= L(2h+S)·√2·(t/2h)^(1/4): sums (5/2)√h(1+log 2h) and (9/2)√h. L(M)-L(t) <= "
    "½log(1+S/t), whose sum over √t is at most π√S. Printed, from below: only 1/(t-δ)-1/t is lost, at "
    "most 1 in a round up to 2h and 2h/t² beyond, 2(h+1) in all."
)

CLAIMS = [
    Claim(
        id="lem:omega2-order",
        kind="lemma",
        title="Ω₂ = O(1/(1-ρ))",
        statement="The comparison penalties exceed their limits by order 1/(1-ρ) in total, uniformly in T.",
        formula=Formula(r"\Omega_2(T)=O(1/(1-\rho))", "Ω₂(T) = O(1/(1-ρ))"),
        domain="0 < ρ < 1, T >= 1, K and Λ̄ fixed; both sequences as printed, and with the repaired comparison. As "
        "printed two conventions are needed: Λ_min(s) = 0 for s <= 0, since the formula's Λ_min(t-K) is negative "
        "for t < K (eq:pC-upper-explicit/early-rounds), and the root of a negative number is 0",
        parts=(
            "first two terms, from above",
            "third term, from above",
            "the bound is O(1/(1-ρ))",
            "as printed, from below",
            "as printed",
            "repaired",
        ),
        checks={
            "first two terms, from above": links(*FIRST_TWO),
            "third term, from above": links(third_term, third_rounds, other_sums),
            "the bound is O(1/(1-ρ))": links(assembled, of_order_h),
            "as printed, from below": links(printed_below, stated_floor),
            "as printed": (
                partial(sequences, stated=True),
                confirming(partial(the_sum, stated=True)),
                confirming(partial(between, stated=True)),
            ),
            "repaired": (
                partial(sequences, stated=False),
                confirming(partial(the_sum, stated=False)),
                confirming(partial(between, stated=False)),
            ),
        },
        given=(WRITTEN,),
        sketch=BOUND_SKETCH,
    ),
    Claim(
        id="lem:omega2-order/limit",
        kind="addition",
        title="(1-ρ)Ω₂ has a limit: the lemma is sharp for K >= 2",
        statement=said(
            "With the repaired comparison, (1-ρ)Ω₂(∞) tends to @limit as ρ tends to 1, which is positive "
            "for K >= 2 and 0 for K = 1.",
            limit=LIMIT,
        ),
        formula=written(r"(1-\rho)\Omega_2\to@limit", "(1-ρ)Ω₂ → @limit", limit=LIMIT),
        domain="K and Λ̄ fixed, T = ∞ (Ω₂ grows with T), ρ → 1",
        parts=("from above", "from below", "positive for K >= 2", "the sequences"),
        checks={
            "from above": links(*FIRST_TWO, third_term, third_rounds, assembled, of_order_h),
            "from below": links(repaired_below, integrals, floor_assembled, floor_of_order_h),
            "positive for K >= 2": positive_from_two,
            "the sequences": (partial(sequences, stated=False), confirming(partial(between, stated=False))),
        },
        given=(WRITTEN,),
        sketch="From above: the bound of lem:omega2-order, whose product with 1-ρ has this limit. From "
        "below: every round of Ω₂ is at least 0, term by term, and so is the third term. From "
        "round K on the root term's round is at least ψ(u) = 1/√(K-(K-1)u) - 1/√K with u = "
        "ρ^(t-1) in units of Dσ/√Λ̄, because √(a-c)-√(b-c) >= √a-√b and the window lacks at least "
        "(K-1)u; the linear term's is at least φ(u) = (K-1)u/(K(K-(K-1)u)) in units of ηEσ²/Λ̄. "
        "The sum over t >= K of a function that falls in t is at least its integral from K-1 on, "
        "which is the whole integral less at most (K-1)ψ(1) or (K-1)φ(1). With u = ρ^s, ds = "
        "-du/(a·u), a = log 1/ρ, and ρh <= 1/a <= h for h = 1/(1-ρ). So ρh·limit - (K-1)(…) <= "
        "first two terms of Ω₂ <= h·limit + O(log h), and the third term is O(√h·(log h)^(3/2)).",
    ),
    Claim(
        id="lem:omega2-order/division",
        kind="step",
        title="1/N_lb - 1/(Λ̄t) <= 1/(Λ̄((1-ρ)t²-t))",
        statement="The reciprocals of the smallest and the limiting number of distinct samples differ by at "
        "most 1/(Λ̄((1-ρ)t²-t)) in every round t >= K.",
        formula=Formula(
            r"\frac1{N_{\mathrm{lb}}(t)}-\frac1{\bar\Lambda t}\le\frac1{\bar\Lambda((1-\rho)t^2-t)}",
            "1/N_lb(t) - 1/(Λ̄t) ≤ 1/(Λ̄((1-ρ)t²-t))",
        ),
        symbols={
            "N_lb": "the fewest distinct samples that the region allows after t rounds, the last at rate Λ̄"
        },
        domain="every t >= K, 0 < ρ < 1",
        checks=(division_as_stated,),
        hypotheses=("t > 1/(1-ρ)",),
        checks_with_hypotheses=(links(division_late, deficit),),
        corrected=Correction(
            title="for t > 1/(1-ρ) alone; before, the difference lies between 0 and 1/Λ̄",
            statement="The right side is negative for t < 1/(1-ρ) and undefined at t = 1/(1-ρ). Up to "
            "2/(1-ρ) use that the difference lies between 0 and 1/Λ̄; beyond, the printed bound. The lemma "
            "survives.",
            formula=Formula(
                r"0\le\frac1{N_{\mathrm{lb}}}-\frac1{\bar\Lambda t}\le\frac1{\bar\Lambda}\min\Bigl(1,"
                r"\tfrac1{(1-\rho)t^2-t}\Bigr)"
                r"\ \text{for }t>\tfrac1{1-\rho}",
                "0 ≤ 1/N_lb - 1/(Λ̄t) ≤ 1/Λ̄ for all t; ≤ 1/(Λ̄((1-ρ)t²-t)) for t > 1/(1-ρ)",
            ),
            symbols={
                "N_lb": "the fewest distinct samples that the region allows after t rounds, the last at rate Λ̄"
            },
            sketch="N_lb = Λ̄(t-δ) with δ = Σ_{τ<t}ρ^τ, at most 1/(1-ρ) and at most t-1.",
            parts=("t > 1/(1-ρ)", "every t"),
            checks={"t > 1/(1-ρ)": links(division_late, deficit), "every t": links(division_early, deficit)},
        ),
    ),
]
