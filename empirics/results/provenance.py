"""The record of what a result was computed from, and by which versions on which device."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from empirics.control.prices import Prices
from empirics.training.constants import Calibration
from empirics.training.problem import Problem
from empirics.training.risk import Least

__all__ = ["machine", "settings_document", "versions"]

PACKAGES = ("acdpp", "numpy", "torch", "scipy", "scikit-learn", "pyarrow")


def versions() -> dict[str, str]:
    """The versions of Python and packages, the caller's own copy."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine(device: torch.device) -> dict[str, Any]:
    """The device, versions and threads that compute."""
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
    """The content of `settings.json` when a study begins."""
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
