"""Every public formula, evaluated in every number system, says the same."""

import inspect
import pkgutil
import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy
import torch

import theory
from theory.bound.theorem1 import Terms
from theory.law import curved
from theory.market.knapsack import Limit
from theory.numbers import algebra
from theory.setting import Budget, Constants, Region

SHARES = {"p": "uv", "q": "uw", "s": "vw"}  # p = u/(u+v), and so on


@dataclass(frozen=True)
class Arguments:
    """One draw of everything a formula may ask for; p, q and s lie between 0 and 1."""

    values: dict[str, Any]
    c: Constants
    region: Region

    def __getattr__(self, name):
        if name in SHARES:
            one, other = (self.values[part] for part in SHARES[name])
            return one / (one + other)
        return self.values[name]

    @property
    def smooth(self):
        """Constants with a step that is short enough for the smoothness."""
        return replace(self.c, G=self.c.B, L=1 / self.c.eta)

    @property
    def budget(self):
        return Budget(buffers=(self.c.D, self.c.sigma), cost=self.c.eta, mean_cost=self.c.B)


# What formulas are called with. One that is public and stands in neither table fails a test below.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "reuse.counts.effective_from_sums regret.rates.remark_1_as_stated regret.rates.remark_1_by_drift": lambda f, a: (
        f(a.u, a.v)
    ),
    "regret.rates.remark_1_by_one_constant": lambda f, a: f(a.u, a.v),
    "reuse.counts.mismatch_from_sums reuse.counts.uses_in_memory market.online.savings_ceiling": lambda f, a: (
        f(a.u, a.v, a.w, a.t)
    ),
    "market.online.rate_shortfall": lambda f, a: f(a.u, a.v, a.w, a.t),
    "reuse.counts.mismatch_from_gone": lambda f, a: f(a.u, a.w, a.v, a.K, a.K * a.K),
    "law.quadratic.contraction law.curved.local_pull law.curved.local_shift": lambda f, a: f(a.u, a.v, a.K),
    "law.quadratic.lag_sum law.quadratic.stationary_noise": lambda f, a: f(a.p, a.K),
    "law.quadratic.noise_floor law.quadratic.linear_regret": lambda f, a: f(
        a.w, a.K, h=[a.p], variance=[a.v], eta=a.q, E=a.K
    ),
    "law.stationary.full_memory_noise law.stationary.start_up_bound": lambda f, a: f(a.p, a.K, a.t),
    "law.stationary.mean_lag reuse.counts.crossover_constant reuse.counts.crossover_constant_as_stated": lambda f, a: (
        f(a.t)
    ),
    "law.stationary.total_weights": lambda f, a: tuple(f([a.u, a.v, a.w], a.K)),
    "law.stationary.inverse_effective_rate": lambda f, a: f([a.u, a.v, a.w], a.K),
    "law.stationary.small_step_floor": lambda f, a: f(a.w, h=[a.u, a.v], variance=[a.v, a.w], eta=a.u, E=a.K),
    "law.averaging.latest law.averaging.equal law.averaged_limits.polynomial_factor": lambda f, a: f(a.u),
    "law.averaging.polynomial": lambda f, a: f(a.u, a.v),
    "law.averaging.exponential": lambda f, a: f(a.K, a.p),
    "law.averaged_limits.averaged_left_constant": lambda f, a: f(a.p, a.t),
    "law.averaged_limits.averaged_noise_constant": lambda f, a: f(a.p, a.K, a.K + a.t),
    "law.averaged_limits.averaged_rest law.averaged_limits.averaged_rest_decaying": lambda f, a: f(
        a.p, a.u, a.t
    ),
    "law.averaged_limits.common_share": lambda f, a: f(a.p, a.K, a.K + a.t),
    "law.averaging.weights_giving": lambda f, a: tuple(f([a.u, a.v], a.p)),
    "law.averaged_limits.polynomial_left": lambda f, a: f(a.p, a.K, a.t),
    "law.averaged_limits.wait_factor": lambda f, a: f(a.p, a.q),
    "drift.long_run.mean_younger": lambda f, a: f(a.t),
    "drift.long_run.stationary_lag drift.long_run.slope_lag": lambda f, a: f(a.p, a.K),
    "drift.long_run.jump_left": lambda f, a: f(a.p, a.K, a.t),
    "drift.long_run.cycle_left": lambda f, a: f(a.p, a.K, a.q, a.s),
    "drift.long_run.drift_floor": lambda f, a: f(
        a.w, a.K, h=[a.p], variance=[a.v], walk=[a.u], slope=[a.s], eta=a.q, E=a.K
    ),
    "drift.retention.smoothed_floor": lambda f, a: f(
        a.w, a.s, a.K, h=[a.p], variance=[a.v], walk=[a.u], eta=a.q, E=a.K
    ),
    "drift.long_run.smoothed_noise drift.long_run.smoothed_lag": lambda f, a: f(a.p, a.q, a.K),
    "drift.long_run.tracking_step drift.long_run.tracking_risk": lambda f, a: f(a.u, a.v),
    "drift.long_run.least_drifting_risk": lambda f, a: f(
        a.t, h=[a.u, a.v], variance=[a.v, a.w], walk=[a.w, a.u]
    ),
    "drift.long_run.indifferent_drift": lambda f, a: f(a.p, a.K + 1, a.u, a.K, a.v),
    "drift.long_run.burst_tracking_risk": lambda f, a: f(a.u, a.v, a.t),
    "drift.long_run.freshness_drift": lambda f, a: f(a.u + a.v, a.v, 1 + a.t),
    "drift.long_run.freshness_drift_random": lambda f, a: f(a.u + a.v, a.v, a.q),
    "market.lower_bound.bayes_risk": lambda f, a: f(a.t, h=[a.u, a.v], variance=[a.v, a.w], prior=[a.w, a.u]),
    "market.lower_bound.least_risk": lambda f, a: f(a.t, h=[a.u, a.v], variance=[a.v, a.w]),
    "market.lower_bound.most_samples": lambda f, a: f(Limit(a.u, 1, a.v, a.w, "money"), a.t, a.w),
    "market.lower_bound.burst_inverse": lambda f, a: f(a.t, a.p),
    "market.lower_bound.burst_risk": lambda f, a: f(
        a.u, a.p, a.t, h=[a.q], variance=[a.v], start=[a.w], eta=a.s, E=a.K
    ),
    "market.lower_bound.van_trees": lambda f, a: f(a.u, a.v, a.w),
    "law.clients.pooled_bias law.clients.weighted_spread": lambda f, a: f([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "law.clients.own_optimum": lambda f, a: f([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "law.clients.pooled_spread law.clients.least_spread": lambda f, a: f([a.u, a.v], [a.v, a.w]),
    "law.clients.own_goal law.clients.own_spread": lambda f, a: f([a.u, a.v], [a.p, a.s], [a.w, a.u]),
    "law.curved.local_contraction": lambda f, a: f(a.u, a.v, a.w, a.v / a.u, a.K),
    "law.curved.own_weight": lambda f, a: f(a.p, a.K, a.w),
    "law.curved.mean_contraction": lambda f, a: f(a.w, a.K, h=a.p, spread=a.v, eta=a.q, E=a.K, clients=a.u),
    "law.curved.path_rest": lambda f, a: f(
        curved.Moments(a.u, a.v, a.w),
        tails=curved.Tails(-a.v, a.u, a.w, a.v),
        start=-a.w,
        eta=1 - a.p,
        rho=a.q,
        size=1 + a.t,
    ),
    "law.curved.square_rest": lambda f, a: f(
        curved.Moments(a.u, a.v, a.w, skew=-a.v),
        tails=curved.Tails(a.v, a.u, a.w, a.v),
        eta=1 - a.p,
        rho=a.q,
        size=1 + a.t,
    ),
    "law.curved.solved_bias": lambda f, a: f(curved.Moments(a.u, 0, a.v, tilt=a.w), third=a.v, size=a.t),
    "law.curved.regression_floor": lambda f, a: f(a.u, 1 + a.u + a.v),
    "law.curved.regression_floor_first_order market.online.reserve_weight": lambda f, a: f(a.u, a.v, a.w),
    "market.online.purchase_drift": lambda f, a: f(a.u, a.v, a.w),
    "law.curved.regression_floor_resummed": lambda f, a: f(a.u, a.u + a.v),
    "law.curved.stationary_bias": lambda f, a: f(a.w, a.K, h=a.p, tilt=a.v, eta=a.q, E=a.K, clients=a.u),
    "market.knapsack.uniform_threshold": lambda f, a: f(a.u, a.u + a.v, a.w),
    "market.knapsack.uniform_rate": lambda f, a: f(a.u, a.u + a.v, a.w, a.v),
    "market.knapsack.purchase_bound": lambda f, a: f([a.u, a.v, a.w], a.w, a.v, a.u, a.t),
    "market.capacity.effective_rate": lambda f, a: f(a.u, 1 + a.v),
    "market.capacity.age_burden": lambda f, a: (f(a.t), f(a.K, a.p), f(a.K, -a.p)),
    "market.capacity.noise_by_age": lambda f, a: f(a.w, 1 + a.v, a.p),
    "market.capacity.burst_rate market.capacity.burst_effective_rate": lambda f, a: f(a.u, a.K, a.s),
    "market.online.savings_price": lambda f, a: f(a.t, a.u, a.v),
    "market.online.debt_ceiling": lambda f, a: f(a.u, a.K, a.v, a.w, a.u, a.u + a.v),
    "market.online.overspending": lambda f, a: f(a.u, a.v, a.t),
    "market.online.frame_shortfall": lambda f, a: f(a.u, a.v, a.K, a.w, a.t),
    "market.online.age_ceiling": lambda f, a: f(a.u, a.v, a.w, a.u, a.v, a.t, a.w),
    "reuse.counts.uses_kstep reuse.counts.cohort_deficits": lambda f, a: f(a.t, a.K),
    "reuse.counts.uniformity_from_deficits": lambda f, a: f(a.u + a.v, a.u, a.v, a.K),
    "reuse.counts.effective_sample_size reuse.counts.uniformity": lambda f, a: f([a.u, a.v, a.w]),
    "reuse.counts.boundary_deficits reuse.counts.uniformity_kstep": lambda f, a: f([a.u, a.v, a.w, a.u], a.K),
    "reuse.counts.mismatch_kstep": lambda f, a: f([a.u, a.v, a.w, a.u], a.K),
    "reuse.counts.occupancy_constant reuse.counts.inverse_effective_constant": lambda f, a: f(a.K, a.t, a.u),
    "reuse.counts.mismatch_constant bound.sharper.stale_weight_constant": lambda f, a: f(a.K, a.t, a.u),
    "reuse.counts.mean_occupancy_constant": lambda f, a: f(a.K, a.t, a.u),
    "reuse.counts.uniformity_constant": lambda f, a: f(a.K, a.t),
    "reuse.counts.uniformity_constant_as_stated": lambda f, a: f(2 * a.K, a.t),
    "control.region.contraction control.region.region_maximum control.region.region_minimum_total": lambda f, a: (
        f(a.region, a.t)
    ),
    "control.region.region_maximum_total": lambda f, a: f(a.region, a.t),
    "control.region.region_minimum": lambda f, a: f(a.region, a.t - 3),
    "control.region.region_minimum_window": lambda f, a: f(a.region, a.K, a.t + a.K),
    "numbers.lambert.lambert_partial": lambda f, a: f(a.region.rho, a.t),
    "bound.theorem1.root_term bound.theorem1.linear_term": lambda f, a: f(a.u - a.v, a.c),
    "bound.theorem1.generalisation_term bound.sharper.sharper_round": lambda f, a: f(a.u, a.v, a.c),
    "bound.theorem1.generalisation_term_as_printed": lambda f, a: f(a.u, a.c.Pdim + a.v, a.c),
    "bound.theorem1.deviation_term bound.sharper.memory_round": lambda f, a: f(a.u, a.c),
    "bound.sharper.step_constant bound.sharper.halfway_constant": lambda f, a: f(a.c),
    "bound.theorem1.initial_term bound.theorem1.per_round_constant": lambda f, a: f(a.c),
    "bound.theorem1.per_round_constant_as_stated": lambda f, a: f(a.c),
    "bound.sharper.stale_weight": lambda f, a: f([a.u, a.v], [a.u + a.w, 2 * a.v], [a.v, a.w]),
    "bound.sharper.sharper_constant_round bound.sharper.memory_constant_round": lambda f, a: f(
        a.K, a.t, a.u, a.c
    ),
    "bound.constant_admission.constant_round control.penalty.penalty_limit": lambda f, a: f(
        a.K, a.t, a.u, a.c
    ),
    "control.penalty.least_rate_as_printed": lambda f, a: f(a.region.rho, a.c),
    "control.penalty.penalty_limit_as_stated": lambda f, a: f(a.K, a.t, a.u, a.c),
    "bound.stability.stability_round": lambda f, a: f(a.u, a.smooth),
    "bound.stability.stability_1": lambda f, a: f([a.u, a.v], a.smooth).terms,
    "bound.stability.stability_constant_round": lambda f, a: f(a.K, a.t, a.u, a.smooth),
    "bound.confidence.sample_range": lambda f, a: f(a.u, a.v, a.smooth),
    "bound.confidence.deviation": lambda f, a: f(a.u, a.region.rho),
    "bound.confidence.deviation_constant": lambda f, a: f(a.K, a.t, a.u, a.smooth, a.region.rho),
    "bound.stability.overlap_constant": lambda f, a: f(a.K, a.t, a.u),
    "bound.stability.overlap_by_uses": lambda f, a: f(1 + a.u, a.v),
    "bound.stability.curbed_overlap": lambda f, a: f(a.u, a.v, a.smooth.L / 2, a.smooth),
    "bound.sharper.sharper_1": lambda f, a: f([a.w, a.w], [a.u, a.u], [a.v, a.w], a.c).terms,
    "bound.sharper.memory_1": lambda f, a: f([a.u, a.v], a.c).terms,
    "bound.theorem1.round_terms": lambda f, a: f(a.u, a.v, a.w, a.c),
    "bound.constant_admission.constant_round_as_stated": lambda f, a: f(2 * a.K, a.t, a.u, a.c),
    "bound.theorem1.theorem_1": lambda f, a: f([a.u, a.v], [a.w, a.w], [a.u, a.u], [a.v, a.w], a.c).terms,
    "bound.theorem1.theorem_1_as_stated": lambda f, a: f([a.u, a.v], [a.w, a.w], [a.u, a.u], a.c).terms,
    "control.penalty.penalty control.penalty.penalty_terms": lambda f, a: f(a.u, a.u + a.v, a.c),
    "control.penalty.penalty_comparison": lambda f, a: f(a.K, a.t, a.region, a.c),
    "control.penalty.penalty_comparison_as_stated": lambda f, a: f(a.K, a.t, a.region, a.c),
    "regret.omegas.omega1_limit regret.omegas.omega1_discrepancy regret.omegas.omega2_limit": lambda f, a: f(
        a.K, a.u, a.c
    ),
    "regret.omegas.omega3_limit": lambda f, a: f(a.K, a.u, a.c),
    "regret.expansion.regret_log_free": lambda f, a: f(a.K, a.u, a.t, a.c),
    "regret.transient.lambert_reach control.violation.cost_violation_rate": lambda f, a: f(a.region.rho),
    "control.violation.lambert_bound": lambda f, a: f(a.region.rho),
    "regret.omegas.omega2_discrepancy": lambda f, a: f(a.region, a.c),
    "control.violation.cost_violation_toss": lambda f, a: f(a.region.rho, a.u),
    "control.violation.cost_violation_by_debt": lambda f, a: f(a.region, a.u, a.v, a.w, a.c),
    "control.violation.cost_violation_every_round": lambda f, a: f(1 + a.t, a.region, a.u, a.v, a.c),
    "regret.transient.omega2_bound regret.transient.omega2_floor": lambda f, a: f(a.K, a.region, a.c),
    "regret.transient.omega2_floor_as_stated regret.transient.spread_bound": lambda f, a: f(
        a.K, a.region, a.c
    ),
    "regret.omegas.drift_constant": lambda f, a: f(a.region, a.t, a.u, a.v),
    "regret.omegas.master_bound regret.omegas.master_bound_as_stated": lambda f, a: f(
        a.u, a.v, a.w, a.u, a.v
    ),
    "regret.rates.regret_rate": lambda f, a: f(1 + a.u, a.region.rho),
    "regret.rates.regret_rate_as_stated": lambda f, a: f(1 + a.u, a.v, a.region.rho),
    "control.violation.cost_violation_rate_as_stated": lambda f, a: f(a.u, a.v, a.region.rho),
    "control.violation.cost_violation_bound control.violation.cost_excess_maximum": lambda f, a: f(
        a.t, a.region, a.u, a.v
    ),
    "control.violation.cost_violation_by_peak": lambda f, a: f(a.t, a.region, a.u),
    "control.violation.cost_violation_least": lambda f, a: f(a.K, a.region.rho, a.u),
    "control.violation.buffer_violation_bound": lambda f, a: f(a.K, a.t, a.region),
    "regret.rates.remark_1_by_region": lambda f, a: f(a.u),
    "control.admission.debt_update": lambda f, a: f(a.u, a.v, a.w, 2 * a.u),
    "control.minimiser.drift_plus_penalty": lambda f, a: f(
        a.u, Z=a.v, cost=a.w, C=a.u, V=a.v, retained=a.u, seen=a.u + a.w, constants=a.c
    ),
    "control.minimiser.mismatch_slopes control.minimiser.mismatch_jerk": lambda f, a: f(
        a.u, a.u + a.v, a.v, a.c
    ),
    "design.offline.fill_ratio": lambda f, a: f(a.budget),
    "design.offline.best_rate": lambda f, a: f(a.K, a.budget),
    "design.offline.crossover_ratio": lambda f, a: f(a.K, a.K + a.p, a.c),
    "control.minimiser.generalisation_slopes": lambda f, a: f(a.c.Pdim + a.u, a.c, above=1),
}
FORMULAS = {name: call for names, call in CALLS.items() for name in names.split()}

# Not formulas of the paper: sums and searches over many rounds, or state that moves in arrays. Each has its own tests.
NOT_FORMULAS = {
    "control.admission": "acdpp_round advance integer_admissions",
    "law.averaging": "averaged averaged_risk best_weights by_shares contractions final_weights "
    "over_models over_rounds risk_matrix round_shares tail",
    "market.online": "buys used_again",
    "market.capacity": "trajectory_by_capacity trajectory_of",
    "bound.confidence": "deviation_1 influences",
    "bound.constant_admission": "constant_bound constant_bound_as_stated constant_breaks "
    "oracle_bound oracle_bound_as_stated sum_rounds",
    "law.curved": "cubic_shift first_order noise_correction",
    "drift.moving_optimum": "drifting_risk path_bias walk_lag",
    "drift.retention": "best_drifting_mean drift_design",
    "drift.long_run": "best_drifting_retention best_drifting_step best_drifting_window",
    "design.offline": "crossover_horizon crossover_leading design design_as_stated design_limit",
    "market.knapsack": "purchase_limit",
    "numbers.lambert": "lambert_total",
    "law.quadratic": "by_age by_capacity excess_risk squared_weights",
    "control.minimiser": "optimal_admission",
    "regret.omegas": "omega1 omega1_as_stated omega2 omega2_as_stated omega3 omega3_as_stated",
    "regret.expansion": "generalisation_integral regret_expansion regret_lower_bound",
    "market.replacement": "ages_in_memory best_replacement best_rule cycle least_burden",
    "reuse.counts": "from_totals trajectory",
    "bound.sharper": "sharper_constant_bound memory_constant_bound",
    "bound.stability": "overlaps recorded_overlaps stability_constant_bound",
    "law.stationary": "best_retention",
    "control.violation": "buffer_excess_maximum buffer_violation_maximum",
}
# no formulas of the paper at all
OTHERS = {
    "numbers.algebra",
    "market.long_run",
    "design.search",
    "setting",
    "market.sticky",
    "numbers.student",
    "numbers.summation",
}


def test_no_public_function_of_the_theory_escapes_this_test():
    names = {
        module.name.removeprefix("theory.")
        for module in pkgutil.walk_packages(theory.__path__, "theory.")
        if not module.ispkg
    } - OTHERS
    modules = {name: import_module(f"theory.{name}") for name in names}
    public = {
        f"{name}.{one}"
        for name, module in modules.items()
        for one in getattr(module, "__all__", ())
        if inspect.isfunction(getattr(module, one))
    }
    left_out = {f"{module}.{one}" for module, named in NOT_FORMULAS.items() for one in named.split()}
    assert public == FORMULAS.keys() | left_out


def drawn(name, number):
    """Arguments of a formula's own; in the first draw the memory has not filled yet, t <= K."""
    rng = random.Random(f"{name} {number}")

    def ratio():
        return Fraction(rng.randint(1, 400), rng.choice([7, 12, 20]))

    K = rng.randint(2, 6)
    t = rng.randint(1, 25 if number else K)
    constants = {one: ratio() for one in ("D", "sigma", "eta", "B", "Pdim", "L", "G")}
    return Arguments(
        {"u": ratio(), "v": ratio(), "w": ratio(), "K": K, "t": t},
        Constants(**constants, E=rng.randint(1, 3)),
        Region(rate=ratio(), rho=Fraction(rng.randint(1, 9), 10)),
    )


def convert(a, variable, constant=None):
    """The same numbers in another system; K stays a count, and settings may be kept in a simpler system."""
    constant = constant or variable
    values = {name: value if name == "K" else variable(value) for name, value in a.values.items()}
    return Arguments(values, a.c.map(constant), a.region.map(constant))


def evaluated(name, a):
    """What a formula gives, as a list."""
    module, _, function = name.rpartition(".")
    result = FORMULAS[name](getattr(import_module(f"theory.{module}"), function), a)
    if isinstance(result, Terms):
        return [getattr(result, f.name) for f in fields(result)]
    return list(result) if isinstance(result, tuple) else [result]


def exactly(value):
    assert isinstance(value, int | Fraction | sympy.Expr), f"{value!r} is not exact"
    exact = sympy.Rational(value) if isinstance(value, Fraction) else sympy.sympify(value)
    assert not exact.has(sympy.Float)
    return exact


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_says_the_same_in_every_number_system(name):
    for number in range(3):
        a = drawn(name, number)
        expected = [exactly(value) for value in evaluated(name, a)]
        with mpmath.workdps(40):
            references = [mpmath.mpf(str(sympy.N(value, 40))) for value in expected]
            scale = max([mpmath.mpf(1), *map(abs, references)])

            def agree(results, tolerance, references=references, scale=scale):
                for result, value in zip(results, references, strict=True):
                    assert abs(result - value) <= tolerance * scale, (name, result, value)

            agree(evaluated(name, convert(a, lambda x: mpmath.mpf(x.numerator) / x.denominator)), 1e-25)
        agree([float(x) for x in evaluated(name, convert(a, float))], 1e-9)

        columns = evaluated(name, convert(a, lambda x: np.array([float(x)] * 2), float))
        agree([float(np.broadcast_to(column, 2)[1]) for column in columns], 1e-9)
        tensors = evaluated(name, convert(a, lambda x: torch.from_numpy(np.array([float(x)] * 2)), float))
        agree([float(torch.as_tensor(one, dtype=torch.float64).expand(2)[1]) for one in tensors], 1e-9)

        with algebra.precise():
            for result, exact in zip(evaluated(name, convert(a, algebra.ball)), expected, strict=True):
                with flint.ctx.workprec(512):
                    narrow = flint.arb(str(sympy.N(exact, 120)), flint.arb(10) ** -110)
                assert flint.arb(result).overlaps(narrow), (name, result, exact)
                assert flint.arb(result).rad() < 1e-15 * float(scale), (name, result)


@pytest.mark.parametrize("name", [name for name in FORMULAS if not name.startswith("minimiser")])
def test_every_formula_on_symbols_reduces_to_its_exact_value(name):
    a, names = drawn(name, 3), {}

    def symbol(value):
        made = sympy.Symbol(f"s{len(names)}", positive=True, integer=isinstance(value, int) or None)
        names[made] = exactly(value)
        return made

    # an unevaluated Lambert sum has no sign, so Max and Min can't take it: there t is a number
    counted = name.startswith(("penalty.", "regret.", "violation."))
    values = {key: symbol(value) for key, value in a.values.items() if key not in "Kt"}
    values |= {"K": a.K, "t": sympy.Integer(a.t) if counted else symbol(a.t)}
    region = Region(rate=symbol(a.region.rate), rho=a.region.rho)
    on_symbols = evaluated(name, Arguments(values, a.c.map(symbol), region))
    for symbolic, value in zip(on_symbols, evaluated(name, a), strict=True):
        difference = sympy.sympify(symbolic).subs(names).doit() - exactly(value)
        small = sympy.Rational(1, 10**50)
        assert difference == 0 or abs(sympy.N(difference, 60, chop=False)) < small, (name, symbolic)


@pytest.mark.parametrize(
    ("function", "corner", "above", "below"),
    [
        (algebra.positive_part, 0, 2, 0),
        (algebra.sqrt_plus, 0, flint.acb(2).sqrt(), 0),
        (algebra.log_plus, 1, flint.acb(3).log(), 0),
        (lambda x: algebra.minimum(x, 5), 5, 5, 3),
    ],
)
def test_a_complex_ball_with_a_corner_in_it_claims_nothing_and_one_beside_it_the_value(
    function, corner, above, below
):
    for around in (flint.arb(corner), flint.arb(corner, 1)):
        alone = function is algebra.sqrt_plus and around == 0  # a radicand that vanishes
        assert function(flint.acb(around)).is_finite() == alone
    assert function(flint.acb(corner + 2)).contains(above)
    assert function(flint.acb(corner - 2)).contains(below)
