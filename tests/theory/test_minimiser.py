"""The minimiser of J_t against brute force, and the slopes of the penalty that it rests on."""

from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from theory.control.minimiser import (
    drift_plus_penalty,
    generalisation_slopes,
    mismatch_jerk,
    mismatch_slopes,
    optimal_admission,
)
from theory.control.penalty import penalty
from theory.setting import Constants

UNIT = Constants(D=1.0, sigma=1.0, eta=0.1, B=1.0, Pdim=100.0)


def slopes(Lambda, problem):
    """(-p', p'') at Λ."""
    retained, seen, constants = problem["retained"], problem["seen"], problem["constants"]
    N = seen + Lambda
    h = mismatch_slopes(retained + Lambda, N, seen - retained, constants)
    f = generalisation_slopes(N, constants, constants.Pdim <= N)
    return h[0] + f[0], h[1] + f[1]


def objective(Lambda, problem):
    free = {name: value for name, value in problem.items() if name not in ("lo", "hi")}
    with np.errstate(divide="ignore", invalid="ignore"):  # at n = 0, p is infinite or 1/0 - 1/0
        return drift_plus_penalty(Lambda, C=0, **free)


powers = st.floats(-4, 1).map(lambda e: 10**e)


@st.composite
def problems(draw):
    """Intervals on every side of Pdim; nothing retained, nothing expired, tiny and huge debts among them.

    Most prices are the slope of the penalty somewhere in the interval, so that the minimum lies inside.
    """
    Pdim = draw(st.sampled_from([1.0, 37.0, 1e4]))
    constants = Constants(Pdim=Pdim, **{name: draw(powers) for name in ("D", "sigma", "eta", "B")})
    retained = Pdim * draw(st.just(0.0) | powers)
    seen = retained + Pdim * draw(st.just(0.0) | powers)
    lo = Pdim * draw(st.just(0.0) | powers)
    hi = lo + Pdim * draw(powers)
    V = draw(st.sampled_from([1e-6, 1.0, 1e8]))
    problem = {"retained": retained, "seen": seen, "constants": constants}
    inside = lo + (hi - lo) * draw(st.floats(0.001, 0.999))
    price = slopes(np.float64(inside), problem)[0] * draw(st.floats(0.8, 1.25) | st.sampled_from([1e-9, 1e9]))
    return {**problem, "lo": lo, "hi": hi, "V": V, "cost": 2.0, "Z": V * float(price) / 2}


def brute_force(problem):
    """The least J on two dense grids, even and geometric, and the corner; then again around the best."""
    lo, hi = problem["lo"], problem["hi"]
    corner = np.clip(problem["constants"].Pdim - problem["seen"], lo, hi)
    geometric = np.geomspace(max(lo, hi * 1e-9), hi, 2000)
    points = np.unique(np.clip(np.concatenate([[corner], np.linspace(lo, hi, 2000), geometric]), lo, hi))
    least = np.inf
    for _ in range(4):
        values = np.nan_to_num(objective(points, problem), nan=np.inf)
        best = int(values.argmin())
        least = min(least, values[best])
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 200)
    return float(least)


TWO_MINIMA = {"retained": 60.0, "seen": 61.0, "lo": 1.0, "hi": 400.0, "constants": UNIT}
TWO_MINIMA |= {"V": 1.0, "cost": 1.0, "Z": 0.0085}


@settings(max_examples=60)
@given(problems())
@example(TWO_MINIMA)
@example({**TWO_MINIMA, "seen": 60.0})
@example({**TWO_MINIMA, "retained": 0.0, "seen": 0.0, "lo": 0.0})
@example({**TWO_MINIMA, "retained": 0.0, "seen": 0.0, "lo": 0.0, "Z": 0.1})
@example({**TWO_MINIMA, "retained": 0.0, "seen": 150.0, "lo": 0.0})
def test_no_grid_point_beats_the_minimiser_and_inside_the_interval_the_slope_vanishes(problem):
    Lambda = np.float64(optimal_admission(**problem))
    assert problem["lo"] <= Lambda <= problem["hi"]
    # where little has expired, 1/n - 1/N cancels and J itself is known to the root of a rounding only
    gap = 1 - (problem["retained"] + Lambda) / (problem["seen"] + Lambda)
    noise = 1e-14 if gap == 0 or gap > 1e-2 else 1e-9
    assert objective(Lambda, problem) <= brute_force(problem) * (1 + noise)
    at_the_corner = abs(problem["seen"] + Lambda - problem["constants"].Pdim) <= 1e-9 * Lambda
    if problem["lo"] < Lambda < problem["hi"] and not at_the_corner:
        with mpmath.workdps(40):
            exact = {name: mpmath.mpf(problem[name]) for name in ("retained", "seen", "Z", "cost", "V")}
            precise = {**exact, "constants": problem["constants"].map(mpmath.mpf)}
            pull, bend = slopes(mpmath.mpf(float(Lambda)), precise)
            assert abs(exact["V"] * pull / (exact["Z"] * exact["cost"]) - 1) <= 2**-46
            assert bend > 0


# --- special cases -----------------------------------------------------------------------------------------


FLAT = 1 + np.geomspace(1e-13, 1e-9, 50)  # from N = Pdim on the third term falls by the square of that
EXTREMES = {  # debt, retained, seen, lo, hi, and what is admitted
    "nothing seen, no debt": (0, 0, 0, 0, 70, 70),
    "no debt": (0, 40, [40, 90, 1e6], 5, 70, 70),
    "no debt, and a penalty that is flat to rounding": (0, 99, 99, 1, FLAT, FLAT),
    "overwhelming debt": (1e9, 10, [10, 40, 95, 120, 1e5], 3, 90, 3),
    "overwhelming debt, and nothing is allowed": (1e9, 10, [10, 40, 95, 120, 1e5], 0, 90, 0),
    "a single point": (7, 0, 0, [0, 12], [0, 12], [0, 12]),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_without_debt_as_much_as_possible_is_admitted_and_with_too_much_as_little(name):
    Z, retained, seen, lo, hi, admitted = EXTREMES[name]
    found = optimal_admission(Z=Z, cost=3, V=1, retained=retained, seen=seen, lo=lo, hi=hi, constants=UNIT)
    assert found.tolist() == np.broadcast_to(np.asarray(admitted, dtype=float), found.shape).tolist()


def test_between_the_two_slopes_at_Pdim_the_corner_itself_is_chosen():
    h = mismatch_slopes(50.0, 100.0, 50.0, UNIT)[0]
    right, left = (h + generalisation_slopes(100.0, UNIT, above)[0] for above in (1, 0))
    prices = np.array([right * 0.9, (right + left) / 2, left * 0.999, left * 1.1])
    problem = {"retained": 20.0, "seen": 70.0, "lo": 10, "hi": 34, "constants": UNIT}
    first, *middle, last = optimal_admission(Z=prices, cost=1, V=1, **problem)
    assert middle == [30, 30]
    assert first > 30 > last


def test_a_minimum_just_below_a_corner_that_ends_the_interval_is_found_to_twelve_digits():
    truth = 30 * (1 - np.geomspace(1e-13, 1e-6, 400))
    problem = {"retained": 20.0, "seen": 70.0, "constants": UNIT}
    prices, _ = slopes(truth, problem)
    assert optimal_admission(Z=prices, cost=1, V=1, lo=1, hi=30, **problem) == pytest.approx(truth, rel=1e-12)


HELD = [(0.0, 104.0), (8.0, 100.0), (60.0, 61.0), (3.0, 75.0)]
SHORT, WHOLE = (0.3007, 0.0, 73.3), (1e15, 8.0, 100.0)  # of the stretch on which the third term is concave


@pytest.mark.parametrize("reach", [1.02, 1.2, 1000])
@pytest.mark.parametrize(
    ("B", "retained", "seen"),
    [*((B, *held) for held in HELD for B in (0.2, 0.95, 1.1, 3.0, 8.0, 30.0)), SHORT, WHOLE],
)
def test_every_price_finds_its_minimum_around_the_concave_stretch(B, retained, seen, reach):
    """In a narrow interval no other minimum competes with that next to an inflection."""
    problem = {"retained": retained, "seen": seen, "constants": replace(UNIT, B=B)}
    around = np.geomspace(0.5, 300, 400)
    lo, hi = np.maximum(around / reach, 0.5) * (reach < 9), np.minimum(around * reach, 300)
    priced = {**problem, "Z": slopes(around, problem)[0], "cost": 1, "V": 1}
    ours = optimal_admission(**priced, lo=lo, hi=hi)
    least = objective(np.geomspace(np.maximum(lo, 0.5), hi, 1001), priced).min(axis=0)
    assert np.all(objective(ours, priced) <= least * (1 + 1e-15))


def test_runs_do_not_influence_each_other_and_shapes_broadcast():
    rng = np.random.default_rng(1)
    seen = rng.uniform(30, 300, (3, 1, 5))
    price = rng.uniform(0.001, 0.2, (2, 1))
    rest = {"cost": 1.0, "retained": 30.0, "lo": 1.0, "hi": 99.0, "V": 1.0, "constants": UNIT}
    together = optimal_admission(Z=price, seen=seen, **rest)
    assert together.shape == (3, 2, 5)
    prices, counts = np.broadcast_arrays(price, seen)
    alone = [optimal_admission(Z=z, seen=N, **rest) for z, N in zip(prices.flat, counts.flat, strict=True)]
    assert together.ravel() == pytest.approx(np.array(alone), rel=1e-13)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**30])
@pytest.mark.parametrize("B", [0.95, 3.0, 5.0])
def test_the_unit_that_samples_are_counted_in_does_not_matter(B, unit):
    def admitted(unit):
        constants = Constants(D=unit**0.5, sigma=1.0, eta=unit / 10, B=B, Pdim=100 * unit)
        seen, prices = np.linspace(60, 165, 30), np.geomspace(0.01, 1, 40)[:, np.newaxis]
        counts = {"retained": 8 * unit, "seen": seen * unit, "lo": unit, "hi": 90 * unit}
        return optimal_admission(Z=prices, cost=1 / unit, V=1, constants=constants, **counts) / unit

    assert admitted(unit) == pytest.approx(admitted(1.0), rel=1e-9)


@pytest.mark.parametrize("Pdim", [1, 20])
def test_slopes_are_the_derivatives_of_the_penalty(Pdim):
    retained, expired, at = (mpmath.mpf(value) for value in ("3.5", "1.25", "4.125"))
    constants = Constants(D=3, sigma=2, eta=mpmath.mpf("0.1"), B=7, Pdim=Pdim)
    n, N = retained + at, retained + expired + at

    def p(Lambda, constants=constants):
        return penalty(retained + Lambda, retained + expired + Lambda, constants)

    with mpmath.workdps(60):
        problem = {"retained": retained, "seen": retained + expired, "constants": constants}
        found = [*slopes(at, problem), mismatch_jerk(n, N, expired, constants)]
        without = partial(p, constants=replace(constants, B=mpmath.mpf("1e-50")))  # the third term is nothing
        expected = [-mpmath.diff(p, at), mpmath.diff(p, at, 2), -mpmath.diff(without, at, 3)]
        assert all(map(mpmath.almosteq, found, expected, [1e-15] * 3))
