"""A client's memory, in which no sample is drawn, admitted or lost twice, and the server's account of it."""

import io
import json
import threading
from collections import Counter
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empirics.control.controller import Controller
from empirics.control.policy import FOREVER
from empirics.federation.client_memory import FILE, DiskMemory, Order, Samples
from empirics.federation.client_reports import ClientAccounts, ClientReport
from tests.empirics.small import refused, study
from theory.reuse.counts import effective_from_sums, mismatch_from_sums


def numbered(t, count, source):
    """Samples that are numbers: drawn + 1, drawn + 2, …"""
    y = np.arange(source.drawn + 1, source.drawn + count + 1)
    return Samples(y[:, np.newaxis] / 10, y), None


def order(t, grant, booked, retention=FOREVER, capacity=FOREVER):
    return Order(t, grant, retention, capacity, booked)


def held(memory):
    assert memory.samples.x.ravel().tolist() == (memory.samples.y / 10).tolist()
    return memory.samples.y.tolist()


def play(folder, *orders, draw=numbered):
    """Obey orders, each with the memory read from disk."""
    for one in orders:
        DiskMemory.open(folder).admit(one, draw)
    return DiskMemory.open(folder)


def in_turn(rounds, **limits):
    return [order(t, 2, t - 1, **limits) for t in range(1, rounds + 1)]


CASES = {  # orders, how many samples were drawn, and how many are held of which round: the newest
    "kept for K rounds": (in_turn(5, retention=3), 10, {3: 2, 4: 2, 5: 2}),
    "or the newest that fit": (in_turn(3, capacity=3), 6, {2: 1, 3: 2}),
    "they age in absence": ([order(1, 2, 0, 3), order(3, 1, 1, 3), order(4, 0, 3, 3)], 3, {3: 1}),
    "a round that was not booked is begun again": ([order(1, 3, 0), *[order(2, 2, 1)] * 3], 5, {1: 3, 2: 2}),
    "an empty grant is a round too": ([order(1, 0, 0)], 0, {}),
    "and not the last": ([order(1, 0, 0), order(2, 1, 1)], 1, {2: 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_held_after_some_orders(name, tmp_path):
    orders, drawn, cohorts = CASES[name]
    assert held(DiskMemory.open(tmp_path)) == []
    memory = play(tmp_path, *orders)
    assert memory.cohorts == cohorts
    assert memory.source.drawn == drawn
    assert held(memory) == list(range(drawn - sum(cohorts.values()) + 1, drawn + 1))


def test_what_was_drawn_in_vain_is_admitted_first_in_the_next_round(tmp_path):
    memory = play(tmp_path, order(1, 3, 0), order(2, 4, 1), order(3, 1, 1))
    assert (held(memory), memory.cohorts) == ([1, 2, 3, 4], {1: 3, 3: 1})
    memory = play(tmp_path, order(4, 5, 3))
    assert (held(memory), memory.source.drawn) == ([1, 2, 3, 4, 5, 6, 7, 8, 9], 9)
    small = tmp_path / "small"  # what left for want of room comes back
    assert held(play(small, order(1, 3, 0, capacity=3), order(2, 3, 1, capacity=3))) == [4, 5, 6]
    assert held(play(small, order(3, 1, 1, capacity=3))) == [2, 3, 4]


@pytest.mark.parametrize("late", [order(2, 1, 1), order(3, 1, 2), order(4, 1, 2), order(5, 1, 1)])
def test_an_order_that_comes_late_or_from_a_server_that_was_set_back_is_refused(late, tmp_path):
    before = play(tmp_path, *(order(t, 1, t - 1) for t in range(1, 5)))
    assert "round 4 with 3: it is late or repeated" in refused(play, tmp_path, late)
    after = DiskMemory.open(tmp_path)
    assert (held(after), after.cohorts) == (held(before), before.cohorts)


def test_two_processes_of_one_client_take_turns(tmp_path):
    """The second begins only when the first has saved, and knows its draws."""

    def admit():
        with DiskMemory.locked(tmp_path) as memory:
            memory.admit(order(2, 3, 0), numbered)

    second = threading.Thread(target=admit)
    with DiskMemory.locked(tmp_path) as memory:
        second.start()
        second.join(0.3)
        assert second.is_alive()
        memory.admit(order(1, 2, 0), numbered)
    second.join(20)
    memory = DiskMemory.open(tmp_path)
    assert (held(memory), memory.source.drawn) == ([1, 2, 3], 3)


def test_a_source_may_give_less_but_nothing_else_and_what_is_refused_writes_nothing(tmp_path):
    play(tmp_path, order(1, 2, 0))
    before = (tmp_path / FILE).read_bytes()
    wide = Samples(np.zeros((2, 2)), np.zeros(2, int))
    for draw, said in (
        (lambda t, n, source: (wide, None), "of shape (2,), earlier"),
        (lambda t, n, source: numbered(t, 4, source), "gave 4 samples, at most 2"),
    ):
        assert said in refused(play, tmp_path, order(2, 2, 1), draw=draw)
        assert (tmp_path / FILE).read_bytes() == before
    dry = play(tmp_path, order(2, 5, 1), draw=lambda t, count, source: numbered(t, 1, source))
    assert (dry.admitted, held(dry)) == (1, [1, 2, 3])
    for damaged in (b"PK" + b"\0" * 40, before[:-30]):
        (tmp_path / FILE).write_bytes(damaged)
        assert "memory.npz' cannot be read" in refused(DiskMemory.open, tmp_path)
    saved = dict(np.load(io.BytesIO(before)))
    about = json.dumps(json.loads(bytes(saved["about"])) | {"format": 0})
    np.savez(tmp_path / FILE, **saved | {"about": np.frombuffer(about.encode(), np.uint8)})
    assert "memory.npz' was written by another version" in refused(DiskMemory.open, tmp_path)


def test_the_slots_of_a_round_are_not_used_twice(tmp_path):
    """A repeated round with a larger grant draws from the slots after those already drawn."""
    draw = Mock(wraps=numbered)
    play(tmp_path, *(order(1, grant, 0) for grant in (2, 5, 6)), order(2, 1, 1), draw=draw)
    asked = [(t, source.slots, count) for t, count, source in (call.args for call in draw.call_args_list)]
    assert asked == [(1, 0, 2), (1, 2, 3), (1, 5, 1), (2, 0, 1)]


LIMITS = st.tuples(st.integers(1, 4), st.sampled_from([4, 6, FOREVER]))  # K and B of a client
ROUNDS = st.lists(st.tuples(*[st.tuples(st.integers(0, 4), st.booleans())] * 2), min_size=1, max_size=9)


@settings(max_examples=60)
@given(ROUNDS, st.tuples(LIMITS, LIMITS))
def test_accounts_equal_a_count_sample_by_sample_with_absent_clients(rounds, limits):
    """Each client is granted some samples in every round, and is present or absent."""
    holdings = ClientAccounts.start(*np.array(limits).T)
    memories, uses = ([], []), []  # (round, number of the sample) of each client, and how often each was used
    for t, clients in enumerate(rounds, start=1):
        accounts = {}
        for m, ((granted, there), (K, B)) in enumerate(zip(clients, limits, strict=True)):
            if not there:
                continue
            memories[m].extend((t, len(uses) + i) for i in range(granted))
            uses += [0] * granted
            memories[m][:] = [one for one in memories[m] if one[0] > t - K][-B:]
            for _, i in memories[m]:
                uses[i] += 1
            accounts[m] = ClientReport(granted, holdings.expected(m, granted))
            assert accounts[m].cohorts == Counter(entered for entered, _ in memories[m])
        found = holdings.book(accounts)
        trained = [i for m in accounts for _, i in memories[m]]
        assert (found.n[0, 0], found.N[0, 0]) == (len(trained), len(uses))
        if trained:
            sums = sum(uses), sum(u * u for u in uses)
            assert found.effective[0, 0] == pytest.approx(float(effective_from_sums(*sums)))
            chi = mismatch_from_sums(len(trained), *sums, sum(uses[i] for i in trained))
            assert found.mismatch[0, 0] == pytest.approx(float(chi), abs=1e-12)


def test_what_cannot_be_true_is_refused_and_lost_samples_may_be_reported():
    """Client 1 has K = 3, and was given two samples in round 1."""
    begun = ClientAccounts.start(np.array([9, 3]), np.array([FOREVER] * 2))
    begun.book({1: ClientReport(2, {1: 2})})
    for delivered, cohorts, words in (
        (-1, {}, "client 1 reports -1 admitted"),
        (3, {1: 3, 2: 3}, "3 samples of round 1 in memory, possible: 2"),
        (0, {2: 1}, "1 samples of round 2 in memory, possible: 0"),
        (3, {-5: 1}, "1 samples of round -5 in memory, possible: 0"),
        (3, {1: -1}, "-1 samples of round 1"),
    ):
        assert words in refused(begun.check, 1, 3, ClientReport(delivered, cohorts))
    less = ClientReport(3, {-7: 0, 1: 1, 2: 3})
    begun.check(1, 3, less)
    begun.book({1: less})
    assert begun.memories == [[], [[1, 1, 2], [2, 3, 1]]]
    begun.book({})
    assert begun.expected(1, 1) == {2: 3, 4: 1}  # those of round 1 are too old


@pytest.mark.parametrize("obeys", [False, True], ids=["away", "its replies are lost"])
def test_who_misses_the_round_that_drops_does_not_use_older_samples_later(obeys, tmp_path):
    """Client 0 misses the drops of rounds 5 to 7, and the filling of round 7, after which samples are kept again."""
    server = Controller("taper", study(V=100.0))
    holdings = ClientAccounts.start(server.retention, server.capacity)
    for t, price in enumerate((2.0, *[9.0] * 5, 2.0, 9.0), start=1):
        granted = server.decide(price)
        server = Controller.from_document(server.document())
        holdings.retention = server.retention.tolist()
        accounts = {m: ClientReport(int(n), holdings.expected(m, int(n))) for m, n in enumerate(granted)}
        missed = t in (5, 6, 7)
        if obeys or not missed:
            limits = (holdings.retention[0], holdings.capacity[0])
            memory = play(tmp_path, order(t, int(granted[0]), holdings.booked[0], *limits))
            assert memory.cohorts == accounts[0].cohorts
        if missed:
            del accounts[0]
        holdings.book(accounts)
        server.report([accounts[m].delivered if m in accounts else 0 for m in range(3)])
        for m, account in accounts.items():
            assert account.trained_on == server.books.in_memory[m]
    assert server.books.in_memory.tolist() == [0, 5, 7]
