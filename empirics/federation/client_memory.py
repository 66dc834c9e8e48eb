"""A client's memory on its own disk: samples drawn, samples admitted, and their rounds of arrival.

A sample is admitted in the round that the server has booked. Until the server confirms that in its next message, drawn
samples wait: a killed client, a lost reply or a round that the server repeats costs no sample and admits none twice.
Waiting samples are admitted first under the next grant, before new ones are drawn.

The memory is one file, replaced as a whole before training begins, and locked: Flower may start a second process before
the first has ended. Orders are obeyed in the order of their rounds; a late or repeated order is refused.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
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
    """A client's grant in a round, its limits, and the last round that the server has booked for it."""

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

    def __getitem__(self, part: Any) -> Self:
        return replace(self, x=self.x[part], y=self.y[part])

    def then(self, later: Self) -> Self:
        """These samples followed by later ones; an empty side has no shape yet."""
        if not len(self) or not len(later):
            return self if len(self) else later
        return replace(self, x=np.concatenate([self.x, later.x]), y=np.concatenate([self.y, later.y]))


NONE = Samples(np.zeros((0, 0)), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class Source:
    """Progress of a source: samples drawn in all, the last round, samples drawn in it, and the source's state."""

    drawn: int = 0
    round: int = 0
    slots: int = 0
    state: Any = None


Draw = Callable[[int, int, Source], tuple[Samples, Any]]  # (round, count, progress) to (samples, new state)


@dataclass
class DiskMemory:
    """`held` samples are booked, with their rounds of arrival `entered`; `waiting` ones are not, and their first
    `admitted` are in memory for the round `pending`."""

    path: Path
    held: Samples = NONE
    entered: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    waiting: Samples = NONE
    pending: Order | None = None
    admitted: int = 0
    source: Source = field(default_factory=Source)
    last: tuple[int, int] = (0, 0)  # the latest ordered round, and the latest booked round then

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The memory in a folder, empty if the folder has none."""
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                return cls(path)
            with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
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
    def locked(cls, folder: Path) -> Iterator[Self]:
        """The memory in a folder, while no other process of this client has it."""
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK):
            yield cls.open(folder)

    def save(self) -> None:
        """Write the file, whole or not at all."""
        assert self.pending is not None  # saved only after an order
        about = {"format": FORMAT, "admitted": self.admitted, "last": self.last}
        about |= {"pending": asdict(self.pending), "source": asdict(self.source)}
        arrays: dict[str, Any] = {
            "held_x": self.held.x,
            "held_y": self.held.y,
            "entered": self.entered,
            "door_x": self.waiting.x,
            "door_y": self.waiting.y,
            "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        }

        def write(beside: Path) -> None:
            with beside.open("wb") as handle:
                np.savez(handle, **arrays)

        replace_file(self.path, write)

    def admit(self, order: Order, draw: Draw) -> None:
        """Obey an order and save: waiting samples are admitted first, `draw` gives the missing ones."""
        if order.round < self.last[0] or order.booked < self.last[1]:
            raise SettingError(
                f"an order of round {order.round} with round {order.booked} booked, after an order of round "
                f"{self.last[0]} with {self.last[1]}: it is late or repeated, or the server was set back"
            )
        self._settle(order.booked)
        missing = order.grant - len(self.waiting)
        if missing > 0:
            before = self.source
            if before.round != order.round:
                before = Source(before.drawn, order.round, 0, before.state)
            fresh, state = draw(order.round, missing, before)
            if len(fresh) > missing:
                raise SettingError(f"the source gave {len(fresh)} samples, at most {missing} were requested")
            try:
                self.waiting = self.waiting.then(fresh)
                self.held.then(fresh)
            except ValueError:
                raise SettingError(
                    f"the source gave inputs of shape {fresh.x.shape[1:]}, earlier inputs have another shape"
                ) from None
            self.source = Source(before.drawn + len(fresh), order.round, before.slots + len(fresh), state)
        self.pending, self.admitted = order, min(order.grant, len(self.waiting))
        self.last = (order.round, order.booked)
        self.save()

    def _settle(self, booked: int) -> None:
        """Admit the pending samples if the server has booked their round, else let them wait."""
        if self.pending is not None and booked >= self.pending.round:
            self.held, self.entered = self._now()
            self.waiting = self.waiting[self.admitted :]
        self.pending = None

    def _now(self) -> tuple[Samples, NDArray[np.int64]]:
        """The samples in memory in the pending round, and their rounds of arrival."""
        if self.pending is None:
            return self.held, self.entered
        fresh, gone = self.waiting[: self.admitted], self._dropped()
        entered = np.concatenate([self.entered, np.full(len(fresh), self.pending.round)])
        return self.held.then(fresh)[gone:], entered[gone:]

    def _dropped(self) -> int:
        """The number of held samples, which are in order of arrival, that go in the pending round."""
        assert self.pending is not None
        old = int((self.entered <= self.pending.round - self.pending.retention).sum())
        return max(old, len(self.held) + self.admitted - self.pending.capacity)

    @property
    def samples(self) -> Samples:
        """The samples to train on in this round."""
        return self._now()[0]

    @property
    def dropped(self) -> Samples:
        """The samples that were held in the last booked round, and no longer are."""
        return NONE if self.pending is None else self.held[: self._dropped()]

    @property
    def cohorts(self) -> dict[int, int]:
        """Numbers of samples in memory by round of arrival, the oldest first."""
        rounds, counts = np.unique(self._now()[1], return_counts=True)
        return dict(zip(rounds.tolist(), counts.tolist(), strict=True))
