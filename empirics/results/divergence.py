"""Runs whose parameters or risk are no longer finite: refused, or told and recorded as NaN."""

import warnings
from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.columns import Arrays
from empirics.control.schedule import Rounds
from theory.setting import SettingError

__all__ = ["CALMER", "diverged_policies", "nan_if_diverged"]

CALMER = "take a smaller eta, or a radius to project onto"


def nan_if_diverged(measured: Arrays) -> Arrays:
    """The measures, with NaN for all measures of a run where one is not finite: its accuracy means nothing."""
    lost = np.logical_or.reduce([~np.isfinite(values) for values in measured.values()])
    return {name: np.where(lost, np.nan, values) for name, values in measured.items()}


def diverged_policies(
    rounds: Rounds, measured: Arrays, theta: NDArray[np.floating[Any]], known: Set[str]
) -> set[str]:
    """Policies with diverged runs, with a warning for each not `known`; refused if all runs diverged."""
    study, after = rounds.study, np.isfinite(theta).all(axis=1)
    during = np.ones((len(rounds.cost), study.runs), dtype=bool)
    for values in measured.values():
        during &= np.isfinite(values)
    lost = ~np.vstack([during, after])
    found = set()
    for name, runs in zip(study.policies, np.split(lost, len(study.policies), axis=1), strict=True):
        if not runs.any():
            continue
        first = rounds.first + int(runs.any(axis=1).argmax())
        words = f"{name} is not finite {f'in round {first}' if first <= rounds.last else f'after round {rounds.last}'}"
        if lost.any(axis=0).all():
            raise SettingError(f"training diverged: {words}: {CALMER}")
        if name not in known:
            warnings.warn(f"{words}: it diverged, and other runs go on; {CALMER}", stacklevel=2)
        found.add(name)
    return found
