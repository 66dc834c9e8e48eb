"""Cases as one plain document, which `acdpp verify --json` prints and every report is made from.

Texts have mathematics as LaTeX between dollar signs (`proofs_check.text`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from proofs_check.claim import Case, Claim, Correction, qualified
from proofs_check.evidence import Evidence, Verdict
from proofs_check.ledger import entry, substances, tally
from proofs_check.text import explained, line

__all__ = ["counts", "document", "symbols"]


def document(cases: Sequence[Case], *, version: str, seed: int) -> dict[str, Any]:
    """All cases with their evidence and certificates, and the counts of verdicts."""
    entries = [entry(case) for case in cases]
    in_substance = substances(entries)
    return {
        "claims": [_entry(case, in_substance[case.claim.id]) for case in cases],
        "summary": {**counts(cases), "total": len(cases), **tally(entries)},
        "version": version,
        "seed": seed,
    }


def counts(cases: Sequence[Case]) -> dict[str, int]:
    """Number of claims with each verdict on the letter."""
    counted = Counter(case.verdict for case in cases)
    return {verdict: counted[verdict] for verdict in get_args(Verdict)}


def symbols(claim: Claim) -> dict[str, str]:
    """Meanings of the symbols in a claim and its correction."""
    texts = [f"${claim.formula}$", claim.statement, claim.sketch, claim.repair]
    more = dict(claim.symbols)
    if claim.corrected is not None:
        texts += [f"${claim.corrected.formula}$", claim.corrected.statement, claim.corrected.sketch]
        more |= claim.corrected.symbols
    return dict(explained(" ".join(texts), more))


def _entry(case: Case, in_substance: str) -> dict[str, Any]:
    claim, correction = case.claim, case.claim.corrected
    return {
        "id": claim.id,
        "section": claim.section,
        "kind": claim.kind,
        **_statement(claim, case.verdict, case.conditions),
        "substance": {"verdict": in_substance, "of": claim.substance},
        "repair": claim.repair,
        "domain": claim.domain,
        "evidence": _evidence(case.stated),
        "evidence_with_hypotheses": _evidence(case.hypotheses),
        "corrected": correction
        and {
            **_statement(correction, case.corrected_verdict or "", correction.hypotheses),
            "evidence": _evidence(case.corrected),
        },
        "symbols": symbols(claim),
    }


def _statement(of: Claim | Correction, verdict: str, hypotheses: tuple[str, ...]) -> dict[str, Any]:
    return {
        "title": of.title,
        "statement": of.statement,
        "latex": of.formula,
        "unicode": line(of.formula),
        "verdict": verdict,
        "qualified": qualified(verdict, of.given),
        "given": [{"name": g.name, "says": g.says} for g in of.given],
        "hypotheses": list(hypotheses),
        "parts": list(of.parts),
        "why": of.sketch,
    }


def _evidence(found: tuple[Evidence, ...]) -> list[dict[str, Any]]:
    shown = ("part", "method", "strength", "outcome", "confirms", "detail", "domain", "certificate")
    return [{name: getattr(e, name) for name in shown} for e in found]
