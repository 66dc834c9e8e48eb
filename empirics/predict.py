"""`predict_study`: from a study's settings to predicted learning curves, before anything is trained.

It takes the same data sets, policies and prices as `run_study`. With a pilot sample no other data is used, except for
the scale of the inputs, which is the data set's. How it works: `empirics.prediction`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from empirics.control.prices import prices_of
from empirics.overrides import HandedOver
from empirics.prediction.best_constant import OBJECTIVES, OWN, best_constant
from empirics.prediction.drift_retention import drift_advice
from empirics.prediction.pilot import draw_pilot, jackknife_errors
from empirics.prediction.predictable import refusal
from empirics.prediction.result import REMEDY, Prediction, Progress, finite_forecasts
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.prediction.time_estimate import prediction_seconds
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.device import threads
from empirics.training.problem import Problem, make_problem
from empirics.validate import validate
from theory.setting import SettingError

__all__ = ["predict_study"]


def predict_study(
    study: Study | None = None,
    out: Path | str | None = None,
    *,
    dataset: Any = None,
    policies: Mapping[str, Any] | None = None,
    cost: Any = None,
    pilot: int | None = None,
    best: bool = True,
    objective: str = "cumulative",
    search_eta: bool = True,
    search_steps: Sequence[int] = (),
    device: str | None = None,
    data_dir: Path | None = None,
    progress: Progress = lambda doing, done, of: None,
    validated: bool = False,
) -> Prediction:
    """Predict the learning curve of every policy, and the best K, rate and step size of constant admission.

    `dataset`, `policies`, `cost`, `device` and `data_dir` are those of `run_study`. With `pilot` that number of samples
    stands for all data, and every number has a standard error. With `best` K is searched, with `search_eta` the step
    size too, and with `search_steps` these numbers of local steps, for the least `objective`: cumulative, final or
    floor. Curves and document are written to `out`. `progress` is called with an activity, the amount done, and the
    total if known. For the information learner nothing is searched: it has no step size, and K hardly matters. With
    `validated` the study has passed `empirics.validate`.
    """
    if objective not in OBJECTIVES:
        raise SettingError(f"the objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    own = HandedOver(dataset, None, policies, cost)
    study = own.named(Study() if study is None else study)
    if study.learner == "information":
        if search_steps:
            raise SettingError("the information learner takes no local steps: give none to search")
        best = False
    prices = prices_of(study, cost)
    if not validated:
        here = device or "cpu"
        validate(study, "predict", out=out, device=here, prices=prices, policies=policies)
    if pilot is not None and study.drift.kind != "none":
        raise SettingError(
            "a pilot sample is measured for drift, and has none of its own: leave out the pilot or the drift"
        )
    with threads(study.threads, REMEDY):
        problem = make_problem(study, device or "cpu", data_dir, dataset=dataset)
        reason = refusal(problem)
        if reason is not None:
            raise SettingError(f"nothing can be predicted: {reason}")
        drawn = None if pilot is None else draw_pilot(problem, pilot)
        problem = problem if drawn is None else drawn.problem
        if prediction_seconds(problem) == math.inf:
            raise SettingError(f"the weights of all samples do not fit into memory: {REMEDY}")

        def forecaster_of(problem: Problem, names: Sequence[str]) -> StudyForecaster:
            asked = replace(problem, study=replace(study, policies=tuple(names)))
            constants = calibrate(asked).constants.merged
            return StudyForecaster.of(asked, constants, prices=prices, policies=policies)

        names = list(dict.fromkeys([*study.policies, *([OWN] if best else [])]))
        forecaster = forecaster_of(problem, names)
        made = finite_forecasts(forecaster, progress)
        forecaster = replace(forecaster, study=study)
        chosen = None
        if best:
            chosen = best_constant(
                forecaster,
                objective=objective,
                eta=search_eta,
                steps=search_steps,
                progress=lambda tried: progress("settings tried", tried, None),
            )
            names = list(dict.fromkeys([*names, chosen.name]))
        parts = () if drawn is None else tuple(forecaster_of(part, names) for part in drawn.parts())
        errors, curves = jackknife_errors(parts, names, progress, chosen, objective)
        drift = drift_advice(forecaster, problem, steps=best, progress=progress)
    found = Prediction(
        study=study,
        forecaster=forecaster,
        forecasts={name: made[name] for name in study.policies},
        objective=objective,
        best=chosen,
        own=made.get(OWN),
        pilot=None if drawn is None else drawn.size,
        errors=errors,
        risk_errors=curves,
        parts=parts,
        drift=drift,
    )
    if out is not None:
        found.write(out)
    return found
