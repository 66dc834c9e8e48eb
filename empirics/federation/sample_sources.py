"""Sources of a client's fresh samples: its part of the study's data set, or a stream of the user.

A part is drawn from as in the batched engine, sample for sample. A stream is a function of the client id and of the
number of samples drawn before, so that a new process continues after any round.

>>> import numpy as np
>>> def stream(client, start):  # all samples from number `start` on
...     for i in range(start, 5):
...         yield np.array([client, i]), i % 2
>>> draw = of_stream(stream, client=7)
>>> fresh, _ = draw(1, 3, Source(drawn=3))
>>> fresh.x.tolist(), fresh.y.tolist()  # three were requested, two are left
([[7, 3], [7, 4]], [1, 0])
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

from empirics.draws import Purpose, permutation, uniform
from empirics.federation.client_memory import NONE, Draw, Samples, Source
from empirics.training.partition import Index
from empirics.training.problem import Problem
from empirics.training.sample_order import windows
from empirics.users_code import users_code
from theory.setting import SettingError

__all__ = ["Stream", "checked", "of_part", "of_stream"]

Stream = Callable[[int, int], Iterable[tuple[Any, Any]]]


def of_part(problem: Problem, client: int) -> Draw:
    """Draw from the client's pool: with replacement, from repeated shuffles, or from a population that drifts."""
    study, population = problem.study, problem.population
    pool = problem.streams.pools[0][client]

    def draw(t: int, count: int, source: Source) -> tuple[Samples, Any]:
        slots, state = np.arange(source.slots, source.slots + count), None
        if study.drift.kind != "none":
            index = _drifting(problem, client, t, slots)
        elif study.replacement:
            drawn = uniform(study.seed, Purpose.sample, client=client, t=t, slot=slots)
            index = pool[(drawn * len(pool)).astype(np.int64)]
        else:
            place, state = _shuffled(len(pool), study.seed, client, count, source.state)
            index = pool[place]
        return Samples(population.x[index].cpu().numpy(), population.y[index].cpu().numpy()), state

    return draw


def _drifting(problem: Problem, client: int, t: int, slots: Index) -> Index:
    """Draws from the population of round t: a mixture of two parts, or a window that moves over the pool."""
    study, streams, address = problem.study, problem.streams, {"client": client, "t": t}
    pool, drawn = streams.pools[0][client], uniform(study.seed, Purpose.sample, slot=slots, **address)
    if study.drift.mixes:
        assert streams.later is not None
        later = streams.later[0][client]
        w = study.drift.weights(t, t, study.clients)[0, client]
        second = uniform(study.seed, Purpose.part, slot=slots, **address) < w
        first, other = (part[(drawn * len(part)).astype(np.int64)] for part in (pool, later))
        return np.where(second, other, first)
    begin, end = (int(limit) for limit in windows(study, np.array(t), np.array(len(pool))))
    window = pool[begin:end]
    if study.replacement:
        return window[(drawn * len(window)).astype(np.int64)]
    if len(slots) and slots[-1] >= len(window):
        raise SettingError(
            f"client {client} is to admit {slots[-1] + 1} of the {len(window)} samples available in round {t}: take "
            "fewer rounds or a larger length, or draw with replacement"
        )
    start = int(uniform(study.seed, Purpose.sample, **address) * len(window))
    return window[(start + slots) % len(window)]


def _shuffled(size: int, seed: int, client: int, count: int, state: Any) -> tuple[Index, Any]:
    """Draws without replacement. The state is the number of the shuffle, and its number of used samples."""
    if count > size:
        raise SettingError(
            f"client {client} is to draw {count} samples from a pool of {size}: draw with replacement"
        )
    shuffle, used = state or (0, 0)
    if used + count > size:
        shuffle, used = shuffle + 1, 0
    order = permutation(size, seed, Purpose.shuffle, client=client, t=shuffle)
    return order[used : used + count], (shuffle, used + count)


def of_stream(stream: Stream, client: int) -> Draw:
    """Draw from the user's stream, continuing after the last sample; fewer samples where it ends."""

    def draw(t: int, count: int, source: Source) -> tuple[Samples, Any]:
        with users_code(f"the stream of client {client} failed", reason_letters_max=300):
            pairs = list(islice(stream(client, source.drawn), count))
            if not pairs:
                return NONE, None
            x, y = (np.stack([np.asarray(pair[k]) for pair in pairs]) for k in range(2))
        if y.ndim != 1 or y.dtype.kind not in "iu":
            raise SettingError("a stream gives pairs of an input and a label, a whole number of at least 0")
        return Samples(x, y.astype(np.int64)), None

    return draw


def checked(draw: Draw, classes: int) -> Draw:
    """The source, refusing samples that cannot be trained on before they are saved."""

    def draw_checked(t: int, count: int, source: Source) -> tuple[Samples, Any]:
        fresh, state = draw(t, count, source)
        if fresh.x.dtype.kind not in "fiub" or not np.isfinite(fresh.x).all():
            raise SettingError("the source gave inputs that are not finite numbers")
        if len(fresh) and not 0 <= fresh.y.min() <= fresh.y.max() < classes:
            raise SettingError(
                f"the source gave labels from {fresh.y.min()} to {fresh.y.max()}, not between 0 and {classes - 1}"
            )
        return fresh, state

    return draw_checked
