"""The design claims' helpers against the ground truth, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.claim import Context
from proofs_check.claims.beyond import monotone
from proofs_check.claims.design import finite_horizon, integrality, optimal_k, oracle
from proofs_check.groundwork.design import leading_terms
from proofs_check.simulator import simulate
from theory.admission import integer_admissions
from theory.bound import Terms


def test_a_frozen_buffer_is_all_samples_seen():
    for seen in simulate([[5], [0], [0], [0]], K=4):
        assert seen.mismatch == 0
        assert seen.N * seen.uniformity == seen.n == 5


@pytest.mark.parametrize(
    ("rate", "rho", "last"), [(10, Fraction(99, 100), 238), (1, Fraction(1, 2), 1), (2, Fraction(9, 10), 10)]
)
def test_the_last_choice_is_known(rate, rho, last):
    assert integrality.last_choice(rate, rho) == last


def test_rounding_by_client_leaves_the_region_but_keeps_the_total():
    carry, totals = [0, 0], []
    for _ in range(4):
        admitted, carry = integer_admissions(Fraction(1), [Fraction(1, 2)] * 2, carry)
        totals.append(int(admitted.sum()))
    assert totals == [2, 0, 2, 0]


def _flat(K, t, rate, constants):
    return Terms(root=0, linear=0, generalisation=constants.B / t)


# where an error is planted, what it is, and the check that must not hold any more
PLANTED = [
    (integrality, "last_choice", lambda rate, rho: 1, lambda: integrality.alone_enumerated(Context())),
    (finite_horizon, "CROSSOVER", finite_horizon.CROSSOVER + 1, finite_horizon.crossover),
    (
        monotone,
        "mismatch_constant",
        lambda K, t, rate: K / (t * rate),
        monotone.CLAIMS[0].checks[r"$\chi$, rate fixed"],
    ),
    (leading_terms, "constant_round", _flat, leading_terms.third_term_grows.__wrapped__),
    (
        optimal_k,
        "fill_ratio",
        lambda budget: budget.mean_cost * budget.total_buffer,
        optimal_k.from_x_on_is_feasible,
    ),
]


@pytest.mark.parametrize(("module", "name", "wrong", "check"), PLANTED)
def test_a_planted_error_is_noticed(module, name, wrong, check, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    assert check().outcome != "holds"


def test_losses_that_break_their_constants_refute_nothing(monkeypatch):
    monkeypatch.setattr(oracle, "STEEP", replace(oracle.STEEP, G=100))
    (printed, _) = oracle.CLAIMS[0].checks
    assert printed().outcome == "open"
