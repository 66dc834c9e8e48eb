"""Brute force, exact: the most that money buys, by every vertex; all stationary rules of a place.

A place is a chain of ages 1..J, the last standing for all later. A rule says at which prices a sample of each age is
replaced: any set of prices, not only those below a threshold.
"""

from itertools import compress

import flint

from proofs_check.prelude import *

Rule = Sequence[Sequence[bool]]  # for each age, whether it is replaced at each price


def long_run(law: Atoms, rule: Rule, burdens: Sequence[Any]) -> tuple[F, F]:
    """Mean cost and mean burden per round, from the stationary distribution of the chain that begins at age 1."""
    often = [sum(compress(law.weights, row), F(0)) for row in rule]
    ages = next((age for age, chance in enumerate(often, start=1) if chance == 1), len(rule))
    if ages == len(rule) and not often[-1]:
        return F(0), F(burdens[-1])  # it stays at the last age for ever
    rows = [[F(0)] * ages for _ in range(ages)]
    for age in range(ages):
        rows[0][age] += often[age]
        rows[min(age + 1, ages - 1)][age] += 1 - often[age]
        rows[age][age] -= 1
    rows[-1] = [F(1)] * ages  # one balance is implied by the others; the shares add up to 1
    matrix = flint.fmpq_mat([[flint.fmpq(x.numerator, x.denominator) for x in row] for row in rows])
    right = flint.fmpq_mat([[0]] * (ages - 1) + [[1]])
    shares = [F(int(x[0].p), int(x[0].q)) for x in matrix.solve(right).tolist()]
    prices = [w * p for w, p in zip(law.weights, law.prices, strict=True)]
    spent = (sum(compress(prices, row), F(0)) for row in rule)
    cost = sum((share * paid for share, paid in zip(shares, spent, strict=False)), F(0))
    return cost, sum((share * g for share, g in zip(shares, burdens, strict=False)), F(0))


def all_rules(prices: int, ages: int) -> Iterator[Rule]:
    rows = list(product((False, True), repeat=prices))
    return product(rows, repeat=ages)


def least_at(points: Iterable[tuple[F, F]], share: F) -> F:
    """The least burden of a mixture of rules (cost, burden) that costs the share at most: their lower hull."""
    hull: list[tuple[F, F]] = []
    for cost, burden in sorted(set(points)):
        while len(hull) > 1 and _above(hull[-2], hull[-1], (cost, burden)):
            hull.pop()
        hull.append((cost, burden))
    best = min(burden for cost, burden in hull if cost <= share)
    for (left, high), (right, low) in pairwise(hull):
        if left <= share < right:
            best = min(best, high + (low - high) * (share - left) / (right - left))
    return best


def _above(left: Any, middle: Any, right: Any) -> bool:
    rise = (middle[1] - left[1]) * (right[0] - left[0])
    return bool(rise >= (right[1] - left[1]) * (middle[0] - left[0]))


def _vertices(prices: Sequence[Any], places: Any, money: Any) -> Iterator[Any]:
    """The vertices of {0 <= x <= S, Σcx <= money}: all rounds empty or full except one, which takes the rest."""
    for full in product((0, 1), repeat=len(prices)):
        paid = sum(places * price for price, bought in zip(prices, full, strict=True) if bought)
        if paid > money:
            continue
        amount = F(places * sum(full))
        yield amount
        for price, bought in zip(prices, full, strict=True):
            if not bought and money - paid <= places * price:
                yield amount + F(money - paid) / price


def most_bought(prices: Sequence[Any], places: Any, money: Any) -> Any:
    """max Σx over 0 <= x(t) <= S with Σcx <= money: a linear program is largest at a vertex."""
    return max(_vertices(prices, places, money))
