"""A trained model leaves as a file that loads without us, and answers as it did in the study."""

import json
import re
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import csv

from empirics import export, export_model, read_result, run_study
from empirics.data import Columns, as_dataset
from empirics.settings.drift import Drift
from tests.acdpp.program import acdpp, answer, finish, refusal
from tests.empirics.small import blobs, blobs_file, refused, stopped_at, study

PAGE = Path(__file__).parents[2] / "docs" / "your-own.md"
ALONE = "import sys; sys.modules.update(dict.fromkeys(['acdpp', 'empirics', 'theory']))"  # None is not found


def example():
    codes = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [code] = [code for code in codes if "model.pt" in code]
    return code


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A mean of models for one policy of ten classes, two classes, and a network."""
    place = tmp_path_factory.mktemp("export")
    few = {"rounds": 6, "dataset": blobs_file(), "predict": False, "measures": ("accuracy",), "eta": 0.3}
    mean = {"policies": ("constant", "oracle@average=none"), "labels": "classes", "average": "equal"}
    mean |= {"radius": 0.3}  # which the mean is beyond, until it is projected
    run_study(study(**few, **mean), place / "mean")
    two = study(**few, policies=("oracle",), scale="pixels", dtype="float32")
    run_study(two, place / "two", data_dir=place)
    given = study(**(few | {"rounds": 2, "seeds": 1}), policies=("oracle",), labels="classes")
    run_study(given, place / "own", **own())
    return place


def network():
    torch.manual_seed(1)
    layers = torch.nn.Linear(8, 5, bias=False), torch.nn.LeakyReLU(0.3), torch.nn.Linear(5, 4)
    return torch.nn.Sequential(*layers)


def own():
    data = blobs()
    arrays = {"x": data.train_x, "y": data.train_y, "test_x": data.test_x, "test_y": data.test_y}
    return {"dataset": arrays, "model": network()}


@pytest.fixture(scope="module")
def exported(results, tmp_path_factory):
    """Files, and of each the accuracy that is on record."""
    place, recorded = tmp_path_factory.mktemp("models"), {}
    for name, seed, words, which in (
        ("mean", 2, "--policy constant", "averaged"),
        ("mean", 2, "--policy constant --model averaged", "averaged"),
        ("mean", 2, "--policy constant --model last", "last"),
        ("mean", 1, "--policy oracle@average=none", "last"),
        ("two", 0, "", "last"),
    ):
        out, last = place / f"{len(recorded)}.pt", "last_" if "--model last" in words else ""
        told = answer("export", str(results / name), *words.split(), "--seed", str(seed), "--out", str(out))
        row = read_result(results / name).summary["policies"][told["policy"]]
        recorded[out] = row[f"{last}final_accuracies"][seed]
        assert (told["accuracy"], told["file"]) == (recorded[out], str(out))
        assert told["which"] == which
    export_model(results / "own", place / "5.pt", **own())
    row = read_result(results / "own").summary["policies"]["oracle"]
    return recorded | {place / "5.pt": row["final_accuracies"][0]}


def test_it_answers_as_in_the_study(results, exported):
    states = []
    for file, accuracy in exported.items():
        scope = {}
        exec(example().replace("model.pt", str(file)), scope)
        x = torch.from_numpy(blobs().test_x).to(getattr(torch, scope["how"]["dtype"]))
        guess = scope["model"]((x - scope["less"]) / scope["over"]).argmax(1)
        labels = torch.from_numpy(blobs().test_y) % scope["how"]["classes"]
        assert scope["how"]["class_names"] == (
            ["even", "odd"] if scope["how"]["classes"] == 2 else [0, 1, 2, 3]
        )
        assert float((guess == labels).to(x.dtype).mean()) == accuracy, file.name
        states.append(scope["model"].state_dict())
    first, same, last, *_ = states
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["1.weight"], last["1.weight"])
    state = np.load(results / "mean" / "state-000000000006.npz")
    mean, theta = (state[name][2].reshape(4, 9) / np.sqrt(2) for name in ("mean", "theta"))
    inside = 0.3 / np.sqrt(2) / np.linalg.norm(mean)
    assert inside < 1
    for found, wanted in ((first, mean * inside), (last, theta)):
        assert np.allclose(np.c_[found["1.weight"], found["1.bias"]], wanted, rtol=1e-12)


def test_a_table_leaves_with_its_own_labels_and_with_the_scale_that_its_features_had(tmp_path):
    rng = np.random.default_rng(0)
    kinds, which = np.array(["owl", "cat", "bee"]), np.arange(60) % 3
    x = np.stack([1e4 + 50 * rng.normal(size=60), 1e-3 * (which + 0.1 * rng.normal(size=60))], axis=1)
    columns = {"a": x[:, 0], "b": x[:, 1], "kind": kinds[which]}
    csv.write_csv(pa.table(columns), str(tmp_path / "mine.csv"))
    few = {"rounds": 40, "eta": 2.0, "seeds": 1, "radius": 100.0, "predict": False, "measures": ("accuracy",)}
    table = {"dataset": f"csv:{tmp_path}/mine.csv", "label_column": "kind"}
    learnt = study(**few, **table, labels="classes", scale="standard", policies=("oracle",))
    accuracy = run_study(learnt, tmp_path / "out")["policies"]["oracle"]["final_accuracy"]["mean"]
    told = answer("export", str(tmp_path / "out"), "--out", str(tmp_path / "model.pt"))
    assert told["class_names"] == ["bee", "cat", "owl"]
    theta = np.load(tmp_path / "out" / "state-000000000040.npz")["theta"].reshape(3, 3) / np.sqrt(2)
    saved = torch.load(tmp_path / "model.pt", weights_only=True)["state_dict"]
    assert np.allclose(np.c_[saved["1.weight"], saved["1.bias"]], theta, rtol=1e-12)
    scope = {}
    exec(example().replace("model.pt", str(tmp_path / "model.pt")), scope)
    for name, what in (("less", "subtract_from_inputs"), ("over", "divide_inputs_by")):
        assert scope[name].tolist() == told[what]  # to all digits
    data = as_dataset(learnt.dataset, None, Columns("kind"))
    places = [int(np.flatnonzero(np.isclose(x[:, 1], one, rtol=1e-5))[0]) for one in data.test_x[:, 1]]
    scores = scope["model"]((torch.from_numpy(data.test_x).double() - scope["less"]) / scope["over"])
    right = [told["class_names"][k] == kinds[which[i]] for i, k in zip(places, scores.argmax(1), strict=True)]
    assert np.mean(right) == accuracy > 0.8
    assert as_dataset(([[k] for k in range(20)], [7, -1] * 10)).class_names == (-1, 7)


def test_it_loads_where_nothing_of_ours_can_be_imported(exported):
    loads = [example().replace("model.pt", str(file)) for file in exported]
    assert finish(sys.executable, "-I", "-c", "\n".join([ALONE, *loads])).stdout.count("[") == len(loads)


class Doubled(torch.nn.Sequential):
    """Torch's layers, but not what they compute one after the other."""

    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize("name", ["lenet", "resnet9", "own"])
def test_networks_of_ours_are_described_and_a_class_of_ones_own_is_not(name, tmp_path):
    rng = np.random.default_rng(0)
    side = 12 if name == "lenet" else 8
    x, y = rng.normal(size=(3, 3, side, side)).astype(np.float32), np.arange(3)
    given = {"model": Doubled(torch.nn.Flatten(), torch.nn.Linear(192, 3))} if name == "own" else {}
    few = {"rounds": 1, "seeds": 1, "steps": 1, "policies": ("oracle",), "buffers": (2, 3), "radius": None}
    few |= {"measures": ("accuracy",), "labels": "classes"}
    setting = study(**few, **({} if given else {"model": name}))
    data = {"dataset": (x, y, x[:1], y[:1]), **given}
    run_study(setting, tmp_path / "out", **data)
    build = export_model(tmp_path / "out", tmp_path / "model.pt", **data)["build"]
    assert build is None if given else build[0] == "Sequential"
    assert ("Residual" in json.dumps(build)) == (name == "resnet9")


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(results, tmp_path, monkeypatch):
    def told(*words, out="never.pt", result="mean"):
        return refusal("export", str(results / result), *words, "--out", str(tmp_path / out))

    (tmp_path / "there.pt").write_text("precious")
    assert "which policy: the result has constant, oracle@average=none" in told()
    assert "there is no policy 'nobody'" in told("--policy", "nobody")
    assert "0 to 2, got 3" in told("--policy", "constant", "--seed", "3")
    assert "device must be cpu or cuda" in told("--policy", "constant", "--device", "abacus")
    assert "keeps no mean" in told("--policy", "oracle@average=none", "--model", "averaged")
    assert "already exists" in told(out="there.pt", result="two")
    assert "parent folder that does not exist" in told(out="no/where.pt", result="two")
    assert "empirics.export_model with dataset=" in told(result="own")
    stopped_at(study(policies=("oracle",), predict=False), tmp_path / "begun", 16, dataset=blobs())
    assert "is unfinished: acdpp resume" in refused(export_model, tmp_path / "begun", "never.pt")
    given, turned = own(), network()
    turned[1] = torch.nn.Tanh()
    for other, wrong in (
        ({"model": None}, "with model="),
        ({"dataset": given["dataset"] | {"x": given["dataset"]["x"] + 1}}, "the data are not what"),
        ({"which": "best"}, "averaged or last"),
        ({"model": torch.nn.Linear(8, 4)}, "the model is not what"),
        ({"model": turned}, "the model is not the one"),
    ):
        assert wrong in refused(export_model, results / "own", tmp_path / "never.pt", **(given | other))

    def full(content, place):
        Path(place).write_text("half")
        raise RuntimeError("no space left")

    monkeypatch.setattr(torch, "save", full)
    assert "cannot be written (no space left)" in told(result="two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "there.pt"]
    assert (tmp_path / "there.pt").read_text() == "precious"


def test_the_data_may_have_been_moved(results, tmp_path, monkeypatch):
    looked = Mock(wraps=export.data_of)
    monkeypatch.setattr(export, "data_of", looked)
    for place in (None, tmp_path):
        export_model(results / "two", tmp_path / f"{place is None}.pt", data_dir=place)
    assert [call.args[1] for call in looked.call_args_list] == [results, tmp_path]


def test_accuracies_of_a_population_that_moved_are_not_compared_with_test_samples(tmp_path):
    moved = {"drift": Drift(kind="abrupt", parts="labels", start=2), "labels": "classes", "rounds": 3}
    few = {"policies": ("oracle",), "seeds": 1, "predict": False, "dataset": blobs_file()}
    run_study(study(**few, **moved), tmp_path / "out")
    assert export_model(tmp_path / "out", tmp_path / "model.pt")["rounds"] == 3


def test_a_run_that_diverged_and_a_machine_that_rounds_otherwise_are_told(results, tmp_path, monkeypatch):
    read = export.read_state

    def changed(value):
        def read_other(place):
            settings, summary, state = read(place)
            summary["policies"]["oracle"]["final_accuracies"][0] = value
            return settings, summary, state

        monkeypatch.setattr(export, "read_state", read_other)
        return str(results / "two"), "--out", str(tmp_path / "model.pt")

    assert "oracle diverged with seed 0" in refusal("export", *changed(None))
    done = acdpp("export", *changed(0.25))
    assert "in the record: another device or version rounds differently" in done.stderr
    told = ["last model of oracle, seed 0, after 6 rounds", "test accuracy on record: 0.25"]
    assert done.stdout.splitlines() == [*told, f"model: {tmp_path / 'model.pt'}"]
