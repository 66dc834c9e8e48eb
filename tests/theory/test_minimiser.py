"""The minimiser of J_t against brute force, and the facts about the penalty that it rests on."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from theory.control.minimiser import (
    PricedRuns,
    concave_stretch,
    drift_plus_penalty,
    faded,
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
    chosen = optimal_admission(
        Z=prices, cost=1, V=1, retained=20.0, seen=70.0, lo=10, hi=34, constants=UNIT
    ).tolist()
    assert chosen[1:3] == [30, 30]
    assert chosen[0] > 30 > chosen[3]


def test_a_minimum_just_below_a_corner_that_ends_the_interval_is_found_to_twelve_digits():
    truth = 30 * (1 - np.geomspace(1e-13, 1e-6, 400))
    problem = {"retained": 20.0, "seen": 70.0, "constants": UNIT}
    prices, _ = slopes(truth, problem)
    assert optimal_admission(Z=prices, cost=1, V=1, lo=1, hi=30, **problem) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("B", [0.2, 0.95, 1.1, 3.0, 30.0])
@pytest.mark.parametrize(("retained", "seen"), [(0.0, 104.0), (8.0, 100.0), (60.0, 61.0)])
def test_every_price_finds_its_minimum_around_the_concave_stretch(B, retained, seen):
    problem = {"retained": retained, "seen": seen, "constants": replace(UNIT, B=B)}
    grid = np.geomspace(0.5, 300, 10001)
    prices, _ = slopes(grid[::50], problem)
    ours = optimal_admission(Z=prices, cost=1, V=1, lo=0.5, hi=300.0, **problem)
    p = penalty(retained + grid, seen + grid, problem["constants"])
    least = np.array([np.min(price * grid + p) for price in prices]) * (1 + 1e-15)
    J = objective(ours, {**problem, "Z": prices, "cost": 1, "V": 1})
    assert np.all(least >= J)


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


# --- what the method rests on ------------------------------------------------------------------------------

x, r, a, Pdim = sympy.symbols("Lambda r a Pdim", positive=True)
D, sigma, eta, B = sympy.symbols("D sigma eta B", positive=True)
SYMBOLS = Constants(D=D, sigma=sigma, eta=eta, B=B, Pdim=Pdim)


def assert_equal(left, right):
    """Equal at random rational points, to forty digits."""
    rng = np.random.default_rng(3)
    symbols = (x, r, a, D, sigma, eta, B)
    for _ in range(5):
        point = {symbol: sympy.Rational(*rng.integers(1, 99, 2).tolist()) for symbol in symbols}
        point[Pdim] = (point[r] + point[a] + point[x]) / 3  # N > Pdim: the logarithm is real
        with mpmath.workdps(50):
            values = [sympy.lambdify(list(point), side, "mpmath")(*point.values()) for side in (left, right)]
            assert mpmath.almosteq(*values, rel_eps=mpmath.mpf(10) ** -40)


@pytest.mark.parametrize("above", [0, 1])
def test_slopes_are_the_derivatives_of_the_penalty(above):
    n, N = r + x, r + a + x

    def on_branch(expression):
        """max(N/Pdim, 1) on the branch asked for; the other maximum, [1/n - 1/N]^+, is its argument."""
        return expression.replace(sympy.Max, lambda *of: (N / Pdim if above else 1) if 1 in of else sum(of))

    p = on_branch(penalty(n, N, SYMBOLS))
    h, f = mismatch_slopes(n, N, a, SYMBOLS), generalisation_slopes(N, SYMBOLS, above)
    assert_equal(-sympy.diff(p, x), h[0] + on_branch(f[0]))
    assert_equal(sympy.diff(p, x, 2), h[1] + on_branch(f[1]))
    assert_equal(-sympy.diff(p.subs(B, 0), x, 3), mismatch_jerk(n, N, a, SYMBOLS))


def test_concavity_of_the_third_term_is_log_concave_in_log_N():
    L = sympy.Symbol("L", nonnegative=True)
    g = sympy.sqrt((1 + L) * sympy.exp(-L))
    rate = sympy.simplify(sympy.diff(g, L) / g)
    # with x = e^L, -g''(x) = e^(-2L) g (rate - rate' - rate^2): its log has a rational second derivative
    factor = sympy.factor(rate - sympy.diff(rate, L) - rate**2)
    second = sympy.together(sympy.diff(rate, L) + sympy.diff(sympy.log(factor), L, 2))
    top, bottom = (sympy.Poly(part, L) for part in sympy.fraction(second))
    end, short_of_it = (sympy.sqrt(7) - 1) / 3, sympy.Rational(54858, 100000)
    assert sympy.simplify(factor.subs(L, end)) == 0
    assert 0 < end - short_of_it < sympy.Rational(1, 10**5)
    assert bottom.count_roots(0, short_of_it) == 0  # no pole,
    assert top.count_roots(0, 1) == 0  # no zero,
    assert second.subs(L, 0) < 0  # so negative throughout


@pytest.mark.parametrize("floor", [0, 0.01, 0.3, 0.9, 1])
def test_the_factor_of_the_third_term_has_faded_where_it_equals_the_floor(floor):
    L = faded(floor)
    factor = 1 - 3 * L / 2 - L / (2 * (1 + L))
    assert factor == pytest.approx(floor, abs=1e-15)


@pytest.mark.parametrize("B", [0.9, 1.0, 1.5, 5.0, 30.0])
@pytest.mark.parametrize(("retained", "least"), [(0.0, 1.0), (3.0, 0.0), (8.0, 1.0), (90.0, 1.0)])
def test_the_concave_stretch_is_where_the_second_derivative_is_negative(B, retained, least):
    seen = np.linspace(max(60, retained), 165, 30)
    runs = PricedRuns(np.ones(30), np.full(30, retained), seen, replace(UNIT, B=B))
    lo, hi = np.full(30, least), np.full(30, 90.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 where nothing has expired
        left, right = concave_stretch(runs, lo, hi)
    points = np.linspace(np.maximum(lo, UNIT.Pdim - seen), hi, 3001)
    concave = slopes(points, {"retained": retained, "seen": seen, "constants": runs.constants})[1] < 0
    step = points[1] - points[0]
    some = concave.any(axis=0)
    ends = [
        np.take_along_axis(points, k[np.newaxis], 0)[0]
        for k in (concave.argmax(0), 3000 - concave[::-1].argmax(0))
    ]
    assert np.all(np.abs(left - ends[0])[some] <= step[some])
    assert np.all(np.abs(right - ends[1])[some] <= step[some])
    assert np.all((right - left)[~some] <= step[~some])


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_the_unit_that_samples_are_counted_in_does_not_matter_to_the_concave_stretch(unit):
    def ends(unit):
        constants = Constants(D=unit**0.5, sigma=1.0, eta=unit / 10, B=5.0, Pdim=100 * unit)
        retained, seen, lo, hi = (
            unit * column
            for column in (np.full(30, 8.0), np.linspace(60, 165, 30), np.ones(30), np.full(30, 90.0))
        )
        with np.errstate(over="ignore"):
            return (
                np.array(concave_stretch(PricedRuns(np.ones(30), retained, seen, constants), lo, hi)) / unit
            )

    assert ends(unit) == pytest.approx(ends(1.0), rel=1e-9)


def test_a_concave_stretch_is_found_on_the_way_from_no_admission_at_all():
    constants = replace(UNIT, sigma=6.0, B=24.0, Pdim=23.0)
    runs = PricedRuns(np.ones(1), np.full(1, 3.4), np.full(1, 25.0), constants)
    ends = [end.item() for end in concave_stretch(runs, np.zeros(1), np.full(1, 700.0))]
    around = np.array([shift * end for end in ends for shift in (0.999, 1.001)])
    second = slopes(around, {"retained": 3.4, "seen": 25.0, "constants": constants})[1]
    assert np.sign(second).tolist() == [1, -1, -1, 1]
