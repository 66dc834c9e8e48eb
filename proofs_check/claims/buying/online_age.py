r"""The online rule's ages (`buy:online-age`): with w(j) = j the mean age is bounded, and so the effective rate.

The rule minimises the drift of \(\tfrac12Z^2+V\sum A_i\), and is compared with one that does not look at ages.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.identity import equations
from proofs_check.engines.simulation import compare_mean
from proofs_check.engines.smt import always, steps
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.drift import drift_of_a_round, moves
from proofs_check.groundwork.buying.loop import play
from proofs_check.groundwork.buying.market import SYMBOLS, B, C, S, V, Z, c
from proofs_check.symbols import T
from proofs_check.text import said
from theory.buying import age_ceiling, buys, purchase_drift
from theory.capacity import burst_effective_rate, effective_rate
from theory.knapsack import purchase_limit
from theory.prices import Atoms

R, age, often, mean = sp.symbols("R A p mean", positive=True)
debt, ages = sp.symbols("Z_2 A_1", nonnegative=True)
replaced, aged = sp.symbols("replaced aged", real=True)
KEPT, REPLACED = (
    sp.And(sp.Eq(replaced, which), sp.Eq(aged, after)) for which, after in ((0, age + 1), (1, 1))
)


def ceiling() -> Any:
    """theory's, on symbols."""
    return age_ceiling(R, S, V, B, debt, T, ages)


def the_rule_minimises() -> Evidence:
    taken = buys(Z, c, V, age)
    ruled = sp.Or(sp.And(taken, sp.Eq(replaced, 1)), sp.And(sp.Not(taken), sp.Eq(replaced, 0)))
    least = (Z * c - V * age) * replaced <= (Z * c - V * age) * often
    return steps((least, [often <= 1, ruled], "every debt, price, age and $p$"))


def comparison() -> Evidence:
    """p depends on the price alone, with E p = R/S and S·E[cp] = C."""
    total, paid, spent, after, before, rounds, summed = sp.symbols(
        "total paid spent after before rounds summed", nonnegative=True
    )
    first, gain = debt**2 / 2 + V * ages, B + V * S
    grown = after <= before + B + V * (S - R / S * total)
    left = first + gain * T - V * R / S * (S * T * mean)  # of the bound, at this mean age
    return together(
        always(
            grown,
            given=[
                after <= before + B + Z * (S * paid - C) + V * (S - often * total),
                sp.Eq(S * paid, C),
                sp.Eq(often, R / S),
            ],
            domain=r"means of $\tfrac12Z^2+V\sum A$ before and after a round; total is the mean of "
            r"$\sum A$ before it",
        ),
        always(
            after <= first + gain * (rounds + 1) - V * R / S * (summed + total),
            given=[before <= first + gain * rounds - V * R / S * summed, grown],
            domain="every round, by induction",
        ),
        equations(
            (left.subs(mean, ceiling()), 0, "the bound at a mean age that is the ceiling and 0"),
            domain="every argument",
        ),
        always(
            spent <= ceiling(),
            given=[left.subs(mean, spent) >= 0],
            domain=r"$\sum\sum A$ is $ST$ times the mean age, and $\tfrac12Z^2+V\sum A$ is never negative",
        ),
    )


def effective() -> Evidence:
    found, at_mean = effective_rate(S, age), effective_rate(S, mean)
    tangent = at_mean + sp.diff(at_mean, mean) * (age - mean)
    endless = sp.limit(ceiling().subs({debt: 0, ages: 0}), V, sp.oo)
    return together(
        steps(
            (found >= tangent, [age >= 1, mean >= 1], "the tangent at the mean over runs lies below"),
            (found >= at_mean, [age >= 1, mean >= age], "a lower mean age has a higher effective rate"),
        ),
        equations(
            (
                effective_rate(S, S / R),
                burst_effective_rate(S, 1, R / S),
                "the effective rate at mean age $S/R$ and that of bursts",
            ),
            (endless, S / R, r"the ceiling as $V\to\infty$ and $S/R$"),
            domain="every $S$ and $R$",
        ),
    )


def drawn_prices(context: Context) -> Evidence:
    """Whole prices 1..10, independent: the mean age over the rounds, run by run, against the ceiling."""
    rng, runs, rounds = context.generator(), context.choose(2000, 20_000), 60
    places, budget, V, reserve = 4, 9, 100, 60
    limit = purchase_limit(Atoms.of(range(1, 11)), places, budget).rate
    prices = rng.integers(1, 10, (rounds, runs), endpoint=True)
    found = play(prices, places=places, budget=budget, V=V, debt=reserve)
    # ages of the rounds 1..T: S fresh samples, and after each decision but the last
    mean = (places + found.ages[:-1].sum(axis=0)) / (places * rounds)
    bound = age_ceiling(limit, places, V, purchase_drift(places, budget, 10), reserve, rounds, places)
    domain = f"$S=4$, $C=9$, $V={V}$, $T={rounds}$, from a fresh memory and the debt {reserve}"
    return compare_mean(mean, float(bound), low=1, high=(rounds + 1) / 2, domain=domain, what="the mean age")


CLAIMS = [
    Claim(
        id="buy:online-age",
        kind="addition",
        title=r"online: mean age at most $(S/R)(1+B/(VS)+\ldots)$",
        statement="Let a sample that has been used $j$ times be replaced where $Z(t)c(t)<Vj$, from a full "
        "memory on, and prices be independent of one law, unknown, and at most $c_{+}$. The expected mean "
        "age in memory over $T$ rounds is at most $(S/R)(1+B/(VS))$ and a term that falls as $1/T$, $R$ "
        "being the most that money buys. So for large $V$ and $T$ it is at most $S/R$, the mean age of who "
        r"replaces all at the knapsack's threshold, and the expected $N_{\mathrm{eff}}/T$ is at least that "
        "rule's, $SR/(2S-R)$, but for $O(1/V)$ and $O(1/T)$.",
        formula=said(
            r"\mathbb E[\bar A]\le @ceiling,\qquad\frac{\mathbb E[N_{\mathrm{eff}}]}T\ge\frac S{2\,\mathbb E[\bar A]-1}"
            r"\to @rate",
            ceiling=ceiling(),
            rate=sp.together(burst_effective_rate(S, 1, R / S)),
        ),
        domain="every $S$, $C$, $V$, $T$ and every law of independent prices of at most $c_{+}$, $C$ below "
        "$S$ times their mean",
        given=(WRITTEN,),
        sketch="Let $A_i$ be how often sample $i$ has been used when round $t$ decides, and "
        r"$L=\tfrac12Z^2+V\sum A_i$. The debt's part of $L$ grows by $B+Z(cx-C)$ at most "
        r"(buy:online-rate), and $\sum A$ by $S$ less the $A$ of those replaced. So $L$ grows by "
        r"$B-ZC+VS+\sum(Zc-VA_i)$, summed over those replaced, and the rule makes that sum least, sample "
        "by sample: it is at most its value for any other choice, even a random one. Let each place be "
        "replaced with probability $p(c)$, which looks at the price alone: where $c$ is below the "
        r"knapsack's threshold, and in part at it, so that $\mathbb E[p]=R/S$ and $S\,\mathbb E[cp]=C$. "
        r"Ages and debt know only earlier prices, so in the mean $L$ grows by $B+V(S-(R/S)\sum A)$ at "
        r"most. Added over the decisions of the rounds $2,\ldots,T+1$, with $L\ge0$ in the end and "
        r"$L=\tfrac12Z(2)^2+V\sum A_i(1)$ at the start, $(R/S)\sum\sum A\le ST+BT/V+L(2)/V$: divided by "
        r"$RT$ that is the ceiling. $N_{\mathrm{eff}}/T=S/(2\bar A-1)$ (buy:full-memory) is convex in "
        r"$\bar A$, so its mean is at least its value at the mean.",
        checks={
            "the drift": (
                moves,
                drift_of_a_round,
                lambda: steps((sp.Eq(aged, age + 1 - age * replaced), [sp.Or(KEPT, REPLACED)], "every age")),
            ),
            "the rule": the_rule_minimises,
            "the ceiling": (comparison, confirming(drawn_prices)),
            "the effective rate": effective,
        },
        symbols={
            **SYMBOLS,
            "R": "the largest rate that money buys",
            "B": "half the square of the most that a round moves the debt by",
            "Ā": "mean age in memory over the rounds, a fresh sample's being 1",
            "A_1": "the sum of all ages in round 1",
            "Z_2": "the debt after round 1",
        },
    ),
]
