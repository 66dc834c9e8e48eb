"""A table of samples: one row per sample, with label and features, perhaps time and client.

It is a CSV or a Parquet file, or what is handed over in Python: a data frame, an Arrow table, a data set of Hugging
Face. Every column is a feature except those named otherwise and the index of a data frame; or one column has a list
of numbers per sample. Labels and clients may be words. Times are numbers, or dates and timestamps of ISO 8601, which
become seconds. Whatever Arrow cannot read, or is no number where one is needed, is refused with its column and row.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.data.arrays import CLIENT, TIME, Samples
from empirics.data.csv_format import AMBIGUOUS, DECIMAL, ambiguous_number, is_decimal, separator
from empirics.data.dataset import Dataset
from empirics.data.files import brief, refuse_flood, refuse_special
from empirics.settings.dataset_name import CSV, TABLES
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["Columns", "from_table", "is_table", "read_table"]

WANTED = "it should be a table with a sample in each row, its columns named in the first line"
MEMORY_PER_FILE = 4  # bytes per byte of a table, about
NAMES_SHOWN = 10  # columns in a sentence


@dataclass(frozen=True)
class Columns:
    """The names of the columns that are no features."""

    label: str | None = None
    time: str | None = None
    client: str | None = None

    @classmethod
    def of(cls, study: Study) -> Self:
        return cls(study.label_column, study.time_column, study.client_column)


def read_table(name: str, columns: Columns) -> Samples:
    """The samples of `csv:FILE` or `parquet:FILE`; a relative FILE is looked for in the working directory."""
    kind = next(prefix for prefix in TABLES if name.startswith(prefix))
    if not name.removeprefix(kind):
        raise SettingError(f"{kind} needs the name of a file, such as {kind}mine.{kind[:-1]}: {WANTED}")
    path = Path(os.path.expanduser(name.removeprefix(kind)))
    table = _table(path, partial(_read_csv, columns=columns) if kind == CSV else _read_parquet)
    return _samples({"": (str(path), table)}, columns)


def from_table(
    table: Any, test: Any = None, *, label: str, time: str | None = None, client: str | None = None
) -> Dataset:
    """The data set of a table: a data frame, an Arrow table or a data set of Hugging Face, by its columns.

    A mapping of two splits, `train` and `test`, is taken apart. Without a test set every fifth sample is held out.

    >>> import pyarrow as pa
    >>> from_table(pa.table({"size": [1, 2, 3, 4, 5, 6], "kind": ["a", "b"] * 3}), label="kind").class_names
    ('a', 'b')
    """
    if isinstance(table, Mapping) and "train" in table and test is None:
        table, test = table["train"], table.get("test")
    tables = {"": ("the table", _arrow("the table", table))}
    if test is not None:
        tables["test_"] = ("the test table", _arrow("the test table", test))
    return _samples(tables, Columns(label, time, client), _names_of(table, label)).dataset("table")


def is_table(thing: Any) -> bool:
    """True if it has columns by name, as Arrow or Hugging Face has them."""
    return hasattr(thing, "__arrow_c_stream__") or hasattr(thing, "with_format")


def _samples(
    tables: Mapping[str, tuple[str, Any]], columns: Columns, named: Sequence[str] | None = None
) -> Samples:
    """The samples of a table, or of two: the second is the test set, with the features of the first."""
    arrays: dict[str, Any] = {}
    places, found, features = [], [], list[str]()
    for prefix, (path, table) in tables.items():
        special = _found(path, table.column_names, columns)
        own = [one for one in table.column_names if one not in (*special.values(), *_index(table))]
        if not table.num_rows:
            raise SettingError(f"{path} holds no sample: {WANTED}")
        if not own:
            raise SettingError(
                f"{path} has no feature: it should have a column besides {', '.join(special.values())}"
            )
        features = features or own
        if set(own) != set(features):
            raise SettingError(
                f"{path} should have the features {', '.join(map(brief, features[:NAMES_SHOWN]))}, as training has"
            )
        arrays[f"{prefix}x"] = _features(path, features, table)
        places.append(f"{prefix}y")
        found.append(_kinds(path, special["label"], table[special["label"]]))
        if not prefix and "time" in special:
            arrays[TIME] = _times(path, special["time"], table[special["time"]])
        if not prefix and "client" in special:
            arrays[CLIENT] = _numbered([_kinds(path, special["client"], table[special["client"]])])[0][0]
    if named is not None:
        _refuse_unnamed(tables, found, len(named))
    numbered, words = _numbered(found)
    arrays |= dict(zip(places, numbered, strict=True))
    return Samples(arrays, where=f"{tables[''][0]}: ", words=words or named)


def _refuse_unnamed(
    tables: Mapping[str, tuple[str, Any]], labels: Sequence[NDArray[Any]], names: int
) -> None:
    for (path, _), each in zip(tables.values(), labels, strict=True):
        if each.dtype.kind in "iu" and (outside := each[(each < 0) | (each >= names)]).size:
            raise SettingError(
                f"{path} has the label {outside[0]}, and names for 0 to {names - 1}: leave out samples without a label"
            )


# --- tables that are handed over ---------------------------------------------------------------------------


def _arrow(what: str, thing: Any) -> Any:
    """The table as Arrow has it; a data set of Hugging Face in the order of its samples."""
    import pyarrow as pa

    if isinstance(thing, Mapping) or not is_table(thing):
        kinds = "a data frame, an Arrow table, or a data set of Hugging Face or two, train and test"
        raise SettingError(f"{what} must be {kinds}, got {type(thing).__name__}")
    try:
        if not hasattr(thing, "with_format"):
            return pa.table(thing)
        if not hasattr(thing, "__len__"):
            raise SettingError(
                f"{what} is a stream of samples and is not read to its end: take a part of it, such as "
                "datasets.Dataset.from_list(list(stream.take(10_000)))"
            )
        return thing.with_format("arrow")[:]
    except SettingError:
        raise
    except Exception as error:  # a user's conversion may raise anything
        raise SettingError(f"{what} cannot be read as a table ({brief(error)})") from error


def _names_of(table: Any, label: str) -> Sequence[str] | None:
    """Names of the classes 0, 1, … of a data set of Hugging Face, if any."""
    features = getattr(table, "features", None)
    found = getattr(features.get(label), "names", None) if isinstance(features, Mapping) else None
    return found if isinstance(found, list) else None


def _index(table: Any) -> list[Any]:
    """The columns that were a data frame's index, and no features: names, or the range that is not stored as one."""
    return list((table.schema.pandas_metadata or {}).get("index_columns", []))


# --- files -------------------------------------------------------------------------------------------------


def _table(path: Path, read: Callable[[Path, Any], Any]) -> Any:
    import pyarrow as pa

    try:
        refuse_special(path, WANTED)
        with path.open("rb") as stream:
            return read(path, stream)
    except SettingError:
        raise
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror or brief(error)}): {WANTED}") from error
    except (pa.ArrowException, ValueError, MemoryError) as error:
        raise SettingError(f"{path} cannot be read as a table ({brief(error)}): {WANTED}") from error


def _read_csv(path: Path, stream: Any, columns: Columns) -> Any:
    """A table without the spaces beside commas, and without what a spreadsheet has beyond its last column and row."""
    import pyarrow as pa
    from pyarrow import csv

    refuse_flood(path, MEMORY_PER_FILE * os.fstat(stream.fileno()).st_size)
    try:
        while (first := stream.readline()).isspace():
            pass
        between = separator(first.decode())
    except UnicodeDecodeError:
        raise SettingError(f"{path} is not text in UTF-8: write it anew") from None
    reading, parsing = csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter=between)
    stream.seek(0)
    headings = csv.open_csv(stream, reading, parsing).schema.names
    stream.seek(0)
    untyped = csv.ConvertOptions(
        column_types=dict.fromkeys(headings, pa.binary())
    )  # types are told by the whole
    found = csv.read_csv(stream, reading, parsing, untyped)
    names = [name.strip() for name in headings]
    used = [k for k, one in enumerate(found.columns) if names[k] or any(map(_filled, one))]
    rows = found.num_rows
    while rows and not any(_filled(found[k][rows - 1]) for k in used):
        rows -= 1
    found = found.slice(0, rows)
    exact = (columns.label, columns.client)
    marked = {names[k]: found[k] for k in used if between != "," and names[k] not in exact}
    marks = _decimal_marks(path, marked, between)
    return pa.table([_typed(found[k], marks.get(names[k], ".")) for k in used], [names[k] for k in used])


def _filled(cell: Any) -> bool:
    return bool(cell.as_py().strip())


def _words(column: Any) -> tuple[Any, Any] | None:
    """The cells without spaces around them, and once more with null for missing ones; None unless in UTF-8."""
    import pyarrow as pa
    from pyarrow import compute, csv

    try:
        words = compute.utf8_trim_whitespace(column.cast(pa.string()))
    except pa.ArrowInvalid:
        return None
    missing = compute.is_in(words, pa.array(csv.ConvertOptions().null_values))
    return words, compute.if_else(missing, None, words)


def _decimal_marks(path: Path, columns: Mapping[str, Any], between: str) -> dict[str, str]:
    """The decimal mark of each column of numbers; an ambiguous number is refused unless others decide."""
    from pyarrow import compute

    marks, certain, doubtful = {}, set[str](), dict[str, tuple[int, str]]()
    for name, column in columns.items():
        if (words := _words(column)) is None:
            continue
        given = words[1]
        if compute.any(compute.match_substring(given, ".")).as_py():
            mark = "."
        elif compute.any(compute.match_substring(given, ",")).as_py():
            mark = ","
        else:
            continue
        marks[name] = mark
        number = compute.match_substring_regex(given, DECIMAL[mark])
        unclear = compute.match_substring_regex(given, AMBIGUOUS[mark])
        if compute.any(compute.and_not(number, unclear)).as_py():
            certain.add(mark)
        elif compute.any(unclear).as_py() and str(_typed(column, mark).type) == "double":
            row = unclear.index(True).as_py()
            doubtful[name] = row + 1, given[row].as_py()
    for name, (row, cell) in doubtful.items():
        if not is_decimal(marks[name], between, certain):
            raise ambiguous_number(f"{path}, column {brief(name)!r}, row {row}", cell)
    return marks


def _typed(column: Any, mark: str) -> Any:
    """Whole numbers, true and false, or numbers with this decimal mark, if all cells are; else words without spaces
    around them."""
    import pyarrow as pa
    from pyarrow import compute

    if (found := _words(column)) is None:
        return column
    words, given = found
    if mark == ",":
        given = compute.replace_substring(given, ",", ".")
    for kind in (pa.int64(), pa.bool_(), pa.float64()):
        with suppress(pa.ArrowInvalid):
            return given.cast(kind)
    return words


def _read_parquet(path: Path, stream: Any) -> Any:
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    groups = (file.metadata.row_group(k) for k in range(file.num_row_groups))
    refuse_flood(path, MEMORY_PER_FILE * sum(group.total_byte_size for group in groups))
    return file.read(use_threads=False)


# --- columns -----------------------------------------------------------------------------------------------


def _found(path: str, names: list[str], columns: Columns) -> dict[str, str]:
    """The columns that were named, if each is there once; a label has to be."""
    listed = ", ".join(repr(brief(name)) for name in names[:NAMES_SHOWN])
    if "" in names:
        raise SettingError(
            f"{path} has no name for column {names.index('') + 1}: give it one, or leave it out"
        )
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


def _wrong(path: str, name: str, what: str) -> SettingError:
    return SettingError(f"{path}, column {brief(name)!r}, {what}")


def _whole(path: str, name: str, column: Any) -> Any:
    """The column, refused if a cell is empty."""
    if column.null_count:
        row = column.is_null().index(True).as_py() + 1
        raise _wrong(path, name, f"is empty in row {row}: fill it, or leave the row out")
    return column


def _numbers(path: str, name: str, column: Any) -> NDArray[np.float64]:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        column, kind = column.cast(pa.float64()), pa.float64()
    if not (types.is_integer(kind) or types.is_floating(kind)):
        text = types.is_string(kind) or types.is_large_string(kind)
        row, value = _first_text(column.to_pylist()) if text else (1, column[0].as_py())
        remedy = f"make it numbers{', with points for decimals' if ',' in str(value) else ''}"
        held = f"is a feature and holds {brief(value)!r} in row {row}"
        raise _wrong(path, name, f"{held}: {remedy}, or leave the column out")
    found: NDArray[np.float64] = _whole(path, name, column).to_numpy().astype(np.float64)
    if not (good := np.isfinite(found)).all():
        row = int(np.argmin(good))
        raise _wrong(path, name, f"has {found[row]} in row {row + 1}: expected a finite number")
    return found


def _first_text(values: list[Any]) -> tuple[int, Any]:
    """The first row, counted from 1, whose value is no number, not even with a decimal comma; else one with a comma."""
    for comma in (".", ","):
        for row, value in enumerate(values, start=1):
            try:
                float(str(value).replace(",", comma))
            except ValueError:
                return row, value
    return 1, values[0]


def _features(path: str, names: list[str], table: Any) -> NDArray[np.float64]:
    """One number per column, or the lists of numbers of the only column."""
    lists = next((name for name in names if _shaped(table[name].type)), None)
    if lists is None:
        return np.stack([_numbers(path, name, table[name]) for name in names], axis=1)
    if len(names) > 1:
        others = ", ".join(brief(name) for name in names if name != lists)
        raise _wrong(path, lists, f"has lists and is to be the only feature: leave it out, or {others}")
    return _lists(path, lists, table[lists])


def _shaped(kind: Any) -> bool:
    """A column of this type has lists, or is stored as lists."""
    from pyarrow import types

    kind = getattr(kind, "storage_type", kind)
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _lists(path: str, name: str, column: Any) -> NDArray[np.float64]:
    """Lists of one length, or lists of such lists, as an array."""
    import pyarrow as pa
    from pyarrow import compute

    shape = [len(column)]
    while _shaped(column.type):
        parts = [getattr(chunk, "storage", chunk) for chunk in _whole(path, name, column).chunks]
        column = pa.chunked_array(parts)
        lengths = compute.list_value_length(column).unique().to_pylist()
        if len(lengths) > 1 or lengths == [0]:
            found = ", ".join(map(str, lengths[:NAMES_SHOWN]))
            raise _wrong(path, name, f"is to have lists of one length, got {found}: cut or fill them")
        shape += lengths
        column = compute.list_flatten(column)
    return _numbers(path, name, column).reshape(shape)


def _kinds(path: str, name: str, column: Any) -> NDArray[Any]:
    """Labels or client ids: numbers, or words."""
    from pyarrow import types

    kind = _whole(path, name, column).type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return np.asarray(column.to_numpy())
    if types.is_binary(kind) or types.is_large_binary(kind):
        raise _wrong(path, name, "is not text in UTF-8: write it anew")
    words = [str(value) for value in column.to_pylist()]
    if "" in words:
        raise _wrong(path, name, f"is empty in row {words.index('') + 1}: fill it")
    return np.array(words)


def _numbered(columns: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], list[str] | None]:
    """Numbers as they are; where a column has words, all of them by their place in the alphabet, and these.

    >>> _numbered([np.array(["b", "7"]), np.array([7])])
    ([array([1, 0]), array([0])], ['7', 'b'])
    """
    if all(one.dtype.kind != "U" for one in columns):
        return columns, None
    words, places = np.unique(np.concatenate([one.astype(str) for one in columns]), return_inverse=True)
    bounds = np.cumsum([len(one) for one in columns])[:-1]
    return np.split(places.reshape(-1), bounds), words.tolist()


def _times(path: str, name: str, column: Any) -> NDArray[Any]:
    """Numbers as they are, dates and timestamps as NumPy's."""
    import pyarrow as pa
    from pyarrow import types

    kind = _whole(path, name, column).type
    if types.is_timestamp(kind) or types.is_date(kind):
        try:
            fine = getattr(kind, "unit", "") == "ns"  # what is finer is rounded, what is too far is refused
            return np.asarray(column.cast(pa.timestamp("us"), safe=not fine).to_numpy())
        except pa.ArrowInvalid:
            raise _wrong(path, name, "has a timestamp beyond all calendars") from None
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return _numbers(path, name, column)
    values = list(map(str, column.to_pylist()))
    row, words = _first_text(values)
    if row == 1:
        found = [_moment(one) for one in values]
        if None not in found:
            return np.array(found, "datetime64[us]")
        row = found.index(None) + 1
        words = values[row - 1]
    wanted = "all times are to be numbers, or all dates such as 2026-03-29 or 2026-03-29T12:30:00"
    raise _wrong(path, name, f"has {brief(words)!r} in row {row}: {wanted}")


def _moment(words: str) -> np.datetime64 | None:
    """A date or timestamp, in UTC if it has no zone; None if it is neither."""
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        return None
    return np.datetime64(moment.replace(tzinfo=None), "us") - np.timedelta64(
        moment.utcoffset() or timedelta(), "us"
    )
