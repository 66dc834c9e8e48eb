"""The order of samples: which sample of its pool a client admits in which slot of which round.

Samples are drawn i.i.d. with replacement (the paper's assumption) or, as the released code does, without, from a
shuffled pool that starts again when fewer remain than are asked for. Under drift of kind "order" they pass in the order
of their times.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from empirics.control.schedule import Rounds
from empirics.data.files import memory
from empirics.draws import Purpose, permutation, uniform
from empirics.settings.study import Study
from empirics.training.partition import Index, Streams
from theory.setting import SettingError

__all__ = ["SampleOrder", "windows"]

LIST_BYTES_PER_SAMPLE, DRAW_BYTES_PER_SAMPLE = 16, 150


class SampleOrder:
    """The samples that a schedule brings to each client, in order of arrival: `extend` takes its chunks in turn."""

    def __init__(self, streams: Streams, study: Study) -> None:
        self.study = study
        replicate = np.tile(np.arange(study.seeds), len(study.policies))
        self.replicate = streams.first + replicate
        every = (*streams.pools, *(streams.later or ()))
        distinct = {id(pool): pool for clients in every for pool in clients}  # often one pool for all
        begins = np.cumsum([0, *(len(pool) for pool in distinct.values())])
        begin = dict(zip(distinct, begins[:-1], strict=True))
        group = replicate if len(streams.pools) > 1 else np.zeros_like(replicate)
        self.pooled = np.concatenate(list(distinct.values()))
        both = (streams.pools, streams.later or streams.pools)

        def table(number: Callable[[Index], int]) -> Iterator[Index]:
            return (np.array([[number(pool) for pool in c] for c in p])[group] for p in both)

        self.sizes, self.later_sizes = table(len)
        self.offset, self.later_offset = table(lambda pool: begin[id(pool)])
        shape = (study.runs, study.clients)
        self.origin = np.zeros(shape, dtype=np.int64)  # the number of the first sample in `kept`
        self.kept = np.zeros((*shape, 0), dtype=np.int32)
        self.shuffle, self.position, self.asked = (np.zeros(shape, dtype=np.int64) for _ in range(3))

    def extend(self, rounds: Rounds) -> tuple[Index, NDArray[np.int32]]:
        """The samples that are in memory in some of the rounds: where each client's list begins, and the lists.

        Lists have shape (runs, clients, longest); entry i of a list is the client's sample number origin + i.
        """
        origin, longest = rounds.starts[0], int((rounds.ends[-1] - rounds.starts[0]).max())
        self._refuse_flood(rounds, longest)
        lists = np.zeros((*origin.shape, longest), dtype=np.int32)
        place = np.arange(self.kept.shape[2]) + (self.origin - origin)[..., np.newaxis]
        still = (place >= 0) & (place < (rounds.ends[0] - rounds.admissions[0] - origin)[..., np.newaxis])
        run, client, _ = np.nonzero(still)
        lists[run, client, place[still]] = self.kept[still]
        t, run, client, slot, number = _each_sample(rounds)
        lists[run, client, number] = self.pooled[self._drawing(rounds, t, run, client, slot)]
        self.origin, self.kept = origin, lists
        return origin, lists

    def _refuse_flood(self, rounds: Rounds, longest: int) -> None:
        """Refuse lists that the machine's memory cannot hold before they are made."""
        needed = LIST_BYTES_PER_SAMPLE * self.study.runs * self.study.clients * longest
        needed += DRAW_BYTES_PER_SAMPLE * int(rounds.admissions.sum())
        if needed > memory():
            raise SettingError(
                f"{len(rounds.cost)} rounds of {self.study.runs} runs hold and draw samples that take "
                f"{needed / 1e9:,.0f} GB of memory: lower the buffers, the rate, the seeds or checkpoint"
            )

    def _drawing(self, rounds: Rounds, t: Index, run: Index, client: Index, slot: Index) -> Index:
        """The place among all pools of what a client admits in the chunk's round t, from 0, at the given slot."""
        study, size, offset = self.study, self.sizes[run, client], self.offset[run, client]
        if not study.replacement and study.drift.kind != "order":
            return offset + self._without_replacement(rounds, t, run, client, slot)
        address = {"replicate": self.replicate[run], "client": client, "t": t + rounds.first}
        if study.drift.mixes:
            w = study.drift.weights(rounds.first, rounds.last, study.clients)[t, client]
            second = uniform(study.seed, Purpose.part, slot=slot, **address) < w
            size = np.where(second, self.later_sizes[run, client], size)
            offset = np.where(second, self.later_offset[run, client], offset)
        elif study.drift.kind == "order":
            begin, end = windows(study, t + rounds.first, size)
            offset, size = offset + begin, end - begin
            if not study.replacement:  # some that follow each other, from any place on
                _refuse_more(rounds.admissions[t, run, client], size, t + rounds.first)
                from_place = (uniform(study.seed, Purpose.sample, **address) * size).astype(np.int64)
                return offset + (from_place + slot) % size
        drawn = uniform(study.seed, Purpose.sample, slot=slot, **address)
        return np.asarray(offset + (drawn * size).astype(np.int64))

    def _without_replacement(self, rounds: Rounds, t: Index, run: Index, client: Index, slot: Index) -> Index:
        shuffle, position = self._shuffles(rounds.admissions)
        each = np.stack([run % self.study.seeds, client, shuffle[t, run, client]])
        needed, which = np.unique(each, axis=1, return_inverse=True)
        if not which.size:
            return np.zeros(0, dtype=np.int64)
        orders = []
        for s, m, k in needed.T:
            address = {"replicate": int(self.replicate[s]), "client": m, "t": k}
            orders.append(permutation(int(self.sizes[s, m]), self.study.seed, Purpose.shuffle, **address))
        begins = np.cumsum([0, *(len(order) for order in orders)])[:-1]
        return np.asarray(np.concatenate(orders)[begins[which.ravel()] + position[t, run, client] + slot])

    def _shuffles(self, admissions: Index) -> tuple[Index, Index]:
        """The number of the shuffle in use and the position in it where each round's draws begin."""
        if (admissions > self.sizes).any():
            raise SettingError(
                "a round asks for more samples than a client's pool holds: draw with replacement"
            )
        shuffle, position = np.empty_like(admissions), np.empty_like(admissions)
        for t, asked in enumerate(admissions):
            used = self.position + self.asked
            again = used + asked > self.sizes
            self.shuffle, self.position, self.asked = self.shuffle + again, np.where(again, 0, used), asked
            shuffle[t], position[t] = self.shuffle, self.position
        return shuffle, position


def windows(study: Study, t: Index, size: Index) -> tuple[Index, Index]:
    """The samples of a pool of this size that pass in round t: first, and first of the next round."""
    length = study.drift.length
    if length is None:
        return (t - 1) * size // (study.rounds + 1), t * size // (study.rounds + 1)
    return (t - 1) * length + 0 * size, t * length + 0 * size


def _refuse_more(asked: Index, there: Index, t: Index) -> None:
    short = asked > there
    if short.any():
        raise SettingError(
            f"a client is to admit {asked[short][0]} samples of the {there[short][0]} that pass in round "
            f"{t[short][0]}: take fewer rounds or a larger length, or draw with replacement"
        )


def _each_sample(rounds: Rounds) -> tuple[Index, ...]:
    """Round, from 0, run, client, slot and place in the list of every sample admitted in these rounds."""
    t, run, client = np.nonzero(rounds.admissions)
    count = rounds.admissions[t, run, client]
    slot = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    t, run, client = (np.repeat(axis, count) for axis in (t, run, client))
    before = rounds.ends[t, run, client] - rounds.admissions[t, run, client]
    return t, run, client, slot, before + slot - rounds.starts[0][run, client]
