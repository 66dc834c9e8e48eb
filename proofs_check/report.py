"""The README's table of verdicts, from the ledger. `python -m proofs_check.report README.md` renews it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from proofs_check.ledger import Entry, read

__all__ = ["BEGIN", "END", "insert", "markdown"]

BEGIN, END = "<!-- verdicts: begin -->", "<!-- verdicts: end -->"


def markdown(entries: Sequence[Entry]) -> str:
    """One row a claim, and a line that counts them."""
    counts = Counter(e.stated.verdict for e in entries)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    rows = [
        "| claim | says | verdict | evidence | corrected | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(e) for e in entries),
    ]
    return f"{len(entries)} claims: {summary}.\n\n" + "\n".join(rows) + "\n"


def _row(e: Entry) -> str:
    corrected = (_cell(e.corrected.title), e.corrected.qualified) if e.corrected else ("", "")
    cells = (f"`{e.id}`", _cell(e.stated.title), f"**{e.stated.qualified}**", e.methods, *corrected)
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def insert(page: str, entries: Sequence[Entry]) -> str:
    """The page with the table between its two markers renewed."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the two lines {BEGIN} and {END} around its table")
    return f"{before}{BEGIN}\n{markdown(entries)}{END}{after}"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(insert(target.read_text(encoding="utf-8"), read()), encoding="utf-8")
