"""The data sets: `load(name, data_dir)` reads standard files that a user has, and checks what it can.

Nothing is downloaded, unpacked to disk or executed. A file as long as the published one must have its digest;
a shorter one of the same structure is a subset and is taken as it is (`Dataset.digest` tells them apart).
Whatever is missing, truncated, corrupt or something else is one `SettingError`.
"""

from __future__ import annotations

import os

from empirics.data import cifar10, digits, imagenette, mnist
from empirics.data.dataset import Dataset
from theory.setting import SettingError

__all__ = ["NAMES", "Dataset", "load"]

NAMES = ("digits", "mnist", "cifar10", "imagenette")


def load(name: str, data_dir: str | os.PathLike[str] | None = None, *, size: int | None = None) -> Dataset:
    """The data set `name`, from the files in `data_dir` or in the usual folders below it.

    `digits` needs no files. `size`, for `imagenette` alone, is the images' side in pixels, by default 160.

    >>> load("digits").train_x.shape
    (1442, 1, 8, 8)
    """
    if size is not None and name != "imagenette":
        raise SettingError(f"size applies to imagenette alone: the images of {name} are used as they are")
    try:
        match name:
            case "digits":
                return digits.load()
            case "mnist":
                return mnist.load(data_dir)
            case "cifar10":
                return cifar10.load(data_dir)
            case "imagenette":
                return imagenette.load(data_dir, imagenette.SIDE if size is None else size)
    except OSError as error:  # a folder that may not be looked into
        raise SettingError(f"{data_dir} cannot be read ({error.strerror or error})") from error
    raise SettingError(f"there is no data set {name!r}: choose one of {', '.join(NAMES)}")
