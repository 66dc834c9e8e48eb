r"""Long-run rates of buying cheap, for a price law: the best rule, the online rule, plain bursts.

All keep S samples in memory and spend C per round on average, with i.i.d. prices. A `Plan` says when a rule buys and
what it gets for the money; constant admission gets \(C/\bar c\) samples per round and as many effective ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Self

from theory.market.capacity import age_burden, burst_effective_rate, effective_rate, noise_by_age
from theory.market.knapsack import purchase_limit
from theory.market.online import savings_price
from theory.market.prices import Atoms, PriceLaw, Uniform
from theory.market.replacement import ages_in_memory, best_replacement
from theory.numbers.algebra import ratio

__all__ = ["Burst", "Plan", "Rule", "best_plan", "burst_plan", "gap_closed", "online_plan", "under"]

BRACKET_HALVINGS = 60
AGES_MAX = 2**14


@dataclass(frozen=True)
class Rule:
    """Up to `thresholds[j-1]` is paid for the successor of a sample used j times; the last holds for all later ages.

    `ages` says how often a place holds a sample of age 1, 2, …
    """

    thresholds: tuple[float, ...]
    ages: tuple[float, ...]

    @classmethod
    def of(cls, law: PriceLaw, thresholds: Sequence[float]) -> Self:
        """The plan with as many distinct ages as occur."""
        often = float(law.mass(thresholds[-1]))
        more = math.ceil(math.log(2**-60) / math.log1p(-often)) if 0 < often < 1 else 0
        full = (*thresholds, *(thresholds[-1] for _ in range(min(more, AGES_MAX))))
        return cls(full, tuple(float(one) for one in ages_in_memory(law, full)))

    def mean(self, values: Iterable[Any]) -> float:
        """Mean over the memory of a value for each age."""
        return math.fsum(often * float(value) for often, value in zip(self.ages, values, strict=False))


@dataclass(frozen=True)
class Plan:
    """Some places by one rule, the others by another a little cheaper, so that the budget is spent."""

    law: PriceLaw
    places: Any
    rules: tuple[tuple[float, Rule], ...]

    def _mean(self, value: Callable[[Rule], Iterable[Any]]) -> float:
        return math.fsum(share * rule.mean(value(rule)) for share, rule in self.rules)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """θ(1), θ(2), … of the first rule, up to where they stay."""
        prices = self.rules[0][1].thresholds
        return prices[: prices.index(prices[-1]) + 1]

    @property
    def threshold(self) -> float:
        """The price up to which it buys, on average over the rounds."""
        return self._mean(lambda rule: rule.thresholds)

    @property
    def burst(self) -> float:
        """Number of samples per purchase: all, since samples that were once bought together stay together."""
        return float(self.places)

    @property
    def rate(self) -> float:
        """Distinct samples per round."""
        return float(self.places) * self._mean(lambda rule: map(self.law.mass, rule.thresholds))

    @property
    def cost(self) -> float:
        """Mean cost per round."""
        return float(self.places) * self._mean(lambda rule: map(self.law.spent, rule.thresholds))

    @property
    def effective_rate(self) -> float:
        """The limit of N_eff/t."""
        return float(effective_rate(self.places, self._mean(lambda rule: count(1))))

    def met_with(self, law: PriceLaw) -> Plan:
        """The plan of these thresholds under another price law."""
        return Plan(
            law, self.places, tuple((share, Rule.of(law, rule.thresholds)) for share, rule in self.rules)
        )

    def noise(self, a: float) -> float:
        """The law's stationary noise at contraction a, in units of a sample's variance."""
        burden = self._mean(lambda rule: map(partial(age_burden, a=a), count(1)))
        return float(noise_by_age(self.places, burden, a))


def under(law: PriceLaw, thresholds: Sequence[float], places: Any) -> Plan:
    """The plan of thresholds under a price law, which may differ from the law they were made for.

    >>> from theory.market.prices import Uniform
    >>> round(under(Uniform(2, 12), [1, 3, 5], places=10).rate, 2)
    2.0
    """
    return Plan(law, places, ((1, Rule.of(law, thresholds)),))


def _mixed(dear: Plan, cheap: Plan, budget: Any) -> Plan:
    """The two in proportions that spend the budget."""
    gap = dear.cost - cheap.cost
    share = min(max((float(budget) - cheap.cost) / gap, 0), 1) if gap > 0 else 1
    ((_, first),), ((_, second),) = dear.rules, cheap.rules
    shares = ((share, first), (1 - share, second))
    return Plan(dear.law, dear.places, tuple(one for one in shares if one[0] > 0))


def _in_floats(law: PriceLaw) -> PriceLaw:
    """The same law: a threshold at a price must not be rounded to the price's other side."""
    if isinstance(law, Uniform):
        return Uniform(float(law.low), float(law.high))
    if isinstance(law, Atoms):
        return Atoms(tuple(map(float, law.prices)), tuple(map(float, law.weights)))
    return law


def best_plan(law: PriceLaw, places: Any, budget: Any, a: Any = 1) -> Plan:
    """The best rule for known prices: the least noise at contraction a, by default the largest effective rate.

    >>> from theory.market.prices import Uniform
    >>> best = best_plan(Uniform(1., 10.), places=100, budget=55)
    >>> f"{best.effective_rate:.2f} of {best.rate:.2f} for {best.cost:.2f}"
    '18.64 of 22.17 for 55.00'
    """
    law = _in_floats(law)
    found = best_replacement(law, places, float(budget), lambda age: age_burden(age, a))
    dear, cheap = (
        under(law, [float(price) for price in rule.thresholds], places)
        for rule in (found.rule, found.cheaper)
    )
    return _mixed(dear, cheap, budget)


def online_plan(law: PriceLaw, places: Any, budget: Any) -> Plan:
    r"""The online rule at a steady debt, large V: thresholds in proportion to age, at the scale that spends the budget.

    >>> from theory.market.prices import Uniform
    >>> found = online_plan(Uniform(1., 10.), places=100, budget=55)
    >>> f"{found.effective_rate:.2f} of {found.rate:.2f} for {found.cost:.2f}"
    '18.46 of 20.90 for 55.00'
    """

    def at(scale: float) -> Plan:
        ages = min(math.ceil(float(law.highest) / (scale * step)) + 1, AGES_MAX)
        return under(law, [scale * step * age for age in range(1, ages + 1)], places)

    step = float(savings_price(1, places, budget))
    law = _in_floats(law)
    # at the scale 1 no more is spent than was saved, at the other end all is bought, rounding or not
    low, high = float(1), math.nextafter(max(float(law.highest) / step, 1), math.inf)
    for _ in range(BRACKET_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if at(middle).cost <= budget else (low, middle)
        if high - low < low * 2**-40:
            break
    return _mixed(at(high), at(low), budget)


@dataclass(frozen=True)
class Burst:
    """One r-th of the memory is replaced whenever the price is at most the threshold."""

    threshold: float
    burst: float
    rate: float
    effective_rate: float
    cost: float


def burst_plan(law: PriceLaw, places: Any, budget: Any, parts: int) -> Burst:
    """Bursts of one r-th of the memory at one threshold, whatever the ages.

    >>> from theory.market.prices import Uniform
    >>> f"{burst_plan(Uniform(1., 10.), 100, 55, parts=2).effective_rate:.2f}"
    '15.19'
    """
    size = ratio(places, parts)
    limit = purchase_limit(law, size, budget)
    often = ratio(limit.rate, size)
    effective = burst_effective_rate(places, parts, often)
    return Burst(*(float(one) for one in (limit.threshold, size, limit.rate, effective, limit.cost)))


def gap_closed(rate: Any, constant: Any, oracle: Any) -> Any:
    r"""\(\frac{1/\Lambda-1/r}{1/\Lambda-1/S}\): how far an effective rate r gets from constant admission's noise to the
    oracle's, S fresh samples per round, for small steps; exact.

    >>> gap_closed(20, 10, 100)
    Fraction(5, 9)
    """
    return ratio(ratio(1, constant) - ratio(1, rate), ratio(1, constant) - ratio(1, oracle))
