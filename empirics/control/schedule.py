r"""The admissions of a whole study, computed before it trains, and what follows from them alone.

Retention is first in, first out: client m's memory in round t is the stretch \([A_m(t-K_m),A_m(t))\) of the
sequence of its samples, where \(A_m(t)\) counts its admissions through round t. So a memory is two integers, and
n, N, N_eff and χ follow from the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import make_policy
from empirics.settings.study import Study
from theory.reuse import Trajectory, trajectory
from theory.setting import Constants, SettingError

__all__ = ["Control", "Schedule", "control", "merge", "plan"]

CHUNK = 256  # rounds of control held at a time


@dataclass(frozen=True)
class Control:
    """Consecutive rounds of all runs: costs and debts of shape (rounds, runs), admissions (rounds, runs, clients).

    `debt` is Z(t), at the beginning of the round.
    """

    first: int
    cost: NDArray[np.float64]
    debt: NDArray[np.float64]
    admissions: NDArray[np.int32]


def control(study: Study, constants: Constants, chunk: int = CHUNK) -> Iterator[Control]:
    """The control loop of every run, chunk by chunk: its memory does not grow with the horizon."""
    policies = [make_policy(name, study, constants) for name in study.policies]
    states = [policy.start(study.seeds) for policy in policies]
    first = 1
    for costs in study.cost.chunks(study.seed, study.seeds, study.rounds, chunk):
        admissions = np.empty((len(costs), study.runs, study.clients), dtype=np.int32)
        debt = np.empty((len(costs), study.runs))
        for p, policy in enumerate(policies):
            mine = slice(p * study.seeds, (p + 1) * study.seeds)
            for i, cost in enumerate(costs):
                debt[i, mine] = states[p].server.debt
                states[p], admissions[i, mine] = policy.play(states[p], cost)
        yield Control(first, np.tile(costs, (1, len(policies))), debt, admissions)
        first += len(costs)


@dataclass(frozen=True)
class Schedule:
    """All rounds of a study. Arrays are (rounds, runs), with clients last where there are any."""

    study: Study
    cost: NDArray[np.float64]
    debt: NDArray[np.float64]
    admissions: NDArray[np.int32]
    retention: NDArray[np.int64]  # (runs, clients)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """A_m(t) for t = 0..T: how many samples a client has seen, of shape (rounds + 1, runs, clients)."""
        none = np.zeros((1, *self.admissions.shape[1:]), dtype=np.int64)
        return np.concatenate([none, np.cumsum(self.admissions, axis=0, dtype=np.int64)])

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """A_m(t - K_m), the first sample still in memory, for t = 1..T."""
        rounds = np.arange(1, len(self.admissions) + 1)[:, np.newaxis, np.newaxis]
        return np.take_along_axis(self.ends, np.maximum(rounds - self.retention, 0), axis=0)

    @property
    def occupancy(self) -> NDArray[np.int64]:
        """n_m(t)."""
        return self.ends[1:] - self.starts

    @cached_property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """n, N, uniformity and χ of each run."""
        return tuple(self._trajectory(run) for run in range(self.admissions.shape[1]))

    def _trajectory(self, run: int) -> Trajectory:
        kept = self.retention[run]
        groups = [self.admissions[:, run, kept == K].sum(axis=1).astype(float) for K in np.unique(kept)]
        return merge([trajectory(group, int(K)) for group, K in zip(groups, np.unique(kept), strict=True)])


def merge(parts: list[Trajectory]) -> Trajectory:
    r"""The trajectory of groups of clients that keep their samples for different times, taken together.

    Group g holds a share \(s_g\) of all uses and \(q_g\) of the memory; its weights are \(s_g\) times its own, so
    \(1/N_{\mathrm{eff}}=\sum s_g^2/N_{\mathrm{eff},g}\), and expanding the squares of χ gives
    \(\chi=\sum_g s_gq_g\chi_g+s_g(s_g-q_g)/N_{\mathrm{eff},g}+q_g(q_g-s_g)/n_g\).
    """
    if len(parts) == 1:
        return parts[0]
    n, N = sum(part.n for part in parts), sum(part.N for part in parts)
    uses = np.cumsum(n)
    inverse, mismatch = 0.0, 0.0
    for part in parts:
        s, q = np.cumsum(part.n) / uses, part.n / n
        inverse = inverse + s * s / part.effective
        mismatch = mismatch + s * q * part.mismatch + s * (s - q) / part.effective + q * (q - s) / part.n
    return Trajectory(n=n, N=N, uniformity=1 / (N * inverse), mismatch=mismatch)


def plan(study: Study, constants: Constants) -> Schedule:
    """The schedule of a study: a run that ever holds no sample at all is refused."""
    chunks = list(control(study, constants))
    kept = [make_policy(name, study, constants).retention for name in study.policies]
    schedule = Schedule(
        study=study,
        cost=np.concatenate([chunk.cost for chunk in chunks]),
        debt=np.concatenate([chunk.debt for chunk in chunks]),
        admissions=np.concatenate([chunk.admissions for chunk in chunks]),
        retention=np.repeat(np.stack(kept), study.seeds, axis=0),
    )
    empty = (schedule.occupancy.sum(axis=2) == 0).any(axis=0)
    if empty.any():
        name = study.policies[int(np.argmax(empty)) // study.seeds]
        raise SettingError(
            f"policy {name} leaves a round without any sample: raise the budget or the buffers"
        )
    return schedule
