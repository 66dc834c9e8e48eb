"""The claims about buying: their ground truth checked by hand, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proofs_check.claim import Context, decide
from proofs_check.claims.buying import (
    best_rule,
    bursts,
    full_memory,
    gain,
    joint_rules,
    limit,
    noise_by_age,
    online_age,
    online_debt,
    online_rate,
    papers_rule,
    savings,
    settled,
)
from proofs_check.groundwork.buying import certificates, drift, figures, loop, purchases, rules, sequences
from proofs_check.simulator import simulate_by_capacity
from tests.proofs_check.planted import claim_of, established, forgetting
from theory import buying, buying_plan, capacity, knapsack, law, prices, replacement
from theory.algebra import ball, positive_part, ratio
from theory.prices import Atoms, Uniform

F = Fraction
MODULES = (
    limit,
    full_memory,
    noise_by_age,
    bursts,
    best_rule,
    joint_rules,
    papers_rule,
    online_debt,
    online_rate,
    online_age,
    settled,
    savings,
    gain,
)
GROUND = (certificates, drift, loop, purchases, rules, sequences)
WHERE = (*MODULES, *GROUND, buying, buying_plan, capacity, knapsack, law, prices, replacement)
CACHED = (certificates.papers_best, drift.moves, drift.drift_of_a_round, settled.in_proportion)
ESTABLISHED = ("proved", "certified", "supported")


fresh = forgetting(CACHED)


def _claim(label):
    return claim_of(MODULES, label)


# --- the ground truth --------------------------------------------------------------------------------------


def test_a_new_sample_takes_the_place_of_its_own_clients_oldest():
    first, second, third = simulate_by_capacity([[2, 1], [1, 0], [0, 5]], [2, 2])
    assert first.memory == ((0, 0), (0, 1), (1, 2))
    assert second.memory == ((0, 1), (0, 3), (1, 2))
    assert third.memory == ((0, 1), (0, 3), (1, 7), (1, 8))  # of five only the last two were ever used
    assert third.uses == {(0, 0): 1, (0, 1): 3, (1, 2): 2, (0, 3): 2, (1, 7): 1, (1, 8): 1}
    assert (third.n, third.N) == (4, 6)


def test_the_best_purchases_of_three_prices_by_hand():
    assert (
        purchases.most_bought([1, 2, 6], places=6, money=12) == 9
    )  # 6 for 6, and 3 of the next for the rest
    assert purchases.most_bought([1, 2, 6], places=6, money=100) == 18
    assert purchases.most_bought([5], places=1, money=2) == F(2, 5)


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
    assert figures.rounds_to(wide, figure, what="π", domain="one number").outcome == outcome


@pytest.mark.parametrize("reserve", [2, 7, 40])
def test_debt_and_savings_never_exceed_the_reserve_by_more_than_a_full_memory(reserve):
    S, C, top = 2, 2, 5
    V = buying.reserve_weight(reserve, S, C)
    for path in product((1, 3, top), repeat=7):
        start = positive_part(reserve + path[0] * S - C)
        found = loop.play([[price] for price in path[1:]], places=S, budget=C, V=int(V), debt=start)
        assert found.debt.max() <= buying.savings_ceiling(reserve, S, C, top)
        assert path[0] * S + found.spent.sum() <= C * (len(path) - 1) + top * S


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


# --- planted errors ----------------------------------------------------------------------------------------

REAL = {
    name: getattr(module, name)
    for module, names in (
        (knapsack, ("purchase_bound", "purchase_limit", "uniform_rate", "uniform_threshold")),
        (capacity, ("effective_rate", "age_burden", "noise_by_age", "burst_rate", "burst_effective_rate")),
        (capacity, ("trajectory_of",)),
        (law, ("by_capacity",)),
        (replacement, ("cycle", "best_rule", "least_burden", "best_replacement")),
        (
            buying,
            ("buys", "debt_ceiling", "overspending", "purchase_drift", "rate_shortfall", "frame_shortfall"),
        ),
        (buying, ("age_ceiling", "savings_price", "savings_ceiling", "reserve_weight")),
        (buying_plan, ("gap_closed",)),
    )
    for name in names
}


def _never_the_last_part(law_, places, budget):
    found = REAL["purchase_limit"](law_, places, budget)
    return replace(found, part=1) if found.part != 1 else found


# name: (function, what stands in its place, the claim that must notice)
PLANTS = {
    "knapsack, the debt forgotten": (
        "purchase_bound",
        lambda c, S, C, m, debt=0: REAL["purchase_bound"](c, S, C, m),
        "buy:limit",
    ),
    "knapsack, all bought at the threshold": ("purchase_limit", _never_the_last_part, "buy:limit"),
    "uniform threshold, half": (
        "uniform_threshold",
        lambda a, b, share: REAL["uniform_threshold"](a, b, share / 2),
        "buy:limit",
    ),
    "effective rate, ages from 0": (
        "effective_rate",
        lambda S, age: ratio(S, 2 * age + 1),
        "buy:full-memory",
    ),
    "capacity, one more": (
        "by_capacity",
        lambda x, size: REAL["by_capacity"](x, size + 1),
        "buy:full-memory/trajectory",
    ),
    "burden, one age more": (
        "age_burden",
        lambda age, a=1: REAL["age_burden"](age + 1, a),
        "buy:noise-by-age",
    ),
    "noise, no S": ("noise_by_age", lambda S, g, a: ratio((1 - a) * g, 1 + a), "buy:noise-by-age"),
    "bursts, r for r+1": ("burst_effective_rate", lambda S, r, q: ratio(S * q, r - q), "buy:bursts"),
    "bursts, all at once": ("burst_rate", lambda S, r, q: S * q, "buy:bursts"),
    "cycle, free of charge": (
        "cycle",
        lambda *x: replace(REAL["cycle"](*x), cost=REAL["cycle"](*x).cost / 2),
        "buy:best-rule",
    ),
    "mixture, the dear rule alone": (
        "least_burden",
        lambda *x: (
            *REAL["least_burden"](*x)[:3],
            REAL["least_burden"](*x)[0].burden,
            REAL["least_burden"](*x)[4],
        ),
        "buy:best-rule",
    ),
    "joint rules, a wrong price of money": (
        "least_burden",
        lambda *x: (*REAL["least_burden"](*x)[:4], 2 * REAL["least_burden"](*x)[4]),
        "buy:best-rule/places",
    ),
    "18.64, more money": (
        "best_replacement",
        lambda law_, S, C: REAL["best_replacement"](law_, S, C * 1.001),
        "buy:best-rule/paper",
    ),
    "debt, the low end alone": (
        "debt_ceiling",
        lambda V, w, S, C, low, high: REAL["debt_ceiling"](V, w, S, C, low, low),
        "buy:online-debt",
    ),
    "debt, sign of the reserve": ("overspending", lambda Z, Z1, T: ratio(Z + Z1, T), "buy:online-debt"),
    "drift, no half": ("purchase_drift", lambda *x: 2 * REAL["purchase_drift"](*x), "buy:online-rate"),
    "frames, as one round": (
        "frame_shortfall",
        lambda V, B, F_, *x: REAL["rate_shortfall"](V, B, *x),
        "buy:online-rate",
    ),
    "rate, no start": ("rate_shortfall", lambda V, B, Z=0, T=1: ratio(B, V), "buy:online-rate"),
    "the rule, dear first": ("buys", lambda Z, c, V, w: Z * c > V * w, "buy:online-rate"),
    "age, no places": (
        "age_ceiling",
        lambda R, S, V, B, *x: REAL["age_ceiling"](R, S, V, B * S, *x),
        "buy:online-age",
    ),
    "savings, a round more": (
        "savings_price",
        lambda age, S, C: REAL["savings_price"](age + 1, S, C),
        "buy:savings",
    ),
    "savings, no opening": ("savings_ceiling", lambda Z, S, C, top: Z, "buy:savings"),
    "gain, of the rates themselves": (
        "gap_closed",
        lambda rate, constant, oracle: ratio(rate - constant, oracle - constant),
        "buy:gain",
    ),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_is_noticed(monkeypatch, fresh, name):
    function, wrong, label = PLANTS[name]
    for module in WHERE:
        if getattr(module, function, None) is REAL[function]:
            monkeypatch.setattr(module, function, wrong)
    assert not established(_claim(label))


@pytest.mark.parametrize("module", MODULES)
def test_the_claims_hold_with_another_seed(module):
    for claim in module.CLAIMS:
        assert decide(claim, seed=7).verdict in ESTABLISHED


def test_the_price_processes_are_what_they_are_called():
    drawn = dict(loop.drawn_prices(Context().generator(), 500, 40))
    assert len(drawn) == 4
    for costs, paths in drawn.items():
        assert costs.low * loop.QUARTER <= paths.min()
        assert paths.max() <= costs.high * loop.QUARTER
        mean = paths.mean(axis=1) / loop.QUARTER
        assert np.abs(mean - costs.mean(np.arange(1, 41))).max() < 1
