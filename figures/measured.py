"""A saved result of `acdpp train` as arrays, and what all figures of it share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.stats import t as student

from empirics.records.folder import read_result
from figures.style import POLICIES, Look
from theory.setting import Constants, SettingError

__all__ = ["BAND", "Measured", "Spread", "draw_spread", "half_width", "read", "spread"]

Floats = NDArray[np.float64]
BAND = (0.1, 0.9)  # quantiles over the seeds
MARKS = 9  # markers on a line


@dataclass(frozen=True)
class Measured:
    """Columns of shape (policies, seeds, rounds), by the names of `COLUMNS`, and the settings."""

    policies: tuple[str, ...]
    columns: dict[str, Floats]
    constants: Constants
    nominal: tuple[str, ...]
    budget: float
    total_buffer: float

    @property
    def rounds(self) -> Floats:
        """t = 1..T."""
        return np.arange(1.0, self.columns["n"].shape[2] + 1)

    def __getitem__(self, name: str) -> Floats:
        if name not in self.columns:
            raise SettingError(
                f"this result has no column {name!r}: train with measures that include it, and inside a ball "
                "(radius) where it is the excess risk"
            )
        return self.columns[name]


def read(path: Path) -> Measured:
    """A finished result folder."""
    settings, _, rows = read_result(path)
    study = settings["study"]
    policies = tuple(study["policies"])
    unknown = [name for name in policies if name not in POLICIES]
    if unknown:
        raise SettingError(f"{str(path)!r} has policies that no figure knows: {', '.join(unknown)}")
    shape = (len(policies), study["seeds"], study["rounds"])
    names = rows["policy"].to_numpy(zero_copy_only=False)
    places = (
        np.array([policies.index(name) for name in names]),
        rows["seed"].to_numpy(),
        rows["round"].to_numpy() - 1,
    )
    columns: dict[str, Floats] = {}
    for name in rows.column_names:
        if name not in ("policy", "seed", "round"):
            columns[name] = np.full(shape, np.nan)
            columns[name][places] = rows[name].to_numpy()
    return Measured(
        policies=policies,
        columns=columns,
        constants=Constants(**settings["constants"]["constants"]),
        nominal=tuple(settings["constants"]["nominal"]),
        budget=float(study["budget"]),
        total_buffer=float(sum(study["buffers"])),
    )


@dataclass(frozen=True)
class Spread:
    """Over the seeds: the mean, and the 10 % and 90 % quantiles."""

    mean: Floats
    low: Floats
    high: Floats


def spread(values: Floats) -> Spread:
    """Of an array whose first axis is the seeds."""
    low, high = np.quantile(values, BAND, axis=0)
    return Spread(values.mean(axis=0), low, high)


def half_width(values: Floats) -> Any:
    """Half the 95 % confidence interval of the mean over the first axis, by Student's t; NaN for a single seed."""
    seeds = len(values)
    if seeds < 2:
        return np.full(values.shape[1:], np.nan)
    return student.ppf(0.975, seeds - 1) * values.std(axis=0, ddof=1) / np.sqrt(seeds)


def draw_spread(axes: Axes, x: Floats, values: Spread, look: Look, **how: Any) -> None:
    """A line with its band, and markers evenly spread over a logarithmic axis."""
    axes.fill_between(x, values.low, values.high, color=how["color"], alpha=0.15, linewidth=0)
    marks = np.unique(np.searchsorted(x, np.geomspace(x[0], x[-1], MARKS)))
    axes.plot(x, values.mean, **({"linewidth": look.scale, "markevery": marks.tolist()} | how))
