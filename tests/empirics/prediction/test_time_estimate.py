"""How long a prediction takes, about."""

import math
from types import SimpleNamespace

import pytest
import torch

from empirics.prediction import time_estimate as effort
from empirics.prediction.time_estimate import seconds, training_seconds
from empirics.training.problem import from_dataset
from tests.empirics.small import blobs, problem, study


def test_large_problems_take_longer():
    small = seconds(problem(study()))
    assert training_seconds(problem(study())) < 1
    assert small < 5
    assert seconds(problem(study(steps=100))) > 5 * small
    assert seconds(problem(study(policies=("constant", "constant@steps=100")))) > 5 * small
    assert seconds(problem(study(alpha=(0.6, 0.4), buffers=(8, 8)))) > small
    assert seconds(problem(study(alpha=(0.25,) * 4, buffers=(4,) * 4))) == pytest.approx(small)
    wide = seconds(from_dataset(study(), blobs(features=500), torch.device("cpu")))
    assert 1 < wide / small < 2 * 1.7  # 1.7 was measured
    assert seconds(from_dataset(study(), blobs(features=2000), torch.device("cpu"))) > 5 * wide  # as the cube
    card = SimpleNamespace(population=SimpleNamespace(x=SimpleNamespace(is_cuda=True)))
    assert effort._swift(card) > 10
    many = study(buffers=(1,) * 3000, alpha=(0.5, *[0.5 / 2999] * 2999), rounds=4000)
    assert math.isinf(seconds(problem(many)))


def test_what_does_not_settle_is_followed_to_the_end_and_takes_longer():
    for given, grows in (({"average": "equal"}, True), ({"decay": 5}, True), ({}, False)):
        short, long = (seconds(problem(study(rounds=T, **given))) for T in (500, 20_000))
        assert (long > 3 * short) == grows
