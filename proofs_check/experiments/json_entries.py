"""Entries of a JSON document by name and type, and means with their intervals.

An unknown number (the interval of a single seed) is null in a file and NaN here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.numbers.student import half_width, quantile
from theory.setting import SettingError

__all__ = ["Estimate", "Fields", "Floats", "load"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Mean over seeds of a number or a curve, with Student's t-interval at a level."""

    mean: Floats
    low: Floats
    high: Floats
    level: float
    seeds: int

    @classmethod
    def of(cls, samples: Floats, level: float) -> Estimate:
        """Estimate from one number per seed, those that are NaN left out; unknown from fewer than two."""
        known = samples[~np.isnan(samples)]
        if len(known) < 2:
            unknown = np.array(np.nan)
            return cls(unknown, unknown, unknown, level, len(samples))
        mean, half = known.mean(), half_width(known, level)
        return cls(mean, mean - half, mean + half, level, len(known))

    def half(self, level: float) -> Floats:
        """Half the width at another level; NaN for a single seed.

        >>> ten = Estimate(np.array(0.0), np.array(-1.383), np.array(1.383), level=0.8, seeds=10)
        >>> float(ten.half(0.95).round(2))
        2.26
        """
        wanted, given = (quantile(self.seeds, one) for one in (level, self.level))
        scaled: Floats = (self.high - self.low) / 2 * (wanted / given)
        return scaled

    def times(self, factor: float) -> Estimate:
        """Estimate of the quantity times a factor."""
        ends = factor * self.low, factor * self.high
        return replace(self, mean=factor * self.mean, low=np.minimum(*ends), high=np.maximum(*ends))


def load(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise SettingError(f"{str(path)!r} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise SettingError(f"{str(path)!r} is no JSON file") from None
    if not isinstance(document, dict):
        raise SettingError(f"{str(path)!r} holds no JSON object")
    return document


@dataclass(frozen=True)
class Fields:
    """An object of a JSON document, read by name and type; `within` is its path in the document."""

    entries: Any
    file: str
    remedy: str
    within: str = ""

    def _refuse(self, kind: str, name: str) -> SettingError:
        return SettingError(f"{self.file!r} has no {kind}{self.within + name!r}: {self.remedy}")

    def get(self, name: str) -> Any:
        if not isinstance(self.entries, Mapping) or name not in self.entries:
            raise self._refuse("", name)
        return self.entries[name]

    def below(self, name: str) -> Fields:
        """An entry that is an object itself."""
        found = self.get(name)
        if not isinstance(found, Mapping):
            raise self._refuse("object ", name)
        return Fields(found, self.file, self.remedy, f"{self.within}{name}.")

    def each(self, name: str) -> dict[str, Fields]:
        """The entries of an object of objects."""
        several = self.below(name)
        return {key: several.below(key) for key in several.entries}

    def text(self, name: str) -> str:
        found = self.get(name)
        if not isinstance(found, str):
            raise self._refuse("text ", name)
        return found

    def perhaps(self, name: str) -> Fields | None:
        """An entry that is an object, or null."""
        return None if self.get(name) is None else self.below(name)

    def whole(self, name: str, least: int = 0) -> int:
        found = self.get(name)
        if isinstance(found, bool) or not isinstance(found, int) or found < least:
            raise self._refuse(f"whole number of {least} or more ", name)
        return found

    def number(self, name: str) -> float:
        """A number that is not null."""
        found = float(self.array(name, None))
        if np.isnan(found):
            raise self._refuse("number ", name)
        return found

    def array(self, name: str, length: int | None) -> Floats:
        """A list of `length` numbers, or a single number; null is NaN."""
        entry = self.get(name)
        if entry is None and length is not None:
            return np.full(length, np.nan)
        try:
            found = np.array(entry, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._refuse("number ", name) from None
        if found.shape != (() if length is None else (length,)):
            raise self._refuse("number " if length is None else f"list of {length} numbers ", name)
        return found

    def estimate(self, name: str, level: float, seeds: int, length: int | None = None) -> Estimate:
        own = self.below(name)
        mean, low, high = (own.array(one, length) for one in ("mean", "low", "high"))
        return Estimate(mean, low, high, level, seeds)
