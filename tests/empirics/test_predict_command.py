"""`acdpp predict`, and `acdpp design --by prediction`, from the outside."""

import json

import pytest
import typer
from typer.testing import CliRunner

from acdpp import design
from acdpp.predict import command
from tests.empirics.small import blobs_file
from theory.setting import SettingError

app = typer.Typer()
app.command("predict")(command)
app.command("design")(design.command)
NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
BUDGETS = ("--buffers", "4,5,7", "--budget", "22", "--mean-cost", "5.5", "--horizon", "3")
DESIGN = ("design", *BUDGETS, "--by", "prediction", "--dataset")
WIDE = 80


def refusal(done):
    assert isinstance(done.exception, SettingError)
    return str(done.exception)


@pytest.fixture
def say(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDE))

    def invoke(*words):
        return CliRunner().invoke(app, list(map(str, words)))

    def predict(*words):
        few = ("--dataset", blobs_file(), "--rounds", "3", "--policies", "constant,oracle")
        return invoke("predict", *few, *words)

    predict.plainly = invoke
    return predict


def test_the_table_has_every_policy_and_says_the_best_and_how_sure_it_is(say):
    shown = say("--pilot", "40", "--objective", "floor")
    assert shown.exit_code == 0, shown.output
    assert max(map(len, shown.output.splitlines())) <= WIDE
    flat = " ".join(shown.output.split())
    for words in ("multinomial logistic regression; 3 rounds", "noise floor", "path", "oracle", "±"):
        assert words in flat
    for words in ("best constant admission: K = ", "samples a round, η = ", "% below the study's own"):
        assert words in flat
    assert "standard error by the jackknife, from 40 samples alone" in flat
    without = " ".join(say("--no-best").output.split())
    assert "best constant" not in without
    assert "±" not in without
    assert "those of the whole data set, exactly" in without


def test_json_is_one_object_with_three_numbers_a_policy_and_the_best(say):
    document = json.loads(say("--json", "--no-best").output)
    assert {"policies", "task"} <= document.keys()
    assert (document["best"], document["pilot"], document["rounds"]) == (None, None, 3)
    for row in document["policies"].values():
        assert all(row[number] > 0 for number in NUMBERS)
        assert row["error"] is None
        assert 0 < row["path_share"] < 1
    surer = json.loads(say("--json", "--pilot", "40", "--steps", "1,3", "--objective", "floor").output)
    assert surer["pilot"] == 40
    assert {"K", "rate", "eta"} <= surer["best"].keys()
    assert {one["steps"] for one in surer["best"]["tried"]} == {1, 3, 10}
    errors = [row["error"] for row in surer["policies"].values()] + [surer["best"]["error"]]
    assert all(set(error) == set(NUMBERS) and min(error.values()) > 0 for error in errors)
    assert surer["best"]["gain_error"] > 0


def test_a_sweep_is_predicted_and_written(say, tmp_path):
    shown = say("--sweep", "K=1,4", "--no-best", "--out", tmp_path / "new.csv")
    assert shown.exit_code == 0, shown.output
    lines = (tmp_path / "new.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 4
    found = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))["policies"]
    assert list(found) == ["constant@K=1", "constant@K=4", "oracle"]
    assert found["constant@K=1"]["rate"] == found["constant@K=4"]["rate"]
    assert found["constant@K=1"]["noise_floor"] > found["constant@K=4"]["noise_floor"]
    assert "new.csv" in shown.output


def test_a_mistake_is_one_clear_sentence_and_writes_nothing(say, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words, message in {
        "--pilot 0": "--pilot must be a whole number",
        "--pilot many": "--pilot must be a number",
        "--steps 1,": "--steps must be a number",
        "--steps 0": "--steps must be a whole number",
        "--no-best --steps 1": "leave out --no-best",
        "--no-best --objective floor": "leave out --no-best",
        "--device abacus": "device must be cpu or cuda",
        "--dataset npz:nowhere.npz": "nowhere.npz",
        "--cost-trace nowhere.csv": "nowhere.csv",
        "--cost-column price": "--cost-trace FILE",
        "--out /dev/null": "is there already",
        "--out /dev/null/x.csv": "cannot be used",
    }.items():
        assert message in refusal(say("--out", "out", *words.split()))
        assert not list(tmp_path.iterdir())


def test_a_design_by_prediction_stands_beside_the_one_by_bound(say):
    document = json.loads(say.plainly(*DESIGN, blobs_file(), "--horizon", "6", "--json").output)
    assert document["by"] == "prediction"
    assert document["horizon"] == 6
    best = min(document["tried"], key=lambda one: one["cumulative"])
    assert {name: document[name] for name in ("K", "eta", "steps", "rate")}.items() <= best.items()
    there, here = (one["predicted"]["cumulative_excess_risk"] for one in (document["by_bound"], document))
    assert there >= here


def test_a_design_by_prediction_is_the_best_of_the_study_with_its_budgets(say):
    words = (*DESIGN, blobs_file(), "--eta", "0.5", "--steps", "3", "--json")
    document = json.loads(say.plainly(*words, "--pilot", "60").output)
    shown = say.plainly(*words[:-1], "--pilot", "60")
    assert shown.exit_code == 0, shown.output
    assert max(map(len, shown.output.splitlines())) <= WIDE
    assert f"by bound, at that step size: K* = {document['by_bound']['K']}" in " ".join(shown.output.split())
    assert (document["eta"], document["steps"], document["pilot"]) == (0.5, 3, 60)
    assert {(one["eta"], one["steps"]) for one in document["tried"]} == {(0.5, 3)}
    assert all(document["error"][number] > 0 for number in NUMBERS)
    assert document["fill_ratio"] == 4
    twice = json.loads(say.plainly(*words, "--mean-cost", "11").output)
    assert twice["fill_ratio"] == 8
    assert twice["rate"] < document["rate"]


def test_a_mistake_in_a_design_is_one_clear_sentence(say):
    digits = "--by prediction --dataset digits"
    for words, message in {
        "--eta 1 --pilot 20": "--pilot, --eta: the bound knows no data",
        "--by prediction": "give --dataset",
        f"{digits} --buffers 4.5,5": "buffers",
        f"{digits} --pilot 1e6": "got 1000000",
        f"{digits} --eta 0": "eta must",
        f"{digits} --horizon 1e12": "do not fit into memory",
        f"{digits} --constants D=1,sigma=1,eta=1,B=1,Pdim=1": "its own",
    }.items():
        assert message in refusal(say.plainly("design", *BUDGETS, *words.split()))
