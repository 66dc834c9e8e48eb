"""What every command needs to print: one JSON object, one error line, one console; on any kind of output."""

from __future__ import annotations

import codecs
import json
import re
import sys
from fractions import Fraction
from io import TextIOWrapper
from typing import Any, NoReturn

from rich.console import Console

from theory.setting import SettingError

__all__ = ["console", "fail", "never_refuse", "print_json"]

console = Console(highlight=False)


def never_refuse() -> None:
    """Let standard output and standard error replace what their encoding does not have, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


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
    """One JSON object and nothing else, numbers in full precision; in ASCII where the output can't hold the rest."""
    encoding = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name
    try:
        text = json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        raise SettingError(f"the result has a number that JSON can't hold: {error}") from None
    halves = re.search("[\ud800-\udfff]", text)  # bytes of a file name that are no UTF-8
    print(json.dumps(document, default=_plain) if halves or encoding != "utf-8" else text)
