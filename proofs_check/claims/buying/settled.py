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
from proofs_check.engines.exact import exhaust, unless
from proofs_check.engines.smt import steps
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.certificates import papers_best
from proofs_check.groundwork.buying.figures import figures
from proofs_check.groundwork.buying.market import BUDGET, HIGH, LOW, PLACES, SETTING, SYMBOLS, V, Z, c, j
from proofs_check.text import said
from theory.algebra import ball
from theory.buying import buys
from theory.buying_plan import best_plan, burst_plan, online_plan, under
from theory.capacity import age_burden, burst_effective_rate, effective_rate, noise_by_age
from theory.prices import Atoms, Uniform
from theory.replacement import Cycle, ages_in_memory, best_replacement, cycle

F = Fraction
SHARE = F(BUDGET, PLACES)
FLOATS = Uniform(float(LOW), float(HIGH))
FULL = Given("buy:full-memory", r"that $N_{\mathrm{eff}}/t$ is $S/(2\bar A-1)$")
BEST = Given("buy:best-rule/paper", "that no causal rule that keeps the memory full has more than 18.6367")


@cache
def in_proportion(scale: Fraction) -> Cycle:
    """Thresholds in proportion to age, where the online rule settles: exact, up to the age that pays any price."""
    ages = next(age for age in count(1) if scale * age >= HIGH)
    thresholds = [min(scale * age, F(HIGH)) for age in range(1, ages + 1)]
    return cycle(Uniform(LOW, HIGH), thresholds, [age_burden(age) for age in range(1, ages + 1)])


def _rate_of(burden: Any) -> Any:
    return effective_rate(PLACES, (burden + 1) / 2)


def where_online_settles() -> Evidence:
    """At two scales, their costs on both sides of C/S."""
    step = F(online_plan(FLOATS, PLACES, BUDGET).thresholds[0])
    cheap, dear = (in_proportion(F(round(step * 10**6) + side, 10**6)) for side in (-4, 4))
    least = _rate_of(papers_best()[1].least(SHARE))
    return together(
        exhaust(
            [{"cheap": cheap.cost, "dear": dear.cost}],
            lambda cheap, dear: unless(cheap <= SHARE <= dear, share=SHARE),
            domain=f"{SETTING}: the scale that spends $C$ lies between",
            strength="proof",
        ),
        figures(
            SETTING,
            *(("in proportion to age", ball(_rate_of(one.burden)), "18.46") for one in (cheap, dear)),
            ("of the best rule's effective rate", ball(_rate_of(dear.burden) / least), (F(99, 100), 1)),
        ),
    )


def plans() -> Evidence:
    """theory's plans, in floats, against the exact rules: rates, costs, and the noise at one step size."""
    best, online = (plan(FLOATS, PLACES, BUDGET) for plan in (best_plan, online_plan))
    bursts = burst_plan(FLOATS, PLACES, BUDGET, 2)
    exact, rule, half = in_proportion(F(online.thresholds[0])), papers_best()[0], F(1, 2)
    ages = ages_in_memory(Uniform(LOW, HIGH), exact.thresholds)
    burden = sum((often * age_burden(age, half) for age, often in enumerate(ages, start=1)), F(0))
    threshold = sum(a * b for a, b in zip(ages, exact.thresholds, strict=True))
    listed = Atoms.of([1, 3])
    mixed, stated = best_plan(listed, 6, F(9, 2)), best_replacement(listed, 6, F(9, 2))
    cheap = under(listed, [1.0], 6)
    pairs = (
        ("what a mixture of two rules costs", mixed.cost, F(9, 2)),
        ("its effective rate", mixed.effective_rate, stated.effective_rate),
        ("what it buys", mixed.rate, stated.rate),
        ("what theory says that it costs", stated.cost, F(9, 2)),
        ("all at one of two prices, as in bursts", cheap.effective_rate, burst_effective_rate(6, 1, half)),
        ("what that buys", cheap.rate, 3),
        ("the best rule's effective rate", best.effective_rate, _rate_of(rule.burden)),
        ("what it buys", best.rate, PLACES * rule.renewals),
        ("what it costs", best.cost, BUDGET),
        ("the online rule's effective rate", online.effective_rate, _rate_of(exact.burden)),
        ("what it buys", online.rate, PLACES * exact.renewals),
        ("what it costs", online.cost, BUDGET),
        ("its noise at $a=1/2$", online.noise(float(half)), noise_by_age(PLACES, burden, half)),
        ("its mean threshold", online.threshold, threshold),
        ("a threshold in proportion to age", online.thresholds[5] / online.thresholds[0], 6),
        ("the last threshold, at any price", min(online.thresholds[-1], HIGH), HIGH),
        ("bursts of a half, to a hundredth", bursts.effective_rate, F("15.19")),
        ("what they buy", bursts.rate * bursts.effective_rate, F("19.78") * F("15.19")),
        ("what they cost", bursts.cost, BUDGET),
        ("their size", bursts.burst, PLACES // 2),
    )
    ends = (F(9995, 10000), F(10005, 10000))
    return figures(SETTING, *((what, ball(F(value) / F(wanted)), ends) for what, value, wanted in pairs))


CLAIMS = [
    Claim(
        id="buy:online-age/settled",
        kind="addition",
        title="at a steady debt the online rule has 18.46",
        statement="At a debt $Z$ the online rule with $w(j)=j$ replaces a sample used $j$ times at prices "
        "below $(V/Z)j$: thresholds in proportion to age. With the paper's MNIST budgets and independent "
        "prices uniform on $[1,10]$, right beside a scale $V/Z$ that spends $C$, such thresholds have the "
        "effective rate 18.46: more than 99 % of the best rule's, which knows the law of prices. That the "
        "debt stays near one value is not claimed here.",
        formula=said(
            r"Zc<Vj\iff c<@price,\qquad\lim\frac{N_{\mathrm{eff}}(t)}t=18.46",
            price=V / sp.Symbol("Z") * j,
        ),
        domain="$S=100$, $C=55$, prices uniform on $[1,10]$; fixed scales $V/Z$",
        given=(FULL, BEST),
        sketch=r"At a fixed scale $s$ the place of a sample renews itself: thresholds $\min(sj,10)$, "
        "rational for rational $s$, up to the age that pays any price. Cost and burden of a place are then "
        "rational numbers (theory.replacement). Two scales 8 millionths apart have costs on both sides of "
        "$C/S$, and both effective rates round to 18.46.",
        checks={
            "thresholds": lambda: steps(
                (sp.Equivalent(buys(Z, c, V, j), c < V / Z * j), [Z > 0], "every debt above 0, price and age")
            ),
            "18.46": (where_online_settles, confirming(plans)),
        },
        symbols={**SYMBOLS, "j": "how often a sample has been used"},
    ),
]
