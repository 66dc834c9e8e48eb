"""The claims about buying: their ground truth by hand, and their simulations with another seed."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from proofs_check.claim import Context
from proofs_check.claims.buying import online_age, online_rule, savings
from proofs_check.groundwork.buying import certificates, figures, loop, rules
from proofs_check.simulator import simulate_by_capacity
from theory import buying, replacement
from theory.algebra import ball, positive_part
from theory.prices import Atoms, Uniform


def test_a_new_sample_takes_the_place_of_its_own_clients_oldest():
    first, second, third = simulate_by_capacity([[2, 1], [1, 0], [0, 5]], [2, 2])
    assert first.memory == ((0, 0), (0, 1), (1, 2))
    assert second.memory == ((0, 1), (0, 3), (1, 2))
    assert third.memory == ((0, 1), (0, 3), (1, 7), (1, 8))  # of five only the last two were ever used
    assert third.uses == {(0, 0): 1, (0, 1): 3, (1, 2): 2, (0, 3): 2, (1, 7): 1, (1, 8): 1}
    assert (third.n, third.N) == (4, 6)


def test_the_best_purchases_of_three_prices_by_hand():
    assert rules.most_bought([1, 2, 6], places=6, money=12) == 9  # 6 for 6, and 3 of the next for the rest
    assert rules.most_bought([1, 2, 6], places=6, money=100) == 18
    assert rules.most_bought([5], places=1, money=2) == F(2, 5)


def test_a_place_that_takes_only_the_cheap_price_is_renewed_every_other_round():
    cost, burden = rules.long_run(Atoms.of([1, 3]), [[True, False]] * 2, [1, 5])
    assert (cost, burden) == (F(1, 2), 3)


def test_a_rule_that_takes_a_dear_price_and_leaves_a_cheap_one_is_tried_too():
    assert len(list(rules.all_rules(2, 3))) == 4**3
    assert ((False, True),) * 3 in list(rules.all_rules(2, 3))


def test_the_lower_hull_mixes_two_rules_and_never_pays_more_than_allowed():
    points = [(F(0), F(9)), (F(1), F(5)), (F(2), F(1)), (F(3), F(1))]
    assert rules.least_at(points, F(1)) == 5
    assert rules.least_at(points, F(1, 2)) == 7
    assert rules.least_at(points, F(5)) == 1


def test_the_value_of_an_age_solves_bellmans_equation():
    law_, burdens, mu = Atoms.of([1, 3]), [1, 3, 5], F(5, 2)
    best = replacement.best_rule(law_, burdens, mu)
    worth = best.burden + mu * best.cost
    h = rules.values(law_, burdens, mu, worth)
    for age in range(3):
        stay = burdens[min(age + 1, 2)] - worth + h[min(age + 1, 2)]
        assert h[age] == sum(F(1, 2) * min(mu * price, stay) for price in (1, 3))
    assert burdens[0] - worth + h[0] == 0


def test_a_certificate_that_asks_for_too_much_has_faults():
    _, good = certificates.papers_best()
    assert certificates.faults(Uniform(1, 10), good) == []
    assert certificates.faults(Uniform(1, 10), replace(good, worth=good.worth + F(1, 10**5)))
    assert certificates.faults(Uniform(1, 10), replace(good, values=(*good.values[:-1], good.values[-1] + 1)))
    assert certificates.faults(Uniform(2, 10), replace(good, multiplier=good.multiplier / 2))


def test_the_loop_plays_three_rounds_as_by_hand():
    found = loop.play([[2], [9], [1]], places=2, budget=3, V=10, debt=4, worth=loop.worth_of_age)
    # 4·2 < 10: both go for 4; then 5·9 > 20: none; then 2·1 < 20: both
    assert found.bought[:, 0].tolist() == [2, 0, 2]
    assert found.debt[:, 0].tolist() == [4, 5, 2, 1]
    assert found.ages[:, 0].tolist() == [2, 4, 2]


@pytest.mark.parametrize(("figure", "outcome"), [("3.14", "holds"), ("3.15", "fails"), ("3.1415927", "open")])
def test_a_figure_is_right_to_its_last_digit_or_not_or_unknown(figure, outcome):
    pi = ball(314159265) / 10**8 + 0 * ball(1)
    wide = pi if outcome != "open" else pi + ball(0).union(ball(F(1, 1000)))
    assert figures.figures("one number", ("π", wide, figure)).outcome == outcome


def test_a_reserve_below_a_rounds_budget_may_break_the_savings_ceiling():
    """Why the claim asks for Z(1) >= C: debts that are cut off at 0 forget what was saved."""
    reserve, S, C = 1, 4, 20
    V = buying.reserve_weight(reserve, S, C)
    worst = 0
    for path in product((1, 6), repeat=5):
        start = positive_part(reserve + path[0] * S - C)
        found = loop.play([[price] for price in path[1:]], places=S, budget=C, V=int(V), debt=start)
        ages = np.concatenate([[S], found.ages[:, 0]])
        worst = max(worst, int((found.debt[:, 0] + C // S * ages).max()))
    assert worst > reserve + 6 * S - C


@pytest.mark.parametrize(
    "check",
    [
        online_age.drawn_prices,
        online_rule.debts_of_processes,
        online_rule.drawn_independent,
        online_rule.rates_of_processes,
        savings.price_processes,
    ],
)
def test_simulations_hold_with_another_seed(check):
    assert check(Context(seed=7)).outcome == "holds"


def test_the_price_processes_are_what_they_are_called():
    drawn = dict(loop.drawn_prices(Context().generator(), 500, 40))
    assert len(drawn) == 4
    for costs, paths in drawn.items():
        assert costs.low * loop.QUARTER <= paths.min()
        assert paths.max() <= costs.high * loop.QUARTER
        mean = paths.mean(axis=1) / loop.QUARTER
        assert np.abs(mean - costs.mean(np.arange(1, 41))).max() < 1
