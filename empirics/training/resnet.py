"""ResNet-9 for many clients at once on a GPU: the same function as `networks.resnet9`, by the kernels of `kernels`.

Every client of every run trains weights of its own, so a step of all is (runs × clients) small networks with as many
images as each holds. Parameters are float32 throughout; products are taken of numbers of the given precision and summed
in float32. Runs are independent, so they are trained as many at a time as fit on the card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.nn import functional as F

from empirics.training import kernel_tiles as tiles
from empirics.training.gpu_memory import parts
from empirics.training.kernel_tiles import Layer
from empirics.training.layout import Layout, Networks
from empirics.training.model import Descent, Memory, Population, inverse_counts, per_run
from empirics.training.module import Module, answers
from theory.setting import SettingError

__all__ = ["PRECISIONS", "ManyResNets", "flops"]

PRECISIONS = {  # of the numbers that are multiplied, and how Triton is to multiply them
    "bfloat16": (torch.bfloat16, "ieee"),
    "tf32": (torch.float32, "tf32"),
    "float32": (torch.float32, "ieee"),
}
COLUMNS = 32  # of an image's first convolution, at least nine times its channels
UNFOLDED_IMAGES_MAX = 256  # images at a time
TESTED_IMAGES_MAX = 512


def _layers(height: int, width: int) -> tuple[Layer, ...]:
    whole, half, quarter, eighth = ((height >> k, width >> k) for k in range(4))
    return (
        Layer(COLUMNS, 64, *whole, taps=1),
        Layer(64, 128, *whole, pool=2),
        Layer(128, 128, *half),
        Layer(128, 128, *half, skip=1),
        Layer(128, 256, *half, pool=2),
        Layer(256, 512, *quarter, pool=2),
        Layer(512, 512, *eighth),
        Layer(512, 512, *eighth, skip=5),
    )


def flops(height: int, width: int, channels: int = 3) -> int:
    """Operations of the convolutions of one image, forward; a step of descent takes three times as many, less those of
    the first layer's gradient in its input."""
    first, *others = _layers(height, width)
    products = 9 * channels * first.outward * first.pixels
    return 2 * (products + sum(9 * one.inward * one.outward * one.pixels for one in others))


class ManyResNets(Module):
    """ResNet-9 of every client of every run, on CUDA, by kernels of its own; only the mismatch is left to `Module`."""

    graphs = False  # a round is long, and its kernels are too: nothing is gained by recording it

    def __init__(
        self,
        module: torch.nn.Module | Sequence[torch.nn.Module],
        population: Population,
        precision: str = "bfloat16",
    ) -> None:
        super().__init__(module, population)
        height, width = population.x.shape[-2:]
        self.layers = _layers(height, width)
        self.dtype, self.product = PRECISIONS[precision]
        self.layout = Layout(self.layers, tuple(self.shapes.values()), self.dtype)

    @staticmethod
    def suits(population: Population) -> bool:
        """The kernels can be used: there is a GPU, Triton, and images can be halved three times."""
        height, width = population.x.shape[-2:]
        there = population.x.device.type == "cuda" and find_spec("triton") is not None
        return there and population.x.dtype == torch.float32 and height % 8 == 0 and width % 8 == 0

    # --- images --------------------------------------------------------------------------------------------

    def _columns(self, images: Tensor) -> Tensor:
        """The inputs of the first convolution for each pixel: (images, pixels, COLUMNS)."""
        height, width = images.shape[-2:]
        found = images.new_zeros((len(images), height * width, COLUMNS), dtype=self.dtype)
        for part in torch.split(torch.arange(len(images), device=images.device), UNFOLDED_IMAGES_MAX):
            unfolded = F.unfold(images[part].view(len(part), -1, height, width), 3, padding=1)
            found[part, :, : unfolded.shape[1]] = unfolded.transpose(1, 2).to(self.dtype)
        return found

    @cached_property
    def _population(self) -> Tensor:
        return self._columns(self.population.x)

    @cached_property
    def _tests(self) -> Tensor:
        return self._columns(self.population.test_x)

    # --- forward and back ----------------------------------------------------------------------------------

    def _forward(self, networks: Networks, batch: _Batch, *, keep: bool) -> tuple[Tensor, list[_Activations]]:
        """The mean activations of the last layer, (count, images, 512), and what the way back needs."""
        from empirics.training.kernels import activate

        kept: list[_Activations] = []
        results: list[Tensor | None] = []
        skipped = {layer.skip for layer in self.layers}
        x = batch.columns
        for i, layer in enumerate(self.layers):
            small = networks.small[i]
            z = batch.empty(layer.pixels, layer.outward, self.dtype)
            self._convolve(layer, batch, x, networks.rounded[i], z, bias=small[:, 2], gather=i == 0)
            y = batch.empty(layer.outputs, layer.outward, self.dtype)
            mean, scale = (batch.empty(1, layer.outward, torch.float32) for _ in range(2))
            chunk, block, warps = tiles.between(layer)
            skip = y if layer.skip is None else results[layer.skip]
            activate[(networks.count * batch.images * (layer.outward // block),)](
                z, small[:, 0], small[:, 1], skip, y, mean, scale, batch.size, batch.images,
                CHANNELS=layer.outward, HEIGHT=layer.height, WIDTH=layer.width, POOL=layer.pool,
                SKIP=layer.skip is not None, CHUNK=chunk, BLOCK=block, num_warps=warps, enable_fp_fusion=True,
            )  # fmt: skip
            if keep:
                kept.append(_Activations(x, z, mean, scale))
            results.append(y)
            x = y
            if not keep and i not in skipped:
                results[i] = None
        return x.mean(2, dtype=torch.float32), kept

    def _convolve(
        self,
        layer: Layer,
        batch: _Batch,
        x: Tensor,
        weight: Tensor,
        y: Tensor,
        *,
        bias: Tensor | None = None,
        add: Tensor | None = None,
        gather: bool = False,
        back: bool = False,
    ) -> None:
        from empirics.training.kernels import convolve

        inward, outward = (layer.outward, layer.inward) if back else (layer.inward, layer.outward)
        rows = batch.images * layer.pixels
        tile = tiles.convolution(inward, outward, self.dtype)
        programs = len(batch.size) * -(-rows // tile["ROWS"]) * (outward // tile["COLUMNS"])
        convolve[(programs,)](
            x, batch.index, weight, x if bias is None else bias, x if add is None else add, y, batch.size, rows,
            batch.listed, INWARD=inward, OUTWARD=outward, HEIGHT=layer.height, WIDTH=layer.width, TAPS=layer.taps,
            GATHER=gather, BACK=back, BIAS=bias is not None, ADD=add is not None, PRECISION=self.product,
            enable_fp_fusion=True, **tile,
        )  # fmt: skip

    def _step(
        self, networks: Networks, batch: _Batch, share: Tensor, y: Tensor, motion: _Motion, step: Tensor
    ) -> None:
        """One step of descent of every network, of size `step`, (count,)."""
        from empirics.training.kernels import deactivate

        features, kept = self._forward(networks, batch, keep=True)
        real = share > 0
        features = torch.where(real[..., None], features, 0)
        features = F.pad(features, (0, 1), value=1.0)
        scores = torch.where(real[..., None], features @ networks.head.transpose(1, 2), 0)
        wrong = (torch.softmax(scores, 2) - F.one_hot(y, scores.shape[2])) * share[..., None]
        last = self.layers[-1]
        slope = (wrong @ networks.head[..., :-1] / last.pixels).to(self.dtype)
        slope = slope[:, :, None].expand(-1, -1, last.pixels, -1).contiguous()
        motion.move(networks.head, "head", wrong.transpose(1, 2) @ features, step)
        added: dict[int, Tensor] = {}
        for i in reversed(range(len(self.layers))):
            layer, memory, small = self.layers[i], kept.pop(), networks.small[i]
            if layer.skip is not None:
                added[layer.skip + 1] = slope
            out = batch.empty(layer.pixels, layer.outward, self.dtype)
            shape = (networks.count, batch.images, 3, layer.outward)
            parts = torch.zeros(shape, dtype=torch.float32, device=out.device)
            chunk, block, warps = tiles.between(layer)
            deactivate[(networks.count * batch.images * (layer.outward // block),)](
                memory.z, small[:, 0], small[:, 1], slope, out, parts, memory.mean, memory.scale, batch.size,
                batch.images, CHANNELS=layer.outward, HEIGHT=layer.height, WIDTH=layer.width, POOL=layer.pool,
                CHUNK=chunk, BLOCK=block, num_warps=warps, enable_fp_fusion=True,
            )  # fmt: skip
            motion.move(small, f"small {i}", parts.sum(1), step)
            if i:
                slope = batch.empty(layer.pixels, layer.inward, self.dtype)
                self._convolve(
                    layer, batch, out, networks.rounded[i], slope, add=added.pop(i, None), back=True
                )
            self._descend(i, batch, memory.x, out, networks, motion, step)

    def _descend(
        self,
        i: int,
        batch: _Batch,
        x: Tensor,
        slope: Tensor,
        networks: Networks,
        motion: _Motion,
        step: Tensor,
    ) -> None:
        from empirics.training.kernels import descend

        layer, weight = self.layers[i], networks.weights[i]
        tile, velocity = tiles.descent(layer, self.dtype), motion.velocity(f"weight {i}", weight)
        across = (layer.taps * layer.inward // tile["ROWS"]) * (layer.outward // tile["COLUMNS"])
        descend[(networks.count * across,)](
            x, batch.index, slope, weight, networks.rounded[i], velocity, step, batch.size,
            batch.images * layer.pixels, batch.listed, motion.momentum, INWARD=layer.inward,
            OUTWARD=layer.outward, HEIGHT=layer.height, WIDTH=layer.width, TAPS=layer.taps, GATHER=i == 0,
            MOVING=velocity is not None, PRECISION=self.product, enable_fp_fusion=True, **tile,
        )  # fmt: skip

    # --- the model's part ----------------------------------------------------------------------------------

    @per_run
    def update(self, theta: Tensor, memory: Memory, descent: Descent) -> Tensor:
        moved, most = torch.empty_like(theta), self._most(self._population)  # there before room is measured
        images = memory.index.shape[2]
        if images > most:
            raise SettingError(
                f"resnet9 trains on at most {most} images of this size per client, got {images}: take smaller buffers "
                "or images"
            )
        per_network = self._bytes(images, training=True, velocity=descent.momentum > 0)
        for part in parts(len(theta), per_network * memory.index.shape[1], theta.device):
            own = Memory(memory.index[part], memory.mask[part], memory.weights[part])
            moved[part] = self._trained(theta[part], own, _of(descent, part))
        return moved

    def _trained(self, theta: Tensor, memory: Memory, descent: Descent) -> Tensor:
        runs, clients, images = memory.index.shape
        networks = self.layout.networks(theta, clients)
        index = memory.index.reshape(-1, images).contiguous()
        held = memory.mask.sum(2, dtype=torch.int32).view(-1)
        batch = _Batch(self._population, index, images, held, images)
        share = inverse_counts(memory.mask.to(theta.dtype)).view(-1, images)
        motion = _Motion(descent.momentum, {})
        for s in range(descent.steps):
            size = torch.as_tensor(descent.eta, dtype=theta.dtype, device=theta.device).expand(runs)
            if descent.own_steps is not None:
                size = torch.where(descent.own_steps > s, size, 0)
            step = size.repeat_interleave(clients)
            self._step(networks, batch, share, self.population.y[index], motion, step)
        return self.layout.moved(networks, theta, memory.weights)

    def measure(self, theta: Tensor, tilt: Tensor | None) -> dict[str, Tensor]:
        if tilt is not None:
            return super().measure(theta, tilt)
        p, risk = self.population.of_runs(len(theta)).T.expand(len(theta), -1), theta.new_zeros(len(theta))
        for part, some, scores in self._scored(theta, self._population):
            labels = self.population.y[some].expand(len(scores), -1)
            loss = F.cross_entropy(scores.transpose(1, 2), labels, reduction="none")
            risk[part] += (p[part][:, some] * loss).sum(1)
        return {"risk": risk}

    def log_loss(self, theta: Tensor) -> Tensor:
        losses = theta.new_zeros(len(self._tests), len(theta))
        for part, some, scores in self._scored(theta, self._tests):
            labels = self.population.test_y[some].expand(len(scores), -1)
            losses[some, part] = F.cross_entropy(scores.transpose(1, 2), labels, reduction="none").T
        return self.population.tested(losses)

    def accuracy(self, theta: Tensor) -> Tensor:
        hits = theta.new_zeros(len(self._tests), len(theta))
        for part, some, scores in self._scored(theta, self._tests):
            hits[some, part] = (answers(scores) == self.population.test_y[some]).T.to(hits.dtype)
        return self.population.tested(hits)

    def _scored(self, theta: Tensor, columns: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Some runs, some images, and their scores, (runs, images, classes), one piece after the other."""
        images = min(TESTED_IMAGES_MAX, len(columns), self._most(columns))
        for part in parts(len(theta), self._bytes(images, training=False), theta.device):
            networks = self.layout.networks(theta[part], 1)
            for some in torch.split(torch.arange(len(columns), device=theta.device), images):
                size = torch.full((networks.count,), len(some), dtype=torch.int32, device=theta.device)
                features, _ = self._forward(networks, _Batch(columns, some, len(some), size, 0), keep=False)
                yield part, some, F.pad(features, (0, 1), value=1.0) @ networks.head.transpose(1, 2)

    def _most(self, columns: Tensor) -> int:
        """Images of a network whose activations 32-bit offsets can tell apart."""
        widest = max(max(layer.inward, layer.outward) * layer.pixels for layer in self.layers)
        return int((2**31 - 1) // max(widest, columns.shape[1] * columns.shape[2]))

    def _bytes(self, images: int, *, training: bool, velocity: bool = False) -> int:
        """Bytes of a network on the GPU, with its images."""
        wide = self.dtype.itemsize
        kept = sum(layer.outward * (layer.pixels + layer.outputs) for layer in self.layers)
        peak = 3 * max(layer.outward * layer.pixels for layer in self.layers)
        numbers = kept + peak if training else 2 * peak
        own = self.size * (8 + wide + (4 if velocity else 0)) if training else self.size * (4 + wide)
        return own + images * numbers * wide


@dataclass(frozen=True)
class _Batch:
    """The images of all networks: `columns` of a data set, which of them, `listed` a network (0: all the same), and
    how many of its `images` places each network uses."""

    columns: Tensor
    index: Tensor
    images: int
    size: Tensor
    listed: int

    def empty(self, pixels: int, channels: int, dtype: torch.dtype) -> Tensor:
        shape = (len(self.size), self.images, pixels, channels)
        return torch.empty(shape, dtype=dtype, device=self.size.device)


@dataclass(frozen=True)
class _Activations:
    """The values of a layer for the way back."""

    x: Tensor
    z: Tensor
    mean: Tensor
    scale: Tensor


@dataclass(frozen=True)
class _Motion:
    """Velocities by name, if there are any."""

    momentum: float
    known: dict[str, Tensor]

    def velocity(self, name: str, values: Tensor) -> Tensor | None:
        if not self.momentum:
            return None
        if name not in self.known:
            self.known[name] = torch.zeros_like(values)
        return self.known[name]

    def move(self, values: Tensor, name: str, gradient: Tensor, step: Tensor) -> None:
        velocity = self.velocity(name, values)
        if velocity is not None:
            gradient = velocity.mul_(self.momentum).add_(gradient)
        size = step.view(-1, *(1,) * (values.ndim - 1))
        values.sub_(torch.where(size == 0, 0, size * gradient))  # 0 times infinity is no number


def _of(descent: Descent, part: slice) -> Descent:
    eta = descent.eta[part] if isinstance(descent.eta, Tensor) else descent.eta
    return replace(descent, eta=eta, own_steps=None if descent.own_steps is None else descent.own_steps[part])
