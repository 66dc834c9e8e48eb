"""The document behind every format of the report.

Cases come from checks that have just run or from the output of `acdpp verify --json`; results from folders of `acdpp
train`. A recorded study compares prediction and measurement where the report has no result.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from acdpp.output import needed_for
from theory.setting import SettingError

__all__ = ["GROUPS", "LETTER", "MARKS", "MEANING", "PARTS", "differs", "gather", "packaged", "read_result"]
__all__ += ["read_verdicts"]

PARTS = {
    "reuse": "Reuse of samples",
    "bound": "The learning error",
    "design": "Design",
    "control": "Control and constraints",
    "regret": "Regret",
    "experiments": "Experiments",
    "beyond": "Beyond the paper: bounds",
    "law": "The law of reuse",
    "market": "Buying at low prices",
    "averaging": "Averaging",
    "drift": "Drift",
}
MEANING = {
    "proved": "true on its whole domain; the verdict says “given” where it also rests on an argument in words or a "
    "cited theorem",
    "certified": "true, rigorously, on a stated range",
    "supported": "true on every example tried, or not excluded by an experiment",
    "conditional": "false as printed, true with the hypotheses that are named",
    "refuted": "false, by a counterexample or a disproof",
    "undecided": "not decided by the evidence",
}
LETTER = (
    "The letter is the printed statement; the substance is what a reader takes from it. They differ where the letter "
    "is empty, and where it fails by a slip that the surrounding text corrects."
)
GROUPS = {  # of the counts of verdicts
    "statements": "statements of the paper, to the letter",
    "statements_in_substance": "in substance",
    "readings": "readings of the paper",
    "own": "claims of our own",
}
MARKS = dict(zip(MEANING, "✓✓≈◐✗?", strict=True))
STATEMENT = {
    *("title", "statement", "latex", "unicode", "verdict"),
    *("qualified", "given", "hypotheses", "why", "evidence"),
}
CLAIM = STATEMENT | {
    *("id", "section", "kind", "substance", "repair"),
    *("domain", "evidence_with_hypotheses", "corrected", "symbols"),
}
COUNTED = {*GROUPS, "slips"}
EVIDENCE = {"part", "method", "strength", "outcome", "confirms", "detail", "domain", "certificate"}


def gather(verdicts: dict[str, Any], results: Sequence[Path], differences: Sequence[str]) -> dict[str, Any]:
    """The document of a report: verdicts, differences from the ledger, and results."""
    from proofs_check import ledger

    return {
        **verdicts,
        "differences": list(differences),
        "complete": len(verdicts["claims"]) == len(ledger.read()),
        "recorded_prediction": json.loads(packaged("prediction-digits-500.json")),
        "results": [read_result(path) for path in results],
    }


def packaged(name: str) -> str:
    """The text of a file beside this module."""
    return files("acdpp.report").joinpath(name).read_text(encoding="utf-8")


def read_verdicts(path: Path) -> dict[str, Any]:
    """Read the output of `acdpp verify --json`."""
    wanted = f"give the output of acdpp verify --json > {path.name}"
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise SettingError(f"cannot read verdicts from {str(path)!r} ({reason}): {wanted}") from None
    if not _whole(document):
        raise SettingError(f"{str(path)!r} holds no verdicts of this version of acdpp: {wanted}")
    return document


def _whole(document: Any) -> bool:
    """True if the document has every field that a report needs."""
    from proofs_check.evidence import Verdict

    verdicts = get_args(Verdict)

    def stated(of: Any, needed: set[str]) -> bool:
        return (
            isinstance(of, dict)
            and of.keys() >= needed
            and of["verdict"] in verdicts
            and all(isinstance(e, dict) and e.keys() >= EVIDENCE for e in of["evidence"])
        )

    return (
        isinstance(document, dict)
        and document.keys() >= {"claims", "summary", "version", "seed"}
        and isinstance(document["summary"], dict)
        and document["summary"].keys() >= {*verdicts, *COUNTED, "total"}
        and isinstance(document["claims"], list)
        and all(
            stated(claim, CLAIM) and (claim["corrected"] is None or stated(claim["corrected"], STATEMENT))
            for claim in document["claims"]
        )
    )


def differs(document: dict[str, Any]) -> list[str]:
    """A sentence per verdict or statement of a file that differs from the ledger."""
    from proofs_check import ledger

    known = {entry.id: entry for entry in ledger.read()}
    found = []
    for claim in document["claims"]:
        if claim["id"] not in known:
            raise SettingError(
                f"{claim['id']!r} is no claim about the paper: use acdpp verify --file for your own claims"
            )
        entry = known[claim["id"]]
        pairs = [(claim["id"], claim, entry.stated)]
        if claim["corrected"] and entry.corrected:
            pairs.append((f"the correction of {claim['id']}", claim["corrected"], entry.corrected))
        for name, now, then in pairs:
            if now["verdict"] != then.verdict:
                found.append(f"{name} was recorded as {then.verdict} and is {now['verdict']}")
            if (now["statement"], now["latex"]) != (then.says, then.formula):
                found.append(f"{name}: its statement is not the recorded one")
    return found


def read_result(path: Path) -> dict[str, Any]:
    """The checked summary of a finished result, with the name of its folder."""
    with needed_for("reading a result"):
        from empirics.results.folder import read_result as read

    return {"name": path.resolve().name, **read(path, columns=[]).summary}
