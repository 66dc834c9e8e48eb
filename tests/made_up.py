"""Made-up results of `acdpp reproduce`, for tests alone: no number is a measurement."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from empirics.results.reproduction import Runs
from empirics.results.reproduction import reproduction as document_of
from empirics.settings.section7 import COMPLETE, section7
from theory.paper import SECTION7

PAPER = {dataset: vars(said.rounded()) for dataset, said in SECTION7.items()}
POLICIES = ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "buy-cheap-online", "released")
# current best in the end, unless told
FINAL = dict(zip(POLICIES, (0.93, 0.92, 0.92, 0.96, 0.89, 0.94, 0.93), strict=True))


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
    """The document of made-up runs.

    Accuracy rises from 0.1 to `final` with a time constant of `pace` rounds; runs differ by `noise`. A policy spends
    `spent` times its budget a round, and its debt grows by `growth` a round. Seeds in `lost` diverge in the last round.
    """
    study = replace(section7(dataset, setting, seeds=seeds, rounds=rounds), policies=tuple(policies))
    budget, buffers = study.budget, sum(study.buffers)
    draw = np.random.default_rng([seeds, rounds, len(dataset)])
    t = np.arange(rounds + 1)
    prices, shared = draw.uniform(1, 10, (seeds, rounds)), draw.normal(0, noise, (seeds, 1))
    best, cost, held, debt = (np.empty((len(policies), seeds, rounds + last)) for last in (1, 0, 0, 0))
    for p, name in enumerate(policies):
        end, slow = (FINAL | dict(final or {}))[name], (pace or {}).get(name, 8.0)
        own = shared + draw.normal(0, noise, (seeds, 1))
        wiggle = draw.normal(0, noise, (seeds, rounds + 1))
        rise = 0.1 + (end - 0.1 + own) * (1 - np.exp(-t / slow)) + wiggle
        best[p] = np.maximum.accumulate(np.clip(rise, 0, 1), axis=1)
        cost[p] = {"oracle": 10.0, **(spent or {})}.get(name, 1.0) * budget * prices / 5.5
        held[p] = np.minimum(t[1:] * buffers / 10, buffers) * (1 if name == "oracle" else 0.7)
        debt[p] = 2 * budget * (1 - np.exp(-t[1:] / 10)) + growth * t[1:] + p
    diverged = np.array([np.isin(np.arange(seeds), (lost or {}).get(name, ())) for name in policies])
    data = COMPLETE[dataset] if complete else COMPLETE[dataset] | {"train": 5000}
    settings = {"asked": {"device": "cpu"}, "device": "made up", "continued": [], "versions": {"acdpp": "0"}}
    runs = Runs(study, settings | {"data": data}, "over seeds", best, cost, held, debt, diverged)
    with mock.patch.object(Runs, "read", return_value=runs):
        document = document_of("made up")
    for name, row in document["policies"].items():
        row["occupancy"]["largest"] = (largest or {}).get(name, buffers)
    return document


GONE = object()


def changed(document: Mapping[str, Any], path: Sequence[Any], value: Any) -> dict[str, Any]:
    """A copy with another value in one place, or none."""
    copied: dict[str, Any] = deepcopy(dict(document))
    *above, last = path
    inner = reduce(getitem, above, copied)
    inner[last] = value
    if value is GONE:
        del inner[last]
    return copied


def write(document: Mapping[str, Any], path: Path) -> Path:
    """Write strict JSON."""
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")
    return path
