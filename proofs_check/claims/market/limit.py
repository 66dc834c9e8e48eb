r"""The most that money buys (`buy:limit`): a fractional knapsack in the price, for every policy and order of prices."""

from proofs_check.prelude import *

from proofs_check.groundwork.market.figures import exactly, figures
from proofs_check.groundwork.market.market import HIGH, LOW, PAPER, PLACES, SETTING, SYMBOLS, C, S, c, low
from proofs_check.groundwork.market.rules import most_bought
from theory.market.knapsack import purchase_bound
from theory.paper import BUDGET

width, theta, mass, spent = sp.symbols("w theta F m", positive=True)
PRICES = st.lists(st.integers(1, 7), min_size=1, max_size=6)
LARGE_NUMBERS = Given("the law of large numbers", "that means over independent prices tend to expectations")


@drawn(
    r"up to 6 rounds, whole prices up to 7, $S\le5$, $C\le20$, $D\le5$; every vertex of what is allowed",
    (100, 1000),
    prices=PRICES,
    places=st.integers(1, 5),
    budget=st.integers(1, 20),
    debt=st.integers(0, 5),
)
def every_vertex(prices: list[int], places: int, budget: int, debt: int) -> Found:
    """The least bound, over λ = 0 and 1/c, is what the best purchases come to: no gap."""
    bounds = [purchase_bound(prices, places, budget, m, debt) for m in (F(0), *(F(1, p) for p in prices))]
    return differing(best=most_bought(prices, places, budget * len(prices) + debt), least_bound=min(bounds))


def _no_limit(prices: list[int], places: int, budget: Any) -> Found:
    """Rate, cost, threshold, what binds and the dual against the best purchases at these prices."""
    T, law = len(prices), Atoms.of(prices)
    found = purchase_limit(law, places, budget)
    parts = [1 if p < found.threshold else found.part if p == found.threshold else 0 for p in prices]
    bought, paid = places * sum(parts), places * sum(p * part for p, part in zip(prices, parts, strict=True))
    best, enough = most_bought(prices, places, budget * T), budget >= places * law.mean
    dual = purchase_bound(prices, places, budget, 0 if enough else F(1) / found.threshold)
    due, binds = (places * sum(prices), "memory") if enough else (budget * T, "money")
    return differing(
        got=[found.rate, bought, found.cost, paid, found.binds, dual],
        wanted=[best / T, best, F(paid, T), due, binds, best],
    )


every_short_list = everywhere(
    "1 to 3 prices from 1, 2, 5, in every order; $S=1,3$; $C=1/3,1,5/2,4,15$",
    prices=[[p for p in few if p] for few in product((1, 2, 5), (0, 1, 2, 5), (0, 1, 2, 5))],
    places=(1, 3),
    budget=(F(1, 3), 1, F(5, 2), 4, 15),
)(_no_limit)
lists_of_prices = drawn(
    r"up to 6 prices up to 7, $S\le5$, $C\le20$",
    (100, 1000),
    prices=PRICES,
    places=st.integers(1, 5),
    budget=fractions(F(1, 4), 20, max_denominator=4),
)(_no_limit)


def any_law() -> Evidence:
    """The bound's mean at λ = 1/θ is S·F + (C - S·m)/θ, F and m of the prices below θ: what the threshold buys."""
    spare = mass - spent / theta  # E(1-c/θ)⁺
    part = (C / S - spent) / theta  # the share of S·P(c = θ) that the rest of C pays for
    return argument(
        (C / theta + S * spare, S * (mass + part), "the bound and the rate"),
        (S * (spent + theta * part), C, "the threshold's cost and $C$"),
        domain="every law",
    )


def uniform_prices() -> Evidence:
    """θ = √(a²+2(b-a)C/S): its cost is C, its rate theory's, and the bound at λ = 1/θ comes to that rate."""
    law, price, top = Uniform(low, low + width), sp.Symbol("price", positive=True), low + width
    found = uniform_threshold(low, top, C / S)
    money = S * (theta**2 - low**2) / (2 * width)  # what buying below θ costs
    spare = sp.integrate((1 - price / theta) / width, (price, low, theta))
    rate = uniform_rate(low, top, S, money)
    below = [sp.Eq(S * law.spent(theta), money), sp.Eq(law.mass(theta), (theta - low) / width)]
    limit, closed = purchase_limit(PAPER, PLACES, BUDGET).rate, uniform_rate(LOW, HIGH, PLACES, BUDGET)
    every = r"every $\theta$"
    return argument(
        (found**2, low**2 + 2 * width * C / S, r"$\theta^2$", "every $S$ and $C$"),
        ([found >= low, found <= top], [S * law.mean >= C], "$C$ at most $S$ times the mean price"),
        (below, [theta >= low, theta <= top], rf"{every} in $[a,b]$"),
        (rate, S * (theta - low) / width, r"the rate and $SF(\theta)$", every),
        (money / theta + S * spare, rate, r"the bound at $1/\theta$ and the rate", every),
        (limit, closed, "the limit and the closed form", "the paper's budgets"),
    )


def enough_money() -> Evidence:
    """λ = 0: the bound is S per round, and S are bought at every price, for S times the mean price."""
    found = purchase_limit(Uniform(F(1), F(3)), 7, 14)
    got = (found.rate, found.cost, found.threshold, found.part, found.binds)
    return argument(
        (purchase_bound([c], S, C, 0), S, r"the bound at $\lambda=0$ and $S$", "every price"),
        exactly("uniform on $[1,3]$, $S=7$, $C=14$, no more than enough", got, (7, 14, 3, 1, "memory")),
    )


CLAIMS = [
    Claim(
        id="buy:limit",
        title="what money buys is a knapsack in the price",
        statement="Whatever the prices $c(t)$ and whoever buys $x(t)$ in $[0,S]$ for no more than $CT+D$ in "
        r"all, clairvoyant or not: at most the stated bound is bought, for every $\lambda\ge0$, and at every "
        "list of prices the least of these bounds is what the best purchases come to. For independent prices "
        r"the bound's mean per round at $\lambda=1/\theta$ tends to $S\,P(c<\theta)$ and part of $S$ at "
        r"$\theta$, the threshold whose cost is $C$, and buying $S$ below $\theta$ attains it. For prices "
        r"uniform on $[a,b]$ and $C/S$ up to their mean $\theta$ and the rate are in closed form; with more "
        "money than $S$ times the mean price the limit is $S$. The paper's MNIST budgets ($S=100$, $C=55$) "
        "with prices on $[1,10]$ buy 25.57 samples per round at most, those below 3.30.",
        formula=said(
            r"\sum_{t\le T}x(t)\le\lambda(CT+D)+S\sum_{t\le T}(1-\lambda c(t))^+,\qquad\theta=@theta,\quad R=@R",
            theta=uniform_threshold(sp.Symbol("a"), sp.Symbol("b"), C / S),
            R=uniform_rate(sp.Symbol("a"), sp.Symbol("b"), S, C),
        ),
        domain="every $S$, $C$, $D$ and every sequence of prices; limits for independent prices of one law",
        given=(LARGE_NUMBERS,),
        sketch=r"In a round $x=\lambda cx+x(1-\lambda c)\le\lambda cx+S(1-\lambda c)^{+}$, as $0\le x\le S$. "
        r"Summed, with $\sum cx\le CT+D$, that is the bound. For independent prices it tends, over $T$, to "
        r"$\lambda C+S\,\mathbb E(1-\lambda c)^{+}$. At $\lambda=1/\theta$ that is $SF+(C-Sm)/\theta$ with "
        r"$F=P(c<\theta)$ and $m=\mathbb E[c;\ c<\theta]$. Who buys $S$ below $\theta$, and at $\theta$ the "
        "part of $S$ that the rest of $C$ pays for, buys that on average and spends $C$; for a list of "
        r"prices, exactly. For uniform prices $m(\theta)=(\theta^2-a^2)/(2(b-a))$, so $Sm=C$ gives "
        r"$\theta^2=a^2+2(b-a)C/S$, which lies in $[a^2,b^2]$ for $C/S$ up to $(a+b)/2$, and the rate is "
        r"$SF(\theta)=S(\theta-a)/(b-a)$.",
        checks={
            "every policy": theorem("Nobody.what_money_buys", domain="any prices, on every path"),
            "no gap": (any_law, confirming(every_short_list), confirming(every_vertex)),
            "the threshold": (any_law, confirming(every_short_list), confirming(lists_of_prices)),
            "uniform prices": uniform_prices,
            "enough money": enough_money,
            "25.57": lambda: figures(
                SETTING,
                ("the largest rate", uniform_rate(LOW, HIGH, PLACES, ball(BUDGET)), "25.57"),
                ("its threshold", uniform_threshold(LOW, HIGH, ball(F(BUDGET, PLACES))), "3.30"),
            ),
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
    )
]
