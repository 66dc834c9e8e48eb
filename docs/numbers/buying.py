"""Numbers and tables of buying at low prices."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import buying as benchmark
from docs.numbers.results import result, table
from theory.market.knapsack import purchase_limit
from theory.market.long_run import Burst, Plan, best_plan, burst_plan, gap_closed, online_plan
from theory.market.prices import Atoms, Uniform
from theory.market.sticky import best_sticky_replacement

PLACES, BUDGET, PRICES = 100, 55, Uniform(1.0, 10.0)  # the paper's for MNIST
STUDIES = ("digits-500", "digits-3000", "mnist-100", "mnist-1000")
AGES_SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 12)
PRICE_LEVELS = 20  # in which sticky prices are computed


def limit() -> float:
    """Distinct samples per round that money buys at best."""
    return float(purchase_limit(PRICES, PLACES, BUDGET).rate)


def best() -> Plan:
    """The best thresholds for a full memory."""
    return best_plan(PRICES, PLACES, BUDGET)


def online() -> Plan:
    """Thresholds in proportion to age."""
    return online_plan(PRICES, PLACES, BUDGET)


def burst(parts: int) -> Burst:
    """One threshold for the whole memory or a part of it."""
    return burst_plan(PRICES, PLACES, BUDGET, parts)


def thresholds() -> str:
    """The best thresholds by age."""
    paid = best().thresholds
    return table(
        ["used", *map(str, AGES_SHOWN)], [["pay up to", *(f"{paid[j - 1]:.2f}" for j in AGES_SHOWN)]]
    )


def share_of_limit() -> float:
    """Effective samples of the best thresholds over what money buys, in per cent."""
    return 100 * best().effective_rate / limit()


def share_of_gap() -> float:
    """The part of the way from constant admission to the oracle that they go, in per cent."""
    return float(100 * gap_closed(best().effective_rate, 10, PLACES))


def sticky() -> float:
    """Best effective rate where prices stay with probability 0.9."""
    atoms = Atoms.of((np.arange(PRICE_LEVELS) + 0.5) * 9 / PRICE_LEVELS + 1)
    rate, _ = best_sticky_replacement(atoms, 0.9, PLACES, BUDGET, ages=64)
    return float(rate)


def narrow() -> float:
    """Best effective rate at prices between 5 and 6."""
    return best_plan(Uniform(5.0, 6.0), PLACES, BUDGET).effective_rate


def plenty() -> float:
    """Best full-memory rate over constant admission's where money is plenty."""
    return best_plan(Uniform(4.0, 7.0), PLACES, 400).effective_rate / (400 / 5.5)


def _closed(study: str, prices: str = "uniform") -> dict[str, Any]:
    found: dict[str, Any] = result(f"buying-{study}")["studies"][prices]["gap_closed"]
    return found


def _measure(study: str) -> str:
    return "cumulative_excess_risk" if "digits" in study else "mean_accuracy"


def closed(study: str, policy: str, measure: str = "") -> str:
    """Share of the gap to the oracle that a policy closes, with its interval."""
    found = _closed(study)[measure or _measure(study)][policy]
    low, high = (f"{100 * found[end]:.0f}" for end in ("low", "high"))
    return f"{100 * found['share']:.0f} % ({low} to {high})"


def knowing() -> list[float]:
    """The share closed by knowing the law of prices, in points, over all studies."""
    gaps = [
        _closed(study, prices)[_measure(study)]
        for study in STUDIES
        for prices in result(f"buying-{study}")["studies"]
    ]
    return [100 * (gap["buy-cheap"]["share"] - gap["buy-cheap-online"]["share"]) for gap in gaps]


def shares(policy: str = "buy-cheap-online") -> list[float]:
    """Shares closed over the studies of 500 rounds and more, and all price processes, in per cent."""
    return [
        100 * _closed(study, prices)[_measure(study)][policy]["share"]
        for study in STUDIES
        if study != "mnist-100"
        for prices in result(f"buying-{study}")["studies"]
    ]


def online_at_sticky_prices() -> float:
    """Measured effective rate of the online rule where prices stay."""
    rows = result("buying-digits-3000")["studies"]["markov"]["policies"]
    return float(rows["buy-cheap-online"]["effective_samples"]["mean"] / 3000)


def shown() -> str:
    """Shares of the gap closed by `buy-cheap-online` in per cent with intervals, at last of the final accuracy."""

    def cell(study: str, prices: str, measure: str) -> str:
        found = _closed(study, prices)[measure]["buy-cheap-online"]
        share, low, high = (round(100 * found[key]) for key in ("share", "low", "high"))
        return f"{share} ({low} to {high})"

    columns = [(study, _measure(study)) for study in STUDIES]
    columns += [(study, "final_accuracy") for study in STUDIES if study.startswith("mnist")]
    heads = [f"{study}, {benchmark.WORDS[measure]}" for study, measure in columns]
    prices = result(f"buying-{STUDIES[0]}")["studies"]
    return table(
        ["prices", *heads], ([one, *(cell(study, one, of) for study, of in columns)] for one in prices)
    )
