"""Reads a batch of CIFAR-10's python version, a pickle, without running what a pickle can be made to run.

A pickle is a program: it can call any importable function. Three fences keep this one from doing so.

1. Before anything is executed, every opcode is looked up in a list of those that build numbers, strings,
   tuples, lists and dicts, plus the few that an array needs: find a name, call it, set its state. Extension
   codes, persistent ids and class instances are not on it. A memo index, which costs memory, may not exceed
   its position in the file.
2. `find_class`, through which every name goes, knows three names of numpy and imports nothing.
3. Even these three do not lead to numpy but to `_Inert` classes, which remember their arguments and do
   nothing. So the only callables that a pickle can reach have no effect, and no code of numpy sees a state
   made by the file. The array is made here, from plain `bytes` of the right length.

What is left to a hostile file is to be refused, or to waste memory and time in proportion to its size.
"""

import io
import pickle
import pickletools
from collections.abc import Iterator
from typing import Any

import numpy as np

from empirics.data.dataset import Pixels
from empirics.data.files import brief, corrupt

__all__ = ["labels_and_pixels"]

IMAGE_BYTES = 3072  # bytes of an image: 3 colours of 32 × 32
MEMO = {"BINPUT", "LONG_BINPUT"}
ALLOWED = (
    {"PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINGET", "LONG_BINGET"}
    | {"NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2"}
    | {"SHORT_BINSTRING", "BINSTRING", "SHORT_BINBYTES", "BINBYTES", "SHORT_BINUNICODE", "BINUNICODE"}
    | {"EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
    | {"EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS"}
    | {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"}
    | MEMO
)


class _Inert:
    """Stands in for a name of numpy: remembers what it is called with, does nothing.

    It has `__setstate__` so that BUILD never sets attributes, on an instance or on the class itself.
    """

    __slots__ = ("arguments", "state")

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments
        self.state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Reconstruct(_Inert):
    __slots__ = ()


class _Array(_Inert):
    __slots__ = ()


class _Type(_Inert):
    __slots__ = ()


KNOWN: dict[tuple[str, str], type[_Inert]] = {
    ("numpy.core.multiarray", "_reconstruct"): _Reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _Reconstruct,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Inert]:
        try:
            return KNOWN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {brief(f'{module}.{name}')!r}") from None


def labels_and_pixels(source: object, content: bytes) -> tuple[Pixels, Pixels]:
    """Labels `(N,)` and pixels `(N, 3072)` of a batch; `source` names the file in a refusal."""
    try:
        _only_plain(content)
        batch = _Reader(io.BytesIO(content), encoding="bytes").load()
    except Exception as error:  # an unpickler may raise anything on a damaged file
        raise corrupt(source, f"as a batch of CIFAR-10 it is refused: {error}") from error
    if not isinstance(batch, dict):
        raise corrupt(source, "a batch of CIFAR-10 is a dict")
    labels, data = (batch.get(key.encode(), batch.get(key)) for key in ("labels", "data"))
    if not (isinstance(labels, list) and labels and all(type(n) is int and 0 <= n <= 9 for n in labels)):
        raise corrupt(source, "its labels should be a list of numbers 0 … 9")
    pixels = _pixels(data)
    if pixels is None or len(pixels) != len(labels):
        raise corrupt(source, f"its data should be an array of bytes, {len(labels)} × {IMAGE_BYTES}")
    return np.array(labels, np.uint8), pixels


def _only_plain(content: bytes) -> None:
    operations: Iterator[tuple[pickletools.OpcodeInfo, Any, Any]] = pickletools.genops(content)
    for opcode, argument, position in operations:
        if opcode.name not in ALLOWED:
            raise pickle.UnpicklingError(f"it has the opcode {opcode.name}")
        if opcode.name in MEMO and not argument <= position:
            raise pickle.UnpicklingError("it has a memo index beyond its position")


def _pixels(value: Any) -> Pixels | None:
    match value:
        case _Reconstruct(
            state=(_, (int(rows), 3072), _Type(arguments=(b"u1" | "u1", *_)), int(by_column), bytes(pixels))
        ) if len(pixels) == rows * IMAGE_BYTES:
            flat = np.frombuffer(pixels, np.uint8)
            return flat.reshape(IMAGE_BYTES, rows).T if by_column else flat.reshape(rows, IMAGE_BYTES)
    return None
