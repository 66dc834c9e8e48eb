r"""When to replace a sample (`buy:best-rule`): places decouple, each a stopping problem in the age of its sample.

A function h of the age that satisfies Bellman's inequality bounds every causal rule; the best thresholds attain it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Given, confirming
from proofs_check.engines.exact import Found, differing, drawn, everywhere, unless
from proofs_check.engines.smt import always, steps
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
replaced, stayed = mu * price + g1 + h1, g + later  # the two choices of a round
smaller, wait = sp.Min(replaced, stayed), worth + sp.Min(mu * price, g - worth + later)
MARTINGALES = Given(
    "the strong law for martingales",
    "that a sum of $T$ bounded differences of mean 0 given the past is $o(T)$ with probability 1",
)


def one_round() -> Evidence:
    chosen = sp.Symbol("chosen", real=True)
    either = sp.Or(sp.Eq(chosen, replaced), sp.Eq(chosen, stayed))
    return steps(
        (chosen >= smaller, [either], "every age, price and decision"),
        (smaller >= wait, [g1 - worth + h1 >= 0], r"every $h$ and $\lambda$ with $g(1)-\lambda+h(1)\ge0$"),
    )


def many_rounds() -> Evidence:
    total, added, first, after, t, cost, share = sp.symbols("total added first after t cost share", real=True)
    later = total + added >= worth * (t + 1) + first - after
    return steps(
        (later, [total >= worth * t + first - now, added >= worth + now - after], "every round"),
        (
            g >= worth - mu * share,
            [g + mu * cost >= worth, cost <= share],
            "a mean burden $g$, a mean cost within the budget",
        ),
    )


def attained() -> Evidence:
    more, above, mix, share = sp.symbols("more above mix share", real=True)
    burden1, burden2, cost1, cost2 = sp.symbols("burden_1 burden_2 cost_1 cost_2", real=True)
    falls = sp.Min(mu * price, g - worth + h) >= sp.Min(mu * price, g - more + above)
    dear, cheap = sp.Eq(burden1 + mu * cost1, worth), sp.Eq(burden2 + mu * cost2, worth)
    mixture = sp.Eq(mix * burden1 + (1 - mix) * burden2, worth - mu * share)
    return together(
        always(sp.Eq(smaller, wait), given=[sp.Eq(g1 - worth + h1, 0)], domain="every age and price"),
        always(
            [falls, g1 - worth + h > g1 - more + above],
            given=[more > worth, above <= h],
            domain=r"a larger $\lambda$ has a smaller $h$, age by age, and a smaller $g(1)-\lambda+h(1)$",
        ),
        always(
            sp.Min(mu * price, g - g1 + h) >= 0,
            given=[g >= g1, h >= 0, price > 0],
            domain=r"$h\ge0$ at $\lambda=g(1)$, age by age: so there is a root",
        ),
        always(
            mixture,
            given=[dear, cheap, sp.Eq(mix * cost1 + (1 - mix) * cost2, share)],
            domain=r"two rules of one $\lambda$, mixed to cost $C/S$",
        ),
    )


def thresholds_grow() -> Evidence:
    """At the last age h is the same for all later ones, so it holds from there down."""
    higher, after = sp.symbols("higher after", real=True)
    stay, stay_later = g - worth + h, higher - worth + after
    return always(
        [
            sp.Min(mu * price, stay) <= sp.Min(mu * price, stay_later),
            stay / (1 + mu) <= stay_later / (1 + mu),
        ],
        given=[g <= higher, h <= after],
        domain=r"every price, $\mu\ge0$, $\lambda$, and burdens that do not fall",
    )


def _taken(law: Atoms, thresholds: Any) -> list[list[bool]]:
    return [[p <= top for p in law.prices] for top in thresholds]


def _not_the_best(law: Atoms, burdens: list[int], part: Fraction) -> Found:
    """theory's mixture against the hull of all stationary rules; its thresholds grow, and its chains are solved."""
    share = part * law.mean
    points = [long_run(law, rule, burdens) for rule in all_rules(len(law.prices), len(burdens))]
    dear, cheap, mix, burden, multiplier = least_burden(law, burdens, share)
    wanted = least_at(points, share)
    for rule in (dear, cheap):
        solved = (rule.cost, rule.burden) == long_run(law, _taken(law, rule.thresholds), burdens)
        grows = all(first <= then for first, then in pairwise(rule.thresholds))
        if not solved or not grows:
            return {"thresholds": rule.thresholds, "cost, burden": (rule.cost, rule.burden)}
    if burden != wanted or mix * dear.cost + (1 - mix) * cheap.cost != share:
        return {"found": burden, "least": wanted}
    if multiplier > 0:
        found = best_rule(law, burdens, multiplier)
        value = found.burden + multiplier * found.cost
        least = min(b + multiplier * c for c, b in points)
        return differing(found=value, of_the_mixture=burden + multiplier * share, least=least)
    return None


@everywhere(
    "prices 1, 3; 2, 3; 1, 2, 6; three shares; all stationary rules",
    case=(([1, 3], [1, 3, 5, 7]), ([2, 3], [1, 3, 5, 7]), ([1, 2, 6], [1, 2, 9])),
    part=(F(1, 4), F(1, 2), F(9, 10)),
)
def every_rule(case: tuple[list[int], list[int]], part: Fraction) -> Found:
    return _not_the_best(Atoms.of(case[0]), case[1], part)


LAWS = st.lists(st.integers(1, 6), min_size=2, max_size=4).map(Atoms.of)
RISES = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(lambda steps: any(steps[1:]))
drawn_rules = drawn(
    "2 or 3 prices up to 6, three ages, all 64 or 512 stationary rules",
    (15, 200),
    law=LAWS.filter(lambda law: 2 <= len(law.prices) <= 3),
    burdens=RISES.map(lambda steps: [1 + sum(steps[: i + 1]) for i in range(3)]),
    part=st.sampled_from([F(1, 7), F(1, 3), F(2, 3), F(1)]),
)(_not_the_best)

LISTS = (Atoms.of([1, 3]), Atoms.of([1, 2, 2, 6]), Atoms.of([4]))


@everywhere(
    "two laws, every three thresholds",
    case=[(law, tops) for law in LISTS[:2] for tops in product((F(0), *map(F, law.prices)), repeat=3)],
)
def renewal(case: tuple[Atoms, tuple[Any, ...]]) -> Found:
    """theory's mean over a cycle against the chain of ages, solved exactly: an idle rule too."""
    (law, thresholds), burdens = case, [1, 4, 6]
    found, taken = cycle(law, thresholds, burdens), _taken(law, thresholds)
    idle = not law.mass(thresholds[-1]) and not any(law.mass(top) == 1 for top in thresholds)
    bought = F(0) if idle else long_run(law, taken, [1, 0, 0])[1]
    solved = (*long_run(law, taken, burdens), bought)
    return differing(found=(found.cost, found.burden, found.renewals), solved=solved)


@everywhere(
    "three lists of prices, and prices uniform on $[1,10]$; 138 savings",
    case=[
        *((law, F(k, 4)) for law in LISTS for k in range(1, 40)),
        *((Uniform(LOW, HIGH), F(k * k, 18)) for k in range(10)),  # θ = 1 + k
        *((Uniform(LOW, HIGH), F(k, 2)) for k in range(9, 20)),  # θ above all prices
    ],
)
def indifference(case: tuple[Any, Fraction]) -> Found:
    """theory's price to take where a round of waiting costs a saving: E(θ-c)⁺ = θ - E min(c, θ) is that saving."""
    law, saving = case
    top = law.indifferent(saving)
    met = top - capped_price(law, top)
    return unless(met == saving and top >= law.lowest, top=top, met=met)


CLAIMS = [
    Claim(
        id="buy:best-rule",
        kind="addition",
        title="the best time to replace a sample: thresholds by age",
        statement="Let $S$ places be kept full, prices be independent of one law, and $g$ be a burden that "
        r"does not fall with age. If $h$ and $\lambda$ satisfy Bellman's inequality, every causal rule for "
        r"all places together, whichever samples it replaces, has a mean burden plus $\mu$ times the mean "
        r"cost per place of $\lambda$ at least in the long run; so one of mean cost $C$ has no burden "
        r"below $\lambda-\mu C/S$. The largest of these bounds is attained by a mixture of two rules that "
        r"replace a sample used $j$ times at prices up to $\theta(j)$; $\theta(j)$ does not fall with $j$, "
        "so that the oldest go first: first in, first out.",
        formula=said(
            r"h(j)\le\mathbb E\min\bigl(\mu c,\,g(j+1)-\lambda+h(j+1)\bigr),\ g(1)-\lambda+h(1)\ge0\ \Rightarrow\ "
            r"\mathbb E[g]+\mu\,\mathbb E[\text{cost}]\ge\lambda,\qquad g(j)=@g",
            g=age_burden(j),
        ),
        domain="every law of independent prices in a bounded interval above 0, every $S$ and $C$, every "
        "burden",
        given=(WRITTEN, MARTINGALES),
        sketch=r"A decision in a round replaces the sample of a place, at $\mu c+g(1)+h(1)$, or keeps it, "
        "at $g(j+1)+h(j+1)$. Whatever is decided is at least the smaller of the two, and its mean over the "
        r"price, which is independent of the past, is at least $\lambda+h(j)$: for each place, and so for "
        "any joint rule, since costs and burdens add up over places. Over $T$ rounds the sum telescopes to "
        r"$\lambda T+h(\text{first})-h(\text{last})$, and $h$ is bounded, since ages beyond $J$ may count "
        "as $J$: that lowers burdens that do not fall, and nothing if a sample of age $J$ is replaced at "
        r"any price. In the mean, and with probability 1 by the strong law, burden plus $\mu$ times cost "
        r"is $\lambda$ at least. From the last age down, equality defines $h$ for any $\lambda$; it falls "
        r"in $\lambda$, and so does $g(1)-\lambda+h(1)$, not negative at $\lambda=g(1)$: at its root (or "
        r"at $\lambda=g(J)$, if nothing is worth its price) the rule that takes the smaller choice attains "
        r"$\lambda$: replace where $\mu c\le g(j+1)-\lambda+h(j+1)=\mu\theta(j)$. Since $g$ does not fall "
        r"and $h(J)$ stands for all later ages, $h$ and $\theta$ do not fall, by induction from $J$ down: "
        r"who replaces all with $\theta(\text{age})\ge c$ replaces the oldest. As $\mu$ goes from 0 to "
        "infinity the best rule's cost falls; where it jumps over $C/S$ two rules have the same "
        r"$\lambda$, and their mixture costs $C/S$ and has the burden $\lambda-\mu C/S$.",
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
