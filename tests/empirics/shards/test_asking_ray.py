"""Requests to Ray and the handling of its answers, without Ray: placement, waiting, errors, sessions."""

import os
import socket
import sys
import warnings
from importlib.machinery import ModuleSpec
from itertools import product
from types import ModuleType
from unittest.mock import Mock

import pytest

from empirics.run import run_study
from empirics.shards.on_ray import WAITING_SECONDS, RayBackend, gpu_shares, opened
from empirics.shards.shard import Assignment
from empirics.shards.trainer import Where
from empirics.shards.workers import ShardedTrainer, WorkerLost
from tests.empirics.shards.local_backend import MIXED, LocalBackend, in_place_of_ray, small
from tests.empirics.small import blobs, refused
from theory.setting import SettingError


def test_shares_fit_on_single_cards_with_room_for_replacements():
    for cards, shards in product(range(1, 17), range(1, 101)):
        first, later = gpu_shares(shards, cards)
        shared = -(-shards // cards)
        assert cards * int(1 / first) >= shards
        assert int(1 / first) == shared or shared > 50  # no card is idle while another is crowded
        assert shared * first + (shards - shared) * later <= 1 + 1e-9  # one card is left
        assert min(first, later) >= 1e-4
    assert gpu_shares(20_000, 1) == (1e-4, 1e-4)  # Ray's smallest share, whether they fit or not


class RayError(Exception):
    """The base of Ray's errors in `ERRORS`."""

    actor_init_failed, cause = False, None


LOSSES = ("RayActorError", "WorkerCrashedError", "NodeDiedError", "ObjectLostError", "OutOfMemoryError")
ERRORS = {name: type(name, (RayError,), {}) for name in (*LOSSES, "RayTaskError", "OutOfDiskError")}


AWAY = "192.0.2.7"


class FakeRay(ModuleType):
    """Ray's module with a dead node, some nodes, and further functions by name; `actor` notes its actors' options."""

    place = AWAY

    def __init__(self, *nodes, **functions):
        super().__init__("ray")
        self.__spec__, self.resources, self.actor = ModuleSpec("ray", None), nodes, Mock()
        self.remote = lambda worker: self.actor
        self.exceptions = ModuleType("ray.exceptions")
        vars(self.exceptions).update(ERRORS, RayError=RayError)
        vars(self).update(functions)

    def nodes(self):
        places = [("dead", {"CPU": 9.0, "GPU": 9.0}), *zip("abc", self.resources, strict=False)]
        return [
            {
                "Alive": name != "dead",
                "NodeManagerAddress": self.place if name != "dead" else AWAY,
                "NodeID": name,
                "Resources": resources,
            }
            for name, resources in places
        ]


@pytest.fixture
def ray_with(monkeypatch):
    def made(*nodes, **functions):
        ray, strategies = FakeRay(*nodes, **functions), ModuleType("ray.util.scheduling_strategies")
        strategies.NodeAffinitySchedulingStrategy = lambda name, soft: name if soft else None
        modules = {"ray": ray, "ray.util": ModuleType("ray.util"), "ray.exceptions": ray.exceptions}
        for name, module in (modules | {strategies.__name__: strategies}).items():
            monkeypatch.setitem(sys.modules, name, module)
        return ray

    return made


def test_workers_request_no_cores_and_are_placed_by_the_cores_of_nodes(ray_with):
    ray = ray_with({"CPU": 1.0}, {"GPU": 2.0}, {"CPU": 3.0})
    backend = RayBackend(ray, small(threads=None), "cpu", None)
    assert backend.shards == 4
    for again in (False, False, True, False, False):
        backend.start(again=again)
    asked = ray.actor.options.call_args_list
    assert [one.kwargs["scheduling_strategy"] for one in asked] == ["c", "c", "SPREAD", "a", "c"]
    assert {(one.kwargs["num_cpus"], one.kwargs["max_restarts"]) for one in asked} == {(0.0, 0)}
    others = ({"threads": 2}, {"threads": 4}, {"policies": MIXED[:1], "seeds": 1})
    assert [RayBackend(ray, small(**few), "cpu", None).shards for few in others] == [1, 1, 1]
    backend = RayBackend(ray, small(), "cuda", 3)
    for again in (False, True):
        backend.start(again=again)
    assert tuple(one.kwargs["num_gpus"] for one in asked[-2:]) == gpu_shares(3, 2)
    alive = ["a", "b"]
    backend = RayBackend(ray_with({"CPU": 1.0}, kill=alive.remove), small(), "cpu", None)
    for _ in range(2):  # a worker may be ended twice
        backend.end("b")
    assert alive == ["a"]
    assert "no GPU: use --device cpu" in refused(RayBackend, FakeRay({"CPU": 1.0}), small(), "cuda", None)
    assert "no CPU: use --device cuda" in refused(RayBackend, FakeRay({"GPU": 1.0}), small(), "cpu", None)


def test_workers_that_do_not_start_are_warned_of_once(ray_with):
    waits, free = [], {"CPU": 3.0, "GPU": 0.25}

    def wait(tickets, timeout=None):
        waits.append(timeout)
        return ([] if timeout else tickets[-1:]), []

    has = {"wait": wait, "cluster_resources": lambda: {"GPU": 2.0}, "available_resources": lambda: free}
    backend = RayBackend(ray_with({"GPU": 2.0}, **has), small(), "cuda", 3)
    worker = Mock()
    playing, making = (backend.ask(worker, what) for what in ("play", "make"))
    assert backend.wait([playing]) == 0  # training may take long
    with pytest.warns(UserWarning, match=r"1 of 3 workers .* 0.417 of a GPU, and 0.25 of 2 GPUs are free"):
        assert backend.wait([playing, making]) == 1
    assert backend.wait([playing, making]) == 1
    assert waits == [None, WAITING_SECONDS, None, None]


@pytest.fixture
def answer_to(ray_with):
    def answered(error, **state):
        """A backend's answer when Ray raises an error with these attributes."""
        vars(error).update(state)

        def get(ticket):
            raise error

        return RayBackend(ray_with({"CPU": 1.0}, get=get), small(), "cpu", None).answer(None)

    return answered


@pytest.mark.parametrize("name", LOSSES)
def test_an_ended_worker_is_lost(name, answer_to):
    with pytest.raises(WorkerLost, match="gone"):
        answer_to(ERRORS[name]("gone"))
    with pytest.raises(WorkerLost, match="gone"):
        answer_to(ERRORS["RayTaskError"](), cause=ERRORS[name]("gone"))


def test_other_errors_of_ray_are_one_sentence(answer_to):
    told = refused(answer_to, ERRORS["OutOfDiskError"]("\n it is full"))
    assert "Ray itself failed (it is full)" in told
    assert "acdpp resume" in told
    unloaded = ERRORS["RayActorError"]("in __init__\nNo module named 'empirics'")
    told = refused(answer_to, unloaded, actor_init_failed=True)
    assert "a worker cannot load acdpp (No module named 'empirics')" in told
    assert refused(answer_to, ERRORS["RayTaskError"](), cause=SettingError("too many")) == "too many"
    assert refused(answer_to, ERRORS["OutOfDiskError"](300 * "x")).count("x") == 200
    assert "Ray itself failed (OutOfDiskError)" in refused(answer_to, ERRORS["OutOfDiskError"]())
    for cause, error in ((MemoryError("too large"), MemoryError), (ValueError(), ERRORS["RayTaskError"])):
        with pytest.raises(error):
            answer_to(ERRORS["RayTaskError"](), cause=cause)


def test_a_lost_connection_to_ray_can_be_resumed(ray_with, answer_to):
    def cut_off(*given, **named):
        raise ConnectionError("GRPC connection failed\nfor some reason")

    ray = ray_with({"CPU": 1.0}, put=cut_off, wait=cut_off)
    backend = RayBackend(ray, small(), "cpu", None)
    worker = Mock(**{"play.remote.side_effect": cut_off})
    broken = FakeRay(nodes=cut_off)
    for call in (
        (backend.wait, []),
        (backend.ask, worker, "play"),
        (ShardedTrainer, backend, Assignment(small(), blobs(), None, "cpu", False), []),
        (RayBackend, broken, small(), "cpu", None),
        (answer_to, ConnectionError("GRPC connection failed")),
    ):
        told = refused(*call)
        assert "the connection to Ray is lost (GRPC connection failed)" in told
        assert "acdpp resume" in told


def test_where_a_study_runs(monkeypatch):
    for place in ("spark", ":6379", "ray://head"):
        with pytest.raises(SettingError, match="--on takes ray, for this machine"):  # and shows an address
            Where("cpu", place)
    assert "got 'cuda:1'" in refused(opened("ray", small(), "cuda:1", None).__enter__)
    assert "give --on too" in refused(Where, "cpu", None, 2)
    assert (Where("cuda").here, Where("cuda", "ray").here) == ("cuda", "cpu")
    monkeypatch.setattr("empirics.shards.on_ray.find_spec", lambda name: None)
    assert "pip install 'acdpp[ray]'" in refused(Where, "cpu", "ray")


def test_a_wrong_number_of_shards_is_refused_before_ray_starts(tmp_path):
    for shards, told in {0: "at least 1 shard, got 0", -1: "got -1", 17: "1 to 16 shards, got 17"}.items():
        with in_place_of_ray(LocalBackend(0)) as backend:
            assert told in refused(run_study, small(), tmp_path / "out", on="ray", shards=shards)
        assert not backend.started
    assert not (tmp_path / "out").exists()


def test_an_own_session_is_used_and_the_environment_restored(ray_with, monkeypatch):
    names = ("RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER")
    monkeypatch.delenv(names[0], raising=False)
    monkeypatch.setenv(names[1], "1")
    ray_with({"CPU": 2.0}, is_initialized=lambda: True)
    with opened("ray", small(), "cpu", None) as backend:
        assert backend.shards == 2
        assert [os.environ[name] for name in names] == ["0", "0"]
    assert [os.environ.get(name) for name in names] == [None, "1"]
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"127.0.0.1:{there.getsockname()[1]}"
        told = refused(opened(address, small(), "cpu", None).__enter__)
    assert "already initialised" in told
    assert repr(address) in told
    assert os.environ[names[1]] == "1"


def test_without_a_session_one_is_opened_and_closed(ray_with):
    told = []

    def init(**given):
        warnings.warn("of Ray's own", FutureWarning, stacklevel=2)  # not shown
        told.append(given)

    has = {"init": init, "shutdown": lambda: told.append("closed")}
    ray_with({"CPU": 2.0}, is_initialized=lambda: False, **has)
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
    with pytest.warns(UserWarning, match="listens to other machines"), opened("ray", small(), "cpu", None):
        assert told == [{"address": "local", **quiet}]
    assert told[1:] == ["closed"]
    ray_with({"CPU": 2.0}, is_initialized=lambda: False, place="127.0.0.1", **has)
    with opened("ray", small(), "cpu", None):  # a node that was elsewhere, and is dead, listens to nobody
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_cluster_is_joined_at_its_address_unless_it_refuses(ray_with, host):
    told, family = [], socket.AF_INET6 if ":" in host else socket.AF_INET
    has = {"is_initialized": lambda: False, "shutdown": lambda: None}
    try:
        there = socket.create_server((host.strip("[]"), 0), family=family)
    except OSError:
        pytest.skip("this machine has no such address")
    with there:
        address = f"{host}:{there.getsockname()[1]}"
        ray_with({"CPU": 2.0}, init=lambda **given: told.append(given), **has)
        with opened(address, small(), "cpu", None):
            assert told == [{"address": address, "log_to_driver": False, "logging_level": "error"}]
        ray_with({"CPU": 2.0}, init=Mock(side_effect=RuntimeError("\nanother version")), **has)
        refusal = refused(opened(address, small(), "cpu", None).__enter__)
    assert f"Ray cannot be reached at {address!r} (another version)" in refusal


def test_an_address_without_a_server_is_one_sentence(tmp_path, ray_with):
    ray_with(is_initialized=lambda: True)  # refused otherwise
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # without listening
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        for address in (place, f"ray://{place}"):
            assert f"no answer from {place} (" in refused(run_study, small(), tmp_path / "out", on=address)
    assert not (tmp_path / "out").exists()
