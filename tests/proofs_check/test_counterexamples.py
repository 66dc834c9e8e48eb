"""A counterexample that breaks its own hypotheses, or tells nothing apart, decides nothing; and what the claims of
reuse, design, control, regret and the law of reuse take for known."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from proofs_check.claim import decide
from proofs_check.claims.bound import supremum
from proofs_check.claims.control import comparison, independence, t_slot
from proofs_check.claims.design import oracle
from proofs_check.claims.law import effective_rate
from proofs_check.claims.regret import decomposition, sign
from proofs_check.claims.reuse import ages
from proofs_check.groundwork.law.curvatures import PAIR, Kinds, Stream
from proofs_check.groundwork.reuse.reuse_rounds import added_up
from proofs_check.registry import labelled
from proofs_check.simulator import simulate
from theory.numbers.algebra import log_plus


def test_another_order_of_drop_and_training_breaks_the_retention_claim(monkeypatch):
    monkeypatch.setattr(ages, "simulate", lambda rounds, K, order="": simulate(rounds, K, "admit-drop-train"))
    assert decide(*labelled(["eq:kstep-drop"])).corrected_verdict == "refuted"


def test_a_loss_that_breaks_its_own_bound_or_convexity_refutes_nothing(monkeypatch):
    ramp = supremum.ramp
    for other, lost in ((lambda theta, z: 2 * ramp(theta, z), "G=1"), (supremum.bump, "convexity")):
        monkeypatch.setattr(supremum, "ramp", other)
        found = supremum.supremum_convex()
        assert found.outcome == "open"
        assert lost in found.detail


def test_a_sum_over_samples_refuses_powers_whose_sum_it_does_not_know():
    A, size, total = sp.symbols("A size total")
    assert added_up(3 * A - 2, A, size, total) == 3 * total - 2 * size
    with pytest.raises(ArithmeticError, match="A\\^2"):
        added_up(A**2, A, size, total)


def test_kinds_of_samples_are_centred_and_their_chances_add_up():
    assert PAIR.moments.tilt == Fraction(2, 3) - Fraction(1, 3)
    for values, chances in ((((1, 1, 0),), (1,)), (PAIR.values, (Fraction(1, 2), Fraction(1, 4)))):
        with pytest.raises(ValueError, match="chances must add up"):
            Kinds(values, chances)


def test_moments_that_are_followed_are_those_of_all_streams():
    for kept in (1, 2, 3):
        stream = Stream(((2,), (2,), (2,)), kept, PAIR, Fraction(1), Fraction(1, 2))
        assert [list(pair) for pair in stream.followed(3, 2)] == stream.expected(1)


def test_losses_that_break_their_constants_refute_nothing(monkeypatch):
    monkeypatch.setattr(oracle, "STEEP", replace(oracle.STEEP, G=100))
    (printed, _) = oracle.CLAIMS[0].checks
    assert printed().outcome == "open"


def test_a_counterexample_outside_its_hypotheses_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert independence.markov_factorises().outcome == "fails"
    monkeypatch.setattr(independence, "BUDGET", Fraction(2))  # the mean cost is not affordable any more
    assert independence.markov_factorises().outcome == "open"


def test_an_example_that_tells_nothing_apart_shows_nothing(monkeypatch):
    monkeypatch.setattr(effective_rate, "UNEVEN", (2, 2))
    assert effective_rate.counts_mislead().outcome == "open"


def test_a_counterexample_that_acdpp_would_not_play_decides_nothing(monkeypatch):
    """At V = 1 the debt wins: the loop leaves the upper ends, and the example must not be claimed for ACDPP."""
    assert sign.loop_admits_upper_ends(2, 50, 1, Fraction(11, 2), 55).outcome != "holds"
    monkeypatch.setattr(sign, "_upper_ends", lambda T: [Fraction(10**6)] * T)
    assert sign.below_for_long().outcome != "holds"
    monkeypatch.setattr(decomposition, "WEIGHT", Fraction(1, 1000))
    assert decomposition.played_by_acdpp(decomposition.SIGN).outcome == "fails"
    assert decomposition.wrong_sign().outcome == "open"


PRINTED = {  # refuting examples that are said to have the printed logarithm, and whose constants they have
    independence.markov_factorises: (independence, "ONES"),
    comparison.exceeds_as_stated: (comparison, "LIGHTER"),
    comparison.exceeds_with_reuse: (comparison, "LIGHTER"),
    t_slot.large_weight: (t_slot, "LIGHTER"),
    t_slot.drifting_costs: (t_slot, "ONES"),
    sign.negative_at_once: (sign, "ONES"),
    decomposition.real_in_every_round: (decomposition, "REAL"),
    decomposition.wrong_sign: (decomposition, "SIGN"),
}


@pytest.mark.parametrize("example", PRINTED, ids=lambda example: example.__name__)
def test_an_example_has_the_printed_logarithm_or_decides_nothing(monkeypatch, example):
    seen = []
    monkeypatch.setattr("theory.bound.theorem1.log_plus", lambda x: seen.append(x) or log_plus(x))
    assert example().outcome == "fails"
    assert seen
    assert not any(x < 1 for x in seen if not getattr(x, "free_symbols", ()))
    module, name = PRINTED[example]
    old = getattr(module, name)
    run = isinstance(old, decomposition.Run)
    larger = old._replace(constants=replace(old.constants, Pdim=100)) if run else replace(old, Pdim=100)
    monkeypatch.setattr(module, name, larger)
    assert example().outcome == "open"
