"""The claims about curvatures that differ: their ground truth by hand, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.claims.prediction import client_curvatures, local_steps, own_curvature, solved_memory
from proofs_check.groundwork.prediction import curvatures
from proofs_check.groundwork.prediction.curvatures import PAIR, Kinds, Stream, coefficients
from tests.proofs_check.planted import claim_of, established
from theory import clients, curved
from theory.algebra import ratio

F = Fraction
MODULES = (client_curvatures, local_steps, own_curvature, solved_memory)
WHERE = (*MODULES, curvatures, curved, clients)


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


FIRST_ORDER = curved.first_order


def _scaled(function, factor):
    return lambda *arguments, **rest: factor * function(*arguments, **rest)


def _twice(*arguments, **rest):
    found = FIRST_ORDER(*arguments, **rest)
    return replace(found, mean=2 * found.mean)


# for each claim one; benchmarks.mutants plants many more: function, what stands in its place
PLANTS = {
    "law:reuse/local-steps": ("local_shift", _scaled(curved.local_shift, 2)),
    "law:reuse/curvature": ("first_order", _twice),
    "law:reuse/curvature-noise": ("square_rest", _scaled(curved.square_rest, F(1, 10**4))),
    "law:reuse/cubic": ("cubic_shift", _scaled(curved.cubic_shift, 2)),
    "law:reuse/regression": ("regression_floor", ratio),
    "law:reuse/client-hessians": (
        "own_goal",
        lambda shares, a, means: clients.own_optimum(shares, [1] * len(shares), means),
    ),
}


@pytest.mark.parametrize("label", PLANTS)
def test_a_planted_error_takes_the_verdict_away(label, monkeypatch):
    function, planted = PLANTS[label]
    for module in WHERE:
        if hasattr(module, function):
            monkeypatch.setattr(module, function, planted)
    assert not established(claim_of(MODULES, label))
