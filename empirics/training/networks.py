"""Networks that a study may name: LeNet for grey images, ResNet-9 for coloured ones.

Neither has buffers: what a federation averages is parameters alone, so ResNet-9 normalises by groups.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from empirics.training.model import Population
from theory.setting import SettingError

__all__ = ["NETWORKS", "lenet", "resnet9"]

NORM_GROUPS = 32
RESNET_PIXELS_MIN = 8  # pixels that ResNet-9 can halve three times


def _images(population: Population, network: str, channels: tuple[int, ...]) -> tuple[int, int, int]:
    """Channels, height and width of the inputs; grey images may come without a channel."""
    shape = tuple(population.x.shape[1:])
    found = (1, *shape) if len(shape) == 2 else shape
    if len(found) != 3 or found[0] not in channels:
        wanted = " or ".join(map(str, channels))
        raise SettingError(
            f"{network} takes images of {wanted} channels, got inputs of shape {tuple(shape)}: take another model, "
            "such as logistic"
        )
    return found[0], found[1], found[2]


def _channelled(population: Population) -> list[nn.Module]:
    """A layer that gives grey images their channel axis."""
    return [nn.Unflatten(1, (1, population.x.shape[1]))] if population.x.ndim == 3 else []


def lenet(population: Population) -> nn.Module:
    """Two convolutions of 5 x 5 with maximum pooling, three linear layers: 61,706 parameters on MNIST."""
    channels, height, width = _images(population, "lenet", (1, 3))
    sides = [(side // 2 - 4) // 2 for side in (height, width)]
    if min(sides) < 1:
        raise SettingError(f"lenet takes images of at least 12 x 12 pixels, got {height} x {width}")
    return nn.Sequential(
        *_channelled(population),
        nn.Conv2d(channels, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * sides[0] * sides[1], 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, population.classes),
    )


def _block(inward: int, outward: int, *, pool: bool = False) -> nn.Sequential:
    layers = [nn.Conv2d(inward, outward, 3, padding=1), nn.GroupNorm(NORM_GROUPS, outward), nn.Mish()]
    return nn.Sequential(*layers, *([nn.MaxPool2d(2)] if pool else []))


class Residual(nn.Module):
    """x plus two blocks of x."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(_block(width, width), _block(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.as_tensor(self.blocks(x))


def resnet9(population: Population) -> nn.Module:
    """Eight convolutions of 3 x 3 with GroupNorm and Mish, two of them pairs in residual blocks: 6.58 million."""
    channels, height, width = _images(population, "resnet9", (1, 3))
    if min(height, width) < RESNET_PIXELS_MIN:
        raise SettingError(
            f"resnet9 takes images of at least {RESNET_PIXELS_MIN} x {RESNET_PIXELS_MIN} pixels, got {height} x {width}"
        )
    return nn.Sequential(
        *_channelled(population),
        _block(channels, 64),
        _block(64, 128, pool=True),
        Residual(128),
        _block(128, 256, pool=True),
        _block(256, 512, pool=True),
        Residual(512),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, population.classes),
    )


NETWORKS: dict[str, Callable[[Population], nn.Module]] = {"lenet": lenet, "resnet9": resnet9}
