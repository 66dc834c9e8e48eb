"""Imagenette (160 px) from its folder of images, or from the archive, read without unpacking it."""

import hashlib
import io
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from empirics.data.dataset import Dataset, Images, Labels, Pixels
from empirics.data.files import brief, content, corrupt, members, places
from theory.setting import SettingError

__all__ = ["SIDE", "load"]

SIDE = 160  # pixels of the images' shorter side
FOLDER = "imagenette2-160"
ARCHIVES = (f"{FOLDER}.tgz", f"{FOLDER}.tar.xz")
SPLITS = ("train", "val")
CLASSES = (
    "n01440764",  # tench
    "n02102040",  # English springer
    "n02979186",  # cassette player
    "n03000684",  # chain saw
    "n03028079",  # church
    "n03394916",  # French horn
    "n03417042",  # garbage truck
    "n03425413",  # gas pump
    "n03445777",  # golf ball
    "n03888257",  # parachute
)
COMPLETE = 9_469 + 3_925  # images of the published archive, whose MD5 this is:
PUBLISHED = "e793b78cc4c9e9a4ccc0c1155377a412"
IMAGE_BYTES_MAX = 1 << 24  # bytes of one image file; the published ones have a few thousand
WANTED = (
    f"put fast.ai's Imagenette, 160 px version, into it: {FOLDER}.tgz, or unpacked the folder {FOLDER} with "
    "train/n01440764/*.JPEG and so on, ten classes each in train and val"
)
IMAGE = re.compile(r"(?:train|val)/[^/]+/[^/.][^/]*\.(?:JPE?G|jpe?g)")  # and no hidden files


def load(data_dir: str | os.PathLike[str] | None, size: int = SIDE) -> Dataset:
    """Imagenette, by class in the order of the WordNet names, then by file name.

    Of an image the largest centred square is taken and resized to `size` × `size` by PIL's bilinear filter,
    which averages over all pixels when it shrinks.
    """
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= SIDE:
        raise SettingError(f"size must be a whole number of pixels from 1 to {SIDE}, got {size!r}")
    for place in places("imagenette", WANTED, data_dir, "imagenette"):
        for folder in (place / FOLDER, place):
            if all((folder / split).is_dir() for split in SPLITS):
                return _assembled(folder, _from_folder(folder), size)
        for archive in (place / name for name in ARCHIVES):
            if archive.is_file():
                found = _assembled(archive, _from_archive(archive), size)
                _confirm(archive, len(found.train_y) + len(found.test_y))
                return found
    raise SettingError(f"there is no Imagenette in {data_dir}: {WANTED}")


def _from_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for split in SPLITS:
        for path in sorted((folder / split).glob("*/*")):
            name = path.relative_to(folder).as_posix()
            if IMAGE.fullmatch(name):
                yield name, content(path, IMAGE_BYTES_MAX)


def _from_archive(archive: Path) -> Iterator[tuple[str, bytes]]:
    def wanted(name: str) -> bool:
        return name.startswith(inside) and IMAGE.fullmatch(name, len(inside)) is not None

    inside = f"{FOLDER}/"
    for name, written in members(archive, wanted, IMAGE_BYTES_MAX):
        yield name.removeprefix(inside), written


def _confirm(archive: Path, images: int) -> None:
    """Refuses a complete archive in the published form that is not the published one."""
    if images == COMPLETE and archive.suffix == ".tgz":
        with archive.open("rb") as stream:
            found = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if found != PUBLISHED:
            raise corrupt(archive, f"it has as many images as the published archive but MD5 {found}")


def _assembled(source: Path, files: Iterator[tuple[str, bytes]], size: int) -> Dataset:
    decoded: dict[str, dict[tuple[int, str], Pixels]] = {split: {} for split in SPLITS}
    for name, written in files:
        split, wnid, file = name.split("/")
        if wnid not in CLASSES:
            raise SettingError(f"{source} is not Imagenette: it has a class {brief(wnid)!r}, {WANTED}")
        decoded[split][CLASSES.index(wnid), file] = _decoded(f"{source}'s {brief(name)!r}", written, size)
    for split, images in decoded.items():
        labels = {label for label, _ in images}
        if missing := [wnid for label, wnid in enumerate(CLASSES) if label not in labels]:
            raise SettingError(
                f"{source} is not all of Imagenette: {split} has no *.JPEG of {', '.join(missing)}"
            )
    train, test = (_split(images, size) for images in decoded.values())
    return Dataset.of("imagenette", train, test, len(CLASSES))


def _decoded(source: str, written: bytes, size: int) -> Pixels:
    """The pixels `(3, size, size)` of a JPEG."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(written), formats=("JPEG",)) as image:
                square = ImageOps.fit(image.convert("RGB"), (size, size), Image.Resampling.BILINEAR)
    except Exception as error:  # a decoder may raise anything on a damaged file
        raise corrupt(source, "it is no whole JPEG") from error
    return np.asarray(square).transpose(2, 0, 1)


def _split(images: dict[tuple[int, str], Pixels], size: int) -> tuple[Images, Labels]:
    x = np.empty((len(images), 3, size, size), np.float32)
    keys = sorted(images)
    for row, key in zip(x, keys, strict=True):
        np.divide(images.pop(key), np.float32(255), out=row)  # popped: the set is large, and needed once
    return x, np.array([label for label, _ in keys], np.int64)
