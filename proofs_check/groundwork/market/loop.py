r"""The online rule: what one round does to half the squared debt, in symbols; many rounds and runs in whole numbers.

\(Z'=[Z+cx-C]^+\), and \((cx-C)^2\le2B\) for every purchase \(0\le x\le S\) at a price of at most \(c_+\).
"""

from numpy.typing import NDArray

from proofs_check.prelude import *

from proofs_check.groundwork.market.market import B, C, S, Z, c, high
from theory.market.online import buys
from theory.numbers.algebra import positive_part

x = sp.Symbol("x", nonnegative=True)


def debt_after(debt: Any, cost: Any, bought: Any, budget: Any) -> Any:
    """Z' = [Z + cx - C]⁺."""
    return positive_part(debt + cost * bought - budget)


def with_maxima(expression: Any) -> Any:
    """The same, each -min(-a, -b) written as max(a, b)."""
    return sp.sympify(expression).replace(
        lambda e: isinstance(e, sp.Min), lambda e: -sp.Max(*(-argument for argument in e.args))
    )


def moves() -> Evidence:
    """cx - C lies within δ of 0, δ² = 2B; B is no larger than it must be; and the debt moves by δ at most."""
    most, move = 2 * purchase_drift(S, C, high), debt_after(Z, c, x, C) - Z
    step = sp.Symbol("delta", positive=True)
    either = sp.Or(sp.Eq(most, C**2), sp.Eq(most, (high * S - C) ** 2))
    return argument(
        ((c * x - C) ** 2 <= most, [x <= S, c <= high], "every purchase and price"),
        (either, [], "one of the two: nothing is bought, or $S$ at the highest price"),
        ([move <= step, move >= -step], [step >= C, c * x - C <= step], r"every debt, $\delta\ge C,cx-C$"),
    )


def drift_of_a_round() -> Evidence:
    """½Z'² - ½Z² <= B + Z(cx - C): the positive part takes nothing away from that."""
    after, spare = sp.symbols("after spare", real=True)
    return always(
        after**2 / 2 - Z**2 / 2 <= B + Z * spare,
        given=[spare**2 <= 2 * B, sp.Or(sp.Eq(after, Z + spare), sp.And(sp.Eq(after, 0), Z + spare <= 0))],
        domain=r"every $Z\ge0$ and $cx-C=\mathrm{spare}$ with $\mathrm{spare}^2\le2B$",
    )


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class OnlineRun:
    """Arrays (rounds, runs): prices, how many were bought, the sum of ages and the largest; the debt has a row more."""

    prices: Ints
    bought: Ints
    debt: Ints
    ages: Ints
    oldest: Ints

    @property
    def spent(self) -> Ints:
        return self.prices * self.bought


def constant_worth(ages: Ints) -> Ints:
    """w = 1: all samples are worth the same."""
    return np.ones_like(ages)


def worth_of_age(ages: Ints) -> Ints:
    """w(j) = j."""
    return ages


def play(
    prices: Any, *, places: int, budget: int, V: Any, debt: Any, worth: Callable[[Ints], Ints] = worth_of_age
) -> OnlineRun:
    """Play from a memory of S samples, each used once, with this debt; prices have the shape (rounds, runs)."""
    costs = np.asarray(prices, dtype=np.int64)
    ages = np.ones((costs.shape[1], places), dtype=np.int64)
    Z = np.broadcast_to(np.asarray(debt, dtype=np.int64), costs.shape[1:]).copy()
    rows: list[tuple[Ints, ...]] = []
    debts = [Z]
    for cost in costs:
        taken = buys(Z[:, np.newaxis], cost[:, np.newaxis], V, worth(ages))
        x = taken.sum(axis=1)
        Z = np.maximum(Z + cost * x - budget, 0)
        ages = np.where(taken, 1, ages + 1)
        debts.append(Z)
        rows.append((x, ages.sum(axis=1), ages.max(axis=1)))
    bought, total, oldest = (np.array(column) for column in zip(*rows, strict=True))
    return OnlineRun(costs, bought, np.array(debts), total, oldest)
