r"""When to replace a sample (`buy:best-rule`): places decouple, each a stopping problem in the age of its sample.

A function h of the age that satisfies Bellman's inequality bounds every causal rule; the best thresholds attain it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.certificates import capped_price
from proofs_check.groundwork.buying.market import HIGH, LOW, SYMBOLS, j
from proofs_check.groundwork.buying.rules import all_rules, least_at, long_run
from proofs_check.text import said
from theory.capacity import age_burden
from theory.prices import Atoms, Uniform
from theory.replacement import best_rule, cycle, least_burden

F = Fraction
g, g1, now, later, h1, worth, price, h = sp.symbols("g g_1 now later h_1 lambda c h", real=True)
mu = sp.Symbol("mu", nonnegative=True)
SETTING = "$S=100$, $C=55$, prices uniform on [1, 10]"
MARTINGALES = Given(
    "the strong law for martingales",
    "that a sum of $T$ bounded differences of mean 0 given the past is $o(T)$ with probability 1",
)


# --- no causal rule does better ----------------------------------------------------------------------------


def one_round() -> Evidence:
    """Whatever is decided: g + μ·paid + h at the new age is at least the minimum of the two choices."""
    replaced, stayed = mu * price + g1 + h1, g + later
    chosen = sp.Symbol("chosen", real=True)
    return together(
        always(
            chosen >= sp.Min(replaced, stayed),
            given=[sp.Or(sp.Eq(chosen, replaced), sp.Eq(chosen, stayed))],
            domain="every age, price and decision",
        ),
        always(
            sp.Min(replaced, stayed) >= worth + sp.Min(mu * price, g - worth + later),
            given=[g1 - worth + h1 >= 0],
            domain=r"every $h$ and $\lambda$ with $g(1)-\lambda+h(1)\ge0$",
        ),
    )


def many_rounds() -> Evidence:
    """Means add up: total >= λt + h(first) - h(now) from round to round; and μ >= 0 turns cost into budget."""
    total, added, first, after, t, cost, share = sp.symbols("total added first after t cost share", real=True)
    return together(
        always(
            total + added >= worth * (t + 1) + first - after,
            given=[total >= worth * t + first - now, added >= worth + now - after],
            domain="every round",
        ),
        always(
            g >= worth - mu * share,
            given=[g + mu * cost >= worth, cost <= share],
            domain="a mean burden $g$ and a mean cost within the share of the budget",
        ),
    )


def attained() -> Evidence:
    """Where the smaller choice is taken and Bellman's inequality is an equality, so is all that follows; g(1)-λ+h(1)
    falls in λ, from h(1) >= 0 at λ = g(1), so that it has a root; and a mixture of two rules of one λ is on its line.
    """
    more, above, burden1, burden2, cost1, cost2, mix, share = sp.symbols(
        "more above burden_1 burden_2 cost_1 cost_2 mix share", real=True
    )
    replaced, stayed = mu * price + g1 + h1, g + later
    equals = sp.Eq(sp.Min(replaced, stayed), worth + sp.Min(mu * price, g - worth + later))
    return together(
        always(equals, given=[sp.Eq(g1 - worth + h1, 0)], domain="every age and price"),
        always(
            [
                sp.Min(mu * price, g - worth + h) >= sp.Min(mu * price, g - more + above),
                g1 - worth + h > g1 - more + above,
            ],
            given=[more > worth, above <= h],
            domain=r"a larger $\lambda$ has a smaller $h$, age by age, and a smaller $g(1)-\lambda+h(1)$",
        ),
        always(
            sp.Min(mu * price, g - g1 + h) >= 0,
            given=[g >= g1, h >= 0, price > 0],
            domain=r"$h\ge0$ at $\lambda=g(1)$, age by age",
        ),
        always(
            sp.Eq(mix * burden1 + (1 - mix) * burden2, worth - mu * share),
            given=[
                sp.Eq(burden1 + mu * cost1, worth),
                sp.Eq(burden2 + mu * cost2, worth),
                sp.Eq(mix * cost1 + (1 - mix) * cost2, share),
            ],
            domain=r"two rules of one $\lambda$, mixed to cost $C/S$",
        ),
    )


# --- thresholds --------------------------------------------------------------------------------------------


def thresholds_grow() -> Evidence:
    """If g and h do not fall from an age to the next, nor do E min(μc, g-λ+h) and the threshold; at the last age h is
    the same for all later ones, so it holds from there down.
    """
    higher, after = sp.symbols("higher after", real=True)
    return always(
        [
            sp.Min(mu * price, g - worth + h) <= sp.Min(mu * price, higher - worth + after),
            (g - worth + h) / (1 + mu) <= (higher - worth + after) / (1 + mu),
        ],
        given=[g <= higher, h <= after],
        domain=r"every price, $\mu\ge0$, $\lambda$, and burdens that do not fall",
    )


def _laws() -> st.SearchStrategy[Atoms]:
    return (
        st.lists(st.integers(1, 6), min_size=2, max_size=4)
        .map(Atoms.of)
        .filter(lambda x: 2 <= len(x.prices) <= 3)
    )


def _burdens(ages: int) -> st.SearchStrategy[list[int]]:
    rises = st.lists(st.integers(0, 4), min_size=ages, max_size=ages)
    return rises.map(lambda steps: [1 + sum(steps[: i + 1]) for i in range(ages)]).filter(
        lambda x: x[-1] > x[0]
    )


def _not_the_best(law: Atoms, burdens: list[int], part: Fraction) -> dict[str, Any] | None:
    """theory's mixture against the hull of all stationary rules; its thresholds grow, and its chains are solved."""
    share = part * law.mean
    points = [long_run(law, rule, burdens) for rule in all_rules(len(law.prices), len(burdens))]
    dear, cheap, mix, burden, multiplier = least_burden(law, burdens, share)
    wanted = least_at(points, share)
    for rule in (dear, cheap):
        taken = [[p <= top for p in law.prices] for top in rule.thresholds]
        solved = (rule.cost, rule.burden) == long_run(law, taken, burdens)
        grows = all(first <= then for first, then in pairwise(rule.thresholds))
        if not solved or not grows:
            return {"thresholds": rule.thresholds, "cost, burden": (rule.cost, rule.burden)}
    if burden != wanted or mix * dear.cost + (1 - mix) * cheap.cost != share:
        return {"found": burden, "least": wanted}
    if multiplier > 0:
        found = best_rule(law, burdens, multiplier)
        value = found.burden + multiplier * found.cost
        if value != burden + multiplier * share or value != min(b + multiplier * c for c, b in points):
            return {"λ": value, "of the mixture": burden + multiplier * share}
    return None


def every_rule() -> Evidence:
    """Listed laws and burdens: every set of prices at every age."""
    points = (
        {"law": Atoms.of(prices), "burdens": burdens, "part": part}
        for prices, burdens in (([1, 3], [1, 3, 5, 7]), ([2, 3], [1, 3, 5, 7]), ([1, 2, 6], [1, 2, 9]))
        for part in (F(1, 4), F(1, 2), F(9, 10))
    )
    return exhaust(
        points, _not_the_best, domain="prices 1, 3; 2, 3; 1, 2, 6; three shares; all stationary rules"
    )


def drawn_rules(context: Context) -> Evidence:
    """Laws, burdens and budgets drawn at random."""
    return search(
        context,
        {"law": _laws(), "burdens": _burdens(3), "part": st.sampled_from([F(1, 7), F(1, 3), F(2, 3), F(1)])},
        _not_the_best,
        domain="2 or 3 prices up to 6, three ages, all 64 or 512 stationary rules",
        examples=context.choose(15, 200),
    )


def renewal() -> Evidence:
    """theory's mean over a cycle against the chain of ages, solved exactly: all thresholds, an idle rule too."""

    def find(law: Atoms, thresholds: tuple[Any, ...]) -> dict[str, Any] | None:
        burdens = [1, 4, 6]
        found = cycle(law, thresholds, burdens)
        solved = long_run(law, [[p <= top for p in law.prices] for top in thresholds], burdens)
        bought = long_run(law, [[p <= top for p in law.prices] for top in thresholds], [1, 0, 0])[1]
        if not law.mass(thresholds[-1]) and not any(law.mass(top) == 1 for top in thresholds):
            bought = F(0)
        same = (found.cost, found.burden, found.renewals) == (*solved, bought)
        return (
            None
            if same
            else {"found": (found.cost, found.burden, found.renewals), "solved": (*solved, bought)}
        )

    points = [
        {"law": law, "thresholds": thresholds}
        for law in (Atoms.of([1, 3]), Atoms.of([1, 2, 2, 6]))
        for thresholds in product((F(0), *map(F, law.prices)), repeat=3)
    ]
    return exhaust(points, find, domain="two laws, every three thresholds")


def indifference() -> Evidence:
    """theory's price to take where a round of waiting costs a saving: E(θ-c)⁺ = θ - E min(c, θ) is that saving."""

    def find(law: Any, saving: Fraction) -> dict[str, Any] | None:
        top = law.indifferent(saving)
        met = top - capped_price(law, top)
        return None if met == saving and top >= law.lowest else {"θ": top, "E(θ-c)⁺": met}

    lists = (Atoms.of([1, 3]), Atoms.of([1, 2, 2, 6]), Atoms.of([4]))
    points = [{"law": law, "saving": F(k, 4)} for law in lists for k in range(1, 40)]
    points += [{"law": Uniform(LOW, HIGH), "saving": F(k * k, 18)} for k in range(10)]  # θ = 1 + k
    points += [{"law": Uniform(LOW, HIGH), "saving": F(k, 2)} for k in range(9, 20)]  # θ above all prices
    return exhaust(points, find, domain="three lists of prices, and prices uniform on [1, 10]; 138 savings")


CLAIMS = [
    Claim(
        id="buy:best-rule",
        kind="addition",
        title="the best time to replace a sample: thresholds by age",
        statement="Let $S$ places be kept full, prices be independent of one law, and $g$ be a burden "
        r"that does not fall with age. If $h$ and $\lambda$ satisfy Bellman's inequality, every causal "
        r"rule for all places together, whichever samples it replaces, has mean burden + $\mu$·(mean "
        r"cost a place) of $\lambda$ at least in the long run; so one of mean cost $C$ has no burden "
        r"below $\lambda-\mu C/S$. The largest of these bounds is attained by a mixture of two rules "
        r"that replace a sample used $j$ times at prices up to $\theta(j)$; $\theta(j)$ does not fall "
        "with $j$, so that the oldest go first: first in, first out.",
        formula=said(
            r"h(j)\le\mathbb E\min\bigl(\mu c,\,g(j+1)-\lambda+h(j+1)\bigr),\ g(1)-\lambda+h(1)\ge0\ \Rightarrow\ "
            r"\mathbb E[g]+\mu\,\mathbb E[\text{cost}]\ge\lambda,\qquad g(j)=@g",
            g=age_burden(j),
        ),
        domain="every law of independent prices in a bounded interval above 0, every $S$ and $C$, every "
        "burden",
        given=(WRITTEN, MARTINGALES),
        sketch=r"A decision in a round replaces the sample of a place, at $\mu c+g(1)+h(1)$, or keeps "
        "it, at $g(j+1)+h(j+1)$. Whatever is decided is at least the smaller of the two, and its mean "
        r"over the price, which is independent of the past, is at least $\lambda+h(j)$: for each place, "
        "and so for any joint rule, since costs and burdens add up over places. Over $T$ rounds the sum "
        r"telescopes to $\lambda T+h(\text{first})-h(\text{last})$, and $h$ is bounded, since ages "
        "beyond $J$ may count as $J$: that lowers burdens that do not fall, and nothing if a sample of "
        "age $J$ is replaced at any price. In the mean, and with probability 1 by the strong law, burden "
        r"+ $\mu$·cost is $\lambda$ at least. From the last age down, equality defines $h$ for any "
        r"$\lambda$; it falls in $\lambda$, and so does $g(1)-\lambda+h(1)$, not negative at "
        r"$\lambda=g(1)$: at its root (or at $\lambda=g(J)$, if nothing is worth its price) the rule "
        r"that takes the smaller choice attains $\lambda$: replace where $\mu c\le "
        r"g(j+1)-\lambda+h(j+1)=\mu\theta(j)$. Since $g$ does not fall and $h(J)$ stands for all later "
        r"ages, $h$ and $\theta$ do not fall, by induction from $J$ down: who replaces all with "
        r"$\theta(\text{age})\ge c$ replaces the oldest. As $\mu$ goes from 0 to infinity the best "
        r"rule's cost falls; where it jumps over $C/S$ two rules have the same $\lambda$, and their "
        r"mixture costs $C/S$ and has the burden $\lambda-\mu C/S$.",
        checks={
            "every causal rule": (one_round, many_rounds),
            "thresholds grow": (thresholds_grow, confirming(every_rule), confirming(drawn_rules)),
            "the mixture is best": (
                attained,
                confirming(renewal),
                confirming(indifference),
                confirming(every_rule),
                confirming(drawn_rules),
            ),
        },
        symbols={
            **SYMBOLS,
            "g": "what a sample of an age adds to the noise",
            "h": "the value of having used a sample $j$ times",
            "j": "an age: how often a sample has been used",
            "λ": r"the least burden and $\mu$·cost of a place, a round",
            "μ": "the price of money in burdens",
        },
    ),
]
