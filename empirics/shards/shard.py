"""Some runs of a study on one device: all runs in this process, or a shard in a worker."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from empirics.columns import Arrays
from empirics.control.schedule import Rounds
from empirics.data import Dataset
from empirics.results.fingerprint import probe, traits
from empirics.results.measures import last_measures
from empirics.results.provenance import machine
from empirics.settings.study import Study
from empirics.shards.split import ShardRuns
from empirics.training.device import choose_device, threads
from empirics.training.engine import Engine
from empirics.training.linear import Linear
from empirics.training.problem import Problem, from_dataset
from empirics.users_code import users_code

__all__ = ["REMEDY", "TRAITS", "Assignment", "Bookmark", "Shard", "Tick", "TrainedRounds", "Trainer"]
__all__ += ["Worker"]

REMEDY = "take smaller buffers or rates, or fewer seeds or policies"
TRAITS = "traits"  # of the model's fingerprint, in a state
Tick = Callable[[int], None]


class TrainedRounds(NamedTuple):
    """Measures of some rounds, of shape (rounds, runs), and the state after them, if requested."""

    measured: Arrays
    state: Arrays


class Trainer(Protocol):
    """Trains all runs of a study."""

    ahead: int  # chunks of rounds accepted at a time

    def machine(self) -> dict[str, Any]:
        """A description of its hardware."""

    def try_out(self, rounds: Rounds) -> None:
        """Train a discarded round, so that failures come before anything is written."""

    def follow(self, rounds: Rounds) -> None:
        """Skip rounds that were trained before."""

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Continue from a saved state; returns the model's traits there."""

    def begin(self, rounds: Rounds, tick: Tick, *, keep: bool = True) -> Callable[[], TrainedRounds]:
        """Start a chunk of rounds; the returned function waits for it. `keep` requests the state."""

    def final(self) -> Arrays:
        """Measures after the last round, run by run."""


class Shard:
    """The runs of a problem's study; `averages` is that of the whole study."""

    ahead = 1

    def __init__(self, problem: Problem, *, listens: bool, averages: bool | None = None) -> None:
        self.problem, self.listens, self.averages = problem, listens, averages

    @cached_property
    def engine(self) -> Engine:
        return self._engine()

    def _engine(self, graphs: bool | None = None) -> Engine:
        of = (self.problem.model, self.problem.study, self.problem.streams)
        return Engine(*of, graphs=graphs, listens=self.listens, averages=self.averages)

    def machine(self) -> dict[str, Any]:
        return machine(self.problem.population.x.device)

    def try_out(self, rounds: Rounds) -> None:
        study, model = self.problem.study, self.problem.model
        if isinstance(model, Linear):
            return
        from empirics.training.networks import NETWORKS

        failed = f"model {study.model!r} failed in a first round"
        with users_code(failed, MemoryError, reason_letters_max=300):
            engine = self._engine(graphs=False)
            engine.play(rounds)
            if study.model in NETWORKS:
                return
            shapes = {
                "start": (tuple(engine.theta.shape), (study.runs, model.size)),
                "update": (tuple(probe(self.problem, engine.theta)[1].shape), (study.runs, model.size)),
                "accuracy": (tuple(model.accuracy(engine.theta).shape), (study.runs,)),
            }
            for name, (found, wanted) in shapes.items():
                if found != wanted:
                    raise ValueError(f"{name} must return a tensor of shape {wanted}, not {found}")

    def follow(self, rounds: Rounds) -> None:
        self.engine.follow(rounds)

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        self.engine.restore(saved)
        return traits(self.problem, self.engine.theta)

    def begin(
        self, rounds: Rounds, tick: Tick, *, keep: bool = True, widths: NDArray[np.int64] | None = None
    ) -> Callable[[], TrainedRounds]:
        return lambda: TrainedRounds(self.engine.play(rounds, tick, widths), self.state() if keep else {})

    def state(self) -> Arrays:
        """The content of a checkpoint."""
        found = {name: tensor.cpu().numpy() for name, tensor in self.engine.state.items()}
        return found | {TRAITS: traits(self.problem, self.engine.theta)}

    def final(self) -> Arrays:
        return last_measures(self.problem, self.engine.theta, self.engine.averaged)


@dataclass(frozen=True)
class Assignment:
    """The data of all workers of a study."""

    study: Study
    data: Dataset
    model: Any
    device: str
    listens: bool


class Bookmark(NamedTuple):
    """The data from which a new worker continues: the state after training, if any, and the streams and the learner."""

    state: Arrays
    arrivals: Any
    learner: Any


class Worker:
    """A shard in a process of its own; its answers include bookmarks from which another worker can continue."""

    shard: Shard

    def make(self, given: Assignment, part: ShardRuns, bookmark: Bookmark | None = None) -> dict[str, Any]:
        """Start, or continue at a bookmark; returns a description of the hardware."""
        study = part.study(given.study)
        with threads(study.threads, REMEDY):
            place = choose_device(given.device)
            problem = from_dataset(study, given.data, place, given.model, part.first)
            self.shard = Shard(problem, listens=given.listens, averages=given.study.averages)
            if bookmark is not None:
                own = copy.deepcopy(bookmark)  # received arrays are read-only
                engine = self.shard.engine
                engine.arrivals, engine.learner = own.arrivals, own.learner
                if own.state:
                    engine.restore(own.state)
            return self.shard.machine()

    def try_out(self, rounds: Rounds) -> None:
        with self._threads():
            self.shard.try_out(rounds)

    def follow(self, rounds: Rounds) -> Bookmark:
        with self._threads():
            self.shard.follow(rounds)
            return self._bookmark({})  # the trained state comes with `restore`

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> Bookmark:
        with self._threads():
            self.shard.restore({name: values.copy() for name, values in saved.items()})
            return self._bookmark(self.shard.state())

    def play(self, rounds: Rounds, widths: NDArray[np.int64], keep: bool) -> tuple[Arrays, Bookmark | None]:
        """The measures, and the bookmark after them if requested."""
        with self._threads():
            trained = self.shard.begin(rounds, lambda _: None, keep=False, widths=widths)()
            return trained.measured, self._bookmark(self.shard.state()) if keep else None

    def final(self) -> Arrays:
        with self._threads():
            return self.shard.final()

    def _threads(self) -> Any:
        return threads(self.shard.problem.study.threads, REMEDY)

    def _bookmark(self, state: Arrays) -> Bookmark:
        engine = self.shard.engine
        return Bookmark(state, engine.arrivals, engine.learner)
