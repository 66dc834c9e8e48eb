"""Fast sums against slow ones, balls against plain balls, and both against planted mistakes."""

import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from theory.numbers import summation
from theory.numbers.algebra import exp, log_plus, minimum, sqrt
from theory.numbers.summation import plain_total, total, total_ball

ONE_ULP = np.finfo(float).eps


def constant_admission(K, rate, step=1, Pdim=5):
    """A round of the bound under constant admission, with a root at t = 1 and corners at K and Pdim/rate."""

    def round_(t):
        k = minimum(K, t)
        y = t - (k - 1) / 2
        chi = (1 - 1 / y - (k * k - 1) / (6 * y * y)) / (k * rate)
        reuse = (1 / y - (k * k - 1) / (6 * k * y * y)) / rate
        third = 10 * sqrt(Pdim * reuse) * sqrt(1 + log_plus(rate * t / Pdim))
        return sqrt(chi) + step * chi + third

    return round_, (K - 1, K, math.floor(float(Pdim) / float(rate)))


horizons = st.one_of(st.integers(1, 200), st.integers(200, 20_000), st.integers(20_000, 10**6))
retentions = st.one_of(st.integers(1, 100), st.integers(1, 10**6))
rates = st.sampled_from([0.001, 0.5, 1.0, 3.7, 10.0, 250.0])


@settings(max_examples=15)
@given(T=horizons, K=retentions, rate=rates, step=st.floats(0.001, 10))
def test_total_is_within_its_error_of_the_term_by_term_sum(T, K, rate, step):
    f, breaks = constant_admission(K, rate, step)
    fast, slow = total(f, T, breaks), math.fsum(f(np.arange(1, T + 1, dtype=float)))
    assert abs(fast.value - slow) <= fast.error + ONE_ULP * slow
    assert fast.error <= 2e-14 * slow


@settings(max_examples=20)
@given(
    start=st.integers(0, 1000),
    rounds=st.integers(1, 50_000),
    corners=st.lists(st.integers(0, 60_000), max_size=6),
    power=st.sampled_from([0.5, 1.0, 1.5, 3.0]),
)
def test_total_sees_through_any_named_corners(start, rounds, corners, power):
    def f(t):
        return 1 + sum(np.abs(t - b - 0.5) ** power for b in corners)

    T = start + rounds
    fast = total(f, T, corners, start)
    slow = math.fsum(f(np.arange(start, T + 1, dtype=float)) * np.ones(rounds + 1))
    assert abs(fast.value - slow) <= fast.error + ONE_ULP * slow
    assert fast.error <= 2e-14 * slow


def test_what_happens_in_a_named_round_alone_is_seen():
    named = (5000, 70_000, 10**5)
    assert total(lambda t: 1.0 * np.isin(t, named), 10**5, named).value == 3


@settings(max_examples=12)
@given(corner=st.floats(1, 10**6), power=st.sampled_from([0.5, 1.0]))
@example(corner=654_321.0, power=1.0)  # between the border of a block and the next point inside
def test_a_corner_that_is_not_named_costs_work_but_not_accuracy(corner, power):
    points = 0

    def f(t):
        nonlocal points
        points += len(t)
        return np.sqrt(t) + np.maximum(t - corner, 0) ** power

    unnamed = total(f, 10**6)
    assert points < 10_000
    assert abs(unnamed.value - plain_total(f, 10**6)) <= unnamed.error <= 2e-12 * unnamed.value
    assert unnamed.error >= 8 * ONE_ULP * unnamed.value  # what eight roundings of every term come to


def test_noise_in_the_terms_is_reported_and_does_not_exhaust_the_bisection():
    points = 0

    def noisy(t):
        nonlocal points
        points += len(t)
        return np.sqrt(t) * (1 + 1e-12 * np.sin(1e6 * t))

    fast = total(noisy, 10**9)
    assert points < 20_000
    assert 1e-14 < fast.error / fast.value < 1e-11


def test_the_error_of_a_sum_that_cancels_is_that_of_its_terms():
    found = total(lambda t: t - 5.5, 10)
    assert found.value == 0
    assert found.error >= 2**-53 * 25  # a rounding of the sum of the terms' sizes


def test_a_round_that_is_not_a_number_makes_only_its_own_sum_not_a_number():
    both = total(lambda t: [np.where(t == 3, np.nan, t), t], 10**6)
    assert np.isnan(both.value[0])
    assert both.value[1] == pytest.approx(10**6 * (10**6 + 1) / 2, rel=1e-15)


@settings(max_examples=8)
@given(
    T=st.one_of(st.integers(1, 300), st.integers(300, 3000)),
    K=st.one_of(st.integers(1, 30), st.integers(1, 5000)),
    rate=st.fractions(Fraction(1, 50), 100, max_denominator=50),
)
def test_ball_meets_the_plain_ball_sum(T, K, rate):
    with flint.ctx.workprec(128):
        f, breaks = constant_admission(K, flint.arb(rate.numerator) / rate.denominator)
        plain = sum((f(flint.arb(t)) for t in range(1, T + 1)), flint.arb(0))
    proved = total_ball(f, T, breaks)
    assert proved.overlaps(plain)
    assert float(proved.rad()) <= 1e-17 * float(proved.mid())


def test_ball_contains_the_sum_that_is_known_in_closed_form():
    T = 10**15
    with flint.ctx.workprec(256):
        harmonic = flint.arb(T + 1).digamma() + flint.arb.const_euler()
        squares = flint.arb(T * (T + 1) * (2 * T + 1) // 6)
        first, second = total_ball(lambda t: [1 / t, t * t], T)
        assert first.contains(harmonic)
        assert second.contains(squares)
        assert not first.contains(harmonic * (1 + flint.arb(10) ** -16))
        assert not second.contains(squares + 1) or second.rad() > 1


def test_weights_that_are_kept_have_the_digits_that_were_asked_for():
    with flint.ctx.workprec(53):
        weights, _ = summation.ball_weights.__wrapped__(100, 10, 300)
    assert all(one.rad() < 1e-60 for one in weights.entries())


# --- that the proof is one: what a bound too small would break -----------------------------------------------


def block(f, low, size, points, ellipse=3):
    """The enclosure of one block's sum, however wide, for any rule and any ellipse; None where it is refused."""
    sums = summation.ball_of_block(f, low, size, points, [], goal=-(10**6), ellipse=ellipse)
    return sums[0] if sums else None


def ellipse_around(low, size, parameter, reach=1):
    """Points of the Bernstein ellipse of a block, or of one `reach` times as large."""
    turns = [(flint.acb(0, flint.arb(k) / 8) * flint.arb.pi()).exp() * parameter for k in range(16)]
    middle, half = flint.arb(2 * low + size - 1) / 2, flint.arb(size) / 2
    return [middle + reach * half * (w + 1 / w) / 2 for w in turns]


@pytest.mark.parametrize(("points", "rounds_per_point"), [(10, 2), (10, 10), (46, 3)])
def test_a_block_contains_a_sum_that_its_rule_misses(points, rounds_per_point):
    """Poles next to the ellipse, and so many digits that what the rule misses is truncation and no rounding.

    With no more digits than points, as in `total_ball`, the weights' rounding would cover up for a missing bound.
    """
    size = rounds_per_point * points + 1
    with flint.ctx.workprec(600):
        middle, half, pole = flint.arb(size - 1) / 2, flint.arb(size) / 2, flint.acb(0, flint.arb(3) / 2)

        def f(t):
            x = (t - middle) / half
            value = 1 / (x - pole) * (1 / (x + pole))  # 1/(x²+9/4), so that a wide x does no harm
            return value if isinstance(t, flint.acb) else value.real

        proved = block(f, 0, size, points)
        sharp = sum((f(flint.arb(t)) for t in range(size)), flint.arb(0))
        assert proved.contains(sharp)
        assert abs(proved.mid() - sharp) > flint.arb(10) ** -40


def sum_of_weights(points, size):
    """Σ|w|, where w sums the Lagrange polynomials of the Gauss points over the rounds; N unless some w < 0."""
    nodes = [flint.arb.legendre_p_root(points, k) for k in range(points)]
    rounds = [flint.arb(2 * j + 1 - size) / size for j in range(size)]
    others = [[n for n in nodes if n is not node] for node in nodes]
    return sum(
        abs(sum(math.prod((x - n) / (node - n) for n in rest) for x in rounds))
        for node, rest in zip(nodes, others, strict=True)
    )


@pytest.mark.parametrize(
    ("formula", "points", "size", "ellipse"),
    [("one", 6, 13, 2), ("exp", 12, 5, 5), ("cos", 20, 41, 3), ("one", 46, 93, 3)],
)
def test_a_block_claims_no_more_than_the_theorem_says(formula, points, size, ellipse):
    """N + Σ|w| times the error of the cut series, 2Mq^(1-m)/(q-1), with M at least what f reaches on the ellipse."""
    low = 10 * size

    def f(t):
        x = (t - low) / flint.arb(size)
        return {"one": 1 + 0 * x, "exp": exp(x), "cos": (4 * x - 2).cos()}[formula]

    with flint.ctx.workprec(400):
        largest = max((abs(f(z)).lower() for z in ellipse_around(low, size, ellipse)), key=float)
        cut = 2 * largest / ((ellipse - 1) * flint.arb(ellipse) ** (points - 1))
        theorem = (size + sum_of_weights(points, size)) * cut
        assert block(f, low, size, points, ellipse).rad() > theorem * (1 - flint.arb(2) ** -20)


def test_a_sum_of_ones_has_the_radius_that_its_rule_of_46_points_can_prove():
    """All but the plain rounds at either end are in blocks, whatever their number, and each claims 2N/3^45 or more."""
    proved = total_ball(lambda t: 1 + 0 * t, 10**6)
    assert proved.contains(10**6)
    assert proved.rad() > flint.arb(2 * (10**6 - 400)) / 3**45


def test_a_sum_that_grows_too_fast_for_its_blocks_is_as_narrow_as_any():
    """On the ellipse of the last block e^(t/20) is e^68 times what it is on the block, which has to be halved."""
    T = 10**4
    with flint.ctx.workprec(400):
        step = (flint.arb(1) / 20).exp()
        sharp = step * (step**T - 1) / (step - 1)
    proved = total_ball(lambda t: exp(t / 20), T)
    assert proved.contains(sharp)
    assert proved.rad() < sharp * flint.arb(2) ** -60


def test_a_polynomial_of_a_degree_below_the_number_of_points_is_summed_exactly():
    with flint.ctx.workprec(400):
        assert abs(block(lambda t: t**5, 0, 13, 6).mid() - sum(t**5 for t in range(13))) < 1e-90


@pytest.mark.parametrize("ellipse", [2, 5])
def test_a_pole_inside_the_ellipse_is_noticed_and_one_far_outside_is_none(ellipse):
    low, size = 1000, 100
    for reach, refused in ((flint.arb(99) / 100, True), (6, False)):
        for pole in ellipse_around(low, size, ellipse, reach):

            def f(t, pole=pole):
                return 1 / ((t - pole.real) ** 2 + pole.imag**2)

            found = block(f, low, size, 46, ellipse)
            assert (found is None) == refused


def test_one_round_is_summed_and_more_than_a_float_can_count():
    one = total(lambda t: -t, 7, start=7)
    assert one.value == -7 == plain_total(lambda t: -t, 7, start=7) < 0 < one.error
    assert total_ball(lambda t: t, 7, start=7).contains(7)
    assert total_ball(lambda t: t, 10**18).contains(10**18 * (10**18 + 1) // 2)
    assert total_ball(lambda t: exp(-t / 50), 10**18).overlaps(1 / ((flint.arb(1) / 50).exp() - 1))


def real_alone(t):
    """A round that is no number off the real line."""
    return t if isinstance(t, flint.arb) else t * flint.arb.nan()


def test_what_cannot_be_summed_is_refused():
    for call, error, said in (
        (lambda: total(lambda t: t, 4, start=5), ValueError, "start=5 and T=4"),
        (lambda: total_ball(lambda t: t, 4, start=5), ValueError, "start=5 and T=4"),
        (lambda: total(lambda t: t, 10**18), ValueError, "use total_ball"),
        (lambda: total_ball(lambda t: 1 / (t - 3), 10**6), ArithmeticError, "not finite"),
        (lambda: total_ball(real_alone, 10**9), ArithmeticError, "no proof within"),
    ):
        with pytest.raises(error, match=said):
            call()


def test_integers_of_another_library_are_read(monkeypatch):
    """Where gmpy2 is installed, mpmath's integers are its own, which no ball is made of; NumPy's stand for them."""
    rule, bernoulli = summation.ball_rule.__wrapped__, mpmath.bernfrac
    nodes, table = rule(12, 64)
    monkeypatch.setattr(mpmath, "bernfrac", lambda n: tuple(map(np.int64, bernoulli(n))))
    again, other = rule(12, 64)
    assert all(a.overlaps(b) for a, b in zip((*nodes, *table.ravel()), (*again, *other.ravel()), strict=True))
