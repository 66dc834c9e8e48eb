"""Verdicts of the ledger."""

from __future__ import annotations

from proofs_check import table
from proofs_check.ledger import read
from proofs_check.tally import tally

__all__ = ["count", "repairs", "statements"]


def statements() -> int:
    """Statements of the paper."""
    return sum(tally(read())["statements"].values())


def count(verdict: str, substance: bool = False) -> int:
    """Statements of the paper with this verdict, to the letter or in substance."""
    return tally(read())["statements_in_substance" if substance else "statements"][verdict]


def repairs() -> str:
    """The shortest repair of every statement that needs one."""
    return table.repairs(read())
