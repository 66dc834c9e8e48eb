"""The page on the learner says what was measured."""

import json
from pathlib import Path

import pytest

from benchmarks.learner import split, table
from empirics.settings.policy_name import PolicyName

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "learner.md").read_text(encoding="utf-8")
STUDIES = ("digits-500", "digits-3000")


def result(name):
    return json.loads((ROOT / "docs" / "results" / f"learner-{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", STUDIES)
def test_the_tables_are_those_of_the_result_files(name):
    assert split(result(name)) in PAGE


def test_what_is_quoted_of_uniform_prices_is_what_was_measured():
    assert table(result("digits-3000")["studies"]["uniform"]) in PAGE


@pytest.mark.parametrize("name", STUDIES)
def test_below_the_paper_s_oracle_at_a_tenth_of_its_cost_whatever_the_prices(name):
    for study in result(name)["studies"].values():
        rows = {
            (PolicyName(key).base, "average" in PolicyName(key).own): row
            for key, row in study["policies"].items()
        }
        ours, oracle = rows["taper-online", True], rows["oracle", False]
        assert ours["cumulative_excess_risk"]["high"] < oracle["cumulative_excess_risk"]["low"]
        assert ours["mean_cost"] < 0.105 * oracle["mean_cost"]
        assert ours["gradients"] < 0.3 * oracle["gradients"]
