"""The page on the learner says what was measured."""

import json
import math
from pathlib import Path

import pytest

from benchmarks import averaged_networks
from benchmarks.learner import _said, split, table
from empirics.settings.policy_name import PolicyName

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "learner.md").read_text(encoding="utf-8")
STUDIES = ("digits-500", "digits-3000", "mnist-1000", "mnist-3000")


def result(name):
    return json.loads((ROOT / "docs" / "results" / f"learner-{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", STUDIES)
def test_the_tables_are_those_of_the_result_files(name):
    assert split(result(name)) in PAGE


def test_what_is_quoted_of_uniform_prices_is_what_was_measured():
    assert table(result("digits-3000")["studies"]["uniform"]) in PAGE


def ours(study):
    """Of our learner as it is, before what is changed of it, by policy."""
    found = {}
    for key, row in study["policies"].items():
        if "average" in PolicyName(key).own:
            found.setdefault(PolicyName(key).base, row)
    return found


def test_how_near_the_bound_it_comes_is_what_was_measured():
    page = " ".join(PAGE.split())
    long, short = (result(f"digits-{rounds}")["studies"] for rounds in (3000, 500))
    assert ours(long["uniform"])["taper"]["final_over_bound"] <= 1.3
    for policy in ("taper", "taper-online"):
        each = [ours(study)[policy]["final_over_bound"] for study in long.values()]
        assert f"{ours(long['uniform'])[policy]['final_over_bound']:.2f} times" in page
        assert f"{min(each):.2f} to {max(each):.2f}" in page
    last = [ours(short["uniform"])[policy]["final_over_bound"] for policy in ("taper", "taper-online")]
    assert "After 500 rounds it is {:.2f} and {:.2f}".format(*last) in page
    bought = [ours(long["uniform"])[policy]["samples"] for policy in ("taper-online", "taper")]
    assert "buys {:,.0f} where `taper` buys {:,.0f}".format(*bought) in page


def test_tiny_buffers_need_the_law_of_prices_in_few_rounds():
    study = result("digits-500")["studies"]["tiny"]
    oracle = study["policies"]["oracle"]["cumulative_excess_risk"]
    said = _said(ours(study)["taper"]["cumulative_excess_risk"], 1), _said(oracle, 1)
    assert f"has less ({' against '.join(said)})" in " ".join(PAGE.split())
    blind = ours(study)["taper-online"]["cumulative_excess_risk"]
    assert oracle["low"] < blind["high"]  # the intervals overlap


def test_what_is_said_of_mnist_is_what_was_measured():
    page = " ".join(PAGE.split())
    long, short = (result(f"mnist-{rounds}")["studies"] for rounds in (3000, 1000))
    final = [ours(long["uniform"])[one]["final_over_bound"] for one in ("taper", "taper-online")]
    assert "is {:.2f} times the lower bound for `taper` and {:.2f} for".format(*final) in page
    for studies, words in (
        (long, "and {} and {} over the seven kinds"),
        (short, "after 1,000 rounds it is {} and {}."),
    ):
        each = (
            [ours(s)[one]["final_over_bound"] for s in studies.values()] for one in ("taper", "taper-online")
        )
        assert words.format(*(f"{min(some):.2f} to {max(some):.2f}" for some in each)) in page
    tiny = ours(short["tiny"])["taper"], short["tiny"]["policies"]["oracle"]
    both = (f"{row['cumulative_excess_risk']['mean']:.1f}" for row in tiny)
    assert f"does ({' against '.join(both)})" in page
    early, late = (
        ours(s["uniform"])["taper-online"]["cumulative_excess_risk"]["mean"] for s in (short, long)
    )
    assert 0.85 < early / late < 0.95  # nine tenths


@pytest.mark.parametrize("network", ["lenet", "resnet9"])
def test_the_tables_of_networks_are_those_of_the_result_files(network):
    assert averaged_networks.table(result(network)) in PAGE


@pytest.mark.parametrize("name", STUDIES)
def test_below_the_paper_s_oracle_at_a_tenth_of_its_cost_whatever_the_prices(name):
    for prices, study in result(name)["studies"].items():
        rows = {
            (PolicyName(key).base, "average" in PolicyName(key).own): row
            for key, row in study["policies"].items()
        }
        knowing = prices == "tiny" and name in ("digits-500", "mnist-1000")  # as the page says
        best = "taper" if knowing else "taper-online"
        ours, oracle = rows[best, True], rows["oracle", False]
        assert ours["cumulative_excess_risk"]["high"] < oracle["cumulative_excess_risk"]["low"]
        assert ours["mean_cost"] < 0.105 * oracle["mean_cost"]
        assert ours["gradients"] < 0.3 * oracle["gradients"]


def test_predicted_over_measured_is_what_is_on_record():
    found = {name: result(f"predicted-{name}")["studies"] for name in ("digits-500", "mnist-1000")}
    ratios = {
        (name, prices, PolicyName(key).base): row["over_measured"]
        for name, studies in found.items()
        for prices, study in studies.items()
        for key, row in study["policies"].items()
    }
    for (name, prices, policy), over in ratios.items():
        row = f"| {name} | {policy} | {over['cumulative']:.2f} | {over['final']:.2f} |"
        assert row in PAGE or prices == "drifting"
    off = {one: over["cumulative"] - 1 for one, over in ratios.items()}
    within = {"digits-500": 0.05, "mnist-1000": 0.1}
    far = [one for one, by in off.items() if abs(by) > within[one[0]]]
    assert far == [("digits-500", "uniform", "constant"), ("mnist-1000", "drifting", "burst")]
    others = [1 + by for (_, prices, policy), by in off.items() if prices == "drifting" and policy != "burst"]
    assert f"{min(others):.2f} to {max(others):.2f}, and {1 + off[far[1]]:.2f}." in PAGE


def test_how_long_a_prediction_takes_is_what_was_measured():
    page = " ".join(PAGE.split())
    studies = result("predicted-mnist-1000")["studies"].values()
    rows = [(study, row) for study in studies for row in study["policies"].values()]
    took = [study["survey_seconds"] + row["seconds"] for study, row in rows]
    trained = [study["training_seconds_a_policy"] for study in studies]
    assert f"took {min(took):.0f} to {max(took):.0f} s" in page
    assert f"would take {trained[0]:,.0f} s" in page
    assert max(took) < 0.1 * min(trained)
    off = max(abs(row["over_measured"]["final"] - 1) for _, row in rows)
    assert f"Final risk is within {math.ceil(100 * off)} %." in page
