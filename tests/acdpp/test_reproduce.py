"""`acdpp reproduce` from the outside, on a data set with MNIST's files and few, easy images."""

import json
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from acdpp import interrupt
from acdpp.reproduce import tell
from empirics.results.folder import read_settings
from empirics.results.reproduction import NAME, reproduction
from empirics.settings.study import Study
from tests import made_up
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
    assert "does not exist" in refusal("resume", tmp_path / "cut", "--data-dir", "nowhere")
    said("resume", tmp_path / "cut")
    train(study, tmp_path / "whole", data_dir=data)
    assert (tmp_path / "cut" / NAME).read_bytes() == (tmp_path / "whole" / NAME).read_bytes()


@pytest.fixture
def shown(monkeypatch, capsys):
    """What is told of made-up runs, and the cells of its rows."""
    monkeypatch.setenv("COLUMNS", "200")

    def told(*args, **kwargs):
        document = made_up.reproduction(*args, **kwargs)
        tell(document, Path("here"), as_json=False)
        printed = capsys.readouterr().out
        rows = {line.split("  ")[0].strip(): re.split(" {2,}", line.strip()) for line in printed.splitlines()}
        return printed, rows, document

    return told


def test_what_is_reached_and_what_diverged_is_told(shown):
    printed, rows, document = shown(final={"hybrid": 0.5}, pace={"constant": 16.0}, lost={"oracle": (1, 3)})
    reached = document["policies"]["acdpp"]["first_round"]
    assert rows["policy"][3:5] == ["cost/55", "memory/100"]
    assert rows["acdpp"][2] == f"{reached['mean_curve']} (10/10)"
    assert (rows["hybrid"][2], rows["oracle"][-1], rows["acdpp"][-1]) == ("never (0/10)", "2", "0")
    speed_up = document["comparisons"]["acdpp"]["constant"]["speed_up"]
    assert speed_up > 1.5
    assert rows["acdpp - constant"][-2:] == ["2.6", f"{speed_up:.2f}"]
    assert rows["acdpp - hybrid"][-2:] == ["2.3", "never"]
    assert "released - constant" in rows
    assert "note: a diverged run keeps its last accuracy" in printed
    printed, rows, _ = shown("cifar10", final=dict.fromkeys(("acdpp", "constant"), 0.5), complete=False)
    assert rows["acdpp - hybrid"][-2:] == ["never", "–"]
    assert rows["acdpp - constant"][-2:] == ["1.7", "–"]
    assert "to 70 %" in printed
    assert "note: a subset: 5,000 of the 50,000 training images of CIFAR-10" in printed
    assert "diverged run" not in printed


def test_what_an_interval_and_a_setting_mean_is_told(shown):
    for seeds in (1, 2):
        printed, rows, _ = shown("imagenette", ("paper", "released")[seeds - 1], seeds=seeds)
        assert ("one seed, no interval" in printed) == (seeds == 1) != ("± is half" in printed)
        assert (" ± " in rows["acdpp"][1]) == (seeds == 2)
        assert ("1,000 samples per client" in printed) == (seeds == 2)


def test_the_ladder_is_told_number_by_number(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    gains = [{"mean": mean, "low": mean - 1, "high": mean + 1} for mean in (1.0, 2.0, 3.0, 4.0)]
    chances = (0.0004, 0.004, 0.4, None)
    points = [gain | {"p": p} for gain, p in zip(gains, chances, strict=True)]
    pairs = [dict(zip(("points", "points_averaged"), some, strict=True)) for some in (points[:2], points[2:])]
    rest = {"mean_cost": {"mean": 55.5}, "largest_occupancy": 123}
    world = {"label": "the text", "rounds": 9, "seeds": 3, "level": 0.8, "intervals": "over seeds"}
    world |= {"dataset": "mnist", "setting": "paper", "data": None, "policies": {"acdpp": pairs[0] | rest}}
    over = {"constant@K=2": {"released": pairs[0], "acdpp@K=2": pairs[1]}}
    worlds = {"paper": world, "prices": world | {"equal_spending": {"cost": 77.5, "over": over}}}
    document = {"dataset": "mnist", "worlds": worlds, "notes": ["beware"], "not_run": ["logistic"]}
    monkeypatch.setattr("empirics.reproduce.explain", Mock(return_value=(Path("here"), document)))
    printed = said("explain", "mnist")
    rows = [re.split(" {2,}", line.strip()) for line in printed.splitlines()]
    first = ["+1.00 ± 1.00", "<0.001", "+2.00 ± 1.00", "0.004"]
    second = ["+3.00 ± 1.00", "0.400", "+4.00 ± 1.00", "–"]
    assert rows.count(["acdpp", *first, "55.5", "123"]) == 2
    wanted = [["released", *first], ["acdpp@K=2", *second]]
    assert [row for row in rows if row[0] in over["constant@K=2"]] == wanted
    for fact in ("note: beware", "not run yet: logistic", "constant@K=2 with the spending of released, 77.5"):
        assert fact in printed


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
