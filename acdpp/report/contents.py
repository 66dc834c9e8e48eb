"""What every format of the report tells, as one plain document.

The cases come from checks that have just run or from a file that `acdpp verify --json` printed; the results from
folders of `acdpp train`. Beside them stands how far prediction and measurement were apart when acdpp was released,
so that a report without a result can tell too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from theory.setting import SettingError

__all__ = ["differs", "gather", "read_result", "read_verdicts"]

NEEDED = {"id", "section", "kind", "title", "verdict", "evidence", "corrected", "symbols"}


def gather(verdicts: dict[str, Any], results: Sequence[Path], differences: Sequence[str]) -> dict[str, Any]:
    """The document of a report: the verdicts', with what differs from the ledger and with the results."""
    return {
        **verdicts,
        "differences": list(differences),
        "recorded_prediction": _recorded(),
        "results": [read_result(path) for path in results],
    }


def _recorded() -> dict[str, Any]:
    """The study that the README quotes, trained and predicted."""
    text = files("acdpp.report").joinpath("prediction-digits-500.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def read_verdicts(path: Path) -> dict[str, Any]:
    """What `acdpp verify --json` printed into a file."""
    wanted = f"give a file that acdpp verify --json > {path.name} has written"
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise SettingError(f"cannot read verdicts from {str(path)!r} ({reason}): {wanted}") from None
    claims = document.get("claims") if isinstance(document, dict) else None
    if not isinstance(claims, list) or not all(isinstance(c, dict) and c.keys() >= NEEDED for c in claims):
        raise SettingError(f"{str(path)!r} holds no verdicts: {wanted}")
    return document


def differs(document: dict[str, Any]) -> list[str]:
    """A sentence for each verdict of a file that is not the recorded one."""
    from proofs_check import ledger

    known = {entry.id: entry for entry in ledger.read()}
    found = []
    for claim in document["claims"]:
        entry = known.get(claim["id"])
        if entry is None:
            found.append(f"{claim['id']} is not in the ledger; it is {claim['verdict']}")
        elif entry.stated.verdict != claim["verdict"]:
            found.append(f"{claim['id']} was recorded as {entry.stated.verdict} and is {claim['verdict']}")
        elif (
            claim["corrected"]
            and entry.corrected
            and entry.corrected.verdict != claim["corrected"]["verdict"]
        ):
            was, is_ = entry.corrected.verdict, claim["corrected"]["verdict"]
            found.append(f"the correction of {claim['id']} was recorded as {was} and is {is_}")
    return found


def read_result(path: Path) -> dict[str, Any]:
    """The summary of a finished result, which is checked before it is believed; and the words of its folder."""
    try:
        from empirics.records.folder import read_result as read
    except ImportError as error:
        raise SettingError(f"reading a result needs {error.name}: pip install 'acdpp[empirics]'") from None

    result = read(path, columns=[])
    return {"name": path.resolve().name, **result.summary}
