"""Who holds what, and what weight each sample has in θ: the law of reuse as a recursion over rounds.

Samples that came in one round have one weight, so a memory is a list of cohorts. Any first-in-first-out retention is
told by two numbers of a client and round: the first and the last of its samples that it still holds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cohorts", "Memories"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Memories:
    """Client m's memory in round t is its samples number `starts` to `ends` - 1; `weights` are the server's.

    Arrays are (rounds, rows, clients), a row being a run. `eta` are the step sizes where they differ from round to
    round, (rounds, rows), and `share` is what the model of a round's end weighs in a mean of models, where there are
    such: (rounds, means), of which each is of a row of its own, or of `owner`. `mix` is the weight of a moving
    population's second part among what is admitted.
    """

    admissions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]
    eta: NDArray[np.float64] | None = None
    share: NDArray[np.float64] | None = None
    mix: NDArray[np.float64] | None = None
    owner: NDArray[np.int64] | None = None

    def __add__(self, later: Memories) -> Memories:
        """These rounds, and then the later ones."""

        def joined(name: str) -> Any:
            one, other = getattr(self, name), getattr(later, name)
            return None if one is None else np.concatenate([one, other])

        return Memories(**{field.name: joined(field.name) for field in fields(self)})

    @property
    def owners(self) -> Counts:
        """The row of every model that counts: of each mean, or each row's last one."""
        return np.arange(self.rows) if self.owner is None else self.owner

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Whether anybody has a sample that counts, (rounds, rows): a round is idle if not."""
        return np.asarray(self.weights.any(axis=2))

    def of(self, rows: list[int]) -> Memories:
        """Of some runs, where step sizes and shares are known."""

        def chosen(name: str) -> Any:
            every = getattr(self, name)
            return None if every is None else every[:, rows]

        return Memories(**{field.name: chosen(field.name) for field in fields(self)})

    def without_idle(self) -> Memories:
        """The rounds of each row that train, one after the other; who has fewer than others keeps the last memory.

        Nothing moves in an idle round, and it makes no model.
        """
        trained = self.trained
        if trained.all():
            return self
        count, rounds = trained.sum(axis=0), np.arange(max(int(trained.sum(axis=0).max()), 1))[:, np.newaxis]
        last = np.minimum(rounds, np.maximum(count - 1, 0))
        place = np.take_along_axis(np.argsort(~trained, axis=0, kind="stable"), last, axis=0)

        def kept(values: Any, place: Counts = place) -> Any:
            if values is None:
                return None
            return np.take_along_axis(values, place if values.ndim == 2 else place[..., np.newaxis], axis=0)

        there = rounds < count
        return Memories(
            admissions=kept(self.admissions) * there[..., np.newaxis],
            starts=kept(self.starts),
            ends=kept(self.ends),
            weights=kept(self.weights),
            eta=kept(self.eta),
            share=kept(self.share, place[:, self.owners]),
            mix=kept(self.mix),
            owner=self.owner,
        )

    @property
    def rounds(self) -> int:
        return len(self.ends)

    @property
    def rows(self) -> int:
        return int(self.ends.shape[1])

    @property
    def clients(self) -> int:
        return int(self.ends.shape[2])


class Cohorts:
    """The cohorts in memory: how many samples, and the weight of each in θ by direction.

    `weight` is a sample's weight in its own favour, per gradient that a fresh one would have; `noise` the same times
    that gradient's standard deviation. Both are (cohorts, rows, groups, lumps): clients that are alike are one group.
    `mean_noise` is that of the same sample in each mean of models, (cohorts, means, groups, lumps). Samples that are no
    longer in memory have left behind a variance, in θ, (rows, lumps), and (2, means, lumps) in the means, after that of
    the products of both.
    All are small, and NumPy's: a round is many operations on them.
    """

    def __init__(self, memories: Memories, groups: int, lumps: int) -> None:
        self.merged = groups == 1
        shape, rows = (0, memories.rows, memories.clients), memories.rows
        self.entered = np.zeros(0, dtype=np.int64)
        self.begins, self.ends = (np.zeros(shape, dtype=np.int64) for _ in range(2))
        self.mix = np.zeros(shape)
        self._of = memories.owners if memories.share is not None else np.zeros(0, dtype=np.int64)
        self._each = np.zeros((2, 0, rows, groups, lumps))  # weight and noise
        self.mean_noise = np.zeros((0, len(self._of), groups, lumps))
        self._departed = np.zeros((rows, lumps))
        self._left = np.zeros((2, len(self._of), lumps))  # crossed and mean departed

    @property
    def weight(self) -> Floats:
        return np.asarray(self._each[0])

    def enter(self, t: int, admitted: Counts, ends: Counts, mix: Floats | None = None) -> None:
        """The admissions of round t, (rows, clients), with the second part's weight in each, if there are parts."""
        still = np.zeros(admitted.shape) if mix is None else mix
        self.entered = np.append(self.entered, t)
        self.begins = np.concatenate([self.begins, (ends - admitted)[np.newaxis]])
        self.ends = np.concatenate([self.ends, ends[np.newaxis]])
        self.mix = np.concatenate([self.mix, still[np.newaxis]])
        self._each = _with_one_more(self._each, 1)
        self.mean_noise = _with_one_more(self.mean_noise, 0)

    def _held(self, starts: Counts) -> Counts:
        found: Counts = np.maximum(self.ends - np.maximum(self.begins, starts), 0)
        return found

    def counts(self, starts: Counts) -> Floats:
        """How many of each cohort are in memories that start there, (cohorts, rows, groups, 1)."""
        held = self._held(starts)
        return np.asarray(
            (held.sum(2, keepdims=True) if self.merged else held)[..., np.newaxis], dtype=np.float64
        )

    def mixture(self, starts: Counts) -> Floats:
        """The second part's weight in memories that start there, (rows,) or (rows, groups)."""
        held = self._held(starts).astype(np.float64)
        over = (0, 2) if self.merged else (0,)
        return np.asarray((held * self.mix).sum(over) / np.maximum(held.sum(over), 1))

    def train(self, left: Floats, gains: Floats, held: Floats | None = None) -> None:
        """A round: what is left of a distance, (rows, lumps), and the weight and noise that each cohort gains.

        `held` is what is left of the weight of a sample in memory, (rows, groups, lumps): what the others leave of it.
        """
        self._each *= left[:, np.newaxis] if held is None else held
        self._each += gains
        self._departed *= left**2
        self._left[0] *= left[self._of]

    def average(self, share: Floats) -> None:
        """θ joins every mean of models with this share, (means, 1)."""
        rest, (crossed, mean_departed) = 1 - share, self._left
        both = rest * crossed + share * self._departed[self._of]
        self._left[1] = rest**2 * mean_departed + share * (rest * crossed + both)
        self._left[0] = both
        self.mean_noise += share[:, np.newaxis] * (self._each[1][:, self._of] - self.mean_noise)

    def scale(self, factor: Floats) -> None:
        """All of θ is scaled, (rows, lumps)."""
        self._each *= factor[:, np.newaxis]
        self._departed *= factor**2
        self._left[0] *= factor[self._of]

    def variance(self, counts: Floats) -> Floats:
        """S, the variance of θ by lump, (rows, lumps)."""
        return np.asarray(self._departed + (counts * self._each[1] ** 2).sum((0, 2)))

    def mean_variance(self, counts: Floats) -> Floats:
        """The same of the means of models, (means, lumps)."""
        return np.asarray(self._left[1] + (counts[:, self._of] * self.mean_noise**2).sum((0, 2)))

    def leave(self, counts: Floats, starts: Counts) -> None:
        """Who is not in the memories that start there."""
        still = self.counts(starts)
        gone, kept = counts - still, still.any((1, 2, 3))
        if gone.any():
            noise, of_mean = self._each[1], gone[:, self._of]
            self._departed += (gone * noise**2).sum((0, 2))
            for k, other in enumerate((noise[:, self._of], self.mean_noise)):
                self._left[k] += (of_mean * other * self.mean_noise).sum((0, 2))
        if not kept.all():
            self._each = self._each[:, kept]
            for name in ("entered", "begins", "ends", "mix", "mean_noise"):
                setattr(self, name, getattr(self, name)[kept])


def _with_one_more(values: Floats, axis: int) -> Floats:
    """And a cohort of nothing, along this axis."""
    shape = [*values.shape[:axis], 1, *values.shape[axis + 1 :]]
    return np.concatenate([values, np.zeros(shape)], axis=axis)
