"""Names of things handed over in Python, and threads, progress and predictions of a study that runs."""

from dataclasses import replace

import torch

from empirics import CostProcess, run
from empirics.overrides import HandedOver
from empirics.prediction import time_estimate
from empirics.training.device import threads
from tests.empirics.small import blobs, study


def test_what_is_handed_over_goes_by_its_name():
    assert HandedOver().nothing
    assert not HandedOver(model=len).nothing
    for data, name in (("mnist", "mnist"), (blobs(), "given:blobs"), ((1, 2), "given:tuple")):
        assert HandedOver(dataset=data).named(study()).dataset == name


def test_files_are_named_so_that_they_are_found_from_everywhere(monkeypatch, tmp_path):
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
    words = ["reading the data", "looking for the least risk", "predicting", "rounds"]
    assert doing == words
    run.run_study(replace(short, rounds=3), out, dataset=blobs(), resume=True, doing=doing.append)
    assert doing[4:] == [words[0], *words[2:]]
