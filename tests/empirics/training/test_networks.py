"""The networks that a study may name: their sizes, and that a batch of them trains as each alone does."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from empirics.data import Dataset
from empirics.run import run_study
from empirics.training.model import Descent, Memory
from empirics.training.module import Module, answers
from empirics.training.networks import NETWORKS
from empirics.training.problem import from_dataset
from tests.empirics.small import refused, study


def images(channels, side, samples=24, classes=3):
    drawn = np.random.default_rng(1)
    shape = (samples, channels, side, side) if channels else (samples, side, side)
    x = drawn.normal(size=shape).astype(np.float32)
    y = np.arange(samples, dtype=np.int64) % classes
    return Dataset.of("images", (x, y), (x[:6], y[:6]), classes)


def made(name, channels, side, **settings):
    setting = study(model=name, labels="classes", **settings)
    return from_dataset(setting, images(channels, side), torch.device("cpu")).model


@pytest.mark.parametrize(
    ("name", "channels", "side", "size"),
    [("lenet", 1, 28, 61_706 - 7 * 85), ("resnet9", 3, 32, 6_576_711 - 7 * 513)],
)
def test_sizes_are_those_of_the_papers_networks(name, channels, side, size):
    """With ten classes; these images have three."""
    model = made(name, channels, side)
    assert isinstance(model, Module)
    assert model.size == pytest.approx(size, rel=1e-3 if name == "resnet9" else 0)


@pytest.mark.parametrize(
    ("name", "channels", "side", "runs"), [("lenet", 1, 12, 2), ("lenet", 0, 12, 2), ("resnet9", 3, 8, 1)]
)
def test_a_batch_trains_as_each_network_alone_does(name, channels, side, runs):
    model = made(name, channels, side)
    torch.manual_seed(0)
    theta = model.start(runs) + 0.01 * torch.randn(runs, model.size, dtype=torch.float64)
    index = torch.arange(6 * runs).view(runs, 2, 3)
    mask = torch.arange(3) < torch.tensor([[3, 1], [2, 3]])[:runs, :, None]
    weights = torch.tensor([[0.75, 0.25], [0.4, 0.6]], dtype=torch.float64)[:runs]
    moved = model.update(theta, Memory(index, mask, weights), Descent(2, 0.05, 0.9))
    for run in range(runs):
        expected = torch.zeros(model.size, dtype=torch.float64)
        for client in range(2):
            held = index[run, client][mask[run, client]]
            module = model.module
            torch.nn.utils.vector_to_parameters(theta[run].clone(), module.parameters())
            descent = torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
            for _ in range(2):
                descent.zero_grad()
                F.cross_entropy(module(model.population.x[held]), model.population.y[held]).backward()
                descent.step()
            after = torch.nn.utils.parameters_to_vector(module.parameters()).detach()
            expected += weights[run, client] * (after - theta[run])
        assert torch.allclose(moved[run], expected, rtol=1e-7, atol=1e-10)


def test_a_study_names_its_network(tmp_path):
    plain = {"policies": ("constant",), "radius": None, "rounds": 3, "measures": ("accuracy",)}
    for per_seed in ((), ("start",)):
        setting = study(model="lenet", labels="classes", per_seed=per_seed, **plain)
        summary = run_study(setting, tmp_path / f"{per_seed}", dataset=images(1, 12))
        assert "lenet" in summary["task"]
        assert 0 <= summary["policies"]["constant"]["final_accuracy"]["mean"] <= 1


def test_images_that_do_not_fit_and_unknown_networks_are_refused():
    assert "1 or 3 channels" in refused(made, "lenet", 2, 28)
    assert "at least 12 x 12" in refused(made, "lenet", 1, 8)
    assert "at least 8 x 8" in refused(made, "resnet9", 3, 4)
    assert ", ".join(NETWORKS) in refused(made, "alexnet", 1, 28)


def test_scores_that_are_no_numbers_are_no_answer():
    scores = torch.tensor([[1.0, 3.0], [torch.nan, 2.0], [torch.inf, 0.0]])
    assert answers(scores).tolist() == [1, -1, 0]
