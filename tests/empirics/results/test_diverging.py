"""A run that diverges in a study that records it: no number is made up for it, and the others do not notice."""

import json

import numpy as np
import pytest
import torch

from acdpp.summary import show_summary
from empirics import Study, read_result, run_study
from empirics.training.engine import Engine
from figures import learning
from figures.measured import read
from tests.empirics.small import assert_same_rows, blobs, refused, stopped_at

WILD = "constant@eta=1.5"  # each of its runs has some rounds, and then none
TAME = "constant"
FEW = {"policies": (TAME, WILD, "oracle"), "rounds": 12, "seeds": 2, "checkpoint": 5, "steps": 2}
SMALL = FEW | {"buffers": (8, 12), "budget": 11.0, "eta": 0.05, "radius": None, "dtype": "float32"}
SMALL |= {"per_seed": ("start",), "diverging": "record"}
DATA = (blobs().train_x, blobs().train_y)
NOTHING = {"mean": None, "error": None}


def own():
    torch.manual_seed(0)  # some first weights leave a run at rest, with a gradient of 0
    layers = [torch.nn.Linear(8, 30), *(torch.nn.Linear(30, 30) for _ in range(2)), torch.nn.Linear(30, 4)]
    return {"dataset": DATA, "model": torch.nn.Sequential(*layers)}


def trained(out, *, resume=False, **given):
    return run_study(Study(**(SMALL | given)), out, resume=resume, **own())


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """Result of a study that goes on while some runs are left, and says so."""
    out = tmp_path_factory.mktemp("wild") / "result"
    with pytest.warns(UserWarning, match="it diverged") as said:
        summary = trained(out, diverging="refuse")
    first = np.isnan(read(out)["risk"])[1].any(axis=0).argmax() + 1
    assert [str(one.message).partition(":")[0] for one in said] == [f"{WILD} is not finite in round {first}"]
    return out, summary


def test_what_diverged_has_no_numbers_from_then_on_and_keeps_the_best_of_before(result):
    out, summary = result
    accuracy = read(out)["accuracy"]
    lost = np.isnan(accuracy)
    assert np.array_equal(lost, np.isnan(read(out)["risk"]))
    assert not lost[[0, 2]].any()
    first = lost[1].argmax(axis=1)
    assert 1 < first.min() < first.max() < 11
    assert (lost[1] == (np.arange(12) >= first[:, None])).all()
    saved = json.loads((out / "summary.json").read_text())  # strict JSON: it has no word for NaN
    assert saved == json.loads(json.dumps(summary, allow_nan=False))
    assert [one["diverged"] for one in summary["policies"].values()] == [0, 2, 0]
    wild, tame = summary["policies"][WILD], summary["policies"][TAME]
    for name in ("final_accuracy", "mean_accuracy", "final_risk"):
        assert wild[name] == NOTHING
        assert tame[name]["mean"] is not None
    assert wild["best_accuracy"]["mean"] == pytest.approx(np.nanmax(accuracy[1], axis=1).mean())
    assert wild["final_accuracies"] == [None] * 2
    assert wild["mean_cost"]["mean"] == tame["mean_cost"]["mean"]
    assert wild["mismatch"]["over_chi"] is None
    assert all(shares is None or WILD not in shares for shares in summary["gap_closed"].values())


def test_the_others_do_not_notice(result, tmp_path):
    trained(tmp_path / "alone", policies=(TAME, "oracle"), diverging="refuse")
    for name in ("accuracy", "risk", "mismatch"):
        assert np.array_equal(read(result[0])[name][[0, 2]], read(tmp_path / "alone")[name])


def test_where_every_run_diverges_the_study_is_refused(tmp_path):
    for given, message in (
        ({}, "constant is not finite in round"),
        ({"measures": ("accuracy",), "checkpoint": 2}, "constant is not finite in round 2"),
        ({"measures": (), "checkpoint": 4}, "constant is not finite after round 4"),
        ({"measures": ("risk",), "rounds": 1}, "is not finite after"),
    ):
        out, wild = tmp_path / message, {"policies": (TAME,), "eta": 1e8, "steps": 3, "diverging": "refuse"}
        sentence = refused(trained, out, **(wild | given))
        assert sentence.startswith("training diverged: ")
        assert message in sentence
        assert "unfinished" in refused(read_result, str(out))


def test_without_any_measure_the_last_parameters_tell_who_has_diverged(tmp_path):
    assert trained(tmp_path / "out", measures=())["policies"][WILD]["diverged"] == 2


def test_it_is_continued_to_the_same_bits_and_extended_by_the_same_model_alone(result, tmp_path):
    out = stopped_at(Study(**SMALL), tmp_path / "broken", 11, **own())
    assert run_study(out=out, resume=True, **own()) == result[1]
    assert_same_rows(out, result[0])
    trained(tmp_path / "out", rounds=10)
    other = own()
    for part in other["model"]:
        part.register_forward_hook(lambda module, given, found: 2 * found)
    sentence = refused(run_study, Study(**SMALL), tmp_path / "out", resume=True, **other)
    assert "the model is not the one it began with" in sentence
    assert trained(tmp_path / "out", resume=True) == result[1]


def test_a_study_is_extended_where_all_runs_have_diverged(tmp_path):
    alone = {"policies": (WILD,), "measures": ("risk", "accuracy")}
    assert trained(tmp_path / "out", **alone, rounds=11)["policies"][WILD]["diverged"] == 2
    assert trained(tmp_path / "out", **alone, resume=True) == trained(tmp_path / "at once", **alone)


def test_a_risk_that_was_infinite_for_a_round_counts(tmp_path, monkeypatch):
    def play(self, rounds, *others):
        found = played(self, rounds, *others)
        if rounds.first == 6:
            found["risk"][2, 3] = np.inf
        return found

    played = Engine.play
    monkeypatch.setattr(Engine, "play", play)
    given = {"policies": (TAME, "oracle"), "measures": ("risk", "accuracy")}
    row = trained(tmp_path / "out", **given)["policies"]["oracle"]
    assert row["diverged"] == 1
    assert row["mean_accuracy"]["mean"] is None
    assert row["final_accuracy"]["mean"] > 0
    for name in ("risk", "accuracy"):
        assert np.argwhere(np.isnan(read(tmp_path / "out")[name])).tolist() == [[1, 1, 7]]


def test_excess_risk_bounds_predictions_and_ranking_go_without_it(tmp_path, monkeypatch, capsys):
    def step(self, width):
        stepped(self, width)
        self.count = getattr(self, "count", 0) + 1
        if self.count == 7:
            self.theta[1] = torch.nan

    stepped = Engine.step
    monkeypatch.setattr(Engine, "step", step)
    study = Study(**(SMALL | {"policies": ("constant", "oracle"), "radius": 2.0, "labels": "parity"}))
    summary = run_study(study, tmp_path / "out", dataset=DATA)
    row, other = summary["policies"].values()
    assert (row["diverged"], other["diverged"]) == (1, 0)
    for name in ("final_excess_risk", "cumulative_excess_risk"):
        assert row[name] == NOTHING
        assert other[name]["mean"] > 0
    for name in ("corrected_over_measured", "stated_over_measured", "predicted_over_measured"):
        assert row[name] is None
        assert other[name] > 0
    assert summary["ranking"]["measured"] == ["oracle", "constant"]
    assert summary["ranking"]["undecided"] == [["constant", "oracle"]]
    assert list(summary["gap_closed"].values()) == [None] * 3
    show_summary({"result": "out", **summary}, verbose=True)
    lines = [one for one in capsys.readouterr().out.splitlines() if one.startswith(" constant ")]
    assert ["–" in one for one in lines] == [True, True, False, True]  # cost and memory are known
    assert not any("∞" in one for one in lines)


def test_it_is_shown_and_drawn(result, capsys):
    out, summary = result
    show_summary({"result": str(out), **summary}, verbose=True)
    assert f"diverged: 2 of 2 runs of {WILD}" in capsys.readouterr().out
    curves = learning.compute(read(out)).curves["accuracy"]
    assert np.isnan(curves[WILD].mean[-1])
    assert np.isfinite(curves[TAME].mean).all()
