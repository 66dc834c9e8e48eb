r"""Prices that stay: the best rule where tomorrow's price is today's with some probability, and drawn anew otherwise.

Who waits for a cheaper round then waits for the price to move at all, so less is to be gained by waiting, and the best
rule looks at the price twice: for what it is, and for what comes next. The state of a place is the age of its sample
and the price; the best rule for a price \(\mu\) of money has the least mean \(g+\mu c\) over a round, by policy
iteration, and what it brings follows from its stationary distribution. In floats, for lists of prices; where no price
stays it is `theory.market.replacement`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.market.capacity import age_burden, effective_rate
from theory.market.prices import Atoms
from theory.setting import SettingError, positive

__all__ = ["StickyRule", "best_sticky_replacement", "sticky_rule"]

TURNS_MAX = 200
EPS = 2**-40  # relative: a smaller difference may be a rounding
BURDENS_MAX = 2**30  # burdens for the lowest price: more than any rule saves


@dataclass(frozen=True)
class StickyRule:
    """`replaces[j-1, i]`: true if a sample used j times is replaced at the i-th price; and means per round."""

    replaces: NDArray[np.bool_]
    renewals: float
    burden: float
    cost: float


def sticky_rule(law: Atoms, stay: float, multiplier: Any, ages: int) -> StickyRule:
    """The best rule at this price of money, for small steps; the oldest distinct age is replaced at any price.

    From the rule that waits for that age, one that chooses better against what the last is worth, until none does.

    >>> rule = sticky_rule(Atoms.of([1.0, 3.0]), stay=0.0, multiplier=2.5, ages=8)
    >>> rule.replaces[:2].tolist()
    [[True, False], [True, False]]
    """
    prices, often = np.array(law.prices, dtype=float), np.array(law.weights, dtype=float)
    burdens = np.array([float(age_burden(age)) for age in range(1, ages + 1)])
    paid = float(multiplier) * prices
    replaces = np.zeros((ages, len(prices)), dtype=bool)
    replaces[-1] = True
    for _ in range(TURNS_MAX):
        # uses, less 1, at the next decision
        after = np.where(replaces, 0, np.arange(ages)[:, np.newaxis] + 1)
        system = _system(after, stay, often)
        value = system.solve((burdens[after] + paid * replaces).ravel()).reshape(replaces.shape)
        mean, value[0, 0] = value[0, 0], 0
        later = stay * value + (1 - stay) * (value @ often)[:, np.newaxis]
        renewed = burdens[0] + paid + later[0]
        kept = np.full_like(value, np.inf)
        kept[:-1] = burdens[1:, np.newaxis] + later[1:]
        even = np.isclose(renewed, kept, rtol=EPS, atol=EPS * mean)
        better = np.where(even, replaces, renewed < kept)
        if np.array_equal(better, replaces):
            stationary = system.solve(np.eye(1, value.size)[0], trans="T").reshape(replaces.shape)
            bought = stationary * replaces
            brings = (bought, stationary * burdens[after], bought * prices)
            return StickyRule(replaces, *(float(one.sum()) for one in brings))
        replaces = better
    raise SettingError("the best rule was not found: prices lie too far apart, or hardly ever move")


def _system(after: NDArray[np.int_], stay: float, often: NDArray[np.float64]) -> Any:
    """1 less the moves of (uses so far, price), with ones in the first column.

    It solves for what a state is worth beyond the first, and in that one's place the mean of a round; transposed, with
    1 for the first equation and 0 for all others, for the stationary distribution before the decision.
    """
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import splu

    count, states = after.shape[1], np.arange(after.size)
    same = (states, (after * count + np.arange(count)).ravel())
    drawn = (np.repeat(states, count), (after[:, :, np.newaxis] * count + np.arange(count)).ravel())
    shape = (after.size, after.size)
    moves = coo_array((np.full(after.size, stay), same), shape) + coo_array(
        (np.tile((1 - stay) * often, after.size), drawn), shape
    )
    system = (eye_array(after.size) - moves).tolil()
    system[:, 0] = 1
    return splu(system.tocsc())


def best_sticky_replacement(
    law: Atoms, stay: float, places: Any, budget: Any, ages: int = 128
) -> tuple[float, float]:
    """Effective and distinct samples per round of the best causal rule that keeps the memory full, within the budget.

    Two rules whose costs enclose the budget span a line; the best rule at its slope takes the place of one of them, or
    none lies below it. Each of the two gets a part of the places.

    >>> effective, rate = best_sticky_replacement(Atoms.of(range(1, 11)), 0.0, places=100, budget=55, ages=32)
    >>> f"{effective:.2f} of {rate:.2f}"
    '20.38 of 25.84'
    """
    share = float(positive("the cost budget C", budget)) / float(positive("the places", places))
    if not 0 <= stay < 1:
        raise SettingError(f"the probability that a price stays lies in [0, 1), such as 0.9, got {stay}")
    if share >= float(law.mean):
        return float(places), float(places)
    dear, cheap = (sticky_rule(law, stay, money, ages) for money in (0, BURDENS_MAX / float(law.lowest)))
    if cheap.cost > share:
        raise SettingError(
            f"the budget replaces a sample too rarely to tell the best rule, with ages up to {ages}: "
            "give a larger budget, or more ages"
        )
    for _ in range(TURNS_MAX):
        slope = (cheap.burden - dear.burden) / (dear.cost - cheap.cost)
        line, found = dear.burden + slope * dear.cost, sticky_rule(law, stay, slope, ages)
        if found.burden + slope * found.cost >= line * (1 - EPS):
            break
        dear, cheap = (found, cheap) if found.cost > share else (dear, found)
    mix = (share - cheap.cost) / (dear.cost - cheap.cost)
    burden = mix * dear.burden + (1 - mix) * cheap.burden
    renewals = mix * dear.renewals + (1 - mix) * cheap.renewals
    return float(effective_rate(places, (burden + 1) / 2)), float(places) * renewals
