"""What is asked of Ray and what is made of its answers, without Ray: places, waiting, errors, sessions."""

import os
import socket
import sys
import warnings
from importlib.machinery import ModuleSpec
from itertools import product
from types import SimpleNamespace
from unittest import mock

import pytest

from empirics.run import run_study
from empirics.shards.crew import Crew, Lost
from empirics.shards.on_ray import PATIENT, OnRay, gpu_shares, opened
from empirics.shards.shard import Assignment
from empirics.shards.trainer import Where
from tests.empirics.shards.desk import at_desk, small
from tests.empirics.small import blobs, refused
from theory.setting import SettingError


def test_so_many_shares_fit_on_single_cards_and_all_others_beside_them():
    for cards, shards in product(range(1, 17), range(1, 101)):
        first, later = gpu_shares(shards, cards)
        shared = -(-shards // cards)
        assert cards * int(1 / first) >= shards
        assert int(1 / first) == shared or shared > 50  # so that none is idle while another is crowded
        assert shared * first + (shards - shared) * later <= 1 + 1e-9  # one card is left
        assert min(first, later) >= 1e-4


def ray_with(monkeypatch, *nodes, **has):
    """A Ray of whose workers only the options are known."""
    told = SimpleNamespace(options=[], **has)

    def options(**given):
        told.options.append(given)
        return SimpleNamespace(remote=dict)

    told.__spec__ = ModuleSpec("ray", None)
    told.remote = lambda kind: SimpleNamespace(options=options)
    told.nodes = lambda: [
        {"Alive": True, "NodeManagerAddress": "", "NodeID": name, "Resources": resources}
        for name, resources in zip("abcdef", nodes, strict=False)
    ]
    affinity = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda name, soft: name if soft else None)
    monkeypatch.setitem(sys.modules, "ray", told)
    monkeypatch.setitem(sys.modules, "ray.util", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", affinity)
    return told


def test_workers_wait_for_no_cores_and_share_nodes_by_what_these_have(monkeypatch):
    ray = ray_with(monkeypatch, {"CPU": 1.0}, {"GPU": 2.0}, {"CPU": 3.0})
    office = OnRay(ray, small(), "cpu", None)
    assert office.shards == 4
    for again in (False, False, False, False, True):
        office.hire(again=again)
    assert [one["scheduling_strategy"] for one in ray.options] == ["c", "c", "a", "c", "SPREAD"]
    assert {(one["num_cpus"], one["max_restarts"]) for one in ray.options} == {(0.0, 0)}
    assert [OnRay(ray, small(threads=few), "cpu", None).shards for few in (None, 2)] == [4, 1]
    office = OnRay(ray, small(), "cuda", 3)
    for again in (False, True):
        office.hire(again=again)
    assert tuple(one["num_gpus"] for one in ray.options[-2:]) == gpu_shares(3, 2)


def test_who_is_fired_is_ended_and_one_that_has_ended_is_no_error(monkeypatch):
    there = ["a", "b"]
    office = OnRay(ray_with(monkeypatch, {"CPU": 1.0}, kill=there.remove), small(), "cpu", None)
    office.fire("b")
    office.fire("b")
    assert there == ["a"]


def test_workers_that_do_not_begin_are_told_of_once(monkeypatch):
    waits, free = [], {"CPU": 3.0, "GPU": 0.25}

    def wait(tickets, timeout=None):
        waits.append(timeout)
        return ([] if timeout else tickets[-1:]), []

    has = {"wait": wait, "cluster_resources": lambda: {"GPU": 2.0}, "available_resources": lambda: free}
    office = OnRay(ray_with(monkeypatch, {"GPU": 2.0}, **has), small(), "cuda", 3)
    worker = SimpleNamespace(
        **{what: SimpleNamespace(remote=lambda *_, what=what: what) for what in ("make", "play")}
    )
    playing, making = (office.ask(worker, what) for what in ("play", "make"))
    assert office.wait([playing]) == 0  # who trains may take long
    told = "1 of 3 workers .* each asks for 0.417 of a GPU; of 2 GPUs on this Ray 0.25 are free"
    with pytest.warns(UserWarning, match=told):
        assert office.wait([playing, making]) == 1
    assert office.wait([playing, making]) == 1
    assert waits == [None, PATIENT, None, None]


class RayError(Exception):
    """As Ray's errors are, whose names are in `ERRORS`."""

    actor_init_failed, cause = False, None


LOSSES = ("RayActorError", "WorkerCrashedError", "NodeDiedError", "ObjectLostError", "OutOfMemoryError")
ERRORS = {name: type(name, (RayError,), {}) for name in (*LOSSES, "RayTaskError", "OutOfDiskError")}


def answered(monkeypatch, error):
    """What an office makes of an error that Ray raises for an answer."""

    def get(ticket):
        raise error

    exceptions = SimpleNamespace(RayError=RayError, **ERRORS)
    ray = ray_with(monkeypatch, {"CPU": 1.0}, get=get, exceptions=exceptions)
    monkeypatch.setitem(sys.modules, "ray.exceptions", exceptions)
    return OnRay(ray, small(), "cpu", None).answer(None)


def test_who_ended_is_lost_and_what_else_goes_wrong_on_ray_is_one_sentence(monkeypatch):
    for name in LOSSES:
        with pytest.raises(Lost, match="gone"):
            answered(monkeypatch, ERRORS[name]("gone"))
    told = refused(answered, monkeypatch, ERRORS["OutOfDiskError"]("it is full"))
    assert told.startswith("Ray itself failed (it is full)")
    assert "--resume" in told
    unloaded = ERRORS["RayActorError"]("in __init__\nNo module named 'empirics'")
    unloaded.actor_init_failed = True
    told = refused(answered, monkeypatch, unloaded)
    assert told.startswith("a worker cannot load acdpp (No module named 'empirics')")
    mistaken = ERRORS["RayTaskError"]()
    mistaken.cause = SettingError("too many")
    assert refused(answered, monkeypatch, mistaken) == "too many"
    long = refused(answered, monkeypatch, ERRORS["OutOfDiskError"](300 * "x"))
    assert long.count("x") == 200
    mistaken.cause = ERRORS["ObjectLostError"]("gone")
    with pytest.raises(Lost, match="gone"):
        answered(monkeypatch, mistaken)


def test_who_is_cut_off_from_ray_can_go_on(monkeypatch):
    def cut_off(*given, **named):
        raise ConnectionError("GRPC connection failed\nfor some reason")

    sentence = "the connection to Ray is lost (GRPC connection failed): see that it runs; what is saved goes on with --"
    assert refused(answered, monkeypatch, ConnectionError("GRPC connection failed")).startswith(sentence)
    ray = ray_with(monkeypatch, {"CPU": 1.0}, put=cut_off, wait=cut_off)
    office = OnRay(ray, small(), "cpu", None)
    assert refused(office.wait, []).startswith(sentence)
    assert refused(office.ask, SimpleNamespace(play=SimpleNamespace(remote=cut_off)), "play").startswith(
        sentence
    )
    assert refused(Crew, office, Assignment(small(), blobs(), None, "cpu", False), []).startswith(sentence)
    ray.nodes = cut_off
    assert refused(OnRay, ray, small(), "cpu", None).startswith(sentence)


def test_an_address_that_is_none_and_shards_without_workers():
    with pytest.raises(SettingError, match="--on takes ray, for one on this machine"):
        Where("cpu", "spark")
    assert "give --on too" in refused(Where, "cpu", None, 2)
    assert Where("cuda", "ray").here == "cpu"


def test_as_many_shards_as_there_cannot_be_are_refused_before_ray_is_there(tmp_path):
    with at_desk(mock.Mock(hired=[], shards=0)) as desk:
        told = [
            refused(run_study, small(), tmp_path / "out", on="ray", shards=shards) for shards in (0, -1, 17)
        ]
    assert told[0] == "a study goes into 1 shard or more, got 0"
    assert told[2] == "16 runs go into 1 to 16 shards, got 17"
    assert not desk.mock_calls
    assert not (tmp_path / "out").exists()


def test_a_session_of_ones_own_is_used_and_the_environment_is_put_back(monkeypatch):
    names = ("RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER")
    monkeypatch.delenv(names[0], raising=False)
    monkeypatch.setenv(names[1], "1")
    ray_with(monkeypatch, {"CPU": 2.0}, is_initialized=lambda: True)
    with opened("ray", small(), "cpu", None) as office:
        assert office.shards == 2
        assert [os.environ[name] for name in names] == ["0", "0"]
    assert [os.environ.get(name) for name in names] == [None, "1"]
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"127.0.0.1:{there.getsockname()[1]}"
        told = refused(opened(address, small(), "cpu", None).__enter__)
    assert told == f"Ray is initialised already, so --on takes ray, for that session, got {address!r}"
    assert os.environ[names[1]] == "1"


def test_without_a_session_one_is_opened_and_closed(monkeypatch):
    told = []

    def init(**given):
        warnings.warn("of Ray's own", FutureWarning, stacklevel=2)  # not shown
        told.append(given["address"])

    has = {"init": init, "shutdown": lambda: told.append("closed")}
    ray_with(monkeypatch, {"CPU": 2.0}, is_initialized=lambda: False, **has)
    with pytest.warns(UserWarning, match="listens to other machines"), opened("ray", small(), "cpu", None):
        assert told == ["local"]
    assert told == ["local", "closed"]


def test_nobody_at_an_address_is_one_sentence(tmp_path, monkeypatch):
    ray_with(monkeypatch, is_initialized=lambda: True)  # who would refuse otherwise
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        for address in (place, f"ray://{place}"):
            told = refused(run_study, small(), tmp_path / "out", on=address)
            assert told.startswith(f"nobody answers at {place} (")
    assert not (tmp_path / "out").exists()


def test_without_ray_one_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("empirics.shards.on_ray.find_spec", lambda name: None)
    assert refused(Where, "cpu", "ray") == "training on Ray needs ray: pip install 'acdpp[ray]'"
