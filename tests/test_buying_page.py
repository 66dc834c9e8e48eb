"""The page on buying cheap says what was measured and what theory has."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.buying import table
from theory.buying_plan import best_plan, burst_plan, online_plan
from theory.knapsack import purchase_limit
from theory.prices import Atoms, Uniform
from theory.sticky import best_sticky_replacement

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "buying-cheap.md").read_text(encoding="utf-8")
STUDIES = ("digits-500", "digits-3000", "mnist-100", "mnist-1000")
PRICES = Uniform(1.0, 10.0)


def result(name):
    return json.loads((ROOT / "docs" / "results" / f"buying-{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("policy", ["buy-cheap-online", "acdpp"])
def test_the_tables_are_those_of_the_result_files(policy):
    assert table([result(name) for name in STUDIES], policy) in PAGE


@pytest.mark.parametrize("name", [*STUDIES, "mnist-iid"])
def test_every_result_names_its_command_and_hardware(name):
    found = result(name)
    assert found["command"].startswith("python -m benchmarks.buying")
    assert "cores" in found["hardware"]


def test_costs_are_as_near_to_the_budget_as_the_page_says():
    for name in STUDIES:
        for prices, study in result(name)["studies"].items():
            budget = 8.25 if prices == "tiny" else 55
            off = study["policies"]["buy-cheap-online"]["mean_cost"]["mean"] / budget - 1
            assert abs(off) < (0.04 if name == "mnist-100" else 0.01), (name, prices)


def test_the_rates_are_those_of_theory():
    best, online = best_plan(PRICES, 100, 55), online_plan(PRICES, 100, 55)
    rows = [
        f"| replace all at prices up to 3.30 | {burst_plan(PRICES, 100, 55, 1).rate:.2f} |",
        f"| {burst_plan(PRICES, 100, 55, 1).effective_rate:.2f} |",
        f"| {burst_plan(PRICES, 100, 55, 2).rate:.2f} | {burst_plan(PRICES, 100, 55, 2).effective_rate:.2f} |",
        f"| {online.rate:.2f} | {online.effective_rate:.2f} |",
        f"| {best.rate:.2f} | **{best.effective_rate:.2f}** |",
        f"**{float(purchase_limit(PRICES, 100, 55).rate):.2f}** distinct samples",
        "| " + " | ".join(f"{best.thresholds[j - 1]:.2f}" for j in (1, 2, 3, 4, 5, 6, 8, 10, 12)) + " |",
    ]
    for row in rows:
        assert row in PAGE


def test_where_it_gains_little_is_what_theory_says():
    sticky, _ = best_sticky_replacement(Atoms.of((np.arange(40) + 0.5) * 0.225 + 1), 0.9, 100, 55)
    assert f"beyond {sticky:.1f} effective" in PAGE
    assert f"{best_plan(Uniform(5.0, 6.0), 100, 55).effective_rate:.1f} at best" in PAGE
    plenty = best_plan(Uniform(4.0, 7.0), 100, 400).effective_rate / (400 / 5.5)
    assert f"has {plenty:.2f} of constant" in PAGE


def test_the_claims_it_names_exist():
    recorded = (ROOT / "proofs_check" / "ledger.json").read_text(encoding="utf-8")
    named = set(re.findall(r"`(buy:[a-z/-]+)`", PAGE))
    assert len(named) > 8
    for claim in named:
        assert f'"{claim}"' in recorded
