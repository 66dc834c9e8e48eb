"""The share of the gap between constant admission and the oracle that a policy closes."""

import numpy as np
import pytest
from scipy import stats

from empirics.records.gap import gap_closed
from empirics.run import run_study
from tests.empirics.small import blobs, columns, study

ENDS = ["constant", "oracle", "mine"]


def test_the_share_is_a_ratio_of_means_with_a_paired_interval():
    drawn = np.random.default_rng(3)
    prices = drawn.normal(0, 5, 12)  # what all policies of a seed share cancels
    constant, oracle = 10 + prices, 8 + prices + drawn.normal(0, 0.1, 12)
    mine = 9 + prices + drawn.normal(0, 0.2, 12)
    found = gap_closed(ENDS, np.array([constant, oracle, mine]))["mine"]
    share = (constant - mine).mean() / (constant - oracle).mean()
    assert found["share"] == pytest.approx(share)
    residual = (constant - mine) - share * (constant - oracle)
    half = stats.t.ppf(0.975, 11) * stats.sem(residual) / (constant - oracle).mean()
    assert (found["low"], found["high"]) == pytest.approx((share - half, share + half))
    assert found["p"] == pytest.approx(stats.ttest_rel(constant, mine).pvalue)


def test_the_interval_contains_the_truth_as_often_as_it_says():
    drawn = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        noise = drawn.normal(0, [[0.3], [0.3], [0.3]], (3, 20))
        found = gap_closed(ENDS, np.array([[10.0], [8.0], [9.2]]) + noise)["mine"]
        hits += found["low"] <= 0.4 <= found["high"]
    assert 0.93 < hits / 1000 < 0.97


def test_accuracy_counts_upwards_and_risk_downwards():
    values = np.array([[0.8, 0.82], [0.9, 0.92], [0.85, 0.87]])
    assert gap_closed(ENDS, values)["mine"]["share"] == gap_closed(ENDS, -values)["mine"]["share"]


def test_without_a_gap_or_an_end_there_is_no_share_and_none_of_what_has_no_number():
    assert gap_closed(ENDS, np.array([[1.0], [2.0], [1.5]])) is None  # one seed
    assert gap_closed(ENDS, np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])) is None
    assert gap_closed(["constant", "mine"], np.ones((2, 3))) is None
    values = np.array([[4.0, 4.2, 4.1], [2.0, 2.2, 2.2], [3.0, np.nan, 3.1], [3.0, 3.2, 3.3]])
    assert set(gap_closed([*ENDS[:2], "lost", "mine"], values)) == {"mine"}
    values[0, 1] = np.nan
    assert gap_closed([*ENDS[:2], "lost", "mine"], values) is None


def test_a_study_says_what_it_costs_and_how_far_each_policy_gets(tmp_path):
    given = study(policies=("constant", "oracle", "buy-cheap-online"), seeds=12, rounds=40, predict=False)
    summary = run_study(given, tmp_path / "result", dataset=blobs())
    rows = summary["policies"]
    assert rows["oracle"]["distinct_samples"] == {"mean": 16.0 * 40, "error": 0.0}
    bought = rows["buy-cheap-online"]
    assert bought["effective_samples"]["mean"] < bought["distinct_samples"]["mean"]
    assert rows["oracle"]["mean_cost"]["mean"] > 3 * rows["constant"]["mean_cost"]["mean"]
    assert rows["constant"]["mean_cost"]["mean"] == pytest.approx(given.budget, rel=0.15)
    table = columns(tmp_path / "result")
    for name, row in rows.items():
        mine = table["policy"] == name
        assert 0.3 < row["mean_accuracy"]["mean"] <= row["best_accuracy"]["mean"]
        assert row["mean_accuracy"]["mean"] == pytest.approx(table["accuracy"][mine].mean())
        assert row["mean_cost"]["mean"] == pytest.approx((table["cost"] * table["admitted"])[mine].mean())
    assert summary["gap_closed"]["cumulative_excess_risk"] is not None
    for measure, closed in summary["gap_closed"].items():
        if closed is not None:
            constant, oracle, own = (rows[name][measure]["mean"] for name in given.policies)
            share = (constant - own) / (constant - oracle)
            assert closed["buy-cheap-online"]["share"] == pytest.approx(share)
