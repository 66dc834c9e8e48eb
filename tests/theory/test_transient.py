"""What the region's transient costs: closed bounds against sums, and against policies played to the region's ends."""

from fractions import Fraction
from math import log

import pytest

from theory.bound import PER_ROUND
from theory.regret import omega2, omega2_as_stated, omega2_limit
from theory.setting import Constants, Region
from theory.transient import omega2_bound, omega2_floor, omega2_floor_as_stated

MANY = Constants(D=3, sigma=2, eta=Fraction(1, 3), B=Fraction(1, 10), Pdim=7, E=3)
UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)


@pytest.mark.parametrize("constants", [MANY, UNIT])
@pytest.mark.parametrize(("K", "rho", "T"), [(1, Fraction(1, 2), 1), (7, Fraction(99, 100), 300)])
def test_omega_2_lies_between_its_bounds_term_by_term(constants, K, rho, T):
    region = Region(rate=3, rho=rho)
    upper, printed_floor = (
        bound(K, region.map(float), constants.map(float)) for bound in (omega2_bound, omega2_floor_as_stated)
    )
    repaired, printed = (form(K, region, T, constants).terms for form in (omega2, omega2_as_stated))
    for name in PER_ROUND:
        assert -1e-9 <= getattr(repaired, name) <= getattr(upper, name)
        assert getattr(printed_floor, name) - 1e-9 <= getattr(printed, name) <= getattr(upper, name)


@pytest.mark.parametrize("K", [1, 2, 7])
def test_the_bounds_squeeze_the_first_two_terms_as_the_region_contracts_more_slowly(K):
    gaps = []
    for power in (2, 4, 6):
        region = Region(rate=3.0, rho=1 - 10.0**-power)
        low, high = (bound(K, region, MANY.map(float)) for bound in (omega2_floor, omega2_bound))
        limit = omega2_limit(K, 3.0, MANY.map(float))
        assert low.root <= limit.root * 10**power <= high.root
        assert low.linear <= limit.linear * 10**power <= high.linear
        gaps.append((high.root + high.linear - low.root - low.linear) / 10**power)
    assert gaps[2] < gaps[1] / 50 < gaps[0] / 2000


def test_the_limit_is_zero_without_reuse_and_grows_with_the_step_and_the_local_steps():
    assert omega2_limit(1, 3, MANY).total == 0
    one, two = (omega2_limit(4, 1.0, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5, E=E)) for E in (1, 2))
    assert one.root == two.root == pytest.approx(log(4 / 3))
    assert 2 * one.linear == two.linear == pytest.approx(log(4) / 2)
