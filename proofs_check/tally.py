"""How many statements, readings and claims of our own have each verdict, to the letter and in substance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proofs_check.ledger import Entry

__all__ = ["SLIP", "about", "substances", "tally", "told"]

SLIP = "corrected"  # the substance of a statement that fails by a slip alone


def substances(entries: Sequence[Entry]) -> dict[str, str]:
    """The verdict on the substance of every claim; that on the letter where none of its own is named."""
    known = {e.id: e for e in entries}

    def verdict(e: Entry) -> str:
        if e.substance == SLIP and e.corrected:
            return e.corrected.verdict
        return known.get(e.substance, e).stated.verdict

    return {e.id: verdict(e) for e in entries}


def about(substance: str) -> str:
    """What the verdict on a substance is about, in words.

    >>> about(SLIP), about("rem:1/reading")
    ('it fails by a slip alone', 'as in rem:1/reading')
    """
    return "it fails by a slip alone" if substance == SLIP else f"as in {substance}"


def tally(entries: Sequence[Entry]) -> dict[str, Any]:
    """Statements of the paper, readings of it and our own claims, by verdict; and how many slips there are."""
    in_substance = substances(entries)
    own = [e for e in entries if e.kind == "addition"]
    readings = [e for e in entries if e.kind == "reading"]
    statements = [e for e in entries if e.kind not in ("addition", "reading")]
    return {
        "statements": _by_verdict(e.stated.verdict for e in statements),
        "statements_in_substance": _by_verdict(in_substance[e.id] for e in statements),
        "slips": sum(e.substance == SLIP for e in statements),
        "readings": _by_verdict(e.stated.verdict for e in readings),
        "own": _by_verdict(e.stated.verdict for e in own),
    }


def _by_verdict(verdicts: Iterable[str]) -> dict[str, int]:
    return dict(Counter(verdicts).most_common())


def told(counted: Mapping[str, Any]) -> str:
    """A tally in sentences.

    >>> both = {"statements": {"refuted": 2}, "statements_in_substance": {"refuted": 1, "proved": 1}, "slips": 1}
    >>> print(told(both | {"readings": {}, "own": {"proved": 1}}))  # doctest: +NORMALIZE_WHITESPACE
    2 statements of the paper: to the letter 2 refuted; in substance 1 refuted, 1 proved; 1 fails by a slip alone.
    1 claim of our own: 1 proved.
    """
    sentences = []
    if counted["statements"]:
        letter, substance = (_listed(counted[of]) for of in ("statements", "statements_in_substance"))
        slips = {0: "", 1: "; 1 fails by a slip alone"}.get(
            counted["slips"], f"; {counted['slips']} fail by a slip alone"
        )
        number = _number(counted["statements"], "statement")
        sentences.append(f"{number} of the paper: to the letter {letter}; in substance {substance}{slips}.")
    for group, thing, whose in (("readings", "reading", "of it"), ("own", "claim", "of our own")):
        if counted[group]:
            sentences.append(f"{_number(counted[group], thing)} {whose}: {_listed(counted[group])}.")
    return " ".join(sentences)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.items())


def _number(counts: Mapping[str, int], thing: str) -> str:
    total = sum(counts.values())
    return f"{total} {thing}" + ("" if total == 1 else "s")
