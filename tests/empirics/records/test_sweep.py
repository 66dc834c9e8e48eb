"""Whole studies whose policies have settings of their own."""

import json

import numpy as np
import pytest
import torch

from empirics.control.registry import BUILT_IN
from empirics.records.folder import read_result
from empirics.run import run_study
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.module import Module
from empirics.training.problem import make_problem
from tests.empirics.small import blobs
from theory.bound import theorem_1, theorem_1_as_stated
from theory.setting import SettingError

BASE = Study(
    rounds=30,
    seeds=2,
    checkpoint=10,
    buffers=(8, 12),
    budget=11.0,
    steps=2,
    labels="parity",
    policies=("constant",),
)
MIXED = ("constant", "acdpp@K=4", "acdpp@eta=0.1,steps=3", "constant@steps=1", "hybrid@K=3", "oracle")


def with_policies(*names):
    return Study.from_document({"policies": list(names)}, BASE)


def columns(folder):
    table = read_result(folder).rows
    return {name: np.array(table[name].to_pylist()) for name in table.column_names}


class Killed(Exception):
    """Stands in for a loss of power between two rounds."""


def stop_at(round_):
    def stop(done):
        if done == round_:
            raise Killed

    return stop


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep") / "mixed"
    return out, run_study(with_policies(*MIXED), out)


def test_a_variant_with_the_studys_own_values_gives_the_rows_of_the_policy_itself(tmp_path):
    names = {"acdpp": "acdpp@K=10,eta=0.5,steps=2", "constant": "constant@K=10", "hybrid": "hybrid@eta=0.5"}
    plain = run_study(with_policies(*names), tmp_path / "plain")
    varied = run_study(with_policies(*names.values()), tmp_path / "varied")
    for name, variant in names.items():
        assert varied["policies"][variant] == plain["policies"][name]
    one, other = columns(tmp_path / "plain"), columns(tmp_path / "varied")
    assert set(other["policy"]) == set(names.values())
    assert all(np.array_equal(one[name], other[name]) for name in one if name != "policy")


def test_a_variant_learns_as_the_policy_does_in_a_study_of_its_own(mixed, tmp_path):
    apart = Study.from_document({"eta": 0.1, "steps": 3, "policies": ["acdpp"]}, BASE)
    alone = run_study(apart, tmp_path / "alone")["policies"]["acdpp"]
    variant = mixed[1]["policies"]["acdpp@eta=0.1,steps=3"]
    for name, value in alone.items():
        if isinstance(value, dict) and set(value) == {"mean", "error"}:
            assert variant[name]["mean"] == pytest.approx(value["mean"], rel=1e-9)
        elif isinstance(value, float):
            assert variant[name] == pytest.approx(value, rel=1e-9), name
    assert variant["bound_corrected_terms"] == pytest.approx(alone["bound_corrected_terms"], rel=1e-12)
    assert variant["bound_corrected_terms"] != pytest.approx(
        mixed[1]["policies"]["constant"]["bound_corrected_terms"], rel=1e-3
    )


def test_both_bounds_of_a_variant_are_theorys_with_its_own_constants(mixed):
    table, study = columns(mixed[0]), with_policies(*MIXED)
    constants = calibrate(make_problem(study)).constants
    for name in MIXED:
        own = study.constants_of(name, constants)
        totals = []
        for seed in range(2):
            mine = (table["policy"] == name) & (table["seed"] == seed)
            order = np.argsort(table["round"][mine])
            track = [table[column][mine][order].astype(float) for column in ("n", "N", "uniformity", "chi")]
            totals.append((theorem_1(*track, own).total, theorem_1_as_stated(*track[:3], own).total))
        row = mixed[1]["policies"][name]
        assert [row["bound_corrected"], row["bound_stated"]] == pytest.approx(
            np.mean(totals, axis=0), rel=1e-12
        )


@pytest.mark.parametrize("after", [5, 10, 23])
def test_a_stopped_sweep_continues_to_the_same_numbers(mixed, tmp_path, after):
    with pytest.raises(Killed):
        run_study(with_policies(*MIXED), tmp_path / "stopped", progress=stop_at(after))
    assert run_study(out=tmp_path / "stopped", resume=True) == mixed[1]
    one, other = columns(mixed[0]), columns(tmp_path / "stopped")
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_sweep_can_be_extended_and_is_not_continued_with_other_values(tmp_path):
    names = ("constant@K=2", "constant@eta=0.1", "oracle@steps=1")
    run_study(with_policies(*names), tmp_path / "short")
    with pytest.raises(SettingError, match=r"policies is .* there and .* here"):
        run_study(with_policies("constant@K=3", *names[1:]), tmp_path / "short", resume=True)
    longer = Study.from_document({"rounds": 50}, with_policies(*names))
    extended = run_study(longer, tmp_path / "short", resume=True)
    assert extended == json.loads(json.dumps(run_study(longer, tmp_path / "long")))


def test_a_refused_variant_leaves_nothing_on_disk(tmp_path):
    with pytest.raises(SettingError, match="oracle keeps samples for 1 round"):
        run_study(with_policies("constant", "oracle@K=5"), tmp_path / "never")
    assert not list(tmp_path.iterdir())


class OneDescent(Module):
    """A model of a user's own, which knows one step size and one number of steps."""

    def update(self, theta, memory, descent):
        moved = torch.zeros_like(theta)
        for _ in range(descent.steps):
            moved = moved + descent.eta * super().update(theta, memory, type(descent)(1, 1.0))
        return moved


class Rigid(OneDescent):
    """One that will not train fewer runs than the study has."""

    def update(self, theta, memory, descent):
        if len(theta) != 4:
            raise ValueError("all 4 runs or none")
        return super().update(theta, memory, descent)


def test_a_users_own_model_trains_a_sweep_and_says_so_if_it_cannot(tmp_path):
    def network(kind):
        return lambda population: kind(torch.nn.Linear(8, 2), population)

    small = Study.from_document({"steps": 1}, with_policies("constant@eta=0.1", "constant@eta=0.4"))
    found = [
        run_study(small, tmp_path / kind.__name__, dataset=blobs(), model=network(kind))
        for kind in (OneDescent, Module)
    ]
    for name in small.policies:
        mine, theirs = (summary["policies"][name]["final_risk"]["mean"] for summary in found)
        assert mine == pytest.approx(theirs, rel=1e-9)
    with pytest.raises(SettingError, match="failed in a first round: ValueError: all 4 runs or none"):
        run_study(small, tmp_path / "never", dataset=blobs(), model=network(Rigid))
    assert not (tmp_path / "never").exists()
    alike = with_policies("constant@K=2", "constant@K=4")
    run_study(alike, tmp_path / "alike", dataset=blobs(), model=network(Rigid))


def test_a_policy_handed_over_with_variants_in_the_study_is_not_run_plainly_too(tmp_path):
    study = with_policies("mine@K=2", "mine@K=4")
    summary = run_study(study, tmp_path / "own", policies={"mine": BUILT_IN["constant"]})
    assert list(summary["policies"]) == ["mine@K=2", "mine@K=4"]
    assert [row["retention"] for row in summary["policies"].values()] == [[2], [4]]
