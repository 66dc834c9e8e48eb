"""The figures of a result show what its table and its summary say."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from empirics.predict import predict_study
from empirics.results.folder import read_result
from empirics.run import study_of
from figures import constraints, learning, measured_mismatch, money, prediction, risk_vs_bound
from figures.curves import STRETCHES, thinned, turns
from figures.measured import read
from figures.options import NotMeasured
from proofs_check.groundwork.bound.stable import overlap_of
from proofs_check.simulator import simulate
from tests.figures.small import PAPER, SWEEP, cut, summary_of
from theory.bound.theorem1 import theorem_1
from theory.market.knapsack import uniform_rate


def test_risk_and_bounds_are_those_of_the_summary_with_each_policy_s_own_steps(result, sweep):
    for folder in (result, sweep):
        data, summary = risk_vs_bound.compute(read(folder)), summary_of(folder)
        assert data.T[-1] == 30
        assert list(data.policies) == list(summary)
        for name, one in data.policies.items():
            found = summary[name]
            assert one.measured.mean[-1] == pytest.approx(found["cumulative_excess_risk"]["mean"])
            assert one.corrected.mean[-1] == pytest.approx(found["bound_corrected"], rel=1e-9)
            assert one.stated.mean[-1] == pytest.approx(found["bound_stated"], rel=1e-9)
    assert list(summary) == SWEEP


def test_the_bound_by_stability_is_that_of_the_samples_one_by_one(measured, result):
    data, summary = risk_vs_bound.compute(measured), summary_of(result)
    for p, name in enumerate(("acdpp", "acdpp-capped", "constant", "oracle")):
        (K,) = summary[name]["retention"]
        c, total = measured.constants[p], 0.0
        for admitted in measured["admitted"][p]:
            seen = simulate([[int(count)] for count in admitted], K)
            overlap = float(sum(one for one, _ in overlap_of(seen)))
            step = c.eta * c.E * c.G**2
            total += c.D**2 / (2 * c.eta * c.E) + 30 * step / 2 + 2 * step * overlap
        one = data.policies[name]
        assert one.stability.mean[-1] == pytest.approx(total / 3)
        assert one.measured.mean[-1] < one.stability.mean[-1] < one.corrected.mean[-1]


def test_no_bound_by_stability_is_drawn_beyond_its_hypotheses(measured):
    long = [replace(one, eta=9 / one.L) if p < 2 else one for p, one in enumerate(measured.constants)]
    data = risk_vs_bound.compute(replace(measured, constants=tuple(long)))
    assert [one.stability is None for one in data.policies.values()] == [True] * 2 + [False] * 4
    assert "No bound by stability for acdpp, acdpp-capped: " in data.note
    most = [replace(one, eta=9 / one.L) if p < 4 else one for p, one in enumerate(measured.constants)]
    assert (
        "No bound by stability for 4 policies: "
        in risk_vs_bound.compute(replace(measured, constants=most)).note
    )
    uneven = replace(measured, study=replace(measured.study, partition="two-class"))
    data = risk_vs_bound.compute(uneven)
    assert "No bound by stability: " in data.note
    assert all(one.stability is one.stability_ratio is None for one in data.policies.values())
    risk_vs_bound.draw(data, PAPER)


def test_learning_averages_each_run_over_its_bins(measured):
    data = learning.compute(measured)
    assert list(data.curves) == ["excess_risk", "accuracy"]
    assert data.at[0] == 1
    assert data.curves["accuracy"]["constant"].mean[0] == pytest.approx(measured["accuracy"][2, :, 0].mean())
    sizes = np.diff(np.append(np.unique(np.geomspace(1, 31, learning.BINS + 1).round())[:-1], 31))
    total = data.curves["excess_risk"]["oracle"].mean @ sizes
    assert total == pytest.approx(measured["excess_risk"][3].sum(axis=1).mean())


def test_the_measured_mismatch_is_set_against_chi(measured):
    data = measured_mismatch.compute(measured)
    one = data.policies["constant"]
    stated, chi = (measured[name][2, 0, -1] for name in ("stated_mismatch", "chi"))
    assert one.stated[-1] == pytest.approx(stated / chi)
    at_two = measured["mismatch"][2, :, 1] / (measured["variance"] * measured["chi"])[2, :, 1]
    assert one.ratio[0] == pytest.approx(at_two.mean())
    assert one.at[0] == 2
    gone = measured["chi"].copy()
    gone[2, 0, 4] = 0  # of one seed
    without = measured_mismatch.compute(replace(measured, columns={**measured.columns, "chi": gone}))
    assert [*set(one.rounds) - set(without.policies["constant"].rounds)] == [5]
    # at K = 1 both expressions are the same
    assert data.policies["oracle"].stated == pytest.approx(np.ones(29))
    for seeds, label in ((1, "measured, 1 seed"), (3, "measured, 3 seeds")):
        figure = measured_mismatch.draw(measured_mismatch.compute(cut(measured, seeds=seeds)), PAPER)
        assert label in [text.get_text() for text in figure.legends[0].get_texts()]
    first = measured_mismatch.compute(cut(measured, rounds=1)).policies.values()  # χ = 0
    assert all(len(one.at) == len(one.ratio) == len(one.half_width) == 0 for one in first)


def test_overspending_is_the_summary_s_violation(measured, result):
    data = constraints.compute(measured)
    for name, row in summary_of(result).items():
        over = data.curves["overspent"][name].mean[-1]
        assert max(over, 0) == pytest.approx(row["cost_violation"], abs=1e-9)
    assert data.curves["n"]["oracle"].mean == pytest.approx(np.full(30, 20.0))


def test_money_is_spent_before_the_round_and_the_lower_bound_falls_as_its_inverse(measured, result):
    data, bound = money.compute(measured), read_result(result, []).summary["lower_bound"]
    for p, name in enumerate(measured.policies):
        paid = (measured["cost"] * measured["admitted"])[p].mean(axis=0)
        assert data.spent[name][-1] == pytest.approx(paid[:-1].sum())
        assert data.risk[name].mean[-1] == measured["excess_risk"][p][:, -1].mean()
        assert (data.spent[name] > 0).all()
    patient = measured["admitted"].copy()
    patient[2, :, :9] = 0  # who waits for better prices
    late = money.compute(replace(measured, columns={**measured.columns, "admitted": patient}))
    assert (late.spent[measured.policies[2]] > 0).all()
    spent, least = data.least
    assert (spent[-1], least[-1]) == (11 * 30, bound["final_excess_risk"])
    assert spent * least == pytest.approx(spent[-1] * least[-1])
    assert bound["samples"] == pytest.approx(30 * uniform_rate(1.0, 10.0, 20.0, 11.0))
    noise = predict_study(study_of(result), best=False).forecaster.landscape
    assert bound["final_excess_risk"] == pytest.approx(noise.least_final_risk(bound["samples"]))
    one, *two = ["constant", "constant@average=equal", "constant@average=tail"]
    assert list(money.short_names([one, two[0]]).values()) == [one, "constant, averaged"]
    assert list(money.short_names(two).values()) == two
    assert list(money.short_names([one, *two]).values()) == [one, *two]


COLUMNS_OF = {
    "risk": ["risk", "excess_risk", "predicted_excess_risk"],
    "mismatch": ["mismatch", "variance"],
    "accuracy": ["accuracy"],
}


@pytest.mark.parametrize("ball", [True, False])
@pytest.mark.parametrize("measures", [c for k in range(4) for c in combinations(COLUMNS_OF, k)])
def test_what_was_not_measured_is_not_drawn(measures, ball, measured):
    without = [name for key, names in COLUMNS_OF.items() if key not in measures for name in names]
    bare = cut(measured, without=without if ball else [*without, "excess_risk"])
    excess = "risk" in measures and ball
    drawn = {
        risk_vs_bound: excess,
        prediction: excess,
        money: excess,
        learning: "risk" in measures or "accuracy" in measures,
        measured_mismatch: "mismatch" in measures,
        constraints: True,
    }
    for figure, possible in drawn.items():
        if possible:
            figure.compute(bare)
        else:
            with pytest.raises(NotMeasured, match=r"^this result has n.*: train with [^\n]*$"):
                figure.compute(bare)
    if drawn[learning]:
        risk = ["excess_risk" if excess else "risk"] * ("risk" in measures)
        data = learning.compute(bare)
        assert list(data.curves) == [*risk, *(["accuracy"] * ("accuracy" in measures))]
        scales = [axes.get_yscale() for axes in learning.draw(data, PAPER).axes]
        assert scales == ["log" if name == "excess_risk" else "linear" for name in data.curves]


def test_the_error_of_a_prediction_is_that_of_the_cumulative_risk(result):
    told = {name: row.get("predicted_error") for name, row in summary_of(result).items()}
    wanted = {name: error["cumulative_excess_risk"] for name, error in told.items() if error}
    assert read(result).predicted_error == wanted != {}


def test_only_the_wanted_columns_are_read(result, measured):
    some = read(result, ("chi", "nothing"))
    assert list(some.columns) == ["chi"]
    assert (some["chi"] == measured["chi"]).all()


def test_a_note_says_how_many_seeds_and_in_what_they_differ(measured):
    trace = replace(measured, intervals="over 3 seeds, which differ in samples; shared: costs")
    assert trace.note("Bars of {} seeds") == "Bars of 3 seeds. Seeds differ in samples; shared: costs."
    assert "no spread" in cut(measured, seeds=1).note()


def test_bounds_added_up_stretch_by_stretch_are_those_of_the_whole(measured):
    data, names = risk_vs_bound.compute(measured), ("n", "N", "uniformity", "chi")
    for place, T in enumerate(data.T.astype(int)):
        runs = [[measured[name][0, seed, :T] for name in names] for seed in range(3)]
        whole = np.mean([theorem_1(*run, constants=measured.constants[0]).total for run in runs])
        assert data.policies["acdpp"].corrected.mean[place] == pytest.approx(whole, rel=1e-12)


def test_a_long_curve_is_thinned_and_keeps_its_extremes():
    x = np.arange(1.0, 100_001)
    y = np.sin(x) + 1e-5 * x
    y[[777, 54_321]] = 40, -40
    y[60_000:60_100] = np.nan
    kept = thinned(x, y)
    assert len(kept) < 4000
    assert {0, 777, 54_321, 99_999} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    for most in (4 * STRETCHES, 4 * STRETCHES + 1):
        assert (len(thinned(x[:most], y[:most])) == most) == (most == 4 * STRETCHES)
    width = x[-1] ** (1 / STRETCHES)  # of a stretch and of the line
    for first, last in pairwise(np.geomspace(1000, 100_000, 300).astype(int)):
        drawn = y[kept[(kept >= first / width) & (kept < last * width)]]
        assert np.nanmax(drawn) >= np.nanmax(y[first:last])
        assert np.nanmin(drawn) <= np.nanmin(y[first:last])
    assert thinned(x[:3000], y[:3000]).tolist() == list(range(3000))


def test_curves_have_all_points_marked_or_take_turns():
    """Seven curves have six marks each: 48 marks are enough for a page, but a curve has three."""
    for marks, curves in ((6, 7), (3, 20)):
        assert [len(turn) for turn in turns(np.arange(1.0, marks + 1), curves)] == [marks] * curves
    for points, curves in ((7, 7), (4, 20)):
        assert sorted(np.concatenate(turns(np.arange(1.0, points + 1), curves))) == list(range(points))
