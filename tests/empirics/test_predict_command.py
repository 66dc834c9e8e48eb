"""`acdpp predict` and `acdpp plan` as a user meets them."""

import json
import time
import tomllib
from unittest.mock import Mock

import pytest

from acdpp import output
from acdpp.plan import BUYS, kept, learner, show
from acdpp.predict import show_prediction
from empirics.control.registry import BUILT_IN
from empirics.planning import search
from empirics.settings.presets import PRESETS
from tests.acdpp.program import acdpp, answer, refusal
from tests.empirics.small import blobs_file, until
from tests.recorded import numbers
from theory.setting import SettingError

NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
PLAN = ("plan", "--buffers", "4,5,7", "--budget", "22", "--rounds", "3", "--dataset")
WIDE = 80


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDE))


def said(*words):
    """Standard output in one line, checked to fit the terminal."""
    done = acdpp(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= WIDE
    return " ".join(done.stdout.split())


def predict(*words):
    own = ("--dataset", blobs_file(), "--preset", "own", "--no-fit")
    return "predict", *own, "--rounds", "3", "--policies", "constant,oracle", *words


def test_an_answer_has_the_settings_that_were_predicted_and_can_be_repeated(tmp_path):
    def told(*words):
        return json.loads(acdpp("predict", "--no-best", "--json", *words).stdout)

    found = told("--dataset", blobs_file(), "--rounds", "3", "--policies", "constant")
    chosen, own = tomllib.loads(found["toml"]), PRESETS["own"]
    assert (chosen["radius"], chosen["eta"]) != (own.radius, own.eta)  # by a pilot
    (tmp_path / "again.toml").write_text(found["toml"])
    assert told("--config", str(tmp_path / "again.toml")) == found


def test_the_table_has_every_policy_and_says_the_best_and_how_sure_it_is(capsys):
    surer = answer(*predict("--pilot", "40", "--steps", "1,3", "--objective", "floor"))
    assert {one["steps"] for one in surer["best"]["tried"]} == {1, 3, 10}
    errors = [row["error"] for row in (*surer["policies"].values(), surer["best"])]
    assert all(set(error) == set(NUMBERS) and min(error.values()) > 0 for error in errors)
    surer["best"] |= {"gain": -0.25, "gain_error": 0.07}
    show_prediction(surer)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= WIDE
    flat = " ".join(shown.split())
    for words in (
        "3 rounds",
        "noise floor",
        "oracle",
        "±",
        f"K = {surer['best']['K']}",
        "from 40 samples",
        "25 ± 7 % above",
    ):
        assert words in flat
    lines = {line.split()[0]: line.split()[-1] for line in shown.splitlines() if line.startswith(" ")}
    for name, row in surer["policies"].items():
        assert lines[name] == f"{row['path_share']:.0%}"
    best, own = surer["best"], surer["best"]["own"]
    assert best["eta"] != own["eta"] or best["K"] != own["K"]
    alike = {"eta": best["eta"], "steps": best["steps"]}
    tried = [alike | {"K": K, "floor": value} for K, value in ((7, 1.01), (2, 1.0), (5, None))]
    others = {"eta": 9.0, "K": 1, "floor": 3.0}, {"steps": 99, "K": 30, "floor": 3.0}
    best |= {"gain": 0.25, "gain_error": 0.002, "tried": [*tried, *(alike | other for other in others)]}
    show_prediction(surer | {"notes": ["one", "two"]})
    flat = " ".join(capsys.readouterr().out.split())
    setting = f"K = {own['K']}, {own['rate']:.4g} samples per round, η = {own['eta']:.4g}, E = {own['steps']}"
    for words in (
        f"the study's own: {setting}: {own['predicted']['noise_floor']:.4g}",
        "25 ± 1 % below",
        "from K = 2 to 7 the risk changes by 1.0 % at most",
        "note: one note: two",
    ):
        assert words in flat
    best |= {"gain_error": None, "tried": [*tried, alike | {"K": 3, "floor": 1.03}]}
    show_prediction(surer)
    flat = " ".join(capsys.readouterr().out.split())
    assert ("25 % below" in flat, "hardly matters" in flat) == (True, False)
    without = said(*predict("--no-best"))
    assert "best constant" not in without
    assert "±" not in without
    assert "exact for the whole data set" in without


def test_where_there_is_no_terminal_it_says_now_and_then_how_far_it_is(monkeypatch, capsys):
    done = acdpp(*predict("--no-best", "--json"), soon=0.001)
    assert json.loads(done.stdout)["pilot"] is None
    assert done.stderr.startswith("acdpp: reading the data\n")
    monkeypatch.setattr(output, "FIRST_PROGRESS_SECONDS", 0.001)
    with output.told("settings", None) as update:
        update(completed=1200, total=3000)
        until(lambda: "acdpp: settings, 1,200 of 3,000\n" in capsys.readouterr().err)
        time.sleep(0.01)
        assert capsys.readouterr().err == ""  # until PROGRESS_SECONDS have passed
    monkeypatch.setattr(output, "PROGRESS_SECONDS", 0.001)
    with output.told("settings", None) as update:
        for _ in range(2):
            update(completed=12, description="parts")
            until(lambda: "acdpp: parts, 12\n" in capsys.readouterr().err)
    capsys.readouterr()
    time.sleep(0.01)
    assert capsys.readouterr().err == ""  # once it is done


def test_a_sweep_is_predicted_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "new.csv" in said(*predict("--sweep", "K=1,4", "--no-best", "--out", "new.csv"))
    lines = (tmp_path / "new.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 4
    found = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))["policies"]
    assert list(found) == ["constant@K=1", "constant@K=4", "oracle"]
    assert found["constant@K=1"]["rate"] == found["constant@K=4"]["rate"]
    assert found["constant@K=1"]["noise_floor"] > found["constant@K=4"]["noise_floor"]


def test_the_learner_is_given_as_to_train():
    learner = ("--average", "polynomial", "--average-by", "3", "--decay", "5", "--decay-by")
    given = (*learner, "samples", "--learner", "descent")
    found = answer(*predict("--no-best", "--learner", "descent", *learner, "rounds"))["policies"]
    same = ("--policies", "constant@decay=5,average=polynomial,average_by=3", "--learner", "descent")
    (own,) = answer(*predict("--no-best", *same))["policies"].values()
    assert numbers(found["constant"]) == pytest.approx(numbers(own), rel=1e-12)
    config = acdpp("train", *given, "--show-config").stdout.splitlines()
    for line in ('average = "polynomial"', "average_by = 3.0", "decay = 5.0", 'decay_by = "samples"'):
        assert line in config


def test_a_design_by_prediction_says_what_to_buy_how_to_learn_and_what_nobody_can_beat(monkeypatch, capsys):
    monkeypatch.setattr(search, "TURNS_MAX", 1)
    monkeypatch.setattr(search, "POLICIES_IMPROVED", 1)
    words = (*PLAN, blobs_file(), "--eta", "0.5", "--steps", "2", "--budget", "70", "--objective", "final")
    document = answer(*words, "--learner", "descent", "--cost", "uniform:1:10")
    show(document)
    lines = capsys.readouterr().out.splitlines()
    flat = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= max(WIDE, len(f'dataset = "{blobs_file()}"'))
    assert (document["by"], document["objective"], document["horizon"]) == ("prediction", "final", 3)
    assert (document["eta"], document["steps"]) == (0.5, 2)
    for fact in (
        f"buy by {document['policy']}",
        f"that is {document['rate']:.4g} samples per round for {document['cost']:.4g} ",
        "2 local steps of size 0.5",
        f"lower bound of the final excess risk: {document['lower_bound']['final_excess_risk']:.4g}",
        f"{document['over_lower_bound']:.3g} times the lower bound",
        "acdpp train --config best.toml",
    ):
        assert fact in flat
    for one, words in (
        (document, "predicted cumulative excess risk: {}, "),
        (document["paper"], " the paper's {} "),
    ):
        error = (one["error"] or {}).get(NUMBERS[0])
        assert words.format(output.with_error(one["predicted"][NUMBERS[0]], error)) in flat
    paper = document["paper"]
    assert f"the paper's: constant admission, K = {paper['K']}, {learner(paper)}" in flat
    assert f"the paper's {paper['over_lower_bound']:.3g} times" in flat
    last = [line.split()[-1] for line in lines if line.startswith(" ") and line.split()[-1][0].isdigit()]
    assert last == [f"{one['over_lower_bound']:.3g}" for one in document["nearest"]]
    gain = {"cumulative_excess_risk": -0.5, "final_excess_risk": 0.25}
    nearest = [*document["nearest"], document["nearest"][0] | {"name": "mine", "over_lower_bound": 77.75}]
    more = {"over_lower_bound": 0.9, "K": 7, "notes": ["one", "two"], "nearest": nearest}
    show(document | {"gain": gain} | more)
    other = " ".join(capsys.readouterr().out.split())
    facts = (
        "50 % above the paper's",
        "25 % below the paper's",
        "K = 7: ",
        "is below it",
        "note: one note: two",
        " 77.8 ",
    )
    assert [fact for fact in facts if fact not in other] == []
    assert set(BUYS) == set(BUILT_IN)
    assert len(document["tried"]) > len(document["nearest"])


def test_a_plan_for_a_server_that_adds_up_information_has_constant_admission_beside_it(capsys):
    informed = (*PLAN, blobs_file(), "--budget", "70", "--no-fit")
    show(answer(*informed))
    flat = " ".join(capsys.readouterr().out.split())
    for fact in ("learn with a server that adds up gradient and curvature", "constant admission's"):
        assert fact in flat
    for other in ("the paper's", "local step", "step size", "optimistically"):
        assert other not in flat
    for option in ("--eta", "--steps", "--decay-by"):
        told = f"learner information takes no {option}: leave it out, or add --learner descent"
        command = (
            acdpp(*informed, option, "2") if option != "--decay-by" else acdpp("train", option, "samples")
        )
        assert (command.returncode, told in command.stderr) == (2, True)
    assert "takes no --steps" in refusal("predict", "--steps", "5")
    assert "add --learner descent" in refusal("predict", "--objective", "floor")


def test_a_budget_that_buy_cheap_alone_refuses_may_be_planned_for_without_it(monkeypatch):
    monkeypatch.setattr(
        "empirics.planning.plan.plan_study", Mock(side_effect=SettingError("it was searched"))
    )
    words = (*PLAN, blobs_file(), "--no-fit", "--rounds", "500", "--budget", "0.0041", "--cost", "2")
    for more, told in (((), "too rarely"), (("--online",), "it was searched")):
        assert told in refusal(*words, *more)


def test_a_learner_is_told_by_its_steps_and_its_model():
    row = {"steps": 1, "eta": 0.5, "decay": None, "average": "none", "average_by": None}
    for own, told in (
        ({}, "1 local step of size 0.5; take the last model"),
        ({"steps": 2, "average": "equal"}, "2 local steps of size 0.5; take the mean of all models"),
        ({"decay": 9.0}, "1 local step of size 0.5, falling as 1/√(1 + t/9); take the last model"),
        ({"average": "tail", "average_by": 0.25}, "a running mean of models, tail (0.25)"),
    ):
        assert told in learner(row | own)


def test_of_a_mean_price_alone_every_round_has_that_price(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(search, "TURNS_MAX", 0)
    words = (*PLAN, blobs_file(), "--learner", "descent", "--eta", "0.5", "--steps", "1", "--pilot", "40")
    document = answer(*words, "--cost", "11", "--online", "--out", str(tmp_path / "best.toml"))
    assert (tmp_path / "best.toml").read_text() == document["toml"]
    show(document)
    assert capsys.readouterr().out.endswith(f"to train it: acdpp train --config {tmp_path}/best.toml\n")
    assert kept(tmp_path / "nowhere" / "best.toml", "") is None
    assert "best.toml cannot be written (No such file" in capsys.readouterr().err
    assert "low = 11.0\nhigh = 11.0" in document["toml"]
    assert document["left_out"]["burst"] == "needs to know the law of prices"
    assert document["lower_bound"]["samples"] == pytest.approx(22 * 3 / 11)
    assert document["pilot"] == 40
    assert all(one["error"][number] > 0 for one in (document, document["paper"]) for number in NUMBERS)
