"""The rounds of a study as its policies decide them, before anything is trained: as many as a prediction asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.control.learner import Learner
from empirics.control.prices import Prices
from empirics.control.schedule import Rounds, Schedule
from empirics.prediction.cohorts import Memories
from empirics.settings.policy_name import EVERYBODYS, PolicyName
from empirics.settings.study import Study
from empirics.training.engine import aggregation_weights
from theory.setting import Constants

__all__ = ["MOST_PLAYED", "PLAYED", "Part", "Played", "deciding_part", "path_part"]

PLAYED, MOST_PLAYED = 512, 32_768  # rounds decided at first, and at most: later ones are taken for alike
BLIND = ("oracle", "buy-cheap", "buy-cheap-online", "burst", "burst-online", "taper", "taper-online")
BLIND_BUT_K = ("constant", "hybrid")  # which look at step sizes to choose it; the others are blind to them
Floats = NDArray[np.float64]


def deciding_part(name: str) -> str:
    """A name without what its decisions do not depend on, which are then made once for many learners.

    >>> deciding_part("taper@eta=2,decay=9,average=equal"), deciding_part("constant@K=3,eta=2")
    ('taper', 'constant@K=3')
    >>> deciding_part("acdpp@K=3,eta=2,decay=9"), deciding_part("constant@eta=2,decay=9")
    ('acdpp@K=3,eta=2', 'constant@eta=2')
    """
    known = PolicyName(name)
    if known.settings is None:
        return name
    blind = known.base in BLIND or (known.base in BLIND_BUT_K and "K" in known.own)
    return _without(
        known, EVERYBODYS if blind else [key for key in EVERYBODYS if key not in ("eta", "steps")]
    )


def path_part(name: str) -> str:
    """A name without what θ does not depend on, whose path is then followed once for many means of models.

    >>> path_part("taper@eta=2,decay=9,average=polynomial,average_by=3"), path_part("taper@average=none")
    ('taper@eta=2,decay=9', 'taper')
    >>> path_part("own@average=equal")  # which may decide by it
    'own@average=equal'
    """
    known = PolicyName(name)
    return name if known.settings is None else _without(known, ("average", "average_by"))


def _without(name: PolicyName, keys: Sequence[str]) -> str:
    return PolicyName(name.base).having(**{k: v for k, v in name.own.items() if k not in keys})


class Played:
    """The rounds that are decided so far, which grow if need be, with what the learner makes of them."""

    def __init__(
        self,
        study: Study,
        constants: Constants,
        prices: Prices | None,
        policies: Mapping[str, Any] | None,
        first: int,
    ) -> None:
        self.study, self.learner = study, Learner(study)
        deciding = [deciding_part(name) for name in study.policies]
        each = list(dict.fromkeys(deciding))
        self.schedule = Schedule(
            replace(study, policies=tuple(each)),
            constants,
            prices=prices,
            policies=policies,
        )
        runs = np.arange(len(each) * study.seeds).reshape(len(each), study.seeds)
        self.runs = runs[[each.index(name) for name in deciding]].ravel()
        self.chunks: list[Rounds] = []
        self.tables: list[Memories] = []
        self._grow(first)

    def _grow(self, count: int) -> None:
        study, rounds = self.study, self.schedule.advance(count).of(self.study, self.runs)
        weights = aggregation_weights(study, rounds.occupancy)
        eta, share = self.learner.follow(rounds, weights)
        self.chunks.append(rounds)
        self.tables.append(
            Memories(
                rounds.admissions,
                rounds.starts,
                rounds.ends,
                weights,
                eta,
                share,
                self._mix(rounds),
            )
        )

    def _mix(self, rounds: Rounds) -> Floats | None:
        study = rounds.study
        if not study.drift.mixes:
            return None
        w = study.drift.weights(rounds.first, rounds.last, study.clients)
        return np.repeat(w[:, np.newaxis], study.runs, axis=1)

    @property
    def last(self) -> int:
        return self.chunks[-1].last

    def reaches(self, chunks: int) -> int:
        """The last of the rounds of so many chunks."""
        return self.chunks[chunks - 1].last

    def trainings(self, rows: list[int], rounds: int) -> int:
        """Of so many rounds, those in which each of these runs has samples, or of several runs the fewest."""
        trained = np.concatenate([table.of(rows).trained for table in self.tables])
        return int(trained[:rounds].sum(axis=0).min())

    def memories(self, chunks: int) -> list[Memories]:
        """Of all runs, in so many chunks of rounds, each as long as all before."""
        if chunks > len(self.chunks):
            self._grow(min(self.last, self.study.rounds - self.last))
        return self.tables[:chunks]


@dataclass(frozen=True)
class Part:
    """Runs that are followed together: steps fall of all or of none, and all keep means of models or none does.

    `means` are the runs that each of these is of, and `owners` which of the rows has the same path.
    """

    played: Played
    rows: list[int]
    decays: bool
    means: list[int] | None = None
    owners: list[int] | None = None

    def memories(self, chunks: int) -> Memories:
        """In the rounds of so many chunks."""
        tables = self.played.memories(chunks)
        first, *later = (table.of(self.rows) for table in tables)
        found: Memories = sum(later, first)
        shares = [one.share[:, self.means] for one in tables if one.share is not None]
        return replace(
            found,
            eta=found.eta if self.decays else None,
            share=None if self.means is None else np.concatenate(shares),
            owner=None if self.owners is None else np.array(self.owners),
        )

    def followed(self, chunks: int) -> Memories:
        """The same without idle rounds, in which nothing moves, unless the population does."""
        found = self.memories(chunks)
        return found if found.mix is not None else found.without_idle()
