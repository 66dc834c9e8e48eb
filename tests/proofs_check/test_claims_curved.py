"""The claims about curvatures that differ: their ground truth by hand, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.claims.prediction import client_curvatures, local_steps, own_curvature, solved_memory
from proofs_check.groundwork.prediction import curvatures
from proofs_check.groundwork.prediction.curvatures import PAIR, Kinds, Stream, coefficients, followed, means
from tests.proofs_check.planted import claim_of, established
from theory import clients, curved
from theory.algebra import ratio

F = Fraction
MODULES = (client_curvatures, local_steps, own_curvature, solved_memory)
WHERE = (*MODULES, curvatures, curved, clients)
LOCAL, PATH, NOISE = "law:reuse/local-steps", "law:reuse/curvature", "law:reuse/curvature-noise"
CUBIC, SOLVED, OWN = "law:reuse/cubic", "law:reuse/regression", "law:reuse/client-hessians"


# --- the ground truth --------------------------------------------------------------------------------------


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
        assert [list(pair) for pair in followed(stream, 3, 2)] == stream.expected(1)


def test_coefficients_are_those_of_a_polynomial_in_one_over_the_scale():
    wanted = [F(2), F(-1, 3), F(0), F(7)]
    values = [sum(c / F(scale) ** k for k, c in enumerate(wanted)) for scale in range(1, 7)]
    assert coefficients(values) == [*wanted, 0, 0]
    mean, square = means(Stream(((1,),), 1, PAIR, F(0), F(1, 2)), 3)[1]
    assert (mean, square) == ([0, 0, 0], [0, PAIR.moments.noise / 4, 0])


# --- planted errors ----------------------------------------------------------------------------------------


def _scaled(name, factor):
    return lambda *arguments, **rest: factor * REAL[name](*arguments, **rest)


def _first(**factors):
    def planted(*arguments, **rest):
        found = REAL["first_order"](*arguments, **rest)
        return replace(found, **{name: factor * getattr(found, name) for name, factor in factors.items()})

    return planted


def _without(**moments):
    """theory's first order with some moments taken for 0."""
    return lambda clients, rounds, m, **rest: REAL["first_order"](
        clients, rounds, replace(m, **moments), **rest
    )


# name: (function, what stands in its place, the claim that must notice)
PLANTS = {
    "contraction, no powers of 1 - ηh": (
        "local_contraction",
        lambda h, w, n, eta, E: (1 - eta * h) ** E + E * (E - 1) * eta**2 * w / n / 2,
        LOCAL,
    ),
    "contraction, E² for E(E-1)": (
        "local_contraction",
        lambda h, w, n, eta, E: (1 - eta * h) ** E + E**2 * eta**2 * w * (1 - eta * h) ** (E - 2) / n / 2,
        LOCAL,
    ),
    "shift, doubled": ("local_shift", _scaled("local_shift", 2), LOCAL),
    "pull, a step less": ("local_pull", lambda h, eta, E: REAL["local_pull"](h, eta, E - 1), LOCAL),
    "path, twice": ("first_order", _first(mean=2), PATH),
    "path, no Var h": ("first_order", _without(spread=0), PATH),
    "path, no E[hg]": ("first_order", _without(tilt=0), PATH),
    "square, half": ("first_order", _first(square=F(1, 2)), PATH),
    "path, one client always": (
        "first_order",
        lambda clients, *arguments, **rest: REAL["first_order"](
            [sum(clients[1:], clients[0])], *arguments, **rest
        ),
        PATH,
    ),
    "path, what a sample shows now": (
        "mean_contraction",
        lambda rate, K, *, h, spread, eta, E=1, clients=1: (
            (1 - eta * h) + eta**2 * spread * REAL["own_weight"](1 - eta * h, K, rate)
        ),
        PATH,
    ),
    "own weight, a round more": ("own_weight", lambda a, K, rate: REAL["own_weight"](a, K + 1, rate), PATH),
    "bias, half": ("stationary_bias", _scaled("stationary_bias", F(1, 2)), PATH),
    "rest, a millionth": ("path_rest", _scaled("path_rest", F(1, 10**6)), PATH),
    "rest of the square, a part": ("square_rest", _scaled("square_rest", F(1, 10**4)), NOISE),
    "noise, no third moment": (
        "noise_correction",
        lambda cohorts, T, m, **rest: REAL["noise_correction"](cohorts, T, replace(m, skew=0), **rest),
        NOISE,
    ),
    "noise, no E[hg]": (
        "noise_correction",
        lambda cohorts, T, m, **rest: REAL["noise_correction"](cohorts, T, replace(m, tilt=0), **rest),
        NOISE,
    ),
    "cubic shift, no half": ("cubic_shift", _scaled("cubic_shift", 2), CUBIC),
    "cubic path, no reuse": ("first_order", _without(tilt=0), CUBIC),
    "solved bias, no half": (
        "solved_bias",
        lambda m, *, third, size: REAL["solved_bias"](m, third=2 * third, size=size),
        CUBIC,
    ),
    "regression, the law": ("regression_floor", lambda p, n: ratio(p, n), SOLVED),
    "regression, p/n": (
        "regression_floor_first_order",
        lambda p, n, q: ratio(p, n) * (1 + ratio(p, n)),
        SOLVED,
    ),
    "regression, resummed once": (
        "regression_floor_resummed",
        lambda p, n: ratio(p, n) * (1 + ratio(p, n)),
        SOLVED,
    ),
    "goal, by shares alone": (
        "own_goal",
        lambda shares, a, means: REAL["own_optimum"](shares, [1] * len(shares), means),
        OWN,
    ),
    "optimum, by shares alone": (
        "own_optimum",
        lambda shares, h, means: ratio(sum(p * x for p, x in zip(shares, means, strict=True)), sum(shares)),
        OWN,
    ),
    "spread, 1 - a once": (
        "own_spread",
        lambda shares, a, s: REAL["own_optimum"](shares, [1 - x for x in a], s),
        OWN,
    ),
}
ALL = {**vars(clients), **vars(curved)}
REAL = {name: ALL[name] for name, _, _ in PLANTS.values()}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_takes_the_verdict_away(name, monkeypatch):
    function, planted, label = PLANTS[name]
    for module in WHERE:
        if hasattr(module, function):
            monkeypatch.setattr(module, function, planted)
    assert not established(claim_of(MODULES, label))
