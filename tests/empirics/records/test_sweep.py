"""Whole studies whose policies have settings of their own."""

import json

import numpy as np
import pytest

from empirics.control.registry import BUILT_IN
from empirics.run import run_study
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.problem import make_problem
from tests.empirics.small import blobs, columns
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


def train(out, *names, **given):
    return run_study(Study.from_document({"policies": list(names)} | given, BASE), out, dataset=blobs())


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep") / "mixed"
    return out, train(out, *MIXED)


def test_a_variant_with_the_studys_own_values_gives_the_rows_of_the_policy_itself(tmp_path):
    names = {"acdpp": "acdpp@K=10,eta=0.5,steps=2", "constant": "constant@K=10", "hybrid": "hybrid@eta=0.5"}
    plain, varied = train(tmp_path / "plain", *names), train(tmp_path / "varied", *names.values())
    for name, variant in names.items():
        assert varied["policies"][variant] == plain["policies"][name]
    one, other = columns(tmp_path / "plain"), columns(tmp_path / "varied")
    assert set(other["policy"]) == set(names.values())
    assert all(np.array_equal(one[name], other[name]) for name in one if name != "policy")


def test_both_bounds_of_a_variant_are_theorys_with_its_own_constants(mixed):
    table, study = columns(mixed[0]), with_policies(*MIXED)
    constants = calibrate(make_problem(study, dataset=blobs())).constants
    for name in MIXED:
        own = study.constants_of(name, constants)
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
    with pytest.raises(SettingError, match=r"policies is .* there and .* here"):
        run_study(with_policies("constant@K=3", *names[1:]), out, resume=True, dataset=blobs())
    extended = run_study(with_policies(*names), out, resume=True, dataset=blobs())
    assert extended == json.loads(json.dumps(train(tmp_path / "long", *names)))


def test_a_policy_handed_over_with_variants_in_the_study_is_not_run_plainly_too(tmp_path):
    study = with_policies("mine@K=2", "mine@K=4")
    own = {"mine": BUILT_IN["constant"]}
    summary = run_study(study, tmp_path / "own", dataset=blobs(), policies=own)
    assert list(summary["policies"]) == ["mine@K=2", "mine@K=4"]
    assert [row["retention"] for row in summary["policies"].values()] == [[2], [4]]
