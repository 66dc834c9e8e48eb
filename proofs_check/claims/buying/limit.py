r"""What money buys (`buy:limit`): a fractional knapsack in the price, for every policy and in every order of prices.

Linear-programming duality, a round at a time: a purchase x at price c is at most \(\lambda cx+S(1-\lambda c)^+\).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.figures import rounds_to
from proofs_check.groundwork.buying.market import (
    BUDGET,
    HIGH,
    LOW,
    PAPER,
    PLACES,
    SHARE,
    SYMBOLS,
    C,
    S,
    c,
    low,
)
from proofs_check.groundwork.buying.purchases import most_bought, price_lists
from proofs_check.text import said
from theory.algebra import ball
from theory.knapsack import purchase_bound, purchase_limit, uniform_rate, uniform_threshold
from theory.prices import Atoms, Uniform

F = Fraction
x, owed, multiplier = sp.symbols("x D lambda", nonnegative=True)
width, theta = sp.symbols("w theta", positive=True)
UNIFORM = Uniform(low, low + width)
LARGE_NUMBERS = Given(
    "the law of large numbers", "that means over rounds of independent prices tend to expectations"
)


def one_round() -> Evidence:
    """What a round adds to theory's bound, less λ times what it leaves of its C, is at least what it buys."""
    earlier = sp.symbols("c_1 c_2", positive=True)
    grown = [
        purchase_bound([*earlier[:k], c], S, C, multiplier, owed)
        - purchase_bound(earlier[:k], S, C, multiplier, owed)
        for k in range(3)
    ]
    return together(
        *(
            always(
                x <= sp.expand(more) + multiplier * (c * x - C),
                given=[x <= S],
                domain=f"every price, λ >= 0 and 0 <= x <= S, after {k} rounds",
            )
            for k, more in enumerate(grown)
        )
    )


def all_rounds() -> Evidence:
    """Before round 1 the bound is λD; so Σx <= bound + λ(Σcx - CT - D), and the bracket is not positive."""
    total, paid, bound, T = sp.symbols("total paid bound T", real=True)
    return together(
        equal(
            purchase_bound([], S, C, multiplier, owed),
            multiplier * owed,
            domain="no rounds",
            what="the bound",
        ),
        always(
            total <= bound,
            given=[total <= bound + multiplier * (paid - C * T - owed), paid <= C * T + owed],
            domain=r"every $\lambda\ge0$, and purchases within the budget and the debt",
        ),
    )


def every_vertex(context: Context) -> Evidence:
    """At every list of prices the least bound, over λ = 0 and 1/c, is what the best purchases come to: no gap."""

    def find(prices: list[int], places: int, budget: int, debt: int) -> dict[str, Any] | None:
        best = most_bought(prices, places, budget * len(prices) + debt)
        bounds = [purchase_bound(prices, places, budget, m, debt) for m in (F(0), *(F(1, p) for p in prices))]
        return None if min(bounds) == best else {"best": best, "least bound": min(bounds)}

    return search(
        context,
        {
            "prices": price_lists(),
            "places": st.integers(1, 5),
            "budget": st.integers(1, 20),
            "debt": st.integers(0, 5),
        },
        find,
        domain=r"up to 6 rounds, whole prices up to 7, $S\le5$, $C\le20$, $D\le5$; every vertex of what "
        "is allowed",
        examples=context.choose(100, 1000),
    )


def _no_limit(prices: list[int], places: int, budget: Any) -> dict[str, Any] | None:
    """The limit of a list of prices against the best purchases at these prices, one after the other."""
    T, law = len(prices), Atoms.of(prices)
    found = purchase_limit(law, places, budget)
    bought = sum(
        places * (1 if price < found.threshold else found.part if price == found.threshold else 0)
        for price in prices
    )
    paid = sum(
        places * price * (1 if price < found.threshold else found.part if price == found.threshold else 0)
        for price in prices
    )
    best = most_bought(prices, places, budget * T)
    enough = budget >= places * law.mean
    dual = 0 if enough else F(1) / found.threshold
    wanted = {
        "rate": best / T,
        "bought": best,
        "cost": F(paid, T),
        "paid": places * sum(prices) if enough else budget * T,
        "binds": "memory" if enough else "money",
        "dual": best,
    }
    got = {
        "rate": found.rate,
        "bought": bought,
        "cost": found.cost,
        "paid": paid,
        "binds": found.binds,
        "dual": purchase_bound(prices, places, budget, dual),
    }
    return None if got == wanted else {"got": got, "wanted": wanted}


def every_short_list() -> Evidence:
    """All lists of up to three prices from 1, 2, 5, in every order: rate, cost, threshold, what binds, the dual."""
    points = (
        {"prices": [p for p in (first, second, third) if p], "places": places, "budget": budget}
        for first in (1, 2, 5)
        for second in (0, 1, 2, 5)
        for third in (0, 1, 2, 5)
        for places in (1, 3)
        for budget in (F(1, 3), 1, F(5, 2), 4, 15)
    )
    return exhaust(points, _no_limit, domain="1 to 3 prices from 1, 2, 5; $S=1$, 3; $C=1/3$, 1, $5/2$, 4, 15")


def lists_of_prices(context: Context) -> Evidence:
    """Lists drawn at random: what the threshold buys is the best at these prices, with C spent if money binds."""
    return search(
        context,
        {
            "prices": price_lists(),
            "places": st.integers(1, 5),
            "budget": st.fractions(F(1, 4), 20, max_denominator=4),
        },
        _no_limit,
        domain=r"up to 6 prices up to 7, $S\le5$, $C\le20$",
        examples=context.choose(100, 1000),
    )


def any_law() -> Evidence:
    """At λ = 1/θ the bound's mean is S·F + (C - S·m)/θ, F and m of the prices below θ: what the threshold buys."""
    mass, spent = sp.symbols("F m", positive=True)
    spare = mass - spent / theta  # E(1-c/θ)⁺
    part = (C / S - spent) / theta  # the share of S·P(c = θ) that the rest of C pays for
    return together(
        equal(C / theta + S * spare, S * (mass + part), domain="every law", what="the bound and the rate"),
        equal(S * (spent + theta * part), C, domain="every law", what="the threshold's cost and $C$"),
    )


def uniform_prices() -> Evidence:
    """θ = √(a²+2(b-a)C/S): its cost is C, its rate theory's, and the bound at λ = 1/θ comes to that rate."""
    found = uniform_threshold(low, low + width, C / S)
    money = S * (theta**2 - low**2) / (2 * width)  # what buying below θ costs
    price = sp.Symbol("price", positive=True)
    spare = sp.integrate((1 - price / theta) / width, (price, low, theta))
    rate = uniform_rate(low, low + width, S, money)
    short = [S * UNIFORM.mean >= C]
    return together(
        equal(found**2, low**2 + 2 * width * C / S, domain="every $S$ and $C$", what=r"$\theta^2$"),
        always(
            [found >= low, found <= low + width], given=short, domain="$C$ at most $S$ times the mean price"
        ),
        always(
            [sp.Eq(S * UNIFORM.spent(theta), money), sp.Eq(UNIFORM.mass(theta), (theta - low) / width)],
            given=[theta >= low, theta <= low + width],
            domain=r"every $\theta$ in $[a,b]$",
        ),
        equal(
            rate, S * (theta - low) / width, domain=r"every $\theta$", what=r"the rate and $S\cdot F(\theta)$"
        ),
        equal(
            money / theta + S * spare,
            rate,
            domain=r"every $\theta$",
            what=r"the bound at $1/\theta$ and the "
            "rate",
        ),
        equal(
            purchase_limit(PAPER, PLACES, BUDGET).rate,
            uniform_rate(LOW, HIGH, PLACES, BUDGET),
            domain="the paper's budgets",
            what="the limit and the closed form",
        ),
    )


def enough_money() -> Evidence:
    """λ = 0: the bound is S a round, and S are bought at every price, for S times the mean price."""
    law = Uniform(F(1), F(3))
    found = purchase_limit(law, 7, 14)
    return together(
        equal(
            purchase_bound([c], S, C, 0),
            S,
            domain="every price",
            what=r"the bound at $\lambda=0$ and "
            "$S$",
        ),
        exhaust(
            [{"got": (found.rate, found.cost, found.threshold, found.part, found.binds)}],
            lambda got: None if got == (7, 14, 3, 1, "memory") else {"wanted": "7, 14, 3, 1, memory"},
            domain="uniform on [1, 3], $S=7$, $C=14$: just enough",
            strength="proof",
        ),
    )


def papers_budgets() -> Evidence:
    """25.57 samples a round, and the threshold 3.30, to the hundredth."""
    setting = "S = 100, C = 55, prices uniform on [1, 10]"
    return together(
        rounds_to(
            uniform_rate(LOW, HIGH, PLACES, ball(BUDGET)),
            "25.57",
            what="the largest rate",
            domain=setting,
        ),
        rounds_to(uniform_threshold(LOW, HIGH, ball(SHARE)), "3.30", what="its threshold", domain=setting),
    )


CLAIMS = [
    Claim(
        id="buy:limit",
        kind="addition",
        title="what money buys is a knapsack in the price",
        statement="Whatever the prices $c(t)$ and whoever buys $x(t)$ in $[0,S]$ for no more than $CT+D$ "
        r"in all, clairvoyant or not: for every $\lambda\ge0$ at most $\lambda(CT+D)+S\sum (1-\lambda "
        "c(t))^{+}$ samples are bought, and at every list of prices the least of these bounds is what "
        "the best purchases come to. For independent prices the bound's mean a round at "
        r"$\lambda=1/\theta$ tends to $S\cdot P(c<\theta)$ and part of $S$ at $\theta$, $\theta$ being "
        r"the threshold whose cost is $C$, and buying $S$ below $\theta$ attains it. For prices uniform "
        r"on $[a,b]$ and $C/S$ up to their mean $\theta^2=a^2+2(b-a)C/S$; with more money than $S$ times "
        "the mean price the limit is $S$. The paper's MNIST budgets $(S=100,C=55)$ with prices on [1, "
        "10] buy 25.57 samples a round at most, those below 3.30.",
        formula=said(
            r"\sum_{t\le T}x(t)\le\lambda(CT+D)+S\sum_{t\le T}(1-\lambda c(t))^+,\qquad\theta=@theta,\quad R=@R",
            theta=uniform_threshold(sp.Symbol("a"), sp.Symbol("b"), C / S),
            R=uniform_rate(sp.Symbol("a"), sp.Symbol("b"), S, C),
        ),
        domain="every $S$, $C$, $D$ and every sequence of prices; limits for independent prices of one law",
        given=(WRITTEN, LARGE_NUMBERS),
        sketch=r"In a round $x=\lambda cx+x(1-\lambda c)\le\lambda cx+S(1-\lambda c)^{+}$, as $0\le x\le "
        r"S$. Summed, $\sum x\le\lambda\sum cx+S\sum (1-\lambda c)^{+}$, and $\sum cx\le CT+D$. For "
        r"independent prices the right side over $T$ tends to $\lambda C+S\cdot E(1-\lambda c)^{+}$, $D$ "
        r"being fixed. At $\lambda=1/\theta$ that is $C/\theta+S(F-m/\theta)$ with $F=P(c<\theta)$ and "
        r"$m=\mathbb E[c;\ c<\theta]$: $S\cdot F+(C-S\cdot m)/\theta$. Who buys $S$ below $\theta$, and "
        r"at $\theta$ the part of $S$ that the rest of $C$ pays for, buys that on average and spends "
        r"$C$; for a list of prices, exactly. For uniform prices $m(\theta)=(\theta^2-a^2)/(2(b-a))$, so "
        r"$S\cdot m=C$ gives $\theta^2$, which lies in $[a^2,b^2]$ for $C/S$ up to $(a+b)/2$, and the "
        r"rate is $S\cdot F(\theta)=S(\theta-a)/(b-a)$.",
        checks={
            "every policy": (one_round, all_rounds),
            "no gap": (any_law, confirming(every_short_list), confirming(every_vertex)),
            "the threshold": (any_law, confirming(every_short_list), confirming(lists_of_prices)),
            "uniform prices": uniform_prices,
            "enough money": enough_money,
            "25.57": papers_budgets,
        },
        symbols={
            **SYMBOLS,
            "D": "what is owed in the end",
            "λ": "the price of money in samples",
            "θ": "the price up to which $S$ are bought",
            "R": "the largest rate",
            "a": "the lowest price",
            "b": "the highest price",
        },
    ),
]
