"""The rounds of a study as its policies decide them, before anything is trained: as many as a prediction needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirics.control.prices import Prices
from empirics.control.schedule import Rounds, Schedule
from empirics.control.steps_and_means import Learner
from empirics.prediction.memory import Memories
from empirics.settings.policy_name import EVERYBODYS, PolicyName
from empirics.settings.study import Study
from empirics.training.engine import aggregation_weights
from theory.setting import Constants

__all__ = ["ROUNDS_DECIDED_FIRST", "ROUNDS_FOLLOWED_MAX", "DecidedRounds", "RunGroup", "deciding_part"]
__all__ += ["path_part"]

ROUNDS_DECIDED_FIRST = 512  # most curves settle within these
ROUNDS_FOLLOWED_MAX = 32_768  # later rounds are extrapolated
BLIND = ("oracle", "buy-cheap", "buy-cheap-online", "burst", "burst-online", "taper", "taper-online")
BLIND_GIVEN_K = ("constant", "hybrid")  # use step sizes only to choose K


def deciding_part(name: str) -> str:
    """A policy name without the settings that its decisions do not depend on, so that learners share decisions.

    >>> deciding_part("taper@eta=2,decay=9,average=equal"), deciding_part("hybrid@K=3,eta=2")
    ('taper', 'hybrid@K=3')
    >>> deciding_part("acdpp@K=3,eta=2,decay=9"), deciding_part("constant@eta=2,decay=9")
    ('acdpp@K=3,eta=2', 'constant@eta=2')
    >>> deciding_part("own@average=equal")  # a user's policy may decide by it
    'own@average=equal'
    """
    known = PolicyName(name)
    if known.settings is None:
        return name
    blind = known.base in BLIND or (known.base in BLIND_GIVEN_K and "K" in known.own)
    return _without(known, [key for key in EVERYBODYS if blind or key not in ("eta", "steps")])


def path_part(name: str) -> str:
    """A policy name without the settings that θ does not depend on, so that means of models share a path.

    >>> path_part("taper@eta=2,decay=9,average=polynomial,average_by=3"), path_part("taper@average=none")
    ('taper@eta=2,decay=9', 'taper')
    >>> path_part("own@average=equal")  # a user's policy may decide by it
    'own@average=equal'
    """
    known = PolicyName(name)
    return name if known.settings is None else _without(known, ("average", "average_by"))


def _without(name: PolicyName, keys: Sequence[str]) -> str:
    return PolicyName(name.base).having(**{k: v for k, v in name.own.items() if k not in keys})


class DecidedRounds:
    """The rounds decided so far, in chunks each as long as all before, with the learner's step sizes and shares."""

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
        few = replace(study, policies=tuple(each))
        self.schedule = Schedule(few, constants, prices=prices, policies=policies)
        runs = np.arange(len(each) * study.seeds).reshape(len(each), study.seeds)
        self.runs = runs[[each.index(name) for name in deciding]].ravel()
        self.chunks: list[Rounds] = []
        self.tables: list[Memories] = []
        self._grow(first)

    def _grow(self, count: int) -> None:
        study, rounds = self.study, self.schedule.advance(count).of(self.study, self.runs)
        weights = aggregation_weights(study, rounds.occupancy)
        eta, share = self.learner.follow(rounds, weights)
        mix = None
        if study.drift.mixes:
            w = study.drift.weights(rounds.first, rounds.last, study.clients)
            mix = np.repeat(w[:, np.newaxis], study.runs, axis=1)
        tables = rounds.admissions, rounds.starts, rounds.ends, weights, eta, share, mix
        self.chunks.append(rounds)
        self.tables.append(Memories(*tables))

    @property
    def last(self) -> int:
        return self.chunks[-1].last

    def reaches(self, chunks: int) -> int:
        """The last round of these chunks."""
        return self.chunks[chunks - 1].last

    def trainings(self, rows: list[int], rounds: int) -> int:
        """Rounds out of the first ones in which a run has samples; of several runs, the fewest."""
        trained = np.concatenate([table.of(rows).trained for table in self.tables])
        return int(trained[:rounds].sum(axis=0).min())

    def memories(self, chunks: int) -> list[Memories]:
        """Memories of all runs in these chunks, of which at most one is new."""
        if chunks > len(self.chunks):
            self._grow(min(self.last, self.study.rounds - self.last))
        return self.tables[:chunks]


@dataclass(frozen=True)
class RunGroup:
    """Runs that are followed together: all have changing steps or none, all have means of models or none.

    `means` are the runs whose means of models are evaluated, and `owners` has the row of the path of each.
    """

    decided: DecidedRounds
    rows: list[int]
    decays: bool
    means: list[int] | None = None
    owners: list[int] | None = None

    def memories(self, chunks: int) -> Memories:
        """Memories in the rounds of these chunks."""
        tables = self.decided.memories(chunks)
        first, *later = (table.of(self.rows) for table in tables)
        found: Memories = sum(later, first)
        shares = [one.share[:, self.means] for one in tables if one.share is not None]
        return replace(
            found,
            eta=found.eta if self.decays else None,
            share=None if self.means is None else np.concatenate(shares),
            owner=None if self.owners is None else np.array(self.owners),
        )
