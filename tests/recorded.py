"""Numbers that are held to a record.

A record knows no truth, which is what the other tests are for: it says that some number changed, and which. Whoever
means to change one writes the record anew, and the difference is in the commit: ACDPP_RECORD=1 pytest FILE
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

ALMOST = 1e-6  # of a number: far above rounding, which another processor may do otherwise


def numbers(document: Any, name: str = "") -> dict[str, float]:
    """All numbers in it, by the way to them."""
    if isinstance(document, dict):
        return {k: v for key, one in document.items() for k, v in numbers(one, f"{name}/{key}").items()}
    if isinstance(document, list | tuple):
        return {k: v for i, one in enumerate(document) for k, v in numbers(one, f"{name}/{i}").items()}
    return {name: document} if isinstance(document, int | float) and not isinstance(document, bool) else {}


def differing(found: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """The names of the numbers that are not as recorded."""
    names = sorted(found.keys() | recorded.keys())
    values = ([one.get(name, np.nan) for name in names] for one in (found, recorded))
    same = np.isclose(*values, rtol=ALMOST, atol=1e-10, equal_nan=True)
    return [name for name, is_ in zip(names, same, strict=True) if not is_]


def held(record: Path, name: str, found: dict[str, float]) -> None:
    """It is as recorded under this name; with ACDPP_RECORD set it is recorded."""
    known = json.loads(record.read_text(encoding="utf-8"))
    if "ACDPP_RECORD" in os.environ:
        known[name] = {key: float(f"{value:.9g}") for key, value in found.items()}
        record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    assert differing(found, known.get(name, {})) == []
