"""The marks of a CSV file: the separator of its columns, and the decimal mark of its numbers.

Where commas separate columns, the decimal mark is the point. Elsewhere it may be a comma, and a number such as 1.234 is
either 1234 or a bit more than 1. Other numbers of the sheet decide: 0.5, 12.34 or 1234.5 can only have a decimal point.
Semicolons count as a sign that the comma is the decimal mark, never that the point groups thousands.
"""

import re
from collections.abc import Collection

from theory.setting import SettingError

__all__ = ["AMBIGUOUS", "DECIMAL", "ambiguous_number", "is_decimal", "separator"]

MARKS = (".", ",")
# Regular expressions by mark, for Python and for Arrow: a number that has the mark once, and those among them in which
# it may group thousands.
DECIMAL = {mark: rf"^[+-]?(\d+[{mark}]\d*|[{mark}]\d+)([eE][+-]?\d+)?$" for mark in MARKS}
AMBIGUOUS = {mark: rf"^[+-]?[1-9]\d?\d?[{mark}]\d\d\d$" for mark in MARKS}


def separator(heading: str) -> str:
    """The separator of columns by the first line: a comma, a semicolon or a tab.

    >>> separator("a;b, in cm;c"), separator("price"), separator('a;"b, c, d"')
    (';', ',', ';')
    """
    return max(",;\t", key=re.sub('"[^"]*"', "", heading).count)


def is_decimal(mark: str, between: str, certain: Collection[str]) -> bool:
    """Decide whether the mark in numbers such as 1.234 is decimal, where `between` separates columns and the marks in
    `certain` are certainly decimal in other numbers.

    >>> is_decimal(".", ",", ()), is_decimal(".", ";", ()), is_decimal(".", ";", "."), is_decimal(".", ";", ".,")
    (True, False, True, False)
    """
    if (between, mark) in ((",", "."), (";", ",")):
        return True
    return set(certain) == {mark}


def ambiguous_number(where: str, cell: str) -> SettingError:
    """The refusal of a number that may be a thousand times another."""
    plain = cell.replace(".", "").replace(",", "")
    return SettingError(
        f"{where}, has {cell!r}, with a decimal mark or a separator of thousands: write {cell}0 or {plain}"
    )
