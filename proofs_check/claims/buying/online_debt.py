r"""The online rule's debt (`buy:online-debt`): a ceiling that no order of prices breaks, and so a mean cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import Found, drawn, unless
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import steps
from proofs_check.evidence import Evidence, fails, holds, together
from proofs_check.groundwork.buying.drift import debt_after, with_maxima, x
from proofs_check.groundwork.buying.loop import QUARTER, constant_worth, drawn_prices, play, worth_of_age
from proofs_check.groundwork.buying.market import SYMBOLS, Z1, C, S, V, Z, c, high, low
from proofs_check.symbols import T
from proofs_check.text import said
from theory.buying import buys, debt_ceiling, overspending

worth, most, top = sp.symbols("w most top", positive=True)


def ceiling() -> Any:
    """theory's, on symbols."""
    return debt_ceiling(V, worth, S, C, low, high)


def a_purchase_stays_below() -> Evidence:
    """Zc < Vw bounds Z by Vw/c; Vw/c + cS is largest at an end of the prices, being convex in c."""
    after, ends = V * worth / c + c * S, [V * worth / price + price * S for price in (low, high)]
    above = [top >= end for end in ends]
    either = sp.Or(*(sp.Eq(top, end) for end in ends))
    return steps(
        (after <= top, [low <= c, c <= high, *above], "every price in $[c_{-},c_{+}]$"),
        (
            debt_after(Z, c, x, C) <= sp.Max(0, top - C),
            [buys(Z, c, V, most), most <= worth, x <= S, after <= top],
            "every debt, price and purchase, worths up to $w$",
        ),
        (debt_after(Z, c, 0, C) <= Z, [], "a round without a purchase"),
        (
            sp.Eq(ceiling(), sp.Max(0, top - C)),
            [*above, either],
            "theory's ceiling is the larger end less $C$, or 0",
        ),
    )


def mean_cost() -> Evidence:
    """Z' >= Z + cx - C, so Σcx <= CT + Z(T+1) - Z(1); with the ceiling for Z(T+1)."""
    spent, debt, rounds = sp.symbols("spent debt rounds", nonnegative=True)
    later = spent + c * x <= C * (rounds + 1) + debt_after(Z, c, x, C) - Z1
    bound = C + overspending(debt, Z1, T)
    return together(
        steps((later, [spent <= C * rounds + Z - Z1], "every round, by induction")),
        equal((C * T + debt - Z1) / T, bound, domain="every $T$", what="the mean cost's bound"),
    )


@drawn(
    r"up to 12 whole prices up to 9 in any order, $S\le4$, $C\le8$, $V\le40$, $Z(1)\le20$; $w=1$ and "
    "$w(j)=j$",
    (150, 1500),
    prices=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    places=st.integers(1, 4),
    budget=st.integers(1, 8),
    V=st.integers(1, 40),
    reserve=st.integers(0, 20),
    by_age=st.booleans(),
)
def drawn_paths(prices: list[int], places: int, budget: int, V: int, reserve: int, by_age: bool) -> Found:
    """In whole numbers: the ceiling for the largest worth that was met, and the mean cost."""
    worth, path = worth_of_age if by_age else constant_worth, [[price] for price in prices]
    found = play(path, places=places, budget=budget, V=V, debt=reserve, worth=worth)
    top = max(1, int(found.oldest.max())) if by_age else 1
    ceiling = max(reserve, debt_ceiling(V, top, places, budget, min(prices), max(prices)))
    T, debt, spent = len(prices), found.debt[:, 0].tolist(), int(found.spent.sum())
    true = max(debt) <= ceiling and spent <= T * (budget + overspending(debt[-1], reserve, T))
    return unless(true, debts=debt, ceiling=ceiling, spent=spent)


def price_processes(context: Context) -> Evidence:
    """Independent, Markov and drifting prices, in whole quarters: every round of every run."""
    rng, runs, rounds = context.generator(), context.choose(40, 400), context.choose(300, 3000)
    places, budget, V, reserve, seen = 10, 22 * QUARTER, 4000, 100, {}
    domain = f"$S=10$, $C=22$, $V={V}$, $w=1$; {runs} runs of {rounds} rounds each, prices in quarters"
    for costs, prices in drawn_prices(rng, runs, rounds):
        found = play(prices, places=places, budget=budget, V=V, debt=reserve, worth=constant_worth)
        ceiling = debt_ceiling(V, 1, places, budget, int(prices.min()), int(prices.max()))
        largest = int(found.debt.max())
        over = found.spent.sum(axis=0) - rounds * budget - (found.debt[-1] - reserve)
        seen[costs.name] = {"largest debt": largest, "ceiling": float(ceiling), "over": int(over.max())}
        if largest > ceiling or np.any(over > 0):
            return fails("simulation", f"broken by {costs.name}", domain=domain, certificate=seen)
    return holds("simulation", "no round of any run is above", domain=domain, certificate=seen)


CLAIMS = [
    Claim(
        id="buy:online-debt",
        kind="addition",
        title="online: a ceiling on debt, and so on mean cost",
        statement="Let a sample be replaced in round $t$ only if $Z(t)c(t)<Vw$, $w$ being what it is "
        "worth, and prices lie in $[c_{-},c_{+}]$, in any order. If no sample is ever worth more than $w$, "
        "a debt that begins below the ceiling never exceeds it, and the mean cost of $T$ rounds exceeds "
        "$C$ by $(Z(T+1)-Z(1))/T$ at most: on every path, whatever the prices, independent, Markov or "
        "drifting.",
        formula=said(
            r"Z(t)\le @ceiling,\qquad\frac1T\sum_{t\le T}c(t)x(t)\le C+@over",
            ceiling=with_maxima(ceiling()),
            over=overspending(sp.Symbol("Z_T+1"), sp.Symbol("Z_1"), T),
        ),
        domain="every $S$, $C$, $V$, $w$, every prices in $[c_{-},c_{+}]$ in any order, on every path",
        given=(WRITTEN,),
        sketch=r"If something is bought, $Z<Vw/c$, so $Z'\le Vw/c+cS-C$ or 0. As a function of $c$ that is "
        r"convex, so it is largest at $c_{-}$ or $c_{+}$. If nothing is bought $Z'\le Z$. By induction no "
        "debt is above the larger of the two, once it is below. The positive part never lowers a debt: "
        r"$Z'\ge Z+cx-C$. Added over $T$ rounds, $\sum cx\le CT+Z(T+1)-Z(1)$.",
        checks={
            "the ceiling": (a_purchase_stays_below, confirming(drawn_paths), confirming(price_processes)),
            "mean cost": (mean_cost, confirming(drawn_paths), confirming(price_processes)),
        },
        symbols={
            **SYMBOLS,
            "c_-": "the lowest price",
            "c_+": "the highest price",
            "w": "the largest worth of a sample",
            "Z_1": "the debt at the start",
            "Z_T+1": "the debt in the end",
        },
    ),
]
