"""MNIST from its four IDX files, gzipped or not."""

import hashlib
import math
import os
import struct
from pathlib import Path

import numpy as np

from empirics.data.dataset import Dataset, Images, Labels, Pixels, scaled
from empirics.data.files import corrupt, first_file, opened, places
from theory.setting import SettingError

__all__ = ["load"]

CLASSES = 10
SIDE = 28
UNSIGNED_BYTE = 8  # the type code of an IDX header

# SHA-256 of the unpacked originals, from the .gz files with the MD5 digests that torchvision checks
COMPLETE = {
    "train-images-idx3-ubyte": (60_000, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    "train-labels-idx1-ubyte": (60_000, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    "t10k-images-idx3-ubyte": (10_000, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    "t10k-labels-idx1-ubyte": (10_000, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
}
WANTED = (
    f"put the four files of the MNIST database, {', '.join(f'{name}.gz' for name in COMPLETE)} "
    "(or unpacked, without .gz), into it or into MNIST/raw below it, where torchvision puts them"
)


def load(data_dir: str | os.PathLike[str] | None) -> Dataset:
    """MNIST; images and labels are checked against the published files wherever they claim to be complete."""
    for place in places("mnist", WANTED, data_dir, "MNIST/raw", "raw", "mnist"):
        found = {name: path for name in COMPLETE if (path := first_file(place, name, ".gz"))}
        if len(found) == len(COMPLETE):
            return Dataset.of("mnist", _split(found, "train"), _split(found, "t10k"), CLASSES)
        if found:
            missing = " and ".join(f"{name}.gz" for name in COMPLETE if name not in found)
            raise SettingError(f"{place} holds a part of MNIST only: {missing} should be in it too")
    raise SettingError(f"there is no MNIST in {data_dir}: {WANTED}")


def _split(paths: dict[str, Path], split: str) -> tuple[Images, Labels]:
    images, labels = f"{split}-images-idx3-ubyte", f"{split}-labels-idx1-ubyte"
    x = _idx(paths[images], images, SIDE, SIDE)
    y = _idx(paths[labels], labels)
    if len(x) != len(y):
        raise SettingError(
            f"{paths[images]} has {len(x)} images, {paths[labels]} {len(y)} labels: get both again"
        )
    if y.max() >= CLASSES:
        raise corrupt(paths[labels], f"MNIST's labels are 0 … 9, it has a {y.max()}")
    return scaled(x[:, None]), y.astype(np.int64)


def _idx(path: Path, name: str, *sides: int) -> Pixels:
    """The array of an IDX file: zero, zero, type, number of dimensions, the dimensions, the items."""
    most, published = COMPLETE[name]
    dimensions = 1 + len(sides)
    with opened(path) as stream:
        header = stream.read(4 + 4 * dimensions)
        if len(header) < 4 + 4 * dimensions or header[:4] != bytes((0, 0, UNSIGNED_BYTE, dimensions)):
            raise corrupt(path, f"it does not begin like an IDX file of bytes in {dimensions} dimension(s)")
        shape = struct.unpack(f">{dimensions}I", header[4:])
        if shape[1:] != sides or not 0 < shape[0] <= most:
            right = (f"1 … {most}", *sides)
            raise corrupt(path, f"it says that it has {_times(shape)} items instead of {_times(right)}")
        # one byte more than there should be, so that the end, and with it the checksum, is reached
        items = stream.read(math.prod(shape) + 1)
    if len(items) != math.prod(shape):
        raise corrupt(path, f"it does not have the {_times(shape)} items that it says")
    if shape[0] == most and hashlib.sha256(header + items).hexdigest() != published:
        raise SettingError(
            f"{path} has as many items as MNIST's file but other content: it is corrupt, or of another data "
            "set with the same file names, such as Fashion-MNIST"
        )
    return np.frombuffer(items, np.uint8).reshape(shape)


def _times(shape: tuple[object, ...]) -> str:
    return " × ".join(map(str, shape))
