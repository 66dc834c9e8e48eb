"""The layout of the parameters of ResNet-9: a row of θ for torch, and many networks for the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from empirics.training.kernel_tiles import Layer

__all__ = ["Layout", "Networks"]


@dataclass
class Networks:
    """The parameters of `count` networks, in the kernels' order; `rounded` are the weights that products see."""

    weights: list[Tensor]  # (count, taps · inward, outward)
    rounded: list[Tensor]
    small: list[Tensor]  # (count, 3, outward): gamma, beta, bias
    head: Tensor  # (count, classes, 513): the last column is the bias

    @property
    def count(self) -> int:
        return len(self.head)


@dataclass(frozen=True)
class Layout:
    """The layout of networks with these layers, whose parameters have these shapes in θ."""

    layers: Sequence[Layer]
    shapes: Sequence[torch.Size]
    dtype: torch.dtype

    def split(self, theta: Tensor) -> list[Tensor]:
        """Its parameters one by one, (runs, …); views."""
        pieces = torch.split(theta, [shape.numel() for shape in self.shapes], dim=1)
        return [piece.view(-1, *shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def networks(self, theta: Tensor, clients: int) -> Networks:
        """The networks of all clients of all runs, each run's `clients` times."""
        pieces = self.split(theta)
        weights, small = [], []
        for i, layer in enumerate(self.layers):
            weight, bias, gamma, beta = pieces[4 * i : 4 * i + 4]
            weights.append(_rows(weight, layer).repeat_interleave(clients, 0))
            small.append(torch.stack([gamma, beta, bias], dim=1).repeat_interleave(clients, 0))
        head = torch.cat([pieces[-2], pieces[-1][..., None]], dim=2).repeat_interleave(clients, 0)
        return Networks(weights, [weight.to(self.dtype) for weight in weights], small, head)

    def moved(self, networks: Networks, theta: Tensor, weights: Tensor) -> Tensor:
        """Σ_m w_m Δ_m in the order of θ."""
        runs, clients = weights.shape
        start, moved = self.networks(theta, 1), torch.empty_like(theta)

        def mean(now: Tensor, before: Tensor) -> Tensor:
            now = now.view(runs, clients, *now.shape[1:])
            return torch.einsum("rm,rm...->r...", weights, now - before[:, None])

        targets = self.split(moved)
        for i, layer in enumerate(self.layers):
            rows = mean(networks.weights[i], start.weights[i])
            if layer.taps == 1:
                used = targets[4 * i][0, 0].numel()
                turned = rows[:, :used].transpose(1, 2).reshape(targets[4 * i].shape)
            else:
                shape = (runs, 9, layer.inward, layer.outward)
                turned = rows.view(shape).permute(0, 3, 2, 1).reshape(targets[4 * i].shape)
            targets[4 * i].copy_(turned)
            gamma, beta, bias = mean(networks.small[i], start.small[i]).unbind(1)
            for target, found in zip(targets[4 * i + 1 : 4 * i + 4], (bias, gamma, beta), strict=True):
                target.copy_(found)
        head = mean(networks.head, start.head)
        targets[-2].copy_(head[..., :-1])
        targets[-1].copy_(head[..., -1])
        return moved


def _rows(weight: Tensor, layer: Layer) -> Tensor:
    """(runs, outward, inward, 3, 3) as the kernels have it: rows by tap and channel, columns by output."""
    if layer.taps == 1:
        rows = weight.reshape(len(weight), layer.outward, -1).transpose(1, 2)
        return F.pad(rows, (0, 0, 0, layer.inward - rows.shape[1])).contiguous()
    return weight.flatten(3).permute(0, 3, 2, 1).reshape(len(weight), -1, layer.outward)
