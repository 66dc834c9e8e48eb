"""Running totals against memories kept sample by sample, by age, by capacity, and by both at once."""

import json
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from empirics.control.codec import plain, restored
from empirics.control.policy import FOREVER
from empirics.control.totals import Totals
from theory.reuse import effective_sample_size


def by_hand(admissions, retention, capacity):
    """One run, (rounds, clients): in each round the memories, as lists of sample numbers, and n, N, N_eff and χ."""
    memories, uses, known = [[] for _ in retention], {}, [0] * len(retention)
    for t, admitted in enumerate(admissions):
        for m, count in enumerate(admitted):
            memories[m] += [(number, t) for number in range(known[m], known[m] + count)]
            known[m] += count
            memories[m] = memories[m][-capacity[m] :]
            for number, _ in memories[m]:
                uses[m, number] = uses.get((m, number), 0) + 1
        held = [[number for number, _ in memory] for memory in memories]
        yield held, *_from_uses(held, uses)
        for m, K in enumerate(retention):
            memories[m] = [(number, entered) for number, entered in memories[m] if t - entered + 1 < K]


def _from_uses(held, uses):
    n, total = sum(map(len, held)), sum(uses.values())
    if not n:
        return 0, len(uses), None, None
    inside = {(m, number) for m, numbers in enumerate(held) for number in numbers}
    chi = sum((Fraction(count, total) - Fraction(one in inside, n)) ** 2 for one, count in uses.items())
    return n, len(uses), effective_sample_size(list(uses.values())), chi


def by_hand_alike(admissions, retention, capacity, starts, ends, track, run):
    """Assert that memories and trajectory of a run are those of its samples."""
    for t, (held, n, N, effective, chi) in enumerate(by_hand(admissions, retention, capacity)):
        for m, numbers in enumerate(held):
            assert list(range(starts[t, run, m], ends[t, run, m])) == numbers
        assert (track.n[t, run], track.N[t, run]) == (n, N)
        if n:
            assert track.effective[t, run] == pytest.approx(float(effective), rel=1e-12)
            assert track.mismatch[t, run] == pytest.approx(float(chi), rel=1e-9, abs=1e-14)


@st.composite
def cases(draw):
    runs, clients, rounds = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 14))
    shape, limit = (runs, clients), st.one_of(st.integers(1, 6), st.just(FOREVER))
    retention, capacity = (
        np.array(draw(st.lists(limit, min_size=runs * clients, max_size=runs * clients))).reshape(shape)
        for _ in range(2)
    )
    few = st.lists(st.integers(0, 6), min_size=rounds * runs * clients, max_size=rounds * runs * clients)
    admissions = np.minimum(np.array(draw(few)).reshape(rounds, *shape), capacity)
    cuts = draw(st.lists(st.integers(1, rounds), max_size=4))
    return retention, capacity, admissions, sorted({0, rounds, *cuts})


@given(cases())
def test_totals_are_those_of_samples_kept_one_by_one_wherever_chunks_end(case):
    retention, capacity, admissions, cuts = case
    totals, parts = Totals.start(retention, len(admissions), capacity), []
    for first, last in pairwise(cuts):
        parts.append(totals.extend(admissions[first:last]))
        document = json.loads(json.dumps(plain(totals)))
        totals = restored(document, Totals.start(retention, len(admissions), capacity))
    starts, ends = (np.concatenate([part[i] for part in parts]) for i in range(2))
    columns = ("n", "N", "effective", "mismatch")
    track = {name: np.concatenate([getattr(part[2], name) for part in parts]) for name in columns}
    for run in range(admissions.shape[1]):
        limits = (each[run].tolist() for each in (retention, capacity))
        by_hand_alike(admissions[:, run].tolist(), *limits, starts, ends, SimpleNamespace(**track), run)


def test_history_is_no_longer_than_memory():
    totals = Totals.start(np.full((2, 2), FOREVER), FOREVER, np.array([[3, FOREVER], [4, 2]]))
    for _ in range(5):
        totals.extend(np.ones((200, 2, 2), dtype=np.int64))
        assert totals.capped.memory.tolist() == [0] * 3 + [1] * 4 + [2] * 2
        assert len(totals.past) == 1
    assert totals.capped.entered.tolist() == [998, 999, 1000, 997, 998, 999, 1000, 999, 1000]


def test_sums_of_many_rounds_at_once_do_not_overflow():
    """Σe² over all samples of all runs is beyond 2^63 here; over those that leave in a round it is not."""
    rounds, rate = 20_000, 5 * 10**6
    totals = Totals.start(np.full((1, 1), FOREVER), FOREVER, np.full((1, 1), 4 * rate))
    starts, ends, track = totals.extend(np.full((rounds, 1, 1), rate, dtype=np.int64))
    assert rate * rounds**3 / 3 > 2**63
    gone = rounds - 4
    assert totals.capped.gone[0] == 4 * rate * gone
    assert totals.capped.squares[0] == 16 * rate * gone
    assert (ends - starts)[-1, 0, 0] == track.n[-1, 0] == 4 * rate
