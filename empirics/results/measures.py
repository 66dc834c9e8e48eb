"""Measures derived from those of the engine: the excess risk, and all measures once more after the last round."""

import numpy as np
import torch
from torch import Tensor

from empirics.columns import LAST, Arrays
from empirics.results.divergence import CALMER, nan_if_diverged
from empirics.settings.study import Study
from empirics.training.model import Scoring
from empirics.training.problem import Problem
from empirics.training.risk import Least
from empirics.training.world import World
from theory.setting import SettingError

__all__ = ["concluded", "final_measures", "last_measures", "least_for", "with_excess"]


def least_for(problem: Problem) -> Least | None:
    """The least risk on the ball, where there is one and the risk is measured."""
    return problem.least if "risk" in problem.study.measures else None


def with_excess(study: Study, measured: Arrays, least: Least | None, first: int) -> Arrays:
    """Add the excess risk beside every risk, where the least risk is known, of rounds from `first` on."""
    if least is None:
        return measured
    risks = [name for name in (f"{LAST}risk", "risk") if name in measured]
    weight = study.mixing(first, first + len(np.atleast_2d(measured["risk"])) - 1)
    there = least.of_runs(study.runs, weight, first)
    above = {name.replace("risk", "excess_risk"): measured[name] - there for name in risks}
    return measured | {name: values.reshape(measured["risk"].shape) for name, values in above.items()}


def final_measures(
    problem: Problem, theta: Tensor, least: Least | None, mean: Tensor | None = None
) -> Arrays:
    """Measured after the last round: at θ(T+1) or, if there is a mean, of that, and of θ(T+1) as the last iterate.

    Where the population moves, it is that of round T+1.
    """
    return concluded(problem.study, last_measures(problem, theta, mean), least)


def last_measures(problem: Problem, theta: Tensor, mean: Tensor | None = None) -> Arrays:
    """Final measures of some runs of a study, without those that need the whole study."""
    study = problem.study
    if study.drift.kind != "none":
        World(study, problem.streams, problem.population).show_round(study.rounds + 1)
    last = _final(problem, theta)
    return last if mean is None else _final(problem, mean) | {LAST + name: v for name, v in last.items()}


def concluded(study: Study, last: Arrays, least: Least | None) -> Arrays:
    """Final measures of all runs, with the excess risk; refused if no run is finite."""
    if study.diverging == "refuse" and any(np.isnan(last[n]).all() for n in last if n.endswith("accuracy")):
        raise SettingError(f"training diverged: no run is finite after the last round: {CALMER}")
    return with_excess(study, last, least, study.rounds + 1)


def _final(problem: Problem, theta: Tensor) -> Arrays:
    with torch.no_grad():
        found = {"accuracy": problem.model.accuracy(theta)}
        if isinstance(problem.model, Scoring):
            found["log_loss"] = problem.model.log_loss(theta)
        if "risk" in problem.study.measures:
            found["risk"] = problem.model.measure(theta, None)["risk"]
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    lost = ~torch.isfinite(theta).all(dim=1).cpu().numpy()
    return nan_if_diverged({name: np.where(lost, np.nan, values) for name, values in arrays.items()})
