"""`Prediction`: its documents, tables and files, and other studies of the same problem."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from empirics import CostProcess, predict_study
from empirics.files import PARTIAL
from empirics.prediction.pilot import jackknife
from empirics.settings.drift import Drift
from tests.empirics.small import blobs, predict, refused


@pytest.fixture(scope="module")
def known():
    return predict(best=False, given={"rounds": 1, "policies": ("constant",)})


@pytest.mark.parametrize(
    "other",
    [
        {"budget": 30.0, "K": 2},
        {"buffers": (4, 5, 7, 9), "seeds": 3},
        {"cost": CostProcess(process="integer", low=2.0, high=5.0)},
        {"eta": 0.2, "steps": 2, "momentum": 0.5},
        {"decay": 4.0, "average": "equal"},
    ],
    ids=lambda given: " ".join(given),
)
def test_another_study_of_the_same_problem_is_predicted_as_afresh(known, other):
    given = replace(known.study, rounds=7, policies=("acdpp", "buy-cheap"), **other)
    assert known.covers(given)
    found, afresh = known.for_study(given), predict_study(given, dataset=blobs(), best=False)
    assert found.forecaster.constants.eta == afresh.forecaster.constants.eta
    for name, forecast in afresh.forecasts.items():  # weights of clients are rounded in sums
        assert found.forecasts[name].document() == pytest.approx(forecast.document(), rel=1e-12)
        np.testing.assert_allclose(found.forecasts[name].risk, forecast.risk, rtol=1e-12)
        assert found.forecasts[name].rate == forecast.rate
    assert found.forecaster.lower_bound() == pytest.approx(afresh.forecaster.lower_bound(), rel=1e-12)


def test_a_study_of_another_problem_is_not_served(known):
    other = {"radius": 3.0, "labels": "classes", "seed": 1, "dataset": "digits", "partition": "split"}
    for name, value in other.items():
        assert not known.covers(replace(known.study, **{name: value})), name
    assert not known.covers(replace(known.study, rounds=9, drift=Drift(kind="abrupt", start=5)))
    split = replace(known, study=replace(known.study, partition="split"))
    assert split.covers(replace(split.study, buffers=(1, 2, 3)))
    assert not split.covers(replace(split.study, buffers=(1, 2)))


def test_a_coarse_prediction_is_of_one_path_and_near(known):
    given = replace(known.study, rounds=40, seeds=4, policies=("buy-cheap",))
    told = set()
    parts = replace(known, parts=(known.forecaster, known.forecaster))
    coarse = parts.for_study(given, coarse=True, progress=lambda doing, done, of: told.add((doing, of)))
    untold = replace(known, drift="it has no times")
    assert untold.document()["drift"] == {"q": None, "why": "it has no times"}
    full = untold.for_study(given)
    assert full.drift is None
    assert told == {("predicting rounds", 40)}
    assert coarse.risk_error("buy-cheap") is coarse.document()["policies"]["buy-cheap"]["error"] is None
    assert full.risk_error("buy-cheap").shape == (41,)
    near = coarse.forecasts["buy-cheap"].cumulative / full.forecasts["buy-cheap"].cumulative
    assert near != 1
    assert near == pytest.approx(1, abs=0.1)


def test_errors_of_a_curve_are_of_paths_and_of_a_pilot_together():
    given = {"policies": ("buy-cheap",), "seeds": 4, "rounds": 3}
    found = predict(best=False, pilot=60, given=given)
    paths, parts = found.forecasts["buy-cheap"].risk_error, found.risk_errors["buy-cheap"]
    np.testing.assert_allclose(found.risk_error("buy-cheap"), np.hypot(paths, parts))
    left_out = [part.forecasts()["buy-cheap"].risk for part in found.parts]
    np.testing.assert_allclose(parts, jackknife(np.array(left_out)))
    assert found.forecasts["buy-cheap"].errors["final_excess_risk"] == pytest.approx(paths[-1])
    document = found.document()["policies"]["buy-cheap"]
    assert document["error"]["final_excess_risk"] == pytest.approx(np.hypot(paths[-1], parts[-1]))
    longer = found.for_study(replace(found.study, rounds=5))
    assert longer.risk_errors["buy-cheap"].shape == longer.risk_error("buy-cheap").shape == (6,)
    assert predict(best=False).risk_error("constant") is None


@pytest.mark.parametrize("name", ["folder", "curves.csv", "curves.parquet"])
def test_curves_and_document_are_written(tmp_path, name):
    out = tmp_path / "new" / name
    found = predict(out, best=False)
    if name == "folder":
        rows, document = pq.read_table(out / "curves.parquet"), out / "prediction.json"
    else:
        rows = pc.read_csv(out) if name.endswith("csv") else pq.read_table(out)
        document = out.with_suffix(".json")
    assert json.loads(document.read_text(encoding="utf-8")) == found.document()
    assert rows.column_names == ["policy", "round", "predicted_excess_risk", "path"]
    oracle = rows.slice(6, 6).to_pydict()
    assert oracle["policy"] == ["oracle"] * 6
    assert oracle["round"] == list(range(1, 7))
    assert oracle["predicted_excess_risk"] == pytest.approx(found.forecasts["oracle"].risk, rel=1e-14)
    assert sum(oracle["path"]) <= sum(oracle["predicted_excess_risk"])
    before = sorted(out.parent.rglob("*"))
    assert "already exists" in refused(predict, out, best=False)
    assert sorted(out.parent.rglob("*")) == before


def test_a_folder_that_is_there_and_empty_is_filled_and_stays_where_it_is(tmp_path, monkeypatch, known):
    here, linked = tmp_path / "here", tmp_path / "linked"
    for folder in (here, linked):
        folder.mkdir()
    (tmp_path / "link").symlink_to(linked)
    (tmp_path / "nowhere").symlink_to("gone")
    monkeypatch.chdir(here)
    for out in (".", "../link"):
        known.write(out)
    for folder in (here, linked):
        assert {file.name for file in folder.iterdir()} == {"curves.parquet", "prediction.json"}
    assert here.samefile(".")
    assert {path.name for path in tmp_path.iterdir()} == {"here", "linked", "link", "nowhere"}
    assert "'../nowhere' already exists" in refused(predict, "../nowhere", best=False)


@pytest.mark.parametrize("name", ["folder", "curves.csv", ".partial"])
def test_what_cannot_be_written_whole_leaves_nothing(tmp_path, monkeypatch, known, name):
    other = tmp_path / PARTIAL
    other.mkdir()
    monkeypatch.setattr(type(known), "document", lambda self: {"a": float("nan")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        known.write(tmp_path / name)
    assert list(tmp_path.rglob("*")) == [other]


def test_what_the_prediction_leaves_out_is_said():
    given = {"replacement": False, "eta": 100.0, "average": "equal"}
    notes = " ".join(predict(best=False, given=given).notes)
    assert "without replacement" in notes
    assert "largest curvature" in notes
    assert predict(best=False).notes == []
