"""The networks that a study may name: a batch of them trains as each alone does, by torch and, ResNet-9, by kernels."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from empirics.data import Dataset
from empirics.training import gpu_memory, resnet
from empirics.training import kernel_tiles as tiles
from empirics.training.layout import Layout
from empirics.training.model import Descent, Memory, Population
from empirics.training.module import Module, answers
from empirics.training.networks import NETWORKS, Residual, _block, resnet9
from empirics.training.other_models import other_model
from empirics.training.resnet import ManyResNets, flops
from tests.empirics.small import GPU, problem, refused, study

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def images(channels, side, samples=24, classes=3):
    drawn = np.random.default_rng(1)
    sides = np.broadcast_to(side, 2)
    shape = (samples, channels, *sides) if channels else (samples, *sides)
    x = drawn.normal(size=shape).astype(np.float32)
    y = np.arange(samples, dtype=np.int64) % classes
    return Dataset.of("images", (x, y), (x[:6], y[:6]), classes)


def made(name, channels, side, given=None, **settings):
    setting = study(model=name, labels="classes", **settings)
    return problem(setting, data=images(channels, side), model=given).model


def test_sizes_are_those_of_the_papers_networks_and_what_is_no_number_is_no_answer():
    """With ten classes; these images have three."""
    lenet, resnet = made("lenet", 1, 28), made("resnet9", 3, 32)
    assert isinstance(lenet, Module)
    assert lenet.size == 61_706 - 7 * 85
    assert resnet.size == pytest.approx(6_576_711 - 7 * 513, rel=1e-3)
    scores = torch.tensor([[1.0, 3.0], [torch.nan, 2.0], [torch.inf, 0.0]])
    assert answers(scores).tolist() == [1, -1, 0]
    silent, x = Residual(32), torch.randn(1, 32, 4, 4)
    torch.nn.utils.vector_to_parameters(torch.zeros(10**5), silent.parameters())
    assert torch.equal(silent(x), x)


@pytest.mark.parametrize(
    ("name", "channels", "side", "runs"),
    [
        ("lenet", 1, 12, 2),
        ("lenet", 0, (12, 16), 2),
        pytest.param("resnet9", 3, 8, 1, marks=pytest.mark.slow),
    ],
)
def test_a_batch_trains_as_each_network_alone_does(name, channels, side, runs):
    model = made(name, channels, side)
    torch.manual_seed(0)
    theta = model.start(runs) + 0.01 * torch.randn(runs, model.size, dtype=torch.float64)
    index = torch.arange(6 * runs).view(runs, 2, 3)
    mask = torch.arange(3) < torch.tensor([[3, 1], [2, 3]])[:runs, :, None]
    weights = torch.tensor([[0.75, 0.25], [0.4, 0.6]], dtype=torch.float64)[:runs]
    memory = Memory(index, mask, weights)
    moved, told = model.update(theta, memory, Descent(2, 0.05, 0.9)), model.mean_loss(theta, memory)
    for run in range(runs):
        expected = torch.zeros(model.size, dtype=torch.float64)
        torch.nn.utils.vector_to_parameters(theta[run].clone(), model.module.parameters())
        held = index[run][mask[run]]
        loss = F.cross_entropy(model.module(model.population.x[held]), model.population.y[held])
        assert told[run].item() == pytest.approx(loss.item())
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


def test_a_network_begins_as_its_replicate_does_in_a_part_of_a_study_too():
    second = made("lenet", 1, 12, seed=5, seeds=2, per_seed=("start",))
    torch.manual_seed(5 * 1_000_003 + 1)
    alone = Module(NETWORKS["lenet"](second.population), second.population)
    assert torch.equal(second.start(2)[1], alone.start(1)[0])
    part = study(model="lenet", labels="classes", seed=5, seeds=1, per_seed=("start",))
    assert torch.equal(other_model(part, second.population, None, first=1).start(1), alone.start(1))
    shared = replace(part, per_seed=())
    starts = [other_model(shared, second.population, None, first=first).start(1) for first in (0, 1)]
    assert torch.equal(*starts)


def test_parameters_that_need_no_gradient_are_the_same_in_every_seed():
    def part_fixed(population):
        made = nn.Sequential(nn.Flatten(), nn.Linear(36, 5), nn.Linear(5, population.classes))
        made[1].requires_grad_(False)
        return made

    each = {"per_seed": ("start",), "seeds": 2}
    assert "differ from seed to seed" in refused(made, "lenet", 0, 6, part_fixed, **each)
    given = part_fixed(made("lenet", 0, 12).population)
    model = made("lenet", 0, 6, given, **each)
    assert torch.equal(model.module[1].weight, given[1].weight.double())
    assert not torch.isclose(*model.start(2)).any()


@pytest.mark.parametrize(("each", "at_once"), [(10, 5), (35, 2), (36, 1), (71, 1)])
def test_as_many_networks_train_at_once_as_fit_in_seven_tenths_of_what_is_free(monkeypatch, each, at_once):
    """What torch has reserved and does not use is free as well."""
    for name, value in (("mem_get_info", (60, 140)), ("memory_reserved", 70), ("memory_allocated", 30)):
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    found = [[*range(5)[part]] for part in gpu_memory.parts(5, each, torch.device("cuda"))]
    assert found == [[*range(k, min(k + at_once, 5))] for k in range(0, 5, at_once)]


def test_images_that_do_not_fit_and_unknown_networks_are_refused():
    assert "1 or 3 channels" in refused(made, "lenet", 2, 28)
    assert "at least 12 x 12" in refused(made, "lenet", 1, 8)
    assert "at least 8 x 8" in refused(made, "resnet9", 3, 4)
    assert ", ".join(NETWORKS) in refused(made, "alexnet", 1, 28)
    kinds, each = iter([nn.Flatten(), 7]), {"per_seed": ("start",), "seeds": 2}
    said = refused(made, "lenet", 1, 12, lambda population: next(kinds), **each)
    assert "anew for every seed, got int" in said


def population(device, side=16, images=40, dtype=torch.float32, channels=3):
    torch.manual_seed(2)
    x = torch.randn(images, channels, side, side, dtype=dtype)
    labels = torch.arange(images) % 10
    values = (x, labels, torch.full((1, images), 1 / images, dtype=dtype), x[:30] / 2, labels[:30])
    return Population(*(value.to(device) for value in values), 10)


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


@pytest.mark.slow
def test_a_narrow_network_trains_and_is_tested_as_by_torch(monkeypatch):
    """All of it, without a card: two runs that differ in steps and their size, a client without images, momentum."""
    interpreter = pytest.importorskip("triton.runtime.interpreter")
    options = interpreter.interpreter_builder.options  # whether whole numbers overflow, test_kernels looks at
    monkeypatch.setattr(interpreter.interpreter_builder, "options", replace(options, sanitize_overflow=False))
    made = resnet._layers

    def layers(height, width):
        return tuple(replace(one, inward=32, outward=32) for one in made(height, width))

    monkeypatch.setattr(resnet, "_layers", layers)
    monkeypatch.setattr(resnet, "TESTED_IMAGES_MAX", 1)
    here = population(DEVICE, side=8, images=2)
    modules, held = networks(here, make=narrow), memory(DEVICE, images=2)
    some = np.s_[:, ::2, :2]  # 2 and 0, 1 and 2 images
    few = Memory(held.index[some], held.mask[some], held.weights[:, ::2])
    exact, model = Module(modules, here.double()), ManyResNets(modules, here, "float32")
    monkeypatch.setattr(gpu_memory, "_free", lambda device: 5e6)  # of which a run takes almost half
    at_once = set()

    def unwritten(shape, **kind):
        at_once.add(shape[:2])
        return torch.full(shape, torch.nan, **kind)

    monkeypatch.setattr(torch, "empty", unwritten)
    steps, eta = torch.tensor([1, 2], device=DEVICE), torch.tensor([0.05, 0.1], device=DEVICE)
    descent = Descent(2, eta, 0.5, steps)
    twice = replace(few, weights=few.weights.double())
    with torch.no_grad():
        wanted = exact.update(exact.start(2), twice, replace(descent, eta=eta.double()))
        found = model.update(model.start(2), few, descent)
        assert at_once == {(2, 2)}  # run by run, with two clients of two images each
        at_once.clear()
        assert (found - wanted).norm() < 1e-4 * wanted.norm()
        assert torch.allclose(model.accuracy(model.start(2)[:1]).double(), exact.accuracy(exact.start(2)[:1]))
        assert torch.allclose(
            model.log_loss(model.start(2)).double(), exact.log_loss(exact.start(2)), rtol=1e-5
        )
        risk = model.measure(model.start(2), None)["risk"].double()
        assert torch.allclose(risk, exact.measure(exact.start(2), None)["risk"], rtol=1e-5)
        assert {images for _, images in at_once} == {1}


def test_the_kernels_train_a_resnet_and_no_other_network(monkeypatch):
    monkeypatch.setattr(ManyResNets, "suits", lambda population: True)
    assert [type(made(name, 3, 16)) for name in ("lenet", "resnet9")] == [Module, ManyResNets]


def test_the_mismatch_is_the_length_of_a_gradient():
    here = population("cpu", side=8, images=1)
    modules, tilt = networks(here, 1), torch.tensor([-2.0])
    model = ManyResNets(modules, here)
    found = model.measure(model.start(1), tilt[None])["mismatch"]
    (module,) = modules
    loss = tilt @ F.cross_entropy(module(here.x), here.y, reduction="none")
    gradient = torch.autograd.grad(loss, list(module.parameters()))
    assert found.item() == pytest.approx(sum(float(one.square().sum()) for one in gradient), rel=1e-4)


def test_more_images_than_32_bits_can_address_are_refused():
    """128 channels of 8 x 8 pixels are 2^13 numbers per image. Without a GPU torch trains instead."""
    here = population("cpu", side=8, images=3)
    model = ManyResNets(networks(here, 1), here)
    index = torch.zeros(1, 3, 1, dtype=torch.int64).expand(-1, -1, 2**18)
    many = Memory(index, index, torch.ones(1, 3))
    assert f"at most {2**18 - 1} images" in refused(model.update, model.start(1), many, Descent(1, 0.1))
    assert not ManyResNets.suits(here)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_move_of_many_networks_comes_back_in_the_order_of_parameters(channels):
    layers = (tiles.Layer(32, 4, 8, 8, taps=1), tiles.Layer(4, 6, 8, 8))
    sides = [(4, channels, 3, 3), *[(4,)] * 3, (6, 4, 3, 3), *[(6,)] * 3, (5, 6), (5,)]
    layout = Layout(layers, [torch.Size(side) for side in sides], torch.float64)
    theta, weights = torch.randn(2, sum(map(np.prod, sides))), torch.rand(2, 3)
    assert [one.shape[1] for one in layout.networks(theta, 1).weights] == [32, 9 * 4]
    each = theta.repeat_interleave(3, 0)
    for one, other in zip(layout.networks(theta, 3).weights, layout.networks(each, 1).weights, strict=True):
        assert torch.equal(one, other)
    each = torch.randn_like(each)
    wanted = (weights[..., None] * (each.view(2, 3, -1) - theta[:, None])).sum(1)
    assert torch.allclose(layout.moved(layout.networks(each, 1), theta, weights), wanted, atol=1e-5)


@pytest.mark.parametrize("side", [(8, 8), (32, 32), (32, 64), (72, 72), (96, 96)])
def test_tiles_are_such_as_kernels_and_cards_take(side):
    """Powers of two, whole groups of channels, all outputs at once where they are few; 227 KiB are for all stages."""
    for layer in resnet._layers(*side):
        assert layer.outputs == (layer.height // layer.pool) * (layer.width // layer.pool)
        chunk, block, warps = tiles.between(layer)
        most = 2**14 // (layer.pool**2 * block)
        assert chunk <= most
        assert (chunk == layer.outputs) == (layer.outputs <= most and layer.outputs.bit_count() == 1)
        assert layer.outward % block == block % (layer.outward // 32) == 0
        assert {n.bit_count() for n in (chunk, block, warps)} == {1}
        for dtype in (torch.bfloat16, torch.float32):
            for cut in (tiles.convolution(layer.inward, layer.outward, dtype), tiles.descent(layer, dtype)):
                room = cut["num_stages"] * cut["DEPTH"] * (cut["ROWS"] + cut["COLUMNS"]) * dtype.itemsize
                assert room <= 227 * 2**10
                assert layer.outward % cut["COLUMNS"] == 0
                assert {cut[name].bit_count() for name in ("ROWS", "COLUMNS", "DEPTH")} == {1}


def test_flops_are_those_of_the_convolutions():
    """By torch's own count of one image's way forward, less the last layer."""
    here = population("cpu", side=16, images=1)
    with FlopCounterMode(display=False) as counter:
        resnet9(here)(here.x)
    assert flops(16, 16) == counter.get_total_flops() - 2 * 512 * 10


def test_a_step_on_few_samples_costs_a_product_with_their_gram_matrix():
    model, counts = problem(study()).model, []
    memory = Memory(torch.arange(24).view(2, 3, 4), torch.ones(2, 3, 4), torch.ones(2, 3))
    for steps in (1, 2):
        with FlopCounterMode(display=False) as counter:
            model.update(model.start(2), memory, Descent(steps, 0.7))
        counts.append(counter.get_total_flops())
    assert counts[0] > 0
    assert counts[1] - counts[0] == 2 * 6 * 4 * 4


def both(side, precision, descent):
    """A step by torch in float64 and one by the kernels: models and moves."""
    here = population("cuda", side=side)
    modules, held = networks(here), memory("cuda")
    exact, model = Module(modules, here.double()), ManyResNets(modules, here, precision)
    wide = replace(descent, eta=descent.eta.double()) if isinstance(descent.eta, torch.Tensor) else descent
    with torch.no_grad():
        wanted = exact.update(exact.start(2), replace(held, weights=held.weights.double()), wide)
        return exact, model, wanted, model.update(model.start(2), held, descent)


@pytest.mark.parametrize("side", [pytest.param(side, marks=GPU) for side in (16, 72)])
def test_a_step_is_that_of_torch(side):
    """Behind the last pooling as near to float64 as float32 can be. Before it less so: which of four pixels is the
    largest may turn on the last bit, and one such turn in half a million windows moves a gradient by a thousandth.
    72 pixels are too many for a program to hold at once."""
    _, model, wanted, found = both(side, "float32", Descent(1, 0.05))
    parts = zip(model.layout.split(found), model.layout.split(wanted), strict=True)
    errors = [float((a - b).norm() / b.norm()) for a, b in parts]
    assert max(errors) < 5e-3
    assert max(errors[4 * 6 :]) < 1e-4


@pytest.mark.parametrize("precision", [pytest.param(p, marks=GPU) for p in ("tf32", "bfloat16")])
def test_some_steps_of_runs_that_differ_are_those_of_torch(precision):
    eta, steps = torch.tensor([0.01, 0.02], device="cuda"), torch.tensor([3, 2], device="cuda")
    exact, model, wanted, found = both(16, precision, Descent(3, eta, 0.5, steps))
    with torch.no_grad():
        tested = model.accuracy(model.start(2)), exact.accuracy(exact.start(2))
        risks = model.measure(model.start(2), None)["risk"], exact.measure(exact.start(2), None)["risk"]
    assert (found - wanted).norm() < {"tf32": 3e-2, "bfloat16": 1e-1}[precision] * wanted.norm()
    assert (tested[0] - tested[1]).abs().max() < 0.04  # one image of thirty may lie on the border
    assert torch.allclose(risks[0].double(), risks[1], rtol={"bfloat16": 1e-2}.get(precision, 1e-3))


@pytest.mark.parametrize("share", [pytest.param(one, marks=GPU) for one in (0.7, 1e-9)])
def test_it_repeats_itself_however_many_fit(monkeypatch, share):
    """Bit for bit where as many fit again; else torch's product, the mean over clients, may sum in another order."""
    here = population("cuda")
    model, held = ManyResNets(networks(here), here), memory("cuda")
    with torch.no_grad():
        first = model.update(model.start(2), held, Descent(2, 0.01, 0.9))
        once_more = model.update(model.start(2), held, Descent(2, 0.01, 0.9))
        monkeypatch.setattr(gpu_memory, "MEMORY_SHARE_MAX", share)
        again = model.update(model.start(2), held, Descent(2, 0.01, 0.9))
        assert torch.equal(first, once_more)
        assert (first - again).norm() < 1e-6 * first.norm()
        assert torch.equal(model.accuracy(model.start(2)), model.accuracy(model.start(2)))
