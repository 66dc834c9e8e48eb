"""The numbers of the pages are those of the results: `python -m docs.numbers` has nothing to change."""

import json
import re
from pathlib import Path

import pytest

from docs.numbers.renew import MARKED, PAGES, renewed
from docs.numbers.results import at, span

ROOT = Path(__file__).parents[1]
WORDS_IN_SHORT = 120
GENERATED = {"claims.md", "kernel.md", "reference.md", "own-formula.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_has_the_numbers_of_the_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert renewed(text) == text, "python -m docs.numbers renews it"


def test_a_wrong_number_and_a_wrong_table_are_noticed() -> None:
    ratio = '<!--=at("stability-digits-500","policies/hybrid/constant_share"):.2f-->'
    right = f"{ratio}{at('stability-digits-500', 'policies/hybrid/constant_share'):.2f}<!--/-->"
    assert renewed(f"about {ratio}0.17<!--/--> of it") == f"about {right} of it"
    table = "<!--=buying.thresholds()-->"
    assert renewed(f"{table}\n| used |\n<!--/-->").startswith(f"{table}\n| used | 1 | 2 |")
    with pytest.raises(KeyError):
        renewed('<!--=at("stability-digits-500","policies/nobody")-->1<!--/-->')


def test_a_range_is_said_by_its_ends() -> None:
    assert span([3.14, 1.26, 2], ".1f") == "1.3 to 3.1"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_no_marker_begins_a_line_of_prose(page: Path) -> None:
    """There it would begin a block of HTML, in which Markdown is not read."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"(?m)^ *<!--=.*?-->(?!$).*", text)
    assert len(MARKED.findall(text)) == text.count("<!--=") == text.count("<!--/-->")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_says_in_short_what_it_says(page: Path) -> None:
    if page.name not in GENERATED:
        short = re.search(r"(?ms)^\*\*In short\.\*\*(.*?)\n\n", page.read_text(encoding="utf-8"))
        assert short
        assert len(re.sub("<!--.*?-->", "", short[1]).split()) <= WORDS_IN_SHORT


def test_every_result_has_the_command_and_the_hardware_that_made_it() -> None:
    for path in (ROOT / "docs" / "results").glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        assert re.search("cpu|cores|NVIDIA", found["hardware"]), path.name
        assert found["command"].startswith(("acdpp reproduce", "acdpp train", "python -m benchmarks")), (
            path.name
        )
        assert "/tmp" not in found["command"], path.name
