r"""Certificates of a best rule in exact numbers: a rule from below, a function h from above.

If \(h(j)\le\mathbb E\min(\mu c,\ g(j+1)-\lambda+h(j+1))\) at every age and \(g(1)-\lambda+h(1)\ge0\), every causal rule
has a burden of \(\lambda-\mu\cdot\)cost at least. Rounding h down keeps that, so rational numbers of fixed length do.
"""

from math import floor

from proofs_check.prelude import *

from proofs_check.groundwork.market.market import FLOATS, HIGH, PAPER, PLACES
from theory.market.prices import PriceLaw
from theory.market.replacement import Cycle, best_rule, cycle
from theory.paper import BUDGET

UNIT, STEP = F(1, 10**9), F(1, 500_000)


@dataclass(frozen=True)
class Certificate:
    """λ, μ and h(1), …, h(J), for the burdens g(1), …, g(J)."""

    worth: F
    multiplier: F
    burdens: tuple[Any, ...]
    values: tuple[F, ...]

    def least(self, share: Any) -> Any:
        """No causal rule of this cost per round has a lower burden."""
        return self.worth - self.multiplier * share


def capped_price(law: PriceLaw, most: Any) -> Any:
    """E min(c, most) by the law's own mass and spent."""
    return law.spent(most) + (1 - law.mass(most)) * most


def faults(law: PriceLaw, certificate: Certificate) -> list[str]:
    """Ages and prices at which Bellman's inequality fails; empty for a valid certificate."""
    g, h, mu = certificate.burdens, certificate.values, certificate.multiplier
    found = [] if g[0] - certificate.worth + h[0] >= 0 else ["the first age"]
    found += [] if mu > 0 else ["the multiplier"]
    for age in range(len(g)):
        later = min(age + 1, len(g) - 1)
        stay = g[later] - certificate.worth + h[later]
        if h[age] > mu * capped_price(law, stay / mu):
            found.append(f"age {age + 1}")
    return found


def _down(value: Any) -> F:
    return floor(F(value) / UNIT) * UNIT


@cache
def papers_best() -> tuple[Cycle, Certificate]:
    """The rule of theory's thresholds, rounded down to exact numbers, for the paper's budgets; and a certificate."""
    best = best_replacement(FLOATS, PLACES, BUDGET)
    thresholds = [F(HIGH) if top >= HIGH else floor(F(top) / STEP) * STEP - STEP for top in best.thresholds]
    burdens = [age_burden(age) for age in range(1, len(thresholds) + 1)]
    multiplier = _down(best.multiplier)
    found = best_rule(FLOATS, [float(g) for g in burdens], float(multiplier))
    worth = _down(found.burden + float(multiplier) * found.cost) - len(burdens) * UNIT
    h = [_down(multiplier * PAPER.mean)]  # at the last age any price is paid
    for burden in reversed(burdens[1:]):
        h.insert(0, _down(multiplier * capped_price(PAPER, (burden - worth + h[0]) / multiplier)))
    return cycle(PAPER, thresholds, burdens), Certificate(worth, multiplier, tuple(burdens), tuple(h))
