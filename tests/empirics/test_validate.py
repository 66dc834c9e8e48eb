"""Refusals of a study before its data are read at length; names, threads and predictions of one that runs."""

from dataclasses import replace

import pytest
import torch

from empirics import CostProcess, make_prices, predict_study, run, run_study
from empirics import validate as module
from empirics.overrides import HandedOver
from empirics.prediction import time_estimate
from empirics.training.device import threads
from empirics.validate import validate, validate_samples
from tests.empirics.small import blobs, refused, study

GAP = "size,kind\n,a\n" + "3,a\n5,b\n" * 20


def test_what_is_handed_over_goes_by_its_name_and_files_by_one_that_is_found_from_everywhere(
    monkeypatch, tmp_path
):
    assert HandedOver().nothing
    assert not HandedOver(model=len).nothing
    for data, name in (("mnist", "mnist"), (blobs(), "given:blobs"), ((1, 2), "given:tuple")):
        assert HandedOver(dataset=data).named(study()).dataset == name
    variant, policies = study(policies=("constant", "own@K=3")), {"own": len, "more": len}
    assert HandedOver(policies=policies).named(variant).policies == ("constant", "own@K=3", "more")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    for folder, found in (("~", "/home/me"), (".", str(tmp_path))):
        trace = CostProcess(process="trace", file=f"{folder}/c.csv")
        named = HandedOver().named(study(dataset=f"npz:{folder}/x.npz", cost=trace))
        assert (named.dataset, named.cost.file) == (f"npz:{found}/x.npz", f"{found}/c.csv")


def test_a_study_has_its_threads_while_it_runs_and_no_longer():
    before = torch.get_num_threads()
    with threads(before + 1, ""):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


def test_a_prediction_that_takes_long_is_left_out_and_the_folder_is_announced(tmp_path, monkeypatch):
    monkeypatch.setattr(time_estimate, "PREDICTION_SECONDS_MAX", 0)
    monkeypatch.setattr(time_estimate, "PREDICTION_SHARE_MAX", 0)
    told, doing, out = [], [], tmp_path / "result"
    short = study(rounds=2, policies=("constant",))
    summary = run.run_study(short, out, dataset=blobs(), announce=told.append, doing=doing.append)
    assert summary["not_predicted"].startswith("it would take long")
    assert told == [out]
    assert doing == ["reading the data", "looking for the least risk", "predicting", "rounds"]
    run.run_study(replace(short, rounds=3), out, dataset=blobs(), resume=True, doing=doing.append)
    assert doing[4:] == ["reading the data", "predicting", "rounds"]


@pytest.fixture
def table(tmp_path):
    """A study of a file whose first sample has no size."""
    file = tmp_path / "gap.csv"
    file.write_text(GAP)
    return study(dataset=f"csv:{file}", label_column="kind", policies=("constant",))


def test_a_policy_of_the_users_own_is_found_and_not_made(tmp_path, monkeypatch):
    """Making it takes the constants of the data."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "smooth.py").write_text("def mine(brief):\n    return 1 / brief.constants.L\n")
    for names in (("smooth:mine",), ("constant", "smooth:mine@eta=0.1")):
        validate(study(policies=names))
    unknown = study(policies=("constant", "smooth:yours"))
    assert "there is no policy at 'smooth:yours'" in refused(validate, unknown)
    validate(unknown, "federate", files_here=False)
    assert "there is no policy 'acdp'" in refused(validate, study(policies=("acdp",)), files_here=False)
    validate(study(policies=("constant", "mine")), policies={"mine": lambda brief: brief.constants.L})


def test_a_file_of_samples_is_read_early_unless_it_is_large(table, monkeypatch):
    assert "'size', is empty in row 1" in refused(validate_samples, table)
    validate_samples(study(dataset="mnist"))
    monkeypatch.setattr(module, "SAMPLES_BYTES_MAX", len(GAP) - 1)
    validate_samples(table)


@pytest.mark.parametrize("task", ["train", "predict", "plan", "federate"])
def test_every_task_refuses_prices_that_end_early_and_a_budget_that_buys_nothing(task):
    short = make_prices([1.0, 2.0])
    assert "2 prices and the study" in refused(validate, study(policies=("constant",)), task, prices=short)
    poor = study(policies=("buy-cheap",), budget=1e-9)
    assert "too rarely" in refused(validate, poor, task)


def test_tasks_differ_in_what_they_take(tmp_path):
    listening = study(policies=("adaptive",))
    for task in ("train", "federate"):
        validate(listening, task)
        assert "GB are free" in refused(validate, study(rounds=10**12), task, out=tmp_path / "new")
    assert "listens to losses" in refused(validate, listening, "predict")
    (tmp_path / "kept").write_text("")
    for task in ("train", "predict", "federate"):
        assert str(tmp_path) in refused(validate, study(), task, out=tmp_path)
    for task in ("train", "predict", "plan"):
        assert "device" in refused(validate, study(), task, device="abacus")
    assert "do not fit into memory" in refused(validate, study(rounds=10**9), "plan")


def test_python_users_are_told_the_same_once(tmp_path, table):
    poor = study(policies=("buy-cheap",), budget=1e-9)
    for begin in (run_study, predict_study):
        assert "too rarely" in refused(begin, poor, tmp_path / "out")
        assert "'size', is empty in row 1" in refused(begin, table, tmp_path / "out")
        assert "policy 'acdp'" in refused(begin, replace(table, policies=("acdp",)), tmp_path / "out")
    assert not (tmp_path / "out").exists()
