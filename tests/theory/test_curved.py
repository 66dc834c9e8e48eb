"""Samples with curvatures of their own: rounds without samples, floats, and what is left out, by hand."""

from fractions import Fraction as F

import numpy as np
import pytest

from theory.law import curved
from theory.law.quadratic import Cohorts, by_age, squared_weights

HALF = F(1, 2)
MOMENTS = curved.Moments(h=F(2, 3), spread=F(1, 5), noise=F(3), tilt=F(1, 7), skew=F(1, 4))
ADMISSIONS = [2, 0, 1, 3, 0, 0, 0, 2, 1]


def test_the_cubic_shift_ends_where_half_of_k_times_the_noise_balances_the_slope():
    m, eta, T = MOMENTS, F(3, 4), 60
    memory = by_age([4] * T, 3)
    ending = -F(5) * m.noise / m.h**2 * squared_weights(memory, 1 - eta * m.h, T)[-1] / (2 * m.h)
    shift = curved.cubic_shift(memory, T, m, third=F(5), eta=eta)
    assert float(shift[-1] / ending) == pytest.approx(1, rel=1e-10)
    gaps = curved.cubic_shift(by_age([1, 0, 2], 1), 3, m, third=F(5), eta=eta)
    assert gaps[-1] == curved.cubic_shift(by_age([1, 2], 1), 2, m, third=F(5), eta=eta)[-1] != 0


def test_rounds_without_samples_change_nothing():
    with_gaps, without = by_age([1, 0, 0, 2, 1], 1), by_age([1, 2, 1], 1)
    gaps = curved.first_order([with_gaps], 5, MOMENTS, start=F(2), eta=HALF)
    plain = curved.first_order([without], 3, MOMENTS, start=F(2), eta=HALF)
    for name in ("law", "mean", "square"):
        assert getattr(gaps, name)[-1] == getattr(plain, name)[-1]
    noises = [curved.noise_correction(one, T, MOMENTS, eta=HALF) for one, T in ((with_gaps, 5), (without, 3))]
    assert noises[0] == noises[1]


def test_both_rests_by_hand():
    m, tails = (
        curved.Moments(h=2, spread=3, noise=5, skew=-7),
        curved.Tails(third=-11, fourth=22, cross=-13, gradient=6),
    )
    H, G = 49 ** F(1, 4), 81 ** F(1, 4)  # of 3·3² + 22 and 3·5² + 6
    eta, far, n, away = 0.4, 0.3, 17, 19
    path = away * (eta**3 * 11 / 0.8**4 + eta**4 * H**4 / far**5)
    path += eta**3 * 13 / 0.8**3 + eta**4 * H**3 * G / far**4
    given = {"tails": tails, "eta": F(2, 5), "rho": F(7, 10), "size": n}
    assert float(curved.path_rest(m, start=-away, **given)) == pytest.approx(path / n**2, rel=1e-12)
    square = 14 / 2**3 + 2 * eta**3 * H**2 * G**2 / (2 * far**3) + eta**4 * H**2 * G**2 / far**4
    assert float(curved.square_rest(m, **given)) == pytest.approx(square / n**2, rel=1e-12)


def test_a_memory_without_samples_stays_where_it_is():
    none = Cohorts(*(np.array([], dtype=int) for _ in range(3)))
    assert list(curved.first_order([none], 2, MOMENTS, start=F(2), eta=HALF).law) == [2, 2, 2]
    assert curved.noise_correction(none, 2, MOMENTS, eta=HALF) == 0
