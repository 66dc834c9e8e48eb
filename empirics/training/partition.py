"""The partition of the population: a pool of samples for each client, iid, by class, by Dirichlet shares or by client.

P_m is uniform over client m's pool, and P = Σ α_m P_m. Samples are population indices; `sample_order` draws them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empirics.draws import Purpose, permutation
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["Index", "Streams", "make_pools"]

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Streams:
    """Pools of population indices, one per client: shared by all replicates, or each replicate's own.

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
        """P of each sample, counting one part of the population."""
        total = np.zeros((len(self.pools), self.population))
        for m in range(len(self.alpha)):
            total += self.of_client(m)[part]
        return total

    def of_client(self, m: int) -> list[NDArray[np.float64]]:
        """α_m P_m in each part of the population, (1 or replicates, population) each."""
        found = []
        for pools in (self.pools,) if self.later is None else (self.pools, self.later):
            rows = np.zeros((len(pools), self.population))
            for row, clients in zip(rows, pools, strict=True):
                row[clients[m]] = self.alpha[m] / len(clients[m])
            found.append(rows)
        return found

    @property
    def shared(self) -> bool:
        """All clients draw from one pool."""
        return all(pool is clients[0] for clients in self.pools for pool in clients)

    def moves_as_one(self, study: Study) -> bool:
        """P(t) is a mixture of two distributions, and not of two for each client."""
        return study.drift.apart == 0 or self.shared


def make_pools(labels: Index, study: Study, client: Index | None = None, first: int = 0) -> Streams:
    """The pools of the study's partition. `labels` are the class numbers, also where the task is binary, `client` has
    the client id of each sample, if known, and `first` is the number of the first replicate."""
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
        classes = np.unique(labels)
        pairs = [(classes[m % len(classes)], classes[(m + 1) % len(classes)]) for m in range(M)]
        pools = [np.flatnonzero(np.isin(labels, pair)) for pair in pairs]
    elif study.partition == "client":
        pools = _by_client(client, study)
    else:
        pools = _dirichlet(labels, study, replicate)
    if study.per_class is not None:
        pools = [_at_most(pool, labels, study, m, replicate) for m, pool in enumerate(pools)]
    empty = [m for m, pool in enumerate(pools) if len(pool) == 0]
    if empty:
        raise SettingError(f"client {empty[0]} gets no sample: use fewer clients or a larger concentration")
    return tuple(pools)


def _by_client(client: Index | None, study: Study) -> list[Index]:
    if client is None:
        raise SettingError("the data set has no client ids: give client_column, or another partition")
    known = int(client.max()) + 1
    if known != study.clients:
        raise SettingError(
            f"the samples are of {known} clients, and there are {study.clients} buffers: give one for each client"
        )
    return [np.flatnonzero(client == m) for m in range(known)]


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
    order = permutation(len(pool), study.seed, Purpose.partition, client=client, t=1, replicate=replicate)
    shuffled = pool[order]
    kept = [shuffled[labels[shuffled] == c][: study.per_class] for c in np.unique(labels[pool])]
    return np.sort(np.concatenate(kept))
