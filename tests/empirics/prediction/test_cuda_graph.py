"""Recordings against the work that they stand for."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from empirics.prediction import cuda_graph, loss_landscape
from empirics.prediction.accuracy import Accuracy
from empirics.settings.drift import Drift
from tests.empirics.small import forecaster_of, problem, study


def tensors(found):
    """All of them in what was found, in some order that stays."""
    if isinstance(found, Tensor):
        yield found
        return
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list | tuple) else None
    for part in vars(found).values() if parts is None and hasattr(found, "__dict__") else parts or ():
        yield from tensors(part)


def stand_in(played):
    """Records as a card does: nothing is found before it is played, and the same places are written every time."""

    def record(work, pool):
        found = work()
        for one in tensors(found):
            one.fill_(torch.nan)

        def play():
            played.append(found)
            for old, new in zip(tensors(found), list(tensors(work())), strict=True):
                old.copy_(new)

        return play, found, (pool or 0) + 1

    return record


FEW = {"rounds": 24, "seeds": 1, "steps": 4, "policies": ("constant",)}
STUDIES = [
    FEW | {"labels": "classes", "momentum": 0.5, "radius": 50.0},  # far from the ball, which would copy
    FEW | {"decay": 3.0, "average": "equal", "policies": ("constant", "taper-online")},
    FEW | {"partition": "split"},
]
CASES = [*((one, Accuracy.FULL) for one in STUDIES), (FEW, Accuracy.SEARCH)]


@pytest.mark.parametrize(("given", "accuracy"), CASES)
def test_a_recording_foretells_what_it_stands_for_to_the_last_bit(monkeypatch, given, accuracy):
    forecaster = replace(forecaster_of(problem(study(**given))), accuracy=accuracy)
    plain, played = forecaster.forecasts(), []
    monkeypatch.setattr(cuda_graph, "recorder", lambda device: stand_in(played))
    for name, found in forecaster.forecasts().items():
        np.testing.assert_array_equal(found.risk, plain[name].risk)
        assert (found.noise_floor, found.fitted) == (plain[name].noise_floor, plain[name].fitted)
    assert len(played) > 5
    assert len({id(one) for one in played}) < len(played)


def test_where_the_population_moves_nothing_is_recorded(monkeypatch):
    monkeypatch.setattr(cuda_graph, "recorder", None)  # which is not asked for
    task = problem(study(rounds=4, seeds=1, drift=Drift(kind="abrupt", start=2), policies=("constant",)))
    assert np.isfinite(forecaster_of(task).forecasts()["constant"].risk).all()


def test_other_shapes_and_kinds_are_recorded_on_their_own(monkeypatch):
    played = []
    monkeypatch.setattr(cuda_graph, "recorder", lambda device: stand_in(played))
    again = cuda_graph.GraphReplay(recorded=True)
    for size, kind, before in ((2, 0, 0), (2, 0, 0), (3, 0, 1), (2, 1, 1), (2, 0, 1), (3, 0, 2)):
        assert len(played) == before
        found = again(kind, lambda theta: [theta + 1], theta=torch.full((size,), float(before)))
        assert found[0].tolist() == [before + 1] * size


def test_work_is_recorded_on_a_card_alone():
    assert cuda_graph.recorder(torch.device("cpu")) is None
    assert cuda_graph.recorder(torch.device("cuda")) is not None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("accuracy", [Accuracy.FULL, Accuracy.SEARCH])
@pytest.mark.parametrize("most", [loss_landscape.POPULATION_WHOLE_MAX, 20])  # beyond: side by side
@pytest.mark.parametrize("given", STUDIES)
def test_a_card_plays_again_what_it_has_recorded(monkeypatch, given, most, accuracy):
    monkeypatch.setattr(loss_landscape, "POPULATION_WHOLE_MAX", most)
    monkeypatch.setattr(loss_landscape, "SUBSAMPLE_SIZE", 10)
    forecaster = replace(forecaster_of(problem(study(**given), "cuda")), accuracy=accuracy)
    recorded = forecaster.forecasts()
    monkeypatch.setattr(cuda_graph, "recorder", lambda device: None)
    for name, found in forecaster.forecasts().items():
        np.testing.assert_allclose(recorded[name].risk, found.risk, rtol=1e-9)
