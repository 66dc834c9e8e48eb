"""A number such as 1.234 is read where other numbers of the sheet decide what its mark is, and refused elsewhere."""

import numpy as np
import pytest

from empirics.control.prices import read_trace
from empirics.data import Columns, as_dataset
from tests.empirics.small import refused

READ = {
    "a point between commas": (",", [("1.234", "x"), ("2.500", "y")], [1.234, 2.5]),
    "a comma between semicolons": (";", [("1,234", "x"), ("2,500", "y")], [1.234, 2.5]),
    "a longer fraction": (";", [("1.234", "x"), ("2.5001", "y")], [1.234, 2.5001]),
    "a number below 1": ("\t", [("1,234", "x"), ("0,500", "y")], [1.234, 0.5]),
    "a longer whole part": (";", [("1.234", "x"), ("1000.500", "y")], [1.234, 1000.5]),
    "an exponent": (";", [("1.234", "x"), ("2.500e0", "y")], [1.234, 2.5]),
    "another column": (";", [("1.234", "0.5"), ("2.500", "7.25")], [1.234, 2.5]),
    "own cells against another column": (";", [("1.234", "0,5"), ("2.5", "7,25")], [1.234, 2.5]),
    "whole numbers": (";", [("1234", "x"), ("2500", "y")], [1234, 2500]),
}
REFUSED = {
    "thousands with points": (";", [("20", "x"), ("1.234", "y"), ("2.500", "z")], "1.234"),
    "a sign": ("\t", [("+1.234", "x"), ("999", "y")], "+1.234"),
    "thousands with commas": ("\t", [("123,456", "x"), ("7", "y")], "123,456"),
    "another column with the other mark": (";", [("2.500", "0,5"), ("1.234", "7,25")], "2.500"),
}


def sheet(tmp_path, between, rows):
    """A file with the numbers, a second column and a label, ten times over."""
    path = tmp_path / "sheet.csv"
    lines = [("number", "other", "kind"), *((*row, "ab"[k % 2]) for k, row in enumerate(rows * 10))]
    path.write_text("\n".join(between.join(line) for line in lines))
    return path


def samples(path, other):
    """The numbers of the sheet as a feature; `other` is a feature too if it holds numbers, and else the client."""
    columns = Columns("kind") if other[-1].isdigit() else Columns("kind", client="other")
    data = as_dataset(f"csv:{path}", None, columns)
    return np.concatenate([data.train_x[:, 0], data.test_x[:, 0]])


@pytest.mark.parametrize("case", READ)
def test_numbers_are_read_where_their_decimal_mark_is_certain(case, tmp_path):
    between, rows, numbers = READ[case]
    path = sheet(tmp_path, between, rows)
    assert read_trace(path, "number").values[: len(rows)].tolist() == numbers
    assert set(samples(path, rows[0][1])) == set(np.float32(numbers))


@pytest.mark.parametrize("case", REFUSED)
def test_numbers_that_may_be_thousands_are_refused_with_both_readings(case, tmp_path):
    between, rows, cell = REFUSED[case]
    path = sheet(tmp_path, between, rows)
    plain = cell.replace(".", "").replace(",", "")
    row = [one for one, _ in rows].index(cell) + 1
    for sentence, place in (
        (refused(read_trace, path, "number"), f"line {row + 1}"),
        (refused(samples, path, rows[0][1]), f"column 'number', row {row}"),
    ):
        assert place in sentence
        assert f"has {cell!r}" in sentence
        assert f"write {cell}0 or {plain}" in sentence
