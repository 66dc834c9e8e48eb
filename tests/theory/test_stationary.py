"""Steady admission: closed forms against the law itself, sample by sample weights, and floats against many digits."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from theory import stationary
from theory.law import Cohorts, by_age, noise_floor, squared_weights
from theory.setting import Budget, SettingError

F = Fraction


def full_from_the_start(K, rounds):
    """K cohorts in round 1, the oldest of which leaves after it, and one more in each later round."""
    entered = np.array([1] * K + list(range(2, rounds + 1)))
    left = np.array([*range(1, K + 1), *range(K + 1, K + rounds)])
    return Cohorts(entered, left, np.ones(len(entered), dtype=int))


@pytest.mark.parametrize("K", [1, 2, 3, 6])
@pytest.mark.parametrize("a", [F(0), F(1, 10), F(4, 5), F(-1, 3)])
def test_the_finite_form_is_the_law_of_a_memory_that_is_full_from_the_start(a, K):
    expected = squared_weights(full_from_the_start(K, 14), a, 14).tolist()
    assert [stationary.full_memory_noise(a, K, t) for t in range(15)] == expected


@pytest.mark.parametrize("K", [1, 3, 1000, 10**12])
@pytest.mark.parametrize("slow", [0.7, 0.3, 1e-4, 1e-8, 1e-15])
def test_floats_of_the_finite_form_do_not_cancel(K, slow):
    a = 1 - slow
    for t in (1, 2, 3, 9, 11, 999, 1000, 1001, 10**6, 10**9, 10**15):
        with mpmath.workdps(120):
            expected = float(stationary.full_memory_noise(mpmath.mpf(a), K, t))
        assert stationary.full_memory_noise(a, K, t) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("K", [1, 2, 3, 6])
@pytest.mark.parametrize("a", [F(0), F(1, 10), F(4, 5), F(99, 100)])
def test_a_memory_that_begins_empty_has_more_noise_but_not_much(a, K):
    empty = squared_weights(by_age([1] * 20, K), a, 20)
    for t in range(1, 21):
        full = stationary.full_memory_noise(a, K, t)
        assert empty[t] >= full
        with mpmath.workdps(50):
            roots = [mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator) for x in (F(empty[t]), F(full))]
            bound = stationary.start_up_bound(a, K, t)
            assert roots[0] - roots[1] <= mpmath.mpf(bound.numerator) / bound.denominator


@pytest.mark.parametrize("K", [1, 2, 3, 8])
def test_the_mean_lag_is_that_of_all_pairs(K):
    lags = [abs(i - j) for i, j in product(range(K), repeat=2)]
    assert stationary.mean_lag(K) == F(sum(lags), K * K)


@pytest.mark.parametrize(
    ("S", "C", "eta"), [(1, 60, F(1, 5)), (7, 4, F(1, 100)), (20, 1, F(1, 2)), (20, 10, F(1, 5))]
)
def test_no_other_K_has_a_lower_floor(S, C, eta):
    budget = Budget(buffers=(S,), cost=C, mean_cost=F(3, 2))
    h, spread = [F(2), F(1, 3)], [F(1), F(5)]
    K, rate = stationary.best_retention(budget, h=h, variance=spread, eta=eta, E=2)

    def floor(k, pace):
        return noise_floor(pace, k, h=h, variance=spread, eta=eta, E=2)

    affordable = F(budget.cost) / budget.mean_cost
    every = [floor(k, min(F(budget.total_buffer, k), affordable)) for k in range(1, 50)]
    assert floor(K, rate) == min(every)
    assert rate <= affordable
    assert K * rate <= budget.total_buffer
    x = budget.mean_cost * budget.total_buffer / budget.cost
    assert K in (max(math.floor(x), 1), math.ceil(x))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stationary.total_weights([1, 0, 0], 2), "no sample in memory"),
        (lambda: stationary.total_weights([1, -1], 2), "admissions"),
        (lambda: stationary.inverse_effective_rate([], 2), "empty"),
        (lambda: stationary.inverse_effective_rate([1], F(1, 2)), "K"),
        (
            lambda: stationary.best_retention(
                Budget(buffers=(2,), cost=1, mean_cost=1), h=[2], variance=[1], eta=F(3, 4)
            ),
            "overshoot",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()
