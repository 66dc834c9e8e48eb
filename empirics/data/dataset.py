"""A data set in memory: inputs, labels, and a digest that says exactly which numbers these are."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theory.setting import SettingError

__all__ = ["Dataset", "HeldOut", "Images", "Labels", "Pixels", "digest", "scaled"]

Images = NDArray[np.float32]
Labels = NDArray[np.int64]
Pixels = NDArray[np.uint8]


def digest(*arrays: NDArray[Any]) -> str:
    """SHA-256 over type, shape and little-endian bytes of the arrays, in this order."""
    total = hashlib.sha256()
    for array in arrays:
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        total.update(f"{plain.dtype.str}{plain.shape}".encode())
        total.update(plain.data)
    return total.hexdigest()


def scaled(pixels: Pixels, largest: int = 255) -> Images:
    """Pixels 0 … largest as float32 in [0, 1]."""
    return np.divide(pixels, np.float32(largest), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The samples held out as a test set, with times and clients of all samples if known."""

    which: NDArray[np.bool_]
    time: NDArray[np.float64] | None = None
    client: Labels | None = None

    def together(self, train: NDArray[Any], test: NDArray[Any]) -> NDArray[Any]:
        """Training and test samples, each in its place.

        >>> HeldOut(np.array([False, True, False])).together(np.array([1, 3]), np.array([2])).tolist()
        [1, 2, 3]
        """
        found = np.empty((len(self.which), *train.shape[1:]), train.dtype)
        found[~self.which], found[self.which] = train, test
        return found


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Times of all samples, held out or not; in seconds if `dated`, else in the unit of the file."""

    time: NDArray[np.float64]
    dated: bool

    def in_a_round(self, rounds: int) -> float:
        """Samples per round."""
        return len(self.time) / rounds

    def takes(self, K: int, rounds: int) -> float:
        """Duration of K of these rounds if all last equally long.

        >>> come = Arrivals(np.array([0.0, 1, 2, 9, 10, 11, 12]), dated=False)
        >>> come.takes(2, 6), come.takes_by_count(2, 6)
        (4.0, 2.0)
        """
        return float(K * np.ptp(self.time) / rounds)

    def takes_by_count(self, K: int, rounds: int) -> float:
        """Median duration of K rounds if all have equally many samples."""
        ends = np.quantile(self.time, np.linspace(0, 1, rounds + 1))
        return float(np.median(ends[K:] - ends[:-K]))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs `(N, …)` and labels `0 … classes-1`, to train and to test.

    The inputs of the data sets that are loaded by name are images `(N, channels, height, width)` in [0, 1].

    `digest` is that of `train_x, train_y, test_x, test_y`, and `time` and `client` if there are any; equal digests mean
    equal numbers.
    """

    name: str
    train_x: Images
    train_y: Labels
    test_x: Images
    test_y: Labels
    classes: int
    digest: str
    time: NDArray[np.float64] | None = None  # of each training sample, where it is known
    client: Labels | None = None  # of each training sample, from 0 on, where it is known
    held_out: HeldOut | None = None  # where the test set was taken from among the samples
    class_names: tuple[int | str, ...] = ()  # the labels as they were, in their order; none for 0 … classes-1
    dated: bool = False  # times are seconds

    def __post_init__(self) -> None:
        for split, x, y in (("training", self.train_x, self.train_y), ("test", self.test_x, self.test_y)):
            if x.dtype != np.float32 or y.dtype != np.int64:
                raise SettingError(
                    f"{split} inputs must be float32 and labels int64, got {x.dtype} and {y.dtype}"
                )
            if y.ndim != 1 or len(x) != len(y) or not len(y):
                raise SettingError(
                    f"each {split} input needs one label, got {len(x)} inputs and labels {y.shape}"
                )
            if y.min() < 0 or y.max() >= self.classes:
                raise SettingError(
                    f"{split} labels must lie in 0 … {self.classes - 1}, got {y.min()} … {y.max()}"
                )

    @classmethod
    def of(
        cls, name: str, train: tuple[Images, Labels], test: tuple[Images, Labels], classes: int, **more: Any
    ) -> Self:
        """The data set of these arrays, with its digest; `more` are the fields from `time` on."""
        last = [more[name] for name in ("time", "client") if more.get(name) is not None]
        return cls(name, *train, *test, classes, digest(*train, *test, *last), **more)

    @property
    def arrivals(self) -> Arrivals | None:
        """Times of all samples, if known."""
        time = self.time if self.held_out is None else self.held_out.time
        return None if time is None else Arrivals(time, self.dated)

    def as_stream(self) -> Self:
        """All samples in their order, none held out: each is tested on before it is learnt."""
        x, y, held = self.train_x, self.train_y, self.held_out
        time, client = self.time, self.client
        if held is not None:
            x, y = held.together(x, self.test_x), held.together(y, self.test_y)
            time, client = held.time, held.client
        return replace(
            self, train_x=x, train_y=y, test_x=x, test_y=y, time=time, client=client, held_out=None
        )
