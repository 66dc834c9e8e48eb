r"""Paying what a place has saved (`buy:savings`): a budget on every path, and K-step retention at constant prices.

A place saves C/S a round. With a reserve Z(1) and \(V=Z(1)C/S\) the online rule is that, moved by the debt: debt and
savings together never exceed the reserve by more than a full memory at the highest price.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.engines.smt import always as smt
from proofs_check.evidence import Evidence, fails, holds, together
from proofs_check.groundwork.buying.drift import debt_after, x
from proofs_check.groundwork.buying.loop import QUARTER, drawn_prices, play
from proofs_check.groundwork.buying.market import SYMBOLS, C, S, Z, c, high
from proofs_check.simulator import simulate_by_capacity
from proofs_check.symbols import K, T
from proofs_check.text import said
from theory.buying import buys, reserve_weight, savings_ceiling, savings_price
from theory.capacity import effective_rate

F = Fraction
age, reserve = sp.symbols("A Z_1", positive=True)


def weight() -> Any:
    """theory's V, on symbols."""
    return reserve_weight(reserve, S, C)


def ceiling() -> Any:
    """theory's, on symbols."""
    return savings_ceiling(reserve, S, C, high)


# --- the rule itself ---------------------------------------------------------------------------------------


def a_place() -> Evidence:
    """What a place has paid, and (C/S)·age, are at most its opening and (C/S)·rounds: kept or replaced."""
    paid, opening, rounds = sp.symbols("paid opening rounds", nonnegative=True)
    within = [paid + savings_price(age, S, C) <= opening + savings_price(rounds, S, C)]
    after = opening + savings_price(rounds + 1, S, C)
    return together(
        smt(paid + savings_price(age + 1, S, C) <= after, given=within, domain="a sample is kept"),
        smt(
            paid + c + savings_price(1, S, C) <= after,
            given=[*within, c <= savings_price(age, S, C)],
            domain="a sample is replaced at a price up to what its place has saved",
        ),
        smt(
            S * (opening + savings_price(rounds, S, C)) <= S * opening + C * rounds,
            domain="$S$ places: the opening and $CT$",
        ),
    )


def at_the_reserve() -> Evidence:
    """With V = Z(1)C/S and w(j) = j, a debt Z(1) buys just below what a place has saved; a larger debt, less."""
    return together(
        smt(
            sp.Equivalent(buys(reserve, c, weight(), age), c < savings_price(age, S, C)),
            domain="every price, age and reserve",
        ),
        smt(
            c < savings_price(age, S, C),
            given=[reserve <= Z, buys(Z, c, weight(), age)],
            domain="a debt of the reserve at least",
        ),
    )


# --- the online rule ---------------------------------------------------------------------------------------


def above_the_reserve() -> Evidence:
    """Z >= Z(1) >= C: what is spent is at most what the replaced had saved, so debt and savings do not grow."""
    saved, used = sp.symbols("saved used", nonnegative=True)  # (C/S)ΣA, and of those replaced
    return always(
        debt_after(Z, c, x, C) + saved + C - used <= Z + saved,
        given=[reserve <= Z, reserve >= C, c * x <= used],
        domain="every debt of the reserve at least; each replaced sample costs less than it had saved",
    )


def below_the_reserve() -> Evidence:
    """Z <= Z(1): who is kept had saved c at most, so debt and savings come to Z(1) + c₊S at most."""
    saved = sp.Symbol("saved", nonnegative=True)
    kept = (S - x) * (c + savings_price(1, S, C)) + x * savings_price(1, S, C)
    return together(
        smt(
            savings_price(age, S, C) <= c,
            given=[reserve >= Z, sp.Not(buys(Z, c, weight(), age))],
            domain="a sample that is kept, at a debt of the reserve at most",
        ),
        always(
            debt_after(Z, c, x, C) + saved <= ceiling() + C,
            given=[reserve >= Z, reserve >= C, x <= S, c <= high, saved <= sp.expand(kept)],
            domain="every debt of the reserve at most; kept samples are a round older, new ones have age 1",
        ),
        always(
            debt_after(reserve, c, S, C) + C <= ceiling() + C,
            given=[c <= high, reserve >= C],
            domain="the opening: $S$ samples at one price, which have saved $C$ by the next round",
        ),
        always(
            ceiling() >= Z, given=[Z + saved <= ceiling() + C, saved >= C], domain="all ages are 1 at least"
        ),
    )


def money_spent() -> Evidence:
    """Σcx <= CT + Z(T+1) - Z(1) (buy:online-debt), and the ceiling for Z(T+1): a full memory and C(T-1)."""
    return equal(
        C * T + ceiling() - reserve,
        C * (T - 1) + high * S,
        domain="every $T$",
        what="the most that $T$ rounds cost",
    )


def _breaks(prices: list[int], places: int, share: int, rounds: int) -> dict[str, Any] | None:
    """One path in whole numbers, opening included: debt, savings and money spent. C = S·share, Z(1) = C·rounds."""
    budget = places * share
    reserve = budget * rounds
    top = max(prices)
    V = reserve_weight(reserve, places, budget)
    first = max(reserve + prices[0] * places - budget, 0)
    found = play([[p] for p in prices[1:]], places=places, budget=budget, V=int(V), debt=first)
    debts, ages = found.debt[:, 0].tolist(), [places, *found.ages[:, 0].tolist()]
    ceiling = savings_ceiling(reserve, places, budget, top)
    both = max(debt + share * total for debt, total in zip(debts, ages, strict=True))
    spent = prices[0] * places + int(found.spent.sum())
    if (
        max(debts) <= ceiling
        and both <= ceiling + budget
        and spent <= budget * (len(prices) - 1) + top * places
    ):
        return None
    return {"debts": debts, "ceiling": ceiling, "debt and savings": both, "spent": spent}


def drawn_paths(context: Context) -> Evidence:
    """Prices in any order."""
    return search(
        context,
        {
            "prices": st.lists(st.integers(1, 12), min_size=2, max_size=14),
            "places": st.integers(1, 4),
            "share": st.integers(1, 4),
            "rounds": st.integers(1, 6),
        },
        _breaks,
        domain=r"up to 14 whole prices up to 12, $S\le4$, $C/S\le4$, $Z(1)$ up to $6C$",
        examples=context.choose(150, 1500),
    )


def price_processes(context: Context) -> Evidence:
    """Independent, Markov and drifting prices, in whole quarters: every round of every run."""
    rng, runs, rounds = context.generator(), context.choose(40, 400), context.choose(300, 3000)
    places, share = 10, 2 * QUARTER
    budget, reserve = places * share, places * share * 17
    V = int(reserve_weight(reserve, places, budget))
    seen, domain = {}, f"S = 10, C = 20, Z(1) = 17C; {runs} runs of {rounds} rounds each, prices in quarters"
    for costs, prices in drawn_prices(rng, runs, rounds):
        first = reserve + prices[0] * places - budget
        found = play(prices[1:], places=places, budget=budget, V=V, debt=first)
        ceiling = savings_ceiling(reserve, places, budget, int(prices.max()))
        largest = int(found.debt.max())
        seen[costs.name] = {"largest debt": largest, "ceiling": int(ceiling)}
        if largest > ceiling:
            return fails("simulation", f"broken by {costs.name}", domain=domain, certificate=seen)
    return holds("simulation", "no round of any run is above", domain=domain, certificate=seen)


# --- constant prices ---------------------------------------------------------------------------------------


def constant_prices() -> Evidence:
    """c <= jC/S from j = K = ⌈cS/C⌉ on; ages 1..K are as frequent: the effective rate S/K."""
    j = sp.Symbol("j", integer=True, positive=True)
    return together(
        smt(
            sp.Equivalent(c <= savings_price(j, S, C), j >= K),
            given=[c * S > C * (K - 1), c * S <= C * K],
            domain=r"every price, $j$ and $K$ with $K-1<cS/C\le K$",
        ),
        equal(
            effective_rate(S, (K + 1) / sp.Integer(2)),
            S / K,
            domain="every $K$",
            what="the effective rate and $S/K$",
        ),
    )


def played_at_constant_prices() -> Evidence:
    """Sample by sample: each is used K times, and what came in equal parts of S/K leaves in them."""

    def find(price: int, places: int, budget: int) -> dict[str, Any] | None:
        kept = ceil(F(price * places, budget))
        ages, admitted = [1 + i % kept for i in range(places)], [[places]]
        for _ in range(3 * kept):
            taken = [price <= savings_price(one, places, budget) for one in ages]
            ages = [1 if take else one + 1 for one, take in zip(ages, taken, strict=True)]
            admitted.append([sum(taken)])
        last = simulate_by_capacity(admitted, [places])[-1]
        gone = [count for sample, count in last.uses.items() if sample not in last.memory]
        later = set(gone[places:])  # those of the first round had ages of their own
        even = places % kept or all(row == [places // kept] for row in admitted[1:])
        return None if later <= {kept} and even else {"uses": sorted(later), "K": kept, "admitted": admitted}

    points = [
        {"price": price, "places": places, "budget": budget}
        for price in (1, 2, 5)
        for places in (2, 4, 6)
        for budget in (2, 3, 5)
    ]
    return exhaust(
        points, find, domain="$c=1$, 2, 5; $S=2$, 4, 6; $C=2$, 3, 5; places that began one after the other"
    )


CLAIMS = [
    Claim(
        id="buy:savings",
        kind="addition",
        title="pay what a place has saved: a budget on every path",
        statement="Let a place save $C/S$ a round, and a sample used $j$ times be replaced only at "
        "prices up to the savings $jC/S$: on every path, whatever the prices, $T$ rounds after the "
        "opening cost $CT$ at most besides it. At a constant price $c$ that is $K$-step retention with "
        r"$K=\lceil cS/C\rceil$, at the effective rate $S/K$, which is constant admission's $C/c$ where "
        "$cS/C$ is whole. The online rule with $w(j)=j$ and $V=Z(1)C/S$ is this rule at the debt $Z(1)$, "
        r"pays less above it and more below. If round 1 fills the memory and $Z(1)\ge C$, its debt never "
        "exceeds $Z(1)+c_{+}S-C$, on every path and for every reserve, so that $T$ rounds cost "
        "$C(T-1)+c_{+}S$ at most: the budget, and one full memory at the highest price.",
        formula=said(
            r"Z(t)+\frac CS\sum_iA_i(t)\le Z(1)+c_+S,\qquad Z(t)\le @ceiling,\qquad V=@V",
            ceiling=ceiling(),
            V=weight(),
            price=savings_price(sp.Symbol("j"), S, C),
        ),
        domain=r"every $S$, $C$, $Z(1)\ge C$ and every prices of at most $c_{+}$ in any order, on every "
        "path",
        given=(WRITTEN,),
        sketch="A place whose sample has age $A$ has paid $P$ with $P+(C/S)A$ <= (its opening) + "
        "$(C/S)t$: a round adds $C/S$ to both sides if the sample is kept, and a purchase at a price up "
        "to $(C/S)A$ moves that from the savings to $P$. At a constant price the first $j$ with "
        r"$jC/S\ge c$ is $K$, so ages run $1,\ldots,K$, with mean $(K+1)/2$. Online, let $W=(C/S)\sum A$ "
        r"be all savings. Above the reserve $Zc<Z(1)\cdot AC/S$ means $c<AC/S$: with $x$ replaced, who "
        r"had saved $U\ge cx$, $W^{\prime}=W+C-U$ and $Z^{\prime}=Z+cx-C$ (no positive part, as $Z\ge "
        r"C$), so $Z^{\prime}+W^{\prime}\le Z+W$. Below it, who is kept has $Zc\ge Z(1)\cdot AC/S$, so "
        r"$AC/S\le c$: $W^{\prime}\le(S-x)c+C$, and $Z^{\prime}\le Z+cx-C$ or 0, so "
        r"$Z^{\prime}+W^{\prime}\le Z(1)+cS$, or $(S-x)c+C\le c_{+}S+Z(1)$. The opening leaves "
        r"$Z(1)+cS-C$ and savings of $C$. By induction $Z+W\le Z(1)+c_{+}S$ ever after, and $W\ge C$ "
        "since no age is below 1. The money spent is at most $CT+Z(T+1)-Z(1)$.",
        checks={
            "a place's account": a_place,
            "at the reserve": at_the_reserve,
            "the debt": (
                above_the_reserve,
                below_the_reserve,
                confirming(drawn_paths),
                confirming(price_processes),
            ),
            "the money": (money_spent, confirming(drawn_paths)),
            "constant prices": (constant_prices, confirming(played_at_constant_prices)),
        },
        symbols={
            **SYMBOLS,
            "A": "the age of a sample: how often it has been used",
            "c_+": "the highest price",
            "j": "an age",
            "Z_1": "the reserve: the debt at the start",
        },
    ),
]
