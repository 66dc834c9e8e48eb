r"""The online rule's rate (`buy:online-rate`): w = 1 comes within B/V of what money buys, prices unknown.

For independent prices in the mean; for prices in any order, Markov and drifting ones among them, on every path and
against the best of each frame of F rounds.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import Found, by_profile, everywhere, unless
from proofs_check.engines.identity import equal, equations, symbolic_sum
from proofs_check.engines.simulation import compare_mean
from proofs_check.engines.smt import always, steps
from proofs_check.evidence import Evidence, fails, holds, together
from proofs_check.groundwork.buying.drift import drift_of_a_round, moves, with_maxima, x
from proofs_check.groundwork.buying.loop import QUARTER, constant_worth, drawn_prices, play
from proofs_check.groundwork.buying.market import SYMBOLS, Z1, B, C, S, V, Z, c
from proofs_check.groundwork.buying.purchases import most_bought
from proofs_check.symbols import T
from proofs_check.text import said
from theory.buying import buys, frame_shortfall, purchase_drift, rate_shortfall
from theory.knapsack import purchase_limit
from theory.prices import Atoms

F = Fraction
y, R = sp.symbols("y R", nonnegative=True)
frame, k = sp.symbols("F k", integer=True, positive=True)


def the_rule_minimises() -> Evidence:
    """x = S where Zc < V and 0 elsewhere has the least Zcx - Vx of all x in [0, S]."""
    bought = sp.Or(sp.And(buys(Z, c, V, 1), sp.Eq(x, S)), sp.And(sp.Not(buys(Z, c, V, 1)), sp.Eq(x, 0)))
    return steps(
        (Z * c * x - V * x <= Z * c * y - V * y, [bought, y <= S], "every debt, price and $y$ in $[0,S]$")
    )


def independent_prices() -> Evidence:
    """In the mean over the price, against y with E y = R and E cy = C; added over T rounds."""
    before, after, bought, total, start = sp.symbols("before after bought total start", nonnegative=True)
    rounds, crossed = sp.Symbol("rounds", nonnegative=True), sp.Symbol("crossed", real=True)
    one, so_far = V * bought >= V * R - B + after - before, V * total >= (V * R - B) * rounds - start + before
    many = V * (total + bought) >= (V * R - B) * (rounds + 1) - start + after
    bound, stated = ((V * R - B) * T - Z1**2 / 2) / (V * T), R - rate_shortfall(V, B, Z1, T)
    return together(
        always(
            one,
            given=[after - before - V * bought <= B + crossed - V * R, crossed <= 0],
            domain=r"means of $\tfrac12Z^2$ before and after a round, of $x$ and of $y$; crossed is "
            r"$\mathbb E[Z(cy-C)]=\mathbb E[Z](\mathbb E[cy]-C)$",
        ),
        always(many, given=[so_far, one], domain="every round, by induction"),
        equal(bound, stated, domain="every $T$, $V$, $B$ and $Z(1)$", what="the mean rate's bound"),
    )


def a_frame() -> Evidence:
    """k rounds into a frame the debt has moved by kδ, so (Z - Z₀)(cy - C) <= kδ²; with B = δ²/2 that adds up to F²B."""
    gone, spare, paid = sp.symbols("gone spare paid", real=True)
    step = sp.Symbol("delta", positive=True)
    added = frame * (step**2 / 2) + symbolic_sum(k * step**2, k, 0, frame - 1)
    bound = (V * R * T - (T / frame) * frame**2 * B - Z1**2 / 2) / (V * T)
    domain = "$T/F$ frames, $R$ being the mean of their best over $F$"
    return together(
        steps(
            (
                gone * spare <= k * step**2,
                [gone <= k * step, gone >= -k * step, spare <= step, spare >= -step],
                r"every $k\ge1$; at $k=0$ the debt has not moved",
            )
        ),
        equations((added, frame**2 * (step**2 / 2), "what a frame adds and $F^2B$"), domain="every $F$"),
        always(
            Z * (paid - C * frame) <= 0,
            given=[paid <= C * frame],
            domain="$Z_0$ times what a frame's purchases exceed $CF$ by",
        ),
        equations((bound, R - frame_shortfall(V, B, frame, Z1, T), "the rate's bound"), domain=domain),
    )


def _short_of(prices: Any, places: int, budget: int, V: int, reserve: int, frame: int) -> Any:
    """How far Σx lies above the stated bound on one path; negative where it is broken."""
    T, path = len(prices), [[price] for price in prices]
    found = play(path, places=places, budget=budget, V=V, debt=reserve, worth=constant_worth)
    best = sum((most_bought(prices[i : i + frame], places, budget * frame) for i in range(0, T, frame)), F(0))
    drift = purchase_drift(places, budget, max(prices))
    return int(found.bought.sum()) - best + T * frame_shortfall(V, drift, frame, reserve, T)


def _paths(length: int) -> list[tuple[Any, int]]:
    """Every path of prices from 1, 3, 4, and its frame."""
    return [
        (path, size)
        for rounds, size in ((2, 1), (length, 2), (3, 3))
        for path in product((1, 3, 4), repeat=rounds)
    ]


@everywhere(
    "all paths of prices 1, 3, 4 up to 4 rounds; $S=2$; frames of 1, 2 and 3",
    path=by_profile(_paths(4), _paths(6)),
    budget=(1, 4),
    debt=((2, 0), (9, 5), (40, 3)),
)
def every_path(path: tuple[Any, int], budget: int, debt: tuple[int, int]) -> Found:
    """Debts and weights small and large."""
    spare = _short_of(path[0], 2, budget, *debt, path[1])
    return unless(spare >= 0, short=-spare)


def drawn_independent(context: Context) -> Evidence:
    """Whole prices 1..10, independent: the mean rate against the limit less B/V and Z(1)²/(2VT)."""
    rng, runs, rounds = context.generator(), context.choose(1500, 10_000), 300
    places, budget, V, reserve = 4, 9, 8000, 40
    limit = purchase_limit(Atoms.of(range(1, 11)), places, budget).rate
    prices = rng.integers(1, 10, (rounds, runs), endpoint=True)
    found = play(prices, places=places, budget=budget, V=V, debt=reserve, worth=constant_worth)
    bound = limit - rate_shortfall(V, purchase_drift(places, budget, 10), reserve, rounds)
    domain = f"$S=4$, $C=9$, $V={V}$, $Z(1)={reserve}$, $T={rounds}$; the limit is {float(limit):.4g}"
    rates = -found.bought.mean(axis=0)
    return compare_mean(rates, -float(bound), low=-places, high=0, domain=domain, what="minus the rate")


def price_processes(context: Context) -> Evidence:
    """Independent, Markov and drifting prices: frames of 4 on every path, the best of each by every vertex."""
    rng, runs, rounds, frame = context.generator(), context.choose(3, 20), 60, 4
    places, budget, V, reserve, seen = 3, 7 * QUARTER, 30_000, 100, {}
    domain = f"$S=3$, $C=7$, $V={V}$, $F={frame}$, $T={rounds}$; {runs} runs each, prices in quarters"
    for costs, prices in drawn_prices(rng, runs, rounds):
        paths = np.asarray(prices).T.tolist()
        least = min(_short_of(path, places, budget, V, reserve, frame) for path in paths)
        seen[costs.name] = {"least above the bound": float(least)}
        if least < 0:
            return fails("simulation", f"broken by {costs.name}", domain=domain, certificate=seen)
    return holds("simulation", "every path is above the bound", domain=domain, certificate=seen)


CLAIMS = [
    Claim(
        id="buy:online-rate",
        kind="addition",
        title="online: within $B/V$ of what money buys",
        statement="Let all $S$ samples be replaced where $Z(t)c(t)<V$ and none elsewhere ($w=1$), prices "
        "being at most $c_{+}$ and unknown. For independent prices of one law the expected rate over $T$ "
        "rounds is at least $R-B/V-Z(1)^2/(2VT)$, $R$ being the most that money buys (buy:limit) and "
        r"$B=\tfrac12\max(C,c_{+}S-C)^2$. For prices in any order, Markov and drifting ones included, on "
        "every path: at least the mean over frames of $F$ rounds of what $CF$ buys at best within a frame, "
        "clairvoyant, less $FB/V$ and $Z(1)^2/(2VT)$, $T$ being a multiple of $F$.",
        formula=said(
            r"\frac1T\sum_{t\le T}\mathbb E[x(t)]\ge R-\Bigl(@short\Bigr),\qquad B=@B",
            short=rate_shortfall(V, B, sp.Symbol("Z_1"), T),
            frames=frame_shortfall(V, B, sp.Symbol("F"), sp.Symbol("Z_1"), T),
            B=with_maxima(purchase_drift(S, C, sp.Symbol("c_+"))),
        ),
        domain="every $S$, $C$, $V$, $Z(1)$, $T$; prices of at most $c_{+}$",
        given=(WRITTEN,),
        sketch=r"From $Z'=[Z+cx-C]^{+}$: $\tfrac12Z'^2-\tfrac12Z^2\le B+Z(cx-C)$, as $(cx-C)^2\le2B$. The "
        r"rule minimises $Zcx-Vx$ over $x$ in $[0,S]$, so $\tfrac12Z'^2-\tfrac12Z^2-Vx\le B+Z(cy-C)-Vy$ "
        "for every $y$ in $[0,S]$. Independent prices: let $y$ be what the knapsack's threshold buys at "
        r"the price $c$, $\mathbb E[y]=R$ and $\mathbb E[cy]\le C$; $Z$ knows only earlier prices, so in "
        r"the mean $\tfrac12\mathbb E[Z'^2]-\tfrac12\mathbb E[Z^2]-V\,\mathbb E[x]\le B-VR$. Added over "
        r"$T$ rounds, with $\tfrac12Z(T+1)^2\ge0$, and divided by $VT$. Any prices: let $y$ be the best "
        r"purchases of a frame with $\sum cy\le CF$, and $Z_0$ the debt at its start. Each debt moves by "
        r"$\delta=\sqrt{2B}$ a round at most, so $\sum Z(cy-C)\le Z_0\sum(cy-C)+\sum k\delta^2$ over "
        r"$k=0,\ldots,F-1$, the first sum not positive and the second $F(F-1)B$; with $FB$ from the rounds "
        "themselves $F^2B$ a frame, and over $T/F$ frames $FB/V$ a round.",
        checks={
            "the drift": (moves, drift_of_a_round),
            "the rule": the_rule_minimises,
            "independent prices": (independent_prices, confirming(drawn_independent)),
            "any prices": (a_frame, confirming(every_path), confirming(price_processes)),
        },
        symbols={
            **SYMBOLS,
            "R": "the largest rate that money buys",
            "R_F": "the mean over frames of what $CF$ buys at best within one, a round",
            "F": "rounds in a frame",
            "B": "half the square of the most that a round moves the debt by",
            "c_+": "the highest price",
            "Z_1": "the debt at the start",
        },
    ),
]
