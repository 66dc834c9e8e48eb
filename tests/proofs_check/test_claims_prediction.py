"""The claims about the law of reuse: their ground truth checked by hand, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import pytest

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
CACHED = (lags.sums, lags.lag_sums, lags.pairs, lags.product_rises, lags.noise_falls)


fresh = forgetting(CACHED)


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
def test_the_long_run_noise_is_where_the_law_ends(admissions, K):
    a, T = F(2, 3), 24 * len(admissions)
    counts = list(admissions) * (T // len(admissions))
    noise = law.squared_weights(law.by_age(counts, K), a, T)
    for phase in range(len(admissions)):
        end = T - len(admissions) + phase + 1
        found = periods.long_run_noise(admissions, K, a, phase)
        assert abs(noise[end] - found) <= 50 * a ** (2 * (T - 20))


BIAS = differing.pooled_bias

# where a claim is quick; benchmarks.mutants plants many more: function, what stands in its place
PLANTS = {
    "law:reuse": ("contraction", lambda h, eta, E: (1 - h) ** E),
    "law:reuse/retention": (
        "stationary_noise",
        lambda a, K: ratio((1 - a) * (K + 2 * law.lag_sum(a, K)), (1 + a) * K),
    ),
    "law:reuse/limits": (
        "stationary_noise",
        lambda a, K: ratio((1 - a) * (K + law.lag_sum(a, K)), (1 + a) * K * K),
    ),
    "law:reuse/best-k": ("best_rate", lambda K, budget: ratio(budget.total_buffer, K)),
    "law:reuse/finite": ("full_memory_noise", lambda a, K, t: law.stationary_noise(a, K)),
    "law:reuse/clients": ("pooled_bias", lambda *arguments: -BIAS(*arguments)),
}


@pytest.mark.parametrize("label", PLANTS)
def test_a_planted_error_takes_the_verdict_away(label, monkeypatch, fresh):
    function, planted = PLANTS[label]
    for module in WHERE:
        if hasattr(module, function):
            monkeypatch.setattr(module, function, planted)
    assert not established(claim_of(MODULES, label))


def test_an_end_that_tends_elsewhere_is_seen(monkeypatch):
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
    assert design.fill_ratio(budget) // 1 == 3
