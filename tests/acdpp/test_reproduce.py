"""`acdpp reproduce` from the outside, on a data set with MNIST's files and few, easy images."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from acdpp import interrupt
from empirics.results.folder import read_settings
from empirics.results.reproduction import NAME, reproduction
from empirics.settings.study import Study
from tests.acdpp.program import refusal, said, settings
from tests.empirics.data.made_data import bright_squares, put
from tests.empirics.small import stopped_at
from tests.refused import refused

Told = tuple[Path, str, str]  # folder of the result, what was printed, and the last words on Ctrl-C
SMALL = ("--rounds", "2", "--seeds", "2")
LADDER = ("explain", "mnist", "--worlds", "released,logistic", *SMALL, "--eta", "0.25")
FEW = ("--policies", "acdpp,constant,hybrid", "--model", "logistic")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return put(tmp_path_factory.mktemp("data"), bright_squares())


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("results") / "one"
    words = ("reproduce", "mnist", *SMALL, *FEW, "--data-dir", data, "--out", out)
    return out, said(*words), interrupt.last_words()


def test_one_command_trains_and_sets_the_paper_beside_us(finished):
    out, shown, last = finished
    words = " ".join(shown.split())
    facts = "setting paper, model logistic, 80 % interval, to 85 %, 200 of the 60, V = √T"
    assert all(fact in words for fact in facts.split(", "))
    rows = {line.split("  ")[0].strip(): line for line in shown.splitlines()}
    assert "+1.9" in rows["acdpp - hybrid"]
    assert "+3.5" in rows["acdpp - constant"]
    assert "2.6" in rows["acdpp - constant"]
    assert max(map(len, shown.splitlines())) <= 80
    assert last == f"stopped; continue with acdpp resume {out}"


def test_the_numbers_printed_are_those_of_the_document(finished):
    out, shown, _ = finished
    document = json.loads((out / NAME).read_text(encoding="utf-8"))
    assert document == reproduction(out)
    assert Study.from_document(document["study"]).model == "logistic"
    assert document["data"] == {"train": 200, "test": 50, "complete": False}
    for name, row in document["policies"].items():
        line = next(line for line in shown.splitlines() if line.split()[:1] == [name])
        assert f"{100 * row['best_accuracy']['mean']:.2f} ±" in line
        assert f"{row['mean_cost']['mean']:.4g}" in line.split()
        assert str(row["occupancy"]["largest"]) in line.split()
        assert f"{row['debt']['largest']:.4g}" in line.split()
    gap = document["comparisons"]["acdpp"]["hybrid"]
    line = next(line for line in shown.splitlines() if line.strip().startswith("acdpp - hybrid"))
    for points in (gap["points"], gap["points_averaged"]):
        assert f"{points['mean']:+.2f} ± {(points['high'] - points['low']) / 2:.2f}" in line


def test_the_command_of_the_document_makes_it_again(data, finished, tmp_path):
    document = json.loads((finished[0] / NAME).read_text(encoding="utf-8"))
    words = document["command"].split()[1:]
    again = said(*words, "--data-dir", data, "--out", tmp_path / "again", "--json")
    assert json.loads(again) == {"result": str(tmp_path / "again"), **document}


def test_a_finished_result_is_told_again_and_its_document_written_anew(finished):
    out, shown, _ = finished
    before = (out / NAME).read_bytes()
    (out / NAME).unlink()
    assert said("resume", out) == shown
    assert (out / NAME).read_bytes() == before


def test_a_study_is_continued_where_it_stopped(data, tmp_path):
    from empirics.reproduce import reproduce as train
    from empirics.settings.section7 import section7

    named = section7("mnist", "released", seeds=2, rounds=5)
    study = replace(named, policies=("released", "constant", "hybrid"), checkpoint=3)
    stopped_at(study, tmp_path / "cut", 4, train, data_dir=data)  # after the first checkpoint
    assert not (tmp_path / "cut" / NAME).exists()
    sentence = f"unfinished: acdpp resume {tmp_path / 'cut'} continues it"
    assert sentence in refused(reproduction, tmp_path / "cut")
    said("resume", tmp_path / "cut")
    train(study, tmp_path / "whole", data_dir=data)
    assert (tmp_path / "cut" / NAME).read_bytes() == (tmp_path / "whole" / NAME).read_bytes()


def test_settings_are_shown_without_any_data():
    shown = settings("reproduce", "cifar10", "--setting", "released", "--eta", "0.01", "--seeds", "3")
    wanted = {"dataset": "cifar10", "momentum": 0.9, "eta": 0.01, "seeds": 3, "model": "resnet9"}
    assert shown | wanted == shown


def test_an_unknown_policy_or_model_is_refused_and_leaves_nothing(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, option in {"policy": "--policies", "model": "--model"}.items():
        words = ("reproduce", "mnist", option, "mine", "--data-dir", data)
        assert f"there is no {kind} 'mine'" in refusal(*words)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def ladder(data, tmp_path_factory):
    """The code's world, in which policies lose departures and spend equally, and another."""
    out = tmp_path_factory.mktemp("ladder") / "why"
    (out / "logistic").mkdir(parents=True)  # and nothing in it yet
    return out, said(*LADDER, "--data-dir", data, "--out", out), interrupt.last_words()


def test_the_ladder_tells_gains_in_every_world_and_what_equal_spending_leaves(ladder):
    out, shown, last = ladder
    names = {"explained.json", "logistic", "released", "released-equal"}
    assert {path.name for path in out.iterdir()} == names
    assert last == f"stopped; the same command with --out {out} continues"
    assert max(map(len, shown.splitlines())) <= 80
    document = json.loads((out / "explained.json").read_text(encoding="utf-8"))
    assert list(document["worlds"]) == ["logistic", "released"]
    assert {read_settings(path)["study"]["eta"] for path in out.iterdir() if path.is_dir()} == {0.25}
    world = document["worlds"]["released"]
    cost = world["equal_spending"]["cost"]
    assert cost == pytest.approx(world["policies"]["released"]["mean_cost"]["mean"], rel=1e-3)
    rich = [name for name in world["policies"] if "budget" in name]
    assert len(rich) == 4
    assert f"spending of released, {cost:g}" in " ".join(shown.split())
    assert "not run yet: paper, momentum, readmitted, prices" in " ".join(shown.split())
    for name in ("released-K", "released-penalty"):
        line = next(line for line in shown.splitlines() if line.split()[:1] == [name])
        assert f"{world['policies'][name]['points']['mean']:+.2f} ±" in line


def test_a_ladder_given_again_trains_nothing_that_is_finished(data, ladder):
    out, shown, _ = ladder
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/rounds.parquet")}
    assert len(before) == 3
    assert said(*LADDER, "--data-dir", data, "--out", out) == shown
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert "seeds is 2 there and 3 here" in refusal(*LADDER, "--seeds", "3", "--out", out)


def test_a_ladder_without_data_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "does not exist" in refusal("explain", "mnist", "--data-dir", "nowhere")
    assert not list(tmp_path.iterdir())
