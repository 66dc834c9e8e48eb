"""What must be the same, and what may differ, when a study is continued or extended."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from empirics.control.policy import Policy
from empirics.control.prices import Prices
from empirics.control.registry import make_policy
from empirics.control.schedule import brief_for
from empirics.settings.study import Study
from empirics.training.linear import Linear
from empirics.training.problem import Problem
from theory.setting import Constants, SettingError

__all__ = ["fingerprint", "refuse_horizon", "refuse_model", "refuse_other", "warn_of_changes"]

ALIKE = 1e-4  # relative: what another version or device may change of a risk


def fingerprint(problem: Problem) -> dict[str, float] | None:
    """What tells a user's model from another: its number of parameters, and its risk where it starts."""
    if isinstance(problem.model, Linear):
        return None  # the settings and the data say it all
    with torch.no_grad():
        theta = problem.model.start(problem.study.seeds)
        risk = problem.model.measure(theta, None)["risk"]
    return {"parameters": theta.shape[1], "norm": float(theta[0].norm()), "risk": float(risk[0])}


def refuse_model(before: Mapping[str, float] | None, now: Mapping[str, float] | None, out: Path) -> None:
    """A model that is not the one the study began with."""
    same = before == now or (
        before is not None
        and now is not None
        and all(math.isclose(before[name], now[name], rel_tol=ALIKE) for name in before)
    )
    if not same:
        raise SettingError(f"cannot resume {str(out)!r}: the model is not the one it began with")


def refuse_other(began: Study, study: Study, out: Path) -> None:
    before, now = began.document(), study.document()
    if study.rounds < began.rounds:
        raise SettingError(
            f"{str(out)!r} is a study of {began.rounds} rounds, which cannot be cut to "
            f"{study.rounds}: start a new one"
        )
    changed = [
        f"{name} is {before[name]!r} there and {now[name]!r} here"
        for name in now
        if name != "rounds" and before.get(name) != now[name]
    ]
    if changed:
        raise SettingError(
            f"cannot resume {str(out)!r}: {'; '.join(changed)}: leave that out, or start a new study"
        )


def refuse_horizon(
    began: Study, study: Study, constants: Constants, prices: Prices, own: Mapping[str, Any] | None
) -> None:
    """More rounds are the same study only where nothing was chosen for the number of rounds."""
    if prices.depends_on_horizon:
        raise SettingError("cannot extend this study: its prices depend on the number of rounds")
    briefs = [brief_for(one, constants.merged, prices) for one in (began, study)]
    changed = [
        name for name in study.policies if not _same(*(make_policy(name, brief, own) for brief in briefs))
    ]
    if changed:
        raise SettingError(
            f"cannot extend this study to {study.rounds} rounds: the settings of "
            f"{', '.join(changed)} depend on the number of "
            "rounds (for acdpp, V and rho unless they are given): start a new study"
        )


def _same(one: Policy, other: Policy) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # arrays in a user's policy have no single answer
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
            f"continued with {', '.join(changed)}: the numbers agree with an unbroken run "
            f"to rounding, but need not bit for "
            "bit; the folder records this",
            stacklevel=4,
        )
