r"""Certificates of a best rule in exact numbers: a rule from below, a function h from above.

If \(h(j)\le\mathbb E\min(\mu c,\ g(j+1)-\lambda+h(j+1))\) at every age and \(g(1)-\lambda+h(1)\ge0\), every causal rule
has a burden of \(\lambda-\mu\cdot\)cost at least. Rounding h down keeps that, so rational numbers of fixed length do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any

from proofs_check.groundwork.buying.market import BUDGET, HIGH, LOW, PLACES
from theory.capacity import age_burden
from theory.prices import PriceLaw, Uniform
from theory.replacement import Cycle, best_replacement, best_rule, cycle

__all__ = ["Certificate", "capped_price", "faults", "papers_best"]

UNIT = Fraction(1, 10**9)
STEP = Fraction(1, 500_000)


@dataclass(frozen=True)
class Certificate:
    """λ, μ and h(1), …, h(J), for the burdens g(1), …, g(J)."""

    worth: Fraction
    multiplier: Fraction
    burdens: tuple[Any, ...]
    values: tuple[Fraction, ...]

    def least(self, share: Any) -> Any:
        """No causal rule of this cost a round has a lower burden."""
        return self.worth - self.multiplier * share


def capped_price(law: PriceLaw, most: Any) -> Any:
    """E min(c, most) by the law's own mass and spent."""
    return law.spent(most) + (1 - law.mass(most)) * most


def faults(law: PriceLaw, certificate: Certificate) -> list[str]:
    """Where the inequalities fail; none if the certificate is good."""
    g, h, mu = certificate.burdens, certificate.values, certificate.multiplier
    found = [] if g[0] - certificate.worth + h[0] >= 0 else ["the first age"]
    found += [] if mu > 0 else ["the multiplier"]
    for age in range(len(g)):
        later = min(age + 1, len(g) - 1)
        stay = g[later] - certificate.worth + h[later]
        if h[age] > mu * capped_price(law, stay / mu):
            found.append(f"age {age + 1}")
    return found


def _down(value: Any) -> Fraction:
    return floor(Fraction(value) / UNIT) * UNIT


def _certificate(law: PriceLaw, burdens: Sequence[Any], multiplier: Fraction, worth: Fraction) -> Certificate:
    """h from the last age down: there any price is paid, so h is what a sample costs on average."""
    h = [_down(multiplier * law.mean)]
    for burden in reversed(burdens[1:]):
        h.insert(0, _down(multiplier * capped_price(law, (burden - worth + h[0]) / multiplier)))
    return Certificate(worth, multiplier, tuple(burdens), tuple(h))


@cache
def papers_best() -> tuple[Cycle, Certificate]:
    """For the paper's budgets: theory's thresholds rounded down, as a rule in exact numbers; and a certificate."""
    best = best_replacement(Uniform(float(LOW), float(HIGH)), PLACES, BUDGET)
    exact = Uniform(LOW, HIGH)
    thresholds = [
        Fraction(HIGH) if price >= HIGH else floor(Fraction(price) / STEP) * STEP - STEP
        for price in best.thresholds
    ]
    burdens = [age_burden(age) for age in range(1, len(thresholds) + 1)]
    multiplier = _down(best.multiplier)
    found = best_rule(Uniform(float(LOW), float(HIGH)), [float(g) for g in burdens], float(multiplier))
    worth = _down(found.burden + float(multiplier) * found.cost) - len(burdens) * UNIT
    return cycle(exact, thresholds, burdens), _certificate(exact, burdens, multiplier, worth)
