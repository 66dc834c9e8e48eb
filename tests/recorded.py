"""Compare numbers with a record.

A record says which numbers changed, not which are right: other tests do that. To change a record on purpose:
ACDPP_RECORD=1 pytest FILE
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

RELATIVE_TOLERANCE = 1e-6  # far above the rounding in which processors differ


def numbers(document: Any, name: str = "") -> dict[str, float]:
    """Collect all numbers of a document by their path."""
    if isinstance(document, dict):
        return {k: v for key, value in document.items() for k, v in numbers(value, f"{name}/{key}").items()}
    if isinstance(document, list | tuple):
        return {k: v for i, value in enumerate(document) for k, v in numbers(value, f"{name}/{i}").items()}
    return {name: document} if isinstance(document, int | float) and not isinstance(document, bool) else {}


def differing(found: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """Names of the numbers that differ from the record."""
    names = sorted(found.keys() | recorded.keys())
    values = ([one.get(name, np.nan) for name in names] for one in (found, recorded))
    same = np.isclose(*values, rtol=RELATIVE_TOLERANCE, atol=1e-10, equal_nan=True)
    return [name for name, is_ in zip(names, same, strict=True) if not is_]


def held(record: Path, name: str, found: dict[str, float]) -> None:
    """Assert that the numbers are as recorded under this name; with ACDPP_RECORD set, record them first."""
    known = json.loads(record.read_text(encoding="utf-8"))
    if "ACDPP_RECORD" in os.environ:
        known[name] = {key: float(f"{value:.9g}") for key, value in found.items()}
        record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    assert differing(found, known.get(name, {})) == []
