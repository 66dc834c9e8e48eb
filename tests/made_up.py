"""Made-up results of `acdpp reproduce`, for tests alone: no number is a measurement."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.numbers.student import mean_interval, p_value
from theory.paper import SECTION7

Floats = NDArray[np.float64]
PAPER: dict[str, dict[str, Any]] = {
    dataset: vars(said.rounded())
    | {"budget": float(said.budget), "model": {"paper": said.model, "released": said.model}}
    for dataset, said in SECTION7.items()
}
PAPER["mnist"]["model"]["released"] = "logistic"
POLICIES = ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "buy-cheap-online", "released")
# current best in the end, unless told
FINAL = dict(zip(POLICIES, (0.93, 0.92, 0.92, 0.96, 0.89, 0.94, 0.93), strict=True))
LEVEL = 0.8


def reproduction(
    dataset: str = "mnist",
    setting: str = "paper",
    *,
    seeds: int = 10,
    rounds: int = 100,
    final: Mapping[str, float] | None = None,
    pace: Mapping[str, float] | None = None,
    noise: float = 0.004,
    largest: Mapping[str, int] | None = None,
    spent: Mapping[str, float] | None = None,
    growth: float = 0.0,
    complete: bool = True,
    policies: Sequence[str] = POLICIES,
    lost: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """A document that agrees with itself.

    Accuracy rises from 0.1 to `final` with a time constant of `pace` rounds; runs differ by `noise`. A policy spends
    `spent` times its budget a round, and its debt grows by `growth` a round. Seeds in `lost` diverge in the last round.
    """
    said = PAPER[dataset]
    budget, buffers = said["budget"], round(said["budget"] / 0.55)
    draw = np.random.default_rng([seeds, rounds, len(dataset)])
    t = np.arange(rounds + 1)
    best, prices = {}, draw.uniform(1, 10, (seeds, rounds))
    shared = draw.normal(0, noise, (seeds, 1))
    for name in policies:
        end = {**FINAL, **(final or {})}[name]
        slow = (pace or {}).get(name, 8.0)
        own = shared + draw.normal(0, noise, (seeds, 1))
        wiggle = draw.normal(0, noise, (seeds, rounds + 1))
        rise = 0.1 + (end - 0.1 + own) * (1 - np.exp(-t / slow)) + wiggle
        best[name] = np.maximum.accumulate(np.clip(rise, 0, 1), axis=1)
    books = {}
    for place, name in enumerate(policies):
        share = {"oracle": 10.0, **(spent or {})}.get(name, 1.0)
        cost = share * budget * prices / 5.5
        held = np.minimum(t[1:] * buffers / 10, buffers) * (0.7 + 0.3 * (name == "oracle"))
        debt = 2 * budget * (1 - np.exp(-t[1:] / 10)) + growth * t[1:] + place
        books[name] = (cost, held, debt, (largest or {}).get(name, buffers))
    return {
        "command": f"acdpp reproduce {dataset} --setting {setting} --seeds {seeds} --rounds {rounds}",
        "dataset": dataset,
        "setting": setting,
        "model": said["model"][setting],
        "seeds": seeds,
        "rounds": rounds,
        "hardware": "made up",
        "versions": {"acdpp": "0"},
        "data": {"train": 60000 if complete else 15000, "test": 10000, "complete": complete},
        "intervals": "over seeds, which differ in partition, prices, samples and initial parameters",
        "target": said["target"],
        "level": LEVEL,
        "study": {"budget": budget, "eta": said["eta"], "buffers": [buffers // 10] * 10},
        "policies": {
            name: {
                "current_best": _estimate(best[name]),
                "occupancy": {"mean": _rounded(held), "largest": most, "buffers": buffers},
                "cost": {"mean": _rounded(cost.mean(axis=0))},
                "debt": {"mean": _rounded(debt)},
                "best_accuracy": _estimate(best[name][:, -1]),
                "mean_accuracy": _estimate(best[name][:, 1:].mean(axis=1)),
                "mean_cost": _estimate(cost.mean(axis=1)),
                "first_round": _first(best[name], said["target"]),
                "diverged": len((lost or {}).get(name, ())),
                "by_seed": {
                    "best_accuracy": _rounded(best[name][:, -1]),
                    "mean_accuracy": _rounded(best[name][:, 1:].mean(axis=1)),
                    "diverged": list((lost or {}).get(name, ())),
                },
            }
            for name, (cost, held, debt, most) in books.items()
        },
        "comparisons": {
            one: {
                other: {
                    "points": _paired(100 * (best[one] - best[other])[:, -1]),
                    "points_averaged": _paired(100 * (best[one] - best[other])[:, 1:].mean(axis=1)),
                    "speed_up": None,
                    "cost_ratio": 1.0,
                }
                for other in ("constant", "hybrid")
                if other in policies and other != one
            }
            for one in policies
            if one != "constant"
        },
        "paper": {"points": said["points"], "speed_up": said["speed_up"]},
    }


def write(document: Mapping[str, Any], path: Path) -> Path:
    """Write strict JSON."""
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")
    return path


def _rounded(values: Any) -> Any:
    known = [float(f"{x:.5g}") for x in np.ravel(values)]
    return known if np.ndim(values) else known[0]


def _estimate(values: Floats) -> dict[str, Any]:
    """Mean and interval over the first axis."""
    found = mean_interval(values.T, LEVEL)
    return {end: None if value is None else _rounded(value) for end, value in found.items()}


def _paired(values: Floats) -> dict[str, Any]:
    sure = len(values) > 1 and np.ptp(values) > 0
    return {**_estimate(values), "p": _rounded(p_value(values)) if sure else None}


def _first(best: Floats, target: float) -> dict[str, Any]:
    def first(curve: Floats) -> int | None:
        return int(np.argmax(curve >= target)) if curve[-1] >= target else None

    every = [first(run) for run in best]
    reached = sorted(t for t in every if t is not None)
    return {
        "reached": len(reached),
        "mean_curve": first(best.mean(axis=0)),
        "median": reached[len(best) // 2] if len(reached) > len(best) // 2 else None,
    }
