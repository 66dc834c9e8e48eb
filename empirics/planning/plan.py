"""The best policy and learner for a budget, beside the paper's own and a lower bound for any policy: `plan_study`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from empirics.planning import search
from empirics.predict import predict_study
from empirics.prediction.best_constant import OBJECTIVES, OWN
from empirics.prediction.forecast import Forecast, together
from empirics.prediction.result import REMEDY, Prediction, Progress
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from empirics.settings.toml import toml_of_changes
from empirics.training.device import threads
from theory.setting import SettingError

__all__ = ["ASSUMES", "Plan", "plan_from", "plan_study"]

ASSUMES = (
    "for quadratic losses and Gaussian samples with the curvature and noise of these data at the minimiser, paid for "
    "before they are seen, at independent prices: no policy within this money, clairvoyant in prices or not, and no "
    "learner guarantees less for every θ* in ℝᵈ; within a known ball, or for one θ* alone, less is possible"
)
SEARCHED = (
    "every policy within buffers and budget with a few learners, then of the nearest K, η below 2/L, decay, E and "
    "mean, one by one and together, until nothing helped: not all combinations"
)
SEARCHED_INFORMED = "every policy within buffers and budget, with the K that fills the buffers and with K = 1"
RISKS = ("cumulative_excess_risk", "final_excess_risk")


@dataclass(frozen=True)
class Plan:
    """A recommendation: `study` runs it, and `name` is its policy as a variant of the given study.

    `prediction` has the paper's constant admission and the best variant of each policy that came near, and `bound` the
    lower bound for this money.
    """

    study: Study
    name: PolicyName
    objective: str
    prediction: Prediction
    found: search.SearchResult
    bound: dict[str, float]

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        told = self.prediction
        paper = self._row(OWN) | {"K": told.forecaster.brief.K}
        chosen = self._row(self.name)
        names = sorted(self.found.names, key=lambda name: _value(self.objective, told.forecasts[name]))
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
            "nearest": [self._row(name) for name in names],
            "left_out": dict(self.found.left_out),
            "searched": SEARCHED if self.study.learner == "descent" else SEARCHED_INFORMED,
            "tried": [self._tried(name) for name in self.found.tried],
            "notes": replace(told, forecasts={self.name: told.forecasts[self.name]}).notes,
            "toml": toml_of_changes(self.study),
        }

    def _row(self, name: str) -> dict[str, Any]:
        """A policy with its learner and its prediction, averaged over price paths."""
        told, own = self.prediction, self.prediction.study.of_policy(name)
        forecast = told.forecasts[name]
        predicted = forecast.document()
        return {
            "name": name,
            "policy": PolicyName(name).base,
            "K": PolicyName(name).own.get("K"),
            "rate": forecast.rate,
            "cost": own.budget + self.found.over[name] / own.rounds,
            "learner": own.learner,
            "eta": own.eta if own.learner == "descent" else None,
            "steps": own.steps,
            "decay": own.decay,
            "average": own.average,
            "average_by": own.averaging,
            "predicted": predicted,
            "error": together(told.errors.get(name), forecast.errors),
            "over_lower_bound": predicted["final_excess_risk"] / self.bound["final_excess_risk"],
        }

    def _tried(self, name: PolicyName) -> dict[str, Any]:
        """The prediction of the search, on one price path."""
        one = self.found.tried[name]
        numbers = {"cumulative": one.cumulative, "final": float(one.risk[-1]), "fitted": one.fitted}
        finite = {key: value if math.isfinite(value) else None for key, value in numbers.items()}
        return {"name": name} | finite


def plan_study(
    study: Study,
    *,
    pilot: int | None = None,
    objective: str = "cumulative",
    eta: float | None = None,
    steps: Sequence[int] = search.LOCAL_STEPS,
    law_known: bool = True,
    device: str | None = None,
    data_dir: Path | None = None,
    progress: Progress = lambda doing, done, of: None,
    validated: bool = False,
) -> Plan:
    """Search policy and learner together within the study's buffers, budget and prices (`search_policies`).

    The result is compared with constant admission by the study's own learner. The search follows one price path; the
    best variants of a few policies are then predicted from several, and the best of these is taken. `objective` is
    cumulative, final or floor; `eta` fixes the step size; `steps` are the numbers of local steps to try. With
    `validated` the study has passed `empirics.validate`.
    """
    if study.drift.kind != "none":
        raise SettingError("the search needs a population at rest: predict a sweep over K under drift")
    if study.learner == "information" and (eta is not None or tuple(steps) != search.LOCAL_STEPS):
        raise SettingError("the information learner has no step size and no local steps: give none to search")
    if study.learner == "information" and objective == "floor":
        raise SettingError("the information learner has no noise floor: take objective cumulative or final")
    own = replace(study, policies=(OWN,))
    told = predict_study(
        own,
        pilot=pilot,
        best=False,
        device=device,
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
    steps: Sequence[int] = search.LOCAL_STEPS,
    law_known: bool = True,
    progress: Progress = lambda doing, done, of: None,
) -> Plan:
    """The same search from a prediction of the study's constant admission. `progress` is also called in every predicted
    round, and may raise an exception to stop the search."""
    with threads(study.threads, REMEDY):
        found = search.search_policies(
            told.forecaster,
            objective=objective,
            eta=eta,
            steps=steps,
            law_known=law_known,
            progress=lambda tried: progress("settings tried", tried, None),
        )
    told = told.for_study(replace(told.study, policies=(OWN, *found.names)), progress=progress)
    names = [name for name in found.names if search.trusted(told.forecaster, name, told.forecasts[name])]
    if not names:
        raise SettingError(search.UNTRUSTED)
    name = min(names, key=lambda one: _value(objective, told.forecasts[one]))
    bound = told.forecaster.lower_bound(found.over[name])
    own = {
        search.retention_setting(name.base) if key == "K" else key: value for key, value in name.own.items()
    }
    return Plan(replace(study, policies=(name.base,), **own), name, objective, told, found, bound)


def _value(objective: str, forecast: Forecast) -> tuple[float, float]:
    """The objective, and the final risk for ties, such as in a study of one round."""
    return OBJECTIVES[objective](forecast), float(forecast.risk[-1])
