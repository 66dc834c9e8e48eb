"""Which runs of a study go together: some policies with some consecutive replicates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product

import numpy as np
from numpy.typing import NDArray

from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["FEWEST", "Part", "most_parts", "split"]

FEWEST = 2  # runs of a part, unless more parts are asked for: a batch of one is summed in another order


@dataclass(frozen=True)
class Part:
    """Policies of a study, and `seeds` of its replicates from number `first` on."""

    policies: tuple[str, ...]
    first: int
    seeds: int

    def study(self, whole: Study) -> Study:
        """The part as a study."""
        return replace(whole, policies=self.policies, seeds=self.seeds)

    def runs(self, whole: Study) -> NDArray[np.int64]:
        """Where its runs stand among those of the whole."""
        which = np.array([whole.policies.index(name) for name in self.policies])[:, np.newaxis]
        return (which * whole.seeds + self.first + np.arange(self.seeds)).ravel()


def most_parts(study: Study) -> int:
    """Into how many parts a study goes without a run that is alone."""
    return max(study.runs // FEWEST, 1)


def split(study: Study, count: int) -> list[Part]:
    """At most so many parts, the largest as small as can be; if in several ways, by replicates, which cost the same.

    >>> [(part.policies, part.first, part.seeds) for part in split(Study(policies=("acdpp", "oracle"), seeds=4), 2)]
    [(('acdpp', 'oracle'), 0, 2), (('acdpp', 'oracle'), 2, 2)]
    """
    if not 1 <= count <= study.runs:
        raise SettingError(f"{study.runs} runs go into 1 to {study.runs} shards, got {count}")
    P, S = len(study.policies), study.seeds
    grids = [(a, min(count // a, S)) for a in range(1, min(P, count) + 1)]
    least = FEWEST if count <= most_parts(study) else 1
    enough = [(a, b) for a, b in grids if (P // a) * (S // b) >= least] or grids
    a, b = min(enough, key=lambda grid: (-(-P // grid[0]) * -(-S // grid[1]), grid[0]))
    return [
        Part(study.policies[p:q], s, t - s)
        for (p, q), (s, t) in product(pairwise(_cuts(P, a)), pairwise(_cuts(S, b)))
    ]


def _cuts(length: int, parts: int) -> list[int]:
    """Where even parts begin and end, the longer ones first."""
    each, more = divmod(length, parts)
    return list(accumulate((each + (k < more) for k in range(parts)), initial=0))
