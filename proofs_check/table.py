"""Every claim in a table, from the ledger: `python -m proofs_check.table > docs/claims.md` renews the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from proofs_check.ledger import Entry, read
from proofs_check.text import terminal

__all__ = ["counted", "page"]

LEAD = """# Every claim in a table

What each claim says, its verdict, the evidence for it, and what holds instead. [How claims are
judged](../proofs_check/README.md) tells what the verdicts mean; `acdpp verify --claim LABEL --explain` prints the whole
case of one. This page is made from the ledger by `python -m proofs_check.table`.
"""


def page(entries: Sequence[Entry]) -> str:
    """A line that counts the claims, and a row for each."""
    rows = [
        "| claim | says | verdict | evidence | corrected | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(e) for e in entries),
    ]
    return "\n".join([LEAD, f"{counted(entries)}.", "", *rows, ""])


def counted(entries: Sequence[Entry]) -> str:
    """How many claims are the paper's and ours, by verdict."""
    theirs = [e for e in entries if e.kind != "addition"]
    ours = [e for e in entries if e.kind == "addition"]
    readings = sum(e.kind == "reading" for e in theirs)
    return (
        f"{len(entries)} claims: {_by_verdict(theirs, 'of the paper')}, {readings} of them as we read it, "
        f"and {_by_verdict(ours, 'of ours')}"
    )


def _by_verdict(entries: Sequence[Entry], whose: str) -> str:
    counts = Counter(e.stated.verdict for e in entries).most_common()
    return f"{len(entries)} {whose} ({', '.join(f'{n} {verdict}' for verdict, n in counts)})"


def _row(e: Entry) -> str:
    corrected = (_cell(e.corrected.title), e.corrected.qualified) if e.corrected else ("", "")
    cells = (f"`{e.id}`", _cell(e.stated.title), f"**{e.stated.qualified}**", e.methods, *corrected)
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return terminal(text).replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    print(page(read()), end="")
