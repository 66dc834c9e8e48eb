"""The chunks of rounds that a study has left: decided, trained, and handed on in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from empirics.columns import FRESH, Arrays
from empirics.control.schedule import Rounds, Schedule
from empirics.shards.shard import Played, Tick, Trainer

__all__ = ["Chunks"]


class Chunks:
    """The chunks of rounds that are left, in turn, begun as far ahead as the trainer takes them; where policies listen,
    round by round. Each with the schedule's digest after it, what was measured in it, and the state."""

    def __init__(self, schedule: Schedule, trainer: Trainer, tick: Tick) -> None:
        self.schedule, self.trainer, self.tick = schedule, trainer, tick
        self.begun: deque[tuple[Rounds, str, Callable[[], Played]]] = deque()

    @property
    def _next(self) -> int:
        """How many rounds the next chunk has."""
        study = self.schedule.study
        return min(study.checkpoint, study.rounds - self.schedule.round + 1)

    def begin(self) -> None:
        """Give the trainer as much as it takes."""
        while self._next and len(self.begun) < self.trainer.ahead and not self.schedule.listening:
            rounds = self.schedule.advance(self._next)
            self.begun.append((rounds, self.schedule.digest, self.trainer.begin(rounds, self.tick)))

    def __iter__(self) -> Iterator[tuple[Rounds, str, Arrays, Arrays]]:
        while self._next or self.begun:
            if self.schedule.listening:
                yield self._listened(self._next)
                continue
            self.begin()
            rounds, digest, played = self.begun.popleft()
            yield rounds, digest, *played()

    def _listened(self, count: int) -> tuple[Rounds, str, Arrays, Arrays]:
        parts, measured, state = [], list[Arrays](), Arrays()
        for left in reversed(range(count)):
            parts.append(self.schedule.advance(1))
            found, state = self.trainer.begin(parts[-1], self.tick, keep=not left)()
            measured.append(found)
            self.schedule.observe(found[FRESH][0])
        joined = {name: np.concatenate([one[name] for one in measured]) for name in measured[0]}
        return Rounds.joined(parts), self.schedule.digest, joined, state
