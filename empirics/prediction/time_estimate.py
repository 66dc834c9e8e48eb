"""How long a prediction takes, and the training that it foretells: about, before either is begun."""

from __future__ import annotations

import math

from empirics.prediction.curves import replicates
from empirics.prediction.decided_rounds import MOST_PLAYED, PLAYED
from empirics.prediction.eigenbasis import MOST_TOGETHER
from empirics.prediction.loss_landscape import MOST, PART, PARTS
from empirics.prediction.survey import drawn_alike
from empirics.training.problem import Problem

__all__ = ["MOST_HELD", "seconds", "training_seconds"]

MOST_HELD = 4e9  # bytes of weights
FOLLOWED = 8  # features for each axis that a mean path moves along, about


def seconds(problem: Problem) -> float:
    """About how long a prediction takes, in seconds of one processor of a small machine; twice wrong in either
    direction is usual."""
    study, model = problem.study, problem.model
    people, features = problem.population.x.shape
    outputs = model.size / features
    groups = 1 if drawn_alike(study, problem.streams) else study.clients
    steps = max(study.of_policy(name).steps for name in study.policies)
    paths = sum(replicates(study, name, min(people, MOST) * outputs * groups) for name in study.policies)
    columns = paths * groups
    falling = study.averages or study.decays  # and never settled
    rounds = min(study.rounds, MOST_PLAYED if falling else 2 * PLAYED)
    parts, walked, axes = (1, people, features) if people <= MOST else (PARTS, PART, features / FOLLOWED)
    cells = parts * walked * outputs * columns
    each = 5e-9 + 1e-10 * axes  # of a sample, output and column
    moved = study.drift.mixes
    rounds = min(study.rounds, MOST_PLAYED) if moved else rounds
    looks = rounds / 8 if moved else 4 * math.log2(rounds + 1)
    work = rounds * steps * (cells * each + 1.5e-4)
    work += looks * steps * ((20 + steps) * (cells + 2e4) * 1.5e-8 + cells * (outputs - 1) * 8e-8)
    if parts == 1:
        work += model.size**2 * (4e-10 * people + 1e-9 * model.size)
    else:
        work += looks * people * outputs * columns * (2e-10 * axes + 4e-8)
        work += people * axes * (1e-10 * features + 2e-8 * (outputs + 4))
        work += 2e-10 * people * min(outputs * axes, MOST_TOGETHER) ** 2
    held = min(study.rounds, max(rounds, 8 * PLAYED)) * parts * columns * min(model.size, 100) * 8
    return math.inf if held > MOST_HELD else float(work / _swift(problem))


def training_seconds(problem: Problem) -> float:
    """About how long the training takes that is predicted: what is measured over the population in every round, which
    is walked three times for the mismatch."""
    people, study = len(problem.population.x), problem.study
    each = (3 if "mismatch" in study.measures else 1) * 1.25e-10 * problem.model.size + 1.3e-7
    return study.rounds * study.runs * people * each / _swift(problem)


def _swift(problem: Problem) -> float:
    return 40 if problem.population.x.is_cuda else 1
