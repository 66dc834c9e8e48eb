"""What the clients' samples are: a pool of the population for each client, and which of them come in which order.

P_m is uniform over client m's pool, and P = Σ α_m P_m. Samples are population indices, drawn i.i.d. with
replacement (the paper's assumption) or, as the released code does, without, from a shuffled pool that starts again
when fewer remain than are asked for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empirics.control.schedule import Rounds
from empirics.draws import Purpose, permutation, uniform
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["Arrivals", "Index", "Streams", "make_pools", "windows"]

Index = NDArray[np.int64]
LISTED, DRAWN = 16, 150  # bytes for a sample's place in a list, and for drawing one


@dataclass(frozen=True)
class Streams:
    """Pools of population indices, one per client: the same for all replicates, or each replicate's own.

    Replicates are those from number `first` on: a part of a study has some of its replicates.
    """

    pools: tuple[tuple[Index, ...], ...]
    population: int
    alpha: tuple[float, ...]
    later: tuple[tuple[Index, ...], ...] | None = None  # of a population's second part, where it moves
    first: int = 0

    @property
    def weights(self) -> NDArray[np.float64]:
        """P of each sample of the population, of shape (1 or replicates, population); half of each part, if two."""
        return self.of_part(0) if self.later is None else (self.of_part(0) + self.of_part(1)) / 2

    def of_part(self, part: int) -> NDArray[np.float64]:
        """The same of one part."""
        total = np.zeros((len(self.pools), self.population))
        for m in range(len(self.alpha)):
            total += self.of_client(m)[part]
        return total

    def of_client(self, m: int) -> list[NDArray[np.float64]]:
        """What a client has in each part of the population, α_m in all, (1 or replicates, population) each."""
        found = []
        for pools in (self.pools,) if self.later is None else (self.pools, self.later):
            rows = np.zeros((len(pools), self.population))
            for row, clients in zip(rows, pools, strict=True):
                row[clients[m]] = self.alpha[m] / len(clients[m])
            found.append(rows)
        return found

    @property
    def shared(self) -> bool:
        """Whether all clients draw from one pool."""
        return all(pool is clients[0] for clients in self.pools for pool in clients)

    def moves_as_one(self, study: Study) -> bool:
        """Whether P(t) is a mixture of two distributions, and not of two for each client."""
        return study.drift.apart == 0 or self.shared


def make_pools(labels: Index, study: Study, client: Index | None = None, first: int = 0) -> Streams:
    """The pools of the study's partition. `labels` are the class numbers, also where the task is binary, `client` is
    whose each sample is, if that is known, and `first` the number of the first replicate."""
    random = study.partition in ("split", "dirichlet") or study.per_class is not None
    drawn = range(first, first + study.seeds) if "partition" in study.per_seed and random else range(1)
    alpha = study.alpha or (1 / study.clients,) * study.clients
    pools = tuple(_pools(labels, study, client, s) for s in drawn)
    return Streams(pools, len(labels), alpha, first=first)


def _pools(labels: Index, study: Study, client: Index | None, replicate: int) -> tuple[Index, ...]:
    M, N = study.clients, len(labels)
    if study.partition == "iid":
        pools: Sequence[Index] = [np.arange(N)] * M
    elif study.partition == "split":
        order = permutation(N, study.seed, Purpose.partition, replicate=replicate)
        pools = [np.sort(part) for part in np.array_split(order, M)]
    elif study.partition == "two-class":
        pools = _two_classes(labels, study)
    elif study.partition == "client":
        pools = _own(client, study)
    else:
        pools = _dirichlet(labels, study, replicate)
    if study.per_class is not None:
        pools = [_at_most(pool, labels, study, m, replicate) for m, pool in enumerate(pools)]
    empty = [m for m, pool in enumerate(pools) if len(pool) == 0]
    if empty:
        raise SettingError(f"client {empty[0]} gets no sample: use fewer clients or a larger concentration")
    return tuple(pools)


def _own(client: Index | None, study: Study) -> list[Index]:
    if client is None:
        raise SettingError(
            "the data set does not tell whose a sample is: give client_column, or another partition"
        )
    known = int(client.max()) + 1
    if known != study.clients:
        raise SettingError(
            f"the samples are of {known} clients, and there are {study.clients} buffers: give one for each client"
        )
    return [np.flatnonzero(client == m) for m in range(known)]


def _two_classes(labels: Index, study: Study) -> list[Index]:
    classes = np.unique(labels)
    pairs = [(classes[m % len(classes)], classes[(m + 1) % len(classes)]) for m in range(study.clients)]
    return [np.flatnonzero(np.isin(labels, pair)) for pair in pairs]


def _dirichlet(labels: Index, study: Study, replicate: int) -> list[Index]:
    """Each class is dealt out to the clients in proportions drawn from a symmetric Dirichlet distribution."""
    parts: list[list[Index]] = [[] for _ in range(study.clients)]
    for c in np.unique(labels):
        key = [study.seed, int(Purpose.partition), int(c)]
        rng = np.random.default_rng([*key, replicate] if replicate else key)
        members = rng.permutation(np.flatnonzero(labels == c))
        share = rng.dirichlet(np.full(study.clients, study.concentration))
        cuts = np.round(np.cumsum(share)[:-1] * len(members)).astype(int)
        for part, piece in zip(parts, np.split(members, cuts), strict=True):
            part.append(piece)
    return [np.sort(np.concatenate(part)) for part in parts]


def _at_most(pool: Index, labels: Index, study: Study, client: int, replicate: int) -> Index:
    address = {"client": client, "t": 1, "replicate": replicate}
    shuffled = pool[permutation(len(pool), study.seed, Purpose.partition, **address)]
    kept = [shuffled[labels[shuffled] == c][: study.per_class] for c in np.unique(labels[pool])]
    return np.sort(np.concatenate(kept))


# --- which sample comes when -------------------------------------------------------------------------------


class Arrivals:
    """Which samples a schedule brings to whom, in order of arrival: `extend` takes its chunks one after the other."""

    def __init__(self, streams: Streams, study: Study) -> None:
        self.study = study
        replicate = np.tile(np.arange(study.seeds), len(study.policies))
        self.replicate = streams.first + replicate
        every = (*streams.pools, *(streams.later or ()))
        distinct = {id(pool): pool for clients in every for pool in clients}  # often one pool for all
        begins = np.cumsum([0, *(len(pool) for pool in distinct.values())])
        begin = dict(zip(distinct, begins[:-1], strict=True))
        group = replicate if len(streams.pools) > 1 else np.zeros_like(replicate)
        self.pooled = np.concatenate(list(distinct.values()))
        both = [streams.pools] if streams.later is None else [streams.pools, streams.later]
        self.sizes, *self.later_sizes = (
            np.array([[len(pool) for pool in c] for c in p])[group] for p in both
        )
        self.offset, *self.later_offset = (
            np.array([[begin[id(pool)] for pool in c] for c in p])[group] for p in both
        )
        shape = (study.runs, study.clients)
        self.origin = np.zeros(shape, dtype=np.int64)  # the number of the first sample in `kept`
        self.kept = np.zeros((*shape, 0), dtype=np.int32)
        self.shuffle, self.position, self.asked = (np.zeros(shape, dtype=np.int64) for _ in range(3))

    def extend(self, rounds: Rounds) -> tuple[Index, NDArray[np.int32]]:
        """The samples that are in memory in some of the rounds: where each client's list begins, and the lists.

        Lists have shape (runs, clients, longest); entry i of a list is the client's sample number origin + i.
        """
        origin, longest = rounds.starts[0], int((rounds.ends[-1] - rounds.starts[0]).max())
        self._refuse_flood(rounds, longest)
        lists = np.zeros((*origin.shape, longest), dtype=np.int32)
        place = np.arange(self.kept.shape[2]) + (self.origin - origin)[..., np.newaxis]
        still = (place >= 0) & (place < (rounds.ends[0] - rounds.admissions[0] - origin)[..., np.newaxis])
        run, client, _ = np.nonzero(still)
        lists[run, client, place[still]] = self.kept[still]
        t, run, client, slot, number = _each_sample(rounds)
        lists[run, client, number] = self.pooled[self._drawing(rounds, t, run, client, slot)]
        self.origin, self.kept = origin, lists
        return origin, lists

    def _refuse_flood(self, rounds: Rounds, longest: int) -> None:
        """Lists that the machine's memory cannot hold are refused before they are made."""
        needed = LISTED * self.study.runs * self.study.clients * longest + DRAWN * int(
            rounds.admissions.sum()
        )
        memory = (
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else math.inf
        )
        if needed > memory:
            raise SettingError(
                f"{len(rounds.cost)} rounds of {self.study.runs} runs hold and draw so many samples that they take "
                f"{needed / 1e9:,.0f} GB of memory: lower the buffers, the rate, the seeds or checkpoint"
            )

    def _drawing(self, rounds: Rounds, t: Index, run: Index, client: Index, slot: Index) -> Index:
        """Where among all pools lies what a client admits in the chunk's round t, from 0, at the given slot."""
        study, size, offset = self.study, self.sizes[run, client], self.offset[run, client]
        if not study.replacement and study.drift.kind != "order":
            return offset + self._without_replacement(rounds, t, run, client, slot)
        address = {"replicate": self.replicate[run], "client": client, "t": t + rounds.first}
        if study.drift.mixes:
            w = study.drift.weights(rounds.first, rounds.last, study.clients)[t, client]
            second = uniform(study.seed, Purpose.part, slot=slot, **address) < w
            size = np.where(second, self.later_sizes[0][run, client], size)
            offset = np.where(second, self.later_offset[0][run, client], offset)
        elif study.drift.kind == "order":
            begin, end = windows(study, t + rounds.first, size)
            offset, size = offset + begin, end - begin
            if not study.replacement:  # some that follow each other, from any place on
                _refuse_more(rounds.admissions[t, run, client], size, t + rounds.first)
                from_place = (uniform(study.seed, Purpose.sample, **address) * size).astype(np.int64)
                return offset + (from_place + slot) % size
        drawn = uniform(study.seed, Purpose.sample, slot=slot, **address)
        place: Index = offset + (drawn * size).astype(np.int64)
        return place

    def _without_replacement(self, rounds: Rounds, t: Index, run: Index, client: Index, slot: Index) -> Index:
        shuffle, position = self._shuffles(rounds.admissions)
        address = np.stack([run % self.study.seeds, client, shuffle[t, run, client]])
        needed, which = np.unique(address, axis=1, return_inverse=True)
        if not which.size:
            return np.zeros(0, dtype=np.int64)
        orders = [
            permutation(
                int(self.sizes[s, m]),
                self.study.seed,
                Purpose.shuffle,
                replicate=int(self.replicate[s]),
                client=m,
                t=k,
            )
            for s, m, k in needed.T
        ]
        begins = np.cumsum([0, *(len(order) for order in orders)])[:-1]
        place: Index = np.concatenate(orders)[begins[which.ravel()] + position[t, run, client] + slot]
        return place

    def _shuffles(self, admissions: Index) -> tuple[Index, Index]:
        """The number of the shuffle in use and the position in it where each round's draws begin."""
        if (admissions > self.sizes).any():
            raise SettingError(
                "a round asks for more samples than a client's pool holds: draw with replacement"
            )
        shuffle, position = np.empty_like(admissions), np.empty_like(admissions)
        for t, asked in enumerate(admissions):
            used = self.position + self.asked
            again = used + asked > self.sizes
            self.shuffle, self.position, self.asked = self.shuffle + again, np.where(again, 0, used), asked
            shuffle[t], position[t] = self.shuffle, self.position
        return shuffle, position


def windows(study: Study, t: Index, size: Index) -> tuple[Index, Index]:
    """Which samples of a pool of this size go by in round t: from the first to before the second."""
    length = study.drift.length
    if length is None:
        return (t - 1) * size // (study.rounds + 1), t * size // (study.rounds + 1)
    return (t - 1) * length + 0 * size, t * length + 0 * size


def _refuse_more(asked: Index, there: Index, t: Index) -> None:
    short = asked > there
    if short.any():
        raise SettingError(
            f"a client is to admit {asked[short][0]} samples of the {there[short][0]} that go by in round "
            f"{t[short][0]}: take fewer rounds or a larger length, or draw with replacement"
        )


def _each_sample(rounds: Rounds) -> tuple[Index, ...]:
    """Of every sample admitted in these rounds: the round, from 0, run, client, slot, and its place in the list."""
    t, run, client = np.nonzero(rounds.admissions)
    count = rounds.admissions[t, run, client]
    slot = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    t, run, client = (np.repeat(axis, count) for axis in (t, run, client))
    before = rounds.ends[t, run, client] - rounds.admissions[t, run, client]
    return t, run, client, slot, before + slot - rounds.starts[0][run, client]
