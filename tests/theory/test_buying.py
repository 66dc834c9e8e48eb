"""Buying online: every path of small prices, and exact expectations, stay within the constants."""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from theory.buying import (
    age_ceiling,
    buys,
    debt_ceiling,
    drift_constant,
    frame_shortfall,
    overspending,
    rate_shortfall,
    reserve_weight,
    savings_ceiling,
    savings_price,
)
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
        bought.append(S if buys(Z, price, V, 1) else 0)
        Z = owed(Z, price * bought[-1], C)
        debts.append(Z)
    return debts, bought


# --- on every path -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("V", [F(1, 2), F(7), F(40)])
@pytest.mark.parametrize(("S", "C"), [(1, F(1)), (3, F(2)), (2, F(20))])
def test_no_debt_exceeds_the_ceiling_and_one_comes_as_near_as_one_likes(V, S, C):
    ceiling = debt_ceiling(V, 1, S, C, PRICES[0], PRICES[-1])
    starts = {F(0), ceiling / 3, ceiling / 2, F(ceiling), V, V / 2, V / 4}
    for start in filter(lambda debt: debt <= ceiling, starts):
        for prices in product(PRICES, repeat=5):
            assert max(path(start, prices, V, S, C)[0]) <= ceiling
    near = F(1, 10**6)
    ends = [path(V / price - near, [price], V, S, C)[0][1] for price in PRICES]
    assert ceiling - near <= max(ends) <= ceiling


def test_the_ceiling_holds_whatever_a_sample_of_some_age_is_worth():
    rng = np.random.default_rng(0)
    for _ in range(300):
        S, C, V = int(rng.integers(1, 5)), F(int(rng.integers(1, 9)), 2), F(int(rng.integers(1, 60)), 3)
        worth = sorted(F(int(x), 2) for x in rng.integers(1, 20, 6))
        low, high = sorted(F(int(x), 2) for x in rng.integers(1, 12, 2))
        Z, highest, ages = F(0), F(0), [1] * S
        ceiling = debt_ceiling(V, worth[-1], S, C, low, high)
        for share in rng.uniform(size=30):
            price = low + F(round(16 * share), 16) * (high - low)
            new = [buys(Z, price, V, worth[min(age, 6) - 1]) for age in ages]
            ages = [1 if one else age + 1 for one, age in zip(new, ages, strict=True)]
            Z = owed(Z, price * sum(new), C)
            highest = max(highest, Z)
        assert highest <= ceiling


def test_the_mean_cost_exceeds_the_budget_by_what_is_owed_at_most():
    rng = np.random.default_rng(1)
    tight = 0
    for _ in range(300):
        T, C, reserve = int(rng.integers(1, 9)), F(int(rng.integers(1, 9)), 2), F(int(rng.integers(0, 9)))
        paid = [F(int(x), 2) for x in rng.integers(0, 14, T)]
        Z = reserve
        for cost in paid:
            Z = owed(Z, cost, C)
        assert sum(paid) / T <= C + overspending(Z, reserve, T)
        tight += sum(paid) / T == C + overspending(Z, reserve, T)
    assert tight > 100  # wherever no debt was forgiven


def test_the_drift_constant_is_half_the_square_of_the_largest_move():
    for S, C, high in product((1, 3), (F(1, 2), F(2), F(30)), (1, 4)):
        moves = [price * x - C for price in (F(1, 100), high) for x in range(S + 1)]
        assert drift_constant(S, C, high) == max(move**2 for move in moves) / 2


@pytest.mark.parametrize("frame", [1, 2, 3, 6])
@pytest.mark.parametrize("V", [F(2), F(30), F(300)])
def test_no_path_misses_its_frames_by_more(frame, V):
    S, C, T = 2, F(2), 6
    drift = drift_constant(S, C, 4)
    said = 0
    for start in (F(0), F(5)):
        for prices in product(PRICES, repeat=T):
            frames = [prices[k : k + frame] for k in range(0, T, frame)]
            within = sum(purchase_limit(Atoms.of(one), S, C).rate for one in frames) / F(len(frames))
            floor = within - frame_shortfall(V, drift, frame, start, T)
            said += floor > 0
            assert F(sum(path(start, prices, V, S, C)[1]), T) >= floor
    assert said or V < 300


def test_who_pays_no_more_than_a_place_has_saved_keeps_the_budget():
    S, C, T, opening = 1, F(2), 6, F(4)
    most = F(0)
    for prices in product(PRICES, repeat=T):
        spent = {(1, opening)}  # all that may be owned and have been spent, whatever is skipped
        for price in prices:
            kept = {(age + 1, paid) for age, paid in spent}
            spent = kept | {(1, paid + price) for age, paid in spent if price <= savings_price(age, S, C)}
        most = max(most, *(paid for _, paid in spent))
    assert most == opening + C * T


def test_a_debt_at_the_reserve_pays_less_than_the_savings():
    for reserve, S, C, age, price in product(
        (F(1), F(50)), (1, 7), (F(1, 2), F(9)), range(1, 9), range(1, 9)
    ):
        V = reserve_weight(reserve, S, C)
        assert buys(reserve, price, V, age) == (price < savings_price(age, S, C))


@pytest.mark.parametrize(("S", "C"), [(1, F(2)), (2, F(1, 2)), (3, F(4))])
def test_a_debt_that_pays_what_its_places_saved_stays_near_the_reserve(S, C):
    tops = []
    for reserve in (C, 2 * C, 20 * C):
        V, ceiling, highest = reserve_weight(reserve, S, C), savings_ceiling(reserve, S, C, 4), F(0)
        for prices in product(PRICES, repeat=7):
            Z, ages = owed(reserve, prices[0] * S, C), [1] * S
            for price in prices[1:]:
                highest = max(highest, Z)
                new = [buys(Z, price, V, age) for age in ages]
                ages = [1 if one else age + 1 for one, age in zip(new, ages, strict=True)]
                Z = owed(Z, price * sum(new), C)
            highest = max(highest, Z)
        assert highest <= ceiling
        tops.append(highest == ceiling)
    assert any(tops)


# --- in the mean, prices independent -----------------------------------------------------------------------

LAWS = [[(1, F(1, 2)), (3, F(1, 2))], [(1, F(1, 5)), (2, F(4, 5))], [(2, F(1))]]


def law_of(pairs):
    return Atoms(tuple(price for price, _ in pairs), tuple(weight for _, weight in pairs))


@pytest.mark.parametrize("pairs", LAWS)
@pytest.mark.parametrize("V", [F(5), F(40), F(400)])
@pytest.mark.parametrize("start", [F(0), F(12)])
def test_the_expected_rate_misses_the_limit_by_no_more(pairs, V, start):
    S, C = 2, F(1)
    limit, high = purchase_limit(law_of(pairs), S, C).rate, max(price for price, _ in pairs)
    drift = drift_constant(S, C, high)
    debts, bought = {start: F(1)}, F(0)
    for t in range(1, 61):
        later = defaultdict(F)
        for (Z, often), (price, weight) in product(debts.items(), pairs):
            x = S if buys(Z, price, V, 1) else 0
            bought += often * weight * x
            later[owed(Z, price * x, C)] += often * weight
        debts = later
        assert bought / t >= limit - rate_shortfall(V, drift, start, t)
    low = min(price for price, _ in pairs)
    owes = max(start, debt_ceiling(V, 1, S, C, low, high))
    assert bought / 60 <= limit + owes / low / 60  # and no more than the limit, but for what is owed


@pytest.mark.parametrize("pairs", LAWS)
@pytest.mark.parametrize("V", [F(1, 2), F(2), F(20)])
def test_the_expected_mean_age_stays_below_its_ceiling(pairs, V):
    S, C, T = 2, F(1), 12
    limit, high = purchase_limit(law_of(pairs), S, C).rate, max(price for price, _ in pairs)
    drift = drift_constant(S, C, high)
    for debt in (F(0), F(6)):
        states, total = {(debt, (1, 1)): F(1)}, F(0)  # after the opening
        for t in range(1, T + 1):
            total += sum(often * sum(ages) for (_, ages), often in states.items()) / S
            assert total / t <= age_ceiling(limit, S, V, drift, debt, t, ages=S)
            later = defaultdict(F)
            for ((Z, ages), often), (price, weight) in product(states.items(), pairs):
                new = [buys(Z, price, V, age) for age in ages]
                held = tuple(sorted(1 if one else age + 1 for one, age in zip(new, ages, strict=True)))
                later[owed(Z, price * sum(new), C), held] += often * weight
            states = later


def test_a_reserve_beyond_all_prices_is_waited_out():
    V, S, C, price, reserve, T = F(400), 2, F(1), 2, F(600), 1000
    drift = drift_constant(S, C, price)
    debts, bought = path(reserve, [price] * T, V, S, C)
    limit = purchase_limit(Atoms.of([price]), S, C).rate
    assert bought[0] == 0
    for t in range(1, T + 1):
        assert F(sum(bought[:t]), t) >= limit - rate_shortfall(V, drift, reserve, t)
    assert limit - rate_shortfall(V, drift, reserve, T) > 0
    assert F(sum(bought), T) < limit - rate_shortfall(V, drift)  # the reserve's term is needed
    assert F(price * sum(bought), T) <= C + overspending(debts[-1], reserve, T)


def test_the_constants_are_what_their_formulas_say():
    assert rate_shortfall(F(3), F(5), F(4), 7) == F(5, 3) + F(16, 42)
    assert frame_shortfall(F(3), F(5), 2, F(4), 7) == F(10, 3) + F(16, 42)
    assert age_ceiling(25, 100, V=1, drift=0) == F(100, 25)  # of who replaces all at the knapsack's threshold
    found = age_ceiling(F(1), 2, V=F(3), drift=F(5), debt=F(4), rounds=6, ages=2)
    assert found == 2 * (1 + F(5, 6) + F(8 + 6, 36))
