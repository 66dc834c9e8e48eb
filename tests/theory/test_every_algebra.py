"""Every public formula, evaluated in every number system, says the same."""

import inspect
import pkgutil
import random
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


# Values of parameters by their names. Others are u, v and w in turn, and sequences two or more of them.
VALUES = {
    "K E parts worth frame gone": lambda a: a.K,
    "t age rounds models samples": lambda a: a.t,
    "T period": lambda a: 1 + a.t,
    "a h": lambda a: a.p,
    "keep eta": lambda a: a.q,
    "often": lambda a: a.s,
    "rho failure": lambda a: a.region.rho,
    "region": lambda a: a.region,
    "constants": lambda a: a.smooth,
    "n low": lambda a: a.u,
    "N high noise": lambda a: a.u + a.v,
    "cheap expired": lambda a: a.v,
    "seen": lambda a: a.u + a.v + a.w,
    "mean_age mean_burden": lambda a: 1 + a.v,
    "moments": lambda a: curved.Moments(a.u, a.v, a.w, tilt=a.w, skew=-a.v),
    "tails": lambda a: curved.Tails(-a.v, a.u, a.w, a.v),
}
NAMED = {name: value for names, value in VALUES.items() for name in names.split()}

# Calls whose arguments are not found by name.
CALLS = {
    "mismatch_from_gone": lambda f, a: f(a.u, a.w, a.v, a.K, a.K * a.K),
    "mean_lag crossover_constant crossover_constant_as_stated mean_younger": lambda f, a: f(a.t),
    "total_weights": lambda f, a: tuple(f([a.u, a.v, a.w], a.K)),
    "weights_giving": lambda f, a: tuple(f([a.u, a.v], a.p)),
    "exponential": lambda f, a: f(a.K, a.p),
    "averaged_noise_constant common_share": lambda f, a: f(a.p, a.K, a.K + a.t),
    "idle_loss": lambda f, a: f(a.p, a.K, a.t),
    "sample_values": lambda f, a: tuple(f([a.u, a.v, a.w], a.u)),
    "polynomial_left": lambda f, a: f(a.p, a.K, a.t),
    "cycle_left": lambda f, a: f(a.p, a.K, a.q, a.s),
    "indifferent_drift": lambda f, a: f(a.p, a.K + 1, a.u, a.K, a.v),
    "most_samples": lambda f, a: f(Limit(a.u, 1, a.v, a.w, "money"), a.t, a.w),
    "own_goal own_spread": lambda f, a: f([a.u, a.v], [a.p, a.s], [a.w, a.u]),
    "local_contraction": lambda f, a: f(a.u, a.v, a.w, a.v / a.u, a.K),
    "regression_floor regression_floor_resummed": lambda f, a: f(a.u, 1 + a.u + a.v),
    "age_burden": lambda f, a: (f(a.t), f(a.K, a.p), f(a.K, -a.p)),
    "uniformity_constant_as_stated": lambda f, a: f(2 * a.K, a.t),
    "constant_round_as_stated": lambda f, a: f(2 * a.K, a.t, a.u, a.c),
    "region_minimum": lambda f, a: f(a.region, a.t - 3),
    "region_minimum_window": lambda f, a: f(a.region, a.K, a.t + a.K),
    "root_term linear_term": lambda f, a: f(a.u - a.v, a.c),
    "generalisation_term_as_printed": lambda f, a: f(a.u, a.c.Pdim + a.v, a.c),
    "stale_weight": lambda f, a: f([a.u, a.v], [a.u + a.w, 2 * a.v], [a.v, a.w]),
    "stability_1 memory_1": lambda f, a: f([a.u, a.v], a.smooth).terms,
    "overlap_by_uses": lambda f, a: f(1 + a.u, a.v),
    "curbed_overlap": lambda f, a: f(a.u, a.v, a.smooth.L / 2, a.smooth),
    "sharper_1": lambda f, a: f([a.w, a.w], [a.u, a.u], [a.v, a.w], a.c).terms,
    "theorem_1": lambda f, a: f([a.u, a.v], [a.w, a.w], [a.u, a.u], [a.v, a.w], a.c).terms,
    "theorem_1_as_stated": lambda f, a: f([a.u, a.v], [a.w, a.w], [a.u, a.u], a.c).terms,
    "fill_ratio": lambda f, a: f(a.budget),
    "best_rate": lambda f, a: f(a.K, a.budget),
    "crossover_ratio": lambda f, a: f(a.K, a.K + a.p, a.c),
    "generalisation_slopes": lambda f, a: f(a.c.Pdim + a.u, a.c, above=1),
}
BY_HAND = {name: call for names, call in CALLS.items() for name in names.split()}


def by_name(function, a):
    """The value of a function at arguments found by their names; with a variance, for two directions."""
    parameters, given = inspect.signature(function).parameters, {}
    for place, (name, parameter) in enumerate(parameters.items()):
        turned = [a.values["uvw"[(place + more) % 3]] for more in range(3)]
        kind = str(parameter.annotation)
        if "Sequence" in kind or "Iterable" in kind:
            given[name] = turned[: 3 if len(parameters) < 3 else 2]
        elif "variance" in parameters and name in ("h", "variance", "walk", "slope", "prior", "start"):
            given[name] = [a.p, a.s] if name == "h" else turned[:2]
        else:
            given[name] = NAMED[name](a) if name in NAMED else turned[0]
    return function(**given)


# Sums and searches over many rounds, and state that moves in arrays. Each has its own tests.
NOT_FORMULAS = """
acdpp_round advance ages_in_memory averaged averaged_risk best_drifting_mean best_drifting_retention
best_drifting_step best_drifting_window best_purchases best_replacement best_retention best_rule best_weights
buffer_excess_maximum buffer_violation_maximum buys by_age by_capacity by_shares constant_bound
constant_bound_as_stated constant_breaks contractions crossover_horizon crossover_leading cubic_shift cycle
design design_as_stated design_limit deviation_1 drift_design drifting_risk excess_risk final_weights
first_order from_totals generalisation_integral influences information_risk integer_admissions lambert_total
least_burden memory_constant_bound most_value noise_correction omega1 omega1_as_stated omega2 omega2_as_stated omega3
omega3_as_stated
optimal_admission oracle_bound oracle_bound_as_stated over_models over_rounds overlaps path_bias
purchase_limit recorded_overlaps regret_expansion regret_lower_bound risk_matrix round_shares
sharper_constant_bound squared_weights stability_constant_bound sum_rounds tail trajectory
trajectory_by_capacity trajectory_of used_again walk_lag
"""
OTHERS = ".setting .search market.long_run .sticky .algebra .student .summation"


def public_functions():
    """Public functions of the modules with formulas, by name; the second of one name with its module before it."""
    found = {}
    for place in pkgutil.walk_packages(theory.__path__, "theory."):
        if place.ispkg or place.name.endswith(tuple(OTHERS.split())):
            continue
        module = import_module(place.name)
        for name in getattr(module, "__all__", ()):
            if inspect.isfunction(function := getattr(module, name)):
                found[f"{place.name}.{name}" if name in found else name] = function
    return found


FUNCTIONS = public_functions()
FORMULAS = FUNCTIONS.keys() - set(NOT_FORMULAS.split())


def test_tables_name_functions_that_exist():
    assert FUNCTIONS.keys() >= BY_HAND.keys() | set(NOT_FORMULAS.split())


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
    """The values of a formula, as a list."""
    result = BY_HAND.get(name, by_name)(FUNCTIONS[name], a)
    if isinstance(result, Terms):
        return [getattr(result, f.name) for f in fields(result)]
    return list(result) if isinstance(result, tuple) else [result]


def exactly(value):
    assert isinstance(value, int | Fraction | sympy.Expr), f"{value!r} is not exact"
    exact = sympy.Rational(value) if isinstance(value, Fraction) else sympy.sympify(value)
    assert not exact.has(sympy.Float)
    return exact


def column(x):
    return np.array([float(x)] * 2)


@pytest.mark.parametrize("name", sorted(FORMULAS))
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
        for make in (float, column, lambda x: torch.from_numpy(column(x))):
            columns = evaluated(name, convert(a, make, float))
            agree([float(np.broadcast_to(np.asarray(one), 2)[1]) for one in columns], 1e-9)

        with algebra.precise():
            for result, exact in zip(evaluated(name, convert(a, algebra.ball)), expected, strict=True):
                with flint.ctx.workprec(512):
                    narrow = flint.arb(str(sympy.N(exact, 120)), flint.arb(10) ** -110)
                assert flint.arb(result).overlaps(narrow), (name, result, exact)
                assert flint.arb(result).rad() < 1e-15 * float(scale), (name, result)


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_every_formula_on_symbols_reduces_to_its_exact_value(name):
    a, names = drawn(name, 3), {}

    def symbol(value):
        made = sympy.Symbol(f"s{len(names)}", positive=True, integer=isinstance(value, int) or None)
        names[made] = exactly(value)
        return made

    # an unevaluated Lambert sum has no sign, so Max and Min can't take it: there t is a number
    counted = FUNCTIONS[name].__module__.endswith(("penalty", "omegas", "transient", "rates", "violation"))
    values = {key: symbol(value) for key, value in a.values.items() if key not in "Kt"}
    values |= {"K": a.K, "t": sympy.Integer(a.t) if counted else symbol(a.t)}
    region = Region(rate=symbol(a.region.rate), rho=a.region.rho)
    on_symbols = evaluated(name, Arguments(values, a.c.map(symbol), region))
    for symbolic, value in zip(on_symbols, evaluated(name, a), strict=True):
        difference = sympy.sympify(symbolic).subs(names).doit() - exactly(value)
        small = sympy.Rational(1, 10**50)
        assert difference == 0 or abs(sympy.N(difference, 60, chop=False)) < small, (name, symbolic)


def test_a_complex_ball_with_a_corner_claims_nothing_and_one_beside_it_the_value():
    for function, corner, above, below in (
        (algebra.positive_part, 0, 2, 0),
        (algebra.sqrt_plus, 0, flint.acb(2).sqrt(), 0),
        (algebra.log_plus, 1, flint.acb(3).log(), 0),
        (lambda x: algebra.minimum(x, 5), 5, 5, 3),
    ):
        for around in (flint.arb(corner), flint.arb(corner, 1)):
            alone = function is algebra.sqrt_plus and around == 0  # a radicand that vanishes
            assert function(flint.acb(around)).is_finite() == alone
        assert function(flint.acb(corner + 2)).contains(above)
        assert function(flint.acb(corner - 2)).contains(below)
