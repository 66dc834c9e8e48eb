"""What studies say of their policies: bounds with a policy's own settings, and shares of the gap to the oracle."""

import json

import numpy as np
import pytest
from scipy import stats

from empirics.control.registry import BUILT_IN
from empirics.results.oracle_gap import gap_closed
from empirics.run import run_study
from tests.empirics.small import blobs, refused, study

MIXED = ("constant", "acdpp@K=6", "acdpp@eta=0.1,steps=2", "constant@steps=1", "hybrid@K=3", "oracle")


def with_policies(*names, **given):
    return study(seeds=2, policies=names, predict=False, **given)


def train(out, *names, **given):
    return run_study(with_policies(*names, **given), out, dataset=blobs())


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep") / "mixed"
    return out, train(out, *MIXED)


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
    upwards = gap_closed(ENDS, -np.array([constant, oracle, mine]))["mine"]  # as accuracies count
    assert upwards["share"] == found["share"]
    assert found["p"] == pytest.approx(stats.ttest_rel(constant, mine).pvalue)


def test_without_a_gap_or_an_end_there_is_no_share_and_none_of_what_has_no_number():
    assert gap_closed(ENDS, np.array([[1.0], [2.0], [1.5]])) is None  # one seed
    assert gap_closed(ENDS, np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])) is None
    assert gap_closed(["constant", "mine"], np.ones((2, 3))) is None
    values = np.array([[4.0, 4.2, 4.1], [2.0, 2.2, 2.2], [3.0, np.nan, 3.1], [3.0, 3.2, 3.3]])
    assert set(gap_closed([*ENDS[:2], "lost", "mine"], values)) == {"mine"}
    values[0, 1] = np.nan
    assert gap_closed([*ENDS[:2], "lost", "mine"], values) is None
