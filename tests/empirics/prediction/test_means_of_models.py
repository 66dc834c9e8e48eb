"""Means of models, steps that change from round to round, and idle rounds: against the law, and against training."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.control.schedule import plan
from empirics.prediction import moments, risk_curve, study_forecaster
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.memory import Memories
from empirics.prediction.moments import MomentRecursion
from empirics.prediction.risk_curve import RiskCurve
from empirics.prediction.stationary import law_floor
from empirics.training.engine import Engine, aggregation_weights
from empirics.training.model import Descent
from tests.empirics.small import CONTROL, forecaster_of, problem, study
from theory.law.averaging import averaged_risk, contractions, equal, latest, over_models, polynomial
from theory.law.quadratic import by_age

ROUNDS, STEPS = 40, 3
ETA = 1.5 / np.sqrt(1 + np.arange(ROUNDS) / 8)


def memories(given, admissions, K):
    """Of one run whose samples stay for K rounds."""
    ends = np.cumsum(admissions, axis=0)
    starts = np.concatenate([np.zeros((K, ends.shape[1]), dtype=int), ends[:-K]])
    weights = aggregation_weights(given, ends - starts)
    tables = (one[:, np.newaxis] for one in (admissions, starts, ends, weights, ETA))
    return Memories(*tables)


def bursts(given, every=3):
    """Every third round is filled up, from the second on."""
    found = np.zeros((ROUNDS, given.clients), dtype=int)
    found[1::every] = given.buffers
    return found


@pytest.mark.parametrize("share", [latest, equal, lambda k: polynomial(k, 3)])
def test_with_large_memories_the_recursion_is_the_law_of_averaged_models(share):
    """With many samples none pulls its own way by much: the law of `theory` is left, to its numbers."""
    given = study(policies=("constant",), radius=300.0)
    land, admissions = landscape_of(problem(given)), 20_000 * bursts(given)
    held = memories(given, admissions, 2)
    w = np.array(over_models(share, held.trained[:, 0]), dtype=float)
    kept = held if share is latest else replace(held, share=w[1:, np.newaxis])
    moments = MomentRecursion(land, Descent(STEPS, ETA[0]), kept.without_idle(), land.best.theta)
    found, _ = RiskCurve(moments).play(int(held.trained.sum()))
    h = land.curvature.numpy()
    memory, left = by_age(admissions.sum(axis=1), 2), contractions(h, ETA, STEPS)
    law = averaged_risk(memory, ROUNDS, left, w, h=h, variance=land.noise.numpy() / h**2, start=0 * h)
    clock = np.concatenate([[0], np.cumsum(held.trained[:, 0])])
    np.testing.assert_allclose(found[clock, 0][3:], law.noise[3:], rtol=3e-3)


def test_means_of_models_decaying_steps_and_rounds_without_samples_are_predicted():
    """To 5 % of the measured risk over all rounds; means of models are followed to the end."""
    names = ("burst", "burst@K=2,average=polynomial,average_by=3", "constant", "constant@average=none")
    own = {"rounds": ROUNDS, "checkpoint": ROUNDS, "seeds": 40, "average": "equal", "eta": 1.5, "decay": 8}
    given = study(policies=names, **own)
    task, rounds = problem(given), plan(given, CONTROL)
    assert (rounds.track.n == 0).any()
    log = Engine(task.model, given, task.streams).play(rounds)
    found = forecaster_of(task).forecasts()
    for p, (name, one) in enumerate(found.items()):
        mine = slice(p * given.seeds, (p + 1) * given.seeds)
        measured = log["risk"][:, mine].mean(1).sum() - ROUNDS * landscape_of(task).best.risk
        assert one.cumulative == pytest.approx(measured, rel=0.05), name
        assert (one.risk >= one.path).all()
        assert (one.noise_floor, one.followed) == (pytest.approx(one.risk[-1]), ROUNDS)


def test_falling_steps_are_extrapolated_beyond_the_followed_rounds(monkeypatch):
    monkeypatch.setattr(study_forecaster, "ROUNDS_DECIDED_FIRST", 16)
    given = study(policies=("constant",), rounds=80, seeds=1, eta=1.5, decay=5)
    whole = forecaster_of(problem(given))
    every, some = (one.forecasts()["constant"] for one in (whole, replace(whole, follow_rounds_max=32)))
    assert (every.followed, some.followed) == (80, 32)
    assert some.risk[-1] == pytest.approx(every.risk[-1], rel=0.1)


def test_a_policy_that_never_trains_stays_at_its_start():
    never = study(policies=("constant",), rounds=40, budget=0.001)
    (one,) = forecaster_of(problem(never)).forecasts().values()
    assert one.noise_floor == one.risk[-1] == pytest.approx(one.risk[0])


@pytest.mark.parametrize("alpha", [None, (0.5, 0.3, 0.2)])
def test_a_noise_floor_is_of_the_rounds_that_a_run_has_trained_and_of_its_step_size(alpha):
    """Also where clients that differ are groups, each of which has a row of step sizes."""
    given = study(policies=("constant",), alpha=alpha)
    land = landscape_of(problem(given))
    sizes = torch.tensor(ETA[:2]).repeat_interleave(len(land.groups))[:, None]
    each = [memories(given, bursts(given, every), 1) for every in (3, 5)]
    tables = ([table for table in vars(one).values() if table is not None] for one in each)
    both = Memories(*(np.concatenate(pair, axis=1) for pair in zip(*tables, strict=True)))
    found = law_floor(land, Descent(STEPS, sizes), both.without_idle(), both.trained.sum(axis=0))
    alone = [
        law_floor(land, Descent(STEPS, eta), one.without_idle(), one.trained.sum(axis=0))
        for eta, one in zip(ETA, each, strict=False)
    ]
    np.testing.assert_allclose(found, np.concatenate(alone), rtol=1e-12)


@pytest.fixture(scope="module")
def full():
    learners = [f"eta={eta},average=polynomial,average_by=3" for eta in (1, 2)]
    names = [f"{base},{own}" for own in learners for base in ("constant@K=3", "burst@K=1")]
    given = study(policies=(*names, "burst@eta=2,average=none"), rounds=48, seeds=1)
    forecaster = forecaster_of(problem(given))
    return forecaster, forecaster.forecasts()


@pytest.mark.parametrize(("accuracy", "near"), [(Accuracy.SEARCH, 0.03), (Accuracy.COARSE, 0.1)])
def test_a_less_accurate_forecast_is_near_the_full_one(accuracy, near, full):
    forecaster, wanted = full
    found = replace(forecaster, accuracy=accuracy).forecasts()
    for name, other in wanted.items():
        one = found[name]
        assert one.cumulative == pytest.approx(other.cumulative, rel=near)
        assert one.risk[-1] == pytest.approx(other.risk[-1], rel=near)
        assert one.cumulative != other.cumulative


def test_a_coarse_curve_settles_sooner_and_is_near_the_full_one(monkeypatch):
    monkeypatch.setattr(risk_curve, "ROUNDS_MIN", 16)
    given = study(policies=("constant",), rounds=300, seeds=1, steps=1, eta=1.5)
    full = forecaster_of(problem(given))
    (other,) = full.forecasts().values()
    (one,) = replace(full, accuracy=Accuracy.COARSE).forecasts().values()
    assert one.settled
    assert one.followed < other.followed < 300
    assert one.cumulative == pytest.approx(other.cumulative, rel=0.01)
    assert one.risk[-1] == pytest.approx(other.risk[-1], rel=0.02)


@pytest.mark.parametrize("accuracy", [Accuracy.FULL, Accuracy.SEARCH])
@pytest.mark.parametrize("alpha", [None, (0.6, 0.3, 0.1)])
def test_rounds_computed_together_are_as_one_after_the_other(accuracy, alpha, monkeypatch):
    own = {"decay": 9.0, "average": "polynomial", "average_by": 2.0, "momentum": 0.5, "alpha": alpha}
    given = study(policies=("constant", "hybrid"), rounds=24, seeds=1, steps=3, **own)
    forecaster = replace(forecaster_of(problem(given)), accuracy=accuracy)
    together = forecaster.forecasts()
    monkeypatch.setattr(moments, "STEP_SIZES_AT_ONCE", 1)
    monkeypatch.setattr(risk_curve, "RISK_CELLS", 1)
    for name, one in forecaster.forecasts().items():
        np.testing.assert_allclose(together[name].risk, one.risk, rtol=1e-9)
