"""A field of the settings: its default, and the sentence that documents it."""

from __future__ import annotations

from dataclasses import field
from typing import Any

__all__ = ["setting"]


def setting(default: Any, help: str) -> Any:  # noqa: A002 (the word that users of it know)
    """A dataclass field with this default, whose metadata holds `help`."""
    return field(default=default, metadata={"help": help})
