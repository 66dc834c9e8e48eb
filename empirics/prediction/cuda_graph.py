"""CUDA graphs: work recorded once and replayed, since a GPU runs small kernels faster than they can be launched."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

__all__ = ["GraphReplay"]

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Recording:
    arguments: dict[str, Tensor]
    replay: Callable[[], None]
    found: Any  # which `replay` overwrites


class GraphReplay:
    """Calls functions of tensors, one of them `theta`. On a GPU it replays a recording from a kind's second call on.

    The kind stands for everything but the names and shapes of the arguments. A result is overwritten by the next replay
    of any recording, since they share memory.
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
            return function(**given)  # which also loads what cannot be loaded during a recording
        recording = self._recordings[kind]
        if recording is None:
            arguments = {name: value.clone() for name, value in given.items()}
            replay, made, self._pool = record(lambda: function(**arguments), self._pool)
            recording = self._recordings[kind] = _Recording(arguments, replay, made)
        for name, value in given.items():
            recording.arguments[name].copy_(value)
        recording.replay()
        found: Found = recording.found
        return found


def recorder(device: torch.device) -> Callable[..., tuple[Callable[[], None], Any, Any]] | None:
    """The function that records on a device, or None."""
    return _graph if device.type == "cuda" else None


def _graph(work: Callable[[], Any], pool: Any) -> tuple[Callable[[], None], Any, Any]:
    """A replay function, its results, which are not computed before the first replay, and their memory pool."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        found = work()
    return graph.replay, found, graph.pool()
