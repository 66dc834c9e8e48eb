"""The claims about the law of reuse: their ground truth checked by hand, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from proofs_check.claim import Context
from proofs_check.claims.prediction import (
    best_k,
    clients,
    effective_rate,
    exact_law,
    finite_rounds,
    limits,
    retention,
)
from proofs_check.groundwork.prediction import lags, periods, streams
from tests.proofs_check.planted import claim_of, established, forgetting
from theory import clients as differing
from theory import design, law, stationary
from theory.algebra import ratio
from theory.setting import Budget

F = Fraction
MODULES = (exact_law, retention, limits, effective_rate, best_k, finite_rounds, clients)
WHERE = (*MODULES, lags, periods, streams, law, stationary, differing, design)
CACHED = (lags.sums, lags.lag_sums, lags.pairs, lags.product_does_not_fall, lags.noise_falls)


fresh = forgetting(CACHED)


def _claim(label):
    return claim_of(MODULES, label)


# --- the ground truth --------------------------------------------------------------------------------------


def test_a_sample_has_the_stated_mean_and_the_axes_are_those_of_a_rotation():
    assert (F(3, 4), F(1, 4)) == streams.MEAN
    (a, b), (c, d) = streams.AXES
    assert (a * a + b * b, c * c + d * d, a * c + b * d) == (1, 1, 0)
    assert sum(streams.CHANCES) == 1


def test_one_step_from_one_sample_by_hand():
    problem = streams.Quadratic(h=(F(1), F(1)), eta=F(1, 2), E=1, start=(F(0), F(0)))
    first, second = problem.mean_excess([((0, 0),)])
    assert first == (F(3, 4) ** 2 + F(1, 4) ** 2) / 2
    halves = [(x / 2 - F(3, 4), y / 2 - F(1, 4)) for x, y in streams.VALUES]
    assert second == sum(p * (x * x + y * y) / 2 for p, (x, y) in zip(streams.CHANCES, halves, strict=True))


def test_local_steps_are_taken_client_by_client():
    problem = replace(exact_law.PROBLEM, E=3)
    together = problem.mean_excess([((0, 0), (0, 1))])
    apart = problem.mean_excess([((0, 0), (1, 1))])
    assert together == apart  # the split does not matter for one Hessian


def test_a_client_drops_its_own_oldest_samples():
    assert streams.kept_by_capacity([[2, 1], [1, 0], [0, 5]], 2) == [
        ((0, 0), (0, 1), (1, 2)),
        ((0, 1), (0, 3), (1, 2)),
        ((0, 1), (0, 3), (1, 4), (1, 5)),
    ]


@pytest.mark.parametrize(("admissions", "K"), periods.PATTERNS)
def test_the_noise_in_the_long_run_is_where_the_law_ends(admissions, K):
    a, T = F(2, 3), 24 * len(admissions)
    counts = list(admissions) * (T // len(admissions))
    noise = law.squared_weights(law.by_age(counts, K), a, T)
    for phase in range(len(admissions)):
        end = T - len(admissions) + phase + 1
        found = periods.noise_in_the_long_run(admissions, K, a, phase)
        assert abs(noise[end] - found) <= 50 * a ** (2 * (T - 20))


# --- planted errors ----------------------------------------------------------------------------------------

EXACT, RETENTION, LIMITS = "law:reuse", "law:reuse/retention", "law:reuse/limits"
SMALL, RATE, BEST, FINITE, CLIENTS = (
    f"law:reuse/{name}" for name in ("small-steps", "effective-rate", "best-k", "finite", "clients")
)


def _off_by_a_round(cohorts, a, rounds):
    return np.roll(REAL["squared_weights"](cohorts, a, rounds), 1)


def _by_count(admissions, K):
    """The paper's: every sample's uses, whatever the size of the memory."""
    return F(len(admissions), sum(admissions))


# name: (function, what stands in its place, the claim that must notice)
PLANTS = {
    "contraction, E-1 steps": (
        "contraction",
        lambda h, eta, E: REAL["contraction"](h, eta, E - 1),
        EXACT,
    ),
    "contraction, no η": ("contraction", lambda h, eta, E: (1 - h) ** E, EXACT),
    "weights, a round late": ("squared_weights", _off_by_a_round, EXACT),
    "weights, a factor": (
        "squared_weights",
        lambda cohorts, a, rounds: 2 * REAL["squared_weights"](cohorts, a, rounds),
        EXACT,
    ),
    "retention, a round more": ("by_age", lambda counts, K: REAL["by_age"](counts, K + 1), EXACT),
    "capacity, one more": ("by_capacity", lambda counts, size: REAL["by_capacity"](counts, size + 1), EXACT),
    "risk, no half": (
        "excess_risk",
        lambda cohorts, T, **rest: REAL["excess_risk"](
            cohorts, T, **{**rest, "start": [2 * d for d in rest["start"]]}
        ),
        EXACT,
    ),
    "lags, one too many": ("lag_sum", lambda a, K: REAL["lag_sum"](a, K + 1), RETENTION),
    "noise, K for K²": (
        "stationary_noise",
        lambda a, K: ratio((1 - a) * (K + 2 * REAL["lag_sum"](a, K)), (1 + a) * K),
        RETENTION,
    ),
    "noise, pairs once": (
        "stationary_noise",
        lambda a, K: ratio((1 - a) * (K + REAL["lag_sum"](a, K)), (1 + a) * K * K),
        LIMITS,
    ),
    "noise, of one round": ("stationary_noise", lambda a, K: ratio(1 - a, 1 + a), LIMITS),
    "mean lag, a third of K": ("mean_lag", lambda K: ratio(K, 3), LIMITS),
    "small steps, a half": (
        "small_step_floor",
        lambda *arguments, **rest: 2 * REAL["small_step_floor"](*arguments, **rest),
        SMALL,
    ),
    "small steps, h once": (
        "small_step_floor",
        lambda inverse, *, h, variance, eta, E=1: ratio(
            eta * E * inverse * sum(x * s for x, s in zip(h, variance, strict=True)), 4
        ),
        SMALL,
    ),
    "effective rate, counts": ("inverse_effective_rate", _by_count, RATE),
    "effective rate, a round more": (
        "inverse_effective_rate",
        lambda admissions, K: REAL["inverse_effective_rate"](admissions, K + 1),
        RATE,
    ),
    "total weights, shifted": (
        "total_weights",
        lambda admissions, K: [u + 1 for u in REAL["total_weights"](admissions, K)],
        SMALL,
    ),
    "total weights, one cycle for all": (
        "inverse_effective_rate",
        lambda admissions, K: REAL["inverse_effective_rate"](
            admissions, K if len(admissions) > K else len(admissions) + K % len(admissions)
        ),
        RATE,
    ),
    "best K, the ceiling always": (
        "best_retention",
        lambda budget, **rest: (
            max(-(-design.fill_ratio(budget) // 1), 1),
            design.best_rate(int(max(-(-design.fill_ratio(budget) // 1), 1)), budget),
        ),
        BEST,
    ),
    "best K, the floor always": (
        "best_retention",
        lambda budget, **rest: (
            int(max(design.fill_ratio(budget) // 1, 1)),
            design.best_rate(int(max(design.fill_ratio(budget) // 1, 1)), budget),
        ),
        BEST,
    ),
    "best rate, the buffers alone": (
        "best_rate",
        lambda K, budget: ratio(budget.total_buffer, K),
        BEST,
    ),
    "finite form, a round late": (
        "full_memory_noise",
        lambda a, K, t: REAL["full_memory_noise"](a, K, t + 1),
        FINITE,
    ),
    "finite form, stationary at once": (
        "full_memory_noise",
        lambda a, K, t: REAL["stationary_noise"](a, K),
        FINITE,
    ),
    "start-up, a factor of a": (
        "start_up_bound",
        lambda a, K, t: a * REAL["start_up_bound"](a, K, t),
        FINITE,
    ),
    "bias, the other way": (
        "pooled_bias",
        lambda shares, population, means: REAL["pooled_bias"](population, shares, means),
        CLIENTS,
    ),
    "pooled spread, of one size": (
        "pooled_spread",
        lambda shares, variances: REAL["pooled_spread"]([1] * len(shares), variances),
        CLIENTS,
    ),
    "weighted spread, α once": (
        "weighted_spread",
        lambda shares, population, variances: REAL["pooled_spread"](population, variances),
        CLIENTS,
    ),
    "least spread, of variances": (
        "least_spread",
        lambda population, deviations: REAL["least_spread"](population, [s * s for s in deviations]),
        CLIENTS,
    ),
}
ALL = {**vars(law), **vars(stationary), **vars(differing), "best_rate": design.best_rate}
REAL = {name: ALL[name] for name, _, _ in PLANTS.values()}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_takes_the_verdict_away(name, monkeypatch, fresh):
    function, planted, label = PLANTS[name]
    for module in WHERE:
        if hasattr(module, function):
            monkeypatch.setattr(module, function, planted)
    assert not established(_claim(label))


# --- what a single check must notice -----------------------------------------------------------------------


def test_a_lower_end_that_is_too_high_is_left_by_the_noise(monkeypatch):
    monkeypatch.setattr(effective_rate, "lower_end", lambda a, K, p: F(51, 100))
    assert effective_rate.within_the_ends(Context()).outcome == "fails"
    monkeypatch.setattr(effective_rate, "lower_end", lambda a, K, p: 1 - a)
    assert effective_rate.both_ends().outcome != "holds"


def test_an_example_that_tells_nothing_apart_shows_nothing(monkeypatch):
    monkeypatch.setattr(effective_rate, "UNEVEN", (2, 2))
    assert effective_rate.counts_mislead().outcome == "open"


def test_K_times_the_noise_falls_where_steps_overshoot():
    a = F(-1, 2)
    assert 2 * law.stationary_noise(a, 2) < law.stationary_noise(a, 1)


def test_a_sum_over_lags_without_its_first_term_is_seen(monkeypatch, fresh):
    a = lags.a
    monkeypatch.setattr(lags, "geometric", lambda last: (1 - a**last) / (1 - a) - 1)
    assert lags.sums().outcome == "fails"


def test_small_steps_want_the_floor_of_x_and_large_ones_its_ceiling():
    budget = Budget(buffers=(7,), cost=2, mean_cost=1)
    h, variance = [F(1)], [F(1)]
    found = [
        stationary.best_retention(budget, h=h, variance=variance, eta=eta)[0] for eta in (F(1, 100), F(1))
    ]
    assert found == [3, 4]
    assert sp.floor(design.fill_ratio(budget)) == 3
