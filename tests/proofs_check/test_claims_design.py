"""The design claims' helpers against the ground truth, and planted errors that must be caught."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.claim import Context
from proofs_check.claims.beyond import monotone
from proofs_check.claims.design import finite_horizon, integrality, optimal_k, oracle
from proofs_check.groundwork.design import leading_terms
from proofs_check.simulator import simulate
from theory.admission import integer_admissions
from theory.bound import Terms
from theory.setting import Constants, Region


def test_a_frozen_buffer_is_all_samples_seen():
    for seen in simulate([[5], [0], [0], [0]], K=4):
        assert seen.mismatch == 0
        assert seen.N * seen.uniformity == seen.n == 5


def test_steep_losses_have_the_constants_that_the_oracle_claim_uses():
    theta = np.linspace(0, 1, 10_001)
    slopes = 200 * theta**199
    c = oracle.STEEP
    assert slopes.max() <= c.G
    assert (slopes / 2).max() <= c.sigma  # z = 0 or 1 with equal chances: deviation half the slope
    assert np.diff(slopes).max() <= c.L * (theta[1] - theta[0])
    assert (c.D, c.B) == (1, 1)


@pytest.mark.parametrize(
    ("rate", "rho", "last"), [(10, Fraction(99, 100), 238), (1, Fraction(1, 2), 1), (2, Fraction(9, 10), 10)]
)
def test_after_the_last_choice_the_region_holds_its_target_alone(rate, rho, last):
    region = Region(rate=rate, rho=rho)
    assert integrality.last_choice(rate, rho) == last
    assert list(integrality.whole_numbers(region, last + 1)) == [rate]
    assert len(integrality.whole_numbers(region, last)) > 1


def test_rounding_by_client_leaves_the_region_but_keeps_the_total():
    carry, totals = [0, 0], []
    for _ in range(4):
        admitted, carry = integer_admissions(Fraction(1), [Fraction(1, 2)] * 2, carry)
        totals.append(int(admitted.sum()))
    assert totals == [2, 0, 2, 0]


# --- planted errors ----------------------------------------------------------------------------------------


def test_a_wrong_threshold_for_the_last_choice_is_seen(monkeypatch):
    monkeypatch.setattr(integrality, "last_choice", lambda rate, rho: 1)
    assert integrality.alone_enumerated().outcome == "fails"


def test_a_crossover_one_round_off_is_seen(monkeypatch):
    monkeypatch.setattr(finite_horizon, "CROSSOVER", finite_horizon.CROSSOVER + 1)
    assert finite_horizon.crossover().outcome == "fails"


def test_a_design_that_misses_the_best_K_is_seen(monkeypatch):
    true = finite_horizon.design

    class Off:
        def __init__(self, K):
            self.K = K

    def wrong(budget, T, constants):
        K = true(budget, T, constants).K
        return Off(K - 1 if K > 1 else 2)

    monkeypatch.setattr(finite_horizon, "design", wrong)
    assert finite_horizon.search_finds_the_best(Context()).outcome == "fails"


def test_a_mismatch_that_rises_with_K_is_seen(monkeypatch):
    monkeypatch.setattr(monotone, "mismatch_constant", lambda K, t, rate: K / (t * rate))
    assert monotone.CLAIMS[0].checks[r"$\chi$, rate fixed"]().outcome == "fails"


def test_a_generalisation_term_with_a_wrong_exponent_has_another_order(monkeypatch):
    monkeypatch.setattr(leading_terms, "constant_round", _flat)
    assert leading_terms.third_term_grows.__wrapped__().outcome != "holds"


def _flat(K, t, rate, constants: Constants):
    return Terms(root=0, linear=0, generalisation=constants.B / t)


def test_a_fill_ratio_without_the_budget_is_seen(monkeypatch):
    monkeypatch.setattr(optimal_k, "fill_ratio", lambda budget: budget.mean_cost * budget.total_buffer)
    assert optimal_k.below_x_is_infeasible().outcome != "fails"
    assert optimal_k.from_x_on_is_feasible().outcome == "fails"


def test_losses_that_break_their_constants_refute_nothing(monkeypatch):
    monkeypatch.setattr(oracle, "STEEP", replace(oracle.STEEP, G=100))
    assert oracle.frozen_beats_as_stated().outcome == "open"
