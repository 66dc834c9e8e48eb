"""Directions of many parameters by the axes of the inputs: the first axes together, each other axis alone."""

from dataclasses import replace

import pytest
import torch

from empirics.prediction import eigenbasis as module
from empirics.prediction.eigenbasis import eigenbasis
from empirics.training.linear import Linear
from tests.empirics.small import blobs, problem, study


def model_of(labels):
    population = problem(study(labels=labels), data=blobs(samples=300)).population
    some = population.weights * torch.linspace(1, 2, population.weights.shape[1])
    return Linear(replace(population, x=population.x.double(), weights=(some / some.sum()).double()))


def nothing(model):
    return slice(None), model.population.x[:, :0]


@pytest.mark.parametrize(("labels", "axes"), [("parity", 2), ("classes", 2), ("classes", 0)])
@pytest.mark.parametrize("on_the_ball", [False, True])
def test_directions_by_axes_have_the_curvature_and_noise_that_samples_show(
    labels, axes, on_the_ball, monkeypatch
):
    """Also where one axis has more parameters than are taken together."""
    model = model_of(labels)
    theta = torch.randn(1, model.size, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    free = max(model.outputs - 1, 1)
    monkeypatch.setattr(module, "HESSIAN_PARAMETERS_MAX", axes * free or free - 1)
    basis, curvature, noise = eigenbasis(model, theta, on_the_ball=on_the_ball, beyond=nothing(model))
    found, basis = basis, basis.onto(torch.eye(model.size, dtype=torch.float64))
    torch.testing.assert_close(curvature, (basis * (model.hessian(theta) @ basis)).sum(0))
    x, p = model.population.x, model.population.weights[0]
    residual = model.residual(model.logits(theta, x), model.targets[:, None])[:, 0]
    gradients = (found.seen_by(x) @ residual[..., None])[..., 0]
    torch.testing.assert_close(noise, p @ gradients.square() - (p @ gradients).square())
    first, later = curvature[: int(on_the_ball)], curvature[int(on_the_ball) :]
    assert (later.diff() <= 0).all()
    assert len(first) + len(later) == len(found) == free * model.features + int(on_the_ball)
    whole = torch.eye(model.outputs, dtype=torch.float64) - (model.outputs > 1) / model.outputs
    frame = torch.kron(whole, torch.eye(model.features, dtype=torch.float64))
    if on_the_ball:  # what the radius has of the outputs' mean is no direction, and is added
        u = theta[0] / theta.norm()
        torch.testing.assert_close(basis[:, 0], u)
        across = torch.eye(model.size, dtype=torch.float64) - torch.outer(u, u)
        frame, basis = across @ frame @ across, basis[:, 1:]
    torch.testing.assert_close(basis @ basis.T, frame)


def test_all_axes_together_are_the_eigenvectors(monkeypatch):
    model = model_of("classes")
    theta = torch.randn(1, model.size, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    monkeypatch.setattr(module, "HESSIAN_PARAMETERS_MAX", model.size)
    theta = theta - theta.view(model.outputs, -1).mean(0).repeat(model.outputs)  # without what no chance sees
    exact, on_the_ball = (eigenbasis(model, theta, on_the_ball=one) for one in (False, True))
    monkeypatch.setattr(module, "CHUNK_CELLS", 1)  # samples one by one
    torch.testing.assert_close(eigenbasis(model, theta, on_the_ball=False)[2], exact[2])
    as_many = eigenbasis(model, theta, on_the_ball=True, beyond=nothing(model))
    torch.testing.assert_close(as_many[1:], on_the_ball[1:])
    found = eigenbasis(model, theta, on_the_ball=False, beyond=nothing(model))
    torch.testing.assert_close(found[1:], exact[1:])
    squares = [basis.seen_by(model.population.x).square() for basis in (found[0], exact[0])]
    torch.testing.assert_close(*squares)


@pytest.mark.parametrize("on_the_ball", [False, True])
def test_axes_that_no_parameters_go_along_are_seen_by_some_as_by_all(on_the_ball, monkeypatch):
    monkeypatch.setattr(module, "HESSIAN_PARAMETERS_MAX", 9)  # three axes
    model = model_of("classes")
    first = torch.randn(1, model.outputs, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    theta = torch.nn.functional.pad(first, (0, model.features - 4)).flatten(1)
    every = eigenbasis(model, theta, on_the_ball=on_the_ball, beyond=nothing(model))
    x, was = model.population.x, model.population
    twice = {name: getattr(was, name).repeat_interleave(2, -1) for name in ("y", "weights")}
    twice |= {"weights": twice["weights"] / 2, "x": x[:, :4].repeat_interleave(2, 0)}
    narrow = Linear(replace(was, **twice))
    beyond = slice(1, None, 2), x[:, 4:]
    found = eigenbasis(narrow, first.flatten(1), on_the_ball=on_the_ball, beyond=beyond)
    torch.testing.assert_close(found[1], every[1])
    torch.testing.assert_close(found[0].seen_by(x).square(), every[0].seen_by(x).square())
    squares = [  # of gradients: what no parameters go along has a slope
        noise + basis.onto(one.risk_and_gradient(where)[1])[0].square()
        for one, where, (basis, _, noise) in ((narrow, first.flatten(1), found), (model, theta, every))
    ]
    torch.testing.assert_close(*squares)
