"""Every public formula, evaluated in every number system, says the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import theory.admission
import theory.bound
import theory.buying
import theory.capacity
import theory.clients
import theory.constant_admission
import theory.curved
import theory.design
import theory.knapsack
import theory.lambert
import theory.law
import theory.minimiser
import theory.penalty
import theory.prices
import theory.rates
import theory.region
import theory.regret
import theory.regret_expansion
import theory.replacement
import theory.reuse
import theory.sharper
import theory.stationary
import theory.transient
import theory.violation
from theory import algebra
from theory.bound import Terms
from theory.setting import Budget, Constants, Region


@dataclass(frozen=True)
class Arguments:
    """One draw of everything a formula may ask for; `numbers` turns it into another number system."""

    values: dict[str, Any]
    constants: Constants
    region: Region

    def __getattr__(self, name: str) -> Any:
        return self.values[name]

    @property
    def budget(self) -> Budget:
        c = self.constants
        return Budget(buffers=(c.D, c.sigma), cost=c.eta, mean_cost=c.B)


# What each formula is called with. A formula that is public and stands in neither table fails a test below.
FORMULAS: dict[str, Callable[[Any], Any]] = {
    "reuse.effective_from_sums": lambda a: theory.reuse.effective_from_sums(a.u, a.v),
    "reuse.mismatch_from_sums": lambda a: theory.reuse.mismatch_from_sums(a.u, a.v, a.w, a.t),
    "reuse.mismatch_by_kind": lambda a: theory.reuse.mismatch_by_kind(a.u, a.u + a.v, a.w, a.v, a.K),
    "reuse.mismatch_from_gone": lambda a: theory.reuse.mismatch_from_gone(a.u, a.w, a.v, a.K, a.K * a.K),
    "law.contraction": lambda a: theory.law.contraction(a.u, a.v, a.K),
    "law.lag_sum": lambda a: theory.law.lag_sum(a.u / (a.u + a.v), a.K),
    "law.stationary_noise": lambda a: theory.law.stationary_noise(a.u / (a.u + a.v), a.K),
    "law.noise_floor": lambda a: theory.law.noise_floor(
        a.w, a.K, h=[a.u / (a.u + a.v)], variance=[a.v], eta=a.u / (a.u + a.w), E=a.K
    ),
    "stationary.full_memory_noise": lambda a: theory.stationary.full_memory_noise(
        a.u / (a.u + a.v), a.K, a.t
    ),
    "stationary.start_up_bound": lambda a: theory.stationary.start_up_bound(a.u / (a.u + a.v), a.K, a.t),
    "stationary.mean_lag": lambda a: theory.stationary.mean_lag(a.t),
    "stationary.total_weights": lambda a: tuple(theory.stationary.total_weights([a.u, a.v, a.w], a.K)),
    "stationary.inverse_effective_rate": lambda a: theory.stationary.inverse_effective_rate(
        [a.u, a.v, a.w], a.K
    ),
    "stationary.small_step_floor": lambda a: theory.stationary.small_step_floor(
        a.w, h=[a.u, a.v], variance=[a.v, a.w], eta=a.u, E=a.K
    ),
    "clients.pooled_bias": lambda a: theory.clients.pooled_bias([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "clients.pooled_spread": lambda a: theory.clients.pooled_spread([a.u, a.v], [a.v, a.w]),
    "clients.weighted_spread": lambda a: theory.clients.weighted_spread([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "clients.least_spread": lambda a: theory.clients.least_spread([a.u, a.v], [a.v, a.w]),
    "clients.own_optimum": lambda a: theory.clients.own_optimum([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "clients.own_goal": lambda a: theory.clients.own_goal(
        [a.u, a.v], [a.u / (a.u + a.v), a.v / (a.v + a.w)], [a.w, a.u]
    ),
    "clients.own_spread": lambda a: theory.clients.own_spread(
        [a.u, a.v], [a.u / (a.u + a.v), a.v / (a.v + a.w)], [a.w, a.u]
    ),
    "curved.local_pull": lambda a: theory.curved.local_pull(a.u, a.v, a.K),
    "curved.local_contraction": lambda a: theory.curved.local_contraction(a.u, a.v, a.w, a.v / a.u, a.K),
    "curved.local_shift": lambda a: theory.curved.local_shift(a.u, a.v, a.K),
    "curved.own_weight": lambda a: theory.curved.own_weight(a.u / (a.u + a.v), a.K, a.w),
    "curved.mean_contraction": lambda a: theory.curved.mean_contraction(
        a.w, a.K, h=a.u / (a.u + a.v), spread=a.v, eta=a.u / (a.u + a.w), E=a.K, clients=a.u
    ),
    "curved.path_rest": lambda a: theory.curved.path_rest(
        theory.curved.Moments(a.u, a.v, a.w),
        tails=theory.curved.Tails(-a.v, a.u, a.w, a.v),
        start=-a.w,
        eta=a.v / (a.u + a.v),
        rho=a.u / (a.u + a.w),
        size=1 + a.t,
    ),
    "curved.square_rest": lambda a: theory.curved.square_rest(
        theory.curved.Moments(a.u, a.v, a.w, skew=-a.v),
        tails=theory.curved.Tails(a.v, a.u, a.w, a.v),
        eta=a.v / (a.u + a.v),
        rho=a.u / (a.u + a.w),
        size=1 + a.t,
    ),
    "curved.solved_bias": lambda a: theory.curved.solved_bias(
        theory.curved.Moments(a.u, 0, a.v, tilt=a.w), third=a.v, size=a.t
    ),
    "curved.regression_floor": lambda a: theory.curved.regression_floor(a.u, 1 + a.u + a.v),
    "curved.regression_floor_first_order": lambda a: theory.curved.regression_floor_first_order(
        a.u, a.v, a.w
    ),
    "curved.regression_floor_resummed": lambda a: theory.curved.regression_floor_resummed(a.u, a.u + a.v),
    "curved.stationary_bias": lambda a: theory.curved.stationary_bias(
        a.w, a.K, h=a.u / (a.u + a.v), tilt=a.v, eta=a.u / (a.u + a.w), E=a.K, clients=a.u
    ),
    "knapsack.uniform_threshold": lambda a: theory.knapsack.uniform_threshold(a.u, a.u + a.v, a.w),
    "knapsack.uniform_rate": lambda a: theory.knapsack.uniform_rate(a.u, a.u + a.v, a.w, a.v),
    "knapsack.purchase_bound": lambda a: theory.knapsack.purchase_bound([a.u, a.v, a.w], a.w, a.v, a.u, a.t),
    "capacity.effective_rate": lambda a: theory.capacity.effective_rate(a.u, 1 + a.v),
    "capacity.age_burden": lambda a: (
        theory.capacity.age_burden(a.t),
        theory.capacity.age_burden(a.K, a.u / (a.u + a.v)),
        theory.capacity.age_burden(a.K, -a.u / (a.u + a.v)),
    ),
    "capacity.noise_by_age": lambda a: theory.capacity.noise_by_age(a.w, 1 + a.v, a.u / (a.u + a.v)),
    "capacity.burst_rate": lambda a: theory.capacity.burst_rate(a.u, a.K, a.v / (a.v + a.w)),
    "capacity.burst_effective_rate": lambda a: theory.capacity.burst_effective_rate(
        a.u, a.K, a.v / (a.v + a.w)
    ),
    "buying.savings_price": lambda a: theory.buying.savings_price(a.t, a.u, a.v),
    "buying.reserve_weight": lambda a: theory.buying.reserve_weight(a.u, a.v, a.w),
    "buying.savings_ceiling": lambda a: theory.buying.savings_ceiling(a.u, a.v, a.w, a.t),
    "buying.debt_ceiling": lambda a: theory.buying.debt_ceiling(a.u, a.K, a.v, a.w, a.u, a.u + a.v),
    "buying.overspending": lambda a: theory.buying.overspending(a.u, a.v, a.t),
    "buying.drift_constant": lambda a: theory.buying.drift_constant(a.u, a.v, a.w),
    "buying.rate_shortfall": lambda a: theory.buying.rate_shortfall(a.u, a.v, a.w, a.t),
    "buying.frame_shortfall": lambda a: theory.buying.frame_shortfall(a.u, a.v, a.K, a.w, a.t),
    "buying.age_ceiling": lambda a: theory.buying.age_ceiling(a.u, a.v, a.w, a.u, a.v, a.t, a.w),
    "reuse.uses_kstep": lambda a: theory.reuse.uses_kstep(a.t, a.K),
    "reuse.cohort_deficits": lambda a: theory.reuse.cohort_deficits(a.t, a.K),
    "reuse.uniformity_from_deficits": lambda a: theory.reuse.uniformity_from_deficits(
        a.u + a.v, a.u, a.v, a.K
    ),
    "reuse.effective_sample_size": lambda a: theory.reuse.effective_sample_size([a.u, a.v, a.w]),
    "reuse.uniformity": lambda a: theory.reuse.uniformity([a.u, a.v, a.w]),
    "reuse.boundary_deficits": lambda a: theory.reuse.boundary_deficits([a.u, a.v, a.w, a.u], a.K),
    "reuse.uniformity_kstep": lambda a: theory.reuse.uniformity_kstep([a.u, a.v, a.w, a.u], a.K),
    "reuse.mismatch_kstep": lambda a: theory.reuse.mismatch_kstep([a.u, a.v, a.w, a.u], a.K),
    "reuse.occupancy_constant": lambda a: theory.reuse.occupancy_constant(a.K, a.t, a.u),
    "reuse.uniformity_constant": lambda a: theory.reuse.uniformity_constant(a.K, a.t),
    "reuse.uniformity_constant_as_stated": lambda a: theory.reuse.uniformity_constant_as_stated(2 * a.K, a.t),
    "reuse.inverse_effective_constant": lambda a: theory.reuse.inverse_effective_constant(a.K, a.t, a.u),
    "reuse.mismatch_constant": lambda a: theory.reuse.mismatch_constant(a.K, a.t, a.u),
    "reuse.crossover_constant": lambda a: theory.reuse.crossover_constant(a.t),
    "reuse.crossover_constant_as_stated": lambda a: theory.reuse.crossover_constant_as_stated(a.t),
    "region.contraction": lambda a: theory.region.contraction(a.region, a.t),
    "region.region_minimum": lambda a: theory.region.region_minimum(a.region, a.t - 3),
    "region.region_maximum": lambda a: theory.region.region_maximum(a.region, a.t),
    "region.region_minimum_total": lambda a: theory.region.region_minimum_total(a.region, a.t),
    "region.region_minimum_window": lambda a: theory.region.region_minimum_window(a.region, a.K, a.t + a.K),
    "region.region_maximum_total": lambda a: theory.region.region_maximum_total(a.region, a.t),
    "lambert.lambert_partial": lambda a: theory.lambert.lambert_partial(a.region.rho, a.t),
    "bound.root_term": lambda a: theory.bound.root_term(a.u - a.v, a.constants),
    "bound.linear_term": lambda a: theory.bound.linear_term(a.u - a.v, a.constants),
    "bound.generalisation_term": lambda a: theory.bound.generalisation_term(a.u, a.v, a.constants),
    "bound.deviation_term": lambda a: theory.bound.deviation_term(a.u, a.constants),
    "sharper.step_constant": lambda a: theory.sharper.step_constant(a.constants),
    "sharper.sharper_round": lambda a: theory.sharper.sharper_round(a.u, a.v, a.constants),
    "sharper.memory_round": lambda a: theory.sharper.memory_round(a.u, a.constants),
    "sharper.stale_weight": lambda a: theory.sharper.stale_weight(
        [a.u, a.v], [a.u + a.w, 2 * a.v], [a.v, a.w]
    ),
    "sharper.stale_weight_constant": lambda a: theory.sharper.stale_weight_constant(a.K, a.t, a.u),
    "sharper.sharper_constant_round": lambda a: theory.sharper.sharper_constant_round(
        a.K, a.t, a.u, a.constants
    ),
    "sharper.memory_constant_round": lambda a: theory.sharper.memory_constant_round(
        a.K, a.t, a.u, a.constants
    ),
    "sharper.sharper_1": lambda a: (
        theory.sharper.sharper_1([a.w, a.w], [a.u, a.u], [a.v, a.w], a.constants).terms
    ),
    "sharper.memory_1": lambda a: theory.sharper.memory_1([a.u, a.v], a.constants).terms,
    "bound.initial_term": lambda a: theory.bound.initial_term(a.constants),
    "bound.round_terms": lambda a: theory.bound.round_terms(a.u, a.v, a.w, a.constants),
    "bound.per_round_constant": lambda a: theory.bound.per_round_constant(a.constants),
    "bound.per_round_constant_as_stated": lambda a: theory.bound.per_round_constant_as_stated(a.constants),
    "constant_admission.constant_round": lambda a: theory.constant_admission.constant_round(
        a.K, a.t, a.u, a.constants
    ),
    "constant_admission.constant_round_as_stated": lambda a: (
        theory.constant_admission.constant_round_as_stated(2 * a.K, a.t, a.u, a.constants)
    ),
    "bound.theorem_1": lambda a: (
        theory.bound.theorem_1([a.u, a.v], [a.w, a.w], [a.u, a.u], [a.v, a.w], a.constants).terms
    ),
    "bound.theorem_1_as_stated": lambda a: (
        theory.bound.theorem_1_as_stated([a.u, a.v], [a.w, a.w], [a.u, a.u], a.constants).terms
    ),
    "penalty.penalty": lambda a: theory.penalty.penalty(a.u, a.u + a.v, a.constants),
    "penalty.penalty_terms": lambda a: theory.penalty.penalty_terms(a.u, a.u + a.v, a.constants),
    "penalty.penalty_limit": lambda a: theory.penalty.penalty_limit(a.K, a.t, a.u, a.constants),
    "penalty.penalty_limit_as_stated": lambda a: theory.penalty.penalty_limit_as_stated(
        a.K, a.t, a.u, a.constants
    ),
    "penalty.penalty_comparison": lambda a: theory.penalty.penalty_comparison(
        a.K, a.t, a.region, a.constants
    ),
    "penalty.penalty_comparison_as_stated": lambda a: theory.penalty.penalty_comparison_as_stated(
        a.K, a.t, a.region, a.constants
    ),
    "regret.omega1_limit": lambda a: theory.regret.omega1_limit(a.K, a.u, a.constants),
    "regret.omega1_discrepancy": lambda a: theory.regret.omega1_discrepancy(a.K, a.u, a.constants),
    "regret.omega2_limit": lambda a: theory.regret.omega2_limit(a.K, a.u, a.constants),
    "transient.lambert_reach": lambda a: theory.transient.lambert_reach(a.region.rho),
    "transient.omega2_bound": lambda a: theory.transient.omega2_bound(a.K, a.region, a.constants),
    "transient.omega2_floor": lambda a: theory.transient.omega2_floor(a.K, a.region, a.constants),
    "transient.omega2_floor_as_stated": lambda a: theory.transient.omega2_floor_as_stated(
        a.K, a.region, a.constants
    ),
    "transient.spread_bound": lambda a: theory.transient.spread_bound(a.K, a.region, a.constants),
    "regret.omega3_limit": lambda a: theory.regret.omega3_limit(a.K, a.u, a.constants),
    "regret.drift_constant": lambda a: theory.regret.drift_constant(a.region, a.t, a.u, a.v),
    "regret.master_bound": lambda a: theory.regret.master_bound(a.u, a.v, a.w, a.u, a.v),
    "regret.master_bound_as_stated": lambda a: theory.regret.master_bound_as_stated(a.u, a.v, a.w, a.u, a.v),
    "rates.regret_rate": lambda a: theory.rates.regret_rate(1 + a.u, a.region.rho),
    "rates.regret_rate_as_stated": lambda a: theory.rates.regret_rate_as_stated(1 + a.u, a.v, a.region.rho),
    "violation.cost_violation_rate": lambda a: theory.violation.cost_violation_rate(a.region.rho),
    "violation.cost_violation_rate_as_stated": lambda a: theory.violation.cost_violation_rate_as_stated(
        a.u, a.v, a.region.rho
    ),
    "violation.cost_violation_bound": lambda a: theory.violation.cost_violation_bound(
        a.t, a.region, a.u, a.v
    ),
    "violation.cost_excess_maximum": lambda a: theory.violation.cost_excess_maximum(a.t, a.region, a.u, a.v),
    "violation.cost_violation_by_peak": lambda a: theory.violation.cost_violation_by_peak(a.t, a.region, a.u),
    "violation.cost_violation_least": lambda a: theory.violation.cost_violation_least(a.K, a.region.rho, a.u),
    "violation.lambert_bound": lambda a: theory.violation.lambert_bound(a.region.rho),
    "violation.buffer_violation_bound": lambda a: theory.violation.buffer_violation_bound(a.K, a.t, a.region),
    "rates.remark_1_as_stated": lambda a: theory.rates.remark_1_as_stated(a.u, a.v),
    "rates.remark_1_by_drift": lambda a: theory.rates.remark_1_by_drift(a.u, a.v),
    "rates.remark_1_by_region": lambda a: theory.rates.remark_1_by_region(a.u),
    "rates.remark_1_by_one_constant": lambda a: theory.rates.remark_1_by_one_constant(a.u, a.v),
    "admission.debt_update": lambda a: theory.admission.debt_update(a.u, a.v, a.w, 2 * a.u),
    "minimiser.drift_plus_penalty": lambda a: theory.minimiser.drift_plus_penalty(
        a.u, Z=a.v, cost=a.w, C=a.u, V=a.v, retained=a.u, seen=a.u + a.w, constants=a.constants
    ),
    "minimiser.mismatch_slopes": lambda a: theory.minimiser.mismatch_slopes(a.u, a.u + a.v, a.v, a.constants),
    "minimiser.mismatch_jerk": lambda a: theory.minimiser.mismatch_jerk(a.u, a.u + a.v, a.v, a.constants),
    "design.fill_ratio": lambda a: theory.design.fill_ratio(a.budget),
    "design.best_rate": lambda a: theory.design.best_rate(a.K, a.budget),
    "design.crossover_ratio": lambda a: theory.design.crossover_ratio(
        a.K, a.K + a.u / (a.u + a.v), a.constants
    ),
    "minimiser.generalisation_slopes": lambda a: theory.minimiser.generalisation_slopes(
        a.constants.Pdim + a.u, a.constants, above=1
    ),
}

# Not formulas of the paper: sums and searches over many rounds, or state that moves in arrays. Each has its own tests.
NOT_FORMULAS = {
    # torch has no erfi; tests/theory/test_regret_expansion.py
    "regret_expansion.generalisation_integral",
    "regret_expansion.regret_expansion",
    "regret_expansion.regret_lower_bound",
    "violation.buffer_excess_maximum",
    "violation.buffer_violation_maximum",
    "law.by_age",
    "law.by_capacity",
    "law.excess_risk",
    "law.squared_weights",
    "stationary.best_retention",
    "buying.buys",  # a yes or no
    "capacity.trajectory_by_capacity",
    "capacity.trajectory_of",
    "knapsack.purchase_limit",
    "replacement.ages_in_memory",
    "replacement.best_replacement",
    "replacement.best_rule",
    "replacement.cycle",
    "replacement.least_burden",
    "curved.cubic_shift",
    "curved.first_order",
    "curved.noise_correction",
    "reuse.from_totals",
    "reuse.trajectory",
    "lambert.lambert_total",
    "constant_admission.constant_bound",
    "constant_admission.constant_bound_as_stated",
    "constant_admission.constant_breaks",
    "constant_admission.oracle_bound",
    "constant_admission.oracle_bound_as_stated",
    "constant_admission.sum_rounds",
    "sharper.sharper_constant_bound",
    "sharper.memory_constant_bound",
    "regret.omega1",
    "regret.omega1_as_stated",
    "regret.omega2",
    "regret.omega2_as_stated",
    "regret.omega3",
    "regret.omega3_as_stated",
    "admission.acdpp_round",
    "admission.advance",
    "admission.integer_admissions",
    "minimiser.optimal_admission",
    "design.crossover_horizon",
    "design.crossover_leading",
    "design.design",
    "design.design_as_stated",
    "design.design_limit",
}


def test_no_public_function_of_the_theory_escapes_this_test() -> None:
    modules = [
        theory.reuse,
        theory.region,
        theory.lambert,
        theory.law,
        theory.stationary,
        theory.clients,
        theory.curved,
        theory.prices,
        theory.knapsack,
        theory.capacity,
        theory.replacement,
        theory.buying,
        theory.bound,
        theory.sharper,
        theory.constant_admission,
        theory.penalty,
        theory.regret,
        theory.regret_expansion,
        theory.transient,
        theory.rates,
        theory.violation,
        theory.admission,
        theory.minimiser,
        theory.design,
    ]
    public = {
        f"{module.__name__.removeprefix('theory.')}.{name}"
        for module in modules
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    assert public == FORMULAS.keys() | NOT_FORMULAS


PHASES = [Phase.explicit, Phase.generate]  # shrinking exact expressions takes minutes and shows little
ratios = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=20)


@st.composite
def arguments(draw: Any) -> Arguments:
    values = {name: draw(ratios) for name in ("u", "v", "w")}
    values |= {"K": draw(st.integers(1, 6)), "t": draw(st.integers(1, 25))}
    numbers = {name: draw(ratios) for name in ("D", "sigma", "eta", "B", "Pdim", "L", "G")}
    rho = draw(st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10))
    return Arguments(
        values, Constants(**numbers, E=draw(st.integers(1, 3))), Region(rate=draw(ratios), rho=rho)
    )


def convert(
    a: Arguments, variable: Callable[[Any], Any], constant: Callable[[Any], Any] | None = None
) -> Arguments:
    """The same numbers in another system; K stays a count, and settings may be kept in a simpler system."""
    constant = constant or variable
    values = {name: value if name == "K" else variable(value) for name, value in a.values.items()}
    return Arguments(values, a.constants.map(constant), a.region.map(constant))


def flat(result: Any) -> list[Any]:
    if isinstance(result, Terms):
        return [getattr(result, f.name) for f in fields(result)]
    return list(result) if isinstance(result, tuple) else [result]


def exactly(value: Any) -> sympy.Expr:
    assert isinstance(value, int | Fraction | sympy.Expr), f"{value!r} is not exact"
    return (
        sympy.Rational(value.numerator, value.denominator)
        if isinstance(value, Fraction)
        else sympy.sympify(value)
    )


def reference(value: Any) -> Any:
    return mpmath.mpf(str(sympy.N(exactly(value), 40)))


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=6, phases=PHASES)
@given(data=st.data())
def test_every_formula_says_the_same_in_every_number_system(name: str, data: st.DataObject) -> None:
    a = data.draw(arguments())
    formula = FORMULAS[name]
    expected = flat(formula(a))
    with mpmath.workdps(40):
        references = [reference(value) for value in expected]
        scale = max([mpmath.mpf(1), *map(abs, references)])

        def agree(results: list[Any], tolerance: float) -> None:
            for result, value in zip(results, references, strict=True):
                assert abs(result - value) <= tolerance * scale, (name, result, value)

        agree(flat(formula(convert(a, lambda x: mpmath.mpf(x.numerator) / x.denominator))), 1e-25)
    agree([float(x) for x in flat(formula(convert(a, float)))], 1e-9)

    columns = flat(formula(convert(a, lambda x: np.array([float(x)] * 2), float)))
    agree([float(np.broadcast_to(column, 2)[1]) for column in columns], 1e-9)
    tensors = flat(formula(convert(a, lambda x: torch.tensor([float(x)] * 2, dtype=torch.float64), float)))
    agree([float(torch.as_tensor(tensor, dtype=torch.float64).expand(2)[1]) for tensor in tensors], 1e-9)

    with algebra.precise():
        for result, value in zip(flat(formula(convert(a, algebra.ball))), expected, strict=True):
            exact = exactly(value)
            with flint.ctx.workprec(512):
                narrow = flint.arb(str(sympy.N(exact, 120)), flint.arb(10) ** -110)
            assert flint.arb(result).overlaps(narrow), (name, result, value)
            assert flint.arb(result).rad() < 1e-15 * float(scale), (name, result)


@pytest.mark.parametrize("name", [name for name in FORMULAS if not name.startswith("minimiser")])
@settings(max_examples=2, phases=PHASES)
@given(data=st.data())
def test_every_formula_on_symbols_reduces_to_its_exact_value(name: str, data: st.DataObject) -> None:
    a = data.draw(arguments())
    names: dict[Any, Any] = {}

    def symbol(prefix: str) -> Callable[[Any], Any]:
        def make(value: Any) -> Any:
            s = sympy.Symbol(f"{prefix}{len(names)}", positive=True, integer=isinstance(value, int) or None)
            names[s] = exactly(value)
            return s

        return make

    # an unevaluated Lambert sum has no sign, so Max and Min can't take it: there t is a number
    kept = {"K": a.K} | (
        {"t": sympy.Integer(a.t)} if name.startswith(("penalty.", "regret.", "violation.")) else {}
    )
    values = {key: kept.get(key, None) or symbol(key)(value) for key, value in a.values.items()}
    region = Region(rate=symbol("rate")(a.region.rate), rho=a.region.rho)
    on_symbols = Arguments(values, a.constants.map(symbol("c")), region)
    for symbolic, value in zip(flat(FORMULAS[name](on_symbols)), flat(FORMULAS[name](a)), strict=True):
        difference = sympy.sympify(symbolic).subs(names).doit() - exactly(value)
        assert difference == 0 or abs(sympy.N(difference, 60, chop=False)) < sympy.Rational(1, 10**50), (
            name,
            symbolic,
        )


def test_exact_operands_never_become_floats_on_the_way() -> None:
    a = Arguments(
        {"u": Fraction(1, 3), "v": Fraction(2, 7), "w": Fraction(5), "K": 3, "t": 4},
        Constants(D=1, sigma=2, eta=Fraction(1, 10), B=1, Pdim=5, E=2, L=1, G=3),
        Region(rate=2, rho=Fraction(1, 3)),
    )
    for name, formula in FORMULAS.items():
        for value in flat(formula(a)):
            assert not exactly(value).has(sympy.Float), name
