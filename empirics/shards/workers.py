"""Shards of a study on workers, any of which may be lost at any time.

All requests since a worker's last bookmark are kept. A lost worker is replaced by another that starts at the bookmark
and repeats them, which costs the rounds since then, of this shard alone. Workers receive some chunks of rounds ahead,
so that they do not wait for the driver.
"""

import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from empirics.columns import Arrays
from empirics.control.schedule import Rounds
from empirics.results.provenance import versions
from empirics.settings.study import Study
from empirics.shards.shard import TRAITS, Assignment, Bookmark, Tick, TrainedRounds
from empirics.shards.split import ShardRuns
from empirics.training.engine import padded
from empirics.users_code import users_code
from theory.setting import SettingError

__all__ = ["LOSSES_MAX", "ShardedTrainer", "WorkerBackend", "WorkerLost"]

LOSSES_MAX = 5  # workers of a shard lost in a row, without an answer in between


class WorkerLost(Exception):
    """A worker has ended."""


class WorkerBackend(Protocol):
    """Starts, asks and ends workers."""

    def shared(self, thing: Any) -> Any:
        """A reference to data for all workers."""

    def start(self, *, again: bool) -> Any:
        """Start a worker, `again` after a loss."""

    def ask(self, worker: Any, what: str, *given: Any) -> Any:
        """Call a worker's method; returns a ticket for the answer. Calls are answered in their order."""

    def wait(self, tickets: Sequence[Any]) -> int:
        """The index of a ticket with an answer."""

    def answer(self, ticket: Any) -> Any:
        """The answer, or the worker's exception, or `WorkerLost`."""

    def end(self, worker: Any) -> None:
        """End a worker."""


@dataclass
class _Call:
    what: str
    given: tuple[Any, ...]
    ticket: Any = None
    again: bool = False  # repeated for a new worker; its answer is known


@dataclass
class _Member:
    part: ShardRuns
    runs: NDArray[np.int64]
    study: Study
    worker: Any
    bookmark: Bookmark | None = None
    asked: deque[_Call] = field(default_factory=deque)  # unanswered
    since: list[_Call] = field(default_factory=list)  # answered, after the bookmark
    answers: deque[Any] = field(default_factory=deque)
    done: int = 0  # rounds
    lost: int = 0  # workers in a row

    def cut(self, rounds: Rounds) -> Rounds:
        return rounds.of(self.study, self.runs)


class ShardedTrainer:
    """A trainer whose shards are trained by workers."""

    ahead = 3

    def __init__(self, backend: WorkerBackend, given: Assignment, parts: Sequence[ShardRuns]) -> None:
        self.backend, self.study = backend, given.study
        with users_code("the model cannot be sent to workers", reason_letters_max=200):
            self.given = backend.shared(given)
        self.members = [
            _Member(part, part.runs(self.study), part.study(self.study), backend.start(again=False))
            for part in parts
        ]
        self.tick: Tick = lambda done: None
        self.machines: list[dict[str, Any]] = []
        self.warned = False

    def __enter__(self) -> Self:
        try:
            self.machines = self._each("make", lambda one: (self.given, one.part))
            self._refuse_others(self.machines)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.members:
            self.backend.end(one.worker)

    def _refuse_others(self, machines: Sequence[Mapping[str, Any]]) -> None:
        """Refuse workers with another acdpp; warn once of other differences in versions."""
        here, told = versions(), list[str]()
        for there in (one["versions"] for one in machines):
            differ = "; ".join(
                f"{name} {here.get(name, 'absent')} here and {there.get(name, 'absent')} there"
                for name in sorted(here | there)
                if here.get(name) != there.get(name)
            )
            if here.get("acdpp") != there.get("acdpp"):
                raise SettingError(f"a worker has another acdpp ({differ}): install one version everywhere")
            told += [differ] if differ else []
        if told and not self.warned:
            self.warned = True
            warnings.warn(f"a worker has other versions ({told[0]}): the last bits may differ", stacklevel=4)

    def machine(self) -> dict[str, Any]:
        names = list(dict.fromkeys(one["device"] for one in self.machines))
        parts = [one.part for one in self.members]
        shards = [{"policies": list(p.policies), "first": p.first, "seeds": p.seeds} for p in parts]
        return self.machines[0] | {"device": ", ".join(names), "versions": versions(), "shards": shards}

    def try_out(self, rounds: Rounds) -> None:
        self._each("try_out", lambda one: (one.cut(rounds),))

    def follow(self, rounds: Rounds) -> None:
        self._each("follow", lambda one: (one.cut(rounds),))
        for one in self.members:
            one.done = rounds.last

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        states = {name: values for name, values in saved.items() if name != "fingerprint"}
        found = self._each(
            "restore", lambda one: ({name: values[one.runs] for name, values in states.items()},)
        )
        return self._state(found)[TRAITS]

    def begin(self, rounds: Rounds, tick: Tick, *, keep: bool = True) -> Callable[[], TrainedRounds]:
        widths = padded(rounds.occupancy.max(axis=(1, 2)))
        self.tick = tick
        for one in self.members:
            self._ask(one, "play", one.cut(rounds), widths, keep)

        def trained() -> TrainedRounds:
            found = self._all()
            measured = self._joined([columns for columns, _ in found])
            return TrainedRounds(measured, self._state([bookmark for _, bookmark in found]) if keep else {})

        return trained

    def final(self) -> Arrays:
        return self._joined(self._each("final", lambda one: ()))

    def _state(self, bookmarks: Sequence[Bookmark]) -> Arrays:
        """The state of all runs, which are the last axis of traits and the first axis of all else."""
        states = [dict(one.state) for one in bookmarks]
        told = self._joined([{TRAITS: one.pop(TRAITS)} for one in states])
        return self._joined(states, axis=0) | told

    def _joined(self, parts: Sequence[Arrays], axis: int = -1) -> Arrays:
        """Arrays of all runs in their order along an axis."""
        order = np.argsort(np.concatenate([one.runs for one in self.members]))
        whole = {name: np.concatenate([part[name] for part in parts], axis=axis) for name in parts[0]}
        return {
            name: np.take(values, order, axis=axis) if values.shape[axis] else values
            for name, values in whole.items()
        }

    def _each(self, what: str, given: Callable[[_Member], tuple[Any, ...]]) -> list[Any]:
        for one in self.members:
            self._ask(one, what, *given(one))
        return self._all()

    def _ask(self, one: _Member, what: str, *given: Any, again: bool = False) -> None:
        one.asked.append(_Call(what, given, self.backend.ask(one.worker, what, *given), again))

    def _all(self) -> list[Any]:
        """The next answer of every member; later answers are stored, and lost workers replaced."""
        while not all(one.answers for one in self.members):
            busy = [one for one in self.members if one.asked]
            one = busy[self.backend.wait([member.asked[0].ticket for member in busy])]
            try:
                answer = self.backend.answer(one.asked[0].ticket)
            except WorkerLost as error:
                self._replace(one, str(error))
                continue
            self._take(one, one.asked.popleft(), answer)
        return [one.answers.popleft() for one in self.members]

    def _take(self, one: _Member, call: _Call, answer: Any) -> None:
        if call.again:
            if call.what == "make":
                self._refuse_others([answer])
            return
        one.lost = 0
        bookmark = answer[1] if call.what == "play" else answer
        if isinstance(bookmark, Bookmark):
            one.bookmark, one.since = bookmark, []
        if call.what == "play":
            if bookmark is None:
                one.since.append(call)
            one.done = call.given[0].last
            self.tick(sum(member.done * len(member.runs) for member in self.members) // self.study.runs)
        one.answers.append(answer)

    def _replace(self, one: _Member, reason: str) -> None:
        """Start another worker at the bookmark, which first repeats the calls answered since."""
        one.lost += 1
        if one.lost > LOSSES_MAX:
            raise SettingError(
                f"the shard of {', '.join(one.part.policies)}, seeds {one.part.first} to "
                f"{one.part.first + one.part.seeds - 1}, was lost {one.lost} times in a row ({reason}): see that it "
                "fits into a worker's memory, or take more shards"
            )
        self.backend.end(one.worker)
        one.worker = self.backend.start(again=True)
        known = [_Call("make", (self.given, one.part, one.bookmark)), *one.since]
        fresh = [call for call in one.asked if not call.again]
        if fresh[0].what == "make":
            known = []
        one.asked = deque()
        for call in known:
            self._ask(one, call.what, *call.given, again=True)
        for call in fresh:
            self._ask(one, call.what, *call.given)
