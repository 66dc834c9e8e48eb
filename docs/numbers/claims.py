"""Verdicts of the ledger."""

from __future__ import annotations

from proofs_check import claims_page
from proofs_check.claim import WRITTEN
from proofs_check.ledger import SLIP, read, tally

__all__ = ["count", "needing", "repairs", "slips", "statements", "written"]


def statements() -> int:
    """Statements of the paper."""
    return sum(tally(read())["statements"].values())


def count(verdict: str, substance: bool = False) -> int:
    """Statements of the paper with this verdict, to the letter or in substance."""
    return int(tally(read())["statements_in_substance" if substance else "statements"][verdict])


def written() -> str:
    """Claims whose verdict is proved and rests on a written argument, its own or that of a claim that it cites."""
    given = {entry.id: entry.stated.given for entry in read()}

    def rests(names: tuple[str, ...]) -> bool:
        return any(name == WRITTEN.name or rests(given.get(name, ())) for name in names)

    proved = [entry.id for entry in read() if entry.stated.verdict == "proved"]
    return f"{sum(rests(given[one]) for one in proved)} of {len(proved)}"


def slips() -> int:
    """Statements of the paper that fail by a slip alone."""
    return int(tally(read())["slips"])


def needing(*verdicts: str) -> int:
    """Statements of the paper with one of these verdicts that need a repair and fail by more than a slip."""
    return sum(bool(e.repair) and e.substance != SLIP and e.stated.verdict in verdicts for e in read())


def repairs() -> str:
    """The shortest repair of every statement that needs one."""
    return claims_page.repairs(read())
