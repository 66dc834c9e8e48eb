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
from theory import algebra, curved
from theory.bound import Terms
from theory.knapsack import Limit
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
    "reuse.effective_from_sums rates.remark_1_as_stated rates.remark_1_by_drift": lambda f, a: f(a.u, a.v),
    "rates.remark_1_by_one_constant": lambda f, a: f(a.u, a.v),
    "reuse.mismatch_from_sums reuse.uses_in_memory buying.savings_ceiling": lambda f, a: f(
        a.u, a.v, a.w, a.t
    ),
    "buying.rate_shortfall": lambda f, a: f(a.u, a.v, a.w, a.t),
    "reuse.mismatch_from_gone": lambda f, a: f(a.u, a.w, a.v, a.K, a.K * a.K),
    "law.contraction curved.local_pull curved.local_shift": lambda f, a: f(a.u, a.v, a.K),
    "law.lag_sum law.stationary_noise": lambda f, a: f(a.p, a.K),
    "law.noise_floor law.linear_regret": lambda f, a: f(a.w, a.K, h=[a.p], variance=[a.v], eta=a.q, E=a.K),
    "stationary.full_memory_noise stationary.start_up_bound": lambda f, a: f(a.p, a.K, a.t),
    "stationary.mean_lag reuse.crossover_constant reuse.crossover_constant_as_stated": lambda f, a: f(a.t),
    "stationary.total_weights": lambda f, a: tuple(f([a.u, a.v, a.w], a.K)),
    "stationary.inverse_effective_rate": lambda f, a: f([a.u, a.v, a.w], a.K),
    "stationary.small_step_floor": lambda f, a: f(a.w, h=[a.u, a.v], variance=[a.v, a.w], eta=a.u, E=a.K),
    "averaging.latest averaging.equal averaged_limits.polynomial_factor": lambda f, a: f(a.u),
    "averaging.polynomial": lambda f, a: f(a.u, a.v),
    "averaging.exponential": lambda f, a: f(a.K, a.p),
    "averaged_limits.averaged_left_constant": lambda f, a: f(a.p, a.t),
    "averaged_limits.averaged_noise_constant": lambda f, a: f(a.p, a.K, a.K + a.t),
    "averaged_limits.averaged_rest averaged_limits.averaged_rest_decaying": lambda f, a: f(a.p, a.u, a.t),
    "averaged_limits.common_share": lambda f, a: f(a.p, a.K, a.K + a.t),
    "averaging.weights_giving": lambda f, a: tuple(f([a.u, a.v], a.p)),
    "averaged_limits.polynomial_left": lambda f, a: f(a.p, a.K, a.t),
    "averaged_limits.wait_factor": lambda f, a: f(a.p, a.q),
    "drift_limits.mean_younger": lambda f, a: f(a.t),
    "drift_limits.stationary_lag drift_limits.slope_lag": lambda f, a: f(a.p, a.K),
    "drift_limits.jump_left": lambda f, a: f(a.p, a.K, a.t),
    "drift_limits.cycle_left": lambda f, a: f(a.p, a.K, a.q, a.s),
    "drift_limits.drift_floor": lambda f, a: f(
        a.w, a.K, h=[a.p], variance=[a.v], walk=[a.u], slope=[a.s], eta=a.q, E=a.K
    ),
    "drift_design.smoothed_floor": lambda f, a: f(
        a.w, a.s, a.K, h=[a.p], variance=[a.v], walk=[a.u], eta=a.q, E=a.K
    ),
    "drift_limits.smoothed_noise drift_limits.smoothed_lag": lambda f, a: f(a.p, a.q, a.K),
    "drift_limits.tracking_step drift_limits.tracking_risk": lambda f, a: f(a.u, a.v),
    "drift_limits.least_drifting_risk": lambda f, a: f(
        a.t, h=[a.u, a.v], variance=[a.v, a.w], walk=[a.w, a.u]
    ),
    "drift_limits.indifferent_drift": lambda f, a: f(a.p, a.K + 1, a.u, a.K, a.v),
    "drift_limits.burst_tracking_risk": lambda f, a: f(a.u, a.v, a.t),
    "drift_limits.freshness_drift": lambda f, a: f(a.u + a.v, a.v, 1 + a.t),
    "drift_limits.freshness_drift_random": lambda f, a: f(a.u + a.v, a.v, a.q),
    "lower_bound.bayes_risk": lambda f, a: f(a.t, h=[a.u, a.v], variance=[a.v, a.w], prior=[a.w, a.u]),
    "lower_bound.least_risk": lambda f, a: f(a.t, h=[a.u, a.v], variance=[a.v, a.w]),
    "lower_bound.most_samples": lambda f, a: f(Limit(a.u, 1, a.v, a.w, "money"), a.t, a.w),
    "lower_bound.burst_inverse": lambda f, a: f(a.t, a.p),
    "lower_bound.burst_risk": lambda f, a: f(
        a.u, a.p, a.t, h=[a.q], variance=[a.v], start=[a.w], eta=a.s, E=a.K
    ),
    "lower_bound.van_trees": lambda f, a: f(a.u, a.v, a.w),
    "clients.pooled_bias clients.weighted_spread": lambda f, a: f([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "clients.own_optimum": lambda f, a: f([a.u, a.v], [a.v, a.w], [a.w, a.u]),
    "clients.pooled_spread clients.least_spread": lambda f, a: f([a.u, a.v], [a.v, a.w]),
    "clients.own_goal clients.own_spread": lambda f, a: f([a.u, a.v], [a.p, a.s], [a.w, a.u]),
    "curved.local_contraction": lambda f, a: f(a.u, a.v, a.w, a.v / a.u, a.K),
    "curved.own_weight": lambda f, a: f(a.p, a.K, a.w),
    "curved.mean_contraction": lambda f, a: f(a.w, a.K, h=a.p, spread=a.v, eta=a.q, E=a.K, clients=a.u),
    "curved.path_rest": lambda f, a: f(
        curved.Moments(a.u, a.v, a.w),
        tails=curved.Tails(-a.v, a.u, a.w, a.v),
        start=-a.w,
        eta=1 - a.p,
        rho=a.q,
        size=1 + a.t,
    ),
    "curved.square_rest": lambda f, a: f(
        curved.Moments(a.u, a.v, a.w, skew=-a.v),
        tails=curved.Tails(a.v, a.u, a.w, a.v),
        eta=1 - a.p,
        rho=a.q,
        size=1 + a.t,
    ),
    "curved.solved_bias": lambda f, a: f(curved.Moments(a.u, 0, a.v, tilt=a.w), third=a.v, size=a.t),
    "curved.regression_floor": lambda f, a: f(a.u, 1 + a.u + a.v),
    "curved.regression_floor_first_order buying.reserve_weight": lambda f, a: f(a.u, a.v, a.w),
    "buying.purchase_drift": lambda f, a: f(a.u, a.v, a.w),
    "curved.regression_floor_resummed": lambda f, a: f(a.u, a.u + a.v),
    "curved.stationary_bias": lambda f, a: f(a.w, a.K, h=a.p, tilt=a.v, eta=a.q, E=a.K, clients=a.u),
    "knapsack.uniform_threshold": lambda f, a: f(a.u, a.u + a.v, a.w),
    "knapsack.uniform_rate": lambda f, a: f(a.u, a.u + a.v, a.w, a.v),
    "knapsack.purchase_bound": lambda f, a: f([a.u, a.v, a.w], a.w, a.v, a.u, a.t),
    "capacity.effective_rate": lambda f, a: f(a.u, 1 + a.v),
    "capacity.age_burden": lambda f, a: (f(a.t), f(a.K, a.p), f(a.K, -a.p)),
    "capacity.noise_by_age": lambda f, a: f(a.w, 1 + a.v, a.p),
    "capacity.burst_rate capacity.burst_effective_rate": lambda f, a: f(a.u, a.K, a.s),
    "buying.savings_price": lambda f, a: f(a.t, a.u, a.v),
    "buying.debt_ceiling": lambda f, a: f(a.u, a.K, a.v, a.w, a.u, a.u + a.v),
    "buying.overspending": lambda f, a: f(a.u, a.v, a.t),
    "buying.frame_shortfall": lambda f, a: f(a.u, a.v, a.K, a.w, a.t),
    "buying.age_ceiling": lambda f, a: f(a.u, a.v, a.w, a.u, a.v, a.t, a.w),
    "reuse.uses_kstep reuse.cohort_deficits": lambda f, a: f(a.t, a.K),
    "reuse.uniformity_from_deficits": lambda f, a: f(a.u + a.v, a.u, a.v, a.K),
    "reuse.effective_sample_size reuse.uniformity": lambda f, a: f([a.u, a.v, a.w]),
    "reuse.boundary_deficits reuse.uniformity_kstep": lambda f, a: f([a.u, a.v, a.w, a.u], a.K),
    "reuse.mismatch_kstep": lambda f, a: f([a.u, a.v, a.w, a.u], a.K),
    "reuse.occupancy_constant reuse.inverse_effective_constant": lambda f, a: f(a.K, a.t, a.u),
    "reuse.mismatch_constant sharper.stale_weight_constant": lambda f, a: f(a.K, a.t, a.u),
    "reuse.mean_occupancy_constant": lambda f, a: f(a.K, a.t, a.u),
    "reuse.uniformity_constant": lambda f, a: f(a.K, a.t),
    "reuse.uniformity_constant_as_stated": lambda f, a: f(2 * a.K, a.t),
    "region.contraction region.region_maximum region.region_minimum_total": lambda f, a: f(a.region, a.t),
    "region.region_maximum_total": lambda f, a: f(a.region, a.t),
    "region.region_minimum": lambda f, a: f(a.region, a.t - 3),
    "region.region_minimum_window": lambda f, a: f(a.region, a.K, a.t + a.K),
    "lambert.lambert_partial": lambda f, a: f(a.region.rho, a.t),
    "bound.root_term bound.linear_term": lambda f, a: f(a.u - a.v, a.c),
    "bound.generalisation_term sharper.sharper_round": lambda f, a: f(a.u, a.v, a.c),
    "bound.generalisation_term_as_printed": lambda f, a: f(a.u, a.c.Pdim + a.v, a.c),
    "bound.deviation_term sharper.memory_round": lambda f, a: f(a.u, a.c),
    "sharper.step_constant sharper.halfway_constant": lambda f, a: f(a.c),
    "bound.initial_term bound.per_round_constant": lambda f, a: f(a.c),
    "bound.per_round_constant_as_stated": lambda f, a: f(a.c),
    "sharper.stale_weight": lambda f, a: f([a.u, a.v], [a.u + a.w, 2 * a.v], [a.v, a.w]),
    "sharper.sharper_constant_round sharper.memory_constant_round": lambda f, a: f(a.K, a.t, a.u, a.c),
    "constant_admission.constant_round penalty.penalty_limit": lambda f, a: f(a.K, a.t, a.u, a.c),
    "penalty.least_rate_as_printed": lambda f, a: f(a.region.rho, a.c),
    "penalty.penalty_limit_as_stated": lambda f, a: f(a.K, a.t, a.u, a.c),
    "stability.stability_round": lambda f, a: f(a.u, a.smooth),
    "stability.stability_1": lambda f, a: f([a.u, a.v], a.smooth).terms,
    "stability.stability_constant_round": lambda f, a: f(a.K, a.t, a.u, a.smooth),
    "confidence.sample_range": lambda f, a: f(a.u, a.v, a.smooth),
    "confidence.deviation": lambda f, a: f(a.u, a.region.rho),
    "confidence.deviation_constant": lambda f, a: f(a.K, a.t, a.u, a.smooth, a.region.rho),
    "stability.overlap_constant": lambda f, a: f(a.K, a.t, a.u),
    "stability.overlap_by_uses": lambda f, a: f(1 + a.u, a.v),
    "stability.curbed_overlap": lambda f, a: f(a.u, a.v, a.smooth.L / 2, a.smooth),
    "sharper.sharper_1": lambda f, a: f([a.w, a.w], [a.u, a.u], [a.v, a.w], a.c).terms,
    "sharper.memory_1": lambda f, a: f([a.u, a.v], a.c).terms,
    "bound.round_terms": lambda f, a: f(a.u, a.v, a.w, a.c),
    "constant_admission.constant_round_as_stated": lambda f, a: f(2 * a.K, a.t, a.u, a.c),
    "bound.theorem_1": lambda f, a: f([a.u, a.v], [a.w, a.w], [a.u, a.u], [a.v, a.w], a.c).terms,
    "bound.theorem_1_as_stated": lambda f, a: f([a.u, a.v], [a.w, a.w], [a.u, a.u], a.c).terms,
    "penalty.penalty penalty.penalty_terms": lambda f, a: f(a.u, a.u + a.v, a.c),
    "penalty.penalty_comparison": lambda f, a: f(a.K, a.t, a.region, a.c),
    "penalty.penalty_comparison_as_stated": lambda f, a: f(a.K, a.t, a.region, a.c),
    "regret.omega1_limit regret.omega1_discrepancy regret.omega2_limit": lambda f, a: f(a.K, a.u, a.c),
    "regret.omega3_limit": lambda f, a: f(a.K, a.u, a.c),
    "regret_expansion.regret_log_free": lambda f, a: f(a.K, a.u, a.t, a.c),
    "transient.lambert_reach violation.cost_violation_rate": lambda f, a: f(a.region.rho),
    "violation.lambert_bound": lambda f, a: f(a.region.rho),
    "regret.omega2_discrepancy": lambda f, a: f(a.region, a.c),
    "violation.cost_violation_toss": lambda f, a: f(a.region.rho, a.u),
    "violation.cost_violation_by_debt": lambda f, a: f(a.region, a.u, a.v, a.w, a.c),
    "violation.cost_violation_every_round": lambda f, a: f(1 + a.t, a.region, a.u, a.v, a.c),
    "transient.omega2_bound transient.omega2_floor": lambda f, a: f(a.K, a.region, a.c),
    "transient.omega2_floor_as_stated transient.spread_bound": lambda f, a: f(a.K, a.region, a.c),
    "regret.drift_constant": lambda f, a: f(a.region, a.t, a.u, a.v),
    "regret.master_bound regret.master_bound_as_stated": lambda f, a: f(a.u, a.v, a.w, a.u, a.v),
    "rates.regret_rate": lambda f, a: f(1 + a.u, a.region.rho),
    "rates.regret_rate_as_stated": lambda f, a: f(1 + a.u, a.v, a.region.rho),
    "violation.cost_violation_rate_as_stated": lambda f, a: f(a.u, a.v, a.region.rho),
    "violation.cost_violation_bound violation.cost_excess_maximum": lambda f, a: f(a.t, a.region, a.u, a.v),
    "violation.cost_violation_by_peak": lambda f, a: f(a.t, a.region, a.u),
    "violation.cost_violation_least": lambda f, a: f(a.K, a.region.rho, a.u),
    "violation.buffer_violation_bound": lambda f, a: f(a.K, a.t, a.region),
    "rates.remark_1_by_region": lambda f, a: f(a.u),
    "admission.debt_update": lambda f, a: f(a.u, a.v, a.w, 2 * a.u),
    "minimiser.drift_plus_penalty": lambda f, a: f(
        a.u, Z=a.v, cost=a.w, C=a.u, V=a.v, retained=a.u, seen=a.u + a.w, constants=a.c
    ),
    "minimiser.mismatch_slopes minimiser.mismatch_jerk": lambda f, a: f(a.u, a.u + a.v, a.v, a.c),
    "design.fill_ratio": lambda f, a: f(a.budget),
    "design.best_rate": lambda f, a: f(a.K, a.budget),
    "design.crossover_ratio": lambda f, a: f(a.K, a.K + a.p, a.c),
    "minimiser.generalisation_slopes": lambda f, a: f(a.c.Pdim + a.u, a.c, above=1),
}
FORMULAS = {name: call for names, call in CALLS.items() for name in names.split()}

# Not formulas of the paper: sums and searches over many rounds, or state that moves in arrays. Each has its own tests.
NOT_FORMULAS = {
    "admission": "acdpp_round advance integer_admissions",
    "averaging": "averaged averaged_risk best_weights by_shares contractions final_weights "
    "over_models over_rounds risk_matrix round_shares tail",
    "buying": "buys used_again",
    "capacity": "trajectory_by_capacity trajectory_of",
    "confidence": "deviation_1 influences",
    "constant_admission": "constant_bound constant_bound_as_stated constant_breaks "
    "oracle_bound oracle_bound_as_stated sum_rounds",
    "curved": "cubic_shift first_order noise_correction",
    "drift": "drifting_risk path_bias walk_lag",
    "drift_design": "best_drifting_mean drift_design",
    "drift_limits": "best_drifting_retention best_drifting_step best_drifting_window",
    "design": "crossover_horizon crossover_leading design design_as_stated design_limit",
    "knapsack": "purchase_limit",
    "lambert": "lambert_total",
    "law": "by_age by_capacity excess_risk squared_weights",
    "minimiser": "optimal_admission",
    "regret": "omega1 omega1_as_stated omega2 omega2_as_stated omega3 omega3_as_stated",
    "regret_expansion": "generalisation_integral regret_expansion regret_lower_bound",
    "replacement": "ages_in_memory best_replacement best_rule cycle least_burden",
    "reuse": "from_totals trajectory",
    "sharper": "sharper_constant_bound memory_constant_bound",
    "stability": "overlaps recorded_overlaps stability_constant_bound",
    "stationary": "best_retention",
    "violation": "buffer_excess_maximum buffer_violation_maximum",
}
# no formulas of the paper at all
OTHERS = {"algebra", "buying_plan", "design_search", "setting", "sticky", "student", "summation"}


def test_no_public_function_of_the_theory_escapes_this_test():
    names = {module.name for module in pkgutil.iter_modules(theory.__path__)} - OTHERS
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
    module, _, function = name.partition(".")
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
