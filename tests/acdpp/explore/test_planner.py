"""A question is answered at once, then coarsely, then in full; and the commands that are copied say the same."""

import json
import math
from dataclasses import replace
from functools import cache
from unittest.mock import Mock

import numpy as np
import pytest

from acdpp.explore import planner as rooms
from acdpp.explore.form import first_form, read_form, taken_over
from acdpp.explore.planner import Planner, Refused, Stopped, commands
from acdpp.fit import fitted
from acdpp.options import StudyOptions
from acdpp.study import papers_learner, study_from
from empirics.predict import predict_study
from empirics.settings.toml import toml_of_changes
from tests.acdpp.program import answer
from tests.empirics.small import Steady, blobs_file
from theory.market.knapsack import purchase_limit
from theory.market.prices import Uniform
from theory.setting import SettingError

DATA = blobs_file(2, 2, 60)  # two classes in a plane
SMALL = {"buffers": "4,5,7", "budget": "22", "rounds": "12", "steps": "2", "eta": "0.5", "decay": "9"}


def form(**typed):
    given = SMALL | {"data": DATA, "policies": "buy-cheap-online,constant"} | typed
    return replace(first_form(), **given)


def asked(**typed):
    found, wrong = read_form(form(**typed))
    assert found is not None, wrong
    return found


PLANNER = Planner()


@cache
def answers(**typed):
    return tuple(PLANNER.answers(asked(**typed), search=False))


def test_answers_get_better_from_one_to_the_next():
    seen = [
        ({name: curve.exact for name, curve in one.curves.items()}, one.more and one.more.exact, one.doing)
        for one in answers()
    ]
    first, second = "buy-cheap-online", "constant"
    assert seen == [
        ({}, None, "coarse curves"),
        ({first: False}, None, "coarse curves"),
        ({first: False, second: False}, None, "coarse curves"),
        ({first: False, second: False}, False, "curves in full"),
        ({first: True, second: True}, False, "curves in full"),
        ({first: True, second: True}, True, ""),
    ]
    assert [one.exact for one in answers()] == [False] * 4 + [True] * 2
    assert [one.done for one in answers()] == [False] * 5 + [True]
    one_coarse = answers()[-1].curves | {second: answers()[2].curves[second]}
    assert not replace(answers()[-1], curves=one_coarse).exact


def contrary(brief):
    """Buys less of more money."""
    return Steady(*(3, 3, 3) if brief.study.budget < 23 else (1, 1, 1))


def test_another_unit_of_money_may_change_nothing_and_may_harm():
    same, mine = answers(budget="500", policies="constant")[-1].more, asked()
    mine = replace(mine, study=replace(mine.study, policies=(f"{__name__}:contrary",)))
    *_, last = PLANNER.answers(mine, search=False)
    worse = last.more
    assert (same.cumulative, same.significant) == (0, False)
    assert worse.cumulative < 0
    assert worse.significant


PILOT = {"pilot": "40", "rounds": "2", "steps": "1"}


@pytest.mark.parametrize("typed", [{}, pytest.param(PILOT, marks=pytest.mark.slow)], ids=["all", "pilot"])
def test_the_copied_command_and_file_give_what_the_page_shows(typed, tmp_path):
    last = answers(**typed)[-1]
    spelled = commands(last.asked)
    (tmp_path / "plan.toml").write_text(spelled["toml"])
    words = spelled["predict"].replace("plan.toml", str(tmp_path / "plan.toml")).split()
    told = answer(*words[1:], "--out", str(tmp_path / "curves.csv"))
    assert told["toml"] == spelled["toml"]
    rows = told["policies"]
    assert list(last.curves) == list(rows)
    for name, curve in last.curves.items():
        row = rows[name]
        assert (curve.cumulative, curve.final) == (row["cumulative_excess_risk"], row["final_excess_risk"])
        assert (curve.rate, curve.errors) == (row["rate"], row["error"])
        assert (curve.error is None) == (row["error"] is None)
    written = [line.split(",") for line in (tmp_path / "curves.csv").read_text().splitlines()[1:]]
    drawn = {(name.strip('"'), int(t)): float(risk) for name, t, risk, _ in written}
    for name, curve in last.curves.items():
        assert list(curve.risk) == [drawn[name, t] for t in curve.rounds]
        assert curve.rounds == tuple(range(1, last.study.rounds + 2))


def test_the_data_choose_what_they_choose_for_the_commands():
    """Constant steps are 1/L; falling steps keep their first size, up to 2/L."""
    options = StudyOptions(dataset=DATA, learner="descent")
    train = study_from(options)
    wanted = [fitted(one, options, quiet=True) for one in (train, papers_learner(train))]
    assert wanted[0].radius != train.radius
    for typed, eta in (
        ({"eta": "", "decay": "50"}, wanted[0].eta),
        ({"eta": ""}, 4.0),
        ({"eta": "", "decay": ""}, wanted[1].eta),
        ({}, 0.5),
    ):
        found, said = PLANNER.suited(asked(**typed))
        assert (found.study.scale, found.study.radius) == (wanted[0].scale, wanted[0].radius)
        assert found.study.eta == eta
        assert (found.plain.radius, found.plain.eta) == (wanted[1].radius, wanted[1].eta)
        assert f"scale unit and radius {wanted[0].radius:g}" in said
        assert ("steps" in said) == ("eta" in typed)
    question = asked(fit="preset")
    assert PLANNER.suited(question) == (question, "")
    assert "--no-fit" in commands(question)["plan"]
    for other in (asked(), digits := asked(data="digits")):
        assert "--no-fit" not in commands(other)["plan"]
    assert not digits.fit


def test_data_that_may_move_choose_nothing(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("a,when,y\n" + "".join(f"{k % 7},{k},{k % 2}\n" for k in range(40)))
    question = asked(data=f"csv:{file}", label="y", time="when")
    found, said = Planner().suited(question)
    assert found == question
    assert "may move in time" in said


@pytest.mark.parametrize("typed", [{}, pytest.param(PILOT, marks=pytest.mark.slow)], ids=["all", "pilot"])
def test_the_errors_of_a_curve_end_in_those_of_its_numbers(typed):
    curves = answers(**typed)[-1].curves
    curve = curves["buy-cheap-online"]
    assert curve.error[-1] == pytest.approx(curve.errors["final_excess_risk"])
    assert (curves["constant"].error is None) == (not typed)  # prices change nothing, a pilot does


def test_money_buys_what_the_theory_says():
    for budget, money in ((22, answers()[0].money), (23, answers()[0].richer)):
        limit = purchase_limit(Uniform(1.0, 10.0), 16, budget)
        assert (money.budget, money.most, money.threshold) == (budget, limit.rate, limit.threshold)
        assert (money.K, money.rate, money.binds, money.mean_price) == (4, 4, "money", 5.5)
    budgets = [one.budget for one in answers()[0].frontier]
    assert budgets == [22 * scale for scale in rooms.BUDGET_SCALES]
    assert answers()[0].frontier[-1].binds == "memory"


def test_the_lower_bound_is_that_of_the_samples_bought_so_far():
    first = answers()[0]
    told = predict_study(first.study, best=False).forecaster.lower_bound()
    for least in (first.money.least, first.lower_bound.risk[-1], first.lower_bound.final):
        assert least == told["final_excess_risk"]
    assert first.lower_bound.rounds == tuple(range(2, 14))
    np.testing.assert_allclose(first.lower_bound.risk, [12 * first.money.least / t for t in range(1, 13)])
    assert first.richer.least < first.money.least


def test_another_unit_of_budget_is_the_difference_of_two_predictions():
    more = answers()[-1].more
    here, there = (
        predict_study(replace(answers()[-1].study, budget=budget), best=False).forecasts["buy-cheap-online"]
        for budget in (22.0, 23.0)
    )
    assert more.cumulative == here.cumulative - there.cumulative
    assert more.final == here.risk[-1] - there.risk[-1]
    unsure = [one.errors["cumulative_excess_risk"] for one in (here, there)]
    assert more.significant == (abs(more.cumulative) > 2 * math.hypot(*unsure))
    assert not any(one.more.significant for one in answers()[3:-1] if one.more)
    gained = answers(policies="constant", budget="21.5")[-1].more
    assert gained.significant  # constant admission does not depend on the path of prices


def test_what_is_stopped_says_so_and_the_next_question_is_answered():
    asked_for = iter([False] * 5)
    with pytest.raises(Stopped):
        list(PLANNER.answers(asked(rounds="13"), stop=lambda: next(asked_for, True)))
    assert next(PLANNER.answers(asked(rounds="13"))).study.rounds == 13


def test_a_search_is_stopped_in_the_midst_of_its_first_look():
    seen = []
    question, stop = asked(policies="constant", budget="21.5"), lambda: "settings tried" in seen
    with pytest.raises(Stopped):
        list(PLANNER.answers(question, stop=stop, tell=lambda doing, *_: seen.append(doing)))
    assert seen.count("settings tried") == 1


def test_what_cannot_be_answered_is_a_sentence_beside_a_field():
    for typed, field, words in (
        ({"data": "npz:nowhere.npz"}, "data", "nowhere.npz"),
        ({"budget": "9e14"}, "budget", "budget must lie in"),  # the chart shows four times as much
        ({"pilot": "3"}, "pilot", "a pilot sample must have from 10"),
        ({"pilot": "15"}, "pilot", "samples choose no ball"),
        ({"policies": "adaptive"}, "policies", "listens to losses"),
        ({"policies": "constant,oracle@K=3"}, "policies", "oracle"),
    ):
        with pytest.raises(Refused) as caught:
            list(PLANNER.answers(asked(**typed), search=False))
        assert caught.value.field == field
        assert words in str(caught.value)


def test_prices_of_a_file_are_read_and_must_be_enough(tmp_path):
    file = tmp_path / "prices.csv"
    file.write_text("5\n" * 12)
    question = asked(price_file=str(file), policies="constant")
    last = list(PLANNER.answers(question, search=False))[-1]
    assert (last.money.mean_price, last.money.K, last.money.most) == (5, 4, 22 / 5)
    named = replace(question, names={str(file): "prices.csv"})
    assert 'file = "prices.csv"' in commands(named)["toml"]
    assert "--cost csv:prices.csv --rounds" in commands(named)["plan"]
    file.write_text("day,price\n1,5\n")
    spelled = asked(
        price_file=str(file), price_column="price", data="csv:a", label="y", time="t", client="who"
    )
    assert "csv:a --label y --time t --client who" in commands(spelled)["plan"]
    assert f"--cost csv:{file},column=price --rounds" in commands(replace(spelled, fit=True))["plan"]
    for text, words in (("5\n" * 11, "11 prices and the study 12 rounds"), ("5\nfive\n", "line 2")):
        file.write_text(text)
        for planner in (PLANNER, Planner()):  # whether it knows the data or not
            with pytest.raises(Refused, match=words) as caught:
                list(planner.answers(question, search=False))
            assert caught.value.field == "price_file"


def test_prices_are_read_again_where_their_file_changes(tmp_path):
    file, planner = tmp_path / "prices.csv", Planner()  # that meets the data with these prices
    for price in (5, 4):
        file.write_text(f"{price}\n" * 12)
        money = next(planner.answers(asked(price_file=str(file)))).money
        assert (money.mean_price, money.most) == (price, 22 / price)


def test_data_are_read_again_where_they_the_pilot_or_the_labels_change(home):
    arrays, planner, table = dict(np.load(DATA.removeprefix("npz:"))), Planner(), home / "mine.csv"
    table.write_text("a,y,z\n" + "".join(f"{k % 7},{k % 2},{k % 3}\n" for k in range(60)))
    labels = [{"data": f"csv:{table}", "label": label} for label in "yz"]
    for times, pilot in ((1, ""), (1, "40"), (2, "40"), (3, "")):
        np.savez(home / "mine.npz", **arrays | {"x": times * arrays["x"]})
        for typed in ({"data": "npz:~/mine.npz", "pilot": pilot}, *labels):
            question = asked(fit="preset", **typed)
            assert next(planner.answers(question)).money == next(Planner().answers(question)).money


def test_a_data_set_is_looked_at_once_and_for_a_single_round():
    planner, seen = Planner(), []
    market = {"budget": "30", "buffers": "4,5", "prices": "3", "rounds": "9"}
    for typed in ({}, {"eta": "0.1", "policies": "taper", **market}):
        next(planner.answers(asked(fit="preset", **typed), tell=lambda *told: seen.append(told)))
    assert seen == [("predicting rounds", 1, 1)]


def test_pages_that_ask_one_planner_at_once_get_each_its_own_answer():
    def least(planner, question):
        return next(planner.answers(question)).money.least

    class Crossed(Planner):
        """While the problem of one page is being kept, another page asks."""

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if others:
                assert least(self, others.pop()) == wanted[1]

    questions = asked(fit="preset"), asked(fit="preset", pilot="40")
    wanted = [least(Planner(), one) for one in questions]
    others = []
    planner = Crossed()
    others.append(questions[1])
    assert wanted[0] != wanted[1]
    assert least(planner, questions[0]) == wanted[0]
    assert not others
    assert [least(planner, one) for one in questions] == wanted


def test_the_copied_search_has_prices_to_all_digits():
    words = commands(asked(prices="uniform:1.00000001:10.123456789"))["plan"].split()
    spelled = words[words.index("--cost") + 1].split(":")
    assert (spelled[0], *map(float, spelled[1:])) == ("uniform", 1.00000001, 10.123456789)
    assert words[-4:] == ["--rounds", "12", "--objective", "cumulative"]


def test_a_search_may_find_nothing(monkeypatch):
    monkeypatch.setattr(rooms, "plan_from", Mock(side_effect=SettingError("nothing can be trusted")))
    last = list(PLANNER.answers(asked(policies="constant", rounds="3")))[-1]
    assert (last.design, last.unfound, last.doing) == (None, "nothing can be trusted", "")
    assert last.done  # what was predicted stands


@pytest.mark.slow
def test_the_copied_search_finds_what_the_page_recommends():
    question = asked(policies="constant", objective="final")
    last = list(PLANNER.answers(question))[-1]
    told = answer(*commands(last.asked)["plan"].split()[1:])
    assert told == json.loads(json.dumps(last.design)) | {"file": None}
    taken, _ = read_form(taken_over(form(policies="constant", objective="final"), last.design))
    assert toml_of_changes(PLANNER.suited(taken)[0].study) == last.design["toml"]
