"""Draws are Philox, uniform, and depend on their address alone."""

import numpy as np
import pytest
from scipy import stats

from empirics.draws import Purpose, check_seed, permutation, philox, uniform
from tests.empirics.small import refused

ONES = 0xFFFFFFFF


def test_philox_gives_the_published_known_answers():
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    for counter, key, words in (
        ((0,) * 4, (0,) * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ONES,) * 4, (ONES,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (*pi, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ):
        assert " ".join(f"{int(word):08x}" for word in philox(counter, key)) == words


def test_a_draw_depends_on_its_address_and_not_on_what_else_is_drawn():
    alone = uniform(7, Purpose.sample, replicate=2, client=3, t=11, slot=5)
    crowd = uniform(7, Purpose.sample, replicate=np.arange(4)[:, None], client=np.arange(6), t=11, slot=5)
    assert crowd[2, 3] == alone
    assert np.unique(crowd).size == crowd.size


def test_purposes_and_seeds_give_different_draws():
    values = [float(uniform(seed, purpose, t=1)) for seed in (0, 1) for purpose in Purpose]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("axis", ["replicate", "client", "t", "slot"])
def test_draws_are_uniform_and_uncorrelated_along_every_axis(axis):
    u = uniform(1, Purpose.sample, **{axis: np.arange(20000)})
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.03
    assert u.min() >= 0
    assert u.max() < 1


def test_a_permutation_holds_every_place_once():
    assert sorted(permutation(50, 0, Purpose.shuffle, client=1)) == list(range(50))


def test_a_seed_that_does_not_fit_is_refused():
    for seed in (-1, 2**32, 1.0, True):
        assert "seed must be a whole number" in refused(check_seed, seed)
