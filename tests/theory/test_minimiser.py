"""The minimiser of J_t against brute force, and the facts about the penalty that it rests on."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from theory.minimiser import (
    _concave_stretch,
    _faded,
    _Runs,
    drift_plus_penalty,
    generalisation_slopes,
    mismatch_jerk,
    mismatch_slopes,
    optimal_admission,
)
from theory.penalty import penalty
from theory.setting import Constants, SettingError

Problem = dict[str, Any]
UNIT = Constants(D=1.0, sigma=1.0, eta=0.1, B=1.0, Pdim=100.0)
FACTOR_ENDS = (np.sqrt(7) - 1) / 3  # log of N/Pdim where the third term turns convex again


def slopes(Lambda: Any, problem: Problem) -> tuple[Any, Any]:
    """(-p', p'') at Λ."""
    retained, seen, constants = problem["retained"], problem["seen"], problem["constants"]
    N = seen + Lambda
    h = mismatch_slopes(retained + Lambda, N, seen - retained, constants)
    f = generalisation_slopes(N, constants, constants.Pdim <= N)
    return h[0] + f[0], h[1] + f[1]


def objective(Lambda: Any, problem: Problem) -> Any:
    free = {name: value for name, value in problem.items() if name not in ("lo", "hi")}
    with np.errstate(divide="ignore", invalid="ignore"):  # at n = 0, p is infinite or 1/0 - 1/0
        return drift_plus_penalty(Lambda, C=0, **free)


powers = st.floats(-4, 1).map(lambda e: 10**e)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
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
    problem: Problem = {"retained": retained, "seen": seen, "constants": constants}
    inside = lo + (hi - lo) * draw(st.floats(0.001, 0.999))
    price = slopes(np.float64(inside), problem)[0] * draw(st.floats(0.8, 1.25) | st.sampled_from([1e-9, 1e9]))
    return {**problem, "lo": lo, "hi": hi, "V": V, "cost": 2.0, "Z": V * float(price) / 2}


def brute_force(problem: Problem) -> float:
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


TWO_MINIMA: Problem = {"retained": 60.0, "seen": 61.0, "lo": 1.0, "hi": 400.0, "constants": UNIT}
TWO_MINIMA |= {"V": 1.0, "cost": 1.0, "Z": 0.0085}


@settings(max_examples=250)
@given(problems())
@example(TWO_MINIMA)
@example({**TWO_MINIMA, "seen": 60.0})
@example({**TWO_MINIMA, "retained": 0.0, "seen": 0.0, "lo": 0.0})
@example({**TWO_MINIMA, "retained": 0.0, "seen": 150.0, "lo": 0.0})
def test_no_grid_point_beats_the_minimiser(problem: Problem) -> None:
    Lambda = optimal_admission(**problem)
    assert problem["lo"] <= Lambda <= problem["hi"]
    # where little has expired, 1/n - 1/N cancels and J itself is known to the root of a rounding only
    gap = 1 - (problem["retained"] + Lambda) / (problem["seen"] + Lambda)
    noise = 1e-14 if gap == 0 or gap > 1e-2 else 1e-9
    assert objective(Lambda, problem) <= brute_force(problem) * (1 + noise)


@settings(max_examples=150)
@given(problems())
def test_inside_the_interval_the_slope_vanishes_to_a_few_roundings_of_the_price(problem: Problem) -> None:
    Lambda = float(optimal_admission(**problem))
    at_the_corner = abs(problem["seen"] + Lambda - problem["constants"].Pdim) <= 1e-9 * Lambda
    if problem["lo"] < Lambda < problem["hi"] and not at_the_corner:
        with mpmath.workdps(40):
            exact = {name: mpmath.mpf(problem[name]) for name in ("retained", "seen", "Z", "cost", "V")}
            pull, bend = slopes(
                mpmath.mpf(Lambda), {**exact, "constants": problem["constants"].map(mpmath.mpf)}
            )
            assert abs(exact["V"] * pull / (exact["Z"] * exact["cost"]) - 1) <= 2**-46
            assert bend > 0


def test_minimiser_has_twelve_digits_where_the_problem_is_well_conditioned() -> None:
    seen = np.linspace(60, 2000, 40)
    problem: Problem = {"retained": 50.0, "seen": seen, "constants": UNIT}
    prices = slopes(np.linspace(4, 20, 40), problem)[0]
    ours = optimal_admission(Z=prices, cost=1, V=1, lo=1.0, hi=30.0, **problem)
    inside = (ours > 1) & (ours < 30) & (np.abs(seen + ours - 100) > 1e-6)
    assert inside.sum() > 30
    with mpmath.workdps(40):
        for Lambda, N, price in zip(ours[inside], seen[inside], prices[inside], strict=True):
            exact = {"retained": mpmath.mpf(50), "seen": mpmath.mpf(N), "constants": UNIT.map(mpmath.mpf)}
            root = mpmath.mpf(Lambda)
            for _ in range(4):
                pull, bend = slopes(root, exact)
                root -= (mpmath.mpf(price) - pull) / bend
            assert abs(Lambda - root) <= 1e-12 * root


# --- special cases -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("retained", "seen", "lo"), [(0, 0, 0), (0, 0, 5), (40, 40, 5), (40, 90, 5), (40, 1e6, 5)]
)
def test_without_debt_as_much_as_possible_is_admitted(retained: float, seen: float, lo: float) -> None:
    problem: Problem = {"retained": retained, "seen": seen, "lo": lo, "hi": 70, "constants": UNIT}
    assert optimal_admission(Z=0, cost=3, V=1, **problem) == 70


def test_without_debt_a_penalty_that_is_flat_to_rounding_makes_no_difference() -> None:
    hi = 1 + np.geomspace(1e-13, 1e-9, 50)  # from N = Pdim on the third term falls by the square of that
    problem: Problem = {"retained": 99, "seen": 99, "lo": 1, "hi": hi, "constants": UNIT}
    assert optimal_admission(Z=0, cost=3, V=1, **problem).tolist() == hi.tolist()


@pytest.mark.parametrize("lo", [0, 3])
def test_an_overwhelming_debt_admits_as_little_as_possible(lo: int) -> None:
    problem: Problem = {"retained": 10, "seen": [10, 40, 95, 120, 1e5], "lo": lo, "hi": 90, "constants": UNIT}
    assert optimal_admission(Z=1e9, cost=1, V=1, **problem).tolist() == [lo] * 5


@pytest.mark.parametrize("scale", [4.0**-10, 4.0**10])
def test_it_does_not_matter_in_which_unit_samples_are_counted(scale: float) -> None:
    constants = replace(UNIT, Pdim=scale * 100, D=scale**0.5, eta=scale / 10)
    seen, price = np.meshgrid(np.linspace(30, 170, 40), np.geomspace(1e-4, 1, 40))
    usual = optimal_admission(
        Z=price, cost=1, V=1, retained=20.0, seen=seen, lo=1.0, hi=300.0, constants=UNIT
    )
    ours = optimal_admission(
        Z=price / scale, cost=1, V=1, retained=scale * 20, seen=scale * seen, lo=scale, hi=scale * 300,
        constants=constants,
    )  # fmt: skip
    assert ours == pytest.approx(scale * usual, rel=1e-9)


def test_a_single_point_is_returned_as_it_is() -> None:
    points = [0, 12]
    problem: Problem = {"retained": 0, "seen": 0, "lo": points, "hi": points, "constants": UNIT}
    assert optimal_admission(Z=7, cost=1, V=1, **problem).tolist() == points


def test_between_the_two_slopes_at_Pdim_the_corner_itself_is_chosen() -> None:
    h = mismatch_slopes(50.0, 100.0, 50.0, UNIT)[0]
    right, left = (h + generalisation_slopes(100.0, UNIT, above)[0] for above in (1, 0))
    prices = np.array([right * 0.9, (right + left) / 2, left * 0.999, left * 1.1])
    chosen = optimal_admission(
        Z=prices, cost=1, V=1, retained=20.0, seen=70.0, lo=10, hi=34, constants=UNIT
    ).tolist()
    assert chosen[1:3] == [30, 30]
    assert chosen[0] > 30 > chosen[3]


def test_a_minimum_just_below_a_corner_that_ends_the_interval_is_found_to_twelve_digits() -> None:
    truth = 30 * (1 - np.geomspace(1e-13, 1e-6, 400))
    problem: Problem = {"retained": 20.0, "seen": 70.0, "constants": UNIT}
    prices, _ = slopes(truth, problem)
    assert optimal_admission(Z=prices, cost=1, V=1, lo=1, hi=30, **problem) == pytest.approx(truth, rel=1e-12)


def test_as_the_debt_grows_the_minimum_jumps_over_the_concave_stretch() -> None:
    chosen = optimal_admission(**{**TWO_MINIMA, "Z": np.linspace(0.002, 0.03, 2001)})
    assert np.all(np.diff(chosen) <= 1e-9)
    jump = int(np.argmin(np.diff(chosen)))
    far, near = TWO_MINIMA["seen"] + chosen[jump : jump + 2]
    assert far > UNIT.Pdim * np.exp(FACTOR_ENDS) > near
    assert far - near > 50


@pytest.mark.parametrize("B", [0.2, 0.9, 0.95, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 30.0])
@pytest.mark.parametrize(
    ("retained", "seen"), [(0.0, 100.0), (0.0, 104.0), (8.0, 100.0), (60.0, 61.0), (90.0, 150.0)]
)
def test_every_price_finds_its_minimum_around_the_concave_stretch(
    B: float, retained: float, seen: float
) -> None:
    problem: Problem = {"retained": retained, "seen": seen, "constants": replace(UNIT, B=B)}
    grid = np.geomspace(0.5, 300, 20001)
    prices, _ = slopes(grid[::40], problem)
    ours = optimal_admission(Z=prices, cost=1, V=1, lo=0.5, hi=300.0, **problem)
    p = penalty(retained + grid, seen + grid, problem["constants"])
    least = np.array([np.min(price * grid + p) for price in prices]) * (1 + 1e-15)
    J = objective(ours, {**problem, "Z": prices, "cost": 1, "V": 1})
    assert np.all(least >= J)


def test_runs_do_not_influence_each_other_and_shapes_broadcast() -> None:
    rng = np.random.default_rng(1)
    seen = rng.uniform(30, 300, (3, 1, 25))
    price = rng.uniform(0.001, 0.2, (4, 1))
    rest: Problem = {"cost": 1.0, "retained": 30.0, "lo": 1.0, "hi": 99.0, "V": 1.0, "constants": UNIT}
    together = optimal_admission(Z=price, seen=seen, **rest)
    assert together.shape == (3, 4, 25)
    prices, counts = np.broadcast_arrays(price, seen)
    alone = [optimal_admission(Z=z, seen=N, **rest) for z, N in zip(prices.flat, counts.flat, strict=True)]
    assert together.ravel() == pytest.approx(np.array(alone), rel=1e-13)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"lo": 9, "hi": 8}, "lo must not exceed hi"),
        ({"seen": 3}, "seen must be at least retained"),
        ({"Z": -1}, "Z must be finite and not negative"),
        ({"cost": float("nan")}, "cost must be finite"),
        ({"V": 0}, "V must be positive"),
        ({"hi": float("inf")}, "hi must be finite"),
    ],
)
def test_senseless_arguments_are_refused(wrong: Problem, sentence: str) -> None:
    sound = {"Z": 1, "cost": 1, "retained": 4, "seen": 9, "lo": 1, "hi": 8, "V": 1, "constants": UNIT}
    with pytest.raises(SettingError, match=sentence):
        optimal_admission(**{**sound, **wrong})


def test_exact_arguments_give_an_exact_objective() -> None:
    constants = Constants(D=1, sigma=1, eta=Fraction(1, 2), B=1, Pdim=9)
    arguments = {"Z": 2, "cost": Fraction(1, 3), "C": 5, "V": 10, "retained": 1, "seen": 4}
    # n = 1, N = 4 < Pdim: -10 + 10 (sqrt(3)/2 + 3/8 + 15)
    expected = sympy.Rational(575, 4) + 5 * sympy.sqrt(3)
    assert drift_plus_penalty(0, constants=constants, **arguments) == expected


# --- what the method rests on ------------------------------------------------------------------------------

x, r, a, Pdim = sympy.symbols("Lambda r a Pdim", positive=True)
D, sigma, eta, B = sympy.symbols("D sigma eta B", positive=True)
SYMBOLS = Constants(D=D, sigma=sigma, eta=eta, B=B, Pdim=Pdim)


def assert_equal(left: Any, right: Any) -> None:
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
def test_slopes_are_the_derivatives_of_the_penalty(above: int) -> None:
    n, N = r + x, r + a + x

    def on_branch(expression: Any) -> Any:
        """max(N/Pdim, 1) on the branch asked for; the other maximum, [1/n - 1/N]^+, is its argument."""
        return expression.replace(sympy.Max, lambda *of: (N / Pdim if above else 1) if 1 in of else sum(of))

    p = on_branch(penalty(n, N, SYMBOLS))
    h, f = mismatch_slopes(n, N, a, SYMBOLS), generalisation_slopes(N, SYMBOLS, above)
    assert_equal(-sympy.diff(p, x), h[0] + on_branch(f[0]))
    assert_equal(sympy.diff(p, x, 2), h[1] + on_branch(f[1]))
    assert_equal(-sympy.diff(p.subs(B, 0), x, 3), mismatch_jerk(n, N, a, SYMBOLS))


def test_concavity_of_the_third_term_is_log_concave_in_log_N() -> None:
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


@settings(max_examples=150)
@given(problems())
def test_right_of_Pdim_convexity_changes_at_most_twice(problem: Problem) -> None:
    Pdim = problem["constants"].Pdim
    start = max(Pdim - problem["seen"], 0)
    signs = np.sign(slopes(start + Pdim * np.geomspace(1e-6, 3, 4000), problem)[1])
    changes = signs[np.flatnonzero(np.diff(signs)) + 1].tolist()
    assert changes in ([], [1.0], [-1.0, 1.0])


@pytest.mark.parametrize("floor", [0, 0.01, 0.3, 0.9, 1])
def test_the_factor_of_the_third_term_has_faded_where_it_equals_the_floor(floor: float) -> None:
    L = _faded(floor)
    factor = 1 - 3 * L / 2 - L / (2 * (1 + L))
    assert factor == pytest.approx(floor, abs=1e-15)


@pytest.mark.parametrize("B", [0.9, 0.95, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 30.0])
@pytest.mark.parametrize(
    ("retained", "least"),
    [(0.0, 1.0), (3.0, 0.0), (3.0, 1.0), (8.0, 0.0), (8.0, 1.0), (20.0, 1.0), (90.0, 1.0)],
)
def test_the_concave_stretch_is_where_the_second_derivative_is_negative(
    B: float, retained: float, least: float
) -> None:
    seen = np.linspace(max(60, retained), 165, 30)
    runs = _Runs(np.ones(30), np.full(30, retained), seen, replace(UNIT, B=B))
    lo, hi = np.full(30, least), np.full(30, 90.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 where nothing has expired
        left, right = _concave_stretch(runs, lo, hi)
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
