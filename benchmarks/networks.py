"""Speed of ResNet-9 for many clients at once on a GPU, against alternatives.

A run-round is one round of one run: every client takes E = 10 steps, then the mean is tested on 4,000 images. It is
timed for the kernels, for `torch.func.vmap`, for grouped convolutions, and for one client after the other as a plain
script has it; the last three on fewer runs, since they take long. TFLOP/s count the convolutions that descent needs,
three times those of the way forward, and stand beside a large bfloat16 matrix product on the same card. Images are
random: the time does not depend on what they show.
"""

import statistics
from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.common import gpu_clock, hardware, parser_of, timed
from benchmarks.runner import write
from empirics import Population
from empirics.training.model import Descent, Memory
from empirics.training.module import Module
from empirics.training.networks import resnet9
from empirics.training.resnet import ManyResNets, flops

STEPS, CLIENTS, TESTS, REPEATED = 10, 10, 4000, 3
Times = tuple[float, float]  # seconds of a step, and of a test


def main() -> None:
    parser = parser_of("networks", __doc__)
    given = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("this needs a CUDA device")
    side, runs, images = given.side, given.runs, given.images
    card = f"{torch.cuda.get_device_name()}, torch {torch.__version__}; {hardware()}"
    ceiling = _ceiling()
    print(f"{card}\na bfloat16 product of 8192 x 8192 matrices: {ceiling:.0f} TFLOP/s")
    few = max(1, runs // 10)
    here = _population(side, 10 * CLIENTS * images)
    found = {}
    cases: dict[str, tuple[int, Callable[[Population, int, int], Times]]] = {
        "kernels, bfloat16": (runs, partial(_kernels, "bfloat16", 0.0)),
        "kernels, bfloat16, momentum": (runs, partial(_kernels, "bfloat16", 0.9)),
        "kernels, tf32": (runs, partial(_kernels, "tf32", 0.0)),
        "vmap, bfloat16": (few, _vmap),
        "grouped convolutions, bfloat16": (few, _grouped),
        "one client at a time": (1, _alone),
    }
    print(f"{CLIENTS} clients with {images} images of {side} x {side}, E = {STEPS}, {TESTS} test images")
    for name, (count, measure) in cases.items():
        try:
            step, test = measure(here, count, images)
        except torch.OutOfMemoryError:
            print(f"{name:32} {count:3} runs: out of memory")
            continue
        rate = 3 * flops(side, side) * count * CLIENTS * images / step / 1e12
        whole = (STEPS * step + test) / count
        found[name] = {"runs": count, "step_s": step, "tflops": rate, "run_round_s": whole}
        rates = f"{rate:6.1f} TFLOP/s ({rate / ceiling:5.1%}), {1e3 * whole:7.1f} ms a run-round"
        print(f"{name:32} {count:3} runs: {1e3 * step:8.1f} ms a step, {rates}")
    if "one client at a time" in found and "kernels, bfloat16" in found:
        alone, ours = (found[one]["run_round_s"] for one in ("one client at a time", "kernels, bfloat16"))
        print(f"one client at a time / kernels: {alone / ours:.1f} times (n = {REPEATED}, medians)")
    command = f"python -m benchmarks.networks --side {side} --runs {runs} --images {images}"
    about = {"hardware": card, "ceiling_tflops": ceiling, "side": side, "images": images}
    write({**about, "cases": found, "command": command}, given.out)


def _seconds(work: Callable[[], object]) -> float:
    """Median, after one time in vain."""
    work()
    return statistics.median(timed(work, REPEATED, gpu_clock)[1])


def _ceiling() -> float:
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    return 2 * 8192**3 / _seconds(lambda: a @ b) / 1e12


def _population(side: int, count: int) -> Population:
    generator = torch.Generator().manual_seed(0)
    tests = TESTS if side < 100 else TESTS // 8  # the same random images again and again would do
    x, test_x = (torch.rand(n, 3, side, side, generator=generator) for n in (count, tests))
    y, test_y = (torch.randint(0, 10, (n,), generator=generator) for n in (count, tests))
    values = (x, y, torch.full((1, count), 1 / count), test_x, test_y)
    return Population(*(value.cuda() for value in values), 10)


def _memory(here: Population, runs: int, images: int) -> Memory:
    shape = (runs, CLIENTS, images)
    index = torch.randint(0, len(here.y), shape, device="cuda")
    present, weights = torch.ones(shape, dtype=torch.bool), torch.full(shape[:2], 0.1)
    return Memory(index, present.cuda(), weights.cuda())


def _timed(model: Module, here: Population, runs: int, images: int, momentum: float = 0.0) -> Times:
    """Seconds of a step, from the whole of E steps, and of a test on all images."""
    theta, memory = model.start(runs), _memory(here, runs, images)
    with torch.no_grad():
        whole = _seconds(lambda: model.update(theta, memory, Descent(STEPS, 0.005, momentum)))
        test = _seconds(lambda: model.accuracy(theta)) * TESTS / len(here.test_y)
    return whole / STEPS, test


def _kernels(precision: str, momentum: float, here: Population, runs: int, images: int) -> Times:
    return _timed(ManyResNets(resnet9(here), here, precision), here, runs, images, momentum)


def _vmap(here: Population, runs: int, images: int) -> Times:
    with torch.autocast("cuda", torch.bfloat16):
        return _timed(Module(resnet9(here), here), here, runs, images)


def _widen(network: nn.Module, count: int) -> nn.Module:
    """Replace every layer by that of many networks side by side, each a group of channels."""
    for name, layer in network.named_children():
        if isinstance(layer, nn.Conv2d):
            inward, outward = layer.in_channels * count, layer.out_channels * count
            network.register_module(name, nn.Conv2d(inward, outward, 3, padding=1, groups=count))
        elif isinstance(layer, nn.GroupNorm):
            network.register_module(name, nn.GroupNorm(layer.num_groups * count, layer.num_channels * count))
        else:
            _widen(layer, count)
    return network


def _grouped(here: Population, runs: int, images: int) -> Times:
    """All networks side by side as groups of channels of one; the head, a thousandth of the work, is left out."""
    x = torch.rand(images, 3 * runs * CLIENTS, *here.x.shape[2:], device="cuda").bfloat16()
    body = _widen(nn.Sequential(*list(resnet9(here).children())[:-3]), runs * CLIENTS)
    network = body.cuda().bfloat16().to(memory_format=torch.channels_last)
    x = x.to(memory_format=torch.channels_last)
    descent = torch.optim.SGD(network.parameters(), lr=0.005)
    forward = lambda: network(x).float().mean()  # noqa: E731

    def step() -> None:
        descent.zero_grad()
        forward().backward()
        descent.step()

    with torch.no_grad():
        test = _seconds(forward) * TESTS / (images * CLIENTS)
    return _seconds(step), test


def _alone(here: Population, runs: int, images: int) -> Times:
    """A plain script: one client after the other, float32 as torch has it by default."""
    network = resnet9(here).cuda()
    memory = _memory(here, runs, images)

    def step() -> None:
        for client in range(CLIENTS):
            descent = torch.optim.SGD(network.parameters(), lr=0.005, momentum=0.9)
            x, y = here.x[memory.index[0, client]], here.y[memory.index[0, client]]
            descent.zero_grad()
            F.cross_entropy(network(x), y).backward()
            descent.step()

    def test() -> None:
        with torch.no_grad():
            for part in here.test_x.split(500):
                network(part).argmax(1)

    return runs * _seconds(step), runs * _seconds(test) * TESTS / len(here.test_y)


if __name__ == "__main__":
    main()
