"""A client's memory: nothing drawn twice, nothing admitted twice, nothing lost, whoever is killed when."""

import threading

import numpy as np
import pytest

from empirics.control.policy import FOREVER
from empirics.federation.memory import FILE, DiskMemory, Order, Samples
from theory.setting import SettingError


def numbered(t, count, source):
    """Samples that are numbers: drawn + 1, drawn + 2, …"""
    y = np.arange(source.drawn + 1, source.drawn + count + 1)
    return Samples(y[:, np.newaxis] / 10, y), None


def order(t, grant, booked, retention=FOREVER, capacity=FOREVER):
    return Order(t, grant, retention, capacity, booked)


def held(memory):
    assert memory.samples.x[:, 0].tolist() == (memory.samples.y / 10).tolist()
    return memory.samples.y.tolist()


def play(folder, *orders):
    """Each order in a process of its own, as it were."""
    for one in orders:
        memory = DiskMemory.open(folder)
        memory.admit(one, numbered)
    return DiskMemory.open(folder)


def test_samples_are_kept_for_k_rounds(tmp_path):
    memory = play(tmp_path, *(order(t, 2, t - 1, retention=3) for t in range(1, 6)))
    assert held(memory) == [5, 6, 7, 8, 9, 10]
    assert memory.cohorts == {3: 2, 4: 2, 5: 2}


def test_or_the_newest_that_fit(tmp_path):
    memory = play(tmp_path, *(order(t, 2, t - 1, capacity=3) for t in range(1, 4)))
    assert held(memory) == [4, 5, 6]
    assert memory.cohorts == {2: 1, 3: 2}


def test_they_age_while_the_client_is_away(tmp_path):
    memory = play(
        tmp_path, order(1, 2, 0, retention=3), order(3, 1, 1, retention=3), order(4, 0, 3, retention=3)
    )
    assert memory.cohorts == {3: 1}


def test_a_round_that_was_not_booked_is_begun_again_with_the_same_samples(tmp_path):
    memory = play(tmp_path, order(1, 3, 0), order(2, 2, 1), order(2, 2, 1), order(2, 2, 1))
    assert held(memory) == [1, 2, 3, 4, 5]
    assert memory.source.drawn == 5


def test_what_was_drawn_in_vain_is_admitted_first_in_the_next_round(tmp_path):
    memory = play(tmp_path, order(1, 3, 0), order(2, 4, 1), order(3, 1, 1))
    assert held(memory) == [1, 2, 3, 4]
    assert memory.cohorts == {1: 3, 3: 1}
    memory = play(tmp_path, order(4, 5, 3))
    assert held(memory) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert memory.source.drawn == 9


def test_what_left_for_want_of_room_comes_back_if_the_round_does_not_count(tmp_path):
    memory = play(tmp_path, order(1, 3, 0, capacity=3), order(2, 3, 1, capacity=3))
    assert held(memory) == [4, 5, 6]
    memory = play(tmp_path, order(3, 1, 1, capacity=3))
    assert held(memory) == [2, 3, 4]


def test_a_source_that_has_run_dry_delivers_less(tmp_path):
    memory = DiskMemory.open(tmp_path)
    memory.admit(order(1, 5, 0), lambda t, count, source: (numbered(t, 2, source)[0], None))
    assert (memory.admitted, held(memory)) == (2, [1, 2])


def test_an_empty_grant_is_a_round_too(tmp_path):
    memory = play(tmp_path, order(1, 0, 0))
    assert (memory.cohorts, len(memory.samples)) == ({}, 0)
    assert held(play(tmp_path, order(2, 1, 1))) == [1]


@pytest.mark.parametrize("late", [order(2, 1, 1), order(3, 1, 2), order(4, 1, 2), order(5, 1, 1)])
def test_an_order_that_comes_late_or_from_a_server_that_was_set_back_is_refused(late, tmp_path):
    before = play(tmp_path, *(order(t, 1, t - 1) for t in range(1, 5)))
    with pytest.raises(SettingError, match="after one of round 4 with 3: it is late or repeated"):
        play(tmp_path, late)
    after = DiskMemory.open(tmp_path)
    assert (held(after), after.cohorts) == (held(before), before.cohorts)


def test_two_processes_of_one_client_take_turns(tmp_path):
    """The second begins only when the first has saved: what one has drawn the other knows."""
    drawing, go = threading.Event(), threading.Event()

    def slow(t, count, source):
        drawing.set()
        assert go.wait(20)
        return numbered(t, count, source)

    def first():
        with DiskMemory.held_alone(tmp_path) as memory:
            memory.admit(order(1, 2, 0), slow)

    def second():
        with DiskMemory.held_alone(tmp_path) as memory:
            memory.admit(order(2, 3, 0), numbered)

    processes = [threading.Thread(target=one) for one in (first, second)]
    processes[0].start()
    assert drawing.wait(20)
    processes[1].start()
    processes[1].join(0.3)
    assert processes[1].is_alive()
    go.set()
    for one in processes:
        one.join(20)
    memory = DiskMemory.open(tmp_path)
    assert held(memory) == [1, 2, 3]
    assert memory.source.drawn == 3


def test_inputs_of_another_shape_do_not_get_in(tmp_path):
    play(tmp_path, order(1, 2, 0))
    memory = DiskMemory.open(tmp_path)
    with pytest.raises(SettingError, match=r"gave inputs of shape \(2,\), others are of another"):
        memory.admit(order(2, 2, 1), lambda t, n, source: (Samples(np.zeros((n, 2)), np.zeros(n, int)), None))
    assert held(play(tmp_path, order(2, 1, 1))) == [1, 2, 3]


def test_a_source_that_gives_more_is_refused_and_nothing_is_written(tmp_path):
    memory = DiskMemory.open(tmp_path)
    with pytest.raises(SettingError, match="gave 4 samples where 2 were asked for"):
        memory.admit(order(1, 2, 0), lambda t, count, source: numbered(t, 4, source))
    assert not (tmp_path / FILE).exists()


def test_a_damaged_file_is_refused_by_name(tmp_path):
    play(tmp_path, order(1, 2, 0))
    (tmp_path / FILE).write_bytes(b"PK" + b"\0" * 40)
    with pytest.raises(SettingError, match=r"memory.npz' cannot be read"):
        DiskMemory.open(tmp_path)


def test_the_slots_of_a_round_are_not_used_twice(tmp_path):
    """A round begun again with a larger grant draws what is missing from the slots after those it has drawn."""
    asked = []

    def draw(t, count, source):
        asked.append((t, source.slots, count))
        return numbered(t, count, source)

    for one in (order(1, 2, 0), order(1, 5, 0), order(2, 1, 1)):
        memory = DiskMemory.open(tmp_path)
        memory.admit(one, draw)
    assert asked == [(1, 0, 2), (1, 2, 3), (2, 0, 1)]
