"""Times of a prediction and of the training that it predicts, estimated before either begins."""

import math

from empirics.prediction.decided_rounds import ROUNDS_DECIDED_FIRST, ROUNDS_FOLLOWED_MAX
from empirics.prediction.eigenbasis import HESSIAN_PARAMETERS_MAX
from empirics.prediction.loss_landscape import POPULATION_WHOLE_MAX, SUBSAMPLE_SIZE, SUBSAMPLES, drawn_alike
from empirics.prediction.study_forecaster import price_paths
from empirics.training.problem import Problem

__all__ = ["WEIGHT_BYTES_MAX", "prediction_seconds", "takes_too_long", "training_seconds"]

WEIGHT_BYTES_MAX = 4e9  # memory for the weights of all samples, and for curves
PREDICTION_SECONDS_MAX = 120  # that `acdpp train` waits for a prediction
PREDICTION_SHARE_MAX = 0.1  # of the training's own time, if that is more
FEATURES_PER_AXIS = 8  # of the axes that a mean path moves along, about
GPU_SPEED = 40  # times a processor's, about


def takes_too_long(problem: Problem) -> bool:
    """True if training should not wait for a prediction."""
    patience = max(PREDICTION_SECONDS_MAX, PREDICTION_SHARE_MAX * training_seconds(problem))
    return prediction_seconds(problem) > patience


def prediction_seconds(problem: Problem) -> float:
    """Estimated seconds on one processor of a small machine, usually right to a factor of two; infinite if the weights
    of all samples do not fit into memory. The factors were fitted to measured times."""
    study, model = problem.study, problem.model
    people, features = problem.population.x.shape
    outputs = model.size / features
    groups = 1 if drawn_alike(study, problem.streams) else study.clients
    steps = max(study.of_policy(name).steps for name in study.policies)
    columns = sum(price_paths(study, name, people, outputs * groups) for name in study.policies) * groups
    falling = study.averages or study.decays  # never settles
    rounds = min(study.rounds, ROUNDS_FOLLOWED_MAX if falling else 2 * ROUNDS_DECIDED_FIRST)
    whole = people <= POPULATION_WHOLE_MAX
    parts, walked, axes = (
        (1, people, features) if whole else (SUBSAMPLES, SUBSAMPLE_SIZE, features / FEATURES_PER_AXIS)
    )
    cells = parts * walked * outputs * columns
    each = 5e-9 + 1e-10 * axes  # per sample, output and column
    drifts = study.drift.mixes
    rounds = min(study.rounds, ROUNDS_FOLLOWED_MAX) if drifts else rounds
    if study.learner == "information":  # the landscape says it all
        rounds = columns = 0
    observations = rounds / 8 if drifts else 4 * math.log2(rounds + 1)
    work = rounds * steps * (cells * each + 1.5e-4)
    work += observations * steps * ((20 + steps) * (cells + 2e4) * 1.5e-8 + cells * (outputs - 1) * 8e-8)
    if parts == 1:
        work += model.size**2 * (4e-10 * people + 1e-9 * model.size)
    else:
        work += observations * people * outputs * columns * (2e-10 * axes + 4e-8)
        work += people * axes * (1e-10 * features + 2e-8 * (outputs + 4))
        work += 2e-10 * people * min(outputs * axes, HESSIAN_PARAMETERS_MAX) ** 2
    held = min(study.rounds, max(rounds, 8 * ROUNDS_DECIDED_FIRST)) * parts * columns
    return math.inf if held * min(model.size, 100) * 8 > WEIGHT_BYTES_MAX else float(work / _speed(problem))


def training_seconds(problem: Problem) -> float:
    """Estimated seconds of training, dominated by the measures over the population in every round; the mismatch takes
    three passes."""
    people, study = len(problem.population.x), problem.study
    each = (3 if "mismatch" in study.measures else 1) * 1.25e-10 * problem.model.size + 1.3e-7
    return study.rounds * study.runs * people * each / _speed(problem)


def _speed(problem: Problem) -> float:
    return GPU_SPEED if problem.population.x.is_cuda else 1
