"""The claims about the law of reuse, with one curvature and with many: their ground truth by hand."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from proofs_check.claims.prediction import exact_law
from proofs_check.groundwork.prediction import lags, streams
from proofs_check.groundwork.prediction.curvatures import PAIR, Kinds, Stream, coefficients
from theory import law


def test_a_sample_has_the_stated_mean_and_the_axes_are_those_of_a_rotation():
    assert (F(3, 4), F(1, 4)) == streams.MEAN
    (a, b), (c, d) = streams.AXES
    assert (a * a + b * b, c * c + d * d, a * c + b * d) == (1, 1, 0)
    assert sum(streams.CHANCES) == 1


def test_one_step_from_one_sample_by_hand():
    problem = streams.Quadratic(h=(F(1), F(1)), eta=F(1, 2), E=1, start=(F(0), F(0)))
    first, second = problem.mean_excess([((0, 0),)])
    assert first == (F(3, 4) ** 2 + F(1, 4) ** 2) / 2
    halves = [(x / 2 - F(3, 4), y / 2 - F(1, 4)) for x, y in streams.VALUES]
    assert second == sum(p * (x * x + y * y) / 2 for p, (x, y) in zip(streams.CHANCES, halves, strict=True))


def test_local_steps_are_taken_client_by_client():
    problem = replace(exact_law.PROBLEM, E=3)
    together = problem.mean_excess([((0, 0), (0, 1))])
    apart = problem.mean_excess([((0, 0), (1, 1))])
    assert together == apart  # the split does not matter for one Hessian


@pytest.mark.parametrize(("admissions", "K"), lags.PATTERNS)
def test_the_long_run_noise_is_where_the_law_ends(admissions, K):
    a, T = F(2, 3), 24 * len(admissions)
    counts = list(admissions) * (T // len(admissions))
    noise = law.squared_weights(law.by_age(counts, K), a, T)
    for phase in range(len(admissions)):
        end = T - len(admissions) + phase + 1
        found = lags.long_run_noise(admissions, K, a, phase)
        assert abs(noise[end] - found) <= 50 * a ** (2 * (T - 20))


# --- curvatures that differ --------------------------------------------------------------------------------


def test_kinds_are_centred_and_their_chances_add_up():
    assert PAIR.moments.tilt == F(2, 3) - F(1, 3)
    for values, chances in ((((F(1), F(1), F(0)),), (F(1),)), (PAIR.values, (F(1, 2), F(1, 4)))):
        with pytest.raises(ValueError, match="chances must add up"):
            Kinds(values, chances)


def test_two_rounds_with_one_sample_by_hand():
    stream = Stream(((1,), (0,)), 2, PAIR, F(1), F(1, 2))
    path = [(1 - h / 2) * ((1 - h / 2) - g / 2) - g / 2 for h, g, _ in PAIR.values]
    (_, _, (mean, square)) = stream.expected(1)
    assert mean == sum(p * end for p, end in zip(PAIR.chances, path, strict=True))
    assert square == sum(p * end**2 for p, end in zip(PAIR.chances, path, strict=True))


def test_a_cubic_loss_moves_by_half_of_k_times_the_square():
    kinds = Kinds(tuple((h, g, F(4)) for h, g, _ in PAIR.values), PAIR.chances)
    stream = Stream(((1,),), 1, kinds, F(1), F(1, 2))
    plain = replace(stream, kinds=PAIR).expected(1)
    assert stream.expected(1)[1][0] == plain[1][0] - F(1, 2) * 4 / 2


def test_clients_are_weighed_by_what_they_hold():
    one = Kinds(
        ((F(1), F(1), F(0)), (F(1), F(-1), F(0))), (F(1, 2), F(1, 2))
    )  # one Hessian: the split is nothing
    apart = Stream(((1, 3), (0, 1)), 2, one, F(2), F(1, 3), E=3)
    assert apart.expected(1) == replace(apart, admissions=((4,), (1,))).expected(1)


def test_moments_that_are_followed_are_those_of_all_streams():
    for kept in (1, 2, 3):
        stream = Stream(((2,), (2,), (2,)), kept, PAIR, F(1), F(1, 2))
        assert [list(pair) for pair in stream.followed(3, 2)] == stream.expected(1)


def test_coefficients_are_those_of_a_polynomial_in_one_over_the_scale():
    wanted = [F(2), F(-1, 3), F(0), F(7)]
    values = [sum(c / F(scale) ** k for k, c in enumerate(wanted)) for scale in range(1, 7)]
    assert coefficients(values) == [*wanted, 0, 0]
    mean, square = Stream(((1,),), 1, PAIR, F(0), F(1, 2)).means(3)[1]
    assert (mean, square) == ([0, 0, 0], [0, PAIR.moments.noise / 4, 0])
