"""Mean and variance of θ by rounds, against training, against the law that they extend, and in the long run."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.control.schedule import Schedule
from empirics.prediction import mean_path, risk_curve
from empirics.prediction.local_steps import AgeClass, LocalSteps
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.memory import Memories
from empirics.prediction.moments import MomentRecursion
from empirics.prediction.risk_curve import RiskCurve
from empirics.prediction.stationary import StationaryPhase
from empirics.training.engine import Engine, aggregation_weights
from empirics.training.model import Descent
from tests.empirics.small import CONTROL, forecaster_of, problem, study

CASES = {
    "binary": {},
    "inside the ball": {"radius": 300.0, "eta": 0.2},
    "one long step": {"steps": 1, "eta": 2.0},
    "momentum": {"momentum": 0.6},
    "classes": {"labels": "classes"},
    "clients that differ": {"labels": "classes", "partition": "two-class"},
    "weights that differ": {"alpha": (0.6, 0.3, 0.1)},
    "starts that differ": {"per_seed": ("start",), "radius": 1.0},
}


def setting(**given):
    few = {"seeds": 120, "rounds": 40, "checkpoint": 40, "measures": ("risk",)}
    return study(**(few | {"policies": ("acdpp", "constant", "oracle", "hybrid")} | given))


def measured(task):
    """Cumulative excess risk of every run, (policies, seeds)."""
    given = task.study
    log = Engine(task.model, given, task.streams).play(Schedule(given, CONTROL).advance(given.rounds))
    excess = log["risk"] - landscape_of(task).best.risk
    return excess.sum(axis=0).reshape(len(given.policies), -1)


def off(found, forecaster):
    """Error of the predictions in per cent, beyond three standard errors of the measurement, by policy."""
    worst = {}
    for runs, (name, forecast) in zip(found, forecaster.forecasts().items(), strict=True):
        error = 3 * runs.std(ddof=1) / np.sqrt(len(runs))
        worst[name] = 100 * max(abs(forecast.cumulative - runs.mean()) - error, 0) / runs.mean()
    return worst


SLOW = ("classes", "clients that differ")


@pytest.mark.parametrize("case", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in CASES])
def test_predictions_are_what_training_measures(case):
    """With memories of 16 samples and 9 to 36 parameters: harder than any sensible federation."""
    task = problem(setting(**CASES[case]))
    few = {"starts that differ": 12.0}.get(case, 4.0)  # eight starts stand for all
    assert max(off(measured(task), forecaster_of(task)).values()) < few


def test_without_a_samples_own_pull_the_law_is_too_optimistic():
    """With five samples per client, twenty local steps fit each of them."""
    task = problem(setting(policies=("oracle",), steps=20, radius=10.0))
    found, forecaster = measured(task), forecaster_of(task)
    plain = replace(forecaster.landscape, leverage=torch.zeros_like(forecaster.landscape.leverage))
    assert off(found, forecaster)["oracle"] < 1.5
    assert off(found, replace(forecaster, landscape=plain))["oracle"] > 2.5


def memories_of(given):
    rounds = Schedule(given, CONTROL).advance(given.rounds)
    weights = aggregation_weights(given, rounds.occupancy)
    return Memories(rounds.admissions, rounds.starts, rounds.ends, weights)


def curve_of(given, memories=None, start=None, **how):
    """The risk curve of a study with constant step sizes."""
    task = problem(given)
    held, first = memories or memories_of(given), task.model.start(1) if start is None else start
    descent = Descent(given.steps, given.eta, given.momentum)
    return RiskCurve(MomentRecursion(landscape_of(task), descent, held, first, **how))


def test_local_steps_without_observation_follow_the_gradients_linearised_at_the_last_one(monkeypatch):
    monkeypatch.setattr(mean_path, "LINEAR_PARAMETERS_MAX", 0)  # of one output: however many there are
    given = study(policies=("constant",), rounds=2, seeds=1, steps=3, eta=0.7, momentum=0.5)
    land = landscape_of(problem(given))
    start = land.best.theta / 4  # far from the ball
    curve = curve_of(given, start=start, accuracy=risk_curve.Accuracy.SEARCH)
    moments = curve.moments
    moments.excess_risk(observe=True)
    moments.step(observe=True)
    hessian, here, velocity = moments.observed.hessian[0], moments.theta, 0
    torch.testing.assert_close(hessian, land.model.hessian(start))
    moments.step(observe=False)
    for there, slope in moments.observed.slopes:
        velocity = 0.5 * velocity + slope + (here - there) @ hessian
        here = here - 0.7 * velocity
    torch.testing.assert_close(moments.theta, here)


def test_effects_with_the_same_step_size_are_those_of_the_observed_round():
    curve = curve_of(study(policies=("constant",), rounds=4, seeds=1, steps=4, eta=0.7, momentum=0.5))
    curve.play(4)
    local, same = curve.moments.observed.local, torch.tensor([[0.7]], dtype=torch.float64)
    for one, again in zip(local.effects(), local.effects_with(same), strict=True):
        np.testing.assert_allclose(again, one, rtol=1e-12)


def test_a_curve_goes_on_where_it_stopped_with_step_sizes_that_become_known_later():
    given = setting(rounds=40, seeds=1, policies=("constant", "hybrid"))
    sizes = 0.5 / np.sqrt(1 + np.arange(40.0))[:, np.newaxis].repeat(2, axis=1)
    padded = np.where(np.arange(40)[:, np.newaxis] < 21, sizes, sizes[20])  # as if no later round were known
    held, found = replace(memories_of(given), eta=sizes), []
    for first in (sizes, padded):
        parted = curve_of(given, replace(held, eta=first))
        start, _ = parted.play(21)
        parted.moments.extend(held)
        found.append(np.concatenate([start, parted.play(40)[0][1:]]))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], curve_of(given, held).play(40)[0], rtol=1e-3)


def test_a_settled_curve_predicts_later_rounds(monkeypatch):
    monkeypatch.setattr(risk_curve, "ROUNDS_MIN", 16)
    given = setting(rounds=400, seeds=1, policies=("constant", "oracle"))
    whole, early = curve_of(given), curve_of(given)
    risk, _ = whole.play(400)
    early.play(400, settle=True)
    assert early.round < 200
    torch.testing.assert_close(early.settled.risks([early.round])[0][0], early.settled.last.risk)
    np.testing.assert_allclose(early.settled.risks([300, 400])[0], risk[[300, 400]], rtol=0.03)
    np.testing.assert_allclose(early.settled.limit_risk, whole.forecast().limit_risk, rtol=0.03)


def test_a_stationary_phase_moves_along_the_sphere_only_and_its_scatter_decays():
    curve = curve_of(setting(rounds=9, seeds=1, policies=("constant",)))
    curve.play(2)
    first = curve.moments.growth
    curve.play(4)
    np.testing.assert_allclose(curve.forecast().last.growth, (curve.moments.growth - first) / 2)
    curve.play(9)
    last, land = curve.forecast().last, curve.moments.landscape
    contraction, growth = torch.zeros_like(last.contraction), last.scatter.clone()
    growth[:, 0] += 1
    at_rest = replace(last, theta_before=last.theta, contraction=contraction, growth=growth)
    assert land.on_the_ball
    torch.testing.assert_close(StationaryPhase.after(at_rest, land).limit_risk, last.risk)
    halved = StationaryPhase.after(replace(at_rest, contraction=contraction + 0.5, growth=0 * growth), land)
    lost = 0.5 * (1 - 0.5**2) * (last.curvature * last.scatter).sum(1)
    torch.testing.assert_close(halved.risks([last.round + 1])[0][0], last.risk - lost)
    away = replace(at_rest, theta_before=torch.lerp(last.theta, land.best.theta, 0.3))
    path = StationaryPhase.after(replace(away, contraction=contraction - 0.5), land).risks(range(9, 13))[1]
    assert (path.diff(dim=0) < 0).all()  # though rounds overshoot
    for factor in (-1.5, 1.5):  # divergence has no limit near by
        diverging = replace(at_rest, contraction=contraction + factor)
        assert float((StationaryPhase.after(diverging, land).limit / growth).min()) >= 1e9


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("case", ["binary", "classes", "clients that differ"])
def test_a_gpu_predicts_the_same(case):
    given = setting(seeds=2, **CASES[case])
    here, there = (forecaster_of(problem(given, device)).forecasts() for device in ("cpu", "cuda"))
    for name in here:
        np.testing.assert_allclose(there[name].risk, here[name].risk, rtol=1e-6)


def test_a_sample_s_pull_decays_by_the_curvature_of_the_other_samples():
    h, eta, share = torch.tensor([[2.0, 0.5]]), 0.1, 0.25
    age = AgeClass(torch.zeros(1, 2), torch.ones(1, 1), used=False, recent=True)
    age.damping = torch.ones(1, 1)
    local = LocalSteps(torch.full((1, 1), share), torch.ones(1, 2), Descent(3, eta), {0: age})
    assert local.pulls_since_observations() == []
    local.observe(torch.zeros(1, 1, 2), h[None], 3)
    for _ in range(3):
        local.advance()
    kept = 1 - eta * (1 - share) * h
    torch.testing.assert_close(local.by_others, kept**3)
    torch.testing.assert_close(local.pulls_since_observations()[0], share * eta * (1 + kept + kept**2))
    torch.testing.assert_close(local.contraction, 1 - eta * h * (1 + kept + kept**2))


@pytest.mark.parametrize("rounds", [18, 21])
def test_the_last_risks_are_computed_with_as_many_rounds_as_in_a_longer_study(rounds):
    """Sums over more rounds may differ in their last bits."""
    seen = []
    for until in (rounds, 40):
        curve, sizes = curve_of(study(policies=("constant",), seeds=1, rounds=40)), []
        risk = curve.moments.model_risk

        def counted(theta, scatter, risk=risk, sizes=sizes, **how):
            sizes.append(len(theta) if theta.ndim == 3 else 0)
            return risk(theta, scatter, **how)

        curve.moments.model_risk = counted
        curve.play(until)
        seen.append([size for size in sizes if size])
    assert max(seen[0]) > 1
    assert seen[0] == seen[1][: len(seen[0])]
