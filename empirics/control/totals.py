r"""Running totals of first-in-first-out retention: who holds what, and n, N, N_eff and χ, as rounds go by.

Client m's memory in round t is the stretch \([A_m(t-K_m),A_m(t))\) of the sequence of its samples, where \(A_m(t)\)
counts its admissions through round t: a memory is two integers. All totals are whole numbers, so they are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import FOREVER
from theory.reuse import Trajectory, from_totals

__all__ = ["Totals"]

Whole = NDArray[np.int64]


@dataclass
class Totals:
    """Counts of all clients of all runs so far, (runs, clients) each, and the last K of them."""

    retention: Whole
    past: Whole  # A_m(0), …, A_m(t), or as many of the last as somebody still needs
    starts: Whole
    n: Whole
    aged: Whole
    uses: Whole
    squares: Whole

    @classmethod
    def start(cls, retention: Whole, rounds: int = FOREVER) -> Self:
        """Before round 1 of so many rounds; who keeps samples for as long as that keeps them for ever."""
        kept = np.where(retention >= rounds, FOREVER, retention)
        return cls(kept, np.zeros((1, *kept.shape), dtype=np.int64), *(np.zeros_like(kept) for _ in range(5)))

    @property
    def depth(self) -> int:
        """How many rounds of history matter."""
        dropping = self.retention[self.retention < FOREVER]
        return int(dropping.max()) if dropping.size else 0

    def extend(self, admissions: Whole) -> tuple[Whole, Whole, Trajectory]:
        """Where the memories start and end, (rounds, runs, clients), and the trajectories, of the next rounds."""
        ends = self.past[-1] + np.cumsum(admissions, axis=0)
        known = np.concatenate([self.past, ends])
        place = len(self.past) + np.arange(len(ends))[:, np.newaxis, np.newaxis] - self.retention
        starts = np.take_along_axis(known, np.maximum(place, 0), axis=0)
        starts[:, self.retention == FOREVER] = 0
        n, left = ends - starts, np.diff(np.concatenate([self.starts[np.newaxis], starts]), axis=0)
        before = np.concatenate([self.n[np.newaxis], n[:-1]])
        K = np.where(self.retention == FOREVER, 1, self.retention)  # where nothing ever leaves, any K will do
        # a round adds 1 to the age of what stays, drops what was used K times, and admits at age 1
        aged = self.aged + np.cumsum(before - (K + 1) * left + admissions, axis=0)
        uses, squares = self.uses + np.cumsum(n, axis=0), self.squares + np.cumsum(2 * aged - n, axis=0)
        self.past, self.starts = known[-self.depth - 1 :], starts[-1]
        self.n, self.aged, self.uses, self.squares = n[-1], aged[-1], uses[-1], squares[-1]
        totals = (n, ends, aged, uses, squares, K * starts, K * K * starts)
        with np.errstate(divide="ignore", invalid="ignore"):  # an empty memory has no trajectory
            return starts, ends, from_totals(*(one.sum(axis=2).astype(float) for one in totals))
