"""Every curve is what the theory, the count or the simulated control says it is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from empirics.settings.study import Study
from figures import bound_vs_horizon, control, design, mismatch, omegas, prices, uniformity
from figures.omegas import regret_term
from figures.simulation import Simulation, play
from figures.style import LOOKS, Style
from tests.refused import refused
from theory.bound.constant_admission import constant_bound, constant_bound_as_stated, oracle_bound
from theory.bound.theorem1 import theorem_1, theorem_1_as_stated
from theory.control.admission import debt_update
from theory.control.region import region_maximum
from theory.design.offline import best_rate, design_as_stated, design_limit
from theory.design.offline import design as best_design
from theory.numbers.algebra import precise
from theory.regret import omegas as regret
from theory.reuse.constant import crossover_constant, mismatch_constant, uniformity_constant_as_stated
from theory.reuse.trajectories import trajectory
from theory.setting import Budget, Constants, Region

UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
BUDGET = Budget(buffers=(8, 9, 10, 11, 12, 8, 9, 10, 11, 12), cost=52, mean_cost=Fraction(11, 2))


def test_the_corrected_uniformity_is_the_counted_one_and_the_stated_is_not():
    curves = uniformity.compute((10, 7, 2, 1)).curves
    assert [curve.K for curve in curves] == [1, 2, 7, 10]
    for curve in curves:
        assert curve.corrected == pytest.approx(curve.counted, rel=1e-14)
        late = curve.rounds >= curve.K
        assert (curve.K == 1) == np.allclose(curve.stated[late], curve.counted[late])
        printed = np.array([float(uniformity_constant_as_stated(curve.K, int(t))) for t in curve.rounds])
        outside = (printed <= 0) | (printed > 1)  # marked and not drawn
        assert curve.impossible.tolist() == curve.rounds[outside].tolist()
        assert curve.stated == pytest.approx(np.where(outside, np.nan, printed), nan_ok=True)
        below = curve.over_memory(curve.counted) < 1 - 1e-12  # exactly before the crossover
        assert below.tolist() == [1 < t < float(crossover_constant(curve.K)) for t in curve.rounds]
    assert outside.any()


def test_dice_agree_with_chi_and_not_with_the_printed_expression_and_follow_from_the_seed():
    data = mismatch.compute(K=6, rate=3, draws=2000, seed=1)
    error = data.half_width / mismatch.STANDARD_ERRORS_95 + 1e-12
    assert (np.abs(data.measured - data.chi) < 5 * error).all()
    assert (np.abs(data.measured - data.stated) > 5 * error)[1:10].all()
    drawn = [mismatch.compute(3, 2, draws=10, seed=seed).measured.tolist() for seed in (4, 4, 5)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_both_factors_are_the_theory_s():
    data = mismatch.compute(K=4, rate=2, draws=2)
    assert data.chi == pytest.approx([float(mismatch_constant(4, t, 2)) for t in range(1, 17)], rel=1e-12)
    path = trajectory([2] * 16, 4)
    stated = [float(Fraction(1, n) - 1 / N_eff) for n, N_eff in zip(path.n, path.effective, strict=True)]
    assert data.stated == pytest.approx(stated, abs=1e-15)
    assert data.negative == (2, int(crossover_constant(4)))


def test_the_regret_terms_are_those_of_the_theory():
    region = Region(rate=10, rho=Fraction(9, 10))
    steps = Constants(D=2, sigma=3, eta=Fraction(1, 10), B=1, Pdim=50, E=4)
    admissions = np.full(300, 10.0)
    expected = {
        ("omega1", "corrected"): regret.omega1(admissions, 7, steps.map(float)).total,
        ("omega1", "stated"): regret.omega1_as_stated(admissions, 7, steps.map(float)).total,
        ("omega2", "corrected"): regret.omega2(7, region, 300, steps).total,
        ("omega2", "stated"): regret.omega2_as_stated(7, region, 300, steps).total,
        ("omega3", "corrected"): regret.omega3(7, 10, 300, steps).total,
    }
    for (term, form), value in expected.items():
        drawn = regret_term(term, form, 7, 10, 300, steps, rho=region.rho).total
        assert float(drawn) == pytest.approx(float(value), rel=1e-9), (term, form)
    # the printed Ω₃ has the oracle with η too, which at E = 1 is the same
    drawn = regret_term("omega3", "stated", 7, 10, 300, UNIT).total
    assert float(drawn) == pytest.approx(float(regret.omega3_as_stated(7, 10, 300, UNIT).total), rel=1e-9)


def test_lines_pass_through_the_proved_balls():
    data = omegas.compute(4, 10, 1000, UNIT, others=(), slowness=(10,))
    assert data.terms == omegas.TERMS
    for (term, key), curve in data.curves.items():
        assert (curve.radius >= 0).all()
        assert (curve.radius < 1e-9).all()
        values = np.interp(np.log(curve.at), np.log(curve.x), curve.line)
        assert values == pytest.approx(curve.middle, rel=2e-3), (term, key)  # between grid points it bends
    assert data.curves["omega3", 4].middle == pytest.approx(regret.omega3(4, 10, 1000, UNIT).total, rel=1e-12)
    wide = {key: replace(curve, radius=np.abs(curve.middle)) for key, curve in data.curves.items()}
    for axes in omegas.draw(replace(data, curves=wide), LOOKS[Style.paper]).axes:
        for bars in axes.collections:  # from 0 to twice the middle, whatever both are divided by
            ends = np.array(bars.get_segments())[..., 1]
            assert np.abs(ends).min(axis=1) == pytest.approx(0, abs=1e-9)
    stated = regret.omega2_as_stated(4, Region(rate=10, rho=Fraction(9, 10)), 1000, UNIT).total
    assert data.curves["omega2", "stated"].middle == pytest.approx(stated, rel=1e-13)
    assert data.curves["omega2", 10].middle == pytest.approx(data.curves["omega2", "corrected"].middle)


def test_enclosures_contain_the_terms_of_the_exact_constants():
    with precise():
        found = regret_term("omega3", "corrected", 4, 10, 1000, UNIT, certified=True).total
        assert found.overlaps(regret.omega3(4, 10, 1000, UNIT, certified=True).total)


def test_float_sums_end_where_rounding_would_show_and_k_rises(monkeypatch):
    monkeypatch.setattr(omegas, "FLOAT_T_MAX", 500)
    monkeypatch.setattr(omegas, "LINE_POINTS", 4)
    data = omegas.compute(4, 10, 1000, UNIT, others=(10, 2), slowness=(), terms=("omega1", "omega3"))
    assert (data.curves["omega1", "corrected"].x[-1], data.converged) == (500, 500)
    assert [key for term, key in data.curves if term == "omega3"] == [2, 4, 10]


def test_the_bounds_are_those_of_the_theory():
    data = bound_vs_horizon.compute(9, 10, 10**9, UNIT)
    formulas = {
        ("constant", "corrected"): lambda T: constant_bound(9, 10, T, UNIT),
        ("constant", "stated"): lambda T: constant_bound_as_stated(9, 10, T, UNIT),
        ("oracle", "corrected"): lambda T: oracle_bound(90, T, UNIT),
    }
    for (policy, form), formula in formulas.items():
        curve = data.curves[policy, form]
        expected = [formula(int(T)).total for T in curve.T]
        assert curve.mean == pytest.approx(expected, rel=1e-15)
        assert sum(curve.shares().values()) == pytest.approx(np.ones(len(curve.T)))
        assert all(share.any() and (share >= 0).all() for share in curve.shares().values())
    stated = constant_bound_as_stated(9, 10, 10**9, UNIT)
    assert sorted(data.undefined) == [*stated.negative["generalisation"], *stated.negative["root"]]
    assert data.left_out == stated.left_out == (4,)
    assert data.seeds == 0


def test_the_simulated_bound_is_theorem_1_on_what_was_admitted():
    setting = Simulation(K=5, rate=10, rounds=40, seeds=3)
    data = bound_vs_horizon.compute(5, 10, 10**6, UNIT, setting)
    assert data.seeds == 3
    assert (play(replace(setting, seed=1), UNIT).cost != play(setting, UNIT).cost).any()
    numbers = UNIT.map(float)
    paths = [trajectory(admitted, 5) for admitted in play(setting, UNIT).admitted.T]
    corrected = [theorem_1(p.n, p.N, p.uniformity, p.mismatch, numbers).total for p in paths]
    stated = [theorem_1_as_stated(p.n, p.N, p.uniformity, numbers).total for p in paths]
    assert data.curves["acdpp", "corrected"].total[:, -1] == pytest.approx(corrected)
    assert data.curves["acdpp", "stated"].total[:, -1] == pytest.approx(stated)
    low, high = data.curves["acdpp", "corrected"].band
    assert (low <= high).all()
    assert bound_vs_horizon.compute(5, 10, 25, UNIT, setting).curves["acdpp", "stated"].T[-1] == 25


def test_the_literal_rule_stays_in_the_region_the_capped_one_in_the_buffers_and_debt_follows():
    setting = Simulation(K=5, rate=10, rounds=60, seeds=1, seed=3)
    data = control.compute(setting, UNIT)
    literal, capped = data.runs["literal"], data.runs["capped"]
    assert (literal.admitted >= data.lowest * (1 - 1e-12)).all()
    assert (literal.admitted <= data.highest * (1 + 1e-12)).all()
    assert literal.admitted[0] == pytest.approx(region_maximum(setting.region, 1))
    assert literal.occupancy.max() > data.total_buffer
    assert capped.occupancy.max() <= data.total_buffer * (1 + 1e-12)
    assert (literal.cost == capped.cost).all()
    for run in data.runs.values():
        debt = 0.0
        for t in range(60):
            assert run.debt[t] == pytest.approx(debt)
            debt = debt_update(debt, run.cost[t], run.admitted[t], data.C)
        assert run.spent[-1] == pytest.approx(run.cost @ run.admitted)


def test_a_round_of_several_steps_is_one_step_to_a_policy():
    for admitted in (
        lambda constants: play(Simulation(K=5, rate=10, rounds=40, seeds=1), constants).admitted,
        lambda constants: prices.compute(Study(rounds=40), constants).policies["acdpp"].bought,
    ):
        steps = Constants(D=1, sigma=300, eta=1, B=1, Pdim=5, E=3)
        found, merged, single = (admitted(one).tolist() for one in (steps, steps.merged, replace(steps, E=1)))
        assert found == merged != single


def test_an_order_that_cannot_be_shown_and_a_simulation_of_nothing_are_refused():
    for wrong in ({"K": 1}, {"T": 100}, {"T": 10**16}, {"terms": ()}, {"terms": ("omega4",)}):
        refused(omegas.compute, **({"K": 5, "rate": 10, "T": 1000, "constants": UNIT} | wrong))
    for wrong in ({"rounds": 1}, {"seeds": 0}, {"V": 0.0}, {"K": 0}):
        refused(Simulation, **({"K": 5, "rate": 10, "rounds": 20} | wrong))
    assert "the admission rate" in refused(mismatch.compute, 4, 0)
    assert "a whole admission rate, such as 5, got 2.5" in refused(mismatch.compute, 4, 2.5)
    assert "at least 2 draws" in refused(mismatch.compute, 4, 2, draws=1)
    assert (uniformity.compute((200,), 2).rounds, uniformity.compute((1,), 600).rounds) == (2, 600)
    assert "K from 1 to 200" in refused(uniformity.compute, (201,))
    for rounds in (1, 601):
        assert "2 to 600 rounds" in refused(uniformity.compute, (2,), rounds)
    endless = Budget(buffers=(10**17,), cost=1, mean_cost=1)
    assert "above 10^15" in refused(design.compute, endless, UNIT)
    assert "at most 62500 samples per round" in refused(mismatch.compute, 4, 10**8)
    most = int((mismatch.SAMPLES_TIMES_ROUNDS_MAX / 2) ** 0.5)
    assert f"draws 2 to {most} rounds, got {most + 1}" in refused(mismatch.compute, 4, 2, most + 1)


def test_maps_of_k_are_labelled_with_costs_below_and_buffers_beside():
    data = design.compute(BUDGET, UNIT, (100,))
    high = replace(data, finite=3 * data.limit)
    for made in (high, replace(high, limit=high.finite, finite=high.limit)):  # one scale for both
        images = (one for axes in design.draw(made, LOOKS[Style.paper]).axes for one in axes.images)
        assert [image.norm.vmax for image in images] == [high.finite.max()] * 2
    figure = design.draw(data, LOOKS[Style.paper])
    (axes, *_) = (one for one in figure.axes if one.images)
    for labels, values in ((axes.get_xticklabels(), data.costs), (axes.get_yticklabels(), data.buffers)):
        assert [label.get_text() for label in labels] == [f"{value:.4g}" for value in values[::2]]
    for text in axes.texts:
        cost, buffer = map(int, text.get_position())
        assert text.get_text() == str(data.limit[buffer, cost])


def test_the_landscape_goes_up_to_k_6_where_1_is_best(monkeypatch):
    monkeypatch.setattr(design, "SCALES", np.ones(1))
    data = design.compute(Budget(buffers=(3,), cost=100, mean_cost=Fraction(11, 2)), UNIT, (100,))
    assert (data.corrected, data.K.tolist()) == (1, [1, 2, 3, 4, 5, 6])


def test_the_landscape_and_its_marks_are_the_theory_s():
    data = design.compute(BUDGET, UNIT, (100, 10**4))
    cells = [
        Budget(buffers=(float(buffer),), cost=float(cost), mean_cost=BUDGET.mean_cost)
        for buffer in data.buffers[::4]
        for cost in data.costs[::4]
    ]
    soon, late = ([best_design(cell, T, UNIT).K for cell in cells] for T in (100, 10**4))
    assert data.finite[::4, ::4].ravel().tolist() == soon != late
    assert [land.T for land in data.bounds] == [100, 10**4]
    for land in data.bounds:
        expected = [constant_bound(int(K), best_rate(int(K), BUDGET), land.T, UNIT).total for K in data.K]
        assert land.bound == pytest.approx(expected)
        assert land.best == best_design(BUDGET, land.T, UNIT).K == data.K[np.argmin(land.bound)]
    assert data.stated == design_as_stated(BUDGET) == ((11, True), (10, False))
    assert data.corrected == design_limit(BUDGET, UNIT).K == 11
    # the printed floor fills the buffers beyond the budget, and so seems better than anything feasible
    assert data.bounds[1].stated[1] < data.bounds[1].bound.min()
