"""The landscape of a study's problem, or why nothing can be predicted of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from empirics.prediction.decided_rounds import MOST_PLAYED
from empirics.prediction.loss_landscape import Landscape, Parts, mixed, survey
from empirics.prediction.subsample import Whole
from empirics.settings.study import Study
from empirics.training.linear import Linear
from empirics.training.problem import Problem
from empirics.training.risk import Least, alone, minimise
from empirics.training.streams import Streams
from theory.setting import SettingError

__all__ = ["drawn_alike", "landscape_of", "refusal"]

SEEN = 0.01


def refusal(problem: Problem) -> str | None:
    """Why nothing can be predicted, if so."""
    study = problem.study
    if not isinstance(problem.model, Linear):
        return "the law of reuse needs the curvature at a minimiser: it predicts logistic regression alone"
    if study.radius is None:
        return "without a ball there is no least risk to be above of: give the study a radius"
    if study.drift.kind == "order":
        return "samples come in their own order, and there is no population to be above the least risk of"
    if not problem.streams.moves_as_one(study):
        return "clients that differ drift apart, and their population is no mixture of two that could be followed"
    if study.drift.mixes and study.rounds > MOST_PLAYED:
        return f"the population moves, and is followed for {MOST_PLAYED:,} rounds at most"
    if int(problem.population.support.sum()) < 2:
        return "the population is a single sample: there is nothing to learn"
    return None


def landscape_of(problem: Problem) -> Landscape:
    """The landscape of a study's problem; of replicates with partitions of their own, the first one's."""
    reason, study = refusal(problem), problem.study
    if reason is not None or not isinstance(problem.model, Linear) or study.radius is None:
        raise SettingError(f"nothing can be predicted: {reason}")
    model = next(alone(problem.model))
    if not study.drift.mixes:
        return survey(model, _groups(study, problem.streams), study.radius)
    first, second = (_groups(study, problem.streams, k).to(model.population.x) for k in range(2))
    parts = [torch.from_numpy(problem.streams.of_part(k)[0]).to(model.population.x) for k in range(2)]
    mixing, least = study.mixing(1, study.rounds + 1), problem.least
    assert least is not None
    w = float(mixing.mean().clip(SEEN, 1 - SEEN))  # so that both parts are seen, whatever the rounds
    mean = Linear(replace(model.population, weights=mixed(parts, w)[None]))
    along = torch.from_numpy(least.of_runs(len(least.values), mixing)[:, 0])
    place = model.population.x.device
    moving = Parts((first, second), (parts[0], parts[1]), torch.from_numpy(mixing).to(place), along.to(place))
    found = survey(mean, mixed((first, second), w), study.radius, moving)
    return found if found.whole is None else _along_axes(found, found.whole, moving, least)


def _along_axes(land: Landscape, whole: Whole, moving: Parts, least: Least) -> Landscape:
    """With the least risk that there is along the axes of a landscape: what each part has more there, as it mixes."""
    ends = least.of_runs(len(least.values), np.array([0.0, 1.0]))[:, 0]
    more = [minimise(whole.of_part(k).model, land.radius).risk - float(ends[k]) for k in range(2)]
    assert land.parts is not None
    higher = moving.least + more[0] + moving.mixing * (more[1] - more[0])
    return replace(land, parts=replace(land.parts, least=higher))


def _groups(study: Study, streams: Streams, part: int = 0) -> Tensor:
    """Where samples come from, of a part: one distribution for all clients, or each client's own."""
    if drawn_alike(study, streams):
        return torch.from_numpy(streams.of_part(part)[:1])
    pools = (streams.later or streams.pools)[0] if part else streams.pools[0]
    rows = torch.zeros(len(pools), streams.population, dtype=torch.float64)
    for row, pool in zip(rows, pools, strict=True):
        row[torch.from_numpy(pool)] = 1 / len(pool)
    return rows


def drawn_alike(study: Study, streams: Streams) -> bool:
    """Whether every sample of every client is drawn and weighed alike."""
    equal = study.weights == "samples" or study.alpha is None or len(set(study.alpha)) == 1
    return equal and all(pool is streams.pools[0][0] for pool in streams.pools[0])
