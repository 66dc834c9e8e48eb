"""Charts and words of an answer have the numbers of the answer."""

from dataclasses import replace

from acdpp.explore.form import FIELDS
from acdpp.explore.labels import CHOICES, GROUPS, LABELS, PAIRED
from acdpp.explore.pictures import BAND_ERRORS, curves_chart, money_chart
from acdpp.explore.words import figures, money_said, recommended, rows, summary
from acdpp.output import with_error
from tests.acdpp.explore.test_planner import answers

FIRST = "buy-cheap-online"


def test_every_field_has_a_name_a_hint_and_one_place():
    assert set(LABELS) == set(FIELDS) >= set(PAIRED)
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(FIELDS)
    assert all(one.name and one.hint for one in LABELS.values())


def test_curves_are_drawn_with_bands_bound_and_what_was_measured():
    answer = answers()[-1]
    chart = curves_chart(answer, {"constant": [0.5, 0.25]}, dark=False)
    drawn = [(one["name"], one["type"], len(one["data"])) for one in chart["series"]]
    assert drawn == [
        (FIRST, "line", 13),
        (FIRST, "custom", 13),
        ("constant", "line", 13),
        ("constant, measured", "line", 2),
        ("lower bound", "line", 12),
    ]
    curve, (line, band, *_) = answer.curves[FIRST], (one["data"] for one in chart["series"])
    assert line == [[t, value] for t, value in zip(curve.rounds, curve.risk, strict=True)]
    value, half = curve.risk[-1], BAND_ERRORS * curve.error[-1]
    assert band[-1] == [13, value - half, value + half]
    assert all(0 < low <= value <= high for (_, low, high), (_, value) in zip(band, line, strict=True))
    assert chart["series"][3]["data"] == [[1, 0.5], [2, 0.25]]
    assert chart["series"][0]["lineStyle"]["type"] == "solid"
    assert curves_chart(answers()[1], {}, dark=True)["series"][0]["lineStyle"]["type"] == "dotted"
    unsure = replace(curve, risk=(0.0, *curve.risk[1:]), error=curve.risk)
    line, band = curves_chart(replace(answer, curves={FIRST: unsure}), {}, dark=True)["series"][:2]
    assert len(line["data"]) == len(band["data"]) == 12  # a logarithmic scale has no 0
    assert all(
        0 < low < value / 2 for (_, low, _), (_, value) in zip(band["data"], line["data"], strict=True)
    )
    money = money_chart(answer, dark=False)["series"]
    assert [one["data"][3] for one in money] == [[22, answer.money.rate], [22, answer.money.most]]


def test_figures_are_those_of_the_first_policy_of_the_money_and_of_another_unit():
    answer = answers()[-1]
    curve, more = answer.curves[FIRST], answer.more
    final = with_error(curve.final, curve.errors["final_excess_risk"])
    gain = f"{more.cumulative:.3g} less"
    numbers = [final, f"{answer.money.least:.4g}", f"{curve.rate:.4g}", gain]
    assert [one.number for one in figures(answer)] == numbers
    worse = replace(answer, more=replace(more, cumulative=-0.25))
    assert figures(worse)[3].number == "0.25 more"
    for one, how in ((answer, ""), (answers()[1], ", coarsely")):
        assert figures(one)[0].detail == f"{FIRST}, after 12 rounds{how}"
    assert summary(answer) == f"{FIRST}: {rows(answer)[0][3]} in all, {final} at the end"
    assert [one.number for one in figures(answers()[0])][2:] == ["…", "…"]
    assert "memory binds" in figures(answers(budget="500", policies="constant")[0])[2].detail
    assert ("not significant" in figures(answer)[3].detail) is not more.significant
    assert [", coarsely;" in figures(one)[3].detail for one in (answer, answers()[-2])] == [False, True]
    here, there = answer.money, answer.richer
    assert f"{here.most:.4g} (all at prices up to {here.threshold:.3g})" in figures(answer)[2].detail
    more_bought = f"{there.most - here.most:.3g} more samples per round"
    assert figures(answer)[3].detail.endswith(f"at most {more_bought}, lower bound {there.least:.4g}")


def test_policies_are_rows_and_money_is_a_sentence():
    names = [row[0] for row in rows(answers()[-1])]
    assert names == [FIRST, "constant"]
    assert rows(answers()[-1])[1][1].startswith("the same number of samples in every round")
    known = replace(answers()[-1], design={"left_out": {"constant": "spends 30 a round"}})
    assert [row[1].endswith("rounds; spends 30 a round") for row in rows(known)] == [False, True]
    assert [row[0] for row in rows(answers()[2])] == [f"{FIRST}, coarsely", "constant, coarsely"]
    said = money_said(answers()[-1])
    assert (said.startswith("K = 4 and 4 samples per round"), said.endswith("price of 5.5")) == (True, True)


def test_what_is_recommended_has_policy_retention_rate_steps_and_mean():
    design = {"policy": "burst", "K": 3, "rate": 4.0, "cost": 21.5, "eta": 0.5, "steps": 2, "decay": 9.0}
    design |= {"average": "tail", "average_by": 0.5, "over_lower_bound": 1.25}
    design |= {"left_out": {"oracle": "spends 88", "acdpp": "no"}}
    design |= {"predicted": {"cumulative_excess_risk": 2.0, "final_excess_risk": 0.125}}
    design |= {"error": {"cumulative_excess_risk": 0.5, "final_excess_risk": 0.01}}
    told = dict(recommended(design))
    wanted = {"Policy": ["burst"], "Retention K": ["3"], "Samples per round": ["4", "21.5"]}
    wanted |= {"Steps": ["2", "0.5", "t/9"], "Averaging": ["tail", "0.5"], "Left out": ["88; acdpp no"]}
    over_all, at_end = (CHOICES["objective"][name].capitalize() for name in ("cumulative", "final"))
    wanted |= {over_all: ["2.0 ± 0.5"], at_end: ["0.12 ± 0.01", "1.25"]}
    assert all(fact in told[name] for name, facts in wanted.items() for fact in facts)
    alone = dict(recommended(design | {"K": None, "error": None, "left_out": {}}))
    assert (alone["Retention K"], alone["Over all rounds"]) == ("as the policy has it", "excess risk 2")
    assert "Left out" not in alone
    assert dict(recommended(design | {"K": 1}))["Retention K"] == "1 round"
