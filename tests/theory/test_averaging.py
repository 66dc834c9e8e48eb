"""Averaged models in floats: as the exact law has them, over many rounds; and what is refused."""

from fractions import Fraction as F
from functools import partial

import numpy as np

from tests.refused import refused
from theory.law.averaging import (
    averaged,
    best_weights,
    by_shares,
    contractions,
    equal,
    exponential,
    final_weights,
    over_models,
    over_rounds,
    polynomial,
    risk_matrix,
    tail,
)
from theory.law.quadratic import Cohorts, by_age, by_capacity

ADMISSIONS = [3, 0, 0, 1, 2, 0, 0, 0, 4, 1, 0, 2]
T = len(ADMISSIONS)


def test_floats_have_what_fractions_have_in_every_round():
    h, steps = [F(1, 3), F(2)], [F(1, 2) / (1 + F(t, 5)) for t in range(T)]
    for rule in (by_age(ADMISSIONS, 2), by_capacity(ADMISSIONS, 4) + by_age(ADMISSIONS, 1)):
        trained = rule.occupancy(T) > 0
        for share in (
            equal,
            partial(polynomial, gamma=3),
            partial(tail, first=4),
            partial(exponential, keep=F(1, 2)),
        ):
            for shares in (over_models(share, trained), over_rounds(share, T)):
                exact = averaged(rule, T, contractions(h, steps, 3), shares)
                floats = averaged(rule, T, contractions(*(np.array(x, float) for x in (h, steps)), 3), shares)
                for name in ("left", "squares", "last_left", "last_squares"):
                    wanted = getattr(exact, name).astype(float)
                    np.testing.assert_allclose(getattr(floats, name), wanted, rtol=1e-12, atol=1e-15)


def test_both_views_agree_over_many_rounds_and_directions_in_floats():
    rng, rounds = np.random.default_rng(0), 800
    rule = by_capacity(rng.integers(0, 3, rounds) * (rng.random(rounds) < 0.3), 4) + by_age(
        [0] * 10 + [2] * 300, 7
    )
    a = contractions(np.linspace(0.01, 0.9, 5), 1 / np.sqrt(1 + np.arange(rounds) / 20), 2)
    shares = over_models(lambda k: polynomial(k, 8), rule.occupancy(rounds) > 0)
    ahead = averaged(rule, rounds, a, shares)
    left, squares = by_shares(rule, rounds, a, final_weights(shares))
    np.testing.assert_allclose(ahead.squares[-1], squares, rtol=1e-11)
    np.testing.assert_allclose(ahead.left[-1], left, atol=1e-15)


def test_counts_that_are_no_integers_leave_no_rounding_of_an_empty_memory():
    rule = Cohorts(np.array([1, 1, 4]), np.array([1, 2, 4]), np.array([0.1, 0.2, 0.3]))
    found = averaged(rule, 4, 0.5, over_rounds(equal, 4))
    assert found.last_squares[2, 0] == found.last_squares[3, 0]


def test_the_best_weights_of_floats_are_those_of_fractions():
    problem = {"h": [F(1), F(1, 4)], "variance": [F(1), F(2)], "start": [F(9), F(4)]}
    A = risk_matrix(by_age([2, 1, 3], 2), 3, [F(1, 2), F(3, 4)], **problem)
    np.testing.assert_allclose(best_weights(A.astype(float)), [float(p) for p in best_weights(A)], atol=1e-9)
    rounds = np.arange(1, 4)
    idle = risk_matrix(Cohorts(rounds, rounds, np.array([2, 0, 3])), 3, [F(1, 2), F(3, 4)], **problem)
    assert (idle[1] == idle[2]).all(), "a round without samples leaves a copy"


def test_no_round_and_no_sample_at_all():
    empty = averaged(by_age([0, 0], 1), 2, F(1, 2), over_models(equal, [False, False]))
    assert empty.left[:, 0].tolist() == [1, 1, 1]
    assert empty.squares[:, 0].tolist() == [0, 0, 0]


def test_what_does_not_fit_the_rounds_is_refused():
    rule = by_age([1, 1], 1)
    assert "a share for each of 3 models" in refused(averaged, rule, 2, F(1, 2), [1, 1])
    assert "a weight for each of 3 models" in refused(by_shares, rule, 2, F(1, 2), [1])
    assert "or 2 rows of them" in refused(averaged, rule, 2, [[F(1, 2)]] * 3, [1, 1, 1])
