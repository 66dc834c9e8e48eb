"""Tiles of a layer for the kernels: the work of one program, and its warps."""

from dataclasses import dataclass

import torch

__all__ = ["Layer", "between", "convolution", "descent"]


@dataclass(frozen=True)
class Layer:
    """A convolution with its norm, Mish and pooling; `skip` is the layer whose result is added to its own."""

    inward: int
    outward: int
    height: int
    width: int
    pool: int = 1
    skip: int | None = None
    taps: int = 9

    @property
    def pixels(self) -> int:
        return self.height * self.width

    @property
    def outputs(self) -> int:
        return self.pixels // self.pool**2


def _tile(rows: int, columns: int, depth: int, warps: int, stages: int) -> dict[str, int]:
    return {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth, "num_warps": warps, "num_stages": stages}


def convolution(inward: int, outward: int, dtype: torch.dtype) -> dict[str, int]:
    """Tiles of a convolution; measured best, layer by layer, on an H200 with 400 networks of 20 images of 32 x 32."""
    if dtype == torch.float32:
        return _tile(128, min(outward, 128), min(inward, 32), 8, 3)
    columns = min(outward, 256)
    warps, stages = {64: (4, 4), 128: (4, 3), 256: (8, 3)}[columns]
    return _tile(128, columns, min(inward, 64), warps, stages)


def descent(layer: Layer, dtype: torch.dtype) -> dict[str, int]:
    """Tiles of a step of descent, likewise."""
    rows = min(layer.inward, 128)
    if dtype == torch.float32:
        return _tile(rows, min(layer.outward, 128), 32, 8, 3)
    wide = layer.inward in (128, 256) and layer.outward >= 256
    depth, stages = (128, 4) if layer.taps == 1 else (64, 3)
    return _tile(rows, min(layer.outward, 256 if wide else 128), depth, 8 if wide else 4, stages)


def between(layer: Layer) -> tuple[int, int, int]:
    """Tiles of the passes between: outputs and channels at a time, and warps. All outputs at once where they fit."""
    most = 16384 // layer.pool**2
    block = min(max(8192 // layer.pixels, 16), layer.outward)
    block = 1 << (block.bit_length() - 1)
    whole = layer.outputs * block <= most and layer.outputs & (layer.outputs - 1) == 0
    chunk = layer.outputs if whole else max(4096 // (block * layer.pool**2), 1)
    return chunk, block, 8 if chunk * layer.pool**2 * block > 8192 else 4
