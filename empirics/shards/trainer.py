"""Who trains a study: this process, or workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from empirics.data import Dataset
from empirics.shards.shard import Assignment, Shard, Trainer
from empirics.training.problem import Problem
from theory.setting import SettingError

__all__ = ["Where", "trainer_for"]


@dataclass(frozen=True)
class Where:
    """On which device, and on what: None for this process, else an address of Ray, and in how many shards."""

    device: str
    on: str | None = None
    shards: int | None = None

    def __post_init__(self) -> None:
        if self.on is not None:
            from empirics.shards.on_ray import refuse_address

            refuse_address(self.on)
        elif self.shards is not None:
            raise SettingError("shards are trained on Ray: give --on too, such as --on ray")
        if self.shards is not None and self.shards < 1:
            raise SettingError(f"a study goes into 1 shard or more, got {self.shards}")

    @property
    def here(self) -> str:
        """The device of this process: one that has workers may have no GPU of its own."""
        return self.device if self.on is None else "cpu"


@contextmanager
def trainer_for(
    problem: Problem, data: Dataset, model: Any, where: Where, *, listens: bool
) -> Iterator[Trainer]:
    """This process, with the problem that it has, or workers, who are given the data and the model."""
    if where.on is None:
        yield Shard(problem, listens=listens)
        return
    from empirics.shards.crew import Crew
    from empirics.shards.on_ray import opened
    from empirics.shards.split import split

    study = problem.study
    if where.shards is not None:
        split(study, where.shards)  # or refused, before Ray is there
    with opened(where.on, study, where.device, where.shards) as office:
        given = Assignment(study, data, model, where.device, listens)
        with Crew(office, given, split(study, office.shards)) as crew:
            yield crew
