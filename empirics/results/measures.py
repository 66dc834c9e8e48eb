"""What a study's record says besides its rounds: where and from what it is computed, and how it ends."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from torch import Tensor

from empirics.control.prices import Prices
from empirics.results.rows import Columns
from empirics.settings.study import Study
from empirics.training.constants import Calibration
from empirics.training.engine import LAST
from empirics.training.problem import Problem
from empirics.training.risk import Least
from empirics.training.world import World
from theory.setting import SettingError

__all__ = [
    "CALM",
    "concluded",
    "final_measures",
    "last_measures",
    "least_for",
    "machine",
    "numbers",
    "settings_document",
    "versions",
    "with_excess",
]

PACKAGES = ("acdpp", "numpy", "torch", "scipy", "scikit-learn", "pyarrow")
CALM = "take a smaller eta, or a radius to project onto"


def versions() -> dict[str, str]:
    """What computed this, the caller's own copy."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """It is read from files once."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine(device: torch.device) -> dict[str, Any]:
    """Where it is computed."""
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else f"cpu ({platform.machine()})"
    return {"device": name, "versions": versions(), "threads": torch.get_num_threads()}


def settings_document(
    problem: Problem,
    asked: Mapping[str, Any],
    prices: Prices,
    calibration: Calibration,
    least: Least | None,
    not_predicted: str | None,
) -> dict[str, Any]:
    """What `settings.json` says of a study that begins."""
    return {
        "study": problem.study.document(),
        "asked": dict(asked),
        **machine(problem.population.x.device),
        "data_digest": problem.digest,
        "data": {"train": len(problem.population.y), "test": len(problem.population.test_y)},
        "cost_digest": prices.digest,
        "parameters": problem.model.size,
        "constants": calibration.document(),
        "least_risk": None if least is None else asdict(least),
        "not_predicted": not_predicted,
        "continued": [],
    }


def least_for(problem: Problem) -> Least | None:
    """The least risk on the ball, where there is one and the risk is measured."""
    return problem.least if "risk" in problem.study.measures else None


def with_excess(study: Study, measured: Columns, least: Least | None, first: int) -> Columns:
    """With the excess risk beside every risk, where the least one is known, of rounds from the first on."""
    if least is None:
        return measured
    risks = [name for name in (f"{LAST}risk", "risk") if name in measured]
    weight = study.mixing(first, first + len(np.atleast_2d(measured[risks[0]])) - 1)
    there = least.of_runs(study.runs, weight, first)
    above = {name.replace("risk", "excess_risk"): measured[name] - there for name in risks}
    return measured | {name: values.reshape(measured["risk"].shape) for name, values in above.items()}


def final_measures(
    problem: Problem, theta: Tensor, least: Least | None, mean: Tensor | None = None
) -> Columns:
    """Measured after the last round: at θ(T+1) or, if there is a mean, of that, and of θ(T+1) as the last iterate.

    Where the population moves, it is that of round T+1.
    """
    return concluded(problem.study, last_measures(problem, theta, mean), least)


def last_measures(problem: Problem, theta: Tensor, mean: Tensor | None = None) -> Columns:
    """The same of these runs alone, be they a part of the study's, and without what is known of the whole."""
    study = problem.study
    if study.drift.kind != "none":
        World(study, problem.streams, problem.population).show_round(study.rounds + 1)
    last = _final(problem, theta)
    return last if mean is None else _final(problem, mean) | {LAST + name: v for name, v in last.items()}


def concluded(study: Study, last: Columns, least: Least | None) -> Columns:
    """What was measured at last of all runs, with the excess risk; refused if none is finite."""
    if study.diverging == "refuse" and any(np.isnan(last[n]).all() for n in last if n.endswith("accuracy")):
        raise SettingError(f"training diverged: no run is finite after the last round: {CALM}")
    return with_excess(study, last, least, study.rounds + 1)


def _final(problem: Problem, theta: Tensor) -> Columns:
    with torch.no_grad():
        found = {"accuracy": problem.model.accuracy(theta)}
        if "risk" in problem.study.measures:
            found["risk"] = problem.model.measure(theta, None)["risk"]
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    lost = ~torch.isfinite(theta).all(dim=1).cpu().numpy()
    return numbers({name: np.where(lost, np.nan, values) for name, values in arrays.items()})


def numbers(measured: Columns) -> Columns:
    """NaN for all of a run where one of its measures is not finite: an accuracy beside an infinite risk is none."""
    lost = np.logical_or.reduce([~np.isfinite(values) for values in measured.values()])
    return {name: np.where(lost, np.nan, values) for name, values in measured.items()}
