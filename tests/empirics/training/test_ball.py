"""The ball and the steps that suit data of one's own."""

import re
import tomllib
from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.data import Dataset
from empirics.records.folder import read_settings
from empirics.training.ball import CLOSE, fit_ball
from empirics.training.problem import from_dataset
from tests.acdpp.program import acdpp, refusal
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


def test_a_ball_is_judged_by_samples_that_it_was_not_fitted_to():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 40)).astype(np.float32), rng.integers(0, 2, 300)
    data = Dataset.of("noise", (x, y), (x, y), 2)
    found = fit_ball(from_dataset(study(radius=5.0, labels="classes"), data, torch.device("cpu")))
    assert found.radius == 5


def test_without_a_ball_none_is_fitted():
    task = problem(study())
    assert "with a radius alone" in refused(fit_ball, replace(task, study=replace(task.study, radius=None)))


def test_one_option_takes_the_ball_that_suits_and_without_it_one_is_told(tmp_path):
    task = told_apart(0.1)
    np.savez(tmp_path / "apart.npz", x=task.population.x.numpy(), y=task.population.y.numpy())
    words = [
        "train",
        "--dataset",
        f"npz:{tmp_path}/apart.npz",
        "--preset",
        "own",
        "--rounds",
        "3",
        "--seeds",
        "1",
    ]
    fitted = acdpp(*words, "--fit", "--show-config")
    assert "note: chosen by a pilot: radius" in fitted.stderr
    (chosen,) = re.findall(r"radius (\d+), the smallest ball", fitted.stderr)
    told = tomllib.loads(fitted.stdout)
    assert told["radius"] == float(chosen) > 10
    assert told["eta"] == pytest.approx(4 / float(task.model.square_norms.max()), rel=0.1)
    plain = acdpp(*words, "--policies", "constant", "--out", str(tmp_path / "out"))
    assert "the ball of radius 10 binds: on held-out samples" in plain.stderr
    assert f"with radius {chosen}; --fit takes that one" in plain.stderr
    assert read_settings(tmp_path / "out")["study"]["radius"] == 10
    assert "leave it out with --resume" in refusal("train", "--resume", str(tmp_path / "out"), "--fit")
    assert "--fit needs logistic regression on a ball" in refusal(
        *words, "--fit", "--drift", "gradual,length=3"
    )
