"""A table of samples, a CSV or a Parquet file: a row a sample, with label and features, perhaps time and client.

Every column is a feature but those that are named otherwise. Labels and clients may be words. Times are numbers, dates
or moments as ISO 8601 spells them, and become seconds. Arrow reads the file; what it cannot read, or what is no number
where one is needed, is one sentence with the column and the row.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.data.arrays import CLIENT, TIME, assembled, seconds_of
from empirics.data.dataset import Dataset
from empirics.data.files import brief, memory
from theory.setting import SettingError

__all__ = ["CSV", "PARQUET", "Columns", "load"]

CSV, PARQUET = "csv:", "parquet:"
WANTED = "it should be a table with a sample in each row, its columns named in the first line"
HUNGER = 4  # bytes of memory for a byte of a table, about
SHOWN = 10  # names of columns in a sentence


@dataclass(frozen=True)
class Columns:
    """The names of the columns that are no features."""

    label: str | None = None
    time: str | None = None
    client: str | None = None


def load(name: str, columns: Columns) -> Dataset:
    """The data set of `csv:FILE` or `parquet:FILE`; a relative FILE is looked for in the working directory."""
    kind = next(prefix for prefix in (CSV, PARQUET) if name.startswith(prefix))
    if not name.removeprefix(kind):
        raise SettingError(f"{kind} needs the name of a file, such as {kind}mine.{kind[:-1]}: {WANTED}")
    path = Path(os.path.expanduser(name.removeprefix(kind)))
    table = _table(path, _read_csv if kind == CSV else _read_parquet)
    special = _found(path, table.column_names, columns)
    features = [column for column in table.column_names if column not in special.values()]
    if not table.num_rows:
        raise SettingError(f"{path} holds no sample: {WANTED}")
    if not features:
        raise SettingError(
            f"{path} has no feature: it should have a column besides {', '.join(special.values())}"
        )
    arrays: dict[str, Any] = {
        "x": np.stack([_numbers(path, column, table[column]) for column in features], axis=1),
        "y": _kinds(path, special["label"], table[special["label"]]),
    }
    if "time" in special:
        arrays[TIME] = _times(path, special["time"], table[special["time"]])
    if "client" in special:
        arrays[CLIENT] = _kinds(path, special["client"], table[special["client"]])
    return assembled(name, arrays, where=f"{path}: ")


# --- files -------------------------------------------------------------------------------------------------


def _table(path: Path, read: Callable[[Path, Any], Any]) -> Any:
    import pyarrow as pa

    try:
        if path.exists() and not path.is_file():  # a pipe or a device may have no end
            raise SettingError(f"{path} is not a plain file: {WANTED}")
        with path.open("rb") as stream:
            return read(path, stream)
    except SettingError:
        raise
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror or brief(error)}): {WANTED}") from error
    except (pa.ArrowException, ValueError, MemoryError) as error:
        raise SettingError(f"{path} cannot be read as a table ({brief(error)}): {WANTED}") from error


def _read_csv(path: Path, stream: Any) -> Any:
    from pyarrow import csv

    _refuse_flood(path, HUNGER * os.fstat(stream.fileno()).st_size)
    return csv.read_csv(stream, csv.ReadOptions(use_threads=False))


def _read_parquet(path: Path, stream: Any) -> Any:
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    groups = (file.metadata.row_group(k) for k in range(file.num_row_groups))
    _refuse_flood(path, HUNGER * sum(group.total_byte_size for group in groups))
    return file.read(use_threads=False)


def _refuse_flood(path: Path, needed: int) -> None:
    if needed > memory():
        raise SettingError(
            f"{path} needs {needed:.2g} bytes of memory, and there are {memory():.2g}: take a part of it"
        )


# --- columns -----------------------------------------------------------------------------------------------


def _found(path: Path, names: list[str], columns: Columns) -> dict[str, str]:
    """The columns that were named, if each is there once; a label has to be."""
    listed = ", ".join(repr(brief(name)) for name in names[:SHOWN])
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SettingError(f"{path} has two columns {brief(twice)!r}: {WANTED}")
    if columns.label is None:
        raise SettingError(
            f"{path} needs its column of labels named, by --label or label_column: it has {listed}"
        )
    found = {role: name for role, name in vars(columns).items() if name is not None}
    for role, name in found.items():
        if name not in names:
            raise SettingError(f"{path} has no column {brief(name)!r} for the {role}: it has {listed}")
    if len(set(found.values())) < len(found):
        raise SettingError(
            f"label, time and client are to be different columns, got {', '.join(found.values())}"
        )
    return found


def _whole(path: Path, name: str, column: Any) -> Any:
    """Without gaps."""
    if column.null_count:
        row = column.is_null().index(True).as_py() + 1
        raise SettingError(
            f"{path}, column {brief(name)!r}, is empty in row {row}: fill it, or leave the row out"
        )
    return column


def _numbers(path: Path, name: str, column: Any) -> NDArray[np.float64]:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        column, kind = column.cast(pa.float64()), pa.float64()
    if not (types.is_integer(kind) or types.is_floating(kind)):
        text = types.is_string(kind) or types.is_large_string(kind)
        row, value = _first_text(column.to_pylist()) if text else (1, column[0].as_py())
        raise SettingError(
            f"{path}, column {brief(name)!r}, is a feature and holds {brief(value)!r} in row {row}: make it numbers, "
            "or leave the column out"
        )
    found: NDArray[np.float64] = _whole(path, name, column).to_numpy().astype(np.float64)
    if not (good := np.isfinite(found)).all():
        row = int(np.argmin(good))
        raise SettingError(
            f"{path}, column {brief(name)!r}, has {found[row]} in row {row + 1}: expected a finite number"
        )
    return found


def _first_text(values: list[Any]) -> tuple[int, Any]:
    """The first row, counted from 1, whose value is no number."""
    for row, value in enumerate(values, start=1):
        try:
            float(value)
        except (TypeError, ValueError):
            return row, value
    return 1, values[0]


def _kinds(path: Path, name: str, column: Any) -> NDArray[Any]:
    """Whole numbers as they are, and words by their place in the alphabet."""
    from pyarrow import types

    kind = _whole(path, name, column).type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        found: NDArray[Any] = column.to_numpy()
        return found
    if types.is_binary(kind) or types.is_large_binary(kind):
        raise SettingError(f"{path}, column {brief(name)!r}, is not text in UTF-8: write it anew")
    words = [str(value) for value in column.to_pylist()]
    if "" in words:
        raise SettingError(f"{path}, column {brief(name)!r}, is empty in row {words.index('') + 1}: fill it")
    return np.unique(words, return_inverse=True)[1]


def _times(path: Path, name: str, column: Any) -> NDArray[np.float64]:
    """Numbers as they are, dates and moments in seconds."""
    import pyarrow as pa
    from pyarrow import types

    kind = _whole(path, name, column).type
    if types.is_timestamp(kind) or types.is_date(kind):
        return seconds_of(column.cast(pa.timestamp("us")).to_numpy())
    if not types.is_string(kind) and not types.is_large_string(kind):
        return _numbers(path, name, column)
    values = column.to_pylist()
    row, words = _first_text(values)
    if row == 1:
        found = [_seconds(one) for one in values]
        if None not in found:
            return np.array(found)
        row = found.index(None) + 1
        words = values[row - 1]
    raise SettingError(
        f"{path}, column {brief(name)!r}, has {brief(words)!r} in row {row}: all times are to be numbers, or all dates "
        "such as 2026-03-29 or 2026-03-29T12:30:00"
    )


def _seconds(words: str) -> float | None:
    """A date or a moment, of Greenwich if it does not say; None for what is neither."""
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
