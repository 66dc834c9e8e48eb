"""Read result files, and say ranges and intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache, reduce
from pathlib import Path
from typing import Any

__all__ = ["at", "half", "minus", "result", "span", "table"]

ROOT = Path(__file__).parents[2]
FOLDERS = ("proofs_check/experiments", "docs/results", "acdpp/report")


@cache
def result(name: str) -> dict[str, Any]:
    """The committed result of this name."""
    found = next(path for folder in FOLDERS if (path := ROOT / folder / f"{name}.json").is_file())
    document: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return document


def at(name: str, path: str) -> Any:
    """An entry of a result: `at("mnist-paper", "policies/oracle/best_accuracy/mean")`."""
    return reduce(lambda found, key: found[key], path.split("/"), result(name))


def half(interval: Mapping[str, float]) -> float:
    """Half of an interval's width."""
    return (interval["high"] - interval["low"]) / 2


def span(values: Iterable[float], form: str = ".2f") -> str:
    """The least and the largest value in words.

    >>> span([1.5, 1, 1.25])
    '1.00 to 1.50'
    """
    each = list(values)
    return f"{min(each):{form}} to {max(each):{form}}"


def minus(text: str) -> str:
    """The text with typographic minus signs."""
    return text.replace("-", "−")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
