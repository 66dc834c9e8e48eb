"""The figures of a result show what its table and its summary say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from figures import constraints, learning, measured_mismatch, risk_vs_bound
from figures.measured import Measured, read
from theory.reuse import trajectory
from theory.setting import SettingError


@pytest.fixture(scope="module")
def measured(result: Path) -> Measured:
    return read(result)


@pytest.fixture(scope="module")
def summary(result: Path) -> dict[str, Any]:
    policies: dict[str, Any] = json.loads((result / "summary.json").read_text())["policies"]
    return policies


def test_a_result_is_read_in_order(measured: Measured) -> None:
    assert measured.policies == ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid")
    assert measured["n"].shape == (5, 3, 30)
    assert not any(np.isnan(column).any() for column in measured.columns.values())
    path = trajectory(measured["admitted"][0, 0], 10)
    assert measured["n"][0, 0] == pytest.approx(path.n)
    assert measured["chi"][0, 0] == pytest.approx(path.mismatch, abs=1e-15)
    assert measured.total_buffer == 20


def test_risk_and_bounds_are_those_of_the_summary(measured: Measured, summary: dict[str, Any]) -> None:
    data = risk_vs_bound.compute(measured)
    assert data.T[-1] == 30
    for name, one in data.policies.items():
        assert one.measured.mean[-1] == pytest.approx(summary[name]["cumulative_excess_risk"]["mean"])
        assert one.corrected.mean[-1] == pytest.approx(summary[name]["bound_corrected"])
        assert one.stated.mean[-1] == pytest.approx(summary[name]["bound_stated"])


def test_learning_averages_each_run_over_its_bins(measured: Measured) -> None:
    data = learning.compute(measured)
    assert list(data.curves) == ["excess_risk", "accuracy"]
    assert data.at[0] == 1
    assert data.curves["accuracy"]["constant"].mean[0] == pytest.approx(measured["accuracy"][2, :, 0].mean())
    sizes = np.diff(np.append(np.unique(np.geomspace(1, 31, learning.BINS + 1).round())[:-1], 31))
    total = data.curves["excess_risk"]["oracle"].mean @ sizes
    assert total == pytest.approx(measured["excess_risk"][3].sum(axis=1).mean())


def test_the_measured_mismatch_is_set_against_chi(measured: Measured) -> None:
    data = measured_mismatch.compute(measured)
    one = data.policies["constant"]
    stated, chi = (measured[name][2, 0, -1] for name in ("stated_mismatch", "chi"))
    assert one.stated[-1] == pytest.approx(stated / chi)
    at_two = measured["mismatch"][2, :, 1] / (measured["variance"] * measured["chi"])[2, :, 1]
    assert one.ratio[0] == pytest.approx(at_two.mean())
    assert one.at[0] == 2
    # at K = 1 both expressions are the same
    assert data.policies["oracle"].stated == pytest.approx(np.ones(29))


def test_overspending_is_the_summary_s_violation(measured: Measured, summary: dict[str, Any]) -> None:
    data = constraints.compute(measured)
    for name, row in summary.items():
        over = data.curves["overspent"][name].mean[-1]
        assert max(over, 0) == pytest.approx(row["cost_violation"], abs=1e-9)
    assert data.curves["n"]["oracle"].mean == pytest.approx(np.full(30, 20.0))


def test_what_was_not_measured_cannot_be_drawn(measured: Measured) -> None:
    bare = replace(measured, columns={name: measured[name] for name in ("n", "N", "uniformity", "chi")})
    for figure in (risk_vs_bound, learning, measured_mismatch, constraints):
        with pytest.raises(SettingError, match="this result has n"):
            figure.compute(bare)
    only_accuracy = replace(bare, columns=bare.columns | {"accuracy": measured["accuracy"]})
    assert list(learning.compute(only_accuracy).curves) == ["accuracy"]


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no result"):
        read(tmp_path)
