"""Who holds what, and what weight each sample has in θ: the law of reuse as a recursion over rounds.

Samples that came in one round have one weight, so a memory is a list of cohorts. Any first-in-first-out retention is
told by two numbers of a client and round: the first and the last of its samples that it still holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Cohorts", "Memories"]


@dataclass(frozen=True)
class Memories:
    """Client m's memory in round t is its samples number `starts` to `ends` - 1; `weights` are the server's.

    Arrays are (rounds, rows, clients), a row being a run.
    """

    admissions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]

    def __add__(self, later: Memories) -> Memories:
        """These rounds, and then the later ones."""
        names = ("admissions", "starts", "ends", "weights")
        return Memories(*(np.concatenate([getattr(self, name), getattr(later, name)]) for name in names))

    @property
    def rounds(self) -> int:
        return len(self.ends)

    @property
    def rows(self) -> int:
        return int(self.ends.shape[1])

    @property
    def clients(self) -> int:
        return int(self.ends.shape[2])


class Cohorts:
    """The cohorts in memory: how many samples, and the weight of each in θ by direction.

    `weight` is a sample's weight in its own favour, per gradient that a fresh one would have; `noise` the same times
    that gradient's standard deviation. Both are (cohorts, rows, groups, lumps): clients that are alike are one group.
    `departed`, (rows, lumps), is the variance that samples have left behind that are no longer in memory.
    """

    def __init__(self, like: Tensor, memories: Memories, groups: int, lumps: int) -> None:
        self.merged = groups == 1
        shape = (0, memories.rows, memories.clients)
        self.entered = like.new_zeros(0, dtype=torch.int64)
        self.begins, self.ends = (like.new_zeros(shape, dtype=torch.int64) for _ in range(2))
        self.weight, self.noise = (like.new_zeros(0, memories.rows, groups, lumps) for _ in range(2))
        self.departed = like.new_zeros(memories.rows, lumps)

    def enter(self, t: int, admitted: Tensor, ends: Tensor) -> None:
        """The admissions of round t, (rows, clients)."""
        self.entered = torch.cat([self.entered, self.entered.new_tensor([t])])
        self.begins, self.ends = (
            torch.cat([self.begins, (ends - admitted)[None]]),
            torch.cat([self.ends, ends[None]]),
        )
        fresh = self.weight.new_zeros(1, *self.weight.shape[1:])
        self.weight, self.noise = torch.cat([self.weight, fresh]), torch.cat([self.noise, fresh])

    def counts(self, starts: Tensor) -> Tensor:
        """How many of each cohort are in memories that start there, (cohorts, rows, groups, 1)."""
        held = (self.ends - torch.maximum(self.begins, starts)).clamp(min=0)
        return (held.sum(2, keepdim=True) if self.merged else held)[..., None].to(self.weight)

    def train(self, left: Tensor, weight: Tensor, noise: Tensor, held: Tensor | None = None) -> None:
        """A round: what is left of a distance, (rows, lumps), and the weight and noise that each cohort gains.

        `held` is what is left of the weight of a sample in memory, (rows, groups, lumps): what the others leave of it.
        """
        held = left[:, None] if held is None else held
        self.weight, self.noise = held * self.weight + weight, held * self.noise + noise
        self.departed = left.square() * self.departed

    def scale(self, factor: Tensor) -> None:
        """All of θ is scaled, (rows, lumps)."""
        self.train(factor, torch.zeros_like(self.weight), torch.zeros_like(self.noise))

    def variance(self, counts: Tensor) -> Tensor:
        """S, the variance of θ by lump, (rows, lumps)."""
        return self.departed + (counts * self.noise.square()).sum((0, 2))

    def leave(self, counts: Tensor, starts: Tensor) -> None:
        """Who is not in the memories that start there."""
        still = self.counts(starts)
        self.departed = self.departed + ((counts - still) * self.noise.square()).sum((0, 2))
        kept = (still > 0).flatten(1).any(1)
        for name in ("entered", "begins", "ends", "weight", "noise"):
            setattr(self, name, getattr(self, name)[kept])
