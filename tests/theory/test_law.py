"""Laws of reuse in floats, and where rounds have no samples: means, drift, curvatures of samples, trajectories."""

from fractions import Fraction as F
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refused import refused
from theory.bound.sharper import stale_weight_constant
from theory.drift.moving_optimum import drifting_risk
from theory.law import curved
from theory.law.averaging import (
    averaged,
    best_weights,
    by_shares,
    contractions,
    equal,
    exponential,
    final_weights,
    latest,
    over_models,
    over_rounds,
    polynomial,
    risk_matrix,
    tail,
)
from theory.law.information import information_risk
from theory.law.quadratic import Cohorts, by_age, by_capacity, squared_weights
from theory.market.capacity import trajectory_by_capacity, trajectory_of
from theory.reuse import constant
from theory.reuse.trajectories import trajectory

ADMISSIONS = [3, 0, 0, 1, 2, 0, 0, 0, 4, 1, 0, 2]
T = len(ADMISSIONS)


H, STEPS = [F(1, 3), F(2)], [F(1, 2) / (1 + F(t, 5)) for t in range(T)]
RULES = (by_age(ADMISSIONS, 2), by_capacity(ADMISSIONS, 4) + by_age(ADMISSIONS, 1), by_age([0] * T, 1))
DRIFTING = {"h": H, "variance": [F(1), F(3)], "first": [F(2), F(-1)], "walk": [F(1, 7), F(2)]}
DRIFTING["path"] = [[F(t, 3), F((-1) ** t)] for t in range(T + 1)]
FADING = partial(exponential, keep=F(1, 2))


@pytest.mark.parametrize(("law", "problem"), [(averaged, {}), (drifting_risk, DRIFTING)])
@pytest.mark.parametrize("rule", RULES)
def test_floats_have_what_fractions_have_in_every_round(law, problem, rule):
    h, steps = (np.array(values, float) for values in (H, STEPS))
    numbers = {name: np.array(values, float) for name, values in problem.items()}
    for share in (equal, latest, partial(polynomial, gamma=3), partial(tail, first=4), FADING):
        for shares in (over_models(share, rule.occupancy(T) > 0), over_rounds(share, T)):
            floats = law(rule, T, contractions(h, steps, 3), shares, **numbers)
            for name, exact in vars(law(rule, T, contractions(H, STEPS, 3), shares, **problem)).items():
                found = getattr(floats, name)
                assert found.dtype == float
                np.testing.assert_allclose(found, exact.astype(float), rtol=1e-12, atol=1e-15)


def test_both_views_agree_over_many_rounds_and_directions_in_floats():
    rng, rounds = np.random.default_rng(0), 800
    few = rng.integers(0, 3, rounds) * (rng.random(rounds) < 0.3)
    rule = by_capacity(few, 4) + by_age([0] * 10 + [2] * 300, 7)
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


HALF = F(1, 2)
MOMENTS = curved.Moments(h=F(2, 3), spread=F(1, 5), noise=F(3), tilt=F(1, 7), skew=F(1, 4))


def test_the_cubic_shift_ends_where_half_of_k_times_the_noise_balances_the_slope():
    m, eta, T = MOMENTS, F(3, 4), 60
    memory = by_age([4] * T, 3)
    ending = -F(5) * m.noise / m.h**2 * squared_weights(memory, 1 - eta * m.h, T)[-1] / (2 * m.h)
    shift = curved.cubic_shift(memory, T, m, third=F(5), eta=eta)
    assert float(shift[-1] / ending) == pytest.approx(1, rel=1e-10)
    gaps = curved.cubic_shift(by_age([1, 0, 2], 1), 3, m, third=F(5), eta=eta)
    assert gaps[-1] == curved.cubic_shift(by_age([1, 2], 1), 2, m, third=F(5), eta=eta)[-1] != 0


def test_rounds_without_samples_change_nothing():
    with_gaps, without = by_age([1, 0, 0, 2, 1], 1), by_age([1, 2, 1], 1)
    gaps = curved.first_order([with_gaps], 5, MOMENTS, start=F(2), eta=HALF)
    plain = curved.first_order([without], 3, MOMENTS, start=F(2), eta=HALF)
    for name in ("law", "mean", "square"):
        assert getattr(gaps, name)[-1] == getattr(plain, name)[-1]
    noises = [curved.noise_correction(one, T, MOMENTS, eta=HALF) for one, T in ((with_gaps, 5), (without, 3))]
    assert noises[0] == noises[1]


def test_both_rests_by_hand():
    m = curved.Moments(h=2, spread=3, noise=5, skew=-7)
    tails = curved.Tails(third=-11, fourth=22, cross=-13, gradient=6)
    H, G = 49 ** F(1, 4), 81 ** F(1, 4)  # of 3·3² + 22 and 3·5² + 6
    eta, far, n, away = 0.4, 0.3, 17, 19
    path = away * (eta**3 * 11 / 0.8**4 + eta**4 * H**4 / far**5)
    path += eta**3 * 13 / 0.8**3 + eta**4 * H**3 * G / far**4
    given = {"tails": tails, "eta": F(2, 5), "rho": F(7, 10), "size": n}
    assert float(curved.path_rest(m, start=-away, **given)) == pytest.approx(path / n**2, rel=1e-12)
    square = 14 / 2**3 + 2 * eta**3 * H**2 * G**2 / (2 * far**3) + eta**4 * H**2 * G**2 / far**4
    assert float(curved.square_rest(m, **given)) == pytest.approx(square / n**2, rel=1e-12)


def test_a_memory_without_samples_stays_where_it_is():
    none = Cohorts(*(np.array([], dtype=int) for _ in range(3)))
    assert list(curved.first_order([none], 2, MOMENTS, start=F(2), eta=HALF).law) == [2, 2, 2]
    assert curved.noise_correction(none, 2, MOMENTS, eta=HALF) == 0


@given(st.floats(0.01, 100), st.integers(1, 6))
def test_a_memory_that_holds_everything_alike_has_no_mismatch_not_even_in_floats(rate, K):
    assert trajectory(np.array([rate]), K).mismatch[0] == 0
    assert (trajectory(np.array([rate] + [0.0] * (K - 1)), K).mismatch == 0).all()
    assert (trajectory(np.full(50, rate), K).mismatch >= 0).all()


def test_a_small_mismatch_is_not_taken_for_rounding():
    """Many samples used twice and one that is fresh."""
    exact, floats = (trajectory(np.array([10**6, 1], dtype=kind), 2) for kind in (object, float))
    assert exact.mismatch[1] > 0
    assert floats.mismatch[1] == pytest.approx(float(exact.mismatch[1]), rel=1e-5, abs=0)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_small_integers_do_not_overflow(kind):
    found, wanted = trajectory(np.array([100, 100, 100], dtype=kind), 3), trajectory([100, 100, 100], 3)
    assert found.uniformity.tolist() == wanted.uniformity.tolist()
    assert isinstance(found.uniformity[2], F)


def test_retention_beyond_the_horizon_is_retention_up_to_it():
    longest, long = trajectory([3, 1, 4, 1, 5], 10**12), trajectory([3, 1, 4, 1, 5], 5)
    assert (longest.mismatch == long.mismatch).all()


@pytest.mark.parametrize(
    "formula", [constant.mismatch_constant, constant.inverse_effective_constant, stale_weight_constant]
)
def test_whole_numbers_in_an_array_do_not_overflow(formula):
    for kind in (np.int64, np.uint64):
        found = formula(10**11, np.array([10**10, 10**12], kind), 1)
        exact = [float(formula(10**11, t, 1)) for t in (10**10, 10**12)]
        np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_a_long_trajectory_of_floats_keeps_its_accuracy():
    T, K, rate = 10**5, 50, 0.3
    path = trajectory(np.full(T, rate), K)
    t = np.arange(1, T + 1)
    np.testing.assert_allclose(path.mismatch, constant.mismatch_constant(K, t, rate), rtol=1e-10, atol=0)
    np.testing.assert_allclose(path.uniformity, constant.uniformity_constant(K, t), rtol=1e-10)


def test_large_counts_do_no_harm_and_cohorts_beyond_the_horizon_do_not_count():
    big, small = trajectory_by_capacity([10**9] * 50, 10**10), trajectory_by_capacity([1] * 50, 10)
    assert big.uniformity.tolist() == small.uniformity.tolist()
    cohorts = Cohorts(np.array([1, 5]), np.array([9, 9]), np.array([2, 3]))
    assert cohorts.occupancy(3).tolist() == [2, 2, 2]
    found, wanted = trajectory_of(cohorts, 3), trajectory([2, 0, 0], 3)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    weights = (squared_weights(one, F(1, 2), 3).tolist() for one in (cohorts, by_age([2, 0, 0], 3)))
    assert next(weights) == next(weights)


@pytest.mark.parametrize(("prior", "keep"), [(F(0), F(1)), (F(3, 2), F(1)), (F(1, 2), F(2, 3))])
def test_the_risk_of_added_information_is_the_mean_over_all_streams(prior, keep):
    """Samples of ±s around the optimum 0, two directions, an idle round first and one in between."""
    bought, h, s, start = [0, 1, 0, 2], [F(1, 2), F(3)], [F(2), F(1, 3)], [F(1), F(-4)]
    told = information_risk(
        bought, h=h, variance=[one**2 for one in s], start=[one**2 for one in start], prior=prior, keep=keep
    )
    risks = [F(0)] * (len(bought) + 1)
    for signs in product((1, -1), repeat=sum(bought)):
        for curvature, spread, first in zip(h, s, start, strict=True):
            stream, known, pull, model = iter(signs), F(0), F(0), first
            risks[0] += curvature * model**2 / 2
            for t, more in enumerate(bought, start=1):
                known, pull = keep * known, keep * pull
                for _ in range(more):
                    known, pull = known + curvature, pull + curvature * spread * next(stream)
                model = (prior * first + pull) / (prior + known) if prior + known else first
                risks[t] += curvature * model**2 / 2
    assert told.total.tolist() == [risk / 2 ** sum(bought) for risk in risks]
    floats = information_risk(
        bought, h=[0.5, 3.0], variance=[4.0, 1 / 9], start=[1.0, 16.0], prior=float(prior), keep=float(keep)
    )
    np.testing.assert_allclose(floats.total.astype(float), told.total.astype(float), rtol=1e-12)
