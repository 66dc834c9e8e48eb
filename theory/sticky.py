r"""Prices that stay: the best rule where tomorrow's price is today's with some probability, and drawn anew otherwise.

Who waits for a cheaper round then waits for the price to move at all, so less is to be gained by waiting, and the best
rule looks at the price twice: for what it is, and for what comes next. The state of a place is the age of its sample
and the price; the best rule for a price \(\mu\) of money has the least mean \(g+\mu c\) over a round, by relative
value iteration, and what it brings follows from its stationary distribution. In floats, for lists of prices; where no
price stays it is `theory.replacement`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.algebra import ratio
from theory.capacity import age_burden, effective_rate
from theory.prices import Atoms
from theory.setting import SettingError, positive

__all__ = ["StickyRule", "best_sticky_replacement", "sticky_rule"]

SWEEPS = 20_000
CLOSE = 2**-30
HALVINGS = 60
FAR = 2**20  # beyond every price of money that matters
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StickyRule:
    """`replaces[j-1, i]`: whether a sample used j times goes at the i-th price; and what a round brings on average."""

    replaces: NDArray[np.bool_]
    renewals: float
    burden: float
    cost: float


def sticky_rule(law: Atoms, stay: float, multiplier: Any, ages: int) -> StickyRule:
    """The best rule at this price of money, for small steps; the oldest age told apart is replaced at any price.

    >>> rule = sticky_rule(Atoms.of([1.0, 3.0]), stay=0.0, multiplier=2.5, ages=8)
    >>> rule.replaces[:2].tolist()
    [[True, False], [True, False]]
    """
    prices, often = np.array(law.prices, dtype=float), np.array(law.weights, dtype=float)
    burdens = np.array([float(age_burden(age)) for age in range(1, ages + 1)])
    value = np.zeros((ages, len(prices)))  # of having used a sample j times, the price known
    for _ in range(SWEEPS):
        later = stay * value + (1 - stay) * (value @ often)[:, np.newaxis]
        renewed = burdens[0] + float(multiplier) * prices + later[0]
        kept = np.full_like(value, np.inf)
        kept[:-1] = burdens[1:, np.newaxis] + later[1:]
        found = np.minimum(kept, renewed)
        change = found - value
        value = found - found[0, 0]
        if change.max() - change.min() <= CLOSE * max(abs(change.max()), 1):
            break
    return _brought(law, stay, renewed < kept, burdens)


def _brought(law: Atoms, stay: float, replaces: NDArray[np.bool_], burdens: Floats) -> StickyRule:
    """By the stationary distribution of (uses so far, price), before the decision."""
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import spsolve

    prices, often = np.array(law.prices, dtype=float), np.array(law.weights, dtype=float)
    ages, count = replaces.shape
    place = np.arange(ages * count).reshape(ages, count)
    after = np.where(replaces, 0, np.arange(ages)[:, np.newaxis] + 1)  # uses, less 1, at the next decision
    same = (place.ravel(), (after * count + np.arange(count)).ravel())
    rows = np.repeat(place.ravel(), count)
    columns = (after[:, :, np.newaxis] * count + np.arange(count)).ravel()
    moves = coo_array((np.full(place.size, stay), same), shape=(place.size, place.size)) + coo_array(
        (np.tile((1 - stay) * often, place.size), (rows, columns)), shape=(place.size, place.size)
    )
    system = (eye_array(place.size) - moves.T).tolil()
    system[0] = 1  # one equation is superfluous: in its place, that all sums to 1
    right = np.zeros(place.size)
    right[0] = 1
    stationary = spsolve(system.tocsc(), right).reshape(ages, count)
    bought = stationary * replaces
    return StickyRule(
        replaces,
        float(bought.sum()),
        float((stationary * burdens[after]).sum()),
        float((bought * prices).sum()),
    )


def best_sticky_replacement(
    law: Atoms, stay: float, places: Any, budget: Any, ages: int = 128
) -> tuple[float, float]:
    """Effective and distinct samples a round of the best causal rule that keeps the memory full, within the budget.

    The price of money is bisected; of two rules whose costs enclose the budget, each gets a part of the places.

    >>> effective, rate = best_sticky_replacement(Atoms.of(range(1, 11)), 0.0, places=100, budget=55, ages=32)
    >>> f"{effective:.2f} of {rate:.2f}"
    '20.38 of 25.84'
    """
    share = float(positive("the cost budget C", budget)) / float(positive("the places", places))
    if not 0 <= stay < 1:
        raise SettingError(f"the probability that a price stays lies in [0, 1), such as 0.9, got {stay}")
    if share >= float(law.mean):
        return float(places), float(places)
    low, high = float(ratio(1, FAR)), float(FAR)
    cheap, dear = (sticky_rule(law, stay, money, ages) for money in (high, low))
    for _ in range(HALVINGS):
        if dear.cost - cheap.cost <= CLOSE * share:
            break
        middle = math.sqrt(low * high)
        found = sticky_rule(law, stay, middle, ages)
        if found.cost > share:
            low, dear = middle, found
        else:
            high, cheap = middle, found
    mix = (share - cheap.cost) / (dear.cost - cheap.cost) if dear.cost > cheap.cost else 1
    burden = mix * dear.burden + (1 - mix) * cheap.burden
    renewals = mix * dear.renewals + (1 - mix) * cheap.renewals
    return float(effective_rate(places, (burden + 1) / 2)), float(places) * renewals
