"""What the registry's own tests do not see: helpers against slow twins, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.claim import Context
from proofs_check.claims import counterexamples, excess_risk, generalisation, learning, recursion, worst_round
from proofs_check.claims.suprema import kolmogorov_mean, kuiper_mean
from proofs_check.claims.training import LINEAR, LOGISTIC, Problem, enumerate_quadratic, train
from theory.algebra import ball
from theory.bound import theorem_1

WEIGHTS = [(1,), (1, 1), (2, 2, 1), (97, 1, 1, 1)]


# --- exact suprema -----------------------------------------------------------------------------------------


def _drawn(counts, rng, runs=40_000):
    """W before and after each of the sorted samples, and the samples, one row a run."""
    samples = rng.random((runs, len(counts)))
    order = np.argsort(samples, axis=1)
    after = np.cumsum(np.array(counts, dtype=float)[order] / sum(counts), axis=1)
    before = np.concatenate([np.zeros((runs, 1)), after[:, :-1]], axis=1)
    return before, after, np.sort(samples, axis=1)


@pytest.mark.parametrize("counts", WEIGHTS)
@pytest.mark.parametrize(
    ("exact", "join"), [(kolmogorov_mean, np.maximum), (kuiper_mean, np.add)], ids=["thresholds", "intervals"]
)
def test_exact_mean_of_a_supremum_agrees_with_drawn_samples(exact, join, counts):
    before, after, samples = _drawn(counts, np.random.default_rng(1))
    found = join((after - samples).max(axis=1), (samples - before).max(axis=1))
    error = found.std() / np.sqrt(found.size)
    weights = [Fraction(a, sum(counts)) for a in counts]
    assert abs(found.mean() - float(exact(weights))) <= 5 * error + 1e-12


def test_the_proof_constant_is_close_to_what_is_claimed_and_a_smaller_one_is_not_accepted():
    assert generalisation.proved_constant(generalisation.CONSTANT).outcome == "holds"
    assert generalisation.proved_constant(Fraction(51, 10)).outcome == "fails"


# --- training ----------------------------------------------------------------------------------------------

QUADRATIC = Problem(
    name="(θ-z)²/2",
    points=(0.0, 1.0),
    chances=(0.5, 0.5),
    low=0.0,
    high=1.0,
    start=1.0,
    loss=lambda theta, z: (theta - z) ** 2 / 2,
    slope=lambda theta, z: theta - z,
    B=0.5,
    G=1.0,
    L=1.0,
    sigma=0.5,
)


@pytest.mark.parametrize(("K", "E"), [(1, 1), (2, 3), (6, 2)])
def test_simulated_training_agrees_with_all_streams_enumerated(K, E):
    exact = enumerate_quadratic(K, E, Fraction(1, 4), 6)
    runs = train(QUADRATIC, rates=(1,), K=K, T=6, eta=0.25, E=E, runs=40_000, rng=np.random.default_rng(2))
    assert abs(runs.excess.mean() - float(exact)) <= 5 * runs.excess.std() / np.sqrt(runs.excess.size)


@pytest.mark.parametrize("problem", [LINEAR, LOGISTIC], ids=["linear", "logistic"])
def test_the_constants_of_a_problem_bound_its_losses(problem):
    theta = np.linspace(problem.low, problem.high, 2001)
    losses, slopes = (np.array([f(theta, z) for z in problem.points]) for f in (problem.loss, problem.slope))
    chances = np.array(problem.chances)
    variance = chances @ slopes**2 - (chances @ slopes) ** 2
    assert chances.sum() == pytest.approx(1)
    assert losses.min() >= -1e-12
    assert losses.max() <= problem.B + 1e-12
    assert np.abs(slopes).max() <= problem.G + 1e-12
    assert variance.max() <= problem.sigma**2 + 1e-12
    assert np.abs(np.diff(slopes, axis=1)).max() <= problem.L * (theta[1] - theta[0]) + 1e-12
    assert problem.least_risk() <= problem.risk(theta).min() + 1e-12


def test_mismatch_at_the_iterate_is_its_expectation_where_it_does_not_depend_on_the_iterate():
    runs = train(LINEAR, rates=(3, 4), K=3, T=12, eta=0.1, E=1, runs=20_000, rng=np.random.default_rng(3))
    assert np.allclose(runs.mismatch_ratio, 1, atol=0.08)


# --- the counterexamples respect the corrected bound ---------------------------------------------------------


def test_drifting_clients_stay_below_the_corrected_bound():
    example = counterexamples.DriftingClients()
    size = [ball(example.clients)]
    terms = theorem_1(size, size, [ball(1)], [ball(0)], example.constants.map(ball)).terms
    bound = example.rounds * (terms.generalisation + terms.constant) + terms.initial
    assert example.cumulative_gap(population=True) < bound


def test_losses_of_the_drifting_clients_stay_inside_the_domain():
    constants = counterexamples.DriftingClients.constants
    assert constants.eta * constants.L <= 1  # a step towards a minimiser inside [0, 1] does not overshoot


# --- planted errors ----------------------------------------------------------------------------------------


def test_a_recursion_with_eta_in_place_of_eta_times_E_is_not_established(monkeypatch):
    monkeypatch.setattr(
        recursion, "rise", lambda constants, chi: worst_round.rise(replace(constants, E=1), chi)
    )
    assert recursion.corrected_recursion().outcome != "holds"


def test_a_recursion_without_the_mismatch_is_not_established(monkeypatch):
    monkeypatch.setattr(recursion, "rise", lambda constants, chi: worst_round.rise(constants, 0))
    assert recursion.corrected_recursion().outcome != "holds"


def test_a_worst_case_above_the_right_hand_side_is_seen(monkeypatch):
    right = worst_round.rise
    monkeypatch.setattr(worst_round, "rise", lambda constants, chi: right(constants, chi) / 2)
    assert worst_round.worst_case_corrected(Context()).outcome == "fails"


def test_a_memory_bound_without_its_first_term_is_refuted(monkeypatch):
    plain = excess_risk.memory_bound
    monkeypatch.setattr(excess_risk, "memory_bound", lambda a, n, c: plain(a, n, replace(c, D=c.D / 10)))
    assert excess_risk.memory_simulated(Context()).outcome == "fails"


def test_the_corrected_theorem_without_its_one_time_term_is_refuted(monkeypatch):
    def without(*arguments):
        bound = theorem_1(*arguments)
        return replace(bound, terms=replace(bound.terms, initial=0))

    monkeypatch.setattr(excess_risk, "theorem_1", without)
    assert excess_risk.simulated_linear(Context()).outcome == "fails"


def test_weights_that_are_not_the_shares_are_seen_to_be_biased(monkeypatch):
    monkeypatch.setattr(learning, "_as_stated", lambda shares, sizes: [Fraction(1, 4), Fraction(3, 4)])
    assert learning.equal_memories_enumerated(Context()).outcome == "fails"
