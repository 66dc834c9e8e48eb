"""What the clients' samples are: a pool of the population for each client, and which of them come in which order.

P_m is uniform over client m's pool, and P = Σ α_m P_m. Samples are population indices, drawn i.i.d. with
replacement (the paper's assumption) or, as the released code does, without, from a shuffled pool that starts again
when fewer remain than are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from empirics.control.schedule import Schedule
from empirics.draws import Purpose, permutation, uniform
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["Arrivals", "Streams", "make_pools"]

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Streams:
    """Pools of population indices, one a client, and the population's weight under P."""

    pools: tuple[Index, ...]
    population: int
    alpha: tuple[float, ...]

    @property
    def weights(self) -> NDArray[np.float64]:
        """P of each sample of the population."""
        total = np.zeros(self.population)
        for alpha, pool in zip(self.alpha, self.pools, strict=True):
            total[pool] += alpha / len(pool)
        return total


def make_pools(labels: Index, study: Study) -> Streams:
    """The pools of the study's partition. `labels` are the class numbers, also where the task is binary."""
    M, N = study.clients, len(labels)
    if study.partition == "iid":
        pools: Sequence[Index] = [np.arange(N)] * M
    elif study.partition == "split":
        pools = [np.sort(part) for part in np.array_split(permutation(N, study.seed, Purpose.partition), M)]
    else:
        pools = _two_classes(labels, study) if study.partition == "two-class" else _dirichlet(labels, study)
    if study.per_class is not None:
        pools = [_at_most(pool, labels, study, m) for m, pool in enumerate(pools)]
    empty = [m for m, pool in enumerate(pools) if len(pool) == 0]
    if empty:
        raise SettingError(f"client {empty[0]} gets no sample: use fewer clients or a larger concentration")
    alpha = study.alpha or (1 / M,) * M
    return Streams(tuple(pools), N, alpha)


def _two_classes(labels: Index, study: Study) -> list[Index]:
    classes = np.unique(labels)
    pairs = [(classes[m % len(classes)], classes[(m + 1) % len(classes)]) for m in range(study.clients)]
    return [np.flatnonzero(np.isin(labels, pair)) for pair in pairs]


def _dirichlet(labels: Index, study: Study) -> list[Index]:
    """Each class is dealt out to the clients in proportions drawn from a symmetric Dirichlet distribution."""
    parts: list[list[Index]] = [[] for _ in range(study.clients)]
    for c in np.unique(labels):
        rng = np.random.default_rng([study.seed, int(Purpose.partition), int(c)])
        members = rng.permutation(np.flatnonzero(labels == c))
        share = rng.dirichlet(np.full(study.clients, study.concentration))
        cuts = np.round(np.cumsum(share)[:-1] * len(members)).astype(int)
        for part, piece in zip(parts, np.split(members, cuts), strict=True):
            part.append(piece)
    return [np.sort(np.concatenate(part)) for part in parts]


def _at_most(pool: Index, labels: Index, study: Study, client: int) -> Index:
    shuffled = pool[permutation(len(pool), study.seed, Purpose.partition, client=client, t=1)]
    kept = [shuffled[labels[shuffled] == c][: study.per_class] for c in np.unique(labels[pool])]
    return np.sort(np.concatenate(kept))


# --- which sample comes when -------------------------------------------------------------------------------


class Arrivals:
    """Which samples a schedule brings to whom, in order of arrival."""

    def __init__(self, streams: Streams, schedule: Schedule) -> None:
        self.schedule, self.study = schedule, schedule.study
        self.sizes = np.array([len(pool) for pool in streams.pools])
        distinct = {id(pool): pool for pool in streams.pools}  # clients often share one pool
        begins = np.cumsum([0, *(len(pool) for pool in distinct.values())])
        begin = dict(zip(distinct, begins[:-1], strict=True))
        self.pooled = np.concatenate(list(distinct.values()))
        self.offset = np.array([begin[id(pool)] for pool in streams.pools])

    def lists(self, first: int, last: int) -> tuple[Index, NDArray[np.int32]]:
        """The samples that are in memory in some round of first..last: where each client's list begins, and the lists.

        Lists have shape (runs, clients, longest); entry i of a list is the client's sample number origin + i.
        """
        schedule = self.schedule
        origin = schedule.starts[first - 1]
        longest = int((schedule.ends[last] - origin).max())
        lists = np.zeros((*origin.shape, longest), dtype=np.int32)
        admissions = schedule.admissions[:last]
        t, run, client = np.nonzero((schedule.ends[1 : last + 1] > origin) & (admissions > 0))
        count = admissions[t, run, client].astype(np.int64)
        slot = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        t, run, client = (np.repeat(axis, count) for axis in (t, run, client))
        number = schedule.ends[t, run, client] + slot - origin[run, client]
        kept = number >= 0
        t, run, client, slot, number = (axis[kept] for axis in (t, run, client, slot, number))
        draw = self._with_replacement if self.study.replacement else self._without_replacement
        lists[run, client, number] = self.pooled[self.offset[client] + draw(t, run, client, slot)]
        return origin, lists

    def _with_replacement(self, t: Index, run: Index, client: Index, slot: Index) -> Index:
        """The place in its pool of what a client admits in round t + 1 at the given slot."""
        address = {"replicate": run % self.study.seeds, "client": client, "t": t + 1, "slot": slot}
        place: Index = (uniform(self.study.seed, Purpose.sample, **address) * self.sizes[client]).astype(
            np.int64
        )
        return place

    def _without_replacement(self, t: Index, run: Index, client: Index, slot: Index) -> Index:
        shuffle, position = self.shuffles
        address = np.stack([run % self.study.seeds, client, shuffle[t, run, client]])
        needed, which = np.unique(address, axis=1, return_inverse=True)
        orders = [
            permutation(int(self.sizes[m]), self.study.seed, Purpose.shuffle, replicate=s, client=m, t=k)
            for s, m, k in needed.T
        ]
        begins = np.cumsum([0, *(len(order) for order in orders)])[:-1]
        place: Index = np.concatenate(orders)[begins[which.ravel()] + position[t, run, client] + slot]
        return place

    @cached_property
    def shuffles(self) -> tuple[Index, Index]:
        """The number of the shuffle in use and the position in it where each round's draws begin."""
        admissions = self.schedule.admissions
        if (admissions > self.sizes).any():
            raise SettingError(
                "a round asks for more samples than a client's pool holds: draw with replacement"
            )
        shuffle, position = (
            np.zeros(admissions.shape, dtype=np.int64),
            np.zeros(admissions.shape, dtype=np.int64),
        )
        for t in range(1, len(admissions)):
            used = position[t - 1] + admissions[t - 1]
            again = used + admissions[t] > self.sizes
            shuffle[t] = shuffle[t - 1] + again
            position[t] = np.where(again, 0, used)
        return shuffle, position
