"""The page on buying cheap says what was measured and what theory has."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.buying import spiky, table
from empirics.settings.study import Study
from theory.market.capacity import effective_rate
from theory.market.knapsack import purchase_limit
from theory.market.long_run import best_plan, burst_plan, gap_closed, online_plan
from theory.market.online import age_ceiling, purchase_drift, reserve_weight
from theory.market.prices import Atoms, Uniform
from theory.market.sticky import best_sticky_replacement

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "buying-cheap.md").read_text(encoding="utf-8")
TOLD = " ".join(PAGE.split())
STUDIES = ("digits-500", "digits-3000", "mnist-100", "mnist-1000")
PRICES = Uniform(1.0, 10.0)


@cache
def result(name):
    return json.loads((ROOT / "docs" / "results" / f"buying-{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("policy", ["buy-cheap-online", "acdpp"])
def test_the_tables_are_those_of_the_result_files(policy):
    assert table([result(name) for name in STUDIES], policy) in PAGE


def test_final_accuracy_is_shown_too():
    studies = [result(name) for name in ("mnist-100", "mnist-1000")]
    assert table(studies, "buy-cheap-online", "final_accuracy") in PAGE


def share(name, policy, measure, prices="uniform"):
    one = result(name)["studies"][prices]["gap_closed"][measure][policy]
    return f"{100 * one['share']:.0f} % ({100 * one['low']:.0f} to {100 * one['high']:.0f})"


def test_the_page_quotes_what_it_does_not_tabulate():
    more = []
    for name in STUDIES:
        measure = "cumulative_excess_risk" if "digits" in name else "mean_accuracy"
        assert share(name, "constant-filled", measure) in TOLD
        assert share(name, "constant-filled", measure) == share(name, "constant-filled", measure, "markov")
        for prices, study in result(name)["studies"].items():
            closed = study["gap_closed"][measure]
            more.append(100 * (closed["buy-cheap"]["share"] - closed["buy-cheap-online"]["share"]))
            small = prices == "narrow" or (prices, name) == ("tiny", "digits-500")
            assert small or closed["buy-cheap-online"]["p"] < 1e-4, (name, prices)
    assert f"between {-min(more):.0f} points less and {max(more):.0f} points more" in TOLD
    for measure in ("cumulative_excess_risk", "mean_accuracy"):
        assert share("mnist-iid", "buy-cheap-online", measure) in TOLD
    assert result("digits-500")["studies"]["uniform"]["gap_closed"]["final_accuracy"] is None
    policies = result("digits-3000")["studies"]["markov"]["policies"]
    known, online = (
        policies[name]["effective_samples"]["mean"] for name in ("buy-cheap", "buy-cheap-online")
    )
    assert f"the online rule got {online / 3000:.1f} in 3,000 rounds" in TOLD
    assert known < online


def test_the_guarantee_passes_constant_admission_when_the_page_says():
    def guaranteed(T):
        reserve, drift = 2 / 3 * T**0.5 * 55, purchase_drift(100, 55, 10)
        limit = float(purchase_limit(PRICES, 100, 55).rate)
        weight = reserve_weight(reserve, 100, 55)
        oldest = age_ceiling(limit, 100, weight, drift, debt=reserve + 945, rounds=T, ages=100)
        return effective_rate(100, oldest)

    assert guaranteed(250_000) < 10 < guaranteed(350_000)
    assert "some 300,000 rounds" in TOLD


def test_costs_are_as_near_to_the_budget_as_the_page_says():
    for name in STUDIES:
        for prices, study in result(name)["studies"].items():
            budget = 8.25 if prices == "tiny" else 55
            off = study["policies"]["buy-cheap-online"]["mean_cost"]["mean"] / budget - 1
            assert abs(off) < (0.04 if name == "mnist-100" else 0.01), (name, prices)


def test_the_rates_are_those_of_theory():
    best, online = best_plan(PRICES, 100, 55), online_plan(PRICES, 100, 55)
    whole, halves = (burst_plan(PRICES, 100, 55, parts) for parts in (1, 2))
    rows = [
        f"| replace all at prices up to 3.30 | {whole.rate:.2f} |",
        f"| {whole.effective_rate:.2f} |",
        f"| {halves.rate:.2f} | {halves.effective_rate:.2f} |",
        f"| {online.rate:.2f} | {online.effective_rate:.2f} |",
        f"| {best.rate:.2f} | **{best.effective_rate:.2f}** |",
        f"**{float(purchase_limit(PRICES, 100, 55).rate):.2f}** distinct samples",
        "| " + " | ".join(f"{best.thresholds[j - 1]:.2f}" for j in (1, 2, 3, 4, 5, 6, 8, 10, 12)) + " |",
    ]
    for row in rows:
        assert row in PAGE


def test_where_it_gains_little_is_what_theory_says():
    sticky, _ = best_sticky_replacement(Atoms.of((np.arange(20) + 0.5) * 0.45 + 1), 0.9, 100, 55, ages=64)
    assert f"beyond {sticky:.1f} effective" in PAGE
    assert f"{best_plan(Uniform(5.0, 6.0), 100, 55).effective_rate:.1f} at best" in PAGE
    plenty = best_plan(Uniform(4.0, 7.0), 100, 400).effective_rate / (400 / 5.5)
    assert f"has {plenty:.2f} of constant" in PAGE
    assert 0.5 < burst_plan(Atoms.of([5.5]), 100, 55, 1).effective_rate / 10 < 0.55  # half, says the page


def test_how_near_it_comes_to_the_limit_and_to_its_prediction():
    best = best_plan(PRICES, 100, 55).effective_rate
    limit = float(purchase_limit(PRICES, 100, 55).rate)
    assert f"it is {100 * best / limit:.0f} % of what money buys" in PAGE
    assert f"{100 * gap_closed(best, 10, 100):.1f} % of the way from constant admission" in TOLD
    found = json.loads((ROOT / "acdpp" / "report" / "prediction-digits-500.json").read_text(encoding="utf-8"))
    times = found["policies"]["buy-cheap-online"]["predicted_over_measured"]
    assert f"{times:.2f} times the measured" in TOLD


def test_spiky_prices_are_five_times_as_high_in_one_round_of_five():
    prices = spiky(Study(rounds=2000, seeds=3))
    assert prices.mean() == pytest.approx(5.49)
    high = prices > 2.5 * np.median(prices)
    assert high.mean() == pytest.approx(0.2, abs=0.02)
    assert prices[high].mean() / prices[~high].mean() == pytest.approx(5, rel=0.05)
