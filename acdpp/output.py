"""What every command needs to print: one JSON object, one error line, one console."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any, NoReturn

from rich.console import Console

__all__ = ["console", "fail", "print_json"]

console = Console(highlight=False)


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on stderr, and out."""
    if message.strip():
        print(f"acdpp: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def print_json(document: dict[str, Any]) -> None:
    """One JSON object and nothing else, numbers in full precision."""
    print(json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False))
