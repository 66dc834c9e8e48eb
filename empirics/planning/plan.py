"""The best that money can buy on a data set, beside the paper's own and beside what nobody can beat: `plan_study`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from empirics.control.schedule import brief_for
from empirics.planning.search import (
    STEPS,
    UNTRUSTED,
    SearchResult,
    retention_setting,
    search_policies,
    trusted,
)
from empirics.predict import predict_study
from empirics.prediction.best_constant import OBJECTIVES, OWN
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.forecast import Forecast, together
from empirics.prediction.result import REMEDY, Prediction
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from empirics.settings.toml import toml_of_changes
from empirics.training.device import threads
from theory.setting import SettingError

__all__ = ["ASSUMES", "Plan", "plan_from", "plan_study"]

ASSUMES = (
    "for Gaussian samples with the curvature and noise of these data at the minimiser, and independent prices: no "
    "policy within this money, clairvoyant or not, and no learner guarantees less for every θ*; for one θ* alone "
    "nothing can be said, since a learner may guess it"
)
SEARCHED = (
    "every policy within buffers and budget with a few learners, then of the nearest K, η below 2/L, decay, E and "
    "mean, one by one and together, until nothing helped: not all combinations"
)
RISKS = ("cumulative_excess_risk", "final_excess_risk")


@dataclass(frozen=True)
class Plan:
    """What is recommended: `study` runs it, and `name` is its variant of the study that was given.

    `prediction` has the paper's constant admission and the best variant of each policy that came near, and `bound` what
    nobody beats with this money.
    """

    study: Study
    name: PolicyName
    objective: str
    prediction: Prediction
    found: SearchResult
    bound: dict[str, float]

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        told, forecaster = self.prediction, self.prediction.forecaster
        paper = self._row(OWN) | {"K": brief_for(told.study, forecaster.constants, forecaster.prices).K}
        chosen = self._row(self.name)
        nearest = sorted(map(self._row, self.found.names), key=self._value)
        return {
            "by": "prediction",
            "objective": self.objective,
            "horizon": told.study.rounds,
            "task": told.study.task,
            "pilot": told.pilot,
            **chosen,
            "paper": paper,
            "gain": {name: 1 - chosen["predicted"][name] / paper["predicted"][name] for name in RISKS},
            "lower_bound": {**self.bound, "assumes": ASSUMES},
            "nearest": nearest,
            "left_out": dict(self.found.left_out),
            "searched": SEARCHED,
            "tried": [self._tried(name) for name in self.found.tried],
            "notes": replace(told, forecasts={self.name: told.forecasts[self.name]}).notes,
            "toml": toml_of_changes(self.study),
        }

    def _value(self, row: dict[str, Any]) -> tuple[float, float]:
        return _least(self.objective, self.prediction.forecasts[row["name"]])

    def _row(self, name: str) -> dict[str, Any]:
        """A policy with its learner, and what it is predicted to reach, of many paths of prices."""
        told, (base, own) = self.prediction, (PolicyName(name).base, self.prediction.study.of_policy(name))
        forecast = told.forecasts[name]
        predicted = forecast.document()
        return {
            "name": name,
            "policy": base,
            "K": PolicyName(name).own.get("K"),
            "rate": forecast.rate,
            "cost": own.budget + self.found.over[name] / own.rounds,
            "eta": own.eta,
            "steps": own.steps,
            "decay": own.decay,
            "average": own.average,
            "average_by": own.averaging,
            "predicted": predicted,
            "error": together(told.errors.get(name), forecast.errors),
            "over_lower_bound": predicted["final_excess_risk"] / self.bound["final_excess_risk"],
        }

    def _tried(self, name: PolicyName) -> dict[str, Any]:
        """What it was predicted to reach in the search, on one path of prices."""
        one = self.found.tried[name]
        numbers = {"cumulative": one.cumulative, "final": float(one.risk[-1]), "fitted": one.fitted}
        return {"name": name} | {
            key: value if math.isfinite(value) else None for key, value in numbers.items()
        }


@dataclass(frozen=True)
class _Heard(StudyForecaster):
    """An forecaster that is heard of in every round that it predicts: whoever hears may stop a long search there."""

    hear: Callable[[], None] = lambda: None

    def forecasts(self, progress: Callable[[int], None] = lambda done: None) -> dict[str, Forecast]:
        def both(done: int) -> None:
            self.hear()
            progress(done)

        return super().forecasts(both)


def plan_study(
    study: Study,
    *,
    pilot: int | None = None,
    objective: str = "cumulative",
    eta: float | None = None,
    steps: Sequence[int] = STEPS,
    law_known: bool = True,
    data_dir: Path | None = None,
    progress: Callable[[str, int, int | None], None] = lambda doing, done, of: None,
    validated: bool = False,
) -> Plan:
    """Search policy and learner together within the study's buffers, budget and prices (`search_policies`).

    The study's own learner, with constant admission, is what the result is held against. The best variants of some
    policies are predicted again, from as many paths of prices as a prediction has, and the best of these is taken.
    """
    if study.drift.kind != "none":
        raise SettingError(
            "the search takes a population that does not move: predict a sweep over K under drift"
        )
    told = predict_study(
        replace(study, policies=(OWN,)),
        pilot=pilot,
        best=False,
        data_dir=data_dir,
        progress=progress,
        validated=validated,
    )
    return plan_from(
        told, study, objective=objective, eta=eta, steps=steps, law_known=law_known, progress=progress
    )


def plan_from(
    told: Prediction,
    study: Study,
    *,
    objective: str = "cumulative",
    eta: float | None = None,
    steps: Sequence[int] = STEPS,
    law_known: bool = True,
    progress: Callable[[str, int, int | None], None] = lambda doing, done, of: None,
) -> Plan:
    """The same search where the study's problem has been predicted already: `told` is of its constant admission."""
    tried = 0

    def tell(done: int) -> None:
        nonlocal tried
        tried = done
        progress("settings tried", done, None)

    parts = {one.name: getattr(told.forecaster, one.name) for one in fields(StudyForecaster)}
    with threads(study, REMEDY):
        found = search_policies(
            _Heard(**parts, hear=lambda: tell(tried)),
            objective=objective,
            eta=eta,
            steps=steps,
            law_known=law_known,
            progress=tell,
        )
    told = told.for_study(replace(told.study, policies=(OWN, *found.names)), progress=progress)
    names = [name for name in found.names if trusted(told.forecaster, name, told.forecasts[name])]
    if not names:
        raise SettingError(UNTRUSTED)
    name = min(names, key=lambda one: _least(objective, told.forecasts[one]))
    bound = told.forecaster.lower_bound(found.over[name])
    return Plan(_running(study, name), name, objective, told, found, bound)


def _least(objective: str, forecast: Forecast) -> tuple[float, float]:
    """What is to be small; of equals, as all are in a first round, the one with the least final risk."""
    return OBJECTIVES[objective](forecast), float(forecast.risk[-1])


def _running(study: Study, name: PolicyName) -> Study:
    """The study of one policy, whose settings are the study's own."""
    own = {retention_setting(name.base) if key == "K" else key: value for key, value in name.own.items()}
    return replace(study, policies=(name.base,), **own)
