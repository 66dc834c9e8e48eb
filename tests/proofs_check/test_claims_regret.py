"""The regret, its three corrections, its sign, expansion and spread: what the claims build for themselves, and that
a wrong formula, planted wherever the right one was imported, is not accepted.
"""

import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from proofs_check.claim import Context
from proofs_check.claims.beyond import region_buys_nothing
from proofs_check.claims.beyond import regret_expansion as expansion_claim
from proofs_check.claims.beyond import spread as spread_claim
from proofs_check.claims.regret import decomposition, omega1, omega2, omega3, remark1, remark1_drift, sign
from proofs_check.groundwork.regret import (
    envelope,
    every_policy,
    expansion,
    omega2_rounds,
    omega2_sums,
    region_rates,
    regret_floor,
    transient,
)
from proofs_check.groundwork.regret.orders import UNIT
from theory import bound, penalty, rates, region, regret, regret_expansion, reuse
from theory import transient as closed
from theory.algebra import log, precise, ratio, sqrt
from theory.bound import Terms
from theory.constant_admission import constant_bound, oracle_bound

# --- bounds for every policy inside the region -------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 10])
@pytest.mark.parametrize("T", [1, 7, 500])
def test_constant_admission_lies_between_the_bounds_for_every_policy(K, T):
    with precise():
        policy = constant_bound(K, envelope.USUAL.rate, T, UNIT, certified=True).terms
        oracle = oracle_bound(K * envelope.USUAL.rate, T, UNIT, certified=True).terms
        found = envelope.three(policy) - envelope.three(oracle)
    low, high = (
        envelope.regret_end(K, envelope.USUAL, T, UNIT, stated=False, upper=upper) for upper in (False, True)
    )
    assert low <= found <= high


def test_the_spread_between_policies_stays_bounded_as_the_horizon_grows():
    early, late = (float(envelope.spread(2, envelope.USUAL, T, UNIT, stated=False)) for T in (10**5, 10**12))
    assert early < late < 1.02 * early


# --- planted errors ----------------------------------------------------------------------------------------


def forget():
    """Empty every cache of the checker: what was found before a plant is not found after it."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("proofs_check", "theory")):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture
def plant(monkeypatch):
    """Put a wrong function wherever the right one was imported."""

    def put(right, wrong):
        for name, module in list(sys.modules.items()):
            if name.startswith(("proofs_check", "theory")):
                for attribute, value in list(vars(module).items()):
                    if value is right:
                        monkeypatch.setattr(module, attribute, wrong)
        forget()

    yield put
    monkeypatch.undo()
    forget()


def times(function, top, bottom=1):
    return lambda *arguments, **named: function(*arguments, **named) * top / bottom


def late(function, position):
    """An index shifted by one."""

    def wrong(*arguments, **named):
        return function(*arguments[:position], arguments[position] + 1, *arguments[position + 1 :], **named)

    return wrong


def without_E(function):
    return lambda *arguments: function(*arguments[:-1], replace(arguments[-1], E=1))


def summed_without(function, name):
    def wrong(*arguments, **named):
        found = function(*arguments, **named)
        return replace(found, terms=replace(found.terms, **{name: 0 * found.terms.root}))

    return wrong


def narrower(K, t, where, lambert, *rest, right=envelope.round_range, **form):
    return right(K, t, where, lambert / 2, *rest, **form)


def floor_without_twice(K, where, T, constants, right=regret_expansion.regret_lower_bound):
    """1/N(s) for 2/N(s)."""
    c = constants.merged
    gaps = ratio(K + log(T), where.rate * (1 - where.rho))
    return right(K, where, T, c) + (c.D * c.sigma * sqrt(2 * K * where.rate) + c.eta * c.sigma**2) * gaps


H, lower = regret_expansion.generalisation_integral, regret_expansion.regret_lower_bound
PLANTS = {
    "H": (H, times(H, 2), expansion.antiderivative),
    "H as it is told": (H, times(H, 2), expansion_claim.closed_form),
    "third term, no logarithm": (
        bound.generalisation_term,
        lambda inverse, N, c: 10 * c.B * sqrt(c.Pdim * inverse),
        expansion.falling,
    ),
    "N_eff": (reuse.effective_from_sums, times(reuse.effective_from_sums, 2), every_policy.uses),
    "range of χ": (
        envelope.mismatch_range,
        lambda k, x, *rest, right=envelope.mismatch_range, **form: right(k, x * x, *rest, **form),
        partial(every_policy.mismatch_inside, stated=False),
    ),
    "range of a round": (envelope.round_range, narrower, every_policy.drawn_inside),
    "spread, too small": (
        closed.spread_bound,
        lambda K, r, c: Terms(root=1 + 0 * r.rho, linear=0, generalisation=0),
        lambda context: envelope.within_the_spread(context, 3),
    ),
    "spread, E ignored": (closed.spread_bound, without_E(closed.spread_bound), spread_claim.assembled),
    "lower ends, one round late": (
        region.region_minimum_total,
        late(region.region_minimum_total, 1),
        transient.fewest_samples,
    ),
    "comparison, one round late": (
        penalty.penalty_comparison,
        late(penalty.penalty_comparison, 1),
        partial(omega2_rounds.sequences, stated=False),
    ),
    "Ω₁ as printed": (regret.omega1, regret.omega1_as_stated, partial(omega1.the_sum, stated=False)),
    "Ω₂, one round more": (regret.omega2, late(regret.omega2, 2), partial(omega2.the_sum, stated=False)),
    "Ω₂'s bound, E ignored": (closed.omega2_bound, without_E(closed.omega2_bound), omega2_sums.assembled),
    "Ω₃, a term lost": (
        regret.omega3,
        summed_without(regret.omega3, "linear"),
        partial(omega3.round_by_round, stated=False),
    ),
    "master, sign": (regret.master_bound, regret.master_bound_as_stated, decomposition.chain),
    "Ω₃ as printed in the chain": (regret.omega3, regret.omega3_as_stated, decomposition.on_paths),
    "floor": (lower, floor_without_twice, regret_floor.added_up),
    "floor, above the regret": (
        lower,
        lambda K, r, T, c: 2 * regret_expansion.regret_expansion(K, r.rate, T, c),
        sign.floor_certified,
    ),
    "printed exponents": (rates.remark_1_as_stated, lambda g, f: (f, (g + 1) / 2), remark1.printed_exponents),
    "one constant for a constant per round": (
        rates.remark_1_by_one_constant,
        rates.remark_1_by_drift,
        remark1_drift.one_constant_threshold,
    ),
    "region, no 1/2": (rates.remark_1_by_region, lambda f: (f, f), region_rates.region_exponents),
    "occupancy": (reuse.occupancy_constant, times(reuse.occupancy_constant, 2), region_buys_nothing.fits),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_is_not_accepted(name, plant):
    right, wrong, check = PLANTS[name]
    plant(right, wrong)
    function = getattr(check, "func", check)
    asks = getattr(function, "__wrapped__", function).__code__.co_varnames[:1] == ("context",)
    try:
        found = check(*((Context(claim="planted", check=name),) if asks else ()))
    except (ArithmeticError, TypeError, ValueError):
        return  # a check that breaks is noticed, too
    assert found.outcome in ("fails", "open")


# --- tables and counterexamples ----------------------------------------------------------------------------


def test_the_table_shows_the_printed_rate_diverging_and_the_true_one_converging():
    rows = omega3.table((10**3, 10**6, 10**9), stated=False)
    printed, true = ([float(cell.split(f"{name} = ")[1].split(",")[0]) for cell in list(rows.values())[:3]]
                     for name in ("Ω₃/log T", "Ω₃/√(T log T)"))  # fmt: skip
    limit = float(rows["T → ∞"].split("→ ")[-1])
    assert printed[0] * 100 < printed[1] * 5 < printed[2]
    assert true[0] < true[1] < true[2] < limit < 1.1 * true[2]


def test_a_counterexample_that_acdpp_would_not_play_decides_nothing(monkeypatch):
    """At V = 1 the debt wins: the loop leaves the upper ends, and the example must not be claimed for ACDPP."""
    assert sign.loop_admits_upper_ends(2, 50, 1, Fraction(11, 2), 55).outcome != "holds"
    monkeypatch.setattr(sign, "_upper_ends", lambda T: [Fraction(10**6)] * T)
    assert sign.below_for_long().outcome != "holds"
    monkeypatch.setattr(decomposition, "WEIGHT", Fraction(1, 1000))
    assert decomposition.played_by_acdpp().outcome == "fails"
    assert decomposition.master_as_stated().outcome == "open"
