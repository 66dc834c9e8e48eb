"""What can be chosen about a file; apart from the rest, so that offering it does not load matplotlib."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Format", "Style"]


class Style(StrEnum):
    """Where a figure will be seen."""

    paper = "paper"
    slides = "slides"
    dark = "dark"


class Format(StrEnum):
    """What a figure is written as."""

    png = "png"
    svg = "svg"
    pdf = "pdf"
