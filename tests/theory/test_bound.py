"""The bound over T rounds against rounds added one by one, and its stated form's trouble."""

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_check.groundwork.bound.stable import overlap_of
from proofs_check.simulator import simulate, simulate_by_capacity
from tests.refused import refused
from theory.bound import sharper, stability
from theory.bound.confidence import deviation_1, deviation_constant
from theory.bound.constant_admission import (
    constant_bound,
    constant_bound_as_stated,
    constant_round,
    constant_round_as_stated,
)
from theory.bound.theorem1 import (
    per_round_constant,
    per_round_constant_as_stated,
    theorem_1,
    theorem_1_as_stated,
)
from theory.numbers.algebra import ball, precise
from theory.reuse.constant import uniformity_constant_as_stated
from theory.reuse.trajectories import trajectory
from theory.setting import Constants

positive = st.fractions(Fraction(1, 20), 50, max_denominator=20)
numbers = dict.fromkeys(("D", "sigma", "eta", "B", "Pdim", "L", "G"), positive)
constants = st.builds(Constants, **numbers, E=st.integers(1, 3))
UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
THREE = ("root", "linear", "generalisation")
FORMS = {
    "corrected": (constant_bound, constant_round, per_round_constant),
    "stated": (constant_bound_as_stated, constant_round_as_stated, per_round_constant_as_stated),
    "sharper": (sharper.sharper_constant_bound, sharper.sharper_constant_round, sharper.step_constant),
    "memory": (sharper.memory_constant_bound, sharper.memory_constant_round, sharper.step_constant),
}


def both(bound, *arguments):
    """The fast sum and the certified one."""
    return (bound(*arguments, certified=certified) for certified in (False, True))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12)
@given(st.integers(1, 40), positive, st.integers(1, 200), constants)
def test_the_fast_and_the_certified_sum_are_the_sums_of_the_rounds(form, K, rate, T, c):
    bound, one_round, constant = FORMS[form]
    near, proved = both(bound, K, rate, T, c)
    with precise():
        counted = [flint.arb(t) for t in range(1, T + 1) if t not in proved.left_out]
        rounds = [one_round(K, t, ball(rate), c.map(ball)) for t in counted]
        for name in THREE:
            plain = sum((getattr(r, name) for r in rounds), flint.arb(0))
            assert getattr(proved.terms, name).overlaps(plain)
            assert getattr(proved.terms, name).rad() <= 1e-12 * (1 + abs(float(plain.mid())))
            assert abs(getattr(near.terms, name) - plain) <= near.error + 1e-12 * abs(plain)
        assert abs(proved.total - near.total) <= near.error + 1e-12 * abs(near.total)
    assert near.terms.initial == pytest.approx(float(c.D**2 / (2 * c.eta * (1 if form == "stated" else c.E))))
    assert near.terms.constant == pytest.approx(float(T * constant(c)))
    assert form == "stated" or (near.negative, near.left_out) == ({}, ())


@pytest.mark.parametrize("form", ["corrected", "sharper", "memory"])
@pytest.mark.parametrize(("K", "T"), [(1, 10**15), (10**6, 10**9)])
def test_float_and_certified_bounds_agree_at_horizons_nobody_can_add_up(form, K, T):
    near, proved = both(FORMS[form][0], K, 10, T, UNIT)
    assert abs(near.total - float(proved.total.mid())) <= near.error
    assert near.error <= 1e-12 * near.total
    assert float(proved.total.rad()) <= 1e-15 * near.total


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(1, 150))
def test_stated_form_reports_exactly_the_rounds_with_a_negative_radicand(K, T):
    result = constant_bound_as_stated(K, 1, T, UNIT)
    root, generalisation = set(), set()
    for t in range(1, T + 1):
        V = uniformity_constant_as_stated(K, t)
        if V == 0:
            assert result.left_out == (t,)
            root.add(t)  # 1/N_eff is infinite there
            continue
        if Fraction(1, K) - 1 / (t * V) < 0:
            root.add(t)
        if V < 0:
            generalisation.add(t)
    reported = {name: {t for a, b in at for t in range(a, b + 1)} for name, at in result.negative.items()}
    found = {"root": root, "generalisation": generalisation}
    assert reported == {name: rounds for name, rounds in found.items() if rounds}


def test_theorem_1_as_stated_names_the_rounds_it_cannot_take_the_root_of():
    path = trajectory([1] * 10, K=4)
    for number in (Fraction, sympy.Rational):
        columns = (list(map(number, column)) for column in (path.n, path.N, path.uniformity))
        result = theorem_1_as_stated(*columns, UNIT)
        assert result.negative == {"root": ((2, 4),)}
        assert isinstance(result.total, sympy.Expr)
    early = (np.array(column[:4], float) for column in (path.n, path.N, path.uniformity))
    below_zero = theorem_1_as_stated(*early, replace(UNIT, B=Fraction(1, 10**9)))
    assert below_zero.terms.linear < 0 < below_zero.error


def test_the_error_of_a_negative_sum_covers_its_rounding():
    small = replace(UNIT, D=Fraction(1, 10**9), B=Fraction(1, 10**9))
    near, proved = both(constant_bound_as_stated, 40, 1, 20, small)  # 1/n is below 1/N_eff as printed
    with precise():
        assert near.total < 0
        assert abs(proved.total - near.total) <= near.error


def test_where_every_round_is_left_out_the_certified_sums_are_zero():
    proved = constant_bound_as_stated(3, 1, 1, UNIT, certified=True)  # the printed N_eff is 0 in round 1
    assert proved.left_out == (1,)
    assert [getattr(proved.terms, name) for name in (*THREE, "constant")] == [0] * 4


@pytest.mark.parametrize("T", [10, 10**15 - 1])
def test_the_error_covers_the_constants_too(T):
    small = {"sigma": Fraction(1, 1000), "eta": Fraction(1, 10**9)}
    wild = replace(UNIT, D=Fraction("123456.7"), G=Fraction("123456789.1"), **small)
    near, proved = both(constant_bound, 3, 10, T, wild)
    with precise():
        assert abs(proved.total - near.total) <= near.error
        assert float(proved.total.rad()) <= 1.01 * proved.error


SMOOTH = Constants(D=1, sigma=1, eta=Fraction(1, 5), B=1, Pdim=5, E=3, G=2, L=10)


@pytest.mark.parametrize(("K", "T"), [(1, 7), (4, 5), (4, 40), (10**6, 10**9)])
def test_the_stability_bound_is_the_sum_of_its_rounds(K, T):
    near, proved = both(stability.stability_constant_bound, K, 10, T, SMOOTH)
    assert abs(near.total - float(proved.total.mid())) <= near.error
    if T <= 40:
        column = [stability.overlap_constant(K, t, 10) for t in range(1, T + 1)]
        assert near.total == pytest.approx(float(stability.stability_1(column, SMOOTH).total), rel=1e-12)


def test_float_overlaps_are_the_exact_ones():
    exact = stability.overlaps([3, 0, 1, 5, 2, 0, 0, 4], 3)
    assert stability.overlaps([3.0, 0, 1, 5, 2, 0, 0, 4], 3) == pytest.approx([float(x) for x in exact])
    assert min(stability.overlaps([3.0, 7, 11, 13, 17, 19] * 9, 1)) == 0  # which rounding must not miss


STAY = [[1, 0], *[[0, 1]] * 9]  # one sample stays, the other is replaced: as many leave as under K = 2
FILLED = [[3, 4], *[[1, 0], [0, 3], [0, 0]] * 3]
FILLING = [[2, 1], *[[1, 0], [0, 2], [2, 1]] * 3]


def test_recorded_overlaps_are_those_of_the_samples_or_above():
    for seen, rounds, exact in (
        (simulate([[3], [0], [1], [5], [2], [0], [0], [4]], 3), [3, 0, 1, 5, 2, 0, 0, 4], True),
        (simulate([[3], [2], [4], [1]], 9), [3, 2, 4, 1], True),
        (simulate_by_capacity(STAY, [1, 1]), [1] * 10, True),
        (simulate_by_capacity(FILLED, [3, 4]), list(map(sum, FILLED)), True),
        (simulate_by_capacity(FILLING, [9, 3]), list(map(sum, FILLING)), False),
    ):
        counted = np.array([float(total) for total, _ in overlap_of(seen)])
        n, effective, chi = np.array([[one.n, one.N * one.uniformity, one.mismatch] for one in seen], float).T
        found = stability.recorded_overlaps(np.array(rounds, float), n, effective, chi)
        assert (found >= counted - 1e-12).all()
        if not exact:
            older = [np.mean([one.uses[i] - 1 for i in one.memory]) for one in seen]
            usual = np.median(n)
            short = [sum(1 - size / usual for size in n[:t] if size < usual) for t in range(len(n))]
            counted = older / usual + short / n
        assert found == pytest.approx(counted, abs=1e-12)


def test_the_deviation_by_admissions_is_below_the_closed_form():
    exact = deviation_1([10] * 200, 4, SMOOTH, Fraction(1, 20))
    assert float(deviation_1([10.0] * 200, 4, SMOOTH, 0.05)) == pytest.approx(float(exact))
    assert 0.9 < float(exact) / float(deviation_constant(4, 200, 10, SMOOTH, Fraction(1, 20))) < 1
    assert "between 0 and 1" in refused(deviation_1, [10], 4, SMOOTH, 1)


def test_stability_needs_short_steps():
    for wrong in (replace(SMOOTH, L=11), replace(SMOOTH, L=None), replace(SMOOTH, G=None)):
        assert "stability needs" in refused(stability.stability_1, [0], wrong)
    assert "2/(L + mu)" in refused(stability.curbed_overlap, 1, 1, Fraction(1, 10), SMOOTH)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(1, 6), constants)
def test_the_error_of_a_trajectory_covers_its_rounding_and_is_zero_where_nothing_is_rounded(admissions, K, c):
    path = trajectory(admissions, K)
    columns = (path.n, path.N, path.uniformity, path.mismatch)
    floats, balls = ([[make(Fraction(x)) for x in column] for column in columns] for make in (float, ball))
    near = theorem_1(*map(np.asarray, floats), constants=c.map(float))
    statistical = near.terms.root + near.terms.linear + near.terms.generalisation
    with precise():
        proved = theorem_1(*balls, constants=c.map(ball))
        true = proved.terms.root + proved.terms.linear + proved.terms.generalisation
        assert abs(true - statistical) <= near.error
    assert 0 < near.error <= 1e-13 * statistical
    assert proved.error == 0
