"""What makes no sense is refused in one sentence, by settings and by formulas; the paper's numbers fit together."""

import re
from dataclasses import replace
from fractions import Fraction as F
from functools import partial

import mpmath
import numpy as np
import pytest
import sympy

from tests.refused import refused
from theory.bound import sharper
from theory.bound.constant_admission import constant_bound
from theory.bound.theorem1 import theorem_1
from theory.control import violation
from theory.control.admission import AdmissionState, advance
from theory.control.minimiser import optimal_admission
from theory.control.whole_samples import integer_admissions
from theory.design import offline as design
from theory.law import clients, curved, stationary
from theory.law import quadratic as law
from theory.market import capacity
from theory.market.capacity import age_burden, trajectory_by_capacity
from theory.market.knapsack import purchase_limit
from theory.market.prices import Atoms, Uniform
from theory.market.replacement import best_replacement, best_rule, cycle, least_burden
from theory.market.sticky import best_sticky_replacement
from theory.paper import BUDGET, BUFFERS, MEAN_PRICE, MNIST, RATE, RETENTION, SECTION7
from theory.reuse import constant, counts
from theory.reuse.trajectories import trajectory
from theory.setting import Budget, Constants, Region, not_negative, positive, retention

GOOD = {"D": 1, "sigma": 1, "eta": 1, "B": 1, "Pdim": 5}


@pytest.mark.parametrize("name", [*GOOD, "L", "G"])
@pytest.mark.parametrize(
    "value",
    [0, -1, float("nan"), float("inf"), "1", True, sympy.Symbol("x", negative=True), sympy.oo, sympy.nan],
)
def test_a_constant_must_be_a_positive_finite_number(name, value):
    assert f"{name} must be a positive finite number" in refused(Constants, **{**GOOD, name: value})


def test_numbers_that_may_be_0_are_finite_and_not_below_it():
    assert not_negative("weights", [0, 2.5]) == [0, 2.5]
    for wrong in (-1, float("inf"), float("nan"), "1", True):
        assert "weights must be finite numbers of at least 0" in refused(not_negative, "weights", [1, wrong])


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 1.5, float("nan"), "2"])
def test_local_steps_are_whole_and_the_contraction_lies_strictly_between_0_and_1(wrong):
    if wrong != 1:
        assert "E must be a whole number" in refused(Constants, **GOOD, E=wrong)
    assert "rho must lie strictly between 0 and 1" in refused(Region, rate=1, rho=wrong)


def test_a_symbol_that_may_count_rounds_is_welcome_and_a_number_beyond_the_floats():
    for K in (sympy.Integer(1), sympy.Symbol("K"), sympy.Symbol("K", integer=True, positive=True)):
        assert retention(K) == K
    assert positive("D", mpmath.mpf("1e400")) > 10**399


@pytest.mark.parametrize(("letters", "shown"), [(38, "'" + 38 * "x" + "'"), (39, "'" + 36 * "x" + "...")])
def test_a_wrong_value_is_quoted_in_40_letters_at_most(letters, shown):
    assert refused(positive, "D", letters * "x").endswith(f"got {shown}")


def test_the_total_buffer_is_exact_or_correctly_rounded():
    tiny, B = 2.0**-53, sympy.Symbol("B", positive=True)
    for buffers, total in [
        ((1.0, tiny, tiny**2), 1 + 2 * tiny),
        ((F(1, 3), 2), F(7, 3)),
        ((0.5, B), 0.5 + B),
    ]:
        assert Budget(buffers=buffers, cost=1, mean_cost=1).total_buffer == total


def test_mnist_has_the_budgets_and_the_others_multiples_of_them():
    assert (MNIST.buffers, MNIST.cost, MNIST.mean_cost) == (BUFFERS, BUDGET, MEAN_PRICE)
    assert RATE * RETENTION == MNIST.total_buffer == 100
    assert RATE * MEAN_PRICE == BUDGET
    for said in SECTION7.values():
        assert said.buffers == tuple(said.times * size for size in BUFFERS)
        assert said.budget == said.times * BUDGET


UNIT = Constants(D=1, sigma=1, eta=F(1, 10), B=1, Pdim=5)
INF, NAN = float("inf"), float("nan")
SMALL = Budget(buffers=(4,), cost=10, mean_cost=1)
EVEN = Uniform(1, 10)
HALF = Region(rate=1, rho=F(1, 2))
MOMENTS = curved.Moments(h=1, spread=0, noise=1)
EMPTY = "no sample is in memory in round 5: admit one"
SAME = "floor and its ceiling are one K"


class Stranger:
    """No law of a price that is known."""

    mean = 10


minimum = partial(optimal_admission, cost=1, retained=4, V=1, constants=UNIT)
booked = partial(advance, AdmissionState.initial(3, 2))
state = partial(AdmissionState, round=1, debt=np.zeros(3), expired=np.zeros(3))
split = partial(integer_admissions, 1)
REFUSED = [
    # settings
    (lambda: replace(SMALL, buffers=()), "at least one client"),
    (lambda: replace(SMALL, buffers=(1, 0)), "buffer 2 must be"),
    (lambda: replace(SMALL, cost=0), "cost budget C must be"),
    (lambda: replace(SMALL, mean_cost=INF), "mean cost must be"),
    (lambda: positive("D", mpmath.inf), "finite"),
    (lambda: retention(sympy.Integer(0)), "whole number of at least 1"),
    (lambda: retention(sympy.Rational(5, 2)), "whole number of at least 1"),
    (lambda: retention(sympy.Symbol("x", integer=False)), "whole number of at least 1"),
    # bounds
    (lambda: theorem_1([1], [0], [1], [0], UNIT), "N must not be 0"),
    (lambda: theorem_1([1], [-1], [1], [0], UNIT), "at least 0, got -1"),
    (lambda: theorem_1([1, 2], [1], [1, 1], [0, 0], UNIT), "one length"),
    (lambda: theorem_1([], [], [], [], UNIT), "empty"),
    (lambda: theorem_1([0], [1], [1], [0], UNIT), "n must not be 0"),
    (lambda: constant_bound(0, 1, 10, UNIT), "K must be"),
    (lambda: constant_bound(1.5, 1, 10, UNIT), "K must be"),
    (lambda: constant_bound(1, 0, 10, UNIT), "rate must be"),
    (lambda: constant_bound(1, 1, 0, UNIT), "horizon"),
    (lambda: constant_bound(2, 1, 3, replace(UNIT, E=2, G=1)), "smoothness L"),
    (lambda: sharper.stale_weight([1], [1, 2]), "one length"),
    (lambda: sharper.stale_weight([0], [0]), "every client needs a sample"),
    (lambda: sharper.sharper_1([0], [1], [0], UNIT), "N must not be 0"),
    (lambda: sharper.sharper_constant_bound(0, 1, 10, UNIT), "K must be"),
    (lambda: sharper.memory_constant_bound(1, 0, 10, UNIT), "rate must be"),
    (lambda: sharper.memory_constant_bound(1, 1, 0, UNIT), "horizon"),
    (lambda: sharper.memory_1([], UNIT), "empty"),
    (lambda: violation.cost_violation_bound(3, HALF, [1, 2], 1), "one entry for each of the 3 rounds, got 2"),
    (lambda: Region(rate=0, rho=F(1, 2)), "the target rate must be a positive finite number"),
    # reuse
    (lambda: counts.uniformity([]), "must not be empty"),
    (lambda: counts.uniformity(["a"]), "at least 0, got 'a'"),
    (lambda: counts.effective_sample_size([F(0)] * 2), "all be zero"),
    (lambda: counts.effective_sample_size([-1, 3]), "at least 0, got -1"),
    (lambda: counts.uniformity_kstep([0, 0], 2), "N = 0"),
    (lambda: counts.uniformity_kstep([1], 0), "whole number"),
    (lambda: counts.mismatch_kstep([F(1), F(0), F(0)], 2), "memory is empty"),
    (lambda: constant.uniformity_constant(2.5, 4), "K must be a whole number"),
    (lambda: [constant.uniformity_constant(K, 4) for K in (1, True)], "K must be a whole number"),
    (lambda: constant.mismatch_constant(0, 4, 1), "K must be a whole number"),
    (lambda: trajectory([1, -1], 2), "not negative"),
    (lambda: trajectory([1.0, NAN], 2), "finite"),
    (lambda: trajectory(["a"], 2), "list of numbers"),
    (lambda: trajectory([0, 1], 2), "round 1"),
    (lambda: trajectory([1, 0, 0, 1], 2), "round 3"),
    (lambda: trajectory_by_capacity([], 3), "the horizon T"),
    (lambda: trajectory_by_capacity([0, 1], 3), "no sample is in memory in round 1"),
    (lambda: trajectory_by_capacity([1, 1], 0), "the capacity must be a positive"),
    (lambda: trajectory_by_capacity([1, -1], 2), "admissions must be finite numbers of at least 0, got -1"),
    (lambda: trajectory_by_capacity("ab", 2), "a list of numbers"),
    (lambda: capacity.trajectory_of(law.by_age([1], 1), 0), "the horizon T"),
    # an empty memory is not hidden by rounding
    *(
        (lambda each=each: capacity.trajectory_of(law.by_age(each, 2), 6), EMPTY)
        for each in ([1, 1, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0, 0, 0], [0.7, 0.1, 0.3, 0, 0, 0])
    ),
    (lambda: capacity.trajectory_of(law.Cohorts(*np.array([[1, 2], [1, 2], [1, 0]])), 2), "in round 2"),
    # the law of reuse
    (lambda: law.by_age([1, -1], 2), "admissions"),
    (lambda: law.by_age([[1], [2]], 2), "a list of numbers"),
    (lambda: law.by_age([1, 2], 0), "K"),
    (lambda: law.by_capacity([1, 2], 0), "capacity"),
    (lambda: law.squared_weights(law.by_age([1], 1), 0.5, 0), "horizon"),
    (lambda: stationary.total_weights([1, 0, 0], 2), "no sample in memory"),
    (lambda: stationary.total_weights([1, -1], 2), "admissions"),
    (lambda: stationary.inverse_effective_rate([], 2), "empty"),
    (lambda: stationary.inverse_effective_rate([1], F(1, 2)), "K"),
    (lambda: stationary.best_retention(SMALL, h=[2], variance=[1], eta=F(3, 4)), "overshoot"),
    (lambda: clients.weighted_spread([1, 0], [1, 1], [1, 1]), "without samples"),
    (lambda: clients.pooled_spread([0, 0], [1, 1]), "all be zero"),
    (lambda: clients.pooled_bias([1, 1], [1, 1], [1]), "of one length"),
    (lambda: clients.least_spread([1, -1], [1, 1]), "shares"),
    (lambda: curved.first_order([], 3, MOMENTS, start=1, eta=F(1, 2)), "at least one client"),
    # prices and buying
    (lambda: Uniform(0, 1), "the lowest price must be a positive"),
    (lambda: Uniform(1, INF), "the highest price must be a positive"),
    (lambda: Uniform(10, 1), "the lower first, such as 1 and 10, got 10 and 1"),
    (lambda: Uniform(2, 2), "two ends"),
    (lambda: Atoms.of([]), "at least one price"),
    (lambda: Atoms.of([1, 0]), "a price must be a positive finite number, got 0"),
    (lambda: Atoms.of([1, "a"]), "got 'a'"),
    (lambda: Atoms((1, 2), (1,)), "a probability for each"),
    (lambda: Atoms((2, 1), (F(1, 2), F(1, 2))), "rising order"),
    (lambda: Atoms((1, 1), (F(1, 2), F(1, 2))), "different"),
    (lambda: Atoms((1, 2), (F(1, 2), F(1, 3))), "sum 1"),
    (lambda: Atoms((1, 2), (F(3, 2), F(-1, 2))), "positive"),
    (lambda: purchase_limit(EVEN, 0, 5), "the places must be a positive"),
    (lambda: purchase_limit(EVEN, 5, -5), "the cost budget C must be a positive"),
    (lambda: purchase_limit(Stranger(), 5, 5), "known for uniform prices and for lists"),
    (lambda: best_replacement(EVEN, 0, 1), "the places must be a positive"),
    (lambda: best_replacement(EVEN, 1, 0), "the cost budget C must be a positive"),
    (lambda: best_replacement(EVEN, 1, 1, burden=lambda j: -j), "do not fall with age"),
    (lambda: best_replacement(EVEN, 1, 1, lambda j: age_burden(j, -0.5)), "do not fall with age"),
    (lambda: best_replacement(EVEN, 1, 1, lambda j: NAN), "too rarely|must be numbers"),
    (lambda: best_rule(EVEN, [1, 3], 0), "the price of money must be a positive"),
    (lambda: best_rule(EVEN, [], 1), "one for each age"),
    (lambda: best_rule(EVEN, [1.0, 3.0, 2.5], 1), "do not fall with age"),
    (lambda: least_burden(EVEN, [1, 3], 0), "the budget of a place must be a positive"),
    (lambda: least_burden(EVEN, [1, 3], 6), "at most the mean price 11/2, got 6"),
    (lambda: cycle(EVEN, [1], [1, 2]), "one per age, got 1 and 2"),
    (lambda: cycle(EVEN, [], []), "at least one age"),
    (lambda: best_sticky_replacement(Atoms.of([1, 3]), -0.1, 10, 2), "stays"),
    (lambda: best_sticky_replacement(Atoms.of([1, 3]), 1.0, 10, 2), "stays"),
    (lambda: best_sticky_replacement(Atoms.of([1, 3]), 0.5, 10, 1, ages=4), "too rarely to tell"),
    # design
    (lambda: design.design(MNIST, 0, UNIT), "horizon"),
    (lambda: design.crossover_leading(MNIST, UNIT), SAME),
    (lambda: design.crossover_horizon(SMALL, UNIT), SAME),
    # admission
    (lambda: minimum(Z=1, seen=9, lo=9, hi=8), "lo must not exceed hi"),
    (lambda: minimum(Z=1, seen=3, lo=1, hi=8), "seen must be at least retained"),
    (lambda: minimum(Z=-1, seen=9, lo=1, hi=8), "Z must be finite and not negative"),
    (lambda: minimum(Z=1, seen=9, lo=1, hi=8, cost=NAN), "cost must be finite"),
    (lambda: minimum(Z=1, seen=9, lo=1, hi=8, V=0), "V must be positive"),
    (lambda: minimum(Z=1, seen=9, lo=1, hi=INF), "hi must be finite"),
    (lambda: booked(Lambda=-1, cost=1, C=1), "must not be negative"),
    (lambda: booked(Lambda=1, cost=-1, C=1), "must not be negative"),
    (lambda: booked(Lambda=1, cost=1, C=0), "the cost budget C must be a positive finite number"),
    (lambda: state(window=np.zeros((2, 4))), r"shape \(runs,\)"),
    (lambda: integer_admissions(-1, [0.5, 0.5], [0, 0]), "must not be negative"),
    (lambda: split([0.5, 0.6], [0, 0]), "sum to 1"),
    (lambda: split([1.5, -0.5], [0, 0]), "non-negative"),
    (lambda: split([0.5, 0.5], [0, 0.5]), "carry must lie in"),
    (lambda: split([0.5, 0.5], [0, 0], room=[1, -1]), "room must be whole numbers"),
    (lambda: split([0.5, 0.5], [0, 0], room=[1, 0.5]), "room must be whole numbers"),
]


@pytest.mark.parametrize(("call", "complaint"), REFUSED)
def test_nonsense_is_refused_in_one_sentence(call, complaint):
    assert re.search(complaint, refused(call))
