"""Drift, penalty, regret: the bounds that the claims build for themselves, and checks with wrong formulas planted."""

from fractions import Fraction
from functools import partial

import pytest

from proofs_check.claim import Context
from proofs_check.claims import (
    buffers,
    comparison,
    drift,
    omega1,
    omega2,
    omega3,
    remark1,
    slots,
    theorem2,
    violations,
)
from proofs_check.claims.envelope import regret_end, spread, three
from proofs_check.claims.orders import UNIT
from theory.algebra import precise
from theory.bound import Terms
from theory.constant_admission import constant_bound, constant_round_as_stated, oracle_bound
from theory.penalty import penalty_comparison_as_stated
from theory.rates import remark_1_as_stated
from theory.regret import omega2 as whole_omega2
from theory.regret import omega2_as_stated
from theory.setting import Region

REGION = Region(rate=10, rho=Fraction(9, 10))


# --- bounds for every policy inside the region -------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 10])
@pytest.mark.parametrize("T", [1, 7, 5000])
def test_constant_admission_lies_between_the_bounds_for_every_policy(K, T):
    with precise():
        policy = constant_bound(K, REGION.rate, T, UNIT, certified=True).terms
        regret = three(policy) - three(oracle_bound(K * REGION.rate, T, UNIT, certified=True).terms)
    low, high = (regret_end(K, REGION, T, UNIT, stated=False, upper=upper) for upper in (False, True))
    assert low <= regret
    assert regret <= high


def test_the_spread_between_policies_stays_bounded_as_the_horizon_grows():
    early, late = (float(spread(2, REGION, T, UNIT, stated=False)) for T in (10**5, 10**12))
    assert early < late < 1.02 * early


@pytest.mark.parametrize(("stated", "slow"), [(False, whole_omega2), (True, omega2_as_stated)])
def test_the_quick_bounds_on_omega2_contain_the_slow_sum(stated, slow):
    low, high = omega2.omega2_between(3, REGION, 2000, stated=stated)
    exact = slow(3, REGION, 2000, UNIT, certified=True).terms
    for name in ("root", "linear", "generalisation"):
        below, above, value = (getattr(terms, name) for terms in (low, high, exact))
        assert not below > value
        assert not value > above


def test_the_table_shows_the_printed_rate_diverging_and_the_true_one_converging():
    rows = omega3.table((10**3, 10**6, 10**9), stated=False)
    printed, true = ([float(cell.split(f"{name} = ")[1].split(",")[0]) for cell in list(rows.values())[:3]]
                     for name in ("Ω₃/log T", "Ω₃/√(T log T)"))  # fmt: skip
    assert printed[0] * 100 < printed[1] * 5 < printed[2]
    assert true[0] < true[1] < true[2] < 9.67
    assert "9.67" in rows["T → ∞"]


# --- planted errors ----------------------------------------------------------------------------------------


def _scaled(function, top, bottom=1):
    return lambda *arguments, **named: function(*arguments, **named) * top / bottom


def _one_index_late(K, T, region):
    return buffers_bound(K - 1, T, region)


buffers_bound = buffers.buffer_violation_bound
ZERO = Terms(root=0.0, linear=0.0, generalisation=0.0)
PLANTS = {
    "drift constant, factor": (
        drift,
        "drift_constant",
        _scaled(drift.drift_constant, 1, 2),
        drift.drift_exact,
    ),
    "drift constant, in the sum": (
        drift,
        "drift_constant",
        _scaled(drift.drift_constant, 3),
        drift.drift_sum,
    ),
    "debt, sign": (drift, "debt_update", lambda Z, c, x, C: max(Z - c * x + C, 0), drift.queue_exact),
    "comparison as printed": (
        comparison,
        "penalty_comparison",
        penalty_comparison_as_stated,
        comparison.early_rounds_exact,
    ),
    "no comparison penalty": (slots, "penalty_comparison", lambda *_: ZERO, slots.every_path),
    "Lambert sum, factor": (
        violations,
        "lambert_partial",
        _scaled(violations.lambert_partial, 9, 10),
        violations.region_bounds_cost,
    ),
    "Lambert bound, factor": (
        violations,
        "lambert_bound",
        _scaled(violations.lambert_bound, 9, 10),
        violations.lambert_bounded,
    ),
    "buffers, index": (buffers, "buffer_violation_bound", _one_index_late, buffers.region_bounds_buffers),
    "Ω₁, uniformity as printed": (omega1, "constant_round", constant_round_as_stated, omega1.corrected_order),
    "Ω₂, constant": (omega2, "omega2_limit", _scaled(omega2.omega2_limit, 11, 10), omega2.scaling),
    "Ω₃, constant": (
        omega3,
        "omega3_limit",
        _scaled(omega3.omega3_limit, 1, 2),
        omega3.omega3_order,
    ),
    "Ω₃, constant, certified": (
        omega3,
        "omega3_limit",
        _scaled(omega3.omega3_limit, 1, 2),
        omega3.certified,
    ),
    "range of χ, missing square": (
        theorem2,
        "mismatch_range",
        lambda k, x, *rest, **form: theorem2_range(k, x * x, *rest, **form),
        theorem2.range_exact,
    ),
    "remark 1, printed exponents": (
        remark1,
        "remark_1_by_drift",
        remark_1_as_stated,
        remark1.drift_condition_exact,
    ),
}
theorem2_range = theorem2.mismatch_range


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_is_not_accepted(name, monkeypatch):
    module, function, wrong, check = PLANTS[name]
    run = getattr(check, "__wrapped__", check)  # not what an earlier run has cached
    arguments = (Context(claim="planted", check=name),) if run.__code__.co_argcount else ()
    assert run(*arguments).outcome == "holds"
    monkeypatch.setattr(module, function, wrong)
    assert run(*arguments).outcome in ("fails", "open")


def test_the_printed_index_of_the_occupancy_is_refuted_by_the_simulator():
    context = Context(claim="planted", check="index")
    wrong = partial(comparison._occupancy_search, context)
    assert wrong(lambda s: (s["n(t)"] - s["Λ(t-K)"] + 3, s["N(t-1)"] + 3)).outcome == "fails"
    assert wrong(lambda s: (s["n(t-1)"] + 3, s["N(t-1)"] + 3)).outcome == "fails"
