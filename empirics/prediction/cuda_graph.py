"""Work that is recorded once and then played again: a card runs small kernels faster than they can be launched."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

__all__ = ["Replay"]

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Recording:
    places: dict[str, Tensor]  # of the arguments
    play: Callable[[], None]
    found: Any  # which `play` writes anew


class Replay:
    """Calls functions of tensors, one of them `theta`; on a card, from the second call of a kind on, plays a recording.

    The kind stands for all that is not in names and shapes of the arguments. What was found is overwritten when any of
    the recordings is played, for they share their memory.
    """

    def __init__(self, *, recorded: bool) -> None:
        self._recorded = recorded
        self._recordings: dict[Hashable, _Recording | None] = {}
        self._pool: Any = None

    def __call__(self, kind: Hashable, function: Callable[..., Found], **given: Tensor) -> Found:
        record = recorder(given["theta"].device) if self._recorded else None
        if record is None:
            return function(**given)
        kind = kind, *((name, value.shape) for name, value in given.items())
        if kind not in self._recordings:
            self._recordings[kind] = None
            return function(**given)  # which also loads what cannot be loaded while it is recorded
        recording = self._recordings[kind]
        if recording is None:
            places = {name: value.clone() for name, value in given.items()}
            play, made, self._pool = record(lambda: function(**places), self._pool)
            recording = self._recordings[kind] = _Recording(places, play, made)
        for name, value in given.items():
            recording.places[name].copy_(value)
        recording.play()
        found: Found = recording.found
        return found


def recorder(device: torch.device) -> Callable[..., tuple[Callable[[], None], Any, Any]] | None:
    """What records on such a device, if anything does."""
    return _graph if device.type == "cuda" else None


def _graph(work: Callable[[], Any], pool: Any) -> tuple[Callable[[], None], Any, Any]:
    """What plays it again, what it has then found, for nothing is computed yet, and the memory that it is in."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        found = work()
    return graph.replay, found, graph.pool()
