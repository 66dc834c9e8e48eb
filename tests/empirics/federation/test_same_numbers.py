"""A federation and the batched engine: the same admissions to the last sample, the same parameters to rounding."""

import numpy as np
import pytest

from empirics.records.folder import read_result
from empirics.run import run_study
from tests.empirics.federation.wire import federate, small

EXACT = ("policy", "seed", "round", "cost", "admitted", "n", "N", "debt", "overflow")
NEAR = ("N_eff", "uniformity", "chi", "stated_mismatch", "risk", "excess_risk", "accuracy")
CASES = {  # every policy, with some setting that matters to clients
    "acdpp": {"radius": None, "dtype": "float32"},
    "acdpp-capped": {"replacement": False, "per_class": 9},
    "buy-cheap-online": {"weights": "samples", "momentum": 0.5},
    "hybrid": {"alpha": (0.5, 0.3, 0.2)},
    "released": {},
    "constant@K=3,eta=0.1": {},
}


@pytest.mark.parametrize("policy", CASES)
def test_every_policy_and_every_setting(policy, tmp_path):
    study = small(policy, rounds=12, steps=3, partition="two-class", labels="classes", **CASES[policy])
    federate(study, tmp_path)
    run_study(study, tmp_path / "batched")
    places = [tmp_path / name for name in ("result", "batched")]
    thetas = [np.load(next(place.glob("state-*.npz")))["theta"] for place in places]
    if study.dtype == "float32":
        assert np.allclose(*thetas, rtol=1e-4, atol=1e-6)
        return
    assert np.allclose(*thetas, rtol=1e-10, atol=1e-13)
    found, wanted = map(read_result, places)
    assert found.rows.column_names == wanted.rows.column_names
    for name in EXACT:
        assert found.rows[name].to_pylist() == wanted.rows[name].to_pylist(), name
    for name in set(NEAR) & set(found.rows.column_names):
        assert np.allclose(found.rows[name], wanted.rows[name], rtol=1e-9, atol=1e-12), name
    mine, theirs = (result.summary["policies"][policy] for result in (found, wanted))
    for name in ("mean_cost", "distinct_samples", "largest_debt", "largest_occupancy", "retention"):
        assert mine[name] == theirs[name]
    assert mine["bound_corrected"] == pytest.approx(theirs["bound_corrected"])
