r"""Running totals of first-in-first-out retention: who holds what, and n, N, N_eff and χ, as rounds go by.

Client m's memory in round t is the stretch \([\max(A_m(t-K_m),A_m(t)-B_m,0),A_m(t))\) of the sequence of its samples,
where \(A_m(t)\) counts its admissions through round t, \(K_m\) is its retention by age and \(B_m\) its capacity, if it
has one: a memory is two integers. All totals are whole numbers, so they are exact.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import FOREVER, Whole
from theory.reuse.trajectories import Trajectory, from_totals

__all__ = ["Capped", "Totals"]


@dataclass
class Capped:
    """The memories with a capacity, in the order of (runs, clients): their cohorts, and the uses of what has left.

    A sample that came in round e and left in round t was used t - e times, which follows from K where age alone decides
    and has to be counted where it does not. There are no more cohorts than samples in memory.
    """

    capacity: Whole  # (runs, clients), FOREVER where there is none
    round: int
    memory: Whole  # of each cohort, ascending, and the older one first
    entered: Whole
    count: Whole
    gone: Whole  # ΣA and ΣA² over what has left, a number a memory
    squares: Whole

    @classmethod
    def start(cls, capacity: Whole) -> Self:
        """Before round 1."""
        none = np.zeros(0, dtype=np.int64)
        size = int((capacity < FOREVER).sum())
        return cls(capacity, 0, none, none, none, *(np.zeros(size, dtype=np.int64) for _ in range(2)))

    @property
    def which(self) -> NDArray[np.bool_]:
        """Memories with a capacity."""
        return self.capacity < FOREVER

    def extend(self, admitted: Whole, left: Whole) -> tuple[Whole, Whole, Whole]:
        """ΣA of what leaves in each of the next rounds, and ΣA and ΣA² of all that has left by then.

        Arrays are (rounds, memories); `left` counts who leaves.
        """
        memory, t = np.nonzero(admitted.T)
        columns = {
            "memory": (self.memory, memory),
            "entered": (self.entered - self.round - 1, t),  # from here on, rounds count from the next one
            "count": (self.count, admitted[t, memory]),
        }
        order = np.argsort(np.concatenate(columns["memory"]), kind="stable")
        memory, entered, count = (np.concatenate(parts)[order] for parts in columns.values())
        # all samples in one row, memory by memory: where each cohort begins, and sums of e and e² up to there
        begins, first, second = (
            np.concatenate([[0], np.cumsum(count * entered**power)]) for power in range(3)
        )
        entered = np.append(entered, 0)
        origin = begins[np.searchsorted(memory, np.arange(admitted.shape[1]))]
        place = origin + np.cumsum(np.concatenate([0 * left[:1], left]), axis=0)
        cohort = np.searchsorted(begins[1:], place, side="right")
        inside = place - begins[cohort]
        # sums over all samples may wrap around; their differences, of few samples, do not
        one = np.diff(first[cohort] + entered[cohort] * inside, axis=0)
        two = np.diff(second[cohort] + entered[cohort] ** 2 * inside, axis=0)
        now = np.arange(len(left))[:, np.newaxis]
        leaving = now * left - one
        gone = self.gone + np.cumsum(leaving, axis=0)
        squares = self.squares + np.cumsum(now * now * left - 2 * now * one + two, axis=0)
        count = begins[1:] - np.maximum(begins[:-1], place[-1][memory])
        self.entered = (entered[:-1] + self.round + 1)[count > 0]
        self.memory, self.count = memory[count > 0], count[count > 0]
        self.round, self.gone, self.squares = self.round + len(left), gone[-1], squares[-1]
        return leaving, gone, squares


@dataclass
class Totals:
    """Counts of all clients of all runs so far, (runs, clients) each, and the last K of them."""

    retention: Whole
    past: Whole  # A_m(0), …, A_m(t), or as many of the last as are still needed
    starts: Whole
    n: Whole
    aged: Whole
    uses: Whole
    squares: Whole
    capped: Capped | None = None  # if anybody has a capacity

    @classmethod
    def start(cls, retention: Whole, rounds: int = FOREVER, capacity: Whole | None = None) -> Self:
        """Totals before round 1; a retention of `rounds` or more is for ever."""
        kept = np.where(retention >= rounds, FOREVER, retention)
        capped = None if capacity is None or (capacity >= FOREVER).all() else Capped.start(capacity)
        none = np.zeros_like(kept)
        return cls(kept, none[np.newaxis], none, none, none, none, none, capped)

    @property
    def depth(self) -> int:
        """Rounds of history that matter."""
        dropping = self.retention[self.retention < FOREVER]
        return int(dropping.max()) if dropping.size else 0

    def extend(
        self, admissions: Whole, drops: NDArray[np.bool_] | None = None
    ) -> tuple[Whole, Whole, Trajectory]:
        """Starts and ends of memories, (rounds, runs, clients), and trajectories, of the next rounds.

        A client with a capacity admits at most that per round. Where a run `drops`, (rounds, runs), all older samples
        leave; only clients with a capacity may.
        """
        ends = self.past[-1] + np.cumsum(admissions, axis=0)
        known = np.concatenate([self.past, ends])
        place = len(self.past) + np.arange(len(ends))[:, np.newaxis, np.newaxis] - self.retention
        starts = np.take_along_axis(known, np.maximum(place, 0), axis=0)
        starts[:, self.retention == FOREVER] = 0
        if self.capped is not None:
            starts = np.maximum(starts, ends - self.capped.capacity)
        if drops is not None:
            emptied = np.where(drops[..., np.newaxis], ends - admissions, 0)
            starts = np.maximum.accumulate(np.maximum(starts, emptied))
        starts = np.maximum(starts, self.starts)  # what has left does not come back
        n, left = ends - starts, np.diff(np.concatenate([self.starts[np.newaxis], starts]), axis=0)
        before = np.concatenate([self.n[np.newaxis], n[:-1]])
        K = np.where(self.retention == FOREVER, 1, self.retention)  # where nothing ever leaves, any K will do
        leaving, gone, gone_squares = K * left, K * starts, K * K * starts
        if self.capped is not None:
            which = self.capped.which
            found = self.capped.extend(admissions[:, which], left[:, which])
            leaving[:, which], gone[:, which], gone_squares[:, which] = found
        # a round adds 1 to the age of what stays, drops what has to go, and admits at age 1
        aged = self.aged + np.cumsum(before - left - leaving + admissions, axis=0)
        uses, squares = self.uses + np.cumsum(n, axis=0), self.squares + np.cumsum(2 * aged - n, axis=0)
        self.past, self.starts = known[-self.depth - 1 :], starts[-1]
        self.n, self.aged, self.uses, self.squares = n[-1], aged[-1], uses[-1], squares[-1]
        totals = (n, ends, aged, uses, squares, gone, gone_squares)
        with np.errstate(divide="ignore", invalid="ignore"):  # an empty memory has no trajectory
            return starts, ends, from_totals(*(one.sum(axis=2).astype(float) for one in totals))
