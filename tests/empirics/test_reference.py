"""The reference page is made from the definitions."""

from pathlib import Path

from empirics.reference import markdown


def test_the_page_is_the_one_that_the_definitions_make():
    page = Path(__file__).parents[2] / "docs" / "reference.md"
    assert page.read_text(encoding="utf-8") == markdown(), "python -m empirics.reference docs/reference.md"
