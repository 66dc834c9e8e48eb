"""Splits of a table: rows in the order in which they are bought, and held-out rows."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.common import settings
from benchmarks.tables.data import TABLES, Arrays
from empirics.training.sums import Rows, scores

SETTINGS = settings("tables")
Chances = NDArray[np.float64]  # (settings, splits, held-out rows, classes)


@dataclass(frozen=True)
class Splits:
    """All splits of a table: the bought rows in their order, of which the first are the pilot, and held-out rows."""

    bought: Rows
    pilot: int
    batch: int
    test: Rows
    classes: int

    @property
    def rounds(self) -> Iterator[tuple[Rows, Rows, Rows | None]]:
        """What clients hold, what is new, and what they drop after the round; the pilot is held throughout."""
        ends = range(self.pilot, self.bought.y.shape[1], self.batch)
        kept: list[Rows] = []
        for begin in ends:
            kept.append(self.bought.part(slice(begin, begin + self.batch)))
            held = self.bought.part(slice(self.pilot)).with_rows(*kept)
            yield held, kept[-1], kept.pop(0) if len(kept) == SETTINGS["keep"] else None

    @property
    def arrays(self) -> Iterator[tuple[Any, Any, Any]]:
        """Bought inputs, their labels and held-out inputs, split by split."""
        parts = (part.cpu().numpy() for part in (self.bought.x, self.bought.y, self.test.x))
        return zip(*parts, strict=True)

    def chances(self, theta: Tensor) -> Chances:
        """Probabilities of held-out rows, of models (splits, settings, parameters)."""
        found: Chances = scores(theta, self.test.x).softmax(-1).transpose(0, 1).cpu().numpy()
        return found


@cache
def table(name: str, data_dir: Path | None) -> Arrays:
    """A table with labels from 0."""
    x, y = TABLES[name].load(data_dir or Path("data"))
    return x, np.unique(y, return_inverse=True)[1]


def split_of(name: str, batch: int, seeds: range, given: Namespace) -> Splits:
    """Splits of a table, each with its own order of rows and its own pilot."""
    x, y = table(name, given.data_dir)
    held_out, pilot = shares(len(y))
    inputs, labels = [], []
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(y))
        first = x[order[held_out : held_out + pilot]]
        spread = first.std(axis=0)
        standard = (x[order] - first.mean(axis=0)) / np.where(spread > 0, spread, 1)
        clipped = standard.clip(-SETTINGS["clip"], SETTINGS["clip"])
        inputs.append(np.c_[clipped, np.ones(len(y))])
        labels.append(y[order])
    every = Rows.of(*(torch.from_numpy(np.array(part)).to(given.device) for part in (inputs, labels)))
    bought, test = every.part(slice(held_out, None)), every.part(slice(held_out))
    return Splits(bought, pilot, batch, test, int(y.max()) + 1)


def shares(rows: int) -> tuple[int, int]:
    """Rows that are held out, and rows of the pilot."""
    held_out = int(rows * SETTINGS["held_out_share"])
    return held_out, max(SETTINGS["pilot_rows_min"], int((rows - held_out) * SETTINGS["pilot_share"]))
