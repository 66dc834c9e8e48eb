"""Division of a study's runs into shards: some policies with consecutive replicates."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product

import numpy as np
from numpy.typing import NDArray

from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["SHARD_RUNS_MIN", "ShardRuns", "most_shards", "split"]

SHARD_RUNS_MIN = 2  # unless more shards are requested: sums over a batch of one run have another order


@dataclass(frozen=True)
class ShardRuns:
    """Some policies of a study, with `seeds` replicates from number `first` on."""

    policies: tuple[str, ...]
    first: int
    seeds: int

    def study(self, whole: Study) -> Study:
        return replace(whole, policies=self.policies, seeds=self.seeds)

    def runs(self, whole: Study) -> NDArray[np.int64]:
        """The indices of its runs in the whole study."""
        which = np.array([whole.policies.index(name) for name in self.policies])[:, np.newaxis]
        return (which * whole.seeds + self.first + np.arange(self.seeds)).ravel()


def most_shards(study: Study) -> int:
    """The largest number of shards without a single run."""
    return max(study.runs // SHARD_RUNS_MIN, 1)


def split(study: Study, count: int) -> list[ShardRuns]:
    """At most `count` shards with the smallest possible maximum; replicates are divided first: they cost the same.

    >>> [(shard.policies, shard.first, shard.seeds) for shard in split(Study(policies=("acdpp", "oracle"), seeds=4), 2)]
    [(('acdpp', 'oracle'), 0, 2), (('acdpp', 'oracle'), 2, 2)]
    """
    if not 1 <= count <= study.runs:
        raise SettingError(f"{study.runs} runs need 1 to {study.runs} shards, got {count}")
    P, S = len(study.policies), study.seeds
    grids = [(a, min(count // a, S)) for a in range(1, min(P, count) + 1)]
    least = SHARD_RUNS_MIN if count <= most_shards(study) else 1
    enough = [(a, b) for a, b in grids if (P // a) * (S // b) >= least] or grids
    a, b = min(enough, key=lambda grid: (-(-P // grid[0]) * -(-S // grid[1]), grid[0]))
    return [
        ShardRuns(study.policies[p:q], s, t - s)
        for (p, q), (s, t) in product(pairwise(_cuts(P, a)), pairwise(_cuts(S, b)))
    ]


def _cuts(length: int, parts: int) -> list[int]:
    """The limits of even parts, the longer parts first."""
    each, more = divmod(length, parts)
    return list(accumulate((each + (k < more) for k in range(parts)), initial=0))
