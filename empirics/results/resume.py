"""What must be the same, and what may differ, when a study is continued or extended."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.control.policy import Policy
from empirics.control.prices import Prices
from empirics.control.registry import make_policy
from empirics.control.schedule import brief_for
from empirics.settings.study import Study
from empirics.training.linear import Linear
from empirics.training.model import Descent, Memory
from empirics.training.problem import Problem
from theory.setting import Constants, SettingError

__all__ = [
    "fingerprint",
    "fingerprint_of",
    "probe",
    "refuse_changes",
    "refuse_horizon",
    "refuse_model",
    "refuse_other",
    "same_model",
    "traits",
    "warn_of_changes",
]

ALIKE = 1e-3  # relative: what another version, device or precision may change of a risk
PROBED = 4  # samples


def probe(problem: Problem, theta: Tensor) -> tuple[Tensor, Tensor]:
    """What the model makes of parameters: the risk of each run, and one step on a few samples."""
    study, samples = problem.study, min(PROBED, len(problem.population.y))
    shape = (len(theta), study.clients, samples)
    index = torch.arange(samples, device=theta.device).expand(shape)
    weights = theta.new_full(shape[:2], 1 / study.clients)
    memory = Memory(index, torch.ones(shape, dtype=torch.bool, device=theta.device), weights)
    with torch.no_grad():
        risk = problem.model.measure(theta, None)["risk"]
        return risk, problem.model.update(theta, memory, Descent(1, study.eta))


def fingerprint(problem: Problem, theta: Tensor) -> NDArray[np.float64]:
    """What tells a user's model from another at the same parameters; nothing for those that come with it."""
    return fingerprint_of(traits(problem, theta))


def traits(problem: Problem, theta: Tensor) -> NDArray[np.float64]:
    """What a fingerprint is made of: of each run its risk and how far a step goes, (2, runs), or nothing."""
    if isinstance(problem.model, Linear) or _is_network(problem.study.model):
        return np.zeros((2, 0))  # the settings and the data say it all
    risk, step = probe(problem, theta)
    return torch.stack([risk.double(), step.double().norm(dim=1)]).cpu().numpy()


def fingerprint_of(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """The fingerprint with these traits: the mean risk, and how far all runs go; one that diverged tells nothing."""
    if not found.size:
        return np.zeros(0)
    risk, step = (torch.from_numpy(one[np.isfinite(one)]) for one in found)
    return np.array([float(risk.mean()), float(step.norm())])


def _is_network(name: str) -> bool:
    from empirics.training.networks import NETWORKS  # not loaded for logistic regression

    return name in NETWORKS


def same_model(before: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    """Whether two fingerprints are of one model."""
    return before.shape == now.shape and np.allclose(before, now, rtol=ALIKE, atol=0, equal_nan=True)


def refuse_model(before: NDArray[np.float64], now: NDArray[np.float64], out: Path) -> None:
    """A model that is not the one the study began with."""
    if not same_model(before, now):
        raise SettingError(f"cannot resume {str(out)!r}: the model is not the one it began with")


def refuse_changes(settings: Mapping[str, Any], prices: Prices, problem: Problem, out: Path) -> None:
    """Data, prices or a model that are not those of the study."""
    wrong = {
        "the data are": problem.digest != settings["data_digest"],
        "the prices are": prices.digest != settings["cost_digest"],
        "the model is": problem.model.size != settings["parameters"],
    }
    for what, differs in wrong.items():
        if differs:
            raise SettingError(f"cannot resume {str(out)!r}: {what} not what it began with")


def refuse_other(began: Study, study: Study, done: int, out: Path) -> None:
    """A study that is another one than that of the folder."""
    before, now = began.document(), study.document()
    if study.rounds < done:
        raise SettingError(
            f"{str(out)!r} has {done} rounds already, which cannot be cut to {study.rounds}: start a new study"
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
    if study.drift.kind == "order" and study.drift.length is None:
        raise SettingError(
            "cannot extend this study: how many samples go by in a round depends on the number of rounds, unless the "
            "drift's length is given"
        )
    tails = [name for name in study.policies if study.of_policy(name).average == "tail"]
    if tails:
        raise SettingError(
            f"cannot extend this study: where the tail of {', '.join(tails)} begins depends on the number of rounds"
        )
    briefs = [brief_for(one, constants.merged, prices) for one in (began, study)]
    changed = [
        name for name in study.policies if not _same(*(make_policy(name, brief, own) for brief in briefs))
    ]
    if changed:
        raise SettingError(
            f"cannot extend this study to {study.rounds} rounds: the settings of "
            f"{', '.join(changed)} depend on the number of "
            "rounds, or cannot be compared (for acdpp V and rho, for buy-cheap V, unless they are given): start a new "
            "study"
        )


def _same(one: Policy, other: Policy) -> bool:
    """Whether two policies are made alike; one that can neither be compared nor pickled is not known to be."""
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
            f"continued with {', '.join(changed)}: the numbers agree with an unbroken run "
            f"to rounding, but need not bit for "
            "bit; the folder records this",
            stacklevel=4,
        )
