r"""Which way the penalty moves (`lem:dpp-T-slot-upper/monotone`), and the printed bound on it after a switch to Λ̄.

The penalty falls in n, not in N: the printed \(\bar p^{CK}\), which takes 1/N at the smallest N, is no upper bound. The
repaired one, `theory.penalty.penalty_comparison`, is, for every K, t, region, constants and history inside the region.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.control.inside_region import lies_inside, placed, switched
from proofs_check.groundwork.control.repaired_penalty import (
    CASES,
    LIGHTER,
    ends,
    first_terms_move,
    jointly_sharp,
    never_exceeded,
    pieces_at_the_ends,
    plain,
    third_term_falls,
    totals_are_sums,
    totals_in_numbers,
)
from proofs_check.groundwork.regret.orders import UNIT
from proofs_check.symbols import CONSTANTS, REGION, n, rate
from proofs_check.text import said
from theory.algebra import ball, log
from theory.bound import generalisation_term, linear_term, root_term
from theory.penalty import penalty, penalty_comparison_as_stated, penalty_terms
from theory.region import (
    region_maximum,
    region_maximum_total,
    region_minimum,
    region_minimum_window,
)
from theory.setting import Constants, Region

r, a = sp.symbols("r a", positive=True)
# small constants with a light generalisation term, so that examples are easy to check by hand
LIGHT = Constants(D=1, sigma=1, eta=1, B=Fraction(1, 10), Pdim=4)
# what the correction prints: 1/n - 1/N at its ends
GAP = 1 / sp.Symbol("n_min", positive=True) - 1 / sp.Symbol("N_max", positive=True)
FEWEST = sp.Symbol("N_min", positive=True)


def printed_formula() -> Evidence:
    """theory's stated form is the printed one, term by term: n and N at lower bounds, N_max in the logarithm alone."""
    found, share = [], linear_term(1, CONSTANTS)
    for case, (horizon, now) in CASES.items():
        terms = penalty_comparison_as_stated(horizon, now, REGION, CONSTANTS)
        _, most, fewest = ends(sp.Min(horizon, now), now)
        held = (horizon - 1) * region_minimum(REGION, now - horizon) + rate
        found += [
            equal(
                plain(terms.linear / share, now),
                plain(1 / held - 1 / fewest, now),
                domain=f"{case}, Λ_min(s) = 0 for s <= 0",
                what="the second term's $1/n-1/N$ and the printed one",
            ),
            equal(
                terms.root,
                root_term(terms.linear / share, CONSTANTS),
                domain=case,
                what="the first term and its",
            ),
            equal(
                terms.generalisation,
                generalisation_term(1 / fewest, most, CONSTANTS),
                domain=case,
                what="the third term and the printed one",
            ),
        ]
    return together(*found)


def _least(K: int, t: int, region: Region) -> Any:
    return region_minimum_window(region, min(K, t), t) + region.rate


def grows_in_distinct() -> Evidence:
    """The first two terms' 1/n - 1/N grows with N; at N = n the root's slope in it is infinite, so p grows there."""
    numbers = UNIT.map(ball)
    return compare(
        lambda p: penalty(ball(p["n"]), ball(p["N"] + 1), numbers),
        "<=",
        lambda p: penalty(ball(p["n"]), ball(p["N"]), numbers),
        [{"n": 10**4, "N": 10**4, "D": 1, "sigma": 1, "eta": 1, "B": 1, "Pdim": 5}],
        domain=r"$p(n,N+1)\le p(n,N)$ at $n=N=10{,}000$, all constants 1, $\mathrm{Pdim}$ 5",
    )


def exceeds_as_stated() -> Evidence:
    """One past round, inside the region, after which the penalty of the switch is above the printed bound."""
    region, first = Region(rate=1, rho=Fraction(2, 3)), Fraction(16, 9)

    def exceeds(K: int) -> Any:
        held, seen = switched([first], K, 1)
        true = sp.sympify(penalty(held, seen, LIGHT))
        printed = sp.sympify(penalty_comparison_as_stated(K, 2, region, LIGHT).total)
        if sp.N(true - printed, 30) <= 0:
            return None
        decimals = {name: str(sp.N(value, 8)) for name, value in (("p^CK", true), ("p̄^CK", printed))}
        return {"t": 2, "n^C": held, "N^C": seen, "p^CK": true, "printed p̄^CK": printed, "decimals": decimals}

    found = exhaust(
        [{"K": 1}],
        exceeds,
        domain=r"$\bar\Lambda=1$, $\rho=2/3$; $D=\sigma=\eta=1$, $B=1/10$, $\mathrm{Pdim}=4$; "
        r"$\Lambda(1)=16/9$ lies in $[1/3,3]$",
    )
    return obeying(
        found,
        {r"$\Lambda(1)$ inside the region": lies_inside([first], region), "the formula": printed_formula()},
    )


def exceeds_with_reuse() -> Evidence:
    """The same with K = 2: round 1 at its upper end, round 2 at its lower end."""
    region = Region(rate=1, rho=Fraction(1, 2))
    past = [region_maximum(region, 1), region_minimum(region, 2)]
    held, seen = (ball(v) for v in switched(past, 2, 1))
    numbers, balls = LIGHTER.map(ball), region.map(ball)
    found = compare(
        lambda p: penalty(held, seen, numbers),
        "<=",
        lambda p: penalty_comparison_as_stated(2, 3, balls, numbers).total,
        [{"K": 2, "t": 3, "rho": "1/2", "Λ(1)": "2", "Λ(2)": "3/4", "n^C": "7/4", "N^C": "15/4"}],
        domain=r"$\bar\Lambda=1$; $D=\sigma=\eta=1$, $B=1/100$, $\mathrm{Pdim}=4$",
    )
    return obeying(found, {"both rounds inside the region": lies_inside(past, region)})


def falls_in_memory() -> Evidence:
    """What both first terms are of, 1/n - 1/N, falls in n."""
    more, N = sp.symbols("more N", positive=True)

    def gap(memory: Any) -> Any:
        return penalty_terms(memory, N, CONSTANTS).linear / linear_term(1, CONSTANTS)

    return always(gap(n + more) < gap(n), domain="every $n$ and $N$; the third term does not depend on $n$")


def falls_in_admission() -> Evidence:
    """n = r+Λ and N = r+a+Λ: what the policy chooses moves both."""
    first, second = sp.symbols("first second", positive=True)

    def gap(admitted: Any) -> Any:
        return penalty_terms(r + admitted, r + a + admitted, CONSTANTS).linear / linear_term(1, CONSTANTS)

    return always(
        gap(second) < gap(first),
        given=[second > first],
        domain=r"every $r$, $a>0$ and $\Lambda$: the first two terms fall; the third falls in $N$",
    )


def slope_in_distinct() -> Evidence:
    """N²·dp/dN for N >= Pdim: a part that falls in N (through 1/n - 1/N) less one that grows in N."""
    w, gap = sp.symbols("w gap", positive=True)
    D, sigma, eta, B, P = (getattr(CONSTANTS, name) for name in ("D", "sigma", "eta", "B", "Pdim"))
    seen, L = P * (1 + w), log(1 + w)
    falling = sp.diff(root_term(gap, CONSTANTS) + linear_term(gap, CONSTANTS), gap)
    growing = -(seen**2) / P * sp.diff(generalisation_term(1 / seen, seen, CONSTANTS), w)
    two = 5 * B * sp.sqrt(P * seen) * L / sp.sqrt(1 + L)
    rises = 5 * B * P * ((1 + L) * L + 2 * (1 + L) - L) / (2 * sp.sqrt(1 + w) * (1 + L) ** sp.Rational(3, 2))
    return together(
        equal(falling, D * sigma / (2 * sp.sqrt(gap)) + eta * sigma**2, domain="every gap $1/n-1/N>0$"),
        equal(growing, two, domain=r"every $N>\mathrm{Pdim}$, $L=\log(N/\mathrm{Pdim})$"),
        equal(
            sp.diff(two, w), rises, domain=r"every $N>\mathrm{Pdim}$", what="its slope and a positive number"
        ),
    )


def turning_point(context: Context) -> Evidence:
    """With all constants 1 and Pdim 5, on both sides of N₀; for n = 10000 it lies between 10002 and 10004."""
    numbers = UNIT.map(ball)
    starts = {10: 11, 10**2: 101, 10**4: 10**4 + 3}
    steps = context.choose((1, 10, 10**6), (1, 2, 10, 10**3, 10**6, 10**9))
    return compare(
        lambda p: penalty(ball(p["n"]), ball(p["N"] + p["step"]), numbers),
        "<",
        lambda p: penalty(ball(p["n"]), ball(p["N"]), numbers),
        [{"n": m, "N": first, "step": step} for m, first in starts.items() for step in steps],
        domain=r"all constants 1, $\mathrm{Pdim}$ 5: falling from $N=11$, 101, $10{,}003$ on for $n=10$, "
        "100, $10{,}000$",
    )


def ends_attained(context: Context) -> Evidence:
    """Lower ends in memory and upper ends before attain the sharp 1/n - 1/N; all upper ends attain N_max."""

    def misses(K: int, t: int, rho: Fraction) -> Any:
        region = Region(rate=3, rho=rho)
        gone = max(t - K, 0)
        positions = [Fraction(1)] * gone + [Fraction(0)] * (t - 1 - gone)
        held, seen = switched(placed(region, positions), K, region.rate)
        left = region_maximum_total(region, gone + 1)
        least = _least(K, t, region)
        sharp = 1 / Fraction(least) - 1 / Fraction(least + left)
        _, most = switched(placed(region, [Fraction(1)] * (t - 1)), K, region.rate)
        told = (1 / Fraction(held) - 1 / Fraction(seen), most)
        true = (sharp, region_maximum_total(region, t) + region.rate)
        return None if told == true else {"1/n - 1/N and N of the histories": told, "expected": true}

    rounds = range(1, context.choose(7, 12))
    return exhaust(
        [
            {"K": K, "t": t, "rho": rho}
            for K in (1, 2, 4)
            for t in rounds
            for rho in (Fraction(1, 2), Fraction(5, 7))
        ],
        misses,
        domain=r"$K=1$, 2, 4, the first rounds, $\rho=1/2$, $5/7$, $\bar\Lambda=3$",
    )


CLAIMS = [
    Claim(
        id="lem:dpp-T-slot-upper/monotone",
        kind="step",
        title=r"$p$ falls in $n$ and in $N$, so $p^{\mathrm{CK}}\le\bar p^{\mathrm{CK}}$",
        statement="The penalty decreases in the memory $n$ and in the number $N$ of distinct samples; so "
        "lower bounds on both, put into it, bound the penalty after the switch from above.",
        formula=r"p\searrow\text{ in }n,N\ \Rightarrow\ p^{CK}(t)\le\bar p^{CK}(t)",
        domain=r"every $n\le N$, every policy inside the region, $t\ge1$",
        checks=(exceeds_as_stated, exceeds_with_reuse, grows_in_distinct),
        symbols={"p^CK": "the penalty after the switch", "p̄": "the printed bound on it"},
        corrected=Correction(
            title=r"$p$ falls in $n$ and in $\Lambda$; in $N$ only beyond some $N_0>n$; $\bar "
            r"p^{\mathrm{CK}}$ needs $\Lambda_{\max}$ in $1/n-1/N$",
            statement=r"$p$ falls in $n$, and in $\Lambda$, which moves $n$ and $N$ together. In $N$ "
            "alone its first two terms grow, with infinite slope at $N=n$, and the third falls: from "
            r"$\mathrm{Pdim}$ on $p$ rises up to one $N_0$ and falls beyond. Put the smallest $n$ and "
            "the largest $N$ into $1/n-1/N$, and the smallest $N$ into the third term: that is an upper "
            r"bound on $p^{\mathrm{CK}}$, for every history inside the region. Each end is attained, "
            r"$n_{\min}$ and $N_{\max}$ together only for $K=1$; the largest $1/n-1/N$ is "
            r"$1/n_{\min}-1/(n_{\min}+\sum_{j\le t-K}\Lambda_{\max}(j))$.",
            formula=said(
                r"p^{CK}\le@first+@second+@third",
                first=root_term(GAP, CONSTANTS).replace(sp.Max, lambda *x: x[-1] if x[0] == 0 else x[0]),
                second=linear_term(GAP, CONSTANTS),
                third=generalisation_term(1 / FEWEST, FEWEST, CONSTANTS).replace(
                    sp.Max, lambda *x: sp.Max(*x) if 1 in x else x[-1]
                ),
            ),
            symbols={
                "n_min": r"$\bar\Lambda$ and the lower ends of the last $\min(K,t)-1$ rounds",
                "N_max": r"$\bar\Lambda$ and the upper ends of all earlier rounds",
                "N_min": r"$\bar\Lambda$ and the lower ends of all earlier rounds",
                "p^CK": "the penalty after the switch",
            },
            sketch="The admissions of a history inside the region lie between the ends of their rounds, "
            r"so $n^C\ge n_{\min}$ and $N_{\min}\le N^C\le N_{\max}$, sums that theory has in closed "
            "form (induction over $t$). $1/n-1/N$ falls in $n$ and grows in $N$, and the first two terms "
            r"grow in it. $g(N)=\sqrt{\mathrm{Pdim}/N}\cdot\sqrt{1+\log^{+}(N/\mathrm{Pdim})}$ falls, "
            r"because $(1+\log x)/x$ has slope $-\log(x)/x^2\le0$. For the sharp form write $N=n+A$ with "
            "$A$ the admissions that have left the memory: lower ends in memory and upper ends before "
            r"attain it. $N^2\cdot dp/dN$ is $D\sigma/(2\sqrt{1/n-1/N})+\eta\sigma^2$, falling in $N$, "
            r"less $5B\sqrt{\mathrm{Pdim}\cdot N}\cdot L/\sqrt{1+L}$, $L=\log(N/\mathrm{Pdim})$, "
            r"growing: one change of sign for $N\ge\mathrm{Pdim}$.",
            checks={
                "in $n$": falls_in_memory,
                r"in $\Lambda$": falls_in_admission,
                "first two terms": first_terms_move,
                "third term": third_term_falls,
                "the ends are sums": (totals_are_sums, confirming(totals_in_numbers)),
                "theory's pieces are at the ends": (pieces_at_the_ends, confirming(never_exceeded)),
                "sharp, attained": (jointly_sharp, confirming(ends_attained)),
                "beyond $N_0$": (slope_in_distinct, confirming(turning_point)),
            },
        ),
    ),
]
