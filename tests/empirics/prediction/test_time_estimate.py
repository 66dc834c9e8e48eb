"""Estimated times of predictions and of training."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from empirics.prediction import time_estimate
from empirics.prediction.time_estimate import prediction_seconds, takes_too_long, training_seconds
from empirics.settings.presets import PRESETS
from tests.empirics.small import blobs, problem, study


def test_large_problems_take_longer():
    small = prediction_seconds(problem(study()))
    assert training_seconds(problem(study())) < 1
    assert small < 5
    assert prediction_seconds(problem(study(steps=100))) > 5 * small
    assert prediction_seconds(problem(study(policies=("constant", "constant@steps=100")))) > 5 * small
    assert prediction_seconds(problem(study(alpha=(0.6, 0.4), buffers=(8, 8)))) > small
    short, long = (prediction_seconds(problem(study(learner="information", rounds=T))) for T in (30, 20_000))
    assert short == long < small  # no round is followed
    alike = problem(study(alpha=(0.25,) * 4, buffers=(4,) * 4))
    assert prediction_seconds(alike) == pytest.approx(small)
    tasks = (problem(study(), data=blobs(features=count)) for count in (500, 2000))
    wide, wider = map(prediction_seconds, tasks)
    assert 1 < wide / small < 2 * 1.7  # 1.7 was measured
    assert wider > 5 * wide  # as the cube
    many = study(buffers=(1,) * 3000, alpha=(0.5, *[0.5 / 2999] * 2999), rounds=4000)
    assert math.isinf(prediction_seconds(problem(many)))


def test_curves_that_do_not_settle_are_followed_to_the_end_and_take_longer():
    for given, grows in (({"average": "equal"}, True), ({"decay": 5}, True), ({}, False)):
        short, long = (prediction_seconds(problem(study(rounds=T, **given))) for T in (500, 20_000))
        assert (long > 3 * short) == grows


def test_training_waits_for_a_prediction_of_two_minutes_or_of_a_tenth_of_its_own_time(monkeypatch):
    task = problem(study())
    cases = ((120, 1, False), (121, 1, True), (121, 1211, False), (121, 1209, True))
    for predicted, trained, too_long in cases:
        monkeypatch.setattr(time_estimate, "prediction_seconds", lambda _, time=predicted: time)
        monkeypatch.setattr(time_estimate, "training_seconds", lambda _, time=trained: time)
        assert takes_too_long(task) is too_long


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_is_faster():
    here, there = (prediction_seconds(problem(study(), device)) for device in ("cpu", "cuda"))
    assert there < here / 10


def test_estimates_for_mnist_are_within_a_factor_of_two_of_the_measured_times():
    """Of the table in docs/predict.md: labels, policies, measures, and seconds of prediction and training."""
    page = (Path(__file__).parents[3] / "docs" / "predict.md").read_text(encoding="utf-8")
    pattern = r"^\| (odd|ten) [^|]*\| (six|const)[^|]*\| (all|risk)[^|]*\| (.*?) \| .*? \| (.*?) \| .* % \|"
    rows = re.findall(pattern, page, re.M)
    assert len(rows) == 6
    for labels, policies, measures, *measured in rows:
        given = replace(PRESETS["digits"], rounds=300, seeds=10)
        given = replace(given, labels="classes" if labels == "ten" else "parity")
        given = replace(given, policies=("constant",)) if policies == "const" else given
        given = replace(given, measures=("risk",)) if measures == "risk" else given
        small = problem(given, data=blobs(classes=10, features=784, samples=100))
        task = replace(small, population=replace(small.population, x=torch.zeros(1, 1).expand(60_000, 785)))
        for seconds, estimate in zip(measured, (prediction_seconds, training_seconds), strict=True):
            assert 0.5 < estimate(task) / float(seconds.replace(",", "")) < 2
