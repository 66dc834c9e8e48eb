"""A federation and the batched engine: the same admissions to the last sample, the same parameters to rounding."""

from dataclasses import replace

import numpy as np
import pytest

from empirics.records.folder import read_result
from empirics.run import run_study
from tests.empirics.federation.wire import federate, federated, small
from theory.setting import SettingError

EXACT = ("policy", "seed", "round", "cost", "admitted", "n", "N", "debt", "overflow")
NEAR = ("N_eff", "uniformity", "chi", "stated_mismatch", "risk", "excess_risk", "accuracy")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small(tmp_path_factory.mktemp("data"), rounds=12, steps=3, partition="two-class", labels="classes")


def thetas(place):
    return [np.load(next((place / name).glob("state-*.npz")))["theta"] for name in ("result", "batched")]


def same(study, place):
    """Their summaries, once the rows and the parameters are the same."""
    federate(study, place)
    run_study(study, place / "batched")
    found, wanted = (read_result(place / name) for name in ("result", "batched"))
    assert found.rows.column_names == wanted.rows.column_names
    for name in EXACT:
        assert found.rows[name].to_pylist() == wanted.rows[name].to_pylist(), name
    for name in set(NEAR) & set(found.rows.column_names):
        assert np.allclose(found.rows[name], wanted.rows[name], rtol=1e-9, atol=1e-12), name
    assert np.allclose(*thetas(place), rtol=1e-10, atol=1e-13)
    return found.summary["policies"], wanted.summary["policies"]


@pytest.mark.parametrize("policy", ["acdpp-capped", "buy-cheap-online", "hybrid", "released"])
def test_every_policy(study, policy, tmp_path):
    found, wanted = (policies[policy] for policies in same(federated(study, policy), tmp_path))
    for name in ("mean_cost", "distinct_samples", "largest_debt", "largest_occupancy", "retention"):
        assert found[name] == wanted[name]
    assert found["bound_corrected"] == pytest.approx(wanted["bound_corrected"])


@pytest.mark.parametrize(
    "changes",
    [
        {"replacement": False, "per_class": 9},
        {"weights": "samples", "momentum": 0.5},
        {"alpha": (0.5, 0.3, 0.2)},
        {"radius": None, "dtype": "float32"},
    ],
    ids=lambda changes: ",".join(changes),
)
def test_every_setting(study, changes, tmp_path):
    study = federated(replace(study, **changes), "acdpp")
    if changes.get("dtype") == "float32":
        federate(study, tmp_path)
        run_study(study, tmp_path / "batched")
        assert np.allclose(*thetas(tmp_path), rtol=1e-4, atol=1e-6)
    else:
        same(study, tmp_path)


def test_a_policy_with_its_own_steps(study, tmp_path):
    same(federated(study, "constant@K=3,eta=0.1"), tmp_path)


def test_a_study_of_several_policies_is_no_federation(study):
    with pytest.raises(SettingError, match="a federation runs one policy, not 2: say which"):
        federated(replace(study, policies=("constant", "acdpp")))
