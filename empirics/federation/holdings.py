"""The server's account of its clients' memories: by cohorts, who holds how many samples, how often each was used.

The batched engine knows that every client trains in every round, and running totals are enough for it
(`empirics.control.totals`). Here a client may be away: its samples age, but nobody uses them. What a client tells is
held against what it was granted and what it had, and refused if it is more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from theory.reuse.counts import Trajectory, from_totals
from theory.setting import SettingError

__all__ = ["Account", "Holdings"]


@dataclass(frozen=True)
class Account:
    """What a client says about a round: samples admitted, and all that it trained on, by the rounds they came in."""

    delivered: int
    cohorts: Mapping[int, int]

    @property
    def trained_on(self) -> int:
        return sum(self.cohorts.values())


@dataclass
class Holdings:
    """`memories` has, for each client, [round, count, uses] of its cohorts, the oldest first; sums are over all samples
    ever admitted, and `booked` is each client's last round that counts."""

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
        """Before round 1."""
        M = len(retention)
        kept, sizes = ([int(one) for one in limit] for limit in (retention, capacity))
        return cls(kept, sizes, [[] for _ in range(M)], [0] * M, admitted=[0] * M)

    def expected(self, client: int, delivered: int) -> dict[int, int]:
        """What a client holds in the next round, if it has lost nothing."""
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

    def check(self, client: int, granted: int, account: Account) -> None:
        """Refuse what cannot be true."""
        if not 0 <= account.delivered <= granted:
            raise SettingError(
                f"client {client} says it admitted {account.delivered} samples and was granted {granted}"
            )
        right = self.expected(client, account.delivered)
        for entered, count in account.cohorts.items():
            if not 0 <= count <= right.get(entered, 0):
                raise SettingError(
                    f"client {client} says it holds {count} samples of round {entered}, of which it can hold "
                    f"{right.get(entered, 0)}"
                )

    def book(self, accounts: Mapping[int, Account]) -> Trajectory:
        """The next round, with the clients that took part: its n, N, N_eff and χ, arrays of shape (1, 1)."""
        self.round += 1
        t, n, in_memory, inner = self.round, 0, 0, 0
        for m, account in accounts.items():
            used = {entered: u for entered, _, u in self.memories[m]}
            memory = [[r, count, used.get(r, 0) + 1] for r, count in sorted(account.cohorts.items()) if count]
            self.memories[m], self.booked[m] = memory, t
            self.admitted[m] += account.delivered
            self.distinct += account.delivered
            for _, count, u in memory:
                n, in_memory, inner = n + count, in_memory + count * u, inner + count * u * u
                self.uses, self.squares = self.uses + count, self.squares + count * (2 * u - 1)
        totals = (
            n,
            self.distinct,
            in_memory,
            self.uses,
            self.squares,
            self.uses - in_memory,
            self.squares - inner,
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # without a sample there is no trajectory
            return from_totals(*(np.full((1, 1), float(one)) for one in totals))
