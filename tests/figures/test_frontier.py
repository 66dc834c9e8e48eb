"""`plot frontier` shows what the plans and the predictions say, at budgets that constant admission can spend."""

from dataclasses import replace

import numpy as np
import pytest

from acdpp import plot
from empirics.control.schedule import brief_for, plan
from empirics.predict import predict_study
from empirics.settings.costs import CostProcess
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from figures import frontier
from tests.figures.small import SLIDES, UNIT, fits
from theory.market.long_run import best_plan, burst_plan, online_plan
from theory.market.prices import Uniform

STUDY = replace(PRESETS["digits"], rounds=12, steps=2, seeds=2, buffers=(3, 5), V=10.0)
LAW = Uniform(1.0, 10.0)


@pytest.fixture(scope="module")
def small():
    return frontier.compute(STUDY)


def test_effective_samples_are_those_of_the_plans(small):
    assert small.places == 8
    assert small.C[[0, -1]] == pytest.approx([5.5, 44])
    finest = np.log(8) / frontier.BUDGETS_BETWEEN / (len(frontier.budgets(8, 5.5)) - 1)
    assert np.diff(np.log(small.C)).max() < 1.01 * finest
    for place in (0, 7, -2):
        C = float(small.C[place])
        expected = {
            "buy-cheap-online": online_plan(LAW, 8, C).effective_rate,
            "buy-cheap": best_plan(LAW, 8, C).effective_rate,
            "constant": C / 5.5,
            "bursts of half the memory": burst_plan(LAW, 8, C, 2).effective_rate,
            "bursts of the whole memory": burst_plan(LAW, 8, C, 1).effective_rate,
        }
        assert {name: values[place] for name, values in small.effective.items()} == pytest.approx(expected)
        assert small.limit[place] == pytest.approx(8 * (np.sqrt(1 + 18 * C / 8) - 1) / 9)
    for values in small.effective.values():
        assert (values <= small.limit * (1 + 1e-12)).all()
        assert (np.diff(values) > -1e-9).all()
    uneven = frontier.compute(replace(STUDY, cost=CostProcess(high=28 / 3)), risk=False)
    for data in (small, uneven):
        assert data.limit[-1] == data.effective["constant"][-1] == 8


def test_the_share_of_the_way_is_1_at_the_oracle_and_0_at_constant_admission(small):
    assert small.closed("constant")[:-1] == pytest.approx(0)
    assert np.isnan(small.closed("buy-cheap")[-1])
    ideal = replace(small, effective=small.effective | {"ideal": np.full(len(small.C), 8.0)})
    assert ideal.closed("ideal")[:-1] == pytest.approx(1)
    assert small.risks.closed("oracle")[:-1] == pytest.approx(1)
    assert small.risks.closed("constant")[:-1] == pytest.approx(0)
    nothing = dict.fromkeys(("constant", "oracle"), np.zeros(1))
    assert np.isnan(replace(small.risks, cumulative=nothing).closed("oracle"))


def test_risks_are_those_of_the_command_predict(small):
    assert small.risks.C.tolist() == frontier.budgets(8, 5.5)
    assert set(Study().policies) <= set(small.risks.cumulative)
    budget = float(small.risks.C[2])
    study = replace(STUDY, budget=budget, policies=frontier.PREDICTED)
    for name, found in predict_study(study, best=False).forecasts.items():
        assert small.risks.cumulative[name][2] == pytest.approx(found.cumulative, rel=1e-9)
        error = found.errors["cumulative_excess_risk"] / found.cumulative if found.errors else 0
        assert small.risks.errors[name][2] == pytest.approx(error, rel=1e-6)
    for errors in (small.risks.errors, dict(reversed(small.risks.errors.items()))):
        assert replace(small.risks, errors=errors).unsure == max(map(max, errors.values())) > 0
    oracle = small.risks.cumulative["oracle"]
    assert oracle == pytest.approx(np.full(len(oracle), oracle[0]))
    assert small.risks.cumulative["constant"][-1] == pytest.approx(oracle[-1])


def test_what_was_spent_is_counted(small):
    budget = float(small.risks.C[2])
    played = plan(replace(STUDY, budget=budget, policies=("constant",)), UNIT)
    paid = (played.cost * played.admissions.sum(axis=2)).mean()
    assert small.risks.spent["constant"][2] == pytest.approx(paid / budget)
    ratios = np.array([values for name, values in small.risks.spent.items() if name != "oracle"])
    assert small.risks.overspent == pytest.approx((100 * ratios.min() - 100, 100 * ratios.max() - 100))


@pytest.mark.parametrize("places", [2, 7, 20, 99, 100, 1234])
def test_constant_admission_can_spend_every_budget(places):
    """The design takes the whole K that the budget was made for, and no smaller rate."""
    for budget in frontier.budgets(places, 5.5):
        study = replace(STUDY, buffers=(places - 1, 1), budget=budget, policies=("constant",))
        assert brief_for(study, UNIT).K == round(5.5 * places / budget) <= places


def test_what_no_policy_can_reach_is_hatched_and_risks_may_be_left_out(small):
    for data, panels in ((small, 4), (replace(small, risks=None), 2)):
        figure = frontier.draw(data, SLIDES)
        assert fits(figure)
        assert len(figure.axes) == panels
        (legend,) = figure.legends
        named = {text.get_text() for text in legend.get_texts()}
        assert ("acdpp" in named, {*data.effective, "oracle"} <= named) == (panels == 4, True)
        for axes in figure.axes:
            assert axes.get_xlim()[0] < data.C[0] < 1.1 * axes.get_xlim()[0]
            assert axes.get_xlim()[1] > data.C[-1] > axes.get_xlim()[1] / 1.1
        note = " ".join(legend.get_title().get_text().split())
        assert "The oracle costs 44 per round" in note
        assert (f"price paths is at most {100 * small.risks.unsure:.1f} %" in note) == (panels == 4)
    figure, risks = frontier.draw(small, SLIDES), small.risks
    shares = {name: small.closed(name) for name in small.effective if name != "constant"}
    closed = {name: risks.closed(name) for name in risks.cumulative if name not in ("constant", "oracle")}
    for place, curves in enumerate((small.effective, risks.cumulative, shares, closed)):
        drawn = [line.get_ydata() for line in figure.axes[place].lines if len(line.get_ydata()) > 2]
        assert np.array_equal(drawn, list(curves.values()), equal_nan=True)
    (region,) = [c for c in figure.axes[0].collections if c.get_hatch()]
    outline = region.get_paths()[0].vertices
    lowest = [outline[np.isclose(outline[:, 0], C), 1].min() for C in small.C]
    assert lowest == pytest.approx(small.limit)


def test_options_make_the_study(tmp_path, monkeypatch):
    file = tmp_path / "prices.csv"
    file.write_text("day,price\n1,5\n2,5\n")
    drawing = plot.frontier(cost=f"csv:{file},column=price", buffers="4,4", risk=False)
    data = drawing.compute(lambda steps: steps)
    assert (drawing.name, data.mean_cost, data.places, data.risks) == ("frontier", 5, 8, None)
    assert fits(frontier.draw(data, SLIDES))  # where one price is all there is
    seen = []
    monkeypatch.setattr(frontier, "compute", lambda study, **how: seen.append(study))
    plot.frontier(cost="integer:2:4", rounds=30, seed=7).compute(lambda steps: steps)
    assert [(one.cost.low, one.cost.high, one.rounds, one.seed) for one in seen] == [(2, 4, 30, 7)]
