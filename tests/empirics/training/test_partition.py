"""Draws are Philox and depend on their address alone; clients see samples of their pools."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from empirics.control.schedule import Schedule, plan
from empirics.draws import check_seed, philox
from empirics.training.linear import passing
from empirics.training.partition import make_pools
from empirics.training.sample_order import DRAW_BYTES_PER_SAMPLE, LIST_BYTES_PER_SAMPLE, SampleOrder
from tests.empirics.small import CONTROL, blobs, refused, study

LABELS = blobs().train_y


def test_lists_that_the_machine_cannot_hold_are_refused(monkeypatch):
    setting = study(policies=("constant",))
    schedule, order = plan(setting, CONTROL), SampleOrder(make_pools(LABELS, setting), setting)
    needed = LIST_BYTES_PER_SAMPLE * setting.runs * setting.clients * int(schedule.ends.max())
    needed += DRAW_BYTES_PER_SAMPLE * int(schedule.admissions.sum())
    for pages, does in ((needed - 1, partial(refused, order.extend)), (needed, order.extend)):
        monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": pages}.get)
        does(schedule)


def test_a_client_may_have_one_sample_and_not_none():
    three = study(partition="split", policies=("constant",))
    assert [len(pool) for pool in make_pools(LABELS[:3], three).pools[0]] == [1, 1, 1]
    assert "client 2 gets no sample" in refused(make_pools, LABELS[:2], three)


@pytest.mark.parametrize("replacement", [True, False])
def test_any_stretch_of_rounds_gives_the_same_samples(replacement):
    setting = study(policies=("constant", "hybrid", "oracle"), replacement=replacement)
    schedule, streams = Schedule(setting, CONTROL), make_pools(LABELS, setting)
    _, everything = SampleOrder(streams, setting).extend(plan(setting, CONTROL))
    arrivals = SampleOrder(streams, setting)
    for size in (1, 11, 8, 10):
        rounds = schedule.advance(size)
        origin, lists = arrivals.extend(rounds)
        for run, m in np.ndindex(origin.shape):
            begin, end = origin[run, m], rounds.ends[-1, run, m]
            assert begin == rounds.starts[0, run, m]
            assert np.array_equal(lists[run, m, : end - begin], everything[run, m, begin:end])


def test_asking_for_more_than_the_pool_holds_is_refused():
    setting = study(policies=("oracle",), replacement=False, partition="two-class", per_class=2)
    arrivals = SampleOrder(make_pools(LABELS, setting), setting)
    assert "more samples than a client's pool" in refused(arrivals.extend, plan(setting, CONTROL))


@pytest.mark.parametrize("partition", ["split", "dirichlet"])
def test_every_replicate_can_have_a_partition_of_its_own_that_deals_out_every_sample_once(partition):
    given = {"partition": partition, "concentration": 2.0, "policies": ("oracle", "constant")}
    setting, shared = study(per_seed=("partition",), **given), make_pools(LABELS, study(**given))
    streams = make_pools(LABELS, setting)
    assert [sorted(np.concatenate(pools)) for pools in streams.pools] == 3 * [list(range(len(LABELS)))]
    assert np.allclose(streams.weights.sum(axis=1), 1)
    assert all(np.array_equal(a, b) for a, b in zip(shared.pools[0], streams.pools[0], strict=True))
    assert not np.array_equal(streams.pools[0][0], streams.pools[1][0])
    two = replace(setting, seeds=2)
    later = make_pools(LABELS, two, first=1)  # of a study in parts
    for part, whole in zip(later.pools, streams.pools[1:], strict=True):
        assert all(map(np.array_equal, part, whole))
    assert SampleOrder(later, two).replicate.tolist() == [1, 2, 1, 2]
    schedule = plan(setting, CONTROL)
    _, lists = SampleOrder(streams, setting).extend(schedule)
    for run, m in np.ndindex(6, 3):
        seen = lists[run, m, : schedule.ends[-1, run, m]]
        assert np.isin(seen, streams.pools[run % 3][m]).all()


def test_philox_gives_the_published_known_answers_and_seeds_fit_it():
    ones = 0xFFFFFFFF
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    for counter, key, words in (
        ((0,) * 4, (0,) * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ones,) * 4, (ones,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (*pi, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ):
        assert " ".join(f"{int(word):08x}" for word in philox(counter, key)) == words
    for seed in (-1, 2**32, 1.0, True):
        assert "seed must be a whole number" in refused(check_seed, seed)


def test_samples_that_count_are_looked_at_alone_where_they_are_few():
    few = torch.tensor([[0, 0.5, 0, 0, 0.5, 0, 0, 0, 0]])
    assert passing(few).tolist() == [1, 4]
    assert passing(few[:, :8]) is passing(few.expand(2, -1)) is passing(few.to("meta")) is None
