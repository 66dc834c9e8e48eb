"""Output that is not UTF-8: no command fails, JSON loses nothing."""

import json
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper

import pytest

from acdpp.output import print_json
from tests.acdpp.program import acdpp

DESIGN = "design --buffers 10,11 --budget 10 --mean-cost 1"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", ["--help", "design --help", DESIGN])
def test_what_cannot_be_shown_is_replaced(words: str, encoding: str) -> None:
    done = acdpp(*words.split(), encoding=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "?" in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_ascii_where_the_output_is_narrow_and_says_the_same(encoding: str) -> None:
    for document in ({"Ω": "λ → √2"}, {"a file's name": "\udcff"}):  # and bytes that are no UTF-8
        narrow = TextIOWrapper(BytesIO(), encoding=encoding)
        with redirect_stdout(narrow):
            print_json(document)
        narrow.seek(0)
        said = narrow.read()
        assert json.loads(said) == document
        assert said.isascii() == (encoding != "utf-8" or "Ω" not in document)
