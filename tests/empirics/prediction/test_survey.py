"""The landscape of a study's problem: where samples come from, and what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import torch

from empirics.prediction.survey import _groups, drawn_alike, landscape_of, refusal
from empirics.training.problem import from_dataset
from tests.empirics.small import blobs, problem, refused, study


def test_what_the_law_cannot_say_is_refused():
    assert "radius" in refusal(problem(study(radius=None)))
    network = from_dataset(study(), blobs(), torch.device("cpu"), torch.nn.Linear(8, 2))
    assert "logistic" in refusal(network)
    assert "nothing can be predicted" in refused(landscape_of, network)
    task = problem(study())
    assert refusal(task) is None
    for count, reason in ((1, "single sample"), (2, "None")):
        weights = (torch.arange(120) < count) / count
        few = replace(task, population=replace(task.population, weights=weights[None]))
        assert reason in str(refusal(few))


def test_each_part_draws_from_its_own_pools():
    pool = np.arange(2)
    alone = SimpleNamespace(pools=[[pool]], of_part=lambda part: np.eye(2))  # of each replicate
    assert _groups(study(buffers=(4,)), alone).tolist() == [[1, 0]]
    one = SimpleNamespace(pools=[[pool] * 3])
    for alpha, alike in (((1 / 3,) * 3, True), ((0.5, 0.25, 0.25), False)):
        assert drawn_alike(study(alpha=alpha), one) == alike
    first, later = ([np.array([0, 2]), np.array([1])], [np.array([1]), np.array([2])])
    streams = SimpleNamespace(pools=[first], later=[later], population=3)
    assert [_groups(study(), streams, part).tolist() for part in (0, 1)] == [
        [[0.5, 0, 0.5], [0, 1, 0]],
        [[0, 1, 0], [0, 0, 1]],
    ]
