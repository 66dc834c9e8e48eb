"""The generalisation lemma, the aggregation rule and the surviving printed bound: what they rest on, and that planted
errors are seen.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from proofs_check.claim import Context
from proofs_check.claims.beyond import three_local_steps
from proofs_check.claims.learning import aggregation, generalisation
from proofs_check.groundwork.learning import chaining
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


@pytest.mark.parametrize("counts", [(2, 2, 1), (97, 1, 1, 1)])
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
    assert chaining.proved_constant(chaining.CONSTANT - Fraction(1, 10)).outcome == "fails"


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


def test_an_entropy_that_grows_with_the_dimension_is_not_accepted(monkeypatch):
    monkeypatch.setattr(
        chaining, "entropy", lambda inverse_square, d: log(2 * (d + 1)) + 1 + log(2 * inverse_square)
    )
    assert chaining.proved_constant().outcome != "holds"


def test_a_tail_that_grows_faster_than_the_geometric_bound_is_not_accepted(monkeypatch):
    monkeypatch.setattr(
        chaining, "entropy", lambda inverse_square, d: (1 + log(2 * (d + 1))) / d + log(inverse_square) ** 2
    )
    assert chaining.tail_is_geometric().outcome != "holds"


# --- planted errors in the generalisation term -------------------------------------------------------------


def _term(constant=10, plus=log_plus):
    return lambda inverse_effective, N, c: (
        constant * c.B * sqrt_plus(c.Pdim * inverse_effective) * sqrt(1 + plus(ratio(N, c.Pdim)))
    )


def test_the_true_term_written_in_the_test_is_theorys():
    at = Fraction(1, 7), 9, Constants(D=1, sigma=1, eta=1, B=3, Pdim=4)
    assert _term()(*at) == bound.generalisation_term(*at)


@pytest.mark.parametrize("planted", [_term(constant=20), _term(plus=log)], ids=["double", "plain logarithm"])
def test_a_wrong_generalisation_term_is_not_the_printed_one(planted, monkeypatch):
    monkeypatch.setattr(generalisation, "generalisation_term", planted)
    assert generalisation.as_printed().outcome != "holds"


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(21, 20)])
def test_another_constant_of_the_deviation_is_seen(factor, monkeypatch):
    monkeypatch.setattr(chaining, "CONSTANT", chaining.CONSTANT * factor)
    found = (chaining.proved_constant(chaining.CONSTANT), chaining.rounded_up())
    assert [one.outcome for one in found] != ["holds", "holds"]


def test_a_constant_below_one_is_refuted_by_sets_of_points(monkeypatch):
    small = lambda w, c: sp.nsimplify(bound.deviation_term(w, c) * Fraction(1, 6))  # noqa: E731
    monkeypatch.setattr(generalisation, "deviation_term", small)
    assert generalisation.at_least_one_is_needed().outcome == "fails"


# --- aggregation -------------------------------------------------------------------------------------------


def test_the_printed_weights_are_biased():
    total = sp.Symbol("total", positive=True)
    printed = aggregation.printed_weight(aggregation.SHARE, aggregation.SIZE, total)
    assert aggregation.unbiased(printed, "any memories").outcome == "fails"


@pytest.mark.parametrize("constant", ["D", "B", "G", "L", "sigma"])
def test_point_masses_that_violate_a_constant_are_no_counterexample(constant, monkeypatch):
    def smaller(**values):
        return Constants(**{**values, constant: Fraction(values[constant]) / 3})

    monkeypatch.setattr(aggregation, "Constants", smaller)
    found = aggregation.stated_weights_theorem()
    assert found.outcome == "open"
    assert "was not shown to satisfy" in found.detail


# --- the printed bound, where it survives ------------------------------------------------------------------


def test_with_a_smaller_printed_constant_or_a_larger_bound_the_argument_is_not_accepted(monkeypatch):
    share = sp.Rational(str((three_local_steps.ENOUGH - Fraction(1, 10)) / 10))
    assert three_local_steps.a_bound_is_below(share).outcome != "holds"

    def scaled(*arguments):
        terms = sharper.memory_round(*arguments)
        return Terms(*(2 * x for x in (terms.root, terms.linear, terms.generalisation)))

    monkeypatch.setattr(three_local_steps, "memory_round", scaled)
    assert three_local_steps.a_bound_is_below().outcome != "holds"


def test_more_local_steps_are_not_covered(monkeypatch):
    monkeypatch.setattr(three_local_steps, "MOST_STEPS", 4)
    assert three_local_steps.constants_cover().outcome != "holds"


def test_the_drawn_schedules_see_a_bound_that_is_too_small(monkeypatch):
    def without_generalisation(**columns):
        found = bound.theorem_1_as_stated(**columns)
        return replace(found, terms=replace(found.terms, generalisation=0))

    monkeypatch.setattr(three_local_steps, "theorem_1_as_stated", without_generalisation)
    assert three_local_steps.schedules(Context()).outcome == "fails"
