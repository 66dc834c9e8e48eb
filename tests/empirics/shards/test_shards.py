"""The runs of a study in parts: the same rows bit for bit, whoever is lost and wherever it is stopped."""

import json
import os
import shutil
import socket
import sys
from importlib.machinery import ModuleSpec
from itertools import product
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import torch

from empirics.control.schedule import Schedule
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.shards.chunks import Chunks
from empirics.shards.crew import PATIENCE, Crew, Lost
from empirics.shards.on_ray import PATIENT, OnRay, gpu_shares, opened
from empirics.shards.shard import Assignment, Shard
from empirics.shards.split import FEWEST, most_parts, split
from empirics.shards.trainer import Where
from empirics.training.problem import from_dataset
from tests.empirics.shards.desk import Desk, at_desk
from tests.empirics.small import CONTROL, Steady, blobs, blobs_file, refused, stopped_at, study
from theory.setting import SettingError

MIXED = ("constant", "acdpp", "oracle@eta=0.1,steps=3,decay=4", "buy-cheap-online@average=equal")
FILES = ("rounds.parquet", "summary.json", "state-*.npz")


def small(**given):
    few = {"rounds": 7, "checkpoint": 3, "seeds": 4, "policies": MIXED, "predict": False, "steps": 2}
    plain = {"radius": None, "measures": ("risk", "mismatch"), "V": 3.0, "rho": 0.7}
    return study(dataset=blobs_file(), **few | plain | given)


def trained(setting, out, desk, **given):
    with at_desk(desk):
        return run_study(setting, out, on="ray", **given)


def done(folder):
    """Rounds that are saved."""
    return json.loads((folder / "settings.json").read_text())["progress"]["done"]


def files(folder):
    """All that a study found, byte by byte."""
    return {path.name: path.read_bytes() for name in FILES for path in folder.glob(name)}


@pytest.fixture(autouse=True)
def ray_is_there(monkeypatch):
    """As far as it is asked for before it is loaded, which nobody here does."""
    monkeypatch.setattr("empirics.shards.on_ray.find_spec", lambda name: name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    run_study(small(), out)
    return files(out)


def test_every_run_is_in_one_part_and_parts_are_as_even_as_can_be():
    for policies, seeds in product((1, 2, 3, 5, 6), (1, 2, 5, 10)):
        setting = study(
            policies=MIXED[:1] + tuple(f"constant@K={k}" for k in range(1, policies)), seeds=seeds
        )
        for count in range(1, setting.runs + 1):
            parts = split(setting, count)
            runs = [part.runs(setting) for part in parts]
            assert sorted(np.concatenate(runs).tolist()) == list(range(setting.runs))
            assert len(parts) <= count
            assert max(map(len, runs)) < 2 * -(-setting.runs // count)
            if count <= most_parts(setting) and setting.runs > 1:
                assert min(map(len, runs)) >= FEWEST
    assert "1 to 12 shards, got 13" in refused(split, study(policies=MIXED), 13)


ODD = {
    "own streams and starts": {
        "per_seed": ("partition", "start"),
        "partition": "dirichlet",
        "replacement": False,
        "concentration": 5.0,
    },
    "a world that moves": {"drift": Drift(kind="gradual", length=6), "measures": ("accuracy",)},
    "who listens": {"policies": ("adaptive", "constant"), "seeds": 2},
    "predicted": {
        "rounds": 4,
        "predict": True,
        "policies": ("constant", "oracle"),
        "seeds": 2,
        "radius": 2.0,
    },
}


@pytest.mark.parametrize("shards", [3, 8])
def test_parts_are_the_whole_bit_for_bit(whole, tmp_path, shards):
    seen = []
    trained(small(), tmp_path / "out", Desk(shards), progress=seen.append)
    assert files(tmp_path / "out") == whole
    assert seen == sorted(seen)
    assert seen[-1] == 7
    assert len(set(seen)) > 4  # a part that is ahead counts
    settings = json.loads((tmp_path / "out/settings.json").read_text())
    assert len(settings["shards"]) == shards


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
def test_parts_of_other_studies_are_so_too(tmp_path, given):
    run_study(small(**given), tmp_path / "whole")
    trained(small(**given), tmp_path / "parts", Desk(2))
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


class Pulled:
    """A model of one's own: two numbers, pulled towards how much is held."""

    size, towards = 2, 0.01

    def __init__(self, population):
        self.population = population

    def start(self, runs):
        return torch.zeros(runs, self.size, dtype=torch.float64)

    def update(self, theta, memory, descent):
        return descent.eta * (self.towards * memory.mask.sum((1, 2))[:, None] - theta)

    def measure(self, theta, tilt):
        return {"risk": 1 + self.towards * theta.sum(1)}

    def accuracy(self, theta):
        return theta[:, 0]


class Pushed(Pulled):
    """Another of the same name."""

    towards = -0.01


class Wrong(Pulled):
    """Fails in every round."""

    def update(self, theta, memory, descent):
        raise ValueError("no such step")


class Blind(Pulled):
    """Knows its risk, and fails where more is measured."""

    def measure(self, theta, tilt):
        if tilt is not None:
            raise ValueError("no such mismatch")
        return super().measure(theta, tilt)


Pushed.__name__ = "Pulled"


def test_what_is_handed_over_in_python_goes_to_the_workers(tmp_path):
    own = {"policies": {"mine": Steady(1, 2, 3)}, "cost": np.arange(1.0, 8), "dataset": blobs()}
    setting = small(measures=("risk",), policies=("constant",))
    run_study(setting, tmp_path / "whole", **own, model=Pulled)
    stopped_at(setting, tmp_path / "parts", 4, **own, model=Pulled)
    shutil.copytree(tmp_path / "parts", tmp_path / "other")
    trained(None, tmp_path / "parts", Desk(2), resume=True, **own, model=Pulled)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    again = {"desk": Desk(2), "resume": True, **own}
    assert "the model is not" in refused(trained, None, tmp_path / "other", **again, model=Pushed)


def test_a_mistake_in_a_worker_is_one_sentence_and_leaves_nothing(tmp_path):
    unsent = refused(trained, small(), tmp_path / "out", Desk(2), model=lambda population: Pulled(population))
    assert "the model cannot be sent to workers" in unsent
    told = refused(
        trained, small(measures=("risk",), policies=MIXED[:2]), tmp_path / "out", Desk(2), model=Wrong
    )
    assert "failed in a first round: ValueError: no such step" in told
    assert not (tmp_path / "out").exists()
    setting = small(policies=MIXED[:2])
    alone = Shard(from_dataset(setting, blobs(), torch.device("cpu"), Blind), listens=False)
    first = Schedule(setting, CONTROL).advance(1)
    assert "failed in a first round: ValueError: no such mismatch" in refused(alone.try_out, first)


@pytest.mark.parametrize("call", [1, 6, 12])
def test_a_lost_worker_costs_its_part_since_its_checkpoint_and_no_more(whole, tmp_path, call):
    """Of two parts: both are made, tried out, play three chunks each, and measure at last."""
    desk = Desk(2, losing={call})
    trained(small(), tmp_path / "out", desk)
    assert files(tmp_path / "out") == whole
    assert desk.calls > 12
    assert desk.played == 2 * 7
    assert [what for what, _ in desk.answers].count("make") == 2 + (call > 2)  # nobody is made twice


def test_runs_of_a_single_part_come_in_their_order_too():
    crew = SimpleNamespace(
        members=[SimpleNamespace(runs=np.array([1, 0]))], machines=[{"device": "cpu"}], _parts=list
    )
    assert Crew.machine(crew)["device"] == "cpu"
    assert Crew._joined(crew, [{"risk": np.array([[5, 6]])}])["risk"].tolist() == [[6, 5]]


def test_chunks_of_who_listens_are_played_as_they_are_heard():
    given = SimpleNamespace(checkpoint=2, rounds=3)
    schedule, trainer = SimpleNamespace(listening=True, study=given, round=1), SimpleNamespace(ahead=1)

    class Heard(Chunks):
        def _listened(self, count):
            schedule.round += count
            return count

    assert list(Heard(schedule, trainer, None)) == [2, 1]


def test_one_that_listens_and_is_lost_is_told_again_what_it_heard(tmp_path):
    setting = small(**ODD["who listens"])
    run_study(setting, tmp_path / "whole")
    desk = Desk(2, losing={10})
    trained(setting, tmp_path / "parts", desk)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    assert 2 * 7 < desk.played <= 2 * 7 + 3


def test_who_is_lost_again_and_again_is_told_of_in_one_sentence(tmp_path):
    desk = Desk(2, losing=range(7, 99))
    told = refused(trained, small(), tmp_path / "out", desk)
    assert f"was lost {PATIENCE + 1} times in a row (it was killed)" in told
    assert len(desk.hired) == 2 + PATIENCE
    assert done(tmp_path / "out") == 0


def other(**found):
    """What a worker says of itself, with other versions."""
    return lambda said: said | {"versions": said["versions"] | found}


def test_another_acdpp_is_refused_whoever_has_it_and_other_packages_are_told_of_once(tmp_path):
    torches, acdpp = other(torch="0.1"), other(acdpp="0.0.1")
    told = refused(trained, small(), tmp_path / "out", Desk(3, saying={1: torches, 2: torches, 3: acdpp}))
    assert "a worker has another acdpp (acdpp " in told
    assert not (tmp_path / "out").exists()
    with pytest.warns(UserWarning, match="a worker differs") as seen:
        trained(small(), tmp_path / "out", Desk(3, {10, 20}, dict.fromkeys(range(1, 9), torches)))
    assert len(seen) == 1
    told = refused(trained, small(), tmp_path / "again", Desk(2, {7}, {3: acdpp}))
    assert "a worker has another acdpp (acdpp " in told


def test_a_study_that_workers_began_goes_on_without_them(whole, tmp_path):
    with at_desk(Desk(2)):
        stopped_at(small(), tmp_path / "out", 6, on="ray")
    assert done(tmp_path / "out") == 3
    run_study(out=tmp_path / "out", resume=True)
    assert files(tmp_path / "out") == whole


def test_a_result_is_extended_by_workers(whole, tmp_path):
    run_study(small(rounds=4), tmp_path / "out")
    desk = Desk(3, losing={4, 9, 16})  # while they follow, and are restored
    trained(small(), tmp_path / "out", desk, resume=True)
    followed = [found.state for what, found in desk.answers if what == "follow"]
    assert len(followed) >= 6
    assert not any(followed)  # what was trained is not sent to and fro
    for name in ("summary.json", "state-000000000007.npz"):  # rows end in other chunks
        assert files(tmp_path / "out")[name] == whole[name]


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
    has = {"init": lambda **given: told.append(given["address"]), "shutdown": lambda: told.append("closed")}
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
