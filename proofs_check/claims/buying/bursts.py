r"""Bursts (`buy:bursts`): the oldest r-th of the memory is replaced with probability q in a round."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Given, confirming
from proofs_check.engines.exact import Found, by_profile, everywhere, unless
from proofs_check.engines.identity import equal, equations
from proofs_check.engines.smt import steps
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.figures import figures
from proofs_check.groundwork.buying.market import BUDGET, HIGH, LOW, PLACES, SETTING, SHARE, SYMBOLS, S, q, r
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
k = sp.Symbol("k", integer=True, positive=True)


def lifetimes() -> Evidence:
    """From the generating function (qz/(1-(1-q)z))^r: E L = r/q, E L² = r(r+1-q)/q²; the rates follow."""
    wait = q * z / (1 - (1 - q) * z)
    first = sp.simplify(sp.diff(wait**r, z).subs(z, 1))
    second = sp.simplify(sp.diff(z * sp.diff(wait**r, z), z).subs(z, 1))
    return equations(
        (wait - q * z, (1 - q) * z * wait, "one waiting time: a burst now, or not and then the same,"),
        (first, r / q, "the mean lifetime"),
        (burst_rate(S, r, q) * first, S, "rate times lifetime and $S$"),
        (
            S / (second / first),
            burst_effective_rate(S, r, q),
            r"$S\,\mathbb E[L]/\mathbb E[L^2]$ and theory's rate",
        ),
        domain="every $r$ and $q$",
    )


def _waits(k: int, often: Fraction, most: int) -> Fraction:
    """E min(W, most), W being the wait for the k-th burst: the sum over l of P(fewer than k bursts in l rounds)."""
    fewer = (
        comb(rounds, i) * often**i * (1 - often) ** (rounds - i)
        for rounds in range(most)
        for i in range(min(k, rounds + 1))
    )
    return sum(fewer, F(0))


@everywhere(
    "$r=1,2,3$, $q=1/4,2/3$; all patterns of 8 rounds",
    parts=(1, 2, 3),
    often=(F(1, 4), F(2, 3)),
    T=by_profile((8,), (11,)),
)
def every_pattern(parts: int, often: Fraction, T: int) -> Found:
    """Sample by sample the mean age in the last round is below (r+1)/(2q) by what the waits beyond T add."""
    size, mean = 2 * parts, F(0)
    for pattern in product((0, 1), repeat=T - 1):
        chance = often ** sum(pattern) * (1 - often) ** (T - 1 - sum(pattern))
        last = simulate_by_capacity([[size], *([2 * burst] for burst in pattern)], [size])[-1]
        mean += chance * F(sum(last.uses[sample] for sample in last.memory), size)
    waits = {k: _waits(k, often, T) for k in range(1, parts + 1)}
    capped = sum(waits.values(), F(0)) / parts
    limit = (ratio(size, burst_effective_rate(size, parts, often)) + 1) / 2
    beyond = sum((F(k) / often - waits[k] for k in waits), F(0)) / parts
    return unless(mean == capped and limit - mean == beyond >= 0, mean=mean, capped=capped, limit=limit)


def _rate(parts: int) -> Any:
    """At q = F(θ) for the threshold at which S/r samples a burst cost C a round, as a ball."""
    often = Uniform(LOW, HIGH).mass(uniform_threshold(LOW, HIGH, ball(parts * SHARE)))
    return burst_effective_rate(PLACES, parts, often if parts < 10 else ball(1))


CLAIMS = [
    Claim(
        id="buy:bursts",
        kind="addition",
        title="bursts: rate $Sq/r$, effective rate $Sq/(r+1-q)$",
        statement="Let the oldest $r$-th of a full memory be replaced with probability $q$ in a round, "
        "independently of the past, as by buying $S/r$ samples at every price up to a threshold. In the "
        r"long run $Sq/r$ distinct samples per round are bought and $N_{\mathrm{eff}}/t$ tends to "
        "$Sq/(r+1-q)$, less but for $q=1$, which is constant admission. With the paper's MNIST budgets and "
        "prices uniform on $[1,10]$ that is 14.66 for $r=1$ and 15.19 for $r=2$, the best of all whole $r$ "
        "that spend $C$; constant admission ($r=10$) has 10.",
        formula=said(
            r"\lim\frac{N_{\mathrm{eff}}(t)}t=@rate",
            rate=burst_effective_rate(S, r, q),
        ),
        domain=r"every $S$ divisible by $r$, every $0<q\le1$; independent prices of one law",
        given=(WRITTEN, LARGE_NUMBERS),
        sketch="A sample leaves with the $r$-th burst after its own. The wait for one burst is geometric, "
        r"$\sum_lq(1-q)^{l-1}z^l=qz/(1-(1-q)z)$, so a lifetime $L$ has the $r$-th power of that: "
        r"$\mathbb E[L]=r/q$ and $\mathbb E[L^2]=r(r+1-q)/q^2$. Bursts come at rate $q$ and bring $S/r$ "
        r"samples each. Over $t$ rounds $\sum A=St$, and $\sum A^2$ is $Sqt/r$ lifetimes' squares, so "
        r"$N_{\mathrm{eff}}/t$ tends to $S\,\mathbb E[L]/\mathbb E[L^2]$. The same by ages: in a "
        "stationary memory the $k$-th youngest part is as old as the $k$-th last burst, $k/q$ on average, "
        r"so $\bar A=(r+1)/(2q)$, and $S/(2\bar A-1)$ is that rate (buy:full-memory). With prices uniform "
        r"on $[a,b]$, $q=F(\theta)$ and the threshold $\theta$ spends $(S/r)m(\theta)=C$ (buy:limit).",
        checks={
            "lifetimes": lifetimes,
            "ages": (
                # the k-th youngest part is as old as the k-th last burst
                lambda: equal(
                    effective_rate(S, sp.summation(k / q, (k, 1, r)) / r),
                    burst_effective_rate(S, r, q),
                    domain="every $r$ and $q$",
                    what=r"$S/(2\bar A-1)$ and theory's effective rate",
                ),
                confirming(every_pattern),
            ),
            "less than bought": lambda: steps(
                (burst_effective_rate(S, r, q) < burst_rate(S, r, q), [q < 1], "every $r$, every $q$ below 1")
            ),
            "constant admission": lambda: together(
                equations(
                    (burst_effective_rate(S, r, 1), S / r, "the effective rate"),
                    (burst_rate(S, r, 1), S / r, "the rate"),
                    domain="every $r$, $q=1$",
                ),
                equations(
                    (BUDGET / Uniform(LOW, HIGH).mean, 10, "what $C$ buys at the mean price"), domain=SETTING
                ),
            ),
            "14.66 and 15.19": lambda: figures(
                SETTING,
                *(
                    (f"the effective rate, $r={n}$,", _rate(n), figure)
                    for n, figure in ((1, "14.66"), (2, "15.19"))
                ),
                *((f"the effective rate, $r={n}$,", _rate(n), ("9.99", "15.18")) for n in (1, *range(3, 11))),
            ),
        },
        symbols={**SYMBOLS, "q": "probability of a burst in a round", "r": "parts of the memory"},
    ),
]
