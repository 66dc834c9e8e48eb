"""Clients' reports and the server's account of their memories: samples by round of arrival, with counts of uses.

A report that exceeds the grant, or the samples that the client can still hold, is refused (`ClientAccounts.check`). In
the batched engine every client trains in every round, so totals suffice (`empirics.control.memories`); here the samples
of an absent client age unused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from theory.reuse.trajectories import Trajectory, from_totals
from theory.setting import SettingError

__all__ = ["ClientAccounts", "ClientReport"]


@dataclass(frozen=True)
class ClientReport:
    """A client's report on a round: samples admitted, and samples trained on, by their round of arrival."""

    delivered: int
    cohorts: Mapping[int, int]

    @property
    def trained_on(self) -> int:
        return sum(self.cohorts.values())

    @property
    def counted(self) -> dict[str, int]:
        """Samples by the kind that sums are asked over."""
        return {"held": self.trained_on, "fresh": self.delivered, "folds": self.delivered}


@dataclass
class ClientAccounts:
    """`memories` has, for each client, [round, count, uses] of its cohorts, the oldest first; sums are over all samples
    ever admitted, and `booked` is each client's last booked round."""

    retention: list[int]
    capacity: list[int]
    memories: list[list[list[int]]]
    booked: list[int]
    round: int = 0
    distinct: int = 0
    uses: int = 0
    squares: int = 0
    admitted: list[int] = field(default_factory=list)

    @classmethod
    def start(cls, retention: NDArray[np.int64], capacity: NDArray[np.int64]) -> Self:
        """Accounts before round 1."""
        M = len(retention)
        return cls(retention.tolist(), capacity.tolist(), [[] for _ in range(M)], [0] * M, admitted=[0] * M)

    def expected(self, client: int, delivered: int) -> dict[int, int]:
        """The cohorts that a client holds in the next round if it has lost nothing."""
        t = self.round + 1
        held = [(r, n) for r, n, _ in self.memories[client] if r > t - self.retention[client]]
        over = sum(n for _, n in held) + delivered - self.capacity[client]
        found = {}
        for entered, count in [*held, (t, delivered)]:
            gone = min(max(over, 0), count)
            over -= gone
            if count > gone:
                found[entered] = count - gone
        return found

    def check(self, client: int, granted: int, report: ClientReport) -> None:
        """Refuse a report of more samples than granted, or than the client can hold."""
        if not 0 <= report.delivered <= granted:
            raise SettingError(
                f"client {client} reports {report.delivered} admitted samples, granted: {granted}"
            )
        possible = self.expected(client, report.delivered)
        for entered, count in report.cohorts.items():
            if not 0 <= count <= possible.get(entered, 0):
                raise SettingError(
                    f"client {client} reports {count} samples of round {entered} in memory, possible: "
                    f"{possible.get(entered, 0)}"
                )

    def book(self, reports: Mapping[int, ClientReport]) -> Trajectory:
        """Book the next round with its participants; its n, N, N_eff and χ, arrays of shape (1, 1)."""
        self.round += 1
        t, n, in_memory, inner = self.round, 0, 0, 0
        for m, report in reports.items():
            used = {entered: u for entered, _, u in self.memories[m]}
            memory = [[r, count, used.get(r, 0) + 1] for r, count in sorted(report.cohorts.items()) if count]
            self.memories[m], self.booked[m] = memory, t
            self.admitted[m] += report.delivered
            self.distinct += report.delivered
            for _, count, u in memory:
                n, in_memory, inner = n + count, in_memory + count * u, inner + count * u * u
                self.uses, self.squares = self.uses + count, self.squares + count * (2 * u - 1)
        past = (self.uses - in_memory, self.squares - inner)
        totals = (n, self.distinct, in_memory, self.uses, self.squares, *past)
        with np.errstate(divide="ignore", invalid="ignore"):  # without a sample the trajectory is undefined
            return from_totals(*(np.full((1, 1), float(total)) for total in totals))
