r"""Buying when it is cheap, prices unknown: drift-plus-penalty without a region, with its constants.

The debt \(Z(t+1)=[Z(t)+c(t)x(t)-C]^+\) stands for the price of money. A sample that has been used j times is replaced
in round t if

\[Z(t)\,c(t)<V\,w(j),\]

and then x(t) is the number of samples that are. With \(w=1\) that maximises \(Vx-Zcx\): all S are replaced or none, and
the rate comes as near to the limit (`theory.market.knapsack`) as V is large. With \(w(j)=j\) it minimises the drift of
\(\tfrac12Z^2+V\sum_{i\in Q}A_i\): old samples are worth more, and the mean age is bounded. Nothing is known of prices
but that they lie in \([c_-,c_+]\), and of that only the constants speak, not the rule.
"""

from typing import Any

from theory.numbers.algebra import maximum, positive_part, ratio

__all__ = ["age_ceiling", "buys", "debt_ceiling", "frame_shortfall", "overspending", "purchase_drift"]
__all__ += ["rate_shortfall", "reserve_weight", "savings_ceiling", "savings_price", "used_again"]


def buys(Z: Any, cost: Any, V: Any, worth: Any) -> Any:
    r"""True if \(Zc<Vw\): a sample of this worth is replaced at this price.

    >>> buys(10, 3, 7, 5), buys(10, 4, 7, 4)
    (True, False)
    """
    return Z * cost < V * worth


def savings_price(age: Any, places: Any, budget: Any) -> Any:
    r"""\(jC/S\): what a place has saved, out of its share C/S of the budget, since its sample came j rounds ago; exact.

    Who never pays more for a sample has spent at most the opening and CT after T rounds, whatever the prices.

    >>> savings_price(10, 100, 55)
    Fraction(11, 2)
    """
    return ratio(age * budget, places)


def used_again(uses: Any, fillings: Any, patience: Any) -> Any:
    r"""True if \(jb<K_0\): a memory that was filled for the b-th time, and used j times since, is used once more.

    So fillings are used \(\lceil K_0/b\rceil\) times at most, and once from the \(K_0\)-th on. Kish's size charges
    squares: extra uses \(e_b<K_0/b\) of whole memories leave \(N_{\mathrm{eff}}\ge Sb/(1+\sum e^2/b)>S(b-2K_0^2)\), so
    what reuse costs does not grow with the run.

    >>> [used_again(uses, 3, 10) for uses in (3, 4)]
    [True, False]
    """
    return uses * fillings < patience


def reserve_weight(reserve: Any, places: Any, budget: Any) -> Any:
    r"""\(V=Z(1)\,C/S\) with \(w(j)=j\): a debt at the reserve Z(1) makes the rule that of `savings_price`; exact.

    >>> reserve_weight(1000, 100, 55)
    Fraction(550, 1)
    """
    return ratio(reserve * budget, places)


def savings_ceiling(reserve: Any, places: Any, budget: Any, high: Any) -> Any:
    r"""\(Z(1)+c_+S-C\): with \(w(j)=j\), V of `reserve_weight` and \(Z(1)\ge C\) no debt exceeds it after the opening.

    An upper bound on every path: the debt and what all places have saved, \(\frac CS\sum A_i\ge C\), are together at
    most \(Z(1)+c_+S\). So T rounds cost at most \(C(T-1)+c_+S\), whatever the prices and however large the reserve.

    >>> savings_ceiling(1000, 100, 55, 10)
    1945
    """
    return reserve + high * places - budget


def debt_ceiling(V: Any, worth: Any, places: Any, budget: Any, low: Any, high: Any) -> Any:
    r"""\(\max_{c\in\{c_-,c_+\}}(Vw/c+cS)-C\): no debt that began below it ever exceeds it, w being the largest worth.

    An upper bound, for all prices in \([c_-,c_+]\) in any order.

    >>> debt_ceiling(100, 1, places=10, budget=5, low=1, high=4)
    Fraction(105, 1)
    """
    ends = [ratio(V * worth, price) + price * places for price in (low, high)]
    return positive_part(maximum(*ends) - budget)


def overspending(debt: Any, reserve: Any, rounds: Any) -> Any:
    r"""\((Z(T+1)-Z(1))/T\): by how much the mean cost of T rounds exceeds C, at most; an upper bound for all prices.

    >>> overspending(105, 5, 1000)
    Fraction(1, 10)
    """
    return ratio(debt - reserve, rounds)


def purchase_drift(places: Any, budget: Any, high: Any) -> Any:
    r"""\(B=\tfrac12\max(C,\,c_+S-C)^2\), half the square of the most that a round adds to a debt or takes away.

    >>> purchase_drift(10, 5, 4)
    Fraction(1225, 2)
    """
    return ratio(maximum(budget, high * places - budget) ** 2, 2)


def rate_shortfall(V: Any, drift: Any, reserve: Any = 0, rounds: Any = 1) -> Any:
    r"""\(\frac BV+\frac{Z(1)^2}{2VT}\): by how much the expected rate of \(w=1\) may miss the limit for i.i.d. prices.

    An upper bound, after any number T of rounds.

    >>> rate_shortfall(100, 50)
    Fraction(1, 2)
    """
    return ratio(drift, V) + ratio(reserve * reserve, 2 * V * rounds)


def frame_shortfall(V: Any, drift: Any, frame: Any, reserve: Any = 0, rounds: Any = 1) -> Any:
    r"""\(\frac{FB}V+\frac{Z(1)^2}{2VT}\) for prices in any order: by no more does the rate miss the mean, over frames
    of F rounds, of what CF buys at best within a frame. An upper bound on every path, T being a multiple of F.

    >>> frame_shortfall(100, 50, 4)
    Fraction(2, 1)
    """
    return rate_shortfall(V, frame * drift, reserve, rounds)


def age_ceiling(
    rate: Any, places: Any, V: Any, drift: Any, debt: Any = 0, rounds: Any = 1, ages: Any = 0
) -> Any:
    r"""\(\frac SR\Bigl(1+\frac B{VS}+\frac{Z(2)^2/2+V\sum A_i(1)}{VST}\Bigr)\) for \(w(j)=j\) and i.i.d. prices.

    An upper bound on the expected mean age in memory over the rounds 1..T, R being the rate that money buys, Z(2) the
    `debt` after the opening and \(\sum A_i(1)\) the sum of `ages` then.
    Without the last two terms it is the mean age if all are replaced at the knapsack's threshold.

    >>> age_ceiling(25, 100, V=1000, drift=50)
    Fraction(2001, 500)
    """
    first = ratio(debt * debt, 2) + V * ages
    return ratio(places, rate) * (1 + ratio(drift, V * places) + ratio(first, V * places * rounds))
