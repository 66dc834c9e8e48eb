"""Ω₃, the regret, its sign, its expansion and Remark 1: checks with wrong formulas planted are not accepted."""

import sys
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from proofs_check import ledger
from proofs_check.claim import Context
from proofs_check.claims.beyond import region_buys_nothing
from proofs_check.claims.beyond import regret_expansion as expansion_claim
from proofs_check.claims.regret import omega3, remark1, remark1_drift, sign, theorem2
from proofs_check.groundwork.regret import every_policy, expansion, region_rates, regret_floor
from theory import (
    bound,
    constant_admission,
    design,
    penalty,
    rates,
    region,
    regret,
    regret_expansion,
    reuse,
    transient,
    violation,
)
from theory.algebra import log, maximum, ratio, sqrt
from theory.bound import Terms


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


def run(check):
    check = getattr(check, "__wrapped__", check)
    needs = getattr(check, "__code__", None) is not None and check.__code__.co_argcount
    return check(Context(claim="planted", check="check")) if needs else check()


# --- wrong formulas ----------------------------------------------------------------------------------------

H = regret_expansion.generalisation_integral


def expansion_with(*, factor=10, oracle=1, dim=1):
    def wrong(K, rate, T, constants):
        scale = ratio(dim * constants.Pdim, rate)
        distinct = ratio(T, scale)
        return factor * constants.B * scale * (H(distinct) - ratio(H(K**oracle * distinct), K))

    return wrong


def floor_with(*, places=2, E=True, early=True, root=2):
    def wrong(K, where, T, constants):
        c, narrow = constants.merged if E else constants, 1 - where.rho
        scale = ratio(c.Pdim, where.rate)
        first = 10 * c.B * scale * H(ratio(1 + transient.lambert_reach(where.rho), scale)) if early else 0
        slope = c.D * c.sigma * sqrt(root * K * where.rate) + c.eta * c.sigma * c.sigma
        gaps = ratio(where.rho + places * (K + log(T)), where.rate * narrow)
        return regret_expansion.regret_expansion(K, where.rate, T, c) - first - slope * gaps

    return wrong


def integral_with(*, start=True, curved=2):
    def wrong(x):
        steps = 1 + sp.log(sp.Max(x, 1))
        low = sp.Min(x, 1)
        bend = sp.sqrt(curved * sp.pi / sp.E) * (
            sp.erfi(sp.sqrt(steps / 2)) - start * sp.erfi(1 / sp.sqrt(2))
        )
        return 2 * sp.sqrt(low) + 2 * (sp.sqrt(x / low) * sp.sqrt(steps) - 1) - bend

    return wrong


def scaled(function, name, top, bottom=1):
    """One term of a function that returns Terms, times a fraction."""

    def wrong(*arguments, **named):
        terms = function(*arguments, **named)
        return replace(terms, **{name: getattr(terms, name) * top / bottom})

    return wrong


def times(function, top, bottom=1):
    return lambda *arguments, **named: function(*arguments, **named) * top / bottom


def without_E(function):
    return lambda *arguments: function(*arguments[:-1], replace(arguments[-1], E=1))


def summed_without(function, name):
    def wrong(*arguments, **named):
        found = function(*arguments, **named)
        return replace(found, terms=replace(found.terms, **{name: 0 * found.terms.root}))

    return wrong


PLANTS = {
    "expansion, 10": (regret_expansion.regret_expansion, expansion_with(factor=9), expansion.expansion_slope),
    "expansion, the oracle's K": (
        regret_expansion.regret_expansion,
        expansion_with(oracle=2),
        expansion.expansion_slope,
    ),
    "expansion, Pdim": (regret_expansion.regret_expansion, expansion_with(dim=2), expansion.leading_order),
    "expansion, 10, certified": (
        regret_expansion.regret_expansion,
        expansion_with(factor=9),
        expansion_claim.settles,
    ),
    "H, slope": (H, integral_with(curved=3), expansion.antiderivative),
    "H, start": (H, integral_with(start=0), expansion.antiderivative),
    "H, factor": (H, times(H, 2), expansion.antiderivative),
    "third term, 10": (
        bound.generalisation_term,
        times(bound.generalisation_term, 9, 10),
        expansion.antiderivative,
    ),
    "third term, no logarithm": (
        bound.generalisation_term,
        lambda inverse, N, c: 10 * c.B * sqrt(c.Pdim * inverse),
        expansion.falling,
    ),
    "third term, no logarithm, in a range": (
        bound.generalisation_term,
        lambda inverse, N, c: 10 * c.B * sqrt(c.Pdim * inverse),
        every_policy.terms_inside,
    ),
    "root term, falling": (
        bound.root_term,
        lambda mismatch, c: -c.D * c.sigma * sqrt(mismatch),
        every_policy.terms_inside,
    ),
    "N_eff, doubled, for any counts": (
        reuse.effective_from_sums,
        times(reuse.effective_from_sums, 2),
        every_policy.uses,
    ),
    "N_eff, halved, for any counts": (
        reuse.effective_from_sums,
        times(reuse.effective_from_sums, 1, 2),
        every_policy.uses,
    ),
    "uses, one too many": (reuse.uses_kstep, lambda age, K: age + 1, every_policy.uses),
    "χ, the memory's share once": (
        reuse.mismatch_from_sums,
        lambda n, uses, squares, kept: 1 / n + squares / uses**2 - kept / (uses * n),
        every_policy.mismatch_of_sums,
    ),
    "expansion, the second term": (
        regret_expansion.regret_expansion,
        lambda K, rate, T, c: expansion_with()(K, rate, T, c) + c.B * sqrt(T / log(T)),
        expansion.second_order,
    ),
    "H as it is told": (H, integral_with(curved=3), expansion_claim.closed_form),
    "mismatch, so that the logarithms stay": (
        reuse.mismatch_constant,
        lambda K, t, rate: ratio(1 - ratio(K, t), K * rate),
        expansion.first_terms,
    ),
    "N_eff, doubled": (
        reuse.inverse_effective_constant,
        times(reuse.inverse_effective_constant, 1, 2),
        expansion.third_term,
    ),
    "Ω₁'s limit": (regret.omega1_limit, scaled(regret.omega1_limit, "root", 2), expansion.logarithms),
    "Ω₁'s limit, E": (regret.omega1_limit, without_E(regret.omega1_limit), expansion.logarithms),
    "Ω₃'s limit": (regret.omega3_limit, times(regret.omega3_limit, 1, 2), expansion.omega3_order),
    "Ω₃'s limit, certified": (regret.omega3_limit, times(regret.omega3_limit, 1, 2), omega3.certified),
    "Ω₃, a term lost": (
        regret.omega3,
        summed_without(regret.omega3, "linear"),
        lambda: omega3.round_by_round(stated=False),
    ),
    "Ω₃ as printed, a term lost": (
        regret.omega3_as_stated,
        summed_without(regret.omega3_as_stated, "root"),
        lambda: omega3.round_by_round(stated=True),
    ),
    "limiting penalty at K = 1": (
        penalty.penalty_limit,
        scaled(penalty.penalty_limit, "linear", 2),
        omega3.without_reuse,
    ),
    "floor, 2/N(s)": (regret_expansion.regret_lower_bound, floor_with(places=1), regret_floor.added_up),
    "floor, E": (regret_expansion.regret_lower_bound, floor_with(E=False), regret_floor.added_up),
    "floor, the early rounds": (
        regret_expansion.regret_lower_bound,
        floor_with(early=False),
        regret_floor.added_up,
    ),
    "floor, root": (regret_expansion.regret_lower_bound, floor_with(root=1), regret_floor.added_up),
    "floor, above the regret": (
        regret_expansion.regret_lower_bound,
        lambda K, r, T, c: regret_expansion.regret_expansion(K, r.rate, T, c) * 2,
        sign.floor_certified,
    ),
    "oracle's mismatch": (reuse.mismatch_constant, times(reuse.mismatch_constant, 2), regret_floor.gap),
    "Λ_min": (region.region_minimum, times(region.region_minimum, 1, 2), regret_floor.narrowest),
    "rate, √T": (
        rates.regret_rate,
        lambda T, rho: sqrt(T) + (1 - log(1 - rho)) / (1 - rho),
        theorem2.rate_in_the_horizon,
    ),
    "rate, no logarithm in ρ": (
        rates.regret_rate,
        lambda T, rho: sqrt(T * log(T)) + 1 / (1 - rho),
        expansion.spread_order,
    ),
    "rate, nothing at ρ = 0": (
        rates.regret_rate,
        lambda T, rho: sqrt(T * log(T)) - log(1 - rho) / (1 - rho),
        expansion.spread_order,
    ),
    "spread, of another order": (
        transient.spread_bound,
        lambda K, r, c: Terms(root=1 / (1 - r.rho) ** 2, linear=0, generalisation=0),
        expansion.spread_order,
    ),
    "spread, too small": (
        transient.spread_bound,
        lambda K, r, c: Terms(root=1 + 0 * r.rho, linear=0, generalisation=0),
        theorem2.certified_order,
    ),
    "printed rate, V lost": (
        rates.regret_rate_as_stated,
        lambda T, V, rho: T + 1 / (1 - rho) + log(T),
        theorem2.linear_in_the_horizon,
    ),
    "printed exponents": (rates.remark_1_as_stated, lambda g, f: (f, (g + 1) / 2), remark1.printed_exponents),
    "one constant, as a constant a round": (
        rates.remark_1_by_one_constant,
        rates.remark_1_by_drift,
        remark1_drift.one_constant_exponents,
    ),
    "one constant, threshold": (
        rates.remark_1_by_one_constant,
        rates.remark_1_by_drift,
        remark1_drift.one_constant_threshold,
    ),
    "a constant a round, as printed": (
        rates.remark_1_by_drift,
        rates.remark_1_as_stated,
        remark1_drift.each_round_threshold,
    ),
    "a constant a round, violation": (
        rates.remark_1_by_drift,
        lambda g, f: (rates.remark_1_by_one_constant(g, f)[0] + 0, maximum(2 * f, 1) / 2),
        remark1_drift.each_round_exponents,
    ),
    "region, no 1/2": (rates.remark_1_by_region, lambda f: (f, f), region_rates.region_exponents),
    "region, violation": (
        rates.remark_1_by_region,
        lambda f: (maximum(2 * f, 1) / 2, f / 2),
        region_rates.region_exponents,
    ),
    "drift constant": (regret.drift_constant, times(regret.drift_constant, 1, 2), remark1_drift.drift_orders),
    "Lambert bound": (
        violation.lambert_bound,
        times(violation.lambert_bound, 2),
        region_rates.violation_order,
    ),
    "best rate, max for min": (
        design.best_rate,
        lambda K, budget: maximum(ratio(budget.total_buffer, K), budget.affordable_rate),
        region_buys_nothing.affordable,
    ),
    "occupancy": (reuse.occupancy_constant, times(reuse.occupancy_constant, 2), region_buys_nothing.fits),
    "region's upper end": (
        region.region_maximum,
        times(region.region_maximum, 1, 2),
        region_buys_nothing.inside,
    ),
    "constant admission's bound": (
        constant_admission.constant_bound,
        summed_without(constant_admission.constant_bound, "generalisation"),
        expansion_claim.settles,
    ),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_is_not_accepted(name, plant):
    right, wrong, check = PLANTS[name]
    assert run(check).outcome == "holds"
    plant(right, wrong)
    try:
        found = run(check)
    except Exception:  # a check that breaks is noticed as well
        return
    assert found.outcome != "holds"


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
    assert sign.negative_for_long().outcome != "fails"


def test_the_two_readings_of_the_theorem_have_verdicts_of_their_own():
    """At fixed V the theorem is true and says O(T); with constants free of V it is false.

    As recorded, which test_claims holds to what is found.
    """
    recorded = {entry.id: entry.stated.verdict for entry in ledger.read()}
    found = {claim.id: recorded[claim.id] for claim in theorem2.CLAIMS}
    assert found == {"thm:dpp-regret": "proved", "thm:dpp-regret/uniform": "refuted"}
