"""The ball and the steps that suit data of one's own."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
import torch

from acdpp.fit import suiting
from empirics import Study, as_dataset
from empirics.results.folder import read_settings
from empirics.settings.toml import toml_of_changes
from empirics.training import fit as ball
from empirics.training.fit import ACCURACY_COST_MAX, Ball, BallFit, fit_ball, fitted_study
from empirics.training.linear import Linear
from empirics.training.risk import minimise
from tests.acdpp.program import acdpp, refusal
from tests.empirics.data.made_data import bright_squares, put
from tests.empirics.small import problem, refused, study


def told_apart(margin, samples=600):
    """Two classes whose inputs, of norm one, lie so far apart along one axis of five, with a tenth of labels wrong."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, samples)
    x = rng.normal(size=(samples, 5))
    x[:, 0] = margin * (2 * y - 1)
    y = np.where(rng.random(samples) < 0.1, 1 - y, y)
    return problem_of((x[:-100], y[:-100]), (x[-100:], y[-100:]))


def problem_of(train, test, radius=5.0):
    """A problem with these arrays on a small ball."""
    return problem(study(radius=radius, labels="classes"), data=as_dataset((*train, *test)))


def test_a_ball_that_binds_is_told_with_the_one_that_suits():
    found = fit_ball(told_apart(0.2), ["eta"])
    assert found.given == found.chosen
    assert found.best.radius > found.given.radius == 5
    assert found.best.accuracy > found.given.accuracy + ACCURACY_COST_MAX
    assert f"{found.given.accuracy:.0%} are right with these, {found.best.accuracy:.0%} with" in found.warning
    assert found.best.loss < 1.1 * min(one.loss for one in found.tried) < found.given.loss
    free = fit_ball(told_apart(0.2))
    assert (free.chosen, free.warning) == (found.best, None)
    assert max(one.radius for one in free.tried) == 2 * free.chosen.radius  # which is no better
    assert f"radius {free.chosen.radius:g}, the smallest ball" in free.words
    assert f"{free.given.accuracy:.0%} with radius 5 and scale unit" in free.words


def test_a_ball_that_is_large_enough_is_not_told_and_steps_follow_from_the_smoothness():
    found = fit_ball(told_apart(3.0), ["radius", "eta"])
    assert found.warning is None
    assert found.chosen.scale == "unit"
    task = told_apart(3.0)
    assert found.eta == pytest.approx(4 / float(task.model.square_norms.max()))
    four = problem(study(labels="classes"))
    steps = 2 / float(four.model.square_norms.max())
    assert fit_ball(four).eta == pytest.approx(steps)
    assert fit_ball(four, ["radius"]).eta == four.study.eta
    for first, wanted in ((1.0, 1.0), (100.0, 2 * steps)):
        falling = replace(four, study=replace(four.study, decay=50.0, eta=first))
        assert fit_ball(falling).eta == pytest.approx(wanted)


def sizes(samples=300):
    """Two features tell two classes apart; the third is a thousand times as large, and tells nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(samples, 3)), rng.integers(0, 2, samples)
    x[:, :2] += 1.5 * y[:, np.newaxis]
    return x * [1, 1, 1000] + [0, 5, 0], y


def test_features_of_very_different_sizes_are_all_made_to_vary_by_one():
    chosen, why = fitted_study(sizes(), budget=30)
    assert (chosen.scale, chosen.budget) == ("standard", 30)
    assert "scale standard (all features vary by 1)" in why
    kept, _ = fitted_study(sizes(), scale="unit", radius=7)
    assert (kept.scale, kept.radius, kept.eta) == ("unit", 7, pytest.approx(4, rel=0.1))
    even, _ = fitted_study((sizes()[0] / [1, 1, 1000], sizes()[1]))
    assert even.scale == "unit"
    whole = problem(chosen, data=as_dataset(sizes()))
    spread = whole.population.x.std(0, correction=0)[:-1]
    assert torch.allclose(spread, spread[0].expand(3))
    assert float(whole.model.square_norms.max()) == pytest.approx(1)


def test_a_ball_is_judged_by_samples_that_it_was_not_fitted_to():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 40)), rng.integers(0, 2, 300)
    found = fit_ball(problem_of(noise, noise))
    assert found.chosen.radius == 5
    assert [one.radius for one in found.tried if one.scale == "unit"] == [5, 10]  # which is no better


@pytest.mark.parametrize(("classes", "share"), [(2, 4), (5, 2)])
def test_two_thirds_of_the_pilot_are_fitted_by_steps_of_1_over_L_and_the_others_tell_the_loss(
    classes, share, monkeypatch
):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(500, 5)), rng.integers(0, classes, 500)
    task = problem_of(data, data)
    x, y = task.population.x.double(), task.population.y
    order = torch.randperm(500, generator=torch.manual_seed(0))
    fitted, held = order[torch.arange(500) % 3 > 0], order[::3]
    even = torch.full((1, len(fitted)), 1 / len(fitted), dtype=torch.float64)
    part = Linear(replace(task.population, x=x[fitted], y=y[fitted], weights=even))

    def loss(theta):
        return float(part.losses(part.logits(theta, x[held]), y[held]).mean())

    assert fit_ball(task).tried[0].loss == pytest.approx(loss(minimise(part, 5.0).theta), rel=1e-3)
    step = share / float(part.square_norms.max()) * part.risk_and_gradient(part.start(1))[1]
    monkeypatch.setattr(ball, "FIT_GAP_MAX", 10.0)  # 0 is near enough
    assert fit_ball(task).tried[0].loss == pytest.approx(np.log(classes))
    monkeypatch.setattr(ball, "FIT_GAP_MAX", 0.0)
    monkeypatch.setattr(ball, "FIT_STEPS_MAX", 1)
    assert fit_ball(task).tried[0].loss == pytest.approx(loss(-step), rel=1e-6)


def test_a_radius_between_those_tried_ends_no_search_and_is_not_said_to_be_chosen():
    task = told_apart(0.2)
    found = [fit_ball(replace(task, study=replace(task.study, radius=r))) for r in (10.0, 10.01)]
    assert found[0].chosen.radius == found[1].chosen.radius > 10.01
    large = fit_ball(replace(task, study=replace(task.study, radius=640.0)), ["eta"])
    assert "radius 640, which was given" in large.words
    assert "and steps of size 1/L" in large.words
    assert large.warning is None


def test_the_largest_ball_that_was_tried_is_told_where_it_still_binds():
    x = np.linspace(-1, 1, 600)[:, np.newaxis] + [[0, 40]]  # a shift that leaves little of the slope
    found = fit_ball(problem_of((x, (x[:, 0] > 0).astype(int)), (x, np.ones(600, int))), ["radius"])
    assert found.chosen.radius == 320
    assert "no larger one was tried" in replace(found, best=found.chosen).warning
    assert "with a radius alone" in refused(fit_ball, problem(study(radius=None)))


def test_few_samples_and_those_with_times_choose_nothing(tmp_path):
    x, y = sizes(29)
    when = {"time": np.arange(29.0)}
    for given, reason in (({}, "too few"), (when, "may move")):
        data = {"x": x, "y": y, "test_x": x, "test_y": y, **given}
        unchanged, why = fitted_study(data, buffers=(3, 4), budget=5.0)
        assert reason in why
        assert (unchanged.scale, unchanged.radius) == ("unit", 10)
    np.savez(tmp_path / "few.npz", x=x, y=y)
    named, _ = fitted_study(f"npz:{tmp_path}/few.npz", buffers=(3, 4), budget=5.0)
    assert named.dataset == f"npz:{tmp_path}/few.npz"
    assert "29 samples choose no ball" in refused(fit_ball, problem_of((x, y), (x, y)))


def test_data_of_ones_own_choose_and_what_is_given_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(ball, "FIT_STEPS_MAX", 40)  # near enough
    x, y = sizes(900)
    np.savez(tmp_path / "apart.npz", x=x, y=y)
    own = ["--dataset", f"npz:{tmp_path}/apart.npz", "--rounds", "3"]
    words = ["train", *own, "--preset", "own", "--seeds", "1", "--policies", "constant"]

    def told(*more):
        done = acdpp(*words, *more, "--show-config")
        study = tomllib.loads(done.stdout)
        return (study["scale"], study["radius"], study["eta"]), done.stderr

    chosen, said = told()
    assert f"radius {chosen[1]:g}, the smallest ball" in said
    assert (chosen[0], chosen[1] > 10, chosen[2]) == ("standard", True, 4)
    assert told("--eta", "0.3")[0] == (*chosen[:2], 0.3)
    assert told("--radius", "7")[0][1] == 7
    assert told("--no-fit") == (("unit", 10, 0.5), "")
    (tmp_path / "few.toml").write_text(f'dataset = "npz:{tmp_path}/apart.npz"\nradius = 12\n')
    config = ["--config", str(tmp_path / "few.toml")]
    assert told(*config)[0][1] == 12
    (tmp_path / "all.toml").write_text(toml_of_changes(Study(dataset=f"npz:{tmp_path}/apart.npz")))
    kept, said = told("--config", str(tmp_path / "all.toml"))  # all three are written down
    assert (kept, "cost accuracy" in said) == (("unit", 10, 0.5), True)
    assert told(*config, "--fit")[0][1] == chosen[1]
    # the result has what was chosen; what was designed says it, and is trained with it
    assert acdpp(*words, "--out", str(tmp_path / "out")).returncode == 0
    recorded = read_settings(tmp_path / "out")["study"]
    assert (recorded["scale"], recorded["radius"], recorded["eta"]) == chosen
    resumed = acdpp("resume", str(tmp_path / "out"), "--rounds", "4")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert "logistic regression on a ball" in refusal(*words, "--fit", "--drift", "gradual,length=3")
    few = [*own, "--no-best", "--policies", "constant"]
    for more, samples in (((), 720), (("--pilot", "200"), 200)):
        assert f"samples of {samples} is that" in acdpp("predict", *few, *more).stderr
    assert "chosen" not in acdpp("train", "--rounds", "3", "--show-config").stderr


def test_data_are_fitted_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setattr(ball, "FIT_STEPS_MAX", 40)
    data_dir = put(tmp_path, bright_squares())
    assert suiting(Study(dataset="mnist"), ["eta"], data_dir=data_dir, anyway=True).applied(Study()).eta > 0


def test_a_ball_is_told_to_bind_where_it_surely_costs_accuracy():
    best = Ball("unit", 10.0, 0.3, 0.75)
    for samples, least in ((48, 0.5), (10**6, 0.75 - ACCURACY_COST_MAX)):  # so many right are enough
        for accuracy, binds in ((least, False), (np.nextafter(least, 0), True)):
            chosen = Ball("unit", 5.0, 0.4, accuracy)
            found = BallFit((chosen, best), chosen, chosen, best, 1.0, 1.0, "", samples, frozenset())
            assert ("cost accuracy" in (found.warning or "")) == binds


@pytest.mark.parametrize(("last", "told"), [(160.0, False), (320.0, True)])
def test_the_largest_ball_of_each_scale_is_told_where_it_still_binds(last, told):
    unit, standard = Ball("unit", last, 0.3, 0.75), Ball("standard", 5.0, 0.3, 0.75)
    for tried in ((unit, standard), (standard, unit)):
        found = BallFit(tried, unit, unit, unit, 1.0, 1.0, "", 300, frozenset({"radius"}))
        assert ("no larger one was tried" in (found.warning or "")) == told


def test_inputs_of_another_scale_are_those_of_a_study_with_that_scale(monkeypatch):
    monkeypatch.setattr(ball, "SAMPLES_AT_ONCE", 7)
    data = as_dataset((*sizes(), *sizes()))
    tried = {}
    for scale in ("unit", "standard"):
        found = fit_ball(problem(study(labels="classes", scale=scale), data=data))
        tried[scale] = {one.radius: one.loss for one in found.tried if one.scale == "standard"}
    assert tried["unit"] == pytest.approx(tried["standard"], rel=1e-5)
