"""Samples with curvatures of their own: first orders by hand, against other forms, and where the law is exact."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theory import curved
from theory.law import Cohorts, by_age, by_capacity, squared_weights
from theory.setting import SettingError

F = Fraction
HALF = F(1, 2)
MOMENTS = curved.Moments(h=F(2, 3), spread=F(1, 5), noise=F(3), tilt=F(1, 7), skew=F(1, 4))
FLAT = curved.Moments(h=F(2, 3), spread=0, noise=F(3))
ADMISSIONS = [2, 0, 1, 3, 0, 0, 0, 2, 1]


@pytest.mark.parametrize("E", [1, 2, 5])
def test_pull_and_shift_are_the_slopes_of_what_steps_do(E):
    h, eta = sp.symbols("h eta", positive=True)
    a = (1 - eta * h) ** E
    assert sp.expand(sp.diff(a, h) + curved.local_pull(h, eta, E)) == 0
    assert sp.cancel(sp.diff(sp.cancel((1 - a) / h), h) + curved.local_shift(h, eta, E)) == 0
    steps = sp.Symbol("E", integer=True, positive=True)
    assert sp.cancel(curved.local_shift(h, eta, steps).subs(steps, E) - curved.local_shift(h, eta, E)) == 0
    assert sp.cancel(curved.local_contraction(h, 2, 1, eta, E) - a - sp.diff(a, h, 2)) == 0


def test_a_shift_of_tiny_steps_does_not_cancel():
    assert curved.local_shift(1.0, 1e-12, 3) == pytest.approx(3e-24, rel=1e-9)


@pytest.mark.parametrize("start", [F(0), F(5)])
@pytest.mark.parametrize("E", [1, 3])
def test_with_one_curvature_for_all_the_law_is_exact(E, start):
    memory, T = by_age(ADMISSIONS, 3), len(ADMISSIONS)
    found = curved.first_order([memory], T, FLAT, start=start, eta=HALF, E=E)
    noise = squared_weights(memory, (1 - HALF * FLAT.h) ** E, T)
    assert not any(found.mean)
    assert list(found.square) == [FLAT.noise / FLAT.h**2 * c for c in noise]
    assert curved.noise_correction(memory, T, FLAT, eta=HALF) == 0


@pytest.mark.parametrize(("K", "E"), [(1, 1), (1, 2), (2, 1), (4, 5)])
def test_the_mean_path_ends_at_the_stationary_bias(K, E):
    eta, T = F(3, 4), 40
    clients = [by_age([rate] * T, K) for rate in (1, 2, 2)]
    found = curved.first_order(clients, T, MOMENTS, start=F(1), eta=eta, E=E)
    bias = curved.stationary_bias(5, K, h=MOMENTS.h, tilt=MOMENTS.tilt, eta=eta, E=E, clients=3)
    assert float(found.mean[-1] - bias) == pytest.approx(0, abs=1e-12)
    assert (bias == 0) == (K == E == 1)


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
    assert curved.noise_correction(with_gaps, 5, MOMENTS, eta=HALF) == curved.noise_correction(
        without, 3, MOMENTS, eta=HALF
    )


def test_without_reuse_the_noise_is_that_of_a_random_contraction():
    n, T, eta, m = 4, 5, HALF, curved.Moments(h=F(2, 3), spread=F(1, 5), noise=F(3))
    a, square, kept = 1 - eta * m.h, F(0), []
    scale = sp.Symbol("scale")
    for _ in range(T):
        square = sp.expand((a**2 + eta**2 * m.spread * scale / n) * square + eta**2 * m.noise * scale / n)
        kept.append(square)
    memory = by_age([n] * T, 1)
    assert curved.noise_correction(memory, T, m, eta=eta) == kept[-1].coeff(scale, 2)
    assert curved.first_order([memory], T, m, start=F(0), eta=eta).square[-1] == kept[-1].coeff(scale, 1)


def test_a_solved_memory_has_the_classical_first_orders():
    """-ḡ/h̄ of n samples: E = tilt/(h²n), and E of its square by the expansion of 1/h̄²."""
    m, n, T = MOMENTS, 3, 120
    memory = by_capacity([n] + [0] * (T - 1), n)
    found = curved.first_order([memory], T, m, start=F(1), eta=F(4, 3))
    assert float(found.mean[-1]) == pytest.approx(float(m.tilt / (m.h**2 * n)), rel=1e-12)
    cubic = curved.cubic_shift(memory, T, m, third=F(5), eta=F(4, 3))[-1]
    wanted = curved.solved_bias(m, third=F(5), size=n)
    assert float(found.mean[-1] + cubic) == pytest.approx(float(wanted), rel=1e-12)
    second = (-2 * m.skew / m.h**3 + 3 * (m.spread * m.noise + 2 * m.tilt**2) / m.h**4) / n**2
    correction = curved.noise_correction(memory, 40, m, eta=1.3)
    assert float(correction) == pytest.approx(float(second), rel=1e-12)


def test_a_samples_own_weight_is_small_and_that_of_its_lags():
    for K in (1, 2, 5, 30):
        for a in (F(0), F(1, 3), F(9, 10)):
            lags = sum((K - d) * a ** (d - 1) for d in range(1, K)) / F(K * K * 7)
            assert curved.own_weight(a, K, 7) == lags < F(1, 14)


def test_floats_agree_with_fractions():
    memory, T = by_age(ADMISSIONS, 3), len(ADMISSIONS)
    floats = curved.Moments(
        *map(float, (MOMENTS.h, MOMENTS.spread, MOMENTS.noise, MOMENTS.tilt, MOMENTS.skew))
    )
    exact = curved.first_order([memory], T, MOMENTS, start=F(1), eta=HALF, E=2)
    found = curved.first_order([memory], T, floats, start=1.0, eta=0.5, E=2)
    for name in ("law", "mean", "square"):
        one, other = (getattr(path, name).astype(float) for path in (found, exact))
        np.testing.assert_allclose(one, other, rtol=1e-12)
    noises = [
        curved.noise_correction(memory, T, floats, eta=0.5),
        curved.noise_correction(memory, T, MOMENTS, eta=HALF),
    ]
    assert noises[0] == pytest.approx(float(noises[1]), rel=1e-12)


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


def test_no_client_is_an_error_and_no_sample_is_not():
    with pytest.raises(SettingError, match="at least one client"):
        curved.first_order([], 3, MOMENTS, start=1, eta=HALF)
    none = Cohorts(*(np.array([], dtype=int) for _ in range(3)))
    assert list(curved.first_order([none], 2, MOMENTS, start=F(2), eta=HALF).law) == [2, 2, 2]
    assert curved.noise_correction(none, 2, MOMENTS, eta=HALF) == 0
