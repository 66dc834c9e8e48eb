"""The README is short, its output is that of its commands, and its numbers have a source."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from docs.numbers.renew import MARKED
from proofs_check import claims_page
from proofs_check.ledger import read
from tests.acdpp.program import acdpp

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES_MAX = 70
CLAIM = "lem:omega3-order"
BLOCKS = re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", README)


def test_it_takes_a_minute_to_read() -> None:
    assert len(README.splitlines()) <= LINES_MAX


def test_its_blocks_are_a_first_minute_its_output_and_the_test_command() -> None:
    (_, first), (_, _), (_, second) = BLOCKS
    assert [kind for kind, _ in BLOCKS] == ["sh", "text", "sh"]
    assert [line.split()[1] for line in first.splitlines()[1:]] == ["verify", "plot", "design"]
    assert second == "pip install -c constraints.txt -e '.[dev]' && pytest -n 2 --dist loadfile\n"


def test_its_output_is_that_of_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """All claims are decided by tests/proofs_check, and the picture is drawn by test_commands_shown.py."""
    monkeypatch.setenv("COLUMNS", "120")
    _, _, _, design = (line.split()[1:] for line in BLOCKS[0][1].splitlines())
    printed = [acdpp("verify", "--claim", CLAIM).stdout, "plots/bound-vs-T.png", acdpp(*design).stdout]
    verdicts = Counter(str(entry.stated.verdict) for entry in read())
    order = ("proved", "certified", "supported", "conditional", "refuted", "undecided")
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in order)
    told = " ".join(" ".join([*printed, f"{verdicts.total()} claims: {counts}"]).split())
    for line in BLOCKS[1][1].replace("…", "").splitlines():
        assert " ".join(line.split()) in told


def test_every_number_has_a_source() -> None:
    """A result file, the output shown, or a command, whose numbers are for the reader to choose."""
    prose = re.sub(r"(?ms)^```.*?^```$|`[^`]*`|\]\([^)]*\)", "", MARKED.sub("", README))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"][0]
    assert f"*{cited['title']}* ({cited['year']})" in " ".join(prose.split())
    known = {str(cited["year"]), "2.0", *re.findall(r"\d[\d.]*", BLOCKS[1][1])}
    assert set(re.findall(r"\d+(?:\.\d+)?", prose)) <= known


def test_the_table_of_claims_is_that_of_the_ledger() -> None:
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert page == claims_page.page(read())
    assert re.findall(r"(?m)^\| `(.*?)`", page) == [entry.id for entry in read()]
    assert claims_page.repairs(read()) in (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
