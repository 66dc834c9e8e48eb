"""The trainer of a study, this process or workers, and the chunks of rounds that it trains."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirics.columns import FRESH, Arrays
from empirics.control.schedule import Rounds, Schedule
from empirics.data import Dataset
from empirics.shards.shard import Assignment, Shard, Tick, TrainedRounds, Trainer
from empirics.training.problem import Problem
from theory.setting import SettingError

__all__ = ["Chunks", "Where", "trainer_for"]


@dataclass(frozen=True)
class Where:
    """The device, the address of Ray (None: this process), and the number of shards."""

    device: str
    on: str | None = None
    shards: int | None = None

    def __post_init__(self) -> None:
        if self.on is not None:
            from empirics.shards.on_ray import refuse_address

            refuse_address(self.on)
        elif self.shards is not None:
            raise SettingError("shards need Ray: give --on too, such as --on ray")
        if self.shards is not None and self.shards < 1:
            raise SettingError(f"a study needs at least 1 shard, got {self.shards}")

    @property
    def here(self) -> str:
        """The device of this process; with workers it may have no GPU."""
        return self.device if self.on is None else "cpu"


@contextmanager
def trainer_for(
    problem: Problem, data: Dataset, model: Any, where: Where, *, listens: bool
) -> Iterator[Trainer]:
    """This process with its problem, or workers, which receive the data and the model."""
    if where.on is None:
        yield Shard(problem, listens=listens)
        return
    from empirics.shards.on_ray import opened
    from empirics.shards.split import split
    from empirics.shards.workers import ShardedTrainer

    study = problem.study
    if where.shards is not None:
        split(study, where.shards)  # refuses a wrong number before Ray starts
    with opened(where.on, study, where.device, where.shards) as backend:
        given = Assignment(study, data, model, where.device, listens)
        with ShardedTrainer(backend, given, split(study, backend.shards)) as trainer:
            yield trainer


class Chunks:
    """Iterates over the remaining chunks of rounds with the schedule's digest, the measures and the state after each.

    Chunks are started as far ahead as the trainer allows; where policies listen, rounds are trained one by one.
    """

    def __init__(self, schedule: Schedule, trainer: Trainer, tick: Tick) -> None:
        self.schedule, self.trainer, self.tick = schedule, trainer, tick
        self.begun: deque[tuple[Rounds, str, Callable[[], TrainedRounds]]] = deque()

    @property
    def _next(self) -> int:
        """The number of rounds in the next chunk."""
        study = self.schedule.study
        return min(study.checkpoint, study.rounds - self.schedule.round + 1)

    def begin(self) -> None:
        """Start as many chunks as the trainer allows."""
        while self._next and len(self.begun) < self.trainer.ahead and not self.schedule.listening:
            rounds = self.schedule.advance(self._next)
            self.begun.append((rounds, self.schedule.digest, self.trainer.begin(rounds, self.tick)))

    def __iter__(self) -> Iterator[tuple[Rounds, str, Arrays, Arrays]]:
        while self._next or self.begun:
            if self.schedule.listening:
                yield self._listened(self._next)
                continue
            self.begin()
            rounds, digest, trained = self.begun.popleft()
            yield rounds, digest, *trained()

    def _listened(self, count: int) -> tuple[Rounds, str, Arrays, Arrays]:
        parts, measured, state = [], list[Arrays](), Arrays()
        for left in reversed(range(count)):
            parts.append(self.schedule.advance(1))
            found, state = self.trainer.begin(parts[-1], self.tick, keep=not left)()
            measured.append(found)
            self.schedule.observe(found[FRESH][0])
        joined = {name: np.concatenate([found[name] for found in measured]) for name in measured[0]}
        return Rounds.joined(parts), self.schedule.digest, joined, state
