r"""What to buy for the cumulative risk of a server that adds up information (`theory.law.information`).

Without a prior its risk after round t is \(c/N(t)\), N(t) being \(N_0\) samples of a pilot and all purchases by then.
So the cumulative risk is \(c\sum_t1/N(t)\), convex in the purchases, and a sample more in round t lowers it by
\(c\,v_t\), \(v_t=\sum_{s\ge t}N(s)^{-2}\). A plan is best if and only if it buys all it can where \(v_t>\nu_tc_t\) and
nothing where \(v_t<\nu_tc_t\), \(\nu_t\) being the worth of money from round t on: one number for a total budget, and
without borrowing numbers that fall where all money is spent, and nowhere else (`law:information/cumulative`).
"""

from itertools import accumulate
from typing import Any

import numpy as np

from theory.numbers.algebra import ratio
from theory.setting import SettingError

__all__ = ["best_purchases", "most_value", "sample_values"]

HALVINGS, STEPS_MAX = 50, 1_000


def sample_values(bought: Any, pilot: Any) -> list[Any]:
    r"""\(v_t=\sum_{s\ge t}N(s)^{-2}\): by how much a sample more in each round lowers \(\sum1/N\), per sample; exact.

    >>> sample_values([1, 0, 2], pilot=1)
    [Fraction(9, 16), Fraction(5, 16), Fraction(1, 16)]
    """
    held = list(accumulate(bought, initial=pilot))[1:]
    return list(accumulate(ratio(1, n * n) for n in reversed(held)))[::-1]


def most_value(values: Any, prices: Any, places: Any, allowed: Any) -> list[Any]:
    r"""Purchases y with the largest \(\sum v_ty_t\), at most `places` per round; exact.

    `allowed` is what may be spent by the end of each round: a total budget in every round, or, where money may not be
    borrowed, a growing sum. No plan's \(\sum1/N\) is more than \(\sum v_t(y_t-x_t)\) below that of x with values v.

    >>> most_value([3, 2, 1], [1, 1, 1], places=2, allowed=[1, 2, 3])
    [Fraction(1, 1), Fraction(1, 1), Fraction(1, 1)]
    """
    left, found = np.array([ratio(most, 1) for most in allowed]), [0 * price for price in prices]
    for t in sorted(range(len(found)), key=lambda t: -ratio(values[t], prices[t])):
        paid = min(prices[t] * places, left[t:].min())
        found[t], left[t:] = ratio(paid, prices[t]), left[t:] - paid
    return found


def best_purchases(
    prices: Any, places: float, allowed: Any, pilot: float, within: float
) -> tuple[Any, float]:
    r"""Real purchases that minimise \(\sum1/N\) up to this part of it; and \(\sum1/N\).

    By Frank and Wolfe's steps, towards `most_value`: few for a thousandth, many for a millionth.

    >>> [round(x) for x in best_purchases([1, 1, 1], 3, [4, 4, 4], pilot=1, within=1 / 10**3)[0]]
    [3, 1, 0]
    """
    cost, most = (np.asarray(one, dtype=float) for one in (prices, allowed))
    x = np.array(most_value(1 + 0 * cost, cost, places, most))
    for _ in range(STEPS_MAX):
        values, held = np.array(sample_values(x.tolist(), pilot)), pilot + np.cumsum(x)
        toward, total = most_value(values, cost, places, most) - x, float((1 / held).sum())
        if values @ toward <= within * total:
            return x, total
        more, step = np.cumsum(toward), float(0)
        for part in (1 / 2**k for k in range(1, HALVINGS)):
            step += part * float((more / (held + (step + part) * more) ** 2).sum() > 0)
        x = x + step * toward
    raise SettingError(f"no plan was found within {within} of the least cumulative risk: allow more")
