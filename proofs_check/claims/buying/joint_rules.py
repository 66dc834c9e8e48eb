r"""Several places (`buy:best-rule/places`): a rule that looks at all of them at once gains nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Given, confirming
from proofs_check.engines.exact import Found, everywhere, unless
from proofs_check.engines.smt import steps
from proofs_check.evidence import Evidence, holds, undecided
from proofs_check.groundwork.buying.rules import joint_optimum, values
from theory.prices import Atoms
from theory.replacement import best_rule, least_burden

F = Fraction
ONE_PLACE = Given("buy:best-rule", "the bound for each place, and that it is attained")


def places_decouple() -> Evidence:
    """And so for any number of them."""
    first, second, third, fourth = sp.symbols("replaced_1 stayed_1 replaced_2 stayed_2", real=True)
    least = sp.Min(first + third, first + fourth, second + third, second + fourth)
    apart = sp.Min(first, second) + sp.Min(third, fourth)
    return steps((sp.Eq(least, apart), [], "every costs of the two choices of each of two places"))


@everywhere(
    "two places, three laws of two prices, 3 or 4 ages, two budgets",
    prices=([1, 3], [2, 3], [1, 1, 5]),
    burdens=([1, 3, 5], [1, 2, 2, 6]),
    part=(F(1, 3), F(3, 4)),
)
def joint_bellman(prices: list[int], burdens: list[int], part: Fraction) -> Found:
    """h(i) + h(j) satisfies the joint inequality, every pair of ages, every price, all four decisions;
    and 2(λ - μC/S) is what the mixture has, so no joint rule is below it.
    """
    law, last = Atoms.of(prices), len(burdens) - 1
    share = part * law.mean
    *_, burden, multiplier = least_burden(law, burdens, share)
    found = best_rule(law, burdens, multiplier)
    value = found.burden + multiplier * found.cost
    h = values(law, burdens, multiplier, value)
    for pair in product(range(len(burdens)), repeat=2):
        expected, demanded = F(0), 2 * value + sum(h[k] for k in pair)
        for weight, cost in zip(law.weights, law.prices, strict=True):
            choices = []
            for choice in product((False, True), repeat=2):
                new = [0 if take else min(age + 1, last) for age, take in zip(pair, choice, strict=True)]
                choices.append(sum(burdens[k] + h[k] for k in new) + multiplier * cost * sum(choice))
            expected += weight * min(choices)
        if expected < demanded:
            return {"ages": pair, "expected": expected, "demanded": demanded}
    dual = value - multiplier * share
    return unless(dual == burden, dual=dual, primal=burden)


def joint_program() -> Evidence:
    """The linear program over all joint rules of two places, solved in floats: it gains nothing on twice the best."""
    cases = (([1, 3], [1, 3, 5], F(3, 4)), ([1, 1, 5], [1, 2, 6], F(1)), ([2, 3], [1, 3, 5], F(5, 4)))
    seen = []
    for prices, burdens, share in cases:
        law = Atoms.of(prices)
        *_, burden, _ = least_burden(law, burdens, share)
        seen.append((joint_optimum(law, burdens, 2 * float(share)), float(2 * burden)))
    gap = max(abs(found - stated) for found, stated in seen)
    said = holds if gap <= 1e-9 else undecided
    return said(
        "worst case",
        f"the two differ by {gap:.1e}",
        domain="two places, two prices, three ages; all joint rules",
        strength="certified numerically",
        certificate={"pairs": seen},
    )


CLAIMS = [
    Claim(
        id="buy:best-rule/places",
        kind="addition",
        title="a joint rule for all places gains nothing",
        statement="Let a rule for $S$ places look at the ages of all samples, at the whole past and at the "
        "price, and replace any of them. Its mean burden at mean cost $C$ is at least $S$ times the best "
        "of one place at cost $C/S$, so each place may be left to its own thresholds.",
        formula=r"\min_{\text{all places}}\mathbb E\Bigl[\sum_{i\le S}g(A_i)\Bigr]="
        r"S\min_{\text{one place}}\mathbb E[g(A)]",
        domain="every $S$, every law of independent prices, every burden",
        given=(WRITTEN, ONE_PLACE),
        sketch=r"With $\sum h(\text{age})$ over the places for the value of a state, Bellman's inequality "
        "for all places is the sum of theirs: each decision of a round costs the sum of what it costs in "
        "each place, and any combination of choices is allowed, so the least over all combinations is the "
        r"sum of the least, place by place. In the mean over the price that is $S\lambda+\sum h$ at least. "
        "For two places the checks also try every pair of ages and all four decisions, and solve the "
        "linear program over all joint rules, which knows nothing of this argument.",
        symbols={
            "A": "the age of a sample in memory",
            "A_i": "the age of the sample in place $i$",
            "E": "expectation, in the long run",
            "S": "places of the memory",
            "g": "what a sample of an age adds to the noise",
            "i": "a place",
        },
        checks=(places_decouple, confirming(joint_bellman), confirming(joint_program)),
    ),
]
