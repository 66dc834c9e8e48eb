"""The runs of a study in parts: the same rows bit for bit, whoever is lost and wherever it is stopped."""

import json
import shutil
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from empirics.control.schedule import Schedule
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.shards.chunks import Chunks
from empirics.shards.crew import PATIENCE, Crew
from empirics.shards.shard import Shard
from empirics.shards.split import FEWEST, most_parts, split
from empirics.training.problem import from_dataset
from tests.empirics.shards.desk import MIXED, Desk, at_desk, done, files, small
from tests.empirics.small import CONTROL, Steady, blobs, orderly, refused, stopped_at, study


def trained(setting, out, desk, **given):
    with at_desk(desk):
        return run_study(setting, out, on="ray", **given)


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


@orderly
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


@orderly
def test_a_result_is_extended_by_workers(whole, tmp_path):
    run_study(small(rounds=4), tmp_path / "out")
    desk = Desk(3, losing={4, 9, 16})  # while they follow, and are restored
    trained(small(), tmp_path / "out", desk, resume=True)
    followed = [found.state for what, found in desk.answers if what == "follow"]
    assert len(followed) >= 6
    assert not any(followed)  # what was trained is not sent to and fro
    for name in ("summary.json", "state-000000000007.npz"):  # rows end in other chunks
        assert files(tmp_path / "out")[name] == whole[name]
