"""A moving optimum in floats, over many rounds; searches; and what is refused."""

from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest

from tests.refused import refused
from theory.drift.long_run import (
    best_drifting_retention,
    best_drifting_step,
    best_drifting_window,
    burst_tracking_risk,
    drift_floor,
    freshness_drift,
    freshness_drift_random,
    indifferent_drift,
    tracking_step,
)
from theory.drift.moving_optimum import path_bias, walk_lag
from theory.drift.retention import best_drifting_mean, drift_design, smoothed_floor
from theory.law.averaging import latest, over_rounds
from theory.law.quadratic import by_age
from theory.setting import Budget


@pytest.mark.parametrize("floor", [drift_floor, partial(smoothed_floor, keep=0.9)])
def test_many_directions_at_once_have_what_they_have_one_by_one(floor):
    """Next to 1, above one half and below it."""
    rows = [(1e-9, 1e6, 0.0), (0.1, 2.0, 1.0), (0.4, 3.0, 2.0), (0.5, 0.0, 3.0), (0.9, 1.0, 1e-3)]
    for directions in [*([row] for row in rows), rows]:
        columns = dict(zip(("h", "variance", "walk"), zip(*directions, strict=True), strict=True))
        alone = floor(rate=2.0, K=7, eta=1.0, **columns)
        arrays = {name: np.array(values) for name, values in columns.items()}
        assert float(floor(rate=2.0, K=7, eta=1.0, **arrays)) == pytest.approx(float(alone), rel=1e-13, abs=0)


def test_little_drift_keeps_its_digits():
    assert float(tracking_step(1.0, 1e-20)) == pytest.approx(1e-10, rel=1e-9)
    assert float(burst_tracking_risk(1.0, 1e-20, 3)) == pytest.approx(1e-10, rel=1e-9)


HALF_STEP = {"h": [1], "variance": [1], "eta": F(1, 2)}
ONE = {"h": [2.0], "variance": [6.0], "walk": [3.0]}
TWO = {"h": [1.0, 0.1], "variance": [1.0, 2.0], "walk": [1e-3, 1e-2]}


def test_the_best_step_is_the_closed_one_where_there_is_one_and_else_no_other_is_better():
    assert best_drifting_step(1, **ONE) == pytest.approx(float(tracking_step(6.0, 3.0)) / 2, rel=1e-6)
    assert best_drifting_step(4, **ONE) == pytest.approx(float(tracking_step(1.5, 3.0)) / 2, rel=1e-6)
    for problem in (TWO, {**TWO, "slope": [0.1, 0.0]}, {**TWO, "E": 5, "K": 3}):
        eta, K = best_drifting_step(10, **problem), problem.get("K", 1)
        fixed = {name: value for name, value in problem.items() if name != "K"}
        tried = np.exp(np.linspace(np.log(1e-4), 0, 3000))
        least = min(drift_floor(10, K, **fixed, eta=one) for one in tried)
        assert drift_floor(10, K, **fixed, eta=eta) <= least


def test_the_largest_step_may_be_the_best():
    assert best_drifting_step(1, h=[1], variance=[1], walk=[1e6], K=3) == pytest.approx(1, rel=1e-3)
    both = {"h": [2, 0.1], "variance": [1, 1], "walk": [1e-3, 1e6]}
    assert best_drifting_step(1, **both) == pytest.approx(0.5, rel=1e-3)


def test_retention_falls_with_a_slope_and_its_rate_is_the_budget_s():
    """That it falls with drift, and is the best of all, is for the claims."""
    budget = Budget(buffers=(13, 12), cost=4, mean_cost=1)
    assert best_drifting_retention(budget, **HALF_STEP, walk=[0]) == (7, F(25, 7))
    nearly_two = Budget(buffers=(F(41, 2),), cost=10, mean_cost=1)
    assert best_drifting_retention(nearly_two, **HALF_STEP, walk=[0]) == (2, 10)
    K, rate = best_drifting_retention(budget, **HALF_STEP, walk=[0], slope=[F(1, 10)])
    assert 1 <= K < 7
    assert rate == min(F(25, K), 4)
    assert best_drifting_retention(Budget(buffers=(1,), cost=4, mean_cost=1), **HALF_STEP, walk=[1]) == (1, 1)


def test_a_slope_shortens_the_best_window_and_of_two_that_are_alike_the_shorter_is_best():
    assert best_drifting_window(1, **HALF_STEP, walk=[0], slope=[-1]) < 3
    assert best_drifting_window(1, **HALF_STEP, walk=[indifferent_drift(F(1, 2), 5, 1, 4, 1)]) == 4


GOOD = {"h": [1], "variance": [1], "walk": [1]}
STEP = partial(best_drifting_step, 1)
WINDOW = partial(best_drifting_window, 1, eta=F(1, 2))
RETENTION = partial(best_drifting_retention, Budget(buffers=(2,), cost=1, mean_cost=1), eta=F(1, 2))


@pytest.mark.parametrize("search", [STEP, WINDOW, RETENTION], ids=["step", "window", "retention"])
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"h": [1, 2]}, "of one length, got 2 and 1 and 1"),
        ({"slope": []}, "of one length, got 1 and 1 and 1 and 0"),
        ({"h": [], "variance": [], "walk": []}, "must not be empty"),
        ({"h": [0]}, "an eigenvalue must be a positive finite number, got 0"),
        ({"variance": [-1]}, "variances must be finite numbers of at least 0, got -1"),
        ({"walk": [-1]}, "variances of the walk must be finite numbers of at least 0, got -1"),
    ],
)
def test_a_search_wants_a_number_for_each_direction(search, wrong, sentence):
    assert sentence in refused(search, **{**GOOD, **wrong})


LAST = over_rounds(latest, 2)
BIAS = partial(path_bias, by_age([1, 1], 1), 2, F(1, 2), LAST)


def test_what_cannot_be_answered_is_refused():
    for call, sentence in (
        (partial(BIAS, path=[[0], [1]], first=[0]), "3 rows of 1 numbers"),
        (partial(BIAS, path=[[0], [1], [2]], first=[0, 0]), "3 rows of 1 numbers"),
        (partial(walk_lag, by_age([1, 1], 1), 2, F(1, 2), LAST[:2]), "a share for each of 3 models"),
        (partial(WINDOW, **{**GOOD, "walk": [0]}), "walk or slope must be above 0"),
        (partial(STEP, **{**GOOD, "walk": [0]}), "walk or slope must be larger"),
        (partial(WINDOW, **GOOD | {"eta": F(3, 2)}), "steps overshoot"),
        (partial(RETENTION, **GOOD | {"eta": F(3, 2)}), "steps overshoot"),
        (partial(best_drifting_step, 0, **GOOD), "the admission rate must be"),
        (partial(best_drifting_window, 0, **GOOD, eta=F(1, 2)), "the admission rate must be"),
        (partial(STEP, **GOOD, E=0), "E must be a positive"),
        (partial(tracking_step, 1, 0), "the drift must be above 0"),
        (partial(indifferent_drift, F(1, 2), 3, 1, 3, 2), "two retentions must differ"),
        (partial(freshness_drift, 3, 1, 1), "at least 2 rounds apart, got a period of 1"),
        (partial(freshness_drift_random, 3, 1, 0), "between 0 and 1, got 0"),
        (partial(freshness_drift_random, 3, 1, 1.0), "between 0 and 1, got 1.0"),
        (partial(freshness_drift_random, 0, 0, F(1, 2)), "nothing to wait for"),
    ):
        assert sentence in refused(call)


def test_no_slope_is_none_and_not_an_empty_one():
    problem = {"h": [1.0], "variance": [1.0], "walk": [1.0], "eta": 0.5}
    assert drift_floor(1, 2, **problem) == drift_floor(1, 2, **problem, slope=np.zeros(1))
    assert best_drifting_window(1, **problem) == best_drifting_window(1, **problem, slope=np.zeros(1))
    with pytest.raises(ValueError, match="zip"):
        drift_floor(1, 2, **problem, slope=[])


def test_a_mean_that_forgets_at_once_is_the_last_model_and_a_slow_drift_wants_a_long_one():
    problem = {"h": [1, 2], "variance": [3, 1], "walk": [1, 0]}
    for K in (1, 3):
        assert smoothed_floor(2, F(0), K, **problem, eta=F(1, 4)) == drift_floor(2, K, **problem, eta=F(1, 4))
    slow = best_drifting_mean(1, h=[1], variance=[1], walk=[1e-16], eta=1)
    assert 1 / (1 - slow) == pytest.approx(1e8, rel=1e-6)


def test_a_design_says_what_corollary_2_would_do_where_that_is_something_else():
    for buffer, walk, found in (
        (20, 0.01, [("this step", 1), ("this step, Corollary 2's K", 2), ("this step, a mean of models", 1)]),
        (20, 1e-9, [("this step", 2), ("this step, a mean of models", 1)]),
        (20.5, 0, [("this step", 2), ("this step, Corollary 2's K", 3)]),
        (29.5, 0, [("this step", 3)]),
        (10, 0, [("this step", 1)]),
        (29.5, 1e-9, [("this step", 3), ("this step, a mean of models", 1)]),
    ):
        budget = Budget(buffers=(buffer,), cost=10, mean_cost=1)
        choices = drift_design(budget, h=[1], variance=[1], walk=[walk], eta=0.3)
        assert [(one.name, one.K) for one in choices if one.name.startswith("this")] == found
        for one in (each for each in choices if each.window):  # with the rate of its own K
            keep = best_drifting_mean(10, h=[1], variance=[1], walk=[walk], eta=0.3)
            assert (one.rate, one.window) == (10, pytest.approx(1 / (1 - keep)))
        still = drift_design(budget, h=[1, 2], variance=[1, 1], walk=[0.01, 0])
        assert (still[0].name, still[0].K) == ("the best step", 1)


def test_every_choice_has_the_risk_of_its_own_numbers():
    budget, problem = Budget(buffers=(200,), cost=10, mean_cost=1), {**TWO, "E": 3}
    choices = drift_design(budget, **problem, eta=0.3)
    assert len(choices) == 5
    for one in choices:
        floor = partial(smoothed_floor, keep=1 - 1 / one.window) if one.window else drift_floor
        assert one.risk == pytest.approx(float(floor(one.rate, K=one.K, **problem, eta=one.eta)))


def test_corollary_2_s_k_is_the_best_where_one_direction_hardly_walks_and_is_steep():
    budget = Budget(buffers=(100,), cost=55, mean_cost=5.5)
    (only,) = drift_design(budget, h=[1, 1000], variance=[1, 1], walk=[1, 0])
    assert (only.name, only.K, only.rate) == ("the best step", 10, 10)
