"""The knapsack's limit next to a rounding, and where memory binds."""

import numpy as np
import pytest

from theory.market.knapsack import Limit, purchase_limit
from theory.market.prices import Atoms, Uniform


def test_a_budget_just_below_all_prices_buys_all_but_a_rounding():
    rng = np.random.default_rng(7)
    for _ in range(60):
        law = Atoms.of(rng.uniform(0.1, 3, rng.integers(1, 30)))
        limit = purchase_limit(law, 7.0, np.nextafter(7.0 * law.mean, 0))
        assert limit.rate == pytest.approx(7, rel=1e-14)
        assert limit.cost == pytest.approx(7 * law.mean, rel=1e-14)
        assert limit.threshold == law.highest
        assert limit.part == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("law", [Uniform(1, 10), Atoms.of([1, 10])])
def test_from_the_mean_price_on_the_memory_binds_and_all_is_bought_at_any_price(law):
    for budget in (55, 60):
        assert purchase_limit(law, 10, budget) == Limit(10, part=1, rate=10, cost=55, binds="memory")
