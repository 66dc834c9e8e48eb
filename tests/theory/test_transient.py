"""What the region's transient costs: closed bounds against sums, and against policies played to the region's ends."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

from theory.algebra import ball, precise
from theory.bound import PER_ROUND, theorem_1
from theory.lambert import lambert_total
from theory.region import region_maximum, region_minimum
from theory.regret import omega2, omega2_as_stated, omega2_limit
from theory.reuse import trajectory
from theory.setting import Constants, Region
from theory.transient import (
    lambert_reach,
    omega2_bound,
    omega2_floor,
    omega2_floor_as_stated,
    spread_bound,
)
from theory.violation import lambert_bound

MANY = Constants(D=3, sigma=2, eta=Fraction(1, 3), B=Fraction(1, 10), Pdim=7, E=3)
UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)


@pytest.mark.parametrize("rho", [0.01, 0.3, 0.9, 0.999, 1 - 1e-6])
def test_the_lambert_sum_is_below_both_its_bounds_and_the_simple_one_is_the_coarser(rho: float) -> None:
    assert lambert_total(rho) < lambert_bound(rho) < lambert_reach(rho)


@pytest.mark.parametrize("constants", [MANY, UNIT])
@pytest.mark.parametrize(("K", "rho"), [(1, Fraction(1, 2)), (2, Fraction(9, 10)), (7, Fraction(99, 100))])
@pytest.mark.parametrize("T", [1, 30, 10**6])
def test_omega_2_lies_between_its_bounds_term_by_term(
    constants: Constants, K: int, rho: Fraction, T: int
) -> None:
    region = Region(rate=3, rho=rho)
    upper, printed_floor = (
        bound(K, region.map(float), constants.map(float)) for bound in (omega2_bound, omega2_floor_as_stated)
    )
    repaired, printed = (form(K, region, T, constants).terms for form in (omega2, omega2_as_stated))
    for name in PER_ROUND:
        assert -1e-9 <= getattr(repaired, name) <= getattr(upper, name)
        assert getattr(printed_floor, name) - 1e-9 <= getattr(printed, name) <= getattr(upper, name)


@pytest.mark.parametrize("K", [1, 2, 7])
def test_the_bounds_squeeze_the_first_two_terms_as_the_region_contracts_more_slowly(K: int) -> None:
    gaps = []
    for power in (2, 4, 6):
        region = Region(rate=3.0, rho=1 - 10.0**-power)
        low, high = (bound(K, region, MANY.map(float)) for bound in (omega2_floor, omega2_bound))
        limit = omega2_limit(K, 3.0, MANY.map(float))
        assert low.root <= limit.root * 10**power <= high.root
        assert low.linear <= limit.linear * 10**power <= high.linear
        gaps.append((high.root + high.linear - low.root - low.linear) / 10**power)
    assert gaps[2] < gaps[1] / 50 < gaps[0] / 2000


def test_omega_2_of_an_endless_run_is_above_its_floor() -> None:
    region = Region(rate=3, rho=Fraction(99, 100))
    value = omega2(4, region, 10**12, MANY, certified=True).terms
    with precise():
        floor = omega2_floor(4, region.map(ball), MANY.map(ball))
        assert value.root > floor.root > 0
        assert value.linear > floor.linear > 0


def test_the_limit_is_zero_without_reuse_and_grows_with_the_step_and_the_local_steps() -> None:
    assert omega2_limit(1, 3, MANY).total == 0
    one, two = (omega2_limit(4, 1.0, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5, E=E)) for E in (1, 2))
    assert one.root == two.root == pytest.approx(log(4 / 3))
    assert 2 * one.linear == two.linear == pytest.approx(log(4) / 2)


@pytest.mark.parametrize(("K", "rho"), [(1, 0.5), (3, 0.8), (6, 0.95)])
def test_policies_at_the_region_s_two_ends_are_no_further_apart_than_the_spread(K: int, rho: float) -> None:
    region, constants, rounds = Region(rate=3.0, rho=rho), MANY.map(float), range(1, 400)
    ends = [[end(region, t) for t in rounds] for end in (region_minimum, region_maximum)]
    ends.append([ends[t % 2][t - 1] for t in rounds])
    bound = spread_bound(K, region, constants)
    seen = []
    for path in ends:
        run = trajectory(np.array(path), K)
        seen.append(theorem_1(run.n, run.N, run.uniformity, run.mismatch, constants).terms)
    for name in PER_ROUND:
        values = [getattr(terms, name) for terms in seen]
        assert 0 < max(values) - min(values) <= getattr(bound, name)


def test_the_spread_s_bound_is_of_order_log_over_one_minus_rho() -> None:
    quotients = []
    for power in (3, 6, 12):
        h = 10.0**power
        quotients.append(
            spread_bound(2, Region(rate=3.0, rho=1 - 1 / h), MANY.map(float)).total / (h * log(h))
        )
    root, linear = 6 / sqrt(3) * (1 / 4 + 2 * sqrt(3 / 4)), 3 * 4 / (2 * 3)  # Dσ/√Λ̄·…, 3ηEσ²/(KΛ̄)
    assert quotients[0] > quotients[1] > quotients[2] > root + linear
    assert quotients[2] == pytest.approx(root + linear, rel=0.2)
