r"""The admissions of all runs and what follows from them alone, in chunks of rounds: memory does not grow with T.

Retention is first in, first out, by age, by capacity or by both: client m's memory in round t is a stretch of the
sequence of its samples. So a memory is two integers, and n, N, N_eff and χ follow from running totals of the counts
(`totals`). Nothing here trains, so a schedule can be played again from round 1 to continue a study.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.control.memories import Totals
from empirics.control.policy import FOREVER, Floats, Policy, Whole
from empirics.control.prices import Prices, prices_of
from empirics.control.registry import Brief, capacity_for, dropped_by, kept_for, make_policies
from empirics.settings.study import Study
from empirics.users_code import NUMERIC, users_code
from theory.control.admission import debt_update
from theory.reuse.trajectories import Trajectory
from theory.setting import Constants, SettingError

__all__ = ["Rounds", "Schedule", "brief_for", "checked_admissions", "plan"]

CHUNK_ROUNDS = 256  # prices asked for at a time
ADMITTED_MAX = 2**31  # by a client in a round


@dataclass(frozen=True)
class Rounds:
    """Consecutive rounds of all runs. Arrays are (rounds, runs), with clients last where there are any.

    `debt` is Z(t), at the beginning of the round. Client m's memory holds its samples number `starts` to `ends` - 1.
    """

    study: Study
    first: int
    cost: Floats
    debt: Floats
    admissions: Whole
    starts: Whole
    ends: Whole
    track: Trajectory

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Rounds that follow each other, in one."""
        first, *later = parts
        return first._made(first.study, later, lambda *arrays: np.concatenate(arrays))

    def _made(self, study: Study, later: Sequence[Self], of: Callable[..., Any]) -> Self:
        """The rounds of a study whose arrays are each made `of` these and later ones."""
        parts = (self, *later)
        arrays = ("cost", "debt", "admissions", "starts", "ends")
        own = {name: of(*(getattr(one, name) for one in parts)) for name in arrays}
        track = {
            one.name: of(*(getattr(part.track, one.name) for part in parts)) for one in fields(Trajectory)
        }
        return type(self)(study, self.first, **own, track=Trajectory(**track))

    @property
    def last(self) -> int:
        return self.first + len(self.cost) - 1

    @cached_property
    def occupancy(self) -> Whole:
        """n_m(t)."""
        return self.ends - self.starts

    def of(self, study: Study, runs: Whole) -> Self:
        """Those of a study whose runs are these, each as often as it is named."""
        return self._made(study, (), lambda array: array[:, runs])


def brief_for(study: Study, constants: Constants, prices: Prices | None = None) -> Brief:
    """The brief of the study's policies, with its prices."""
    paid = prices_of(study, prices)
    return Brief(study, study.theory_budget(paid.mean), constants, paid)


class Schedule:
    """Plays the policies of a study, all replicates at once: `advance(count)` gives the next rounds.

    `digest` stands for all retentions, capacities, all admissions so far, client by client, and what was dropped.
    """

    def __init__(
        self,
        study: Study,
        constants: Constants,
        *,
        prices: Prices | None = None,
        policies: Mapping[str, Any] | None = None,
        trains: bool = False,
    ) -> None:
        self.study = study
        self.prices = prices_of(study, prices)
        self.brief = brief_for(study, constants, self.prices)
        self.policies = make_policies(self.brief, policies)
        self.listening = [name for name, policy in self.policies.items() if hasattr(policy, "observe")]
        if self.listening and not trains:
            raise SettingError(
                f"policy {self.listening[0]!r} listens to losses, which are unknown before training: leave it out"
            )
        kept, sizes = (
            np.stack([rule(policy, study, name) for name, policy in self.policies.items()])
            for rule in (kept_for, capacity_for)
        )
        self.retention, self.capacity = (np.repeat(each, study.seeds, axis=0) for each in (kept, sizes))
        self.round = 1
        self._states = {name: policy.start(study.seeds) for name, policy in self.policies.items()}
        self._costs = self._each_cost()
        self._debt = np.zeros(study.runs)
        self._totals = Totals.start(self.retention, study.rounds, self.capacity)
        limits = [self.retention] if (self.capacity == FOREVER).all() else [self.retention, self.capacity]
        self.digest = hashlib.sha256(b"".join(limit.tobytes() for limit in limits)).hexdigest()

    def _each_cost(self) -> Iterator[Floats]:
        study = self.study
        for chunk in self.prices.chunks(
            study.seed, study.seeds, study.rounds, min(CHUNK_ROUNDS, study.rounds)
        ):
            yield from chunk

    def advance(self, count: int) -> Rounds:
        """The next `count` rounds. One in which a run holds no sample at all is idle: it makes no step."""
        study, first = self.study, self.round
        cost = np.stack([next(self._costs) for _ in range(count)])
        cost = np.tile(cost, (1, len(self.policies)))
        admissions = np.empty((count, study.runs, study.clients), dtype=np.int64)
        drops = np.zeros((count, study.runs), dtype=bool)
        debt = np.empty((count, study.runs))
        for p, (name, policy) in enumerate(self.policies.items()):
            mine = slice(p * study.seeds, (p + 1) * study.seeds)
            for i in range(count):
                admissions[i, mine], drops[i, mine] = self._play(
                    name, policy, cost[i, mine], self.capacity[mine], first + i
                )
        for i in range(count):
            debt[i] = self._debt
            self._debt = debt_update(self._debt, cost[i], admissions[i].sum(axis=1), float(study.budget))
        self.round += count
        for admitted, dropped in zip(admissions, drops, strict=True):
            told = admitted.tobytes() + (dropped.tobytes() if dropped.any() else b"")
            self.digest = hashlib.sha256(self.digest.encode() + told).hexdigest()
        starts, ends, track = self._totals.extend(admissions, drops if drops.any() else None)
        return Rounds(study, first, cost, debt, admissions, starts, ends, track)

    def observe(self, losses: Floats) -> None:
        """Tell policies that listen the losses of all runs, (runs,), on the samples of the round decided last."""
        for p, (name, policy) in enumerate(self.policies.items()):
            if name in self.listening:
                mine = losses[p * self.study.seeds : (p + 1) * self.study.seeds]
                with users_code(f"policy {name!r} failed in round {self.round - 1}", *NUMERIC):
                    self._states[name] = policy.observe(self._states[name], mine)  # type: ignore[attr-defined]

    def _play(
        self, name: str, policy: Policy, cost: Floats, capacity: Whole, t: int
    ) -> tuple[Whole, NDArray[np.bool_] | bool]:
        """The admissions, and the replicates that drop all older samples."""
        with users_code(f"policy {name!r} failed in round {t}", *NUMERIC):
            state, wanted = policy.decide(self._states[name], cost)
            admitted = checked_admissions(wanted, capacity.shape, capacity)
            dropped = dropped_by(policy, state, len(cost))
            self._states[name] = policy.book(state, cost, admitted)
        return admitted, False if dropped is None else dropped


def checked_admissions(wanted: Any, shape: tuple[int, ...], capacity: Whole | None = None) -> Whole:
    """Admissions as whole numbers, none above its capacity; ValueError if they are otherwise."""
    admitted = np.asarray(wanted)
    if admitted.shape != shape:
        raise ValueError(f"admissions must have shape (replicates, clients) = {shape}, got {admitted.shape}")
    whole = admitted.dtype.kind in "iu" or (
        admitted.dtype.kind == "f" and (admitted == np.rint(admitted)).all()
    )
    if not whole or (admitted < 0).any() or (admitted > ADMITTED_MAX).any():
        raise ValueError(
            f"admissions must be whole numbers from 0 to {ADMITTED_MAX}, got {admitted.tolist()!r:.60}"
        )
    if capacity is not None and (admitted > capacity).any():
        where = tuple(axis[0] for axis in np.nonzero(admitted > capacity))
        raise ValueError(
            f"client {where[-1]} would admit {admitted[where]:.0f} samples and can hold {capacity[where]}"
        )
    return admitted.astype(np.int64)


# --- a whole schedule at once ------------------------------------------------------------------------------


def plan(study: Study, constants: Constants, **own: Any) -> Rounds:
    """All rounds of a study in one piece, for short ones."""
    return Schedule(study, constants, **own).advance(study.rounds)
