"""Verdicts of the ledger."""

from __future__ import annotations

from proofs_check import claims_page
from proofs_check.ledger import read, tally

__all__ = ["count", "repairs", "statements"]


def statements() -> int:
    """Statements of the paper."""
    return sum(tally(read())["statements"].values())


def count(verdict: str, substance: bool = False) -> int:
    """Statements of the paper with this verdict, to the letter or in substance."""
    return int(tally(read())["statements_in_substance" if substance else "statements"][verdict])


def repairs() -> str:
    """The shortest repair of every statement that needs one."""
    return claims_page.repairs(read())
