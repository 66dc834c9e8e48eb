"""The generalisation lemma, the aggregation rule and the surviving printed bound: what they rest on, and that planted
errors are seen.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from proofs_check.claim import CheckError, Context, decide
from proofs_check.claims.beyond import three_local_steps
from proofs_check.claims.learning import aggregation, generalisation
from proofs_check.engines.exact import exhaust
from proofs_check.groundwork.learning import chaining, worst_round
from proofs_check.groundwork.learning.suprema import kolmogorov_mean, kuiper_mean
from theory import bound, sharper
from theory.algebra import log, log_plus, ratio, sqrt, sqrt_plus
from theory.bound import Terms
from theory.setting import Constants

# --- exact suprema -----------------------------------------------------------------------------------------


def _drawn(counts, rng, runs=40_000):
    """W before and after each of the sorted samples, and the samples, one row a run."""
    samples = rng.random((runs, len(counts)))
    order = np.argsort(samples, axis=1)
    after = np.cumsum(np.array(counts)[order], axis=1) / sum(counts)
    before = np.concatenate([np.zeros((runs, 1)), after[:, :-1]], axis=1)
    return before, after, np.take_along_axis(samples, order, axis=1)


@pytest.mark.parametrize("counts", [(1,), (1, 1), (2, 2, 1), (97, 1, 1, 1)])
@pytest.mark.parametrize(
    ("exact", "join"), [(kolmogorov_mean, np.maximum), (kuiper_mean, np.add)], ids=["thresholds", "intervals"]
)
def test_exact_mean_of_a_supremum_agrees_with_drawn_samples(exact, join, counts):
    before, after, samples = _drawn(counts, np.random.default_rng(1))
    found = join((after - samples).max(axis=1), (samples - before).max(axis=1))
    error = found.std() / np.sqrt(found.size)
    weights = [Fraction(a, sum(counts)) for a in counts]
    assert abs(found.mean() - float(exact(weights))) <= 5 * error + 1e-12


# --- chaining ----------------------------------------------------------------------------------------------


def test_the_constant_is_what_the_proof_gives_rounded_up_to_a_tenth():
    assert chaining.CONSTANT == bound.DEVIATION
    assert chaining.proved_constant().outcome == "holds"
    assert chaining.proved_constant(chaining.CONSTANT - Fraction(1, 10)).outcome == "fails"
    assert chaining.rounded_up().outcome == "holds"


def test_the_chaining_sum_agrees_with_plain_floats_and_its_tail_is_inside_the_ball():
    for d in (1, 2, 7, 100):
        plain = 2 * sum(
            8.0 ** (1 - j)
            / 2
            * np.sqrt(2 / d * (np.log(2 * np.e * (d + 1)) + d * np.log(2 * np.e * 4 * 64.0**j)))
            for j in range(1, 60)
        )
        assert abs(float(chaining.chaining_constant(d)) - plain) < 1e-12
        cut_early = chaining.chaining_constant(d, levels=3)
        assert cut_early.lower() <= plain <= cut_early.upper()
        assert cut_early.rad() > 1e-4


@pytest.mark.parametrize(
    "planted",
    [
        lambda inverse_square, d: log(2 * (d + 1)) + 1 + log(2 * inverse_square),  # not divided by d
        lambda inverse_square, d: (1 + log(2 * (d + 1))) * d + 1 + log(2 * inverse_square),
    ],
)
def test_an_entropy_that_grows_with_the_dimension_is_not_accepted(planted, monkeypatch):
    monkeypatch.setattr(chaining, "entropy", planted)
    assert chaining.decreases_in_d().outcome != "holds"
    assert chaining.proved_constant().outcome != "holds"


def test_a_tail_that_grows_faster_than_the_geometric_bound_is_not_accepted(monkeypatch):
    monkeypatch.setattr(
        chaining, "entropy", lambda inverse_square, d: (1 + log(2 * (d + 1))) / d + log(inverse_square) ** 2
    )
    assert chaining.tail_is_geometric().outcome != "holds"


# --- planted errors in the generalisation term -------------------------------------------------------------


def _term(constant=10, B=1, inside=1, root=sqrt_plus, plus=log_plus, upside_down=False):
    def planted(inverse_effective, N, constants):
        P = constants.Pdim
        radicand = P**inside * inverse_effective
        share = ratio(P, N) if upside_down else ratio(N, P)
        return constant * constants.B**B * root(radicand) * sqrt(1 + plus(share))

    return planted


WRONG_TERMS = {
    "constant 1": _term(constant=1),
    "half": _term(constant=5),
    "double": _term(constant=20),
    "no B": _term(B=0),
    "no Pdim": _term(inside=0),
    "no root": _term(root=lambda x: x),
    "plain logarithm": _term(plus=log),
    "no logarithm": _term(plus=lambda x: 0 * x),
    "logarithm of Pdim/N": _term(upside_down=True),
}


def _outcomes(claim):
    """All that a ledger would record of the evidence; a check that breaks is seen too."""
    try:
        case = decide(claim)
    except CheckError as error:
        return str(error)
    return [
        (e.part, e.method, e.strength, e.outcome, e.pieces)
        for found in (case.stated, case.hypotheses, case.corrected)
        for e in found
    ]


def test_the_true_term_written_in_the_test_is_theorys():
    constants = Constants(D=1, sigma=1, eta=1, B=3, Pdim=4)
    for N in (1, 4, 9):
        assert _term()(Fraction(1, 7), N, constants) == bound.generalisation_term(
            Fraction(1, 7), N, constants
        )


@pytest.mark.parametrize("name", WRONG_TERMS)
def test_a_wrong_generalisation_term_changes_the_evidence_of_the_lemma(name, monkeypatch):
    lemma = generalisation.CLAIMS[0]
    right = _outcomes(lemma)
    assert ("is within the term", "smt", "proof", "holds", 1) in right
    monkeypatch.setattr(generalisation, "generalisation_term", WRONG_TERMS[name])
    assert _outcomes(lemma) != right


@pytest.mark.parametrize("factor", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(21, 20), 2])
def test_another_constant_of_the_deviation_is_seen(factor, monkeypatch):
    monkeypatch.setattr(chaining, "CONSTANT", chaining.CONSTANT * factor)
    outcomes = [
        found.outcome for found in (chaining.proved_constant(chaining.CONSTANT), chaining.rounded_up())
    ]
    assert outcomes != ["holds", "holds"]


def test_a_constant_below_one_is_refuted_by_sets_of_points(monkeypatch):
    assert generalisation.at_least_one_is_needed().outcome == "holds"
    small = lambda w, c: bound.deviation_term(w, c) * Fraction(1, 6)  # noqa: E731
    monkeypatch.setattr(generalisation, "deviation_term", lambda w, c: sp.nsimplify(small(w, c)))
    assert generalisation.at_least_one_is_needed().outcome == "fails"


# --- aggregation -------------------------------------------------------------------------------------------


def test_the_printed_weights_are_biased_and_the_shares_are_not():
    total = sp.Symbol("total", positive=True)
    printed = aggregation.printed_weight(aggregation.SHARE, aggregation.SIZE, total)
    assert aggregation.unbiased(printed, "any memories").outcome == "fails"
    assert aggregation.share_weights_identity().outcome == "holds"
    assert aggregation.share_weights(Context()).outcome == "holds"
    assert aggregation.stated_weights(Context()).outcome == "fails"


@pytest.mark.parametrize("constant", ["D", "B", "G", "L", "sigma"])
def test_point_masses_that_violate_a_constant_are_no_counterexample(constant, monkeypatch):
    assert aggregation.stated_weights_theorem().outcome == "fails"

    def smaller(**values):
        return Constants(**{**values, constant: Fraction(values[constant]) / 3})

    monkeypatch.setattr(aggregation, "Constants", smaller)
    found = aggregation.stated_weights_theorem()
    assert found.outcome == "open"
    assert "was not shown to satisfy" in found.detail


# --- the printed bound, where it survives ------------------------------------------------------------------


def test_the_surviving_bound_asks_for_every_premise():
    claim = three_local_steps.CLAIMS[0]
    assert decide(claim).verdict == "proved"
    assert three_local_steps.MOST_STEPS == 3


def test_with_a_smaller_printed_constant_the_argument_is_not_accepted():
    share = sp.Rational(str((three_local_steps.ENOUGH - Fraction(1, 10)) / 10))
    assert three_local_steps._a_bound_is_below(share).outcome != "holds"


@pytest.mark.parametrize("steps", [4, 10])
def test_more_local_steps_are_not_covered(steps, monkeypatch):
    monkeypatch.setattr(three_local_steps, "MOST_STEPS", steps)
    assert three_local_steps.constants_cover().outcome != "holds"


def test_a_larger_bound_through_the_memory_or_through_all_samples_is_seen(monkeypatch):
    def scaled(one_round, factor):
        def planted(*arguments):
            terms = one_round(*arguments)
            return Terms(*(factor * x for x in (terms.root, terms.linear, terms.generalisation)))

        return planted

    for name, factor in (("memory_round", 2), ("sharper_round", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(three_local_steps, name, scaled(getattr(sharper, name), factor))
            assert three_local_steps.one_of_the_two().outcome != "holds"


def test_the_drawn_schedules_see_a_bound_that_is_too_small(monkeypatch):
    def without_generalisation(**columns):
        found = bound.theorem_1_as_stated(**columns)
        return replace(found, terms=replace(found.terms, generalisation=0))

    assert three_local_steps.schedules(Context()).outcome == "holds"
    monkeypatch.setattr(three_local_steps, "theorem_1_as_stated", without_generalisation)
    assert three_local_steps.schedules(Context()).outcome == "fails"


# --- worst rounds ------------------------------------------------------------------------------------------


def test_the_domain_of_a_worst_case_names_its_comparator():
    found = worst_round.worst_case_own_minimum()
    assert found.outcome == "fails"
    assert not found.sound
    assert found.domain.endswith("gap to own minimum")


def test_no_two_constants_of_the_worst_rounds_are_alike():
    values = [getattr(worst_round._example(3), name) for name in ("D", "sigma", "eta", "L", "G")]

    def repeated(value):
        return None if values.count(value) == 1 else {"times": values.count(value)}

    assert exhaust([{"value": v} for v in values], repeated, domain="").outcome == "holds"
