"""`acdpp buy` as a user meets it: numbers, files of prices."""

import json
import math
from fractions import Fraction

import pytest

from acdpp.buy import buying_design, price_law
from tests.acdpp.program import acdpp, answer
from theory.market.knapsack import purchase_limit
from theory.market.long_run import best_plan, burst_plan, online_plan
from theory.market.prices import Atoms, Uniform
from theory.setting import Budget

PAPER = (8, 9, 10, 11, 12, 8, 9, 10, 11, 12)
ASKED = ("policy", "threshold", "burst", "rate", "effective_rate", "limit_rate", "cost")
LAWS = {
    "uniform": Uniform(1.0, 10.0),
    "integer": Atoms.of(range(1, 11)),
    "two": Atoms.of([1, 10]),
    "one": Atoms.of([3]),
    "trace": Atoms.of([2.0, 2.5, 9.75, 1.25, 1.25, 30.0]),
}


def designed(law, budget=55, online=False, buffers=PAPER, a=None):
    setting = Budget(buffers=tuple(buffers), cost=budget, mean_cost=law.mean)
    return buying_design(setting, law, a, online=online)


def test_the_paper_s_budgets_on_the_command_line():
    document = answer("buy", "--cost", "uniform:1:10")
    assert list(document)[: len(ASKED)] == list(ASKED)
    theta = math.sqrt(1 + 2 * 9 * 0.55)  # of the knapsack, by hand
    assert document["limit_rate"] == pytest.approx(100 * (theta - 1) / 9, rel=1e-12)
    assert round(document["limit_rate"], 2) == 25.57
    assert document["limit"]["threshold"] == pytest.approx(theta, rel=1e-12)
    assert document["cost"] == pytest.approx(55, rel=1e-9)
    assert document["policy"] == "buy-cheap"
    assert document["burst"] == document["places"] == 100
    assert 10 < document["effective_rate"] < document["rate"] < document["limit_rate"]
    rate, r = document["rate"], document["effective_rate"]
    gain = {"rate": rate / 10, "effective_rate": r / 10}
    gain |= {"gap_to_oracle_closed": (1 / 10 - 1 / r) / (1 / 10 - 1 / 100)}
    assert document["gain"] == pytest.approx(gain)
    assert document["thresholds"] == sorted(document["thresholds"])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("online", [False, True])
def test_the_document_is_the_plan(name, online):
    law, a = LAWS[name], 0.5
    document, best = designed(law, online=online, a=str(a)), best_plan(law, 100, 55.0, a)
    plan = online_plan(law, 100, 55.0) if online else best
    assert document["thresholds"] == list(plan.thresholds)
    wanted = {field: getattr(plan, field) for field in ASKED[1:] if field != "limit_rate"}
    wanted["limit_rate"] = float(purchase_limit(law, 100, 55.0).rate)
    assert {field: document[field] for field in wanted} == wanted
    assert document["noise"] == {"contraction": a, "of_plan": plan.noise(a), "of_best": best.noise(a)}
    for row in document["bursts"]:
        assert row == {"parts": row["parts"], **vars(burst_plan(law, 100, 55.0, row["parts"]))}
        assert row["burst"] == 100 / row["parts"]
    assert "noise" not in designed(law, online=online)


def test_budgets_at_which_a_threshold_falls_onto_a_price_are_spent_too():
    """Exact thresholds were once rounded to the wrong side of a price, or the dearest price was left out."""
    dice = LAWS["integer"]
    for budget in (8.684886330251203, 8.837553477621677):
        assert best_plan(dice, 100, budget).cost == pytest.approx(budget, rel=1e-9)
    for law, budget in ((LAWS["one"], 253.0021040978326), (LAWS["two"], 233.93773855709765)):
        assert online_plan(law, 100, budget).cost == pytest.approx(budget, rel=1e-9)


def test_whole_prices_are_what_a_file_of_them_says(tmp_path):
    file = tmp_path / "prices.csv"
    file.write_text("day,price\n" + "".join(f"{day},{1 + day % 10}\n" for day in range(30)))
    words = ("buy", "--online", "--budget", "40", "--buffers", "30,40")
    drawn = answer(*words, "--cost", "integer:1:10")
    read = answer(*words, "--cost", f"csv:{file},column=price")
    assert drawn["policy"] == "buy-cheap-online"
    assert [read[name] for name in ASKED[1:]] == pytest.approx([drawn[name] for name in ASKED[1:]], rel=1e-9)
    assert read["prices"] == {"lowest": 1, "mean": pytest.approx(5.5), "highest": 10}
    # S·(1·1 + 1·2 + …)/10 up to the price at which the money is gone: 7·(1 + 2 + 3) = 42
    assert drawn["limit"]["threshold"] == 3
    assert drawn["limit_rate"] == pytest.approx(7 + 7 + (40 - 21) / 3)


def test_at_one_price_there_is_nothing_to_gain():
    for online in (False, True):
        document = designed(price_law("5.5"), online=online)
        gain = {"rate": 1, "effective_rate": 1, "gap_to_oracle_closed": 0}
        assert document["gain"] == pytest.approx(gain, abs=1e-9)
        assert document["limit_rate"] == pytest.approx(10)
    assert price_law("uniform:3:3") == price_law("3")


@pytest.mark.parametrize("online", [False, True])
def test_with_money_for_every_price_memory_binds_and_all_are_the_oracle(online):
    for budget in (550, 5000):
        document = designed(LAWS["uniform"], budget, online)
        assert document["limit"]["binds"] == "memory"
        assert document["limit_rate"] == document["constant"]["rate"] == 100
        wanted = {"rate": 100, "effective_rate": 100, "cost": 550}
        assert {name: document[name] for name in wanted} == pytest.approx(wanted)
        assert document["gain"]["gap_to_oracle_closed"] is None


def test_other_prices_are_what_they_are_called():
    found = {row["prices"]: row for row in designed(LAWS["uniform"])["other_prices"]}
    laws = {
        "20 % higher": Uniform(1.2, 12),
        "20 % lower": Uniform(0.8, 8),
        "half as spread": Uniform(3.25, 7.75),
        "all the mean": Atoms.of([5.5]),
    }
    assert found.keys() == laws.keys()
    for words, law in laws.items():
        there = best_plan(LAWS["uniform"], 100, 55).met_with(law)
        best, online = (one(law, 100, 55).effective_rate for one in (best_plan, online_plan))
        wanted = {"cost": there.cost, "effective_rate": there.effective_rate}
        wanted |= {"best_effective_rate": best, "online_effective_rate": online}
        assert {name: found[words][name] for name in wanted} == pytest.approx(wanted)


def test_the_answer_names_its_rule_and_the_bound_and_what_binds_and_the_noise_if_asked():
    rich = "--online --budget 5000 --contraction 0.9"
    for words, facts in {
        "": ["buy-cheap: 100 places", "no policy buys more than 25.57"],
        rich: ["buy-cheap-online: 100 places", "the memory binds", "stationary noise at contraction 0.9"],
    }.items():
        text = " ".join(acdpp("buy", "--cost", "uniform:1:10", *words.split()).stdout.split())
        assert [fact for fact in facts if fact not in text] == []
        assert ("the memory binds" in text, "stationary noise" in text) == (words == rich,) * 2


def test_what_is_printed_is_the_document(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    words = ("buy", "--online", "--cost", "uniform:1:10", "--contraction", "0.9")
    document, printed = answer(*words), acdpp(*words).stdout
    steps, noise, gain = document["thresholds"], document["noise"], document["gain"]
    assert len(steps) > 12
    assert noise["of_plan"] > noise["of_best"]
    rows = {line.split("  ")[0].strip(): line.split()[-4:] for line in printed.splitlines()}
    for one in document["bursts"]:
        wanted = [f"{one[name]:.4g}" for name in ("threshold", "rate", "effective_rate", "cost")]
        assert rows[f"{one['burst']:.4g} at a time"] == wanted
    for one in document["other_prices"]:
        numbers = (one[f"{of}effective_rate"] for of in ("", "best_", "online_"))
        assert rows[one["prices"]] == [f"{number:.4g}" for number in (one["cost"], *numbers)]
    for fact in (
        f"1, 2, … times at prices up to {', '.join(f'{price:.3g}' for price in steps[:12])}, …",
        f"{document['rate']:.4g} samples per round, {document['effective_rate']:.4g} effective, for 55",
        f"0.9: {noise['of_plan']:.4g} of a sample's variance, {noise['of_best']:.4g} at best",
        f"{gain['rate']:.3g} times the samples, {gain['effective_rate']:.3g} times the effective",
    ):
        assert fact in printed


def test_fractions_of_a_place_are_numbers_in_json():
    document = designed(LAWS["uniform"], 2, buffers=(Fraction(1, 2), 3))
    assert json.loads(json.dumps(document))["places"] == 3.5
