"""The recorded verdicts, a data file beside this module. `acdpp verify --record` alone writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from proofs_check.claim import Case
from proofs_check.evidence import Evidence

__all__ = ["LEDGER", "Entry", "differences", "entry", "read", "summarise", "write"]

LEDGER = Path(__file__).with_name("ledger.json")


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: verdicts, and the methods that reached them (after a dot: with hypotheses)."""

    id: str
    kind: str
    title: str
    verdict: str
    evidence: str
    correction: str = ""
    corrected_verdict: str = ""
    corrected_evidence: str = ""


def summarise(evidence: Iterable[Evidence]) -> str:
    """Methods and outcomes in short: `identity ✓ exact ✗`; an open one has a question mark."""
    marks = {"holds": "✓", "fails": "✗", "open": "?"}
    return " ".join(dict.fromkeys(f"{e.method} {marks[e.outcome]}" for e in evidence))


def entry(case: Case) -> Entry:
    """The line that a case would be recorded as."""
    claim, correction = case.claim, case.claim.corrected
    evidence = " · ".join(filter(None, (summarise(case.stated), summarise(case.hypotheses))))
    first = Entry(claim.id, claim.kind, claim.title, case.verdict, evidence)
    if correction is None:
        return first
    return replace(
        first,
        correction=correction.title or correction.statement,
        corrected_verdict=case.corrected_verdict or "",
        corrected_evidence=summarise(case.corrected),
    )


def read() -> tuple[Entry, ...]:
    """The recorded entries; none if nothing has been recorded yet."""
    if not LEDGER.exists():
        return ()
    return tuple(Entry(**line) for line in json.loads(LEDGER.read_text(encoding="utf-8"))["claims"])


def write(cases: Sequence[Case]) -> None:
    """Record the cases, all of them: what is not among them is forgotten."""
    document = {"claims": [asdict(entry(case)) for case in cases]}
    LEDGER.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def differences(cases: Sequence[Case], recorded: Sequence[Entry]) -> list[str]:
    """One sentence for every verdict that is not the recorded one."""
    known = {e.id: e for e in recorded}
    found = []
    for now in map(entry, cases):
        then = known.get(now.id)
        if then is None:
            found.append(f"{now.id} is not in the ledger; it is {now.verdict}")
            continue
        if then.verdict != now.verdict:
            found.append(f"{now.id} was recorded as {then.verdict} and is {now.verdict}")
        if then.corrected_verdict != now.corrected_verdict:
            was, now_is = (v or "absent" for v in (then.corrected_verdict, now.corrected_verdict))
            found.append(f"the correction of {now.id} was recorded as {was} and is {now_is}")
    return found
