"""The claims about buying: their ground truth by hand, and a simulation with another seed."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from proofs_check.claim import Context
from proofs_check.claims.market import online_age
from proofs_check.groundwork.market import certificates, figures, loop, rules
from proofs_check.simulator import simulate_by_capacity
from theory.market.prices import Uniform
from theory.numbers.algebra import ball


def test_a_new_sample_takes_the_place_of_its_own_clients_oldest():
    first, second, third = simulate_by_capacity([[2, 1], [1, 0], [0, 5]], [2, 2])
    assert first.memory == ((0, 0), (0, 1), (1, 2))
    assert second.memory == ((0, 1), (0, 3), (1, 2))
    assert third.memory == ((0, 1), (0, 3), (1, 7), (1, 8))  # of five only the last two were ever used
    assert third.uses == {(0, 0): 1, (0, 1): 3, (1, 2): 2, (0, 3): 2, (1, 7): 1, (1, 8): 1}
    assert (third.n, third.N) == (4, 6)


def test_a_rule_that_takes_a_dear_price_and_leaves_a_cheap_one_is_tried_too():
    assert len(list(rules.all_rules(2, 3))) == 4**3
    assert ((False, True),) * 3 in list(rules.all_rules(2, 3))


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


def test_the_simulation_holds_with_another_seed():
    assert online_age.drawn_prices(Context(seed=7)).outcome == "holds"
