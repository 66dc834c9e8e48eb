"""A CSV file of prices, read line by line; mistakes are refused with the file and the line."""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from empirics.data.csv_format import AMBIGUOUS, DECIMAL, ambiguous_number, is_decimal, separator
from empirics.data.files import refuse_special
from empirics.settings.costs import PRICE_MAX, PRICE_MIN
from theory.setting import SettingError

__all__ = ["read_prices"]

LINE_BYTES_MAX = 1 << 20
WANTED = "a trace has one price per line, or columns named in the first line with commas, semicolons or tabs between"
POINT = "; write decimals with a point, if the comma is one"
PRICE = f"a price between {PRICE_MIN:g} and {PRICE_MAX:g}, such as 2.5"


def read_prices(path: str | os.PathLike[str], column: str | None = None) -> array[float]:
    """The prices of a file with one column, or of the named one."""
    if not isinstance(column, str | None):
        raise SettingError(f"column must be the name of a column, such as 'price', got {column!r}")
    place = Path(os.path.expanduser(path))
    try:
        refuse_special(place, WANTED)
        with place.open("rb") as stream:
            return _prices(place, stream, column)
    except OSError as error:
        raise SettingError(f"{place} cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError(f"{str(place)!r} cannot be the name of a file ({error})") from error


def _lines(path: Path, stream: BinaryIO) -> Iterator[str]:
    number = 0
    while line := stream.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX:
            raise SettingError(f"{path}, line {number}, has more than {LINE_BYTES_MAX} bytes: {WANTED}")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise SettingError(f"{path}, line {number}, is not text in UTF-8: {WANTED}") from None


def _prices(path: Path, stream: BinaryIO, column: str | None) -> array[float]:
    lines = _lines(path, stream)
    first = next(lines, "")
    between = separator(first)
    rows = csv.reader(chain([first], lines), delimiter=between, strict=True)
    found = array("d")
    width, place, blank = 0, 0, 0
    hint, mark = POINT if between == "," else "", ""
    certain, doubtful, decided = set[str](), ("", ""), between == ","
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                blank = blank or rows.line_num
                continue
            if blank:
                raise SettingError(f"{path}, line {blank}, is blank: expected {PRICE}")
            if not width:
                width, place = len(cells), _place(path, cells, column, hint)
                if column is not None or _is_name(cells[place]):
                    continue
            if len(cells) != width:
                raise SettingError(
                    f"{path}, line {rows.line_num}, has {len(cells)} cells: expected {width} as in the first line, "
                    f"with prices such as 2.5{hint if width == 1 else ''}"
                )
            where, cell = f"{path}, line {rows.line_num}", cells[place]
            if column is None and any(cells[:place] + cells[place + 1 :]):
                raise SettingError(f"{where}, has a cell in a column without a name: {WANTED}")
            found.append(_price(where, cell, hint))
            own = "".join(one for one in ",." if one in cell)
            if (mark := mark or own) != (own or mark):
                raise SettingError(
                    f"{where}, has {_brief(cell)}, and others have {mark!r} for decimals: write all alike"
                )
            if not decided:
                certain |= {one for one in ",." if any(_is_certain(other, one) for other in cells)}
                decided = own != "" and _is_certain(cell, own)
                if own and not doubtful[1] and re.match(AMBIGUOUS[own], cell):
                    doubtful = where, cell
    except csv.Error as error:
        raise SettingError(f"{path}, line {rows.line_num}, is not CSV ({error}): {WANTED}") from error
    if not found:
        raise SettingError(f"{path} holds no price: {WANTED}")
    if doubtful[1] and not decided and not is_decimal(mark, between, certain):
        raise ambiguous_number(*doubtful)
    return found


def _is_certain(cell: str, mark: str) -> bool:
    """The cell is a number that can only have this decimal mark."""
    return mark in cell and bool(re.match(DECIMAL[mark], cell)) and not re.match(AMBIGUOUS[mark], cell)


def _place(path: Path, first: list[str], column: str | None, hint: str) -> int:
    """The place of the price in a line; never a column without a name."""
    named = [place for place, cell in enumerate(first) if cell]
    if column is None and len(named) == 1:
        return named.pop()
    if column is None:
        names = ", ".join(_brief(first[place]) for place in named[:10])
        raise SettingError(
            f"{path} has {len(named)} columns: name the one with the prices by cost.column or --cost "
            f"csv:FILE,column=NAME, one of {names}{'' if any(map(_is_name, first)) else hint}"
        )
    if first.count(column.strip()) != 1:
        times = "two or more columns" if column.strip() in first else "no column"
        raise SettingError(
            f"{path} has {times} {column!r}: its first line names {', '.join(_brief(cell) for cell in first[:10])}"
        )
    return first.index(column.strip())


def _is_name(cell: str) -> bool:
    """The cell is a heading and neither a price nor, like $5, a mistyped price."""
    return cell[:1].isalpha() and cell.lower() not in ("nan", "inf", "infinity")


def _price(where: str, cell: str, hint: str) -> float:
    """The price of a cell; without a hint at commas between columns, a comma is a decimal mark."""
    plain = cell if hint else cell.replace(",", ".")
    try:
        value = float(plain) if cell.isascii() and "_" not in cell else float("nan")
    except ValueError:
        value = float("nan")
    if not PRICE_MIN < value < PRICE_MAX:
        raise SettingError(f"{where}, has {_brief(cell)}: expected {PRICE}{hint if ',' in cell else ''}")
    return value


def _brief(cell: str) -> str:
    return repr(cell if len(cell) <= 30 else f"{cell[:30]}…")
