"""A population that moves: its two parts, and P(t) on the device.

The second part is a half of the classes, or all samples once more with other labels or inputs, which then stand behind
the first ones in the population. Models read P from `Population.weights`; `World.show` writes that of a round there.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.data import Dataset
from empirics.settings.study import Study
from empirics.training.model import Model, Population
from empirics.training.partition import Index, Streams
from empirics.training.sample_order import windows
from theory.setting import SettingError

__all__ = ["World", "both_parts", "in_order", "parted", "second_part", "world_of"]


# --- the parts ---------------------------------------------------------------------------------------------


def both_parts(data: Dataset, parts: str) -> Dataset:
    """The data set with the second part behind the first, where that is made of it."""
    if parts == "classes":
        return data
    pairs = ((data.train_x, data.train_y), (data.test_x, data.test_y))
    doubled = [
        np.concatenate([values, other])
        for x, y in pairs
        for values, other in ((x, _turned(x) if parts == "inputs" else x), (y, _other(y, data, parts)))
    ]
    train_x, train_y, test_x, test_y = doubled
    return replace(data, train_x=train_x, train_y=train_y, test_x=test_x, test_y=test_y)


def _other(y: Index, data: Dataset, parts: str) -> Index:
    return (y + 1) % data.classes if parts == "labels" else y


def _turned(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Square images by a right angle; other inputs in reverse."""
    if x.ndim >= 3 and x.shape[-1] == x.shape[-2]:
        return np.rot90(x, axes=(-2, -1))
    return x[..., ::-1]


def second_part(study: Study, data: Dataset) -> NDArray[np.bool_]:
    """The test samples of the second part."""
    if study.drift.parts == "classes":
        return _upper(data.test_y, data)
    return np.arange(len(data.test_y)) >= len(data.test_y) // 2


def _upper(labels: Index, data: Dataset) -> NDArray[np.bool_]:
    return labels >= (data.classes + 1) // 2


def parted(streams: Streams, data: Dataset, parts: str) -> Streams:
    """The streams with each client's pool of the second part."""
    if parts != "classes":
        later = _changed(streams, lambda pool: pool + streams.population)
        return replace(streams, later=later, population=2 * streams.population)
    second = _upper(data.train_y, data)
    first = _changed(streams, lambda pool: pool[~second[pool]])
    later = _changed(streams, lambda pool: pool[second[pool]])
    if not all(len(pool) for clients in (*first, *later) for pool in clients):
        raise SettingError(
            "a client has samples of one half of the classes alone, and could not drift: take another partition, or "
            'parts = "labels" or "inputs"'
        )
    return replace(streams, pools=first, later=later)


def in_order(streams: Streams, data: Dataset, study: Study) -> Streams:
    """The streams with each pool in the order of its samples' times, or of their file."""
    needed = (study.rounds + 1) * (study.drift.length or 1)
    for m, pool in enumerate(pool for clients in streams.pools for pool in clients):
        if len(pool) < needed:
            raise SettingError(
                f"client {m % study.clients} has {len(pool):,} samples in their order, and {study.rounds:,} rounds and "
                f"one more to test take {needed:,}: take fewer rounds, or a smaller length"
            )
    if (time := data.time) is None:
        return streams
    return replace(streams, pools=_changed(streams, lambda pool: pool[np.argsort(time[pool], kind="stable")]))


def _changed(streams: Streams, change: Callable[[Index], Index]) -> tuple[tuple[Index, ...], ...]:
    """The pools, each changed; clients that share a pool share the changed one too."""
    made = {id(pool): change(pool) for clients in streams.pools for pool in clients}
    return tuple(tuple(made[id(pool)] for pool in clients) for clients in streams.pools)


# --- P(t) --------------------------------------------------------------------------------------------------


class World:
    """P(t) of a study whose population moves, written into the population that its model measures on.

    `table` says what distinguishes some rounds, a row for each, and `show` takes such a row.
    """

    def __init__(self, study: Study, streams: Streams, population: Population) -> None:
        self.study, self.streams, self.population = study, streams, population
        assert population.test_weights is not None
        assert population.test_later is not None
        self.tested = population.test_weights
        like = population.weights
        if study.drift.mixes:
            both = [streams.of_part(0), streams.of_part(1)]
            if not streams.moves_as_one(study):
                both = [one for m in range(study.clients) for one in streams.of_client(m)]
            self.base = torch.from_numpy(np.stack(both)).to(like)
            second = population.test_later.to(like)
            self.test_base = torch.stack([(1 - second) / (1 - second).sum(), second / second.sum()])
        else:
            when, share = _passing(study, streams)
            self.when, self.share = torch.from_numpy(when).to(like.device), torch.from_numpy(share).to(like)

    def table(self, first: int, last: int) -> NDArray[np.float64]:
        """The share of each part in these rounds, or the number of the round."""
        study = self.study
        if not study.drift.mixes:
            return np.arange(first, last + 1, dtype=float)[:, np.newaxis]
        together = study.mixing(first, last)[:, np.newaxis]
        tests = np.concatenate([1 - together, together], axis=1)
        if self.streams.moves_as_one(study):
            return np.concatenate([tests, tests], axis=1)
        w = study.drift.weights(first, last, study.clients)
        return np.concatenate([tests, np.stack([1 - w, w], axis=2).reshape(len(w), -1)], axis=1)

    def show(self, row: Tensor) -> None:
        weights = self.population.weights
        if self.study.drift.mixes:
            torch.sum(row[2:, None, None] * self.base, 0, out=weights)
            torch.sum(row[:2, None] * self.test_base, 0, keepdim=True, out=self.tested)
        else:
            torch.sum(self.share * (self.when == row[0]), 0, out=weights)
            self.tested.copy_(weights)

    def show_round(self, t: int) -> None:
        (row,) = self.table(t, t)
        self.show(torch.from_numpy(row).to(self.population.weights))


def world_of(model: Model, study: Study, streams: Streams) -> World | None:
    """The moving population on which the model measures, if it moves."""
    if study.drift.kind == "none":
        return None
    population = getattr(model, "population", None)
    if not isinstance(population, Population):
        raise SettingError(
            "the population moves: the model must have it as its attribute population, and measure on that"
        )
    return World(study, streams, population)


def _passing(study: Study, streams: Streams) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The round in which each client's sample goes by, 0 for never, and what it then weighs in P, each
    (clients or 1, replicates or 1, population)."""
    count = 1 if streams.shared else study.clients
    when = np.zeros((count, len(streams.pools), streams.population), dtype=np.int64)
    share = np.zeros(when.shape)
    rounds = np.arange(1, study.rounds + 2)
    for r, clients in enumerate(streams.pools):
        for m, pool in enumerate(clients[:count]):
            begin, end = windows(study, rounds, np.array(len(pool)))
            passed = pool[begin[0] : end[-1]]
            when[m, r, passed] = np.repeat(rounds, end - begin)
            weight = 1.0 if count == 1 else streams.alpha[m]
            share[m, r, passed] = weight / np.repeat(end - begin, end - begin)
    return when, share
