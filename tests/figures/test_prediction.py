"""Measured, predicted and bound lie where the result's table and its summary put them, over rounds and over K."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from empirics.settings.study import Study
from figures import prediction, retention
from figures.curves import half_width
from figures.measured import read
from figures.options import NotMeasured, Style
from figures.style import LOOKS
from tests.figures.small import PAPER, SLIDES, SWEEP, cut, fits, summary_of
from theory.design.offline import design, design_limit
from theory.setting import Budget


def test_averages_to_the_last_round_are_those_of_the_summary(result, measured):
    data, summary = prediction.compute(measured), summary_of(result)
    assert list(data.policies) == list(summary)
    assert (data.t[0], data.t[-1]) == (1, 30)
    for name, one in data.policies.items():
        found = summary[name]
        total = found["cumulative_excess_risk"]
        assert 30 * one.average.measured.mean[-1] == pytest.approx(total["mean"])
        predicted = found["predicted"]["cumulative_excess_risk"]
        assert 30 * one.average.predicted[-1] == pytest.approx(predicted)
        assert 30 * one.bound[-1] == pytest.approx(found["bound_corrected"])
        assert 1 + one.residual[-1] == pytest.approx(found["predicted_over_measured"])
        # Student's t of two degrees of freedom on the summary's standard error
        unsure = (found["predicted_error"] or {}).get("cumulative_excess_risk", 0)
        assert one.error == pytest.approx(unsure / total["mean"])
        assert one.doubt[-1] == pytest.approx(4.302652729911275 * total["error"] / total["mean"])


def test_bins_of_rounds_part_all_rounds(measured):
    data = prediction.compute(measured)
    sizes = np.diff(data.t, prepend=0)
    assert sizes.sum() == 30
    assert data.at @ sizes == pytest.approx(30 * 31 / 2)
    for p, one in enumerate(data.policies.values()):
        for curves, column in ((one.single, "excess_risk"), (one.average, "excess_risk")):
            assert curves.measured.mean[0] == pytest.approx(measured[column][p, :, 0].mean())
        assert one.single.measured.mean @ sizes == pytest.approx(measured["excess_risk"][p].mean(0).sum())
        assert one.single.predicted @ sizes == pytest.approx(measured["predicted_excess_risk"][p, 0].sum())


def test_a_page_shows_some_policies_with_their_ratios_and_a_mean_of_0_has_none(measured):
    names = [f"constant@K={K}" for K in range(1, 41)]
    data = prediction.compute(cut(measured, names=names))
    assert len(data.policies) == prediction.POLICIES_MAX
    assert {names[0], names[-1]} <= set(data.policies)
    assert "15 of 40" in data.note
    written = [text.get_text() for axes in prediction.draw(data, PAPER).axes for text in axes.texts]
    ratios = [one.bound[-1] / one.average.measured.mean[-1] for one in data.policies.values()]
    assert [text for text in written if "×" in text] == [f"× {ratio:,.0f}" for ratio in ratios]
    columns = measured.columns | {"excess_risk": np.zeros(measured["excess_risk"].shape)}
    data = prediction.compute(replace(measured, columns=columns))
    assert all(np.isnan(one.residual).all() for one in data.policies.values())
    assert not [t for axes in prediction.draw(data, PAPER).axes for t in axes.texts if t.get_text()]


def test_a_sweep_is_read_in_the_order_of_k(sweep):
    result, summary = read(sweep, retention.READS), summary_of(sweep)
    data = retention.compute(result)
    tried = {name: risk.K.tolist() for name, risk in data.risks["late"].items()}
    assert tried == {"constant": [2, 7, 12], "acdpp@eta=0.1": [3, 9]}
    risk = data.risks["cumulative"]["constant"]
    for place, K in enumerate((2, 7, 12)):
        found = summary[f"constant@K={K}"]
        assert risk.mean[place] == pytest.approx(found["cumulative_excess_risk"]["mean"])
        assert risk.predicted[place] == pytest.approx(found["predicted"]["cumulative_excess_risk"])
        rows = result["excess_risk"][SWEEP.index(f"constant@K={K}")]
        assert risk.half_width[place] == pytest.approx(half_width(rows.sum(axis=1)))
        assert data.risks["late"]["constant"].mean[place] == pytest.approx(rows[:, 15:].mean())


def test_the_best_is_the_least_measured_and_the_least_predicted(sweep):
    columns = {}
    for column, least in (("excess_risk", "constant@K=12"), ("predicted_excess_risk", "constant@K=2")):
        columns[column] = np.ones((len(SWEEP), 3, 30))
        columns[column][SWEEP.index(least)] = 0.5
    data = retention.compute(replace(read(sweep), columns=columns))
    for panel in retention.PANELS:
        risk = data.risks[panel]["constant"]
        assert (risk.best, risk.best_predicted) == (12, 2)
    axes = retention.draw(data, PAPER).axes[0]
    colour = PAPER.policy("constant")["color"]
    own = [line for line in axes.lines if line.get_color() == colour and len(line.get_xdata()) == 1]
    marks = {str(line.get_marker()): float(np.asarray(line.get_xdata())[0]) for line in own}
    assert marks == {"*": 12, "o": 2}


def test_the_marked_retentions_are_those_of_the_design(sweep):
    result = read(sweep, retention.READS)
    eta = result.constants[3].eta
    constants = [replace(one, B=10 if one.eta == eta else 0.1) for one in result.constants]
    data = retention.compute(replace(result, constants=tuple(constants)))
    budget = Budget(buffers=(8, 12), cost=11, mean_cost=Fraction(11, 2))
    assert data.limit == design_limit(budget, constants[0]).K == 10
    less, more = sorted({design(budget, 30, one).K for one in constants})
    assert data.finite == (less, more)


def test_the_prices_of_a_trace_are_those_that_were_paid(sweep):
    result = read(sweep, retention.READS)
    study = Study.from_document({"cost": {"process": "trace", "file": "gone.csv"}}, result.study)
    dear = replace(result, study=study, columns=result.columns | {"cost": np.full((len(SWEEP), 3, 30), 11.0)})
    assert retention.compute(dear).limit == 20


def test_a_sweep_without_predictions_is_drawn_and_says_so(sweep):
    result = read(sweep, ("excess_risk", "cost"))
    data = retention.compute(replace(result, not_predicted="the setting predict is false"))
    assert data.risks["late"]["constant"].best_predicted is None
    assert data.note.endswith(" No prediction: the setting predict is false.")
    assert retention.compute(result).note.endswith(" No prediction: an older version trained it.")
    figure = retention.draw(data, PAPER)
    assert not any("predicted" in text.get_text() for text in figure.legends[0].get_texts())


@pytest.mark.parametrize(
    "names", [["constant"], ["constant@K=5", "oracle"], ["constant@eta=0.1", "constant"]]
)
def test_a_result_without_a_sweep_over_k_names_the_command(names, measured):
    with pytest.raises(NotMeasured, match=r"no sweep over K: train with acdpp train .*--sweep K=1,2,"):
        retention.compute(cut(measured, names=names))


MANY = [f"{policy}@K={K}" for policy in ("mine", "acdpp", "constant") for K in range(1, 60)]


@pytest.mark.parametrize(
    ("look", "part"),
    [(LOOKS[Style.dark], {"rounds": 1, "seeds": 1}), (SLIDES, {"names": MANY})],
    ids=["one round", "many"],
)
def test_a_sweep_of_any_size_is_drawn_within_its_page(look, part, sweep):
    figure = retention.draw(retention.compute(cut(read(sweep, retention.READS), **part)), look)
    assert fits(figure, look)
    for axes in figure.axes:
        labels = [text for text in axes.get_xticklabels() if text.get_text()]
        boxes = [text.get_window_extent() for text in labels]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
        assert axes.get_ylim()[0] == 0
