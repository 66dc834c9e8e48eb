"""Who holds what, and what weight each sample has in θ: the law of reuse as a recursion over rounds.

Samples that came in one round have one weight, so a memory is a list of cohorts. Any first-in-first-out retention is
told by two numbers of a client and round: the first and the last of its samples that it still holds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Cohorts", "Memories"]


@dataclass(frozen=True)
class Memories:
    """Client m's memory in round t is its samples number `starts` to `ends` - 1; `weights` are the server's.

    Arrays are (rounds, rows, clients), a row being a run. `eta` are the step sizes where they differ from round to
    round, and `share` is what the model of a round's end weighs in the mean of models, where there is one; both are
    (rounds, rows). `mix` is the weight of a moving population's second part among what is admitted.
    """

    admissions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]
    eta: NDArray[np.float64] | None = None
    share: NDArray[np.float64] | None = None
    mix: NDArray[np.float64] | None = None

    def __add__(self, later: Memories) -> Memories:
        """These rounds, and then the later ones."""

        def joined(name: str) -> Any:
            one, other = getattr(self, name), getattr(later, name)
            return None if one is None else np.concatenate([one, other])

        return Memories(**{field.name: joined(field.name) for field in fields(self)})

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Whether anybody has a sample that counts, (rounds, rows): a round is idle if not."""
        return np.asarray(self.weights.any(axis=2))

    def of(self, rows: list[int]) -> Memories:
        """Of some runs, where step sizes and shares are known."""

        def chosen(name: str) -> Any:
            every = getattr(self, name)
            return None if every is None else every[:, rows]

        return Memories(**{field.name: chosen(field.name) for field in fields(self)})

    def without_idle(self) -> Memories:
        """The rounds of each row that train, one after the other; who has fewer than others keeps the last memory.

        Nothing moves in an idle round, and it makes no model.
        """
        trained = self.trained
        if trained.all():
            return self
        count, rounds = trained.sum(axis=0), np.arange(max(int(trained.sum(axis=0).max()), 1))[:, np.newaxis]
        last = np.minimum(rounds, np.maximum(count - 1, 0))
        place = np.take_along_axis(np.argsort(~trained, axis=0, kind="stable"), last, axis=0)

        def kept(values: Any) -> Any:
            if values is None:
                return None
            return np.take_along_axis(values, place if values.ndim == 2 else place[..., np.newaxis], axis=0)

        there = rounds < count
        return Memories(
            admissions=kept(self.admissions) * there[..., np.newaxis],
            starts=kept(self.starts),
            ends=kept(self.ends),
            weights=kept(self.weights),
            eta=kept(self.eta),
            share=None if self.share is None else kept(self.share) * there,
            mix=kept(self.mix),
        )

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
    `departed`, (rows, lumps), is the variance that samples have left behind that are no longer in memory. `mean_noise`
    and `mean_departed` are the same in the mean of models, and `crossed` is what the departed left of their products.
    """

    def __init__(self, like: Tensor, memories: Memories, groups: int, lumps: int) -> None:
        self.merged = groups == 1
        shape = (0, memories.rows, memories.clients)
        self.entered = like.new_zeros(0, dtype=torch.int64)
        self.begins, self.ends = (like.new_zeros(shape, dtype=torch.int64) for _ in range(2))
        self.mix = like.new_zeros(shape if memories.mix is not None else (0, 0, 0))
        each, both = (0, memories.rows, groups, lumps), (memories.rows, lumps)
        self.weight, self.noise, self.mean_noise = (like.new_zeros(each) for _ in range(3))
        self.departed, self.crossed, self.mean_departed = (like.new_zeros(both) for _ in range(3))

    def enter(self, t: int, admitted: Tensor, ends: Tensor, mix: Tensor | None = None) -> None:
        """The admissions of round t, (rows, clients), with the second part's weight in each, if there are parts."""
        still = self.mix.new_zeros(0, 0) if mix is None else mix.to(self.mix)
        self.mix = torch.cat([self.mix, still[None]])
        self.entered = torch.cat([self.entered, self.entered.new_tensor([t])])
        self.begins, self.ends = (
            torch.cat([self.begins, (ends - admitted)[None]]),
            torch.cat([self.ends, ends[None]]),
        )
        fresh = self.weight.new_zeros(1, *self.weight.shape[1:])
        for name in ("weight", "noise", "mean_noise"):
            setattr(self, name, torch.cat([getattr(self, name), fresh]))

    def counts(self, starts: Tensor) -> Tensor:
        """How many of each cohort are in memories that start there, (cohorts, rows, groups, 1)."""
        held = (self.ends - torch.maximum(self.begins, starts)).clamp(min=0)
        return (held.sum(2, keepdim=True) if self.merged else held)[..., None].to(self.weight)

    def mixture(self, starts: Tensor) -> Tensor:
        """The second part's weight in memories that start there, (rows, groups)."""
        held = (self.ends - torch.maximum(self.begins, starts)).clamp(min=0).to(self.weight)
        over = (0, 2) if self.merged else (0,)
        found = (held * self.mix).sum(over) / held.sum(over).clamp(min=1)
        return found[:, None] if self.merged else found

    def train(self, left: Tensor, weight: Tensor, noise: Tensor, held: Tensor | None = None) -> None:
        """A round: what is left of a distance, (rows, lumps), and the weight and noise that each cohort gains.

        `held` is what is left of the weight of a sample in memory, (rows, groups, lumps): what the others leave of it.
        """
        held = left[:, None] if held is None else held
        self.weight, self.noise = held * self.weight + weight, held * self.noise + noise
        self.departed, self.crossed = left.square() * self.departed, left * self.crossed

    def average(self, share: Tensor) -> None:
        """θ joins the mean of models with this share, (rows, 1)."""
        rest = 1 - share
        both = rest * self.crossed + share * self.departed
        self.mean_departed = rest.square() * self.mean_departed + share * (rest * self.crossed + both)
        self.crossed = both
        self.mean_noise = self.mean_noise + share[:, None] * (self.noise - self.mean_noise)

    def scale(self, factor: Tensor) -> None:
        """All of θ is scaled, (rows, lumps)."""
        self.train(factor, torch.zeros_like(self.weight), torch.zeros_like(self.noise))

    def variance(self, counts: Tensor) -> Tensor:
        """S, the variance of θ by lump, (rows, lumps)."""
        return self.departed + (counts * self.noise.square()).sum((0, 2))

    def mean_variance(self, counts: Tensor) -> Tensor:
        """The same of the mean of models."""
        return self.mean_departed + (counts * self.mean_noise.square()).sum((0, 2))

    def leave(self, counts: Tensor, starts: Tensor) -> None:
        """Who is not in the memories that start there."""
        still = self.counts(starts)
        gone = counts - still
        self.departed = self.departed + (gone * self.noise.square()).sum((0, 2))
        self.crossed = self.crossed + (gone * self.noise * self.mean_noise).sum((0, 2))
        self.mean_departed = self.mean_departed + (gone * self.mean_noise.square()).sum((0, 2))
        kept = (still > 0).flatten(1).any(1)
        for name in ("entered", "begins", "ends", "mix", "weight", "noise", "mean_noise"):
            setattr(self, name, getattr(self, name)[kept])
