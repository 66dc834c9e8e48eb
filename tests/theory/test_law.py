"""The law of reuse is what quadratic losses do: every stream enumerated, every sample's weight counted."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy as sp

from theory import law
from theory.setting import SettingError

F = Fraction


def held_by_age(admissions, K):
    """Who is in memory in each round, sample by sample; samples are (client, number)."""
    rounds = len(admissions[0])
    return [
        [
            (m, j, i)
            for m, counts in enumerate(admissions)
            for j in range(max(t - K[m] + 1, 1), t + 1)
            for i in range(counts[j - 1])
        ]
        for t in range(1, rounds + 1)
    ]


def mean_square(memories, clients, h, eta, E, start):
    """E[(θ(t) - θ*)²], θ* = 0, over all streams of samples ±1: the algorithm itself, client by client, step by step."""
    samples = sorted({sample for memory in memories for sample in memory})
    totals = [F(0)] * (len(memories) + 1)
    for signs in product((1, -1), repeat=len(samples)):
        value, theta = dict(zip(samples, signs, strict=True)), F(start)
        totals[0] += theta**2
        for t, memory in enumerate(memories, start=1):
            moved = F(0)
            for m in range(clients):
                mine = [value[sample] for sample in memory if sample[0] == m]
                local = theta
                for _ in range(E if mine else 0):
                    local -= eta * h * (local - F(sum(mine), len(mine)))
                moved += F(len(mine), max(len(memory), 1)) * (local - theta)
            theta += moved
            totals[t] += theta**2
    return [total / 2 ** len(samples) for total in totals]


CASES = {
    "one client, K = 3, three steps": ([[1, 2, 1, 1, 1]], [3], 3),
    "two clients, two Ks": ([[1, 1, 1, 0], [2, 0, 0, 0]], [1, 4], 2),
    "bursts and rounds without admissions": ([[3, 0, 0, 2, 0]], [3], 1),
    "rounds without any sample": ([[0, 2, 0, 0, 1, 0]], [2], 2),
    "three clients": ([[1, 0, 1], [1, 1, 0], [0, 2, 0]], [1, 2, 3], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_the_mean_over_all_streams(name):
    admissions, K, E = CASES[name]
    h, eta, start, T = F(2, 3), F(3, 5), F(5, 2), len(admissions[0])
    expected = mean_square(held_by_age(admissions, K), len(K), h, eta, E, start)
    cohorts = law.by_age(admissions[0], K[0])
    for counts, kept in zip(admissions[1:], K[1:], strict=True):
        cohorts = cohorts + law.by_age(counts, kept)
    found = law.excess_risk(cohorts, T, h=[h], variance=[1], start=[start**2], eta=eta, E=E)
    assert found.total.tolist() == [h / 2 * square for square in expected]
    numbers = {"h": [float(h)], "variance": [1.0], "start": [float(start**2)], "eta": float(eta)}
    floats = law.excess_risk(cohorts, T, E=E, **numbers)
    assert np.allclose(floats.total, found.total.astype(float), rtol=1e-13, atol=1e-15)


def test_directions_add_up():
    cohorts = law.by_age([2, 1, 3, 1], 2)
    together = law.excess_risk(
        cohorts, 4, h=[F(1), F(1, 3)], variance=[F(2), F(5)], start=[F(1), F(4)], eta=F(1, 2)
    )
    alone = [
        law.excess_risk(cohorts, 4, h=[h], variance=[s], start=[d], eta=F(1, 2))
        for h, s, d in ((F(1), F(2), F(1)), (F(1, 3), F(5), F(4)))
    ]
    for name in ("noise", "transient"):
        assert getattr(together, name).tolist() == sum(getattr(one, name) for one in alone).tolist()


def test_a_memory_by_capacity_holds_the_newest_samples():
    rng = np.random.default_rng(0)
    for _ in range(60):
        counts, capacity = rng.integers(0, 6, rng.integers(1, 12)), int(rng.integers(1, 9))
        memory, life, number = [], {}, 0
        occupancy = []
        for t, count in enumerate(counts, start=1):
            fresh = list(range(number, number + min(count, capacity)))
            number += len(fresh)
            memory = (memory + fresh)[-capacity:]
            for sample in memory:
                life[sample] = (life.get(sample, (t,))[0], t)
            occupancy.append(len(memory))
        found = law.by_capacity(counts, capacity)
        T = len(counts)
        assert found.occupancy(T).tolist() == occupancy
        spans = zip(found.entered, found.left, found.count, strict=True)
        assert sorted((int(a), int(b)) for a, b, n in spans for _ in range(int(n))) == sorted(life.values())


@pytest.mark.parametrize(("a", "kind"), [(0.0, "age"), (0.999, "age"), (0.9, "capacity"), (-0.5, "capacity")])
def test_floats_follow_the_exact_recursion(a, kind):
    counts = np.random.default_rng(1).integers(0, 5, 60)
    counts[0] = 3
    cohorts = law.by_age(counts, 7) if kind == "age" else law.by_capacity(counts, 9)
    exact = law.squared_weights(cohorts, F(a), 60).astype(float)
    assert np.allclose(law.squared_weights(cohorts, a, 60), exact, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(("K", "a"), [(1, F(4, 5)), (2, F(0)), (3, F(-1, 3)), (7, F(1, 10))])
def test_the_stationary_noise_is_the_limit_of_the_law(K, a):
    T, rate = 60, 2
    last = law.squared_weights(law.by_age([rate] * T, K), a, T)[-1]
    assert abs(last - law.stationary_noise(a, K) / rate) <= F(2) * abs(a) ** (T - K)


def test_the_lag_sum_is_its_sum_for_symbols_too():
    a = sp.Symbol("a")
    for K in (1, 2, 5):
        plain = sum((K - d) * a**d for d in range(1, K))
        assert sp.simplify(law.lag_sum(a, K) - plain) == 0
        assert law.lag_sum(F(2, 7), K) == sum((K - d) * F(2, 7) ** d for d in range(1, K))


@pytest.mark.parametrize("K", [1, 3, 1000, 10**12])
@pytest.mark.parametrize("slow", [1e-1, 1e-4, 1e-8, 1e-15])
def test_floats_do_not_cancel_as_steps_become_small(K, slow):
    a = 1 - slow
    with mpmath.workdps(80):
        b = mpmath.mpf(a)
        lag = b * (K * (1 - b) - 1 + b**K) / (1 - b) ** 2
        expected = float((1 - b) / (1 + b) * (K + 2 * lag) / K**2)
    assert law.stationary_noise(a, K) == pytest.approx(expected, rel=2e-14)


def test_the_floor_weighs_directions_by_curvature_and_spread():
    h, spread, eta = [F(1, 2), F(2)], [F(3), F(1)], F(1, 4)
    noises = [
        s * x * law.stationary_noise(law.contraction(x, eta, 3), 4) for x, s in zip(h, spread, strict=True)
    ]
    assert law.noise_floor(10, 4, h=h, variance=spread, eta=eta, E=3) == sum(noises) / 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: law.by_age([1, -1], 2), "admissions"),
        (lambda: law.by_age([[1], [2]], 2), "a list of numbers"),
        (lambda: law.by_age([1, 2], 0), "K"),
        (lambda: law.by_capacity([1, 2], 0), "capacity"),
        (lambda: law.squared_weights(law.by_age([1], 1), 0.5, 0), "horizon"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()


def test_cohorts_beyond_the_horizon_do_not_count():
    cohorts = law.Cohorts(np.array([1, 5]), np.array([9, 9]), np.array([2, 3]))
    assert cohorts.occupancy(3).tolist() == [2, 2, 2]
    found, wanted = (
        law.squared_weights(one, F(1, 2), 3).tolist() for one in (cohorts, law.by_age([2, 0, 0], 3))
    )
    assert found == wanted
