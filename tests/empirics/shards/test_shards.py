"""Shards give the rows of the whole study bit for bit, whichever worker is lost and wherever training stops."""

import shutil
from itertools import product

import numpy as np
import pytest

from empirics.control.schedule import Schedule
from empirics.results.folder import read_settings
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.shards.shard import Assignment, Shard
from empirics.shards.split import SHARD_RUNS_MIN, ShardRuns, most_shards, split
from empirics.shards.workers import LOSSES_MAX, ShardedTrainer
from tests.empirics.shards.local_backend import MIXED, LocalBackend, done, files, in_place_of_ray, small
from tests.empirics.small import CONTROL, Pulled, Steady, blobs, orderly, problem, refused, stopped_at, study

OWN = {"partition": "dirichlet", "replacement": False, "concentration": 5.0}
FEW = {"rounds": 4, "seeds": 2, "policies": ("constant", "oracle")}
ODD = {
    "own streams and starts": {"per_seed": ("partition", "start"), **OWN},
    "a drifting population": {"drift": Drift(kind="gradual", length=6), "measures": ("accuracy",)},
    "a policy that listens": {"policies": ("adaptive", "constant"), "seeds": 2},
    "predicted": {"predict": True, "radius": 2.0, **FEW},
    "information": {"learner": "information", "policies": ("constant@K=2", "hybrid"), "seeds": 3},
}


def trained(setting, out, backend, **given):
    with in_place_of_ray(backend):
        return run_study(setting, out, on="ray", **given)


def test_every_run_is_in_one_shard_and_shards_are_even():
    for policies, seeds in product((1, 2, 3, 5, 6), (1, 2, 5, 10)):
        others = (f"constant@K={k}" for k in range(1, policies))
        setting = study(policies=(MIXED[0], *others), seeds=seeds)
        for count in range(1, setting.runs + 1):
            parts = split(setting, count)
            runs = [part.runs(setting) for part in parts]
            assert sorted(np.concatenate(runs).tolist()) == list(range(setting.runs))
            assert len(parts) <= count
            assert max(map(len, runs)) < 2 * -(-setting.runs // count)
            if count <= most_shards(setting) and setting.runs > 1:
                assert min(map(len, runs)) >= SHARD_RUNS_MIN
    assert "1 to 12 shards, got 13" in refused(split, study(policies=MIXED), 13)
    two = study(policies=MIXED[:2], seeds=10)  # 15 shards of them would have two runs at most, as 10 have
    assert {(part.policies, part.seeds) for part in split(two, 15)} == {(two.policies, 1)}


@orderly
@pytest.mark.parametrize("shards", [3, 8])
def test_shards_are_the_whole_bit_for_bit(whole, tmp_path, shards):
    seen = []
    trained(small(), tmp_path / "out", LocalBackend(shards), progress=seen.append)
    assert files(tmp_path / "out") == whole
    assert seen == sorted(seen)
    assert (seen[-1], len(set(seen)) > 4) == (7, True)  # a shard that is ahead counts
    assert shards == 8 or seen[:6] == [0, 0, 1, 1, 3, 4]  # of 8, 4 and 4 runs
    assert len(read_settings(tmp_path / "out")["shards"]) == shards


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
def test_shards_of_other_studies_are_the_whole_too(tmp_path, given):
    run_study(small(**given), tmp_path / "whole")
    trained(small(**given), tmp_path / "parts", LocalBackend(2, losing={8}))  # after a checkpoint
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


class Pushed(Pulled):
    """Another of the same name."""

    towards = -0.01


class Wrong(Pulled):
    """Fails in every round."""

    def update(self, theta, memory, descent):
        raise ValueError(f"no such step{400 * '!'}")


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
    trained(None, tmp_path / "parts", LocalBackend(2), resume=True, **own, model=Pulled)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    again = {"backend": LocalBackend(2), "resume": True, **own}
    assert "the model is not" in refused(trained, None, tmp_path / "other", **again, model=Pushed)


def test_a_mistake_in_a_worker_is_one_sentence_and_leaves_nothing(tmp_path):
    setting, out = small(measures=("risk",), policies=MIXED[:2]), tmp_path / "out"
    told = refused(trained, setting, out, LocalBackend(2), model=type(300 * "x", (Pulled,), {}))
    assert len(told) == len("the model cannot be sent to workers: ") + 200
    told = refused(trained, setting, out, LocalBackend(2), model=Wrong)
    begin, _, reason = told.partition(" in a first round: ")
    assert begin.endswith("failed")
    assert (reason[:24], len(reason)) == ("ValueError: no such step", 300)
    assert not (tmp_path / "out").exists()
    setting = small(policies=MIXED[:2])
    alone = Shard(problem(setting, model=Blind), listens=False)
    first = Schedule(setting, CONTROL).advance(1)
    assert "failed in a first round: ValueError: no such mismatch" in refused(alone.try_out, first)


@pytest.mark.parametrize("call", [1, 6, 12])
def test_a_lost_worker_costs_its_part_since_its_checkpoint_and_no_more(whole, tmp_path, call):
    """Two shards are made, tried out, play three chunks each, and measure at the end."""
    backend = LocalBackend(2, losing={call})
    trained(small(), tmp_path / "out", backend)
    assert files(tmp_path / "out") == whole
    assert backend.calls > 12
    assert backend.played == 2 * 7
    assert [what for what, _ in backend.answers].count("make") == 2 + (call > 2)  # none is made twice


def test_runs_are_in_the_study_s_order_whatever_that_of_shards_and_every_device_is_named():
    setting = small(policies=("constant", "oracle"), seeds=3, measures=("risk",))
    given = Assignment(setting, blobs(), None, "cpu", False)
    alone = Shard(problem(setting), listens=False)
    rounds = Schedule(setting, CONTROL).advance(3)
    shards = [{"policies": ["oracle", "constant"], "first": first, "seeds": 1} for first in (2, 0, 1)]
    parts = [ShardRuns(tuple(one["policies"]), one["first"], 1) for one in shards]
    backend = LocalBackend(3, saying={3: lambda said: said | {"device": "a card", "threads": 99}})
    with ShardedTrainer(backend, given, parts) as sharded:
        machine = alone.machine()
        assert sharded.machine() == machine | {"device": f"{machine['device']}, a card", "shards": shards}
        found = sharded.begin(rounds, lambda done: None)().measured["risk"]
    with ShardedTrainer(LocalBackend(1), given, [ShardRuns(setting.policies, 0, 3)]) as one:
        assert one.machine()["device"] == machine["device"]
        same = one.begin(rounds, lambda done: None)().measured["risk"]
    assert found == pytest.approx(alone.begin(rounds, lambda done: None)().measured["risk"]) == same


def test_a_lost_worker_of_a_policy_that_listens_repeats_its_rounds(tmp_path):
    setting = small(**ODD["a policy that listens"])
    run_study(setting, tmp_path / "whole")
    backend = LocalBackend(2, losing={10, 11})  # the second while it repeats
    trained(setting, tmp_path / "parts", backend)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    assert 2 * 7 < backend.played <= 2 * 7 + 3


def test_repeated_losses_end_in_one_sentence(tmp_path):
    backend = LocalBackend(2, losing=range(7, 99))
    told = refused(trained, small(), tmp_path / "out", backend)
    assert f"was lost {LOSSES_MAX + 1} times in a row (it was killed)" in told
    assert len(backend.started) == 2 + LOSSES_MAX
    assert done(tmp_path / "out") == 0
    backend = LocalBackend(1, losing=(1, 3, 6, 9, 12, 15))  # each before another answer
    trained(small(), tmp_path / "other", backend)
    assert len(backend.started) - 1 > LOSSES_MAX


def other(**found):
    """A worker's description with other versions."""
    return lambda said: said | {"versions": said["versions"] | found}


def test_another_acdpp_is_refused_and_other_packages_are_warned_of_once(tmp_path):
    torches, acdpp = other(torch="0.1", scipy="0.1"), other(acdpp="0.0.1")
    backend = LocalBackend(3, saying={1: torches, 2: torches, 3: acdpp})
    told = refused(trained, small(), tmp_path / "out", backend)
    assert "a worker has another acdpp (acdpp " in told
    assert not (tmp_path / "out").exists()
    with pytest.warns(UserWarning, match=r"a worker has other versions \(scipy .*; torch ") as seen:
        trained(small(), tmp_path / "out", LocalBackend(3, {10, 20}, dict.fromkeys(range(1, 9), torches)))
    assert len(seen) == 1
    told = refused(trained, small(), tmp_path / "again", LocalBackend(2, {7}, {3: acdpp}))
    assert "a worker has another acdpp (acdpp " in told


def test_a_study_that_workers_began_goes_on_without_them(whole, tmp_path):
    with in_place_of_ray(LocalBackend(2)):
        stopped_at(small(), tmp_path / "out", 6, on="ray")
    assert done(tmp_path / "out") == 3
    run_study(out=tmp_path / "out", resume=True)
    assert files(tmp_path / "out") == whole


@orderly
def test_a_result_is_extended_by_workers(whole, tmp_path):
    run_study(small(rounds=4), tmp_path / "out")
    backend = LocalBackend(3, losing={4, 9, 16})  # while following, and while restored
    trained(small(), tmp_path / "out", backend, resume=True)
    followed = [found.state for what, found in backend.answers if what == "follow"]
    assert len(followed) >= 6
    assert not any(followed)  # without the trained state
    for name in ("summary.json", "state-000000000007.npz"):  # rows end in other chunks
        assert files(tmp_path / "out")[name] == whole[name]
