r"""Where the online rule settles (`buy:online-age/settled`): at a steady debt its thresholds are in proportion to age.

Replacing where Zc < Vj is a threshold of (V/Z)j; the scale V/Z is what spends the budget. In exact numbers.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Given, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.certificates import papers_best
from proofs_check.groundwork.buying.figures import between, rounds_to
from proofs_check.groundwork.buying.market import BUDGET, HIGH, LOW, PLACES, SHARE, SYMBOLS, V, Z, c, j
from proofs_check.text import said
from theory.algebra import ball
from theory.buying import buys
from theory.buying_plan import best_plan, burst_plan, online_plan, under
from theory.capacity import age_burden, burst_effective_rate, effective_rate, noise_by_age
from theory.prices import Atoms, Uniform
from theory.replacement import Cycle, ages_in_memory, best_replacement, cycle

F = Fraction
SETTING = "$S=100$, $C=55$, prices uniform on [1, 10]"
FULL = Given("buy:full-memory", r"that $N_{\mathrm{eff}}/t$ is $S/(2\bar A-1)$")
BEST = Given("buy:best-rule/paper", "that no causal rule that keeps the memory full has more than 18.6367")


def steady_debt() -> Evidence:
    """Zc < Vj is c < (V/Z)j."""
    return always(
        sp.Equivalent(buys(Z, c, V, j), c < V / Z * j),
        given=[Z > 0],
        domain="every debt above 0, price and age",
    )


@cache
def in_proportion(scale: Fraction) -> Cycle:
    """Thresholds in proportion to age, where the online rule settles: exact, up to the age that pays any price."""
    ages = next(age for age in count(1) if scale * age >= HIGH)
    thresholds = [min(scale * age, F(HIGH)) for age in range(1, ages + 1)]
    return cycle(Uniform(LOW, HIGH), thresholds, [age_burden(age) for age in range(1, ages + 1)])


def _rate_of(burden: Any) -> Any:
    return effective_rate(PLACES, (burden + 1) / 2)


def where_online_settles() -> Evidence:
    """Thresholds in proportion to age: at two scales, their costs on both sides of C/S, the effective rate is 18.46."""
    step = F(online_plan(Uniform(float(LOW), float(HIGH)), PLACES, BUDGET).thresholds[0])
    cheap, dear = (in_proportion(F(round(step * 10**6) + side, 10**6)) for side in (-4, 4))
    found = exhaust(
        [{"cheap": cheap.cost, "dear": dear.cost}],
        lambda cheap, dear: None if cheap <= SHARE <= dear else {"C/S": SHARE},
        domain=f"{SETTING}: the scale that spends C lies between",
        strength="proof",
    )
    return together(
        found,
        *(
            rounds_to(
                ball(_rate_of(one.burden)),
                "18.46",
                what="in proportion to age",
                domain=SETTING,
            )
            for one in (cheap, dear)
        ),
        between(
            ball(_rate_of(dear.burden) / _rate_of(papers_best()[1].least(SHARE))),
            F(99, 100),
            F(1),
            what="of the best rule's effective rate",
            domain=SETTING,
        ),
    )


def plans() -> Evidence:
    """theory's plans, in floats, against the exact rules: rates, costs, and the noise at one step size."""
    floats = Uniform(float(LOW), float(HIGH))
    best, online, bursts = (
        best_plan(floats, PLACES, BUDGET),
        online_plan(floats, PLACES, BUDGET),
        burst_plan(floats, PLACES, BUDGET, 2),
    )
    scale = F(online.thresholds[0])
    exact = in_proportion(scale)
    half = F(1, 2)
    ages = ages_in_memory(Uniform(LOW, HIGH), exact.thresholds)
    burden = sum((often * age_burden(age, half) for age, often in enumerate(ages, start=1)), F(0))
    listed = Atoms.of([1, 3])
    mixed, stated = best_plan(listed, 6, F(9, 2)), best_replacement(listed, 6, F(9, 2))
    cheap_only = under(listed, [1.0], 6)
    figures = (
        (mixed.cost, F(9, 2), "what a mixture of two rules costs"),
        (mixed.effective_rate, stated.effective_rate, "its effective rate"),
        (mixed.rate, stated.rate, "what it buys"),
        (stated.cost, F(9, 2), "what theory says that it costs"),
        (
            cheap_only.effective_rate,
            burst_effective_rate(6, 1, F(1, 2)),
            "all at one of two prices, as in bursts",
        ),
        (cheap_only.rate, 3, "what that buys"),
        (best.effective_rate, _rate_of(papers_best()[0].burden), "the best rule's effective rate"),
        (best.rate, PLACES * papers_best()[0].renewals, "what it buys"),
        (best.cost, BUDGET, "what it costs"),
        (online.effective_rate, _rate_of(exact.burden), "the online rule's effective rate"),
        (online.rate, PLACES * exact.renewals, "what it buys"),
        (online.cost, BUDGET, "what it costs"),
        (online.noise(float(half)), noise_by_age(PLACES, burden, half), "its noise at a = 1/2"),
        (
            online.threshold,
            sum(a * b for a, b in zip(ages, exact.thresholds, strict=True)),
            "its mean threshold",
        ),
        (online.thresholds[5] / online.thresholds[0], 6, "a threshold in proportion to age"),
        (min(online.thresholds[-1], HIGH), HIGH, "the last threshold, at any price"),
        (bursts.effective_rate, F("15.19"), "bursts of a half, to a hundredth"),
        (bursts.rate * bursts.effective_rate, F("19.78") * F("15.19"), "what they buy"),
        (bursts.cost, BUDGET, "what they cost"),
        (bursts.burst, PLACES // 2, "their size"),
    )
    return together(
        *(
            between(ball(F(value) / F(wanted)), F(9995, 10000), F(10005, 10000), what=what, domain=SETTING)
            for value, wanted, what in figures
        )
    )


CLAIMS = [
    Claim(
        id="buy:online-age/settled",
        kind="addition",
        title="at a steady debt the online rule has 18.46",
        statement="At a debt $Z$ the online rule with $w(j)=j$ replaces a sample used $j$ times at "
        "prices below $(V/Z)j$: thresholds in proportion to age. With the paper's MNIST budgets and "
        "independent prices uniform on [1, 10], just next to a scale $V/Z$ that spends $C$, such "
        "thresholds have the effective rate 18.46: more than 99 % of the best rule's, which knows the "
        "law of prices. That the debt stays near one value is not claimed here.",
        formula=said(
            r"Zc<Vj\iff c<@price,\qquad\lim\frac{N_{\mathrm{eff}}(t)}t=18.46",
            price=V / sp.Symbol("Z") * j,
        ),
        domain="$S=100$, $C=55$, prices uniform on [1, 10]; fixed scales $V/Z$",
        given=(FULL, BEST),
        sketch=r"At a fixed scale $s$ the place of a sample renews itself: thresholds $\min(sj,10)$, "
        "rational for rational $s$, up to the age that pays any price. Cost and burden of a place are "
        "then rational numbers (theory.replacement). Two scales 8 millionths apart have costs on both "
        "sides of $C/S$, and both effective rates round to 18.46.",
        checks={"thresholds": steady_debt, "18.46": (where_online_settles, confirming(plans))},
        symbols={**SYMBOLS, "j": "how often a sample has been used"},
    ),
]
