"""The reference page is made from the definitions."""

from pathlib import Path

from empirics.records.columns import COLUMNS
from empirics.reference import markdown


def test_the_page_is_the_one_that_the_definitions_make():
    page = Path(__file__).parents[2] / "docs" / "reference.md"
    assert page.read_text(encoding="utf-8") == markdown(), "python -m empirics.reference docs/reference.md"


def test_it_names_every_setting_column_and_file():
    page = markdown()
    for name in (
        "`buffers`",
        "`cost.process`",
        "`per_seed`",
        "`rounds.parquet`",
        "`.lock`",
        *(f"`{c}`" for c in COLUMNS),
    ):
        assert f"| {name} |" in page, name
    assert "`explained.json`" in page
