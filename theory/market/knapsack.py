r"""Largest rate of distinct samples that money buys under a mean budget: a fractional knapsack in the price.

At most S samples fit into a round (\(S=\sum B\)) and C may be spent per round, on average. Buy S at every price below
a threshold \(\theta\) with \(S\,\mathbb E[c;c\le\theta]=C\). No policy buys more in the long run, not even one
that knows all prices in advance: whatever \(x(t)\in[0,S]\) are bought with \(\sum c(t)x(t)\le CT+D\), and for every
\(\lambda\ge0\),

\[\sum_{t\le T}x(t)\le\lambda(CT+D)+\sum_{t\le T}x(t)(1-\lambda c(t))
\le\lambda(CT+D)+S\sum_{t\le T}(1-\lambda c(t))^+,\]

and with \(\lambda=1/\theta\) the mean of the right side tends to the rate of the threshold.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from theory.market.prices import Atoms, PriceLaw, Uniform
from theory.numbers.algebra import positive_part, ratio, sqrt
from theory.setting import SettingError, positive

__all__ = ["Limit", "purchase_bound", "purchase_limit", "uniform_rate", "uniform_threshold"]


@dataclass(frozen=True)
class Limit:
    """The most that money buys: S samples below the threshold, `part` of S at it, none above.

    `binds` is what more of would buy more: money, or memory where every price is worth paying.
    """

    threshold: Any
    part: Any
    rate: Any
    cost: Any
    binds: str


def uniform_threshold(low: Any, high: Any, share: Any) -> Any:
    r"""\(\theta=\sqrt{a^2+2(b-a)\,C/S}\) for prices uniform on [a, b] and C/S below their mean; exact.

    >>> uniform_threshold(1, 10, ratio(4, 3))
    Fraction(5, 1)
    """
    return sqrt(low * low + 2 * (high - low) * share)


def uniform_rate(low: Any, high: Any, places: Any, budget: Any) -> Any:
    r"""\(S(\theta-a)/(b-a)\), samples per round, the limit for prices uniform on [a, b]; exact where money binds.

    >>> round(float(uniform_rate(1, 10, 100, 55)), 2)
    25.57
    """
    threshold = uniform_threshold(low, high, ratio(budget, places))
    return places * ratio(threshold - low, high - low)


def purchase_limit(law: PriceLaw, places: Any, budget: Any) -> Limit:
    """The largest long-run rate of distinct samples, with `places` at most in a round; exact for exact laws.

    >>> purchase_limit(Atoms.of([1, 2, 6]), places=6, budget=4)
    Limit(threshold=2, part=Fraction(1, 2), rate=Fraction(3, 1), cost=Fraction(4, 1), binds='money')
    """
    places, budget = positive("the places", places), positive("the cost budget C", budget)
    if budget >= places * law.mean:
        return Limit(law.highest, 1, places, places * law.mean, "memory")
    share = ratio(budget, places)
    if isinstance(law, Uniform):
        rate = uniform_rate(law.low, law.high, places, budget)
        return Limit(uniform_threshold(law.low, law.high, share), 1, rate, budget, "money")
    if not isinstance(law, Atoms):
        raise SettingError("the limit is known for uniform prices and for lists of prices")
    mass = paid = 0 * share
    for price, weight in zip(law.prices, law.weights, strict=True):
        left = ratio(share - paid, price)
        if left < weight:
            return Limit(price, ratio(left, weight), places * (mass + left), places * share, "money")
        mass, paid = mass + weight, paid + price * weight
    return Limit(law.highest, 1, places * mass, places * paid, "money")  # what roundings left


def purchase_bound(prices: Iterable[Any], places: Any, budget: Any, multiplier: Any, debt: Any = 0) -> Any:
    r"""\(\lambda(CT+D)+S\sum(1-\lambda c(t))^+\): upper bound on the purchases within the budget.

    For all prices and every \(\lambda\ge0\), every policy and any knowledge; D is the debt at the end.

    >>> purchase_bound([1, 2, 6], places=6, budget=4, multiplier=ratio(1, 2))
    Fraction(9, 1)
    """
    listed = list(prices)
    spare = sum(positive_part(1 - multiplier * price) for price in listed)
    return multiplier * (budget * len(listed) + debt) + places * spare
