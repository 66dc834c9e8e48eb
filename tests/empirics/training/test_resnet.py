"""ResNet-9 by kernels against the same network by torch, on a GPU; how its parameters are laid out, anywhere."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from empirics.training import resnet
from empirics.training.model import Descent, Memory, Population
from empirics.training.module import Module
from empirics.training.networks import Residual, _block, resnet9
from empirics.training.resnet import ManyResNets, flops
from tests.empirics.small import refused

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]


def population(device, side=16, images=40, dtype=torch.float32, channels=3):
    torch.manual_seed(2)
    x = torch.randn(images, channels, side, side, dtype=dtype)
    labels = torch.arange(images) % 10
    values = (x, labels, torch.full((1, images), 1 / images, dtype=dtype), x[:30] / 2, labels[:30])
    return Population(*(value.to(device) for value in values), 10)


def wider(population):
    reals = {name: getattr(population, name).double() for name in ("x", "weights", "test_x")}
    return replace(population, **reals)


def networks(population, count=2, make=resnet9):
    torch.manual_seed(3)
    made = [make(population).to(population.x.device) for _ in range(count)]
    for module in made:
        for parameter in module.parameters():
            parameter.data += 0.05 * torch.randn_like(parameter)
    return made


def memory(device, images=40):
    size = torch.tensor([[6, 5, 0], [1, 6, 3]], device=device)
    index = torch.randint(0, images, (2, 3, 6), generator=torch.Generator().manual_seed(4)).to(device)
    weights = size / size.sum(1, keepdim=True)
    return Memory(index, torch.arange(6, device=device) < size[..., None], weights)


def narrow(population):
    """ResNet-9 with 32 channels everywhere."""
    halves = [_block(32, 32, pool=True) for _ in range(3)]
    front = (_block(3, 32), halves[0], Residual(32), *halves[1:], Residual(32))
    return nn.Sequential(*front, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, population.classes))


def test_a_narrow_network_trains_and_is_tested_as_by_torch(monkeypatch):
    """All of it, without a card: two runs that differ in steps and their size, a client without images, momentum."""
    interpreter = pytest.importorskip("triton.runtime.interpreter")
    options = interpreter.interpreter_builder.options  # whether whole numbers overflow, test_kernels looks at
    monkeypatch.setattr(interpreter.interpreter_builder, "options", replace(options, sanitize_overflow=False))
    made = resnet._layers

    def layers(height, width):
        return tuple(replace(one, inward=32, outward=32) for one in made(height, width))

    monkeypatch.setattr(resnet, "_layers", layers)
    monkeypatch.setattr(resnet, "TESTED", 1)
    here = population(DEVICE, side=8, images=2)
    modules, held = networks(here, make=narrow), memory(DEVICE, images=2)
    some = np.s_[:, ::2, :2]  # 2 and 0, 1 and 2 images
    few = Memory(held.index[some], held.mask[some], held.weights[:, ::2])
    exact, model = Module(modules, wider(here)), ManyResNets(modules, here, "float32")
    monkeypatch.setattr(resnet, "_free", lambda device: 1.0)  # run by run
    steps, eta = torch.tensor([1, 2], device=DEVICE), torch.tensor([0.05, 0.1], device=DEVICE)
    descent = Descent(2, eta, 0.5, steps)
    twice = replace(few, weights=few.weights.double())
    with torch.no_grad():
        wanted = exact.update(exact.start(2), twice, replace(descent, eta=eta.double()))
        found = model.update(model.start(2), few, descent)
        assert (found - wanted).norm() < 1e-4 * wanted.norm()
        assert torch.allclose(model.accuracy(model.start(2)[:1]).double(), exact.accuracy(exact.start(2)[:1]))
        risk = model.measure(model.start(2), None)["risk"].double()
        assert torch.allclose(risk, exact.measure(exact.start(2), None)["risk"], rtol=1e-5)


def test_more_images_than_offsets_can_tell_apart_are_refused(monkeypatch):
    here = population("cpu", side=8, images=3)
    model = ManyResNets(networks(here), here)
    monkeypatch.setattr(model, "_most", lambda columns: 5)
    sentence = refused(model.update, model.start(2), memory("cpu", images=3), Descent(1, 0.1))
    assert "at most 5 images of this size per client, got 6" in sentence


def test_flops_are_those_of_the_convolutions():
    """By torch's own count of one image's way forward, less the last layer."""
    from torch.utils.flop_counter import FlopCounterMode

    here = population("cpu", side=16, images=1)
    with FlopCounterMode(display=False) as counter:
        resnet9(here)(here.x)
    assert flops(16, 16) == counter.get_total_flops() - 2 * 512 * 10


def test_without_a_card_there_are_no_kernels():
    assert not ManyResNets.suits(population("cpu"))


def both(side, precision, descent):
    """A step by torch in float64 and one by the kernels: models and moves."""
    here = population("cuda", side=side)
    modules, held = networks(here), memory("cuda")
    exact, model = Module(modules, wider(here)), ManyResNets(modules, here, precision)
    wide = replace(descent, eta=descent.eta.double()) if isinstance(descent.eta, torch.Tensor) else descent
    with torch.no_grad():
        wanted = exact.update(exact.start(2), replace(held, weights=held.weights.double()), wide)
        return exact, model, wanted, model.update(model.start(2), held, descent)


@pytest.mark.parametrize("side", [pytest.param(side, marks=gpu) for side in (16, 72)])
def test_a_step_is_that_of_torch(side):
    """Behind the last pooling as near to float64 as float32 can be. Before it less so: which of four pixels is the
    largest may turn on the last bit, and one such turn in half a million windows moves a gradient by a thousandth.
    72 pixels are too many for a program to hold at once."""
    _, model, wanted, found = both(side, "float32", Descent(1, 0.05))
    parts = zip(model.layout.split(found), model.layout.split(wanted), strict=True)
    errors = [float((a - b).norm() / b.norm()) for a, b in parts]
    assert max(errors) < 5e-3
    assert max(errors[4 * 6 :]) < 1e-4


@pytest.mark.parametrize("precision", [pytest.param(p, marks=gpu) for p in ("tf32", "bfloat16")])
def test_some_steps_of_runs_that_differ_are_those_of_torch(precision):
    eta, steps = torch.tensor([0.01, 0.02], device="cuda"), torch.tensor([3, 2], device="cuda")
    exact, model, wanted, found = both(16, precision, Descent(3, eta, 0.5, steps))
    with torch.no_grad():
        tested = model.accuracy(model.start(2)), exact.accuracy(exact.start(2))
        risks = model.measure(model.start(2), None)["risk"], exact.measure(exact.start(2), None)["risk"]
    assert (found - wanted).norm() < {"tf32": 3e-2, "bfloat16": 1e-1}[precision] * wanted.norm()
    assert (tested[0] - tested[1]).abs().max() < 0.04  # one image of thirty may lie on the border
    assert torch.allclose(risks[0].double(), risks[1], rtol={"bfloat16": 1e-2}.get(precision, 1e-3))


@pytest.mark.parametrize("share", [pytest.param(one, marks=gpu) for one in (0.7, 1e-9)])
def test_it_repeats_itself_however_many_fit(monkeypatch, share):
    """Bit for bit where as many fit again; else torch's product, the mean over clients, may sum in another order."""
    here = population("cuda")
    model, held = ManyResNets(networks(here), here), memory("cuda")
    with torch.no_grad():
        first = model.update(model.start(2), held, Descent(2, 0.01, 0.9))
        once_more = model.update(model.start(2), held, Descent(2, 0.01, 0.9))
        monkeypatch.setattr(resnet, "SHARE", share)
        again = model.update(model.start(2), held, Descent(2, 0.01, 0.9))
        assert torch.equal(first, once_more)
        assert (first - again).norm() < 1e-6 * first.norm()
        assert torch.equal(model.accuracy(model.start(2)), model.accuracy(model.start(2)))
