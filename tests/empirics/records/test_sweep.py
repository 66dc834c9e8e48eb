"""Whole studies whose policies have settings of their own."""

import json

import numpy as np
import pytest

from empirics.control.registry import BUILT_IN
from empirics.run import run_study
from empirics.training.constants import calibrate
from tests.empirics.small import blobs, columns, problem, refused, study
from theory.bound import theorem_1, theorem_1_as_stated

MIXED = ("constant", "acdpp@K=6", "acdpp@eta=0.1,steps=2", "constant@steps=1", "hybrid@K=3", "oracle")


def with_policies(*names, **given):
    return study(seeds=2, policies=names, predict=False, **given)


def train(out, *names, **given):
    return run_study(with_policies(*names, **given), out, dataset=blobs())


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep") / "mixed"
    return out, train(out, *MIXED)


def test_a_variant_with_the_studys_own_values_gives_the_rows_of_the_policy_itself(tmp_path):
    names = {"acdpp": "acdpp@K=4,eta=0.5,steps=3", "constant": "constant@K=4", "hybrid": "hybrid@eta=0.5"}
    plain, varied = train(tmp_path / "plain", *names), train(tmp_path / "varied", *names.values())
    for name, variant in names.items():
        assert varied["policies"][variant] == plain["policies"][name]
    one, other = columns(tmp_path / "plain"), columns(tmp_path / "varied")
    assert set(other["policy"]) == set(names.values())
    assert all(np.array_equal(one[name], other[name]) for name in one if name != "policy")


def test_both_bounds_of_a_variant_are_theorys_with_its_own_constants(mixed):
    table, given = columns(mixed[0]), with_policies(*MIXED)
    constants = calibrate(problem(given)).constants
    for name in MIXED:
        own = given.constants_of(name, constants)
        totals = []
        for seed in range(2):
            mine = (table["policy"] == name) & (table["seed"] == seed)
            track = [table[column][mine].astype(float) for column in ("n", "N", "uniformity", "chi")]
            totals.append((theorem_1(*track, own).total, theorem_1_as_stated(*track[:3], own).total))
        row = mixed[1]["policies"][name]
        found = [row["bound_corrected"], row["bound_stated"]]
        assert found == pytest.approx(np.mean(totals, axis=0), rel=1e-12)


def test_a_sweep_can_be_extended_and_is_not_continued_with_other_values(tmp_path):
    names, out = ("constant@K=2", "constant@eta=0.1", "oracle@steps=1"), tmp_path / "short"
    train(out, *names, rounds=15)
    other = with_policies("constant@K=3", *names[1:])
    assert "policies is " in refused(run_study, other, out, resume=True, dataset=blobs())
    extended = run_study(with_policies(*names), out, resume=True, dataset=blobs())
    assert extended == json.loads(json.dumps(train(tmp_path / "long", *names)))


def test_a_policy_handed_over_with_variants_in_the_study_is_not_run_plainly_too(tmp_path):
    own = {"dataset": blobs(), "policies": {"mine": BUILT_IN["constant"]}}
    summary = run_study(with_policies("mine@K=2", "mine@K=5"), tmp_path / "own", **own)
    assert list(summary["policies"]) == ["mine@K=2", "mine@K=5"]
    assert [row["retention"] for row in summary["policies"].values()] == [[2], [5]]
