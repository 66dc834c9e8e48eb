r"""Bursts (`buy:bursts`): the oldest r-th of the memory is replaced with probability q in a round.

A sample stays until r bursts have come, a negative binomial number of rounds; its second moment is the effective rate.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.figures import between, rounds_to
from proofs_check.groundwork.buying.market import BUDGET, HIGH, LOW, PLACES, SHARE, SYMBOLS, S, q, r
from proofs_check.simulator import simulate_by_capacity
from proofs_check.text import said
from theory.algebra import ball, ratio
from theory.capacity import burst_effective_rate, burst_rate, effective_rate
from theory.knapsack import uniform_threshold
from theory.prices import Uniform

F = Fraction
LARGE_NUMBERS = Given(
    "the law of large numbers", "that means over independent lifetimes tend to expectations"
)
z = sp.Symbol("z", positive=True)
SETTING = "$S=100$, $C=55$, prices uniform on [1, 10]"


def lifetimes() -> Evidence:
    """From the generating function (qz/(1-(1-q)z))^r: E L = r/q, E L² = r(r+1-q)/q²; the rates follow."""
    series = (q * z / (1 - (1 - q) * z)) ** r
    first = sp.simplify(sp.diff(series, z).subs(z, 1))
    second = sp.simplify(sp.diff(z * sp.diff(series, z), z).subs(z, 1))
    return together(
        equal(
            q * z / (1 - (1 - q) * z) - q * z,
            (1 - q) * z * (q * z / (1 - (1 - q) * z)),
            domain="a burst now, or not and then the same: the generating function of one waiting time",
            what="both cases",
        ),
        equal(first, r / q, domain="every $r$ and $q$", what="the mean lifetime"),
        equal(burst_rate(S, r, q) * first, S, domain="every $r$ and $q$", what="rate times lifetime and $S$"),
        equal(
            S / (second / first),
            burst_effective_rate(S, r, q),
            domain="every $r$ and $q$",
            what=r"$S\cdot E$ $L/E$ $L^2$ and theory's effective rate",
        ),
    )


def ages() -> Evidence:
    """The k-th youngest part is as old as the k-th last burst, k/q on average: Ā = (r+1)/(2q)."""
    k = sp.Symbol("k", integer=True, positive=True)
    mean = sp.summation(k / q, (k, 1, r)) / r
    return equal(
        effective_rate(S, mean),
        burst_effective_rate(S, r, q),
        domain="every $r$ and $q$",
        what=r"$S/(2\bar A-1)$ and theory's effective rate",
    )


def _waits(k: int, often: Fraction, most: int) -> Fraction:
    """E min(W, most), W being the wait for the k-th burst: the sum over l of P(fewer than k bursts in l rounds)."""
    fewer = (
        comb(rounds, i) * often**i * (1 - often) ** (rounds - i)
        for rounds in range(most)
        for i in range(min(k, rounds + 1))
    )
    return sum(fewer, F(0))


def every_pattern(context: Context) -> Evidence:
    """All patterns of bursts, sample by sample: the mean age in the last round, exactly, and how far it is from
    (r+1)/(2q): by no more than what the waits beyond T add.
    """
    T = context.choose(8, 11)

    def find(parts: int, often: Fraction) -> dict[str, Any] | None:
        size = 2 * parts
        mean = F(0)
        for pattern in product((0, 1), repeat=T - 1):
            chance = often ** sum(pattern) * (1 - often) ** (T - 1 - sum(pattern))
            last = simulate_by_capacity([[size], *([2 * burst] for burst in pattern)], [size])[-1]
            mean += chance * F(sum(last.uses[sample] for sample in last.memory), size)
        capped = sum((_waits(k, often, T) for k in range(1, parts + 1)), F(0)) / parts
        limit = (ratio(size, burst_effective_rate(size, parts, often)) + 1) / 2
        beyond = sum((F(k) / often - _waits(k, often, T) for k in range(1, parts + 1)), F(0)) / parts
        right = mean == capped and limit - mean == beyond >= 0
        return None if right else {"mean age": mean, "by waits": capped, "limit": limit, "beyond T": beyond}

    points = [{"parts": parts, "often": often} for parts in (1, 2, 3) for often in (F(1, 4), F(2, 3))]
    return exhaust(
        points, find, domain=f"r = 1, 2, 3, q = 1/4, 2/3; all {2 ** (T - 1)} patterns of {T} rounds"
    )


def _often(parts: int) -> Any:
    """q = F(θ) for the threshold at which S/r samples a burst cost C a round, as a ball."""
    threshold = uniform_threshold(LOW, HIGH, ball(parts * SHARE))
    return Uniform(LOW, HIGH).mass(threshold) if parts < 10 else ball(1)


def papers_budgets() -> Evidence:
    """14.66 for r = 1, 15.19 for r = 2; no other r does better, and r = 10 is constant admission."""
    found = [
        rounds_to(
            burst_effective_rate(PLACES, parts, _often(parts)),
            figure,
            what=f"the effective rate, r = {parts}",
            domain=SETTING,
        )
        for parts, figure in ((1, "14.66"), (2, "15.19"))
    ]
    others = [
        between(
            burst_effective_rate(PLACES, parts, _often(parts)),
            F(999, 100),
            F(1518, 100),
            what=f"the effective rate, r = {parts}",
            domain=SETTING,
        )
        for parts in (1, *range(3, 11))
    ]
    return together(*found, *others)


def constant_admission() -> Evidence:
    """q = 1: a burst in every round is constant admission of S/r, used r times."""
    return together(
        equal(burst_effective_rate(S, r, 1), S / r, domain="every $r$, $q=1$", what="the effective rate"),
        equal(burst_rate(S, r, 1), S / r, domain="every $r$, $q=1$", what="the rate"),
        equal(
            PLACES * ratio(BUDGET, PLACES) / Uniform(LOW, HIGH).mean,
            10,
            domain=SETTING,
            what="what $C$ buys at the mean price",
        ),
    )


def below_the_rate() -> Evidence:
    """Sq/(r+1-q) is below Sq/r unless q = 1: waiting costs effective samples."""
    return always(
        burst_effective_rate(S, r, q) < burst_rate(S, r, q),
        given=[q < 1],
        domain="every $r$, every $q$ below 1",
    )


CLAIMS = [
    Claim(
        id="buy:bursts",
        kind="addition",
        title="bursts: rate $Sq/r$, effective rate $Sq/(r+1-q)$",
        statement="Let the oldest $r$-th of a full memory be replaced with probability $q$ in a round, "
        "independently of the past, as by buying $S/r$ samples at every price up to a threshold. In the "
        r"long run $Sq/r$ distinct samples a round are bought and $N_{\mathrm{eff}}/t$ tends to "
        "$Sq/(r+1-q)$, less but for $q=1$, which is constant admission. With the paper's MNIST budgets "
        "and prices uniform on [1, 10] that is 14.66 for $r=1$ and 15.19 for $r=2$, the best of all "
        "whole $r$ that spend $C$; constant admission $(r=10)$ has 10.",
        formula=said(
            r"\lim\frac{N_{\mathrm{eff}}(t)}t=@rate",
            rate=burst_effective_rate(S, r, q),
        ),
        domain=r"every $S$ divisible by $r$, every $0<q\le1$; independent prices of one law",
        given=(WRITTEN, LARGE_NUMBERS),
        sketch="A sample leaves with the $r$-th burst after its own. The wait for one burst is "
        r"geometric, $\sum q(1-q)^{l-1}z^l=qz/(1-(1-q)z)$, so a lifetime $L$ has the $r$-th power of "
        "that: $E$ $L=r/q$ and $E$ $L^2=r(r+1-q)/q^2$. Bursts come at rate $q$ and bring $S/r$ samples "
        r"each. Over $t$ rounds $\sum A$ = St, and $\sum A^2$ is $Sqt/r$ lifetimes' squares, so "
        r"$N_{\mathrm{eff}}/t$ tends to $S^2/(Sq/r\cdot EL^2)=S\cdot E$ $L/E$ $L^2$. The same by ages: "
        "in a stationary memory the $k$-th youngest part is as old as the $k$-th last burst, $k/q$ on "
        r"average, so $\bar A=(r+1)/(2q)$, and $S/(2\bar A-1)$ is that rate (buy:full-memory). With "
        r"prices uniform on $[a,b]$, $q=F(\theta)$ and the threshold $\theta$ spends $(S/r)\cdot "
        r"m(\theta)=C$ (buy:limit).",
        checks={
            "lifetimes": lifetimes,
            "ages": (ages, confirming(every_pattern)),
            "less than bought": below_the_rate,
            "constant admission": constant_admission,
            "14.66 and 15.19": papers_budgets,
        },
        symbols={**SYMBOLS, "q": "probability of a burst in a round", "r": "parts of the memory"},
    ),
]
