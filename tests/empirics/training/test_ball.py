"""The ball and the steps that suit data of one's own."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.data import Dataset
from empirics.training.ball import CLOSE, fit_ball
from empirics.training.problem import from_dataset
from tests.empirics.small import problem, refused, study


def told_apart(margin, samples=600):
    """Two classes whose inputs, of norm one, lie so far apart along one axis of five, with a tenth of labels wrong."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, samples)
    x = rng.normal(size=(samples, 5))
    x[:, 0] = margin * (2 * y - 1)
    y = np.where(rng.random(samples) < 0.1, 1 - y, y)
    data = Dataset.of(
        "apart", (x[:-100].astype(np.float32), y[:-100]), (x[-100:].astype(np.float32), y[-100:]), 2
    )
    return from_dataset(study(radius=5.0, labels="classes"), data, torch.device("cpu"))


def test_a_ball_that_binds_is_told_with_the_one_that_suits():
    found = fit_ball(told_apart(0.1))
    assert found.radius > found.given == 5
    assert found.accuracy(found.radius) > found.accuracy(5.0) + CLOSE
    assert (
        f"the ball of radius 5 binds: on held-out samples of a pilot {found.accuracy(5.0):.0%}"
        in found.warning
    )
    assert f"radius {found.radius:g}, the smallest ball" in found.chosen
    least = min(found.losses)
    assert found.losses[found.radii.index(found.radius)] < 1.1 * least
    assert found.losses[0] > 1.1 * least


def test_a_ball_that_is_large_enough_is_not_told_and_steps_follow_from_the_smoothness():
    found = fit_ball(told_apart(3.0))
    assert found.warning is None
    task = told_apart(3.0)
    assert found.eta == pytest.approx(4 / float(task.model.square_norms.max()))
    four = problem(study(labels="classes"))
    assert fit_ball(four).eta == pytest.approx(2 / float(four.model.square_norms.max()))
    assert fit_ball(four).given in fit_ball(four).radii


def test_without_a_ball_none_is_fitted():
    assert "with a radius alone" in refused(fit_ball, replace_radius(problem(study())))


def replace_radius(task):
    return replace(task, study=replace(task.study, radius=None))
