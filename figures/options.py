"""Names that commands need before matplotlib is loaded: styles, formats, progress, missing measures."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

from theory.setting import SettingError

__all__ = ["Format", "NotMeasured", "Style", "Track", "silently"]

Step = TypeVar("Step")


class Style(StrEnum):
    paper = "paper"
    slides = "slides"
    dark = "dark"


class Format(StrEnum):
    png = "png"
    svg = "svg"
    pdf = "pdf"


class NotMeasured(SettingError):
    """A figure needs a quantity that the result's study did not measure; its other figures can still be drawn."""


class Track(Protocol):
    """Iterates over the steps of a slow computation, and may show its progress."""

    def __call__(self, steps: Sequence[Step], /) -> Iterable[Step]:
        """The steps, in order."""


def silently(steps: Sequence[Step], /) -> Iterable[Step]:
    """A `Track` that shows nothing."""
    return steps
