"""Buying online: every path of small prices, and exact expectations, stay within the constants."""

from fractions import Fraction
from itertools import product

import pytest

from theory import buying
from theory.knapsack import purchase_limit
from theory.prices import Atoms

F = Fraction
PRICES = (1, 2, 4)


def owed(Z, paid, C):
    return max(Z + paid - C, F(0))


def path(Z, prices, V, S, C):
    """Debts and purchases of w = 1: all S are replaced, or none."""
    debts, bought = [Z], []
    for price in prices:
        bought.append(S if buying.buys(Z, price, V, 1) else 0)
        Z = owed(Z, price * bought[-1], C)
        debts.append(Z)
    return debts, bought


@pytest.mark.parametrize(("V", "S", "C"), [(F(1, 2), 1, F(1)), (F(7), 3, F(2)), (F(40), 2, F(20))])
def test_no_debt_exceeds_the_ceiling_and_one_comes_as_near_as_one_likes(V, S, C):
    ceiling = buying.debt_ceiling(V, 1, S, C, PRICES[0], PRICES[-1])
    starts = {F(0), ceiling / 2, F(ceiling), V, V / 4}
    for start in filter(lambda debt: debt <= ceiling, starts):
        for prices in product(PRICES, repeat=4):
            assert max(path(start, prices, V, S, C)[0]) <= ceiling
    near = F(1, 10**6)
    ends = [path(V / price - near, [price], V, S, C)[0][1] for price in PRICES]
    assert ceiling - near <= max(ends) <= ceiling


def test_the_drift_constant_is_half_the_square_of_the_largest_move():
    for S, C, high in product((1, 3), (F(1, 2), F(2), F(30)), (1, 4)):
        moves = [price * x - C for price in (F(1, 100), high) for x in range(S + 1)]
        assert buying.purchase_drift(S, C, high) == max(move**2 for move in moves) / 2


def test_a_debt_at_the_reserve_pays_less_than_the_savings():
    for reserve, S, C, age, price in product((F(1), F(50)), (1, 7), (F(1, 2), F(9)), (1, 2, 8), (1, 4, 9)):
        V = buying.reserve_weight(reserve, S, C)
        assert buying.buys(reserve, price, V, age) == (price < buying.savings_price(age, S, C))


@pytest.mark.parametrize(("S", "C"), [(1, F(2)), (2, F(1, 2)), (3, F(4))])
def test_a_debt_that_pays_what_its_places_saved_stays_near_the_reserve(S, C):
    tops = []
    for reserve in (C, 2 * C, 20 * C):
        V, ceiling, highest = (
            buying.reserve_weight(reserve, S, C),
            buying.savings_ceiling(reserve, S, C, 4),
            F(0),
        )
        for prices in product(PRICES, repeat=6):
            Z, ages = owed(reserve, prices[0] * S, C), [1] * S
            for price in prices[1:]:
                highest = max(highest, Z)
                new = [buying.buys(Z, price, V, age) for age in ages]
                ages = [1 if one else age + 1 for one, age in zip(new, ages, strict=True)]
                Z = owed(Z, price * sum(new), C)
            highest = max(highest, Z)
        assert highest <= ceiling
        tops.append(highest == ceiling)
    assert any(tops)


def test_a_reserve_beyond_all_prices_is_waited_out():
    V, S, C, price, reserve, T = F(200), 2, F(1), 2, F(300), 500
    drift = buying.purchase_drift(S, C, price)
    debts, bought = path(reserve, [price] * T, V, S, C)
    limit = purchase_limit(Atoms.of([price]), S, C).rate
    assert bought[0] == 0
    for t in range(1, T + 1):
        assert F(sum(bought[:t]), t) >= limit - buying.rate_shortfall(V, drift, reserve, t)
    assert limit - buying.rate_shortfall(V, drift, reserve, T) > 0
    assert F(sum(bought), T) < limit - buying.rate_shortfall(V, drift)  # the reserve's term is needed
    assert F(price * sum(bought), T) <= C + buying.overspending(debts[-1], reserve, T)


def test_the_constants_are_what_their_formulas_say():
    assert buying.rate_shortfall(F(3), F(5), F(4), 7) == F(5, 3) + F(16, 42)
    assert buying.frame_shortfall(F(3), F(5), 2, F(4), 7) == F(10, 3) + F(16, 42)
    assert buying.age_ceiling(25, 100, V=1, drift=0) == F(
        100, 25
    )  # of who replaces all at the knapsack's threshold
    found = buying.age_ceiling(F(1), 2, V=F(3), drift=F(5), debt=F(4), rounds=6, ages=2)
    assert found == 2 * (1 + F(5, 6) + F(8 + 6, 36))
