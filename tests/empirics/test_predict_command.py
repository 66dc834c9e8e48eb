"""`acdpp predict`, and `acdpp design --by prediction`, from the outside."""

import json

import pytest

from acdpp import design_by_prediction
from tests.acdpp.program import acdpp, answer
from tests.empirics.small import blobs_file
from theory.design import design

NUMBERS = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
BUDGETS = ("--buffers", "4,5,7", "--budget", "22", "--mean-cost", "5.5", "--horizon", "3")
DESIGN = ("design", *BUDGETS, "--by", "prediction", "--dataset")
WIDE = 80


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDE))


def said(*words):
    """What is printed, within the width of the terminal."""
    done = acdpp(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= WIDE
    return " ".join(done.stdout.split())


def predict(*words):
    return "predict", "--dataset", blobs_file(), "--rounds", "3", "--policies", "constant,oracle", *words


def test_the_table_has_every_policy_and_says_the_best_and_how_sure_it_is():
    flat = said(*predict("--pilot", "40", "--objective", "floor"))
    for words in ("multinomial logistic regression; 3 rounds", "noise floor", "path", "oracle", "±"):
        assert words in flat
    for words in ("best constant admission: K = ", "samples a round, η = ", "% below the study's own"):
        assert words in flat
    assert "standard error by the jackknife, from 40 samples alone" in flat
    without = said(*predict("--no-best"))
    assert "best constant" not in without
    assert "±" not in without
    assert "those of the whole data set, exactly" in without


def test_json_is_one_object_with_three_numbers_a_policy_and_the_best():
    document = answer(*predict("--no-best"))
    assert {"policies", "task"} <= document.keys()
    assert (document["best"], document["pilot"], document["rounds"]) == (None, None, 3)
    for row in document["policies"].values():
        assert all(row[number] > 0 for number in NUMBERS)
        assert row["error"] is None
        assert 0 < row["path_share"] < 1
    surer = answer(*predict("--pilot", "40", "--steps", "1,3", "--objective", "floor"))
    assert surer["pilot"] == 40
    assert {"K", "rate", "eta"} <= surer["best"].keys()
    assert {one["steps"] for one in surer["best"]["tried"]} == {1, 3, 10}
    errors = [row["error"] for row in surer["policies"].values()] + [surer["best"]["error"]]
    assert all(set(error) == set(NUMBERS) and min(error.values()) > 0 for error in errors)
    assert surer["best"]["gain_error"] > 0


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
    rounds, samples = (
        answer(*predict("--no-best", *learner, by))["policies"] for by in ("rounds", "samples")
    )
    same = ("--policies", "constant@decay=5,average=polynomial,average_by=3")
    (own,) = answer(*predict("--no-best", *same))["policies"].values()
    assert rounds["constant"] == own != samples["constant"]
    config = acdpp("train", *learner, "samples", "--show-config").stdout.splitlines()
    for line in ('average = "polynomial"', "average_by = 3.0", "decay = 5.0", 'decay_by = "samples"'):
        assert line in config
    assert 'decay = "none"' in acdpp("train", "--decay", "none", "--show-config").stdout.splitlines()


def test_a_design_by_prediction_stands_beside_the_one_by_bound():
    document = answer(*DESIGN, blobs_file(), "--horizon", "2")
    assert document["by"] == "prediction"
    assert document["horizon"] == 2
    best = min(document["tried"], key=lambda one: one["cumulative"])
    assert {name: document[name] for name in ("K", "eta", "steps", "rate")}.items() <= best.items()
    there, here = (one["predicted"]["cumulative_excess_risk"] for one in (document["by_bound"], document))
    assert there >= here


def test_a_design_by_prediction_is_the_best_of_the_study_with_its_budgets(monkeypatch):
    words = (*DESIGN, blobs_file(), "--eta", "0.5", "--steps", "3")
    steps = []
    monkeypatch.setattr(
        design_by_prediction, "design", lambda *given: steps.append(given[2].eta) or design(*given)
    )
    document = answer(*words, "--pilot", "60")
    assert steps == [1.5]
    assert (document["eta"], document["steps"], document["pilot"]) == (0.5, 3, 60)
    assert {(one["eta"], one["steps"]) for one in document["tried"]} == {(0.5, 3)}
    assert all(document["error"][number] > 0 for number in NUMBERS)
    assert document["fill_ratio"] == 4
    twice, shown = (ask(*words, "--mean-cost", "11") for ask in (answer, said))
    assert f"by bound, at that step size: K* = {twice['by_bound']['K']}" in shown
    assert twice["fill_ratio"] == 8
    assert twice["rate"] < document["rate"]
