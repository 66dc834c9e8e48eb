"""The recorded verdicts, `ledger.json` beside this module, and their counts. Only `python -m proofs_check` writes it.

All that a reader relies on is recorded, so that none of it changes unnoticed: the statement (`proofs_check.text`), its
hypotheses, what it rests on, the verdict, and each piece of evidence by part, method, strength and outcome. What a
certificate tells is not recorded here, but in sums for the tests (`tests/proofs_check/evidence.json`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from proofs_check.claim import Case, Claim, Correction, qualified
from proofs_check.evidence import Evidence

__all__ = ["LEDGER", "SLIP", "Entry", "Finding", "Statement", "about", "differences", "entry", "read"]
__all__ += ["substances", "tally", "told", "write"]

LEDGER = Path(__file__).with_name("ledger.json")
SLIP = "corrected"  # the substance of a statement that fails by a slip alone
MARKS = {"holds": "✓", "fails": "✗", "open": "?"}


@dataclass(frozen=True)
class Finding:
    """A piece of evidence (`proofs_check.evidence.Evidence`) without its numbers; its row ends in a choice, if any."""

    part: str
    method: str
    strength: str
    outcome: str
    pieces: int
    confirms: bool
    choice: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement and its verdict; `given` names what the verdict rests on besides its checks."""

    title: str
    says: str
    formula: str
    verdict: str
    given: tuple[str, ...]
    hypotheses: tuple[str, ...]
    parts: tuple[str, ...]
    evidence: tuple[Finding, ...]

    @property
    def qualified(self) -> str:
        """The verdict with what it rests on."""
        return self.verdict + (f", given {' and '.join(self.given)}" if self.given else "")

    @property
    def methods(self) -> str:
        """Methods and outcomes in short: `identity ✓ exact ✗`; an open one has a question mark."""
        return " ".join(dict.fromkeys(f"{e.method} {MARKS[e.outcome]}" for e in self.evidence))

    @classmethod
    def read(cls, line: dict[str, Any]) -> Self:
        lists = {name: tuple(line[name]) for name in ("given", "hypotheses", "parts")}
        return cls(**{**line, **lists, "evidence": tuple(Finding(*row) for row in line["evidence"])})


@dataclass(frozen=True)
class Entry:
    """A recorded claim: the statement as printed, findings under added hypotheses, the correction, and the `substance`
    (`proofs_check.claim`), which is empty where letter and substance are one.
    """

    id: str
    section: str
    kind: str
    domain: str
    stated: Statement
    with_hypotheses: tuple[Finding, ...] = ()
    corrected: Statement | None = None
    substance: str = ""
    repair: str = ""

    @property
    def methods(self) -> str:
        """Methods of the statement as printed, and after a dot those with hypotheses."""
        extra = dict.fromkeys(f"{e.method} {MARKS[e.outcome]}" for e in self.with_hypotheses)
        return " · ".join(filter(None, (self.stated.methods, " ".join(extra))))


def _findings(evidence: Iterable[Evidence]) -> tuple[Finding, ...]:
    names = [one.name for one in fields(Finding)]
    return tuple(Finding(*(getattr(e, name) for name in names)) for e in evidence)


def _statement(
    of: Claim | Correction, verdict: str, evidence: Iterable[Evidence], hypotheses: tuple[str, ...]
) -> Statement:
    rests = qualified(verdict, of.given) != verdict
    return Statement(
        title=of.title,
        says=of.statement,
        formula=of.formula,
        verdict=verdict,
        given=tuple(g.name for g in of.given) if rests else (),
        hypotheses=hypotheses,
        parts=of.parts,
        evidence=_findings(evidence),
    )


def entry(case: Case) -> Entry:
    """The ledger entry of a case."""
    claim, correction = case.claim, case.claim.corrected
    return Entry(
        id=claim.id,
        section=claim.section,
        kind=claim.kind,
        domain=claim.domain,
        stated=_statement(claim, case.verdict, case.stated, case.conditions),
        with_hypotheses=_findings(case.hypotheses),
        corrected=_statement(correction, case.corrected_verdict or "", case.corrected, correction.hypotheses)
        if correction
        else None,
        substance=claim.substance,
        repair=claim.repair,
    )


def read() -> tuple[Entry, ...]:
    """The recorded entries; none if nothing has been recorded yet."""
    if not LEDGER.exists():
        return ()
    return tuple(_entry(line) for line in json.loads(LEDGER.read_text(encoding="utf-8"))["claims"])


def _entry(line: dict[str, Any]) -> Entry:
    corrected = line["corrected"]
    return Entry(
        **{
            **line,
            "stated": Statement.read(line["stated"]),
            "with_hypotheses": tuple(Finding(*row) for row in line["with_hypotheses"]),
            "corrected": Statement.read(corrected) if corrected else None,
        }
    )


def _plain(value: Any) -> Any:
    """Dataclasses as dictionaries, except that a finding is a row."""
    if isinstance(value, Finding):
        row = list(asdict(value).values())
        return row if value.choice else row[:-1]
    if isinstance(value, Statement | Entry):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def write(cases: Sequence[Case]) -> None:
    """Replace the ledger by these cases."""
    document = {"claims": [_plain(entry(case)) for case in cases]}
    LEDGER.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# --- differences from the record ---------------------------------------------------------------------------

WORDS = {
    "title": "title",
    "says": "statement",
    "formula": "formula",
    "given": "list of what it rests on",
    "hypotheses": "hypotheses",
    "parts": "parts",
}


def differences(cases: Sequence[Case], recorded: Sequence[Entry]) -> list[str]:
    """Sentences on all that differs from the record, verdicts first."""
    known = {e.id: e for e in recorded}
    found = []
    for now in map(entry, cases):
        then = known.get(now.id)
        if then is None:
            found.append(f"{now.id} is not in the ledger; it is {now.stated.verdict}")
            continue
        found += _compared(now.id, then.stated, now.stated)
        if then.with_hypotheses != now.with_hypotheses:
            found.append(
                f"{now.id} with its added hypotheses: {_evidence(then.with_hypotheses, now.with_hypotheses)}"
            )
        found += _compared(f"the correction of {now.id}", then.corrected, now.corrected)
        for name in ("section", "kind", "domain", "substance", "repair"):
            if getattr(then, name) != getattr(now, name):
                found.append(f"{now.id}: its {name} is not the recorded one")
    return sorted(found, key=lambda sentence: "recorded as" not in sentence)


def _compared(name: str, then: Statement | None, now: Statement | None) -> list[str]:
    if then is None or now is None:
        was, is_ = (s.verdict if s else "absent" for s in (then, now))
        return [] if then == now else [f"{name} was recorded as {was} and is {is_}"]
    found = []
    if then.verdict != now.verdict:
        found.append(f"{name} was recorded as {then.verdict} and is {now.verdict}")
    if then.evidence != now.evidence:
        found.append(f"{name}: {_evidence(then.evidence, now.evidence)}")
    changed = [word for field, word in WORDS.items() if getattr(then, field) != getattr(now, field)]
    if changed:
        found.append(f"{name}: its {', '.join(changed)} changed since it was recorded")
    return found


def _evidence(then: tuple[Finding, ...], now: tuple[Finding, ...]) -> str:
    lost, new = ([f for f in a if f not in b] for a, b in ((then, now), (now, then)))
    if not lost and not new:
        return "its evidence comes in another number or order than recorded"
    changed = [(verb, some) for verb, some in (("lost", lost), ("new", new)) if some]
    spelled = (f"{verb} {'; '.join(_spell(f) for f in some)}" for verb, some in changed)
    return f"its evidence is not the recorded one: {', '.join(spelled)}"


def _spell(f: Finding) -> str:
    about = f" ({', '.join(filter(None, (f.part, f.choice)))})" if f.part or f.choice else ""
    return f"{f.method} {f.outcome}{about}"


# --- counts ------------------------------------------------------------------------------------------------


def substances(entries: Sequence[Entry]) -> dict[str, str]:
    """Verdicts on the substance, by claim; equal to the verdict on the letter where a claim names no substance."""
    known = {e.id: e for e in entries}

    def verdict(e: Entry) -> str:
        if e.substance == SLIP and e.corrected:
            return e.corrected.verdict
        return known.get(e.substance, e).stated.verdict

    return {e.id: verdict(e) for e in entries}


def about(substance: str) -> str:
    """Reason for a verdict on the substance, in words.

    >>> about(SLIP), about("rem:1/reading")
    ('it fails by a slip alone', 'as in rem:1/reading')
    """
    return "it fails by a slip alone" if substance == SLIP else f"as in {substance}"


def tally(entries: Sequence[Entry]) -> dict[str, Any]:
    """Counts of verdicts on the paper's statements, its readings and our own claims; and the number of slips."""
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
    """Sentences that state a tally.

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
