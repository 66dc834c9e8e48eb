"""Samples with curvatures of their own: first orders by hand, against other forms, and where the law is exact."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theory.curved import (
    Moments,
    Tails,
    cubic_shift,
    first_order,
    local_contraction,
    local_pull,
    local_shift,
    mean_contraction,
    noise_correction,
    own_weight,
    path_rest,
    regression_floor,
    regression_floor_first_order,
    regression_floor_resummed,
    solved_bias,
    square_rest,
    stationary_bias,
)
from theory.law import Cohorts, by_age, by_capacity, squared_weights
from theory.setting import SettingError

F = Fraction
HALF = F(1, 2)
MOMENTS = Moments(h=F(2, 3), spread=F(1, 5), noise=F(3), tilt=F(1, 7), skew=F(1, 4))
FLAT = Moments(h=F(2, 3), spread=0, noise=F(3))
ADMISSIONS = [2, 0, 1, 3, 0, 0, 0, 2, 1]


@pytest.mark.parametrize("E", range(1, 7))
def test_pull_and_shift_are_the_slopes_of_what_steps_do(E):
    h, eta = sp.symbols("h eta", positive=True)
    a = (1 - eta * h) ** E
    assert sp.expand(sp.diff(a, h) + local_pull(h, eta, E)) == 0
    assert sp.cancel(sp.diff(sp.cancel((1 - a) / h), h) + local_shift(h, eta, E)) == 0
    steps = sp.Symbol("E", integer=True, positive=True)
    assert sp.cancel(local_shift(h, eta, steps).subs(steps, E) - local_shift(h, eta, E)) == 0
    assert sp.cancel(local_contraction(h, 2, 1, eta, E) - a - sp.diff(a, h, 2)) == 0


def test_a_shift_of_tiny_steps_does_not_cancel():
    assert local_shift(1.0, 1e-12, 3) == pytest.approx(3e-24, rel=1e-9)


@pytest.mark.parametrize("start", [F(0), F(5)])
@pytest.mark.parametrize("E", [1, 3])
def test_with_one_curvature_for_all_the_law_is_exact(E, start):
    memory, T = by_age(ADMISSIONS, 3), len(ADMISSIONS)
    found = first_order([memory], T, FLAT, start=start, eta=HALF, E=E)
    noise = squared_weights(memory, (1 - HALF * FLAT.h) ** E, T)
    assert not any(found.mean)
    assert list(found.square) == [FLAT.noise / FLAT.h**2 * c for c in noise]
    assert noise_correction(memory, T, FLAT, eta=HALF) == 0


@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("E", [1, 2, 5])
def test_the_mean_path_ends_at_the_stationary_bias(K, E):
    eta, T = F(3, 4), 60
    clients = [by_age([rate] * T, K) for rate in (1, 2, 2)]
    found = first_order(clients, T, MOMENTS, start=F(1), eta=eta, E=E)
    bias = stationary_bias(5, K, h=MOMENTS.h, tilt=MOMENTS.tilt, eta=eta, E=E, clients=3)
    assert float(found.mean[-1] - bias) == pytest.approx(0, abs=1e-12)
    assert (bias == 0) == (K == E == 1)


@pytest.mark.parametrize("E", [1, 3])
def test_the_mean_path_falls_by_the_mean_contraction(E):
    """Two rounds of it, long after the memory has filled, differ by its first order."""
    eta, K, T = F(1, 4), 3, 30
    m = Moments(h=F(2, 3), spread=F(1, 5), noise=F(3))
    found = first_order([by_age([2] * T, K), by_age([3] * T, K)], T, m, start=F(1), eta=eta, E=E)
    a = (1 - eta * m.h) ** E
    gain = found.mean[-1] / found.law[-1] - found.mean[-2] / found.law[-2]
    assert gain * a == mean_contraction(5, K, h=m.h, spread=m.spread, eta=eta, E=E, clients=2) - a


def test_the_cubic_shift_ends_where_half_of_k_times_the_noise_balances_the_slope():
    m, eta, T = MOMENTS, F(3, 4), 60
    memory = by_age([4] * T, 3)
    ending = -F(5) * m.noise / m.h**2 * squared_weights(memory, 1 - eta * m.h, T)[-1] / (2 * m.h)
    shift = cubic_shift(memory, T, m, third=F(5), eta=eta)
    assert float(shift[-1] / ending) == pytest.approx(1, rel=1e-10)
    gaps = cubic_shift(by_age([1, 0, 2], 1), 3, m, third=F(5), eta=eta)
    assert gaps[-1] == cubic_shift(by_age([1, 2], 1), 2, m, third=F(5), eta=eta)[-1] != 0


def test_a_split_over_clients_matters_only_for_several_steps():
    apart, pooled = [by_age([1, 2, 0, 1], 2), by_age([2, 0, 0, 3], 2)], [by_age([3, 2, 0, 4], 2)]

    def mean(clients, E):
        return list(first_order(clients, 4, MOMENTS, start=F(1), eta=HALF, E=E).mean)

    assert mean(apart, 1) == mean(pooled, 1)
    assert mean(apart, 2) != mean(pooled, 2)


def test_rounds_without_samples_change_nothing():
    with_gaps, without = by_age([1, 0, 0, 2, 1], 1), by_age([1, 2, 1], 1)
    gaps = first_order([with_gaps], 5, MOMENTS, start=F(2), eta=HALF)
    plain = first_order([without], 3, MOMENTS, start=F(2), eta=HALF)
    for name in ("law", "mean", "square"):
        assert getattr(gaps, name)[-1] == getattr(plain, name)[-1]
    assert noise_correction(with_gaps, 5, MOMENTS, eta=HALF) == noise_correction(
        without, 3, MOMENTS, eta=HALF
    )


def test_without_reuse_the_noise_is_that_of_a_random_contraction():
    n, T, eta, m = 4, 5, HALF, Moments(h=F(2, 3), spread=F(1, 5), noise=F(3))
    a, square, kept = 1 - eta * m.h, F(0), []
    scale = sp.Symbol("scale")
    for _ in range(T):
        square = sp.expand((a**2 + eta**2 * m.spread * scale / n) * square + eta**2 * m.noise * scale / n)
        kept.append(square)
    memory = by_age([n] * T, 1)
    assert noise_correction(memory, T, m, eta=eta) == kept[-1].coeff(scale, 2)
    assert first_order([memory], T, m, start=F(0), eta=eta).square[-1] == kept[-1].coeff(scale, 1)


def test_a_solved_memory_has_the_classical_first_orders():
    """-ḡ/h̄ of n samples: E = tilt/(h²n), and E of its square by the expansion of 1/h̄²."""
    m, n, T = MOMENTS, 3, 120
    memory = by_capacity([n] + [0] * (T - 1), n)
    found = first_order([memory], T, m, start=F(1), eta=F(4, 3))
    assert float(found.mean[-1]) == pytest.approx(float(m.tilt / (m.h**2 * n)), rel=1e-12)
    cubic = cubic_shift(memory, T, m, third=F(5), eta=F(4, 3))[-1]
    wanted = solved_bias(m, third=F(5), size=n)
    assert float(found.mean[-1] + cubic) == pytest.approx(float(wanted), rel=1e-12)
    second = (-2 * m.skew / m.h**3 + 3 * (m.spread * m.noise + 2 * m.tilt**2) / m.h**4) / n**2
    correction = noise_correction(memory, 40, m, eta=1.3)
    assert float(correction) == pytest.approx(float(second), rel=1e-12)


def test_a_samples_own_weight_is_small_and_that_of_its_lags():
    for K in (1, 2, 5, 30):
        for a in (F(0), F(1, 3), F(9, 10)):
            lags = sum((K - d) * a ** (d - 1) for d in range(1, K)) / F(K * K * 7)
            assert own_weight(a, K, 7) == lags < F(1, 14)


def test_floats_agree_with_fractions():
    memory, T = by_age(ADMISSIONS, 3), len(ADMISSIONS)
    exact = first_order([memory], T, MOMENTS, start=F(1), eta=HALF, E=2)
    floats = Moments(*(float(getattr(MOMENTS, name)) for name in ("h", "spread", "noise", "tilt", "skew")))
    found = first_order([memory], T, floats, start=1.0, eta=0.5, E=2)
    for name in ("law", "mean", "square"):
        np.testing.assert_allclose(
            getattr(found, name).astype(float), getattr(exact, name).astype(float), rtol=1e-12
        )
    exact_noise = noise_correction(memory, T, MOMENTS, eta=HALF)
    assert noise_correction(memory, T, floats, eta=0.5) == pytest.approx(float(exact_noise), rel=1e-12)


def test_both_rests_by_hand():
    m, tails = Moments(h=2, spread=3, noise=5, skew=-7), Tails(third=-11, fourth=22, cross=-13, gradient=6)
    H, G = 49 ** F(1, 4), 81 ** F(1, 4)  # of 3·3² + 22 and 3·5² + 6
    eta, far, n, away = 0.4, 0.3, 17, 19
    path = away * (eta**3 * 11 / 0.8**4 + eta**4 * H**4 / far**5)
    path += eta**3 * 13 / 0.8**3 + eta**4 * H**3 * G / far**4
    given = {"tails": tails, "eta": F(2, 5), "rho": F(7, 10), "size": n}
    assert float(path_rest(m, start=-away, **given)) == pytest.approx(path / n**2, rel=1e-12)
    square = 14 / 2**3 + 2 * eta**3 * H**2 * G**2 / (2 * far**3) + eta**4 * H**2 * G**2 / far**4
    assert float(square_rest(m, **given)) == pytest.approx(square / n**2, rel=1e-12)


def test_no_client_is_an_error_and_no_sample_is_not():
    with pytest.raises(SettingError, match="at least one client"):
        first_order([], 3, MOMENTS, start=1, eta=HALF)
    none = Cohorts(*(np.array([], dtype=int) for _ in range(3)))
    assert list(first_order([none], 2, MOMENTS, start=F(2), eta=HALF).law) == [2, 2, 2]
    assert noise_correction(none, 2, MOMENTS, eta=HALF) == 0


def test_least_squares_on_gaussian_inputs_lies_above_the_resummed_floor_and_that_above_the_law():
    rng = np.random.default_rng(0)
    p, n, runs = 4, 12, 20_000
    x = rng.standard_normal((runs, n, p))
    found = np.trace(np.linalg.inv(x.transpose(0, 2, 1) @ x), axis1=1, axis2=2)
    error = found.std() / np.sqrt(runs)
    assert abs(found.mean() - regression_floor(p, n)) < 4 * error
    assert found.mean() - regression_floor_resummed(p, n) > 4 * error
    assert F(p, n) < regression_floor_first_order(p, n, p * (p + 2)) < regression_floor(p, n)
