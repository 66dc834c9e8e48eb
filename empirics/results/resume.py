"""Refusals and warnings when a study is continued or extended: what must not differ, and what may."""

import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import Policy
from empirics.control.prices import Prices
from empirics.control.schedule import Schedule
from empirics.results.fingerprint import same_model
from empirics.training.problem import Problem
from theory.setting import SettingError

__all__ = ["refuse_changes", "refuse_horizon", "refuse_model", "refuse_other", "warn_of_changes"]


def refuse_model(before: NDArray[np.float64], now: NDArray[np.float64], out: Path) -> None:
    """Refuse a model other than that with which the study began."""
    if not same_model(before, now):
        raise SettingError(f"cannot resume {str(out)!r}: the model is not the one it began with")


def refuse_changes(settings: Mapping[str, Any], prices: Prices, problem: Problem, out: Path) -> None:
    """Refuse data, prices or a model other than those of the study."""
    wrong = {
        "the data are": problem.digest != settings["data_digest"],
        "the prices are": prices.digest != settings["cost_digest"],
        "the model is": problem.model.size != settings["parameters"],
    }
    for what, differs in wrong.items():
        if differs:
            raise SettingError(f"cannot resume {str(out)!r}: {what} not what it began with")


def refuse_other(differences: Mapping[str, tuple[Any, Any]], rounds: int, done: int, out: Path) -> None:
    """Refuse a study that differs from that of the folder, except in its number of rounds."""
    if rounds < done:
        raise SettingError(
            f"{str(out)!r} already has {done} rounds, which cannot be cut to {rounds}: start a new study"
        )
    changed = [
        f"{name} is {before!r} there and {now!r} here"
        for name, (before, now) in differences.items()
        if name != "rounds"
    ]
    if changed:
        raise SettingError(
            f"cannot resume {str(out)!r}: {'; '.join(changed)}: leave that out, or start a new study"
        )


def refuse_horizon(before: Schedule, now: Schedule) -> None:
    """Refuse more rounds where prices, samples or policies were chosen for the number of rounds."""
    study = now.study
    if now.prices.depends_on_horizon:
        raise SettingError("cannot extend this study: its prices depend on the number of rounds")
    if study.drift.kind == "order" and study.drift.length is None:
        raise SettingError(
            "cannot extend this study: how many samples pass in a round depends on the number of rounds, unless the "
            "drift's length is given"
        )
    tails = [name for name in study.policies if study.of_policy(name).average == "tail"]
    if tails:
        raise SettingError(
            f"cannot extend this study: where the tail of {', '.join(tails)} begins depends on the number of rounds"
        )
    changed = [name for name, policy in now.policies.items() if not _same(before.policies[name], policy)]
    if changed:
        raise SettingError(
            f"cannot extend this study to {study.rounds} rounds: the settings of {', '.join(changed)} depend on the "
            "number of rounds, or cannot be compared (for acdpp V and rho, for buy-cheap V, unless they are given): "
            "start a new study"
        )


def _same(one: Policy, other: Policy) -> bool:
    """Two policies are made alike, as far as they can be compared or pickled."""
    try:
        alike = type(one) is type(other) and pickle.dumps(vars(one)) == pickle.dumps(vars(other))
        return alike or bool(one == other)
    except Exception:
        return False


def warn_of_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    old, new = before["versions"], now["versions"]
    changed = [
        f"{name} {old.get(name, 'absent')} → {new.get(name, 'absent')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    changed += [
        f"{name} {before[name]} → {now[name]}" for name in ("device", "threads") if before[name] != now[name]
    ]
    if changed:
        warnings.warn(
            f"continued with {', '.join(changed)}: the numbers agree with an unbroken run up to rounding; the folder "
            "records this",
            stacklevel=4,
        )
