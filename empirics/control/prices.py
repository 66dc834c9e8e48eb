"""Prices c(1), c(2), … of a sample: drawn by a process, read from a trace, or given by an object of the user's own.

All enter by `make_prices`, and whatever comes out is positive, finite and known round by round.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from empirics.control.price_file import read_prices
from empirics.data.arrays import real_array
from empirics.data.dataset import digest
from empirics.draws import Purpose, uniform
from empirics.settings.costs import PRICE_MAX, PRICE_MIN, CostProcess, Process
from empirics.settings.study import GIVEN, Study
from theory.market.prices import Atoms, PriceLaw, Uniform
from theory.setting import SettingError

__all__ = ["Drawn", "Prices", "Trace", "checked", "law_of", "make_prices", "prices_of", "read_trace"]

Floats = NDArray[np.float64]
WHOLE_PRICES_MAX = 10**4  # distinguished one by one
LAW_SAMPLES = 2000  # prices that stand for a law without a closed form
PARTS = ("mean", "depends_on_horizon", "digest", "chunks")


class Prices(Protocol):
    """The protocol of a source of prices; an object of the user's own needs these four and no base class."""

    @property
    def mean(self) -> Fraction:
        """The mean cost that designs assume."""

    @property
    def depends_on_horizon(self) -> bool:
        """c(t) depends on the number of rounds."""

    @property
    def digest(self) -> str | None:
        """A digest where settings do not determine the prices, such as a trace's SHA-256; else None."""

    def chunks(self, seed: int, replicates: int, rounds: int, size: int) -> Iterator[Floats]:
        """c(1), …, c(rounds) in arrays (size, replicates), the last with the rows that remain.

        The numbers follow from the arguments other than `size`, which only cuts them into pieces.
        """


@dataclass(frozen=True)
class Drawn:
    """The prices of a built-in process: each is addressed by seed, replicate and round."""

    process: CostProcess

    def __post_init__(self) -> None:
        if self.process.process == Process.trace:
            raise SettingError("a trace is read from its file and not drawn: use make_prices or read_trace")

    @property
    def mean(self) -> Fraction:
        return self.process.mean

    @property
    def depends_on_horizon(self) -> bool:
        """Drifting alone stretches over the horizon."""
        return self.process.process == Process.drifting

    @property
    def digest(self) -> None:
        """None: the settings and the seed say it all."""

    def _fresh(self, seed: int, replicates: Any, rounds: Any) -> Floats:
        low, high = self.process.low, self.process.high
        u = uniform(seed, Purpose.cost, replicate=replicates, t=rounds)
        if self.process.process == Process.integer:
            return np.minimum(np.floor(low + u * (high - low + 1)), high)  # the sum may round up to high + 1
        return low + u * (high - low)

    def chunks(self, seed: int, replicates: int, rounds: int, size: int) -> Iterator[Floats]:
        runs = np.arange(replicates)
        last: Floats | None = None
        for first in range(1, rounds + 1, size):
            t = np.arange(first, min(first + size, rounds + 1))[:, np.newaxis]
            c = self._fresh(seed, runs, t)
            if self.process.process == Process.drifting and rounds > 1:
                c = c * (1 + self.process.drift * (2 * (t - 1) / (rounds - 1) - 1))
            elif self.process.process == Process.markov:
                kept = uniform(seed, Purpose.cost_renewal, replicate=runs, t=t) < self.process.stay
                if last is not None:
                    c, kept = np.concatenate([last, c]), np.pad(kept, ((1, 0), (0, 0)))
                renewed = np.maximum.accumulate(np.where(kept, 0, np.arange(len(c))[:, np.newaxis]), axis=0)
                c = np.take_along_axis(c, renewed, axis=0)[-len(t) :]
                last = c[-1:]
            yield c


def _all_prices(what: str, values: Any) -> Floats:
    """A copy as float64, refused unless every number can be a price."""
    found = real_array(what, values).astype(np.float64)
    wrong = found[~((found > PRICE_MIN) & (found < PRICE_MAX))]
    if wrong.size:
        raise SettingError(
            f"{what} must lie between {PRICE_MIN:g} and {PRICE_MAX:g}, such as 2.5, got {wrong.flat[0]:g}"
        )
    return found


@dataclass(frozen=True, eq=False, init=False)
class Trace:
    """Given prices: (rounds,), the same in every replicate, or (rounds, replicates).

    A study may be shorter or have fewer replicates, and takes the first; nothing is repeated or filled in.

    >>> Trace([1, 2.5, 0.1]).mean
    Fraction(6, 5)
    """

    values: Floats

    def __init__(self, values: ArrayLike) -> None:
        found = _all_prices("the prices of a trace", values)
        if found.ndim not in (1, 2) or not found.size:
            raise SettingError(
                "a trace must have one price for each round, or a row of prices, one for each replicate: got "
                f"an array of shape {found.shape}"
            )
        found.flags.writeable = False
        object.__setattr__(self, "values", found)

    @cached_property
    def mean(self) -> Fraction:
        """Over the whole trace, exact for the shortest decimals of its numbers."""
        exact = Context(prec=100, traps=[Inexact])
        total = Decimal(0)
        for value in self.values.flat:
            total = exact.add(total, Decimal(repr(float(value))))
        return Fraction(total) / self.values.size

    @property
    def depends_on_horizon(self) -> bool:
        """No: a longer study sees the same prices first."""
        return False

    @cached_property
    def digest(self) -> str:
        return digest(self.values)

    def chunks(self, seed: int, replicates: int, rounds: int, size: int) -> Iterator[Floats]:
        """See `Prices`; the seed plays no part."""
        if rounds > len(self.values):
            raise SettingError(
                f"the trace has {len(self.values)} prices and the study {rounds} rounds: give a price for each "
                "round, or ask for fewer rounds"
            )
        if self.values.ndim == 2 and replicates > self.values.shape[1]:
            raise SettingError(
                f"the trace has prices for {self.values.shape[1]} replicates and the study {replicates}: give a "
                "column for each, or one list for all"
            )
        return self._cut(replicates, rounds, size)

    def _cut(self, replicates: int, rounds: int, size: int) -> Iterator[Floats]:
        columns = self.values if self.values.ndim == 2 else self.values[:, np.newaxis]
        for first in range(0, rounds, size):
            part = columns[first : min(first + size, rounds), :replicates]
            yield np.array(np.broadcast_to(part, (len(part), replicates)))


def read_trace(path: str | os.PathLike[str], column: str | None = None) -> Trace:
    """The trace of a CSV file: one price per line, with or without a name in the first line, or one of its columns."""
    return Trace(read_prices(path, column))


@dataclass(frozen=True, eq=False)
class _Checked:
    """Prices of the user's own, each chunk of which is checked before it is used."""

    source: Any
    mean: Fraction
    depends_on_horizon: bool
    digest: str | None

    def chunks(self, seed: int, replicates: int, rounds: int, size: int) -> Iterator[Floats]:
        given = iter(self.source.chunks(seed, replicates, rounds, size))
        who = f"{type(self.source).__name__}.chunks"
        for first in range(0, rounds, size):
            wanted = (min(size, rounds - first), replicates)
            try:
                chunk = next(given)
            except StopIteration:
                raise SettingError(f"{who} ended after {first} of {rounds} rounds") from None
            found = _all_prices(f"the prices of {who}", chunk)
            if found.shape != wanted:
                raise SettingError(
                    f"{who} must yield an array (rounds, replicates) = {wanted} after "
                    f"{first} rounds, got {found.shape}"
                )
            yield found


def checked(source: Any) -> Prices:
    """An object of the user's own as prices: its parts are checked now, its chunks as they come."""
    if isinstance(source, type):
        raise SettingError(f"prices must be an object, not a class: give {source.__name__}(...)")
    who = type(source).__name__
    missing = [name for name in PARTS if not hasattr(source, name)]
    if len(missing) == len(PARTS):
        raise SettingError(
            "prices must be settings of a cost, an array, the path of a CSV file or an object with "
            f"{', '.join(PARTS)}, got {who}"
        )
    if missing:
        raise SettingError(f"{who} lacks {' and '.join(missing)}: prices have {', '.join(PARTS)}")
    mean = source.mean
    number = isinstance(mean, int | float | Fraction) and not isinstance(mean, bool)
    for part, fits, wanted in (
        ("chunks", callable(source.chunks), "a method (seed, replicates, rounds, size)"),
        ("depends_on_horizon", isinstance(source.depends_on_horizon, bool), "True or False"),
        ("digest", isinstance(source.digest, str | None), "a string or None"),
        ("mean", number and PRICE_MIN < mean < PRICE_MAX, "a positive number such as Fraction(11, 2)"),
    ):
        if not fits:
            raise SettingError(f"{who}.{part} must be {wanted}, got {getattr(source, part)!r}")
    return _Checked(source, Fraction(str(mean)), source.depends_on_horizon, source.digest)


def make_prices(cost: CostProcess | Prices | ArrayLike | str | os.PathLike[str]) -> Prices:
    """The prices of a study's settings, of an array, of a CSV file, or of an object that has `Prices`' parts.

    >>> [chunk.tolist() for chunk in make_prices([3, 1, 2]).chunks(seed=0, replicates=2, rounds=3, size=2)]
    [[[3.0, 3.0], [1.0, 1.0]], [[2.0, 2.0]]]
    """
    if isinstance(cost, CostProcess):
        if cost.process == Process.trace:
            assert cost.file is not None  # the settings see to it
            if cost.file.startswith(GIVEN):
                raise SettingError(
                    f"the prices {cost.file!r} were handed over in Python: hand them over again as cost="
                )
            return read_trace(cost.file, cost.column)
        return Drawn(cost)
    if type(cost) is Drawn or type(cost) is Trace or type(cost) is _Checked:
        return cost
    if isinstance(cost, str | os.PathLike):
        return read_trace(cost)
    if not isinstance(cost, Sequence | int | float | bytes) and not hasattr(cost, "__array__"):
        return checked(cost)
    return Trace(cast(ArrayLike, cost))


def prices_of(study: Study, given: Any = None) -> Prices:
    """The prices that a study names, unless others are handed over; a file or a process is named by the settings."""
    named = given is None or isinstance(given, CostProcess | str | os.PathLike)
    return make_prices(study.cost if named else given)


def law_of(prices: Prices, seed: int = 0, replicates: int = 1, rounds: int = LAW_SAMPLES) -> PriceLaw:
    """The law of the price in a round of the study that would ask for these prices.

    Of a built-in process it is known, and of a trace it is that of all its prices. Of drifting prices and of an object
    of the user's own it is that of some 2000 prices, drawn from the same source with another seed and spread over the
    horizon.

    >>> law_of(make_prices([3, 1, 1, 1])).mass(1)
    0.75
    """
    if isinstance(prices, Trace):
        return Atoms.thinned(prices.values.ravel())
    if isinstance(prices, Drawn) and prices.process.process != Process.drifting:
        low, high = float(prices.process.low), float(prices.process.high)
        if low == high:
            return Atoms.of([low])
        if prices.process.process != Process.integer:
            return Uniform(low, high)
        if high - low < WHOLE_PRICES_MAX:
            return Atoms.of(np.arange(low, high + 1))
    every, columns = -(-rounds // LAW_SAMPLES), -(-LAW_SAMPLES // rounds)
    if not isinstance(prices, Drawn):
        columns = min(columns, replicates)  # there may be no more than the study has
    first, found = 0, []
    for chunk in prices.chunks((seed + 1) % 2**32, columns, rounds, min(LAW_SAMPLES, rounds)):
        found.append(chunk[-first % every :: every].ravel())
        first += len(chunk)
    return Atoms.of(np.concatenate(found))
