"""The data sets: `as_dataset` takes the name of one, a file, or arrays of the user's own.

`load(name, data_dir)` reads standard files that a user has, and checks what it can.

Nothing is downloaded, unpacked to disk or executed. A file as long as the published one must have its digest;
a shorter one of the same structure is a subset and is taken as it is (`Dataset.digest` tells them apart).
Missing, truncated, corrupt or foreign files raise one `SettingError`.

| module | holds |
| --- | --- |
| `dataset` | a data set in memory, with its digest |
| `digits`, `mnist`, `cifar10`, `imagenette` | the standard ones |
| `table`, `csv_format` | CSV and Parquet: cells, labels, times, clients; separators and decimal marks |
| `npz`, `arrays` | a file of arrays; arrays, tensors and data sets of torch |
| `files`, `pickled` | finding and reading files; a pickle read without running it |
"""

import os
from collections.abc import Mapping
from typing import Any

from empirics.data import cifar10, digits, imagenette, mnist
from empirics.data.arrays import from_arrays, from_mapping, from_torch
from empirics.data.dataset import Dataset
from empirics.data.npz import read_npz
from empirics.data.table import Columns, from_table, is_table, read_table
from empirics.settings.dataset_name import BUILT_IN, NPZ, TABLES
from empirics.settings.study import GIVEN, Study
from theory.setting import SettingError

__all__ = ["Columns", "Dataset", "as_dataset", "data_of", "from_arrays", "from_mapping", "from_table"]
__all__ += ["from_torch", "load"]

FILES = "npz:FILE, csv:FILE or parquet:FILE"


def load(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    size: int | None = None,
    columns: Columns | None = None,
) -> Dataset:
    """The data set `name`, from the files in `data_dir` or in the usual folders below it.

    `digits` needs no files, and `npz:FILE`, `csv:FILE` and `parquet:FILE` are files of the user's own, wherever they
    lie; `columns` says what the columns of the last two are. `size`, for `imagenette` alone, is the images' side in
    pixels, by default 160.

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
            case str() if name.startswith(NPZ):
                samples = read_npz(name)
            case str() if name.startswith(TABLES):
                samples = read_table(name, columns or Columns())
            case _:
                raise SettingError(
                    f"there is no data set {name!r}: choose one of {', '.join(BUILT_IN)} or {FILES}"
                )
    except OSError as error:  # a folder that may not be looked into
        raise SettingError(f"{data_dir} cannot be read ({error.strerror or error})") from error
    return samples.dataset(name)


def as_dataset(
    thing: Any, data_dir: str | os.PathLike[str] | None = None, columns: Columns | None = None
) -> Dataset:
    """The data set of a name that `load` knows, of arrays or of torch's data sets; one that is ready stays as it is.

    >>> as_dataset(([[0], [1], [2], [3], [4], [5]], [0, 1, 0, 1, 0, 1])).train_y.shape
    (5,)
    """
    if isinstance(thing, str):
        return load(thing, data_dir, columns=columns)
    if is_table(thing):
        raise SettingError(
            "a table needs its columns named: hand over empirics.from_table(table, label=COLUMN) in its place"
        )
    match thing:
        case Dataset():
            return thing
        case Mapping():
            return from_mapping(thing)
        case ((_, _) as train, (_, _) as test):  # no pair (x, y): two samples are too few to hold one out
            return from_arrays(*train, *test)
        case (x, y) if _is_array(x) and _is_array(y):
            return from_arrays(x, y)
        case (x, y, test_x, test_y):
            return from_arrays(x, y, test_x, test_y)
        case (train, test) if not _is_array(train) and not _is_array(test):
            return from_torch(train, test)
    if hasattr(thing, "__getitem__") and not _is_array(thing):
        return from_torch(thing)
    raise SettingError(
        f"a data set is one of {', '.join(BUILT_IN)} or {FILES}, arrays (x, y) or (x, y, test_x, test_y), a mapping "
        f"with these names, or one or two of torch's map-style data sets, got {type(thing).__name__}"
    )


def data_of(study: Study, data_dir: str | os.PathLike[str] | None = None, given: Any = None) -> Dataset:
    """The data set that a study names, or the one given in its place."""
    if given is None and study.dataset.startswith(GIVEN):
        raise SettingError(
            f"the data set {study.dataset!r} was handed over in Python: call run_study with dataset= again"
        )
    return as_dataset(study.dataset if given is None else given, data_dir, Columns.of(study))


def _is_array(thing: Any) -> bool:
    """NumPy can read it: a list, or what offers itself as an array, as tensors and data frames do."""
    return isinstance(thing, list | tuple) or hasattr(thing, "__array__")
