"""A pilot sample in place of the population, and the settings that predictions recommend."""

import numpy as np
import pytest
import torch

from empirics.prediction.best import best_constant
from empirics.prediction.forecast import Outlook
from empirics.prediction.pilot import draw_pilot, jackknife
from empirics.training.problem import from_dataset
from tests.empirics.small import CONTROL, blobs, problem, study


def test_a_pilot_of_everything_is_the_population():
    task = problem(study(policies=("constant",), rounds=20))
    whole = Outlook.of(task, CONTROL).forecasts()["constant"]
    pilot = draw_pilot(task, 120)
    assert pilot.size == 120
    found = Outlook.of(pilot.problem, CONTROL).forecasts()["constant"]
    np.testing.assert_allclose(found.risk, whole.risk, rtol=1e-6)


def test_a_pilot_looks_at_its_samples_alone():
    task = problem(study())
    pilot = draw_pilot(task, 30)
    index = torch.from_numpy(pilot.drawn[0])
    assert len(set(pilot.drawn[0].tolist())) == 30
    torch.testing.assert_close(pilot.problem.population.x, task.population.x[index])
    assert len(pilot.problem.streams.pools[0]) == 3
    parts = list(pilot.parts())
    assert [len(part.population.x) for part in parts] == [24] * 5


def test_clients_that_differ_share_a_pilot_evenly():
    task = problem(study(labels="classes", partition="two-class"))
    pilot = draw_pilot(task, 60)
    assert [len(one) for one in pilot.drawn] == [20, 20, 20]
    for drawn, pool in zip(pilot.drawn, task.streams.pools[0], strict=True):
        assert set(drawn) <= set(pool)
    torch.testing.assert_close(pilot.problem.population.weights.sum(), torch.tensor(1.0, dtype=torch.float64))


def test_the_error_of_a_pilot_is_about_what_pilots_differ_by():
    """Over many pilots of a larger population, the jackknife's error against the true spread."""
    data = blobs(samples=2000)
    values, errors = [], []
    for seed in range(40):
        pilot = draw_pilot(from_dataset(study(seed=seed), data, torch.device("cpu")), 50)
        values.append(float(pilot.problem.population.x.mean()))
        parts = np.array([[float(part.population.x.mean())] for part in pilot.parts()])
        errors.append(float(jackknife(parts)[0]))
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) / np.std(values) < 1.6


def test_the_best_retention_is_next_to_x():
    given = study(rounds=40, policies=("constant",), seeds=1)  # x = 16·5.5/22 = 4
    best = best_constant(Outlook.of(problem(given), CONTROL), eta=False)
    assert best.K in (3, 4, 5)
    assert best.rate == pytest.approx(min(4, 16 / best.K), rel=0.1)
    assert (best.eta, best.steps) == (0.5, 3)
    assert best.value == min(one["cumulative"] for one in best.tried)
    assert {one["K"] for one in best.tried} == {2, 3, 4, 5, 8}
