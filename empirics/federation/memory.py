"""A client's memory on its own disk: what it has drawn, what of it has been admitted, and since when.

A sample is admitted in the round that the server has booked. Until the server says so, in its next message, what was
drawn waits at the door: a client that is killed, a reply that is lost or a server that begins a round again costs no
sample and admits none twice. What waits is admitted first under the next grant, before anything new is drawn.

All of it is one file, replaced as a whole before training begins, and held by one process at a time: Flower may start
another before the first is done. Orders are obeyed in the order of their rounds; one that comes late, or again after
a later one, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from empirics.files import replace_file
from theory.setting import SettingError

__all__ = ["DiskMemory", "Draw", "Order", "Samples"]

FORMAT = 1
FILE, LOCK = "memory.npz", ".lock"


@dataclass(frozen=True)
class Order:
    """What the server grants a client in a round, and the last round that it has booked for this client."""

    round: int
    grant: int
    retention: int
    capacity: int
    booked: int


@dataclass(frozen=True)
class Samples:
    """Inputs and labels, in order of arrival."""

    x: NDArray[Any]
    y: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, part: Any) -> Samples:
        return Samples(self.x[part], self.y[part])

    def then(self, later: Samples) -> Samples:
        """These, and others after them."""
        if not len(self):  # whose inputs have no shape yet
            return later
        return (
            Samples(np.concatenate([self.x, later.x]), np.concatenate([self.y, later.y]))
            if len(later)
            else self
        )


NONE = Samples(np.zeros((0, 0)), np.zeros(0, dtype=np.int64))
Draw = Callable[
    [int, int, "Source"], tuple[Samples, Any]
]  # round, count, so far -> samples, state of the source


@dataclass(frozen=True)
class Source:
    """How far the source has been drawn from: in all, in which round last and how much in it, and its own state."""

    drawn: int = 0
    round: int = 0
    slots: int = 0
    state: Any = None


@dataclass
class DiskMemory:
    """`held` has been booked, with the rounds that it was `entered` in; `door` waits, and `admitted` of it, the first,
    are in memory for the round `pending`."""

    path: Path
    held: Samples = NONE
    entered: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    door: Samples = NONE
    pending: Order | None = None
    admitted: int = 0
    source: Source = field(default_factory=Source)
    last: tuple[int, int] = (0, 0)  # the latest round that was ordered, and the latest that was booked then

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The memory in a folder, empty if there is none yet."""
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                return cls(path)
            with np.load(path, allow_pickle=False) as file:
                saved = dict(file)
        except (OSError, ValueError, BadZipFile) as error:
            raise SettingError(f"the memory {str(path)!r} cannot be read ({error})") from None
        about = json.loads(bytes(saved["about"]).decode())
        if about.get("format") != FORMAT:
            raise SettingError(f"{str(path)!r} was written by another version of acdpp: give another folder")
        return cls(
            path,
            Samples(saved["held_x"], saved["held_y"]),
            saved["entered"],
            Samples(saved["door_x"], saved["door_y"]),
            Order(**about["pending"]),
            about["admitted"],
            Source(**about["source"]),
            tuple(about["last"]),
        )

    @classmethod
    @contextmanager
    def held_alone(cls, folder: Path) -> Iterator[Self]:
        """The same, while no other process of this client has it."""
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK):
            yield cls.open(folder)

    def save(self) -> None:
        """Onto the disk, whole or not at all."""
        assert self.pending is not None  # what is saved has just obeyed an order
        about = {"format": FORMAT, "admitted": self.admitted, "last": self.last}
        about["pending"] = asdict(self.pending)
        about["source"] = asdict(self.source)
        arrays: dict[str, Any] = {
            "held_x": self.held.x,
            "held_y": self.held.y,
            "entered": self.entered,
            "door_x": self.door.x,
            "door_y": self.door.y,
            "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        }

        def write(beside: Path) -> None:
            with beside.open("wb") as handle:
                np.savez(handle, **arrays)

        replace_file(self.path, write)

    # --- a round -------------------------------------------------------------------------------------------

    def admit(self, order: Order, draw: Draw) -> None:
        """Make the memory that of the order's round and save it; `draw` is asked for what does not wait at the door."""
        self._refuse_late(order)
        self._settle(order.booked)
        missing = order.grant - len(self.door)
        if missing > 0:
            before = self.source
            if before.round != order.round:
                before = Source(before.drawn, order.round, 0, before.state)
            fresh, state = draw(order.round, missing, before)
            if len(fresh) > missing:
                raise SettingError(f"the source gave {len(fresh)} samples where {missing} were asked for")
            try:
                self.door = self.door.then(fresh)
                self.held.then(fresh)
            except ValueError:
                raise SettingError(
                    f"the source gave inputs of shape {fresh.x.shape[1:]}, others are of another"
                ) from None
            self.source = Source(before.drawn + len(fresh), order.round, before.slots + len(fresh), state)
        self.pending, self.admitted = order, min(order.grant, len(self.door))
        self.last = (order.round, order.booked)
        self.save()

    def _refuse_late(self, order: Order) -> None:
        if order.round < self.last[0] or order.booked < self.last[1]:
            raise SettingError(
                f"an order of round {order.round} with round {order.booked} booked, after one of round {self.last[0]} "
                f"with {self.last[1]}: it is late or repeated, or the server was set back"
            )

    def _settle(self, booked: int) -> None:
        """What the server has booked is admitted; what it has not goes back to the door."""
        if self.pending is not None and booked >= self.pending.round:
            self.held, self.entered = self._now()
            self.door = self.door[self.admitted :]
        self.pending = None

    def _now(self) -> tuple[Samples, NDArray[np.int64]]:
        """What is in memory in the pending round, and since when."""
        if self.pending is None:
            return self.held, self.entered
        order, fresh = self.pending, self.door[: self.admitted]
        young = self.entered > order.round - order.retention
        entered = np.concatenate([self.entered[young], np.full(len(fresh), order.round)])
        kept = slice(max(len(entered) - order.capacity, 0), None)
        return self.held[young].then(fresh)[kept], entered[kept]

    @property
    def samples(self) -> Samples:
        """To train on in this round."""
        return self._now()[0]

    @property
    def cohorts(self) -> dict[int, int]:
        """How many of them came in which round, the oldest first."""
        rounds, counts = np.unique(self._now()[1], return_counts=True)
        return dict(zip(rounds.tolist(), counts.tolist(), strict=True))
