"""How a slow computation lets someone watch: it runs its steps through a `Track`, which may show a bar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Track", "silently"]

Step = TypeVar("Step")


class Track(Protocol):
    """Hands on the steps one by one."""

    def __call__(self, steps: Sequence[Step], /) -> Iterable[Step]:
        """The same steps, in order."""


def silently(steps: Sequence[Step], /) -> Iterable[Step]:
    """With nobody watching."""
    return steps
