"""In these guarantees the region and V buy nothing (`thm:dpp-regret/region-buys-nothing`).

Constant admission at the affordable rate needs neither region nor queue nor V, violates no constraint, and has
the regret of every policy inside the region, up to a bounded amount.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.envelope import USUAL, regret_end, three
from proofs_check.groundwork.regret.expansion import leading_order, oracle_third
from proofs_check.groundwork.regret.orders import RATIONAL
from proofs_check.groundwork.regret.regret_orders import narrows
from proofs_check.groundwork.regret.transient import plain
from proofs_check.symbols import REGION, C, K, mean_cost, rate, t, total_buffer
from proofs_check.text import said
from theory.algebra import ball
from theory.constant_admission import constant_bound, oracle_bound
from theory.design import best_rate
from theory.region import region_maximum, region_minimum
from theory.reuse import occupancy_constant
from theory.setting import Budget
from theory.transient import spread_bound

BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
SPREAD = Given(
    "thm:dpp-regret/spread",
    "that the bounds of two policies inside the region differ by spread_bound at most",
)
EXPANDS = Given(
    "thm:dpp-regret/expansion", "that the regret of every policy inside the region is the expansion to $O(1)$"
)


def inside() -> Evidence:
    """Λ_min(t) <= Λ̄ <= Λ_max(t), with y = ρ^t in (0, 1)."""
    y = sp.Symbol("y", positive=True)
    low, high = (plain(end(REGION, t), y=t) for end in (region_minimum, region_maximum))
    return always(
        [low <= rate, rate <= high],
        given=[y < 1],
        domain=r"every round, every $\rho$ and "
        r"$\bar\Lambda$",
    )


def affordable() -> Evidence:
    """Vio^S = [Σ(E[c]Λ̄-C)]⁺ = 0 at the best rate: no round's summand is positive, so no partial sum becomes so."""
    mean, total = sp.symbols("mean total", real=True)  # a round's E[c], and Σ(E[c]Λ̄-C) over the rounds before
    summand = mean * best_rate(K, BUDGET) - C
    return together(
        always(
            total + summand <= 0,
            given=[mean <= mean_cost, total <= 0],
            domain=r"every round with $\mathbb E[c]\le\bar c$, every $K$, $\sum B$, $C$, $\bar c$; "
            r"$\bar\Lambda$ the best rate: induction over the rounds",
        ),
        always(
            sp.Eq(sp.Max(0, total), 0),
            given=[total <= 0],
            domain=r"$\mathrm{Vio}^{\mathrm{S}}$ is the "
            "positive part of the sum",
        ),
    )


def fits() -> Evidence:
    """n(t) <= ΣB at the best rate, and with a split in proportion to the buffers n_m <= B_m for every client."""
    share, own = sp.symbols("share B_m", positive=True)  # of client m: B_m/ΣB
    held = occupancy_constant(K, t, best_rate(K, BUDGET))
    return together(
        always(held <= total_buffer, domain=r"every round $t\ge1$, every $K$, $\sum B$, $C$, $\bar c$"),
        always(
            share * held <= own,
            given=[sp.Eq(share, own / total_buffer)],
            domain=r"every client $m$ with the share $B_m/\sum B$ of all admissions",
        ),
    )


def same_rate_as_the_oracle() -> Evidence:
    """Where the buffers bind, KΛ̄ = ΣB, which the regret assumes."""
    return equal(
        K * best_rate(K, BUDGET).subs(C, mean_cost * total_buffer / K),
        total_buffer,
        domain=r"$C=\bar c\sum B/K$: both constraints bind",
        what=r"$K\bar\Lambda$ and $\sum B$",
    )


def within_the_spread(context: Context) -> Evidence:
    """What the best policy inside the region can gain on constant admission, certified, against the spread."""

    def gain(p: Any) -> Any:
        own = constant_bound(p["K"], 10, p["T"], RATIONAL, certified=True).terms
        oracle = oracle_bound(10 * p["K"], p["T"], RATIONAL, certified=True).terms
        return (
            three(own)
            - three(oracle)
            - regret_end(p["K"], USUAL, p["T"], RATIONAL, stated=False, upper=False)
        )

    return compare(
        gain,
        "<=",
        lambda p: spread_bound(p["K"], USUAL.map(ball), RATIONAL.map(ball)).total,
        [{"K": 3, "T": T} for T in context.choose((10**9,), (10**3, 10**9, 10**15))],
        domain=r"$K=3$, $\rho=0.9$, $\bar\Lambda=10$, rational constants: constant admission's regret "
        "less the least inside the region",
    )


CLAIMS = [
    Claim(
        id="thm:dpp-regret/region-buys-nothing",
        kind="addition",
        title="constant admission: no violation, the same regret",
        statement=r"Let $\bar\Lambda$ be the largest affordable rate. Constant admission, split in "
        r"proportion to the buffers, lies inside the region for every $\rho$ and violates neither "
        r"constraint, $\mathrm{Vio}^{\mathrm{S}}=\mathrm{Vio}^{\mathrm{B}}=0$, if every round has mean "
        r"cost $\bar c$ at most. Its regret has the same expansion as that of every policy inside the "
        "region, ACDPP at any $V$ included, and exceeds the least of them by at most the spread, a "
        r"number that does not depend on $T$. So $V$ and $\rho$ stand in no term of the guarantee that "
        "grows with $T$, and the region and the queue buy nothing in it.",
        formula=said(
            r"\bar\Lambda=@rate:\quad\mathrm{Vio}^{\mathrm S}=\mathrm{Vio}^{\mathrm B}=0,\quad "
            r"\bigl|\mathrm{Reg}(\bar\Lambda)-\mathrm{Reg}(\pi)\bigr|\le O_\rho(1)",
            rate=best_rate(K, BUDGET),
        ),
        symbols={
            "O": r"bounded as $T$ grows, by a number that depends on $\rho$",
            "π": "any policy inside the region",
        },
        domain=r"every $K$, $\rho$, $V$, $\sum B$, $C$, $\bar c$; the regret's parts for "
        r"$K\bar\Lambda=\sum B$, with $\chi$; admissions are real numbers, as in the paper's theorems: a "
        r"client's share of $\bar\Lambda$ need not be whole (eq:lambda-def/integrality)",
        given=(WRITTEN, EXPANDS, SPREAD),
        sketch=r"Inside: $1-\rho^t<1<1/(1-\rho^t)$. Cost: $\mathrm{Vio}^{\mathrm{S}}=[\sum (\mathbb "
        r"E[c]\bar\Lambda-C)]^{+}$, and $\mathbb E[c]\bar\Lambda\le\bar c\bar\Lambda\le C$ as "
        r"$\bar\Lambda\le C/\bar c$. Buffers: $n(t)=\min(t,K)\bar\Lambda\le K\bar\Lambda\le\sum B$ as "
        r"$\bar\Lambda\le\sum B/K$, and a client with the share $B_m/\sum B$ of every admission holds "
        r"$n\cdot B_m/\sum B\le B_m$. Regret: the expansion (thm:dpp-regret/expansion) is that of "
        r"constant admission, and depends on $K$, $\bar\Lambda$, $T$, $B$ and $\mathrm{Pdim}$ alone; "
        "what any other policy inside the region adds or saves is at most the spread "
        r"(thm:dpp-regret/spread), as constant admission is one of them. For $K\ge2$ the expansion tends "
        "to infinity, so the quotient of the regrets tends to 1. (ACDPP itself does violate the budget: "
        "alg:acdpp/first-round.)",
        checks={
            "inside the region": inside,
            r"$\mathrm{Vio}^{\mathrm{S}}=0$": affordable,
            r"$\mathrm{Vio}^{\mathrm{B}}=0$": (fits, same_rate_as_the_oracle),
            "same expansion": (oracle_third, leading_order),
            "within the spread": (partial(narrows, stated=False), confirming(within_the_spread)),
        },
    ),
]
