"""Parts of a study that workers train, any of whom may be lost at any moment.

Whatever a worker is asked since its last bookmark is kept. Where it is lost, another begins at that bookmark and is
asked the same again: it costs the rounds since then, of this part alone. Workers take chunks of rounds some ahead of
the slowest, so nobody waits for the driver.
"""

from __future__ import annotations

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
from empirics.shards.shard import TRAITS, Assignment, Bookmark, Played, Tick
from empirics.shards.split import Part
from empirics.training.engine import padded
from theory.setting import SettingError

__all__ = ["Crew", "Lost", "Office"]

PATIENCE = 5  # workers of a part that may be lost in a row, without an answer in between


class Lost(Exception):
    """A worker is no more."""


class Office(Protocol):
    """Where workers are to be had."""

    def shared(self, thing: Any) -> Any:
        """What all workers are given, as it is handed to each."""

    def hire(self, *, again: bool) -> Any:
        """A worker, `again` if one was lost."""

    def ask(self, worker: Any, what: str, *given: Any) -> Any:
        """A ticket for the answer of one of its methods; a worker does one thing after the other."""

    def wait(self, tickets: Sequence[Any]) -> int:
        """Which of the tickets has an answer."""

    def answer(self, ticket: Any) -> Any:
        """The answer, or what was raised in its place; `Lost` if the worker is."""

    def fire(self, worker: Any) -> None:
        """Nothing more is asked of it."""


@dataclass
class _Call:
    what: str
    given: tuple[Any, ...]
    ticket: Any = None
    again: bool = False  # the answer is known: it only brings a new worker to where the lost one was


@dataclass
class _Member:
    part: Part
    runs: NDArray[np.int64]
    study: Study
    worker: Any
    bookmark: Bookmark | None = None
    asked: deque[_Call] = field(default_factory=deque)  # without an answer yet
    since: list[_Call] = field(default_factory=list)  # answered, after the bookmark
    answers: deque[Any] = field(default_factory=deque)
    done: int = 0  # rounds
    lost: int = 0  # workers in a row

    def cut(self, rounds: Rounds) -> Rounds:
        return rounds.of(self.study, self.runs)


class Crew:
    """The trainer of a study whose parts are trained by workers of an office."""

    ahead = 3

    def __init__(self, office: Office, given: Assignment, parts: Sequence[Part]) -> None:
        self.office, self.study = office, given.study
        try:
            self.given = office.shared(given)
        except SettingError:
            raise
        except Exception as error:  # of whatever a user's model is made
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise SettingError(f"the model cannot be sent to workers: {reason:.200}") from error
        self.members = [
            _Member(part, part.runs(self.study), part.study(self.study), office.hire(again=False))
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
            self.office.fire(one.worker)

    def _refuse_others(self, machines: Sequence[Mapping[str, Any]]) -> None:
        """Workers with another acdpp, who train otherwise, perhaps; what else differs is told once."""
        here, told = versions(), list[str]()
        for there in (one["versions"] for one in machines):
            differ = "; ".join(
                f"{name} {here.get(name, 'absent')} here and {there.get(name, 'absent')} there"
                for name in sorted({*here, *there})
                if here.get(name) != there.get(name)
            )
            if here.get("acdpp") != there.get("acdpp"):
                raise SettingError(f"a worker has another acdpp ({differ}): install the same everywhere")
            told += [differ] if differ else []
        if told and not self.warned:
            self.warned = True
            warnings.warn(f"a worker differs ({told[0]}): so may the last bits", stacklevel=4)

    def machine(self) -> dict[str, Any]:
        names = list(dict.fromkeys(one["device"] for one in self.machines))
        shards = [{"policies": list(p.policies), "first": p.first, "seeds": p.seeds} for p in self._parts()]
        return self.machines[0] | {"device": ", ".join(names), "versions": versions(), "shards": shards}

    def _parts(self) -> list[Part]:
        return [one.part for one in self.members]

    # --- what a trainer does -------------------------------------------------------------------------------

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

    def begin(self, rounds: Rounds, tick: Tick, *, keep: bool = True) -> Callable[[], Played]:
        widths = padded(rounds.occupancy.max(axis=(1, 2)))
        self.tick = tick
        for one in self.members:
            self._ask(one, "play", one.cut(rounds), widths, keep)

        def played() -> Played:
            found = self._all()
            measured = self._joined([columns for columns, _ in found])
            return Played(measured, self._state([bookmark for _, bookmark in found]) if keep else {})

        return played

    def final(self) -> Arrays:
        return self._joined(self._each("final", lambda one: ()))

    # --- asking, and being answered ------------------------------------------------------------------------

    def _state(self, bookmarks: Sequence[Bookmark]) -> Arrays:
        """Of all runs: traits have them last, and all else first."""
        states = [dict(one.state) for one in bookmarks]
        told = self._joined([{TRAITS: one.pop(TRAITS)} for one in states])
        return self._joined(states, axis=0) | told

    def _joined(self, parts: Sequence[Arrays], axis: int = -1) -> Arrays:
        """Arrays of all runs in their order, which are along this axis."""
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
        one.asked.append(_Call(what, given, self.office.ask(one.worker, what, *given), again))

    def _all(self) -> list[Any]:
        """The next answer of every member; meanwhile those of others are taken, and who is lost is replaced."""
        while not all(one.answers for one in self.members):
            busy = [one for one in self.members if one.asked]
            one = busy[self.office.wait([member.asked[0].ticket for member in busy])]
            try:
                answer = self.office.answer(one.asked[0].ticket)
            except Lost as error:
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
        """Another worker, at the bookmark, who is asked again first what was answered since."""
        one.lost += 1
        if one.lost > PATIENCE:
            raise SettingError(
                f"the shard of {', '.join(one.part.policies)}, seeds {one.part.first} to "
                f"{one.part.first + one.part.seeds - 1}, was lost {one.lost} times in a row ({reason}): see that it "
                "fits into a worker's memory, or take more shards"
            )
        self.office.fire(one.worker)
        one.worker = self.office.hire(again=True)
        known = [_Call("make", (self.given, one.part, one.bookmark)), *one.since]
        fresh = [call for call in one.asked if not call.again]
        if fresh[0].what == "make":
            known = []
        one.asked = deque()
        for call in known:
            self._ask(one, call.what, *call.given, again=True)
        for call in fresh:
            self._ask(one, call.what, *call.given)
