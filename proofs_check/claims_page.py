"""The table of all claims, from the ledger: `python -m proofs_check.claims_page > docs/claims.md` renews the page, and
`python -m proofs_check.claims_page repairs` prints the table of repairs in docs/paper.md.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from proofs_check.claim import WRITTEN
from proofs_check.ledger import SLIP, Entry, Statement, read, substances, tally, told
from proofs_check.text import terminal

__all__ = ["page", "repairs"]

LEAD = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")


def page(entries: Sequence[Entry]) -> str:
    """The counts of verdicts, and a row for each claim."""
    in_substance = substances(entries)
    rows = [
        "| claim | says | verdict | what holds instead |",
        "| --- | --- | --- | --- |",
        *(_row(e, in_substance[e.id]) for e in entries),
    ]
    return "\n".join([LEAD, told(tally(entries)), "", *rows, ""])


def _row(e: Entry, in_substance: str) -> str:
    corrected = f"{_cell(e.corrected.title)} ({_verdict(e.corrected)})" if e.corrected else ""
    verdict = f"**{_verdict(e.stated)}**" + (f"; in substance {in_substance}" if e.substance else "")
    cells = (f"`{e.id}`", _cell(e.stated.title), verdict, corrected)
    return f"| {' | '.join(cells)} |"


def _verdict(of: Statement) -> str:
    """The verdict with what it rests on, a written argument as a dagger."""
    others = tuple(name for name in of.given if name != WRITTEN.name)
    dagger = "†" if WRITTEN.name in of.given else ""
    return replace(of, verdict=of.verdict + dagger, given=others).qualified


def repairs(entries: Sequence[Entry]) -> str:
    """Table of the repairs of statements that are not true: slips first, then missing hypotheses, then the rest."""

    def weight(e: Entry) -> tuple[bool, bool]:
        return e.substance != SLIP, e.stated.verdict == "refuted"

    rows = [f"| `{e.id}` | {_cell(e.repair)} |" for e in sorted(entries, key=weight) if e.repair]
    return "\n".join(["| statement | repair |", "| --- | --- |", *rows])


def _cell(text: str) -> str:
    return terminal(text).replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    print(repairs(read()) if sys.argv[1:] == ["repairs"] else page(read()), end="")
