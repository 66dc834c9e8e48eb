r"""Samples in memory and their weights: the law of reuse as a recursion over rounds, and the lag behind a random walk.

Samples of one round have one weight, so a memory is a list of cohorts. Any first-in-first-out retention is described by
two numbers per client and round: the first and the last sample that the client still holds.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cohorts", "Counts", "Floats", "Memories", "WalkLag"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Memories:
    """Memories of all rounds: client m holds its samples number `starts` to `ends` - 1 in round t.

    Arrays are (rounds, rows, clients); a row is a run.
    """

    admissions: Counts
    starts: Counts
    ends: Counts
    weights: Floats  # the server's
    eta: Floats | None = None  # step sizes, if they change, (rounds, rows)
    share: Floats | None = None  # weight of a round's model in each mean of models, (rounds, means)
    mix: Floats | None = None  # weight of a drifting population's second part in what is admitted
    owner: Counts | None = None  # row of each mean, if not one mean per row

    def _changed(self, change: Callable[[str, Any], Any]) -> Self:
        """The tables, each changed by its name and values; None stays None."""
        tables: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{k: change(k, table) for k, table in tables.items() if table is not None})

    def __add__(self, later: Self) -> Self:
        """These rounds, followed by later ones."""
        return self._changed(lambda name, table: np.concatenate([table, getattr(later, name)]))

    @property
    def owners(self) -> Counts:
        """The row of each evaluated model: of each mean, or each row's last model."""
        return np.arange(self.rows) if self.owner is None else self.owner

    @property
    def trained(self) -> NDArray[np.bool_]:
        """True where some client has samples, (rounds, rows); other rounds are idle."""
        return np.asarray(self.weights.any(axis=2))

    def of(self, rows: list[int]) -> Self:
        """Some rows, without owners."""
        return self._changed(lambda name, table: table[:, rows])

    def without_idle(self) -> Self:
        """Each row's rounds that train, in order. A row with fewer of them keeps its last memory.

        An idle round changes nothing, and has no model.
        """
        trained = self.trained
        if trained.all():
            return self
        count, rounds = trained.sum(axis=0), np.arange(max(int(trained.sum(axis=0).max()), 1))[:, np.newaxis]
        last = np.minimum(rounds, np.maximum(count - 1, 0))
        place = np.take_along_axis(np.argsort(~trained, axis=0, kind="stable"), last, axis=0)

        def kept(name: str, table: Any) -> Any:
            if name == "owner":
                return table
            where = place[:, self.owners] if name == "share" else place
            found = np.take_along_axis(table, where if table.ndim == 2 else where[..., np.newaxis], axis=0)
            return found * (rounds < count)[..., np.newaxis] if name == "admissions" else found

        return self._changed(kept)

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
    """Cohorts in memory: their sizes, and the weight of each sample in θ by direction.

    `weight` is a sample's weight in its own favour, per unit of a fresh sample's gradient; noise is that times the
    gradient's standard deviation. Both are (cohorts, rows, groups, lumps); clients that are alike are one group.
    `mean_noise` is the noise of the same sample in each mean of models, (cohorts, means, groups, lumps). Samples that
    have left memory leave a variance behind: in θ, (rows, lumps), and in the means.

    The arrays are small and a round is many operations, so they are NumPy's.
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
        self._left = np.zeros((2, len(self._of), lumps))  # covariance of θ and mean, variance of the mean

    @property
    def weight(self) -> Floats:
        return np.asarray(self._each[0])

    def enter(self, t: int, admitted: Counts, ends: Counts, mix: Floats | None = None) -> None:
        """Add the admissions of round t, (rows, clients), with the weight of the second part in each, if any."""
        still = np.zeros(admitted.shape) if mix is None else mix
        self.entered = np.append(self.entered, t)
        self.begins = np.concatenate([self.begins, (ends - admitted)[np.newaxis]])
        self.ends = np.concatenate([self.ends, ends[np.newaxis]])
        self.mix = np.concatenate([self.mix, still[np.newaxis]])
        self._each = _with_one_more(self._each, 1)
        self.mean_noise = _with_one_more(self.mean_noise, 0)

    def _held(self, starts: Counts) -> Counts:
        return np.asarray(np.maximum(self.ends - np.maximum(self.begins, starts), 0))

    def counts(self, starts: Counts) -> Floats:
        """Samples of each cohort in memories that begin there, (cohorts, rows, groups, 1)."""
        held = self._held(starts)
        held = held.sum(2, keepdims=True) if self.merged else held
        return np.asarray(held[..., np.newaxis], dtype=np.float64)

    def mixture(self, starts: Counts) -> Floats:
        """Weight of the second part in memories that begin there, (rows,) or (rows, groups)."""
        held = self._held(starts).astype(np.float64)
        over = (0, 2) if self.merged else (0,)
        return np.asarray((held * self.mix).sum(over) / np.maximum(held.sum(over), 1))

    def train(self, left: Floats, gains: Floats, held: Floats | None = None) -> None:
        """One round: the remaining share of a distance, (rows, lumps), and the weight and noise that cohorts gain.

        `held` is the remaining share of the weight of a sample in memory, (rows, groups, lumps), under the others'
        pull.
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
        """Scale θ by (rows, lumps)."""
        self._each *= factor[:, np.newaxis]
        self._departed *= factor**2
        self._left[0] *= factor[self._of]

    def variance(self, counts: Floats) -> Floats:
        """S, the variance of θ by lump, (rows, lumps)."""
        return np.asarray(self._departed + (counts * self._each[1] ** 2).sum((0, 2)))

    def mean_variance(self, counts: Floats) -> Floats:
        """Variance of the means of models, (means, lumps)."""
        return np.asarray(self._left[1] + (counts[:, self._of] * self.mean_noise**2).sum((0, 2)))

    def leave(self, counts: Floats, starts: Counts) -> None:
        """Drop samples that memories beginning there no longer hold."""
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
    """The values with a cohort of zeros appended along this axis."""
    shape = [*values.shape[:axis], 1, *values.shape[axis + 1 :]]
    return np.concatenate([values, np.zeros(shape)], axis=axis)


class WalkLag:
    r"""Lag of the last model and of the mean of models behind an optimum that walks with variance 1 per round.

    The lag is \(\sum_lW_l^2\) of `theory.drift.moving_optimum.walk_lag`, where \(W_l\) is the weight in a model of
    samples older than the optimum's change between rounds l and l+1. Changes younger than some sample in memory are
    kept one by one; older ones fade together, since nothing older is learnt any more. So a round takes time in
    proportion to the memory, not to all rounds. Clients that differ are taken to contract alike.
    """

    def __init__(self, rows: int, lumps: int) -> None:
        self._before = np.zeros(0, dtype=np.int64)  # rounds before which the optimum changed
        self._each = np.zeros((2, 0, rows, lumps))  # W of the model, and of the mean
        self._faded = np.zeros((3, rows, lumps))  # ΣW² of older changes: model, product, mean

    def follow(self, t: int, entered: Counts, held: Floats, left: Floats) -> None:
        """Round t: the rounds in which cohorts entered, their shares of memory, (cohorts, rows), and the remaining
        share of a distance, (rows, lumps)."""
        old = self._before <= entered[0]
        model, mean = self._each[:, old]
        pairs = ((model, model), (model, mean), (mean, mean))
        self._faded += np.stack([(one * other).sum(0) for one, other in pairs])
        self._each, self._before = self._each[:, ~old], self._before[~old]
        if t > 0:
            self._before = np.append(self._before, t)
            self._each = np.concatenate([self._each, np.ones_like(self._faded[:2, np.newaxis])], axis=1)
        older = (entered < self._before[:, np.newaxis]) @ held
        self._each[0] += (1 - left) * (older[..., np.newaxis] - self._each[0])
        self._faded[0] *= left**2
        self._faded[1] *= left

    def average(self, share: Floats) -> None:
        """The model joins the mean with this share, (rows, 1)."""
        rest, (model, both, mean) = 1 - share, self._faded
        self._faded[2] = rest**2 * mean + share * (2 * rest * both + share * model)
        self._faded[1] = rest * both + share * model
        self._each[1] += share * (self._each[0] - self._each[1])

    def squares(self, *, mean: bool) -> Floats:
        """ΣW² against the next round's optimum, (rows, lumps)."""
        return np.asarray(1 + self._faded[2 * mean] + (self._each[int(mean)] ** 2).sum(0))
