"""Ω₁, Ω₂, their sum and the spread: what the claims build for themselves, and checks with wrong formulas planted."""

import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

import theory.bound
import theory.constant_admission
import theory.penalty
import theory.region
import theory.regret
import theory.transient
from proofs_check.claim import Context
from proofs_check.claims.beyond import spread as spread_claim
from proofs_check.claims.regret import decomposition, omega1, omega2
from proofs_check.groundwork.regret import every_policy, omega2_rounds, omega2_sums, regret_orders, transient
from proofs_check.groundwork.regret.envelope import mismatch_range, regret_end, spread, three
from proofs_check.groundwork.regret.orders import UNIT
from theory.algebra import precise, ratio
from theory.bound import Terms
from theory.constant_admission import constant_bound, oracle_bound
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


# --- planted errors ----------------------------------------------------------------------------------------


def _clear():
    """What checks remember of an earlier run."""
    for name, module in list(sys.modules.items()):
        if name.startswith("proofs_check."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture
def plant(monkeypatch):
    """Put a wrong function wherever the right one is used."""
    _clear()

    def planted(right, wrong):
        for name, module in list(sys.modules.items()):
            if name.startswith(("proofs_check.", "theory.")):
                for attribute, value in list(vars(module).items()):
                    if value is right:
                        monkeypatch.setattr(module, attribute, wrong)

    yield planted
    _clear()


def _scaled(function, term, top, bottom=1):
    """One term of the result multiplied."""

    def wrong(*arguments, **named):
        found = function(*arguments, **named)
        return replace(found, **{term: getattr(found, term) * top / bottom})

    return wrong


def _times(function, top, bottom=1):
    return lambda *arguments, **named: function(*arguments, **named) * top / bottom


def _late(function, position):
    """An index shifted by one."""

    def wrong(*arguments, **named):
        return function(*arguments[:position], arguments[position] + 1, *arguments[position + 1 :], **named)

    return wrong


def _unmerged_round(K, t, rate, constants):
    return theory.bound.round_terms(
        theory.reuse.mismatch_constant(K, t, rate),
        theory.reuse.inverse_effective_constant(K, t, rate),
        rate * t,
        constants,
    )


def _unmerged_limit(function):
    return lambda K, rate, constants: function(K, rate, replace(constants, E=1))


def _unmerged_bound(function):
    return lambda K, region, constants: function(K, region, replace(constants, E=1))


def _penalties_unmerged(admissions, K, constants):
    path = theory.reuse.trajectory(admissions, K)
    bound = theory.bound.theorem_1(path.n, path.N, path.uniformity, path.mismatch, constants)
    return theory.regret._three(bound.terms) - theory.regret._sum_penalties(path.n, path.N, constants)


bound, constant, penalty, region_, regret, closed = (
    theory.bound, theory.constant_admission, theory.penalty, theory.region, theory.regret, theory.transient,
)  # fmt: skip
repaired, printed = (partial(omega2_rounds.sequences, stated=form) for form in (False, True))
right_spread, right_range = closed.spread_bound, spread_claim.round_range
PLANTS = {
    "Ω₁, E ignored in the bound": (constant.constant_round, _unmerged_round, regret_orders.corrected_order),
    "Ω₁, E ignored in the limit": (
        regret.omega1_limit,
        _unmerged_limit(regret.omega1_limit),
        regret_orders.corrected_order,
    ),
    "Ω₁, root's constant": (
        regret.omega1_limit,
        _scaled(regret.omega1_limit, "root", 2),
        regret_orders.corrected_order,
    ),
    "Ω₁, linear constant, certified": (
        regret.omega1_limit,
        _scaled(regret.omega1_limit, "linear", 101, 100),
        omega1.corrected_table,
    ),
    "Ω₁, E ignored in the penalties": (
        regret.omega1,
        _penalties_unmerged,
        partial(omega1.the_sum, stated=False),
    ),
    "Ω₁ as stated, for Ω₁": (regret.omega1, regret.omega1_as_stated, partial(omega1.the_sum, stated=False)),
    "Ω₁ for Ω₁ as stated": (regret.omega1_as_stated, regret.omega1, partial(omega1.the_sum, stated=True)),
    "Ω₁, discrepancy": (
        regret.omega1_discrepancy,
        _times(regret.omega1_discrepancy, 1, 2),
        omega1.per_round_order,
    ),
    "range of χ, x too small": (
        mismatch_range,
        lambda k, x, *rest, **form: mismatch_range(k, x * x, *rest, **form),
        partial(every_policy.mismatch_inside, stated=False),
    ),
    "range of 1/n - 1/N_eff, ends exchanged": (
        mismatch_range,
        lambda k, x, rate, F, M, **form: mismatch_range(k, x, rate, M, F, **form),
        partial(every_policy.mismatch_inside, stated=True),
    ),
    "lower ends, one round late": (
        region_.region_minimum_total,
        _late(region_.region_minimum_total, 1),
        transient.fewest_samples,
    ),
    "upper end, factor": (region_.region_maximum, _times(region_.region_maximum, 2), transient.most_samples),
    "Lambert sum's bound": (
        closed.lambert_reach,
        _times(closed.lambert_reach, 1, 2),
        transient.most_samples,
    ),
    "comparison, one round late": (
        penalty.penalty_comparison,
        _late(penalty.penalty_comparison, 1),
        repaired,
    ),
    "comparison, K one too large": (
        penalty.penalty_comparison,
        _late(penalty.penalty_comparison, 0),
        repaired,
    ),
    "comparison as printed": (penalty.penalty_comparison, penalty.penalty_comparison_as_stated, repaired),
    "comparison repaired": (penalty.penalty_comparison_as_stated, penalty.penalty_comparison, printed),
    "limit as printed": (penalty.penalty_limit, penalty.penalty_limit_as_stated, repaired),
    "printed limit, one round late": (
        penalty.penalty_limit_as_stated,
        _late(penalty.penalty_limit_as_stated, 1),
        printed,
    ),
    "Ω₂'s sum for the printed one": (
        regret.omega2,
        regret.omega2_as_stated,
        partial(omega2.the_sum, stated=False),
    ),
    "Ω₂, one round more": (regret.omega2, _late(regret.omega2, 2), partial(omega2.the_sum, stated=False)),
    "Ω₂'s limit, root": (
        regret.omega2_limit,
        _scaled(regret.omega2_limit, "root", 11, 10),
        omega2_sums.integrals,
    ),
    "Ω₂'s limit, linear": (
        regret.omega2_limit,
        _scaled(regret.omega2_limit, "linear", 1, 2),
        omega2_sums.integrals,
    ),
    "Ω₂'s limit, E ignored": (
        regret.omega2_limit,
        _unmerged_limit(regret.omega2_limit),
        omega2_sums.integrals,
    ),
    "Ω₂'s bound, E ignored": (
        closed.omega2_bound,
        _unmerged_bound(closed.omega2_bound),
        omega2_sums.assembled,
    ),
    "Ω₂'s bound, third term": (
        closed.omega2_bound,
        _scaled(closed.omega2_bound, "generalisation", 1, 2),
        omega2_sums.assembled,
    ),
    "Ω₂'s bound, linear term, on examples": (
        closed.omega2_bound,
        _scaled(closed.omega2_bound, "linear", 1, 2),
        partial(omega2.between, stated=False),
    ),
    "Ω₂'s floor": (
        closed.omega2_floor,
        _scaled(closed.omega2_floor, "root", 101, 100),
        omega2_sums.floor_assembled,
    ),
    "Ω₂'s printed floor": (
        closed.omega2_floor_as_stated,
        _scaled(closed.omega2_floor_as_stated, "linear", 1, 2),
        omega2_sums.stated_floor,
    ),
    "spread, root": (closed.spread_bound, _scaled(closed.spread_bound, "root", 1, 2), spread_claim.assembled),
    "spread, E ignored": (closed.spread_bound, _unmerged_bound(closed.spread_bound), spread_claim.assembled),
    "spread, an eighth": (
        closed.spread_bound,
        lambda *setting: Terms(*(getattr(right_spread(*setting), name) / 8 for name in bound.PER_ROUND)),
        spread_claim.certified,
    ),
    "range of a round, too high an N": (
        spread_claim.round_range,
        lambda K, t, region, lambert, *rest, **form: right_range(K, t, region, lambert / 2, *rest, **form),
        spread_claim.inside,
    ),
    "master, sign": (regret.master_bound, regret.master_bound_as_stated, decomposition.chain),
    "master, V for its inverse": (
        regret.master_bound,
        lambda a, b, c, drift, V: a + b + c + drift * V,
        decomposition.chain,
    ),
    "Ω₃ as printed in the chain": (regret.omega3, regret.omega3_as_stated, decomposition.on_paths),
    "Ω₁ as printed in the chain": (regret.omega1, regret.omega1_as_stated, decomposition.on_paths),
    "slope of the penalty": (
        decomposition.mismatch_slopes,
        lambda n, N, expired, constants: (ratio(-1, n), 0),
        decomposition.played_by_acdpp,
    ),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_is_not_accepted(name, plant):
    right, wrong, check = PLANTS[name]

    def outcome():
        function = getattr(check, "func", check)
        asks = getattr(function, "__wrapped__", function).__code__.co_varnames[:1] == ("context",)
        return check(*((Context(claim="planted", check=name),) if asks else ())).outcome

    assert outcome() == "holds"
    _clear()
    plant(right, wrong)
    try:
        found = outcome()
    except (TypeError, ValueError, ArithmeticError):
        return  # a check that breaks is noticed, too
    assert found in ("fails", "open")


def test_the_printed_inequality_is_refuted_only_on_a_path_that_acdpp_plays(monkeypatch):
    assert decomposition.master_as_stated().outcome == "fails"
    monkeypatch.setattr(decomposition, "WEIGHT", Fraction(1, 1000))
    assert decomposition.played_by_acdpp().outcome == "fails"
    assert decomposition.master_as_stated().outcome == "open"


def test_a_regret_term_cannot_be_dropped_from_the_terms_compared():
    assert three(Terms(root=1, linear=2, generalisation=4, constant=8, initial=16)) == 7
