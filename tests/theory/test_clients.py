"""Clients that differ: bias and spread by hand and by every stream, and the shares that cost least."""

from fractions import Fraction
from itertools import product

import pytest

from theory import clients
from theory.setting import SettingError

F = Fraction


def moments(weights, means, deviations, n):
    """Mean and variance of Σw_m·z̄_m over all streams of samples μ_m ± s_m."""
    values = []
    for signs in product((1, -1), repeat=sum(n)):
        at, total = 0, F(0)
        for w, mean, s, count in zip(weights, means, deviations, n, strict=True):
            total += w * (mean + s * F(sum(signs[at : at + count]), count))
            at += count
        values.append(total)
    middle = sum(values) / len(values)
    return middle, sum((v - middle) ** 2 for v in values) / len(values)


@pytest.mark.parametrize("n", [(1, 3), (2, 2), (4, 1), (1, 1, 2)])
def test_bias_and_spread_are_those_of_the_mean_that_is_learned(n):
    population = [F(1, 2), F(1, 3), F(1, 6)][: len(n)]
    population = [q / sum(population) for q in population]
    means, deviations = [F(2), F(-1), F(5)][: len(n)], [F(1), F(3), F(1, 2)][: len(n)]
    target = sum(q * mean for q, mean in zip(population, means, strict=True))
    variances = [s * s for s in deviations]
    middle, variance = moments([F(k, sum(n)) for k in n], means, deviations, n)
    assert clients.pooled_bias(n, population, means) == middle - target
    assert clients.pooled_spread(n, variances) == variance * sum(n)
    middle, variance = moments(population, means, deviations, n)
    assert middle == target
    assert clients.weighted_spread(n, population, variances) == variance * sum(n)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clients.weighted_spread([1, 0], [1, 1], [1, 1]), "without samples"),
        (lambda: clients.pooled_spread([0, 0], [1, 1]), "all be zero"),
        (lambda: clients.pooled_bias([1, 1], [1, 1], [1]), "of one length"),
        (lambda: clients.least_spread([1, -1], [1, 1]), "shares"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()


def test_one_step_leads_to_the_optimum_and_many_to_the_clients_own():
    shares, h, means, eta = [1, 2, 3], [F(1), F(1, 2), F(1, 5)], [F(1), F(4), F(-2)], F(1, 2)
    goals = [clients.own_goal(shares, [(1 - eta * x) ** E for x in h], means) for E in (1, 2, 400)]
    assert goals[0] == clients.own_optimum(shares, h, means) != goals[1]
    assert float(goals[2]) == pytest.approx(
        float(clients.pooled_bias(shares, shares, means) + F(3, 6)), abs=1e-9
    )


def test_with_one_curvature_goal_and_spread_are_the_pooled_ones():
    shares, means, variances = [1, 3], [F(2), F(-1)], [F(1), F(5)]
    assert clients.own_goal(shares, [F(1, 3)] * 2, means) == (2 - 3) / F(4)
    assert clients.own_spread(shares, [F(1, 3)] * 2, variances) == clients.pooled_spread(shares, variances)
