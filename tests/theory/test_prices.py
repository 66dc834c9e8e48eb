"""Laws of a price: their two numbers by enumeration, and in floats; whoever is indifferent is a claim."""

from fractions import Fraction as F

import numpy as np
import pytest

from theory.market.prices import Atoms, Uniform

LISTS = {
    "one price": [3],
    "a die": [1, 2, 3, 4, 5, 6],
    "prices that come twice": [5, 1, F(7, 3), 1, 1, F(7, 3), 40],
    "far apart": [F(1, 10**6), 1, 10**6],
}
THRESHOLDS = [0, F(1, 10**6), F(1, 2), 1, F(7, 3), F(8, 3), 3, 6, F(61, 10), 10**6, 10**7]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_bought_price_by_price_and_who_is_indifferent_gains_what_waiting_costs(name):
    prices = LISTS[name]
    law, mean = Atoms.of(prices), sum(map(F, prices)) / len(prices)

    def gain(at):
        return sum(max(at - F(price), 0) for price in prices) / len(prices)

    assert (law.lowest, law.highest, law.mean) == (min(prices), max(prices), mean)
    for threshold in THRESHOLDS:
        taken = [F(price) for price in prices if price <= threshold]
        assert law.mass(threshold) == F(len(taken), len(prices))
        assert law.spent(threshold) == sum(taken) / len(prices)
        assert threshold * law.mass(threshold) - law.spent(threshold) == gain(threshold)
    assert law.indifferent(0) == law.lowest
    for saving in {F(1, 10**9), F(1, 3), F(5), F(10**7), *map(gain, prices)} - {0}:
        assert gain(law.indifferent(saving)) == saving


def test_rounding_never_leaves_a_list_without_its_lowest_price():
    rng = np.random.default_rng(0)
    for _ in range(300):
        law = Atoms.of(rng.uniform(0.01, 10, rng.integers(1, 8)))
        at = law.indifferent(0.0)
        assert at >= law.lowest
        assert law.mass(at) > 0


def test_even_prices_are_bought_up_to_a_threshold_in_arrays():
    assert Uniform(1.0, 9.0).mass(np.array([0.5, 3.0, 99.0])).tolist() == [0, 0.25, 1]


def test_a_trace_may_be_an_array_of_any_shape():
    expected = Atoms((1.0, 2.0, 5.0), (0.25, 0.5, 0.25))
    assert Atoms.of(np.array([[2.0, 1.0], [2.0, 5.0]])) == Atoms.of([2.0, 1.0, 2.0, 5.0]) == expected
    assert Atoms.of(np.array([1, 2])).weights == (F(1, 2), F(1, 2))
    assert all(isinstance(weight, float) for weight in Atoms.of([1, 2.5]).weights)


def test_a_thinned_law_keeps_the_mean_and_no_more_prices_than_asked_for():
    prices = np.random.default_rng(0).lognormal(size=5000)
    thin, whole = Atoms.thinned(prices, most=250), Atoms.of(prices)
    assert len(thin.prices) == 250
    assert thin.mean == pytest.approx(whole.mean)
    for price in np.quantile(prices, [0.1, 0.5, 0.9]):
        assert thin.mass(price) == pytest.approx(whole.mass(price), abs=1 / 250)
    assert Atoms.thinned(prices[:50], most=250).prices == Atoms.of(prices[:50]).prices


@pytest.mark.parametrize("law", [Uniform(1, 10), Atoms.of([1, 2, 6])])
def test_a_scaled_law_is_the_same_in_another_currency(law):
    other = law.scaled(3)
    assert other.mean == 3 * law.mean
    assert [other.mass(3 * price) for price in (1, 2, 5)] == [law.mass(price) for price in (1, 2, 5)]
    assert other.spent(6) == 3 * law.spent(2)
