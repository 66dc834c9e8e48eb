"""Steady admission: closed forms against the law itself, sample by sample weights, and floats against many digits."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy as sp

from theory.law import Cohorts, by_age, by_capacity, noise_floor, squared_weights, stationary_noise
from theory.reuse import effective_sample_size
from theory.setting import Budget, SettingError
from theory.stationary import (
    best_retention,
    full_memory_noise,
    inverse_effective_rate,
    mean_lag,
    small_step_floor,
    start_up_bound,
    total_weights,
)

F = Fraction
CONTRACTIONS = [F(0), F(1, 10), F(4, 5), F(-1, 3)]


def full_from_the_start(K, rounds):
    """K cohorts in round 1, the oldest of which leaves after it, and one more in each later round."""
    entered = np.array([1] * K + list(range(2, rounds + 1)))
    left = np.array([*range(1, K + 1), *range(K + 1, K + rounds)])
    return Cohorts(entered, left, np.ones(len(entered), dtype=int))


# --- after t rounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 3, 6])
@pytest.mark.parametrize("a", CONTRACTIONS)
def test_the_finite_form_is_the_law_of_a_memory_that_is_full_from_the_start(a, K):
    expected = squared_weights(full_from_the_start(K, 14), a, 14).tolist()
    assert [full_memory_noise(a, K, t) for t in range(15)] == expected


def test_the_finite_form_holds_for_symbols():
    a = sp.Symbol("a")
    expected = squared_weights(full_from_the_start(3, 5), a, 5)
    for t in range(1, 6):
        assert sp.cancel(full_memory_noise(a, 3, t) - expected[t]) == 0


@pytest.mark.parametrize("K", [1, 2, 3, 10, 1000, 10**6, 10**12])
@pytest.mark.parametrize("slow", [0.7, 0.5, 0.3, 1e-1, 1e-4, 1e-8, 1e-12, 1e-15])
def test_floats_of_the_finite_form_do_not_cancel(K, slow):
    a = 1 - slow
    for t in (1, 2, 3, 9, 11, 999, 1000, 1001, 10**6, 10**9, 10**15):
        with mpmath.workdps(120):
            expected = float(full_memory_noise(mpmath.mpf(a), K, t))
        assert full_memory_noise(a, K, t) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("K", [1, 2, 3, 6])
@pytest.mark.parametrize("a", [F(0), F(1, 10), F(4, 5), F(99, 100)])
def test_a_memory_that_begins_empty_has_more_noise_but_not_much(a, K):
    empty = squared_weights(by_age([1] * 20, K), a, 20)
    for t in range(1, 21):
        full = full_memory_noise(a, K, t)
        assert empty[t] >= full
        with mpmath.workdps(50):
            roots = [mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator) for x in (F(empty[t]), F(full))]
            bound = start_up_bound(a, K, t)
            assert roots[0] - roots[1] <= mpmath.mpf(bound.numerator) / bound.denominator


# --- small steps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 3, 8])
def test_the_mean_lag_is_that_of_all_pairs(K):
    lags = [abs(i - j) for i, j in product(range(K), repeat=2)]
    assert mean_lag(K) == F(sum(lags), K * K)


@pytest.mark.parametrize("K", [1, 2, 5, 100])
def test_K_enters_at_second_order_by_the_mean_lag(K):
    small = F(1, 10**12)
    second = (stationary_noise(1 - small, K) - small / 2) / small**2
    assert abs(second - (F(1, 4) - mean_lag(K) / 2)) <= 10 * K * K * small


PATTERNS = [
    ([5], 3),
    ([1, 3], 1),
    ([1, 3], 2),
    ([1, 3], 3),
    ([1, 3], 5),
    ([1, 0, 4], 8),
    ([4, 0, 1], 2),
    ([2, 5, 1, 1], 7),
    ([0, 6, 0], 3),
]


def weights_of_rounds(admissions, K, cycles):
    """Σω² after some cycles, and the effective sample size of the counts, both sample by sample."""
    T = cycles * len(admissions)
    counts = [admissions[(j - 1) % len(admissions)] for j in range(1, T + 1)]
    occupancy = by_age(counts, K).occupancy(T)
    weighed, uses = F(0), []
    for j, admitted in enumerate(counts, start=1):
        rounds = range(j, min(j + K - 1, T) + 1)
        weighed += admitted * sum(F(1, int(occupancy[t - 1])) for t in rounds) ** 2
        uses += [len(rounds)] * admitted
    return weighed / T**2, effective_sample_size(uses), T


@pytest.mark.parametrize(("admissions", "K"), PATTERNS)
def test_the_effective_rate_is_that_of_the_weights_and_not_of_the_counts(admissions, K):
    rate = F(sum(admissions), len(admissions))
    by_weight = inverse_effective_rate(admissions, K)
    if admissions[0] == 0:  # a window of zeros at the start: the weights are those of rounds with samples
        admissions = [*admissions[1:], admissions[0]]
    squares, counted, T = weights_of_rounds(admissions, K, 60)
    assert abs(T * squares - by_weight) <= F(20 * K, T)
    assert abs(T / counted - 1 / rate) <= F(20 * K, T)
    assert by_weight >= 1 / rate
    same = (
        len({u for u, admitted in zip(total_weights(admissions, K), admissions, strict=True) if admitted})
        == 1
    )
    assert (by_weight == 1 / rate) == same


@pytest.mark.parametrize(("admissions", "K"), PATTERNS)
def test_small_steps_see_the_effective_rate(admissions, K):
    small, period = 1e-4, len(admissions)
    T = 15 * 10**4 // period * period
    counts = np.tile(admissions, T // period)
    noise = squared_weights(by_age(counts, K), 1 - small, T)[-period:].mean()
    assert noise / small == pytest.approx(float(inverse_effective_rate(admissions, K)) / 2, rel=1e-3)


def test_a_full_memory_by_capacity_has_the_effective_size_of_its_counts():
    counts, capacity, T, small = [5, 1, 0, 2], 6, 4 * 10**5, 5e-5
    cohorts = by_capacity(counts * (T // 4), capacity)
    steady = slice(100, -100)  # away from both ends
    lives = (cohorts.left - cohorts.entered + 1)[steady]
    n = cohorts.count[steady]
    rounds = (lives * n).sum() / capacity
    counted = rounds * (n * lives**2).sum() / (n * lives).sum() ** 2
    noise = squared_weights(cohorts, 1 - small, T)[-4:].mean()
    assert noise / small == pytest.approx(counted / 2, rel=1e-3)


def test_the_floor_of_small_steps_is_the_limit_of_the_floor():
    h, spread, eta = [F(1, 2), F(2)], [F(3), F(1)], F(1, 10**9)
    for K, E in ((1, 1), (4, 3), (30, 2)):
        exact = noise_floor(10, K, h=h, variance=spread, eta=eta, E=E)
        assert small_step_floor(F(1, 10), h=h, variance=spread, eta=eta, E=E) / exact == pytest.approx(
            1, abs=1e-6
        )


# --- which K -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [F(1, 100), F(1, 5), F(1, 2)])
@pytest.mark.parametrize(
    "budget",
    [Budget(buffers=(S,), cost=C, mean_cost=F(3, 2)) for S in (1, 7, 20) for C in (1, 4, 10, 60)],
)
def test_no_other_K_has_a_lower_floor(budget, eta):
    h, spread = [F(2), F(1, 3)], [F(1), F(5)]
    K, rate = best_retention(budget, h=h, variance=spread, eta=eta, E=2)

    def floor(k, pace):
        return noise_floor(pace, k, h=h, variance=spread, eta=eta, E=2)

    affordable = F(budget.cost) / budget.mean_cost
    every = [floor(k, min(F(budget.total_buffer, k), affordable)) for k in range(1, 80)]
    assert floor(K, rate) == min(every)
    assert rate <= affordable
    assert K * rate <= budget.total_buffer
    x = budget.mean_cost * budget.total_buffer / budget.cost
    assert K in (max(math.floor(x), 1), math.ceil(x))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: total_weights([1, 0, 0], 2), "no sample in memory"),
        (lambda: total_weights([1, -1], 2), "admissions"),
        (lambda: inverse_effective_rate([], 2), "empty"),
        (lambda: inverse_effective_rate([1], F(1, 2)), "K"),
        (
            lambda: best_retention(
                Budget(buffers=(2,), cost=1, mean_cost=1), h=[2], variance=[1], eta=F(3, 4)
            ),
            "overshoot",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()
