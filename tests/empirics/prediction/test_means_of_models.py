"""Means of models, steps that change from round to round, and idle rounds: against the law, and against training."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.control.schedule import plan
from empirics.prediction import curves, loss_landscape, moments, risk_curve
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.memory import Memories
from empirics.prediction.moments import MomentRecursion
from empirics.prediction.risk_curve import RiskCurve
from empirics.prediction.stationary import law_floor
from empirics.training.engine import Engine, aggregation_weights
from empirics.training.model import Descent
from empirics.training.problem import from_dataset
from tests.empirics.small import CONTROL, Steady, blobs, problem, study
from theory.law.averaging import averaged_risk, contractions, equal, over_models, polynomial
from theory.law.quadratic import by_age

ROUNDS, STEPS, REPLICATES = 40, 3, 2000
MEANS = ("equal", "polynomial,average_by=3")
ETA = 1.5 / np.sqrt(1 + np.arange(ROUNDS) / 8)


def cubic(k):
    return polynomial(k, 3)


def memories(given, admissions, K, eta, share):
    """Of one run whose samples stay for K rounds."""
    ends = np.cumsum(admissions, axis=0)
    starts = np.concatenate([np.zeros((K, ends.shape[1]), dtype=int), ends[:-K]])
    weights = aggregation_weights(given, ends - starts)
    tables = (one[:, np.newaxis] for one in (admissions, starts, ends, weights, eta, share))
    return Memories(*tables)


def bursts(given, every=3):
    """Every third round is filled up, from the second on."""
    found = np.zeros((ROUNDS, given.clients), dtype=int)
    found[1::every] = given.buffers
    return found


def shares(share, admissions, K):
    held = np.array([admissions[max(t + 1 - K, 0) : t + 1].sum() for t in range(ROUNDS)])
    return np.array(over_models(share, held > 0), dtype=float)


def played(land, held, start):
    """Risk and the path's part, by training."""
    moments = MomentRecursion(land, Descent(STEPS, ETA[0]), held.without_idle(), start)
    return RiskCurve(moments).play(int(held.trained.sum()))


@pytest.mark.parametrize("share", [equal, cubic])
def test_with_large_memories_the_recursion_is_the_law_of_averaged_models(share):
    given = study(policies=("constant",), radius=300.0)
    land, admissions = landscape_of(problem(given)), 20_000 * bursts(given)
    w = shares(share, admissions, 2)
    held = memories(given, admissions, 2, ETA, w[1:])
    found = played(land, held, land.best.theta)
    h = land.curvature.numpy()
    law = averaged_risk(
        by_age(admissions.sum(axis=1), 2),
        ROUNDS,
        contractions(h, ETA, STEPS),
        w,
        h=h,
        variance=land.noise.numpy() / h**2,
        start=0 * h,
    )
    clock = np.concatenate([[0], np.cumsum(held.trained[:, 0])])
    np.testing.assert_allclose(found[0][clock, 0][3:], law.noise[3:], rtol=3e-3)


def within(theta, radius):
    return theta * np.minimum(radius / np.linalg.norm(theta, axis=1, keepdims=True).clip(1e-9), 1)


def trained(task, held, means):
    """Training by a plain loop, of many replicates at once: the risk of θ and of each mean of models, by round."""
    x, y = task.population.x.numpy(), task.population.y.numpy()
    rng, radius = np.random.default_rng(1), task.study.radius
    lists = [rng.integers(0, len(x), (REPLICATES, n)) for n in held.ends[-1, 0]]
    theta = np.zeros((REPLICATES, x.shape[1]))
    averages = [theta for _ in means]
    found = []
    for t in range(held.rounds):
        models = (within(one, radius) for one in (theta, *averages))
        found.append([np.logaddexp(0, (1 - 2 * y) * (one @ x.T)).mean() for one in models])
        moved = np.zeros_like(theta)
        for m, indices in enumerate(lists):
            index = indices[:, held.starts[t, 0, m] : held.ends[t, 0, m]]
            local, inputs, labels = theta, x[index], y[index]
            for _ in range(STEPS if index.shape[1] else 0):
                residual = 1 / (1 + np.exp(-np.einsum("rnd,rd->rn", inputs, local))) - labels
                slope = np.einsum("rnd,rn->rd", inputs, residual) / index.shape[1]
                local = local - held.eta[t, 0] * slope
            moved = moved + held.weights[t, 0, m] * (local - theta)
        theta = theta + moved
        averages = [one + share[t] * (theta - one) for one, share in zip(averages, means, strict=True)]
        theta = within(theta, radius)
    return np.array(found).T


@pytest.mark.parametrize("K", [1, *(pytest.param(K, marks=pytest.mark.slow) for K in (2, 3))])
def test_predictions_of_both_models_are_what_training_measures(K):
    """Bursts that are used once or twice, and a steady stream: to 5 % over all rounds."""
    task = problem(study(policies=("constant",)))
    land, given = landscape_of(task), task.study
    admissions = np.tile([1, 2, 2], (ROUNDS, 1)) if K == 3 else bursts(given)
    means = [shares(share, admissions, K)[1:] for share in (equal, cubic)]
    last = replace(memories(given, admissions, K, ETA, means[0]), share=None)
    both = replace(last, share=np.stack(means, 1), owner=np.zeros(2, dtype=int))  # of one path
    assert last.trained.all() == (K == 3)
    measured = (trained(task, last, means) - land.best.risk).sum(1)
    clock, predicted = np.cumsum(last.trained[:, 0]) - last.trained[:, 0], []
    for held in (last, both):
        risk, path = played(land, held, task.model.start(1))
        predicted += risk[clock].sum(0).tolist()
        assert (risk >= path).all()
    np.testing.assert_allclose(predicted, measured, rtol=0.05)


def test_decaying_steps_and_rounds_without_samples_are_predicted():
    """To 5 % of the measured risk over all rounds, of means of models, which are followed to the end."""
    own = {"rounds": 60, "checkpoint": 60, "seeds": 40, "average": "equal", "eta": 1.5, "decay": 8}
    given = study(policies=("burst", "constant"), **own)
    task, rounds = problem(given), plan(given, CONTROL)
    assert (rounds.track.n == 0).any()
    log = Engine(task.model, given, task.streams).play(rounds)
    found = StudyForecaster.of(task, CONTROL).forecasts()
    for p, (name, one) in enumerate(found.items()):
        mine = slice(p * given.seeds, (p + 1) * given.seeds)
        measured = log["risk"][:, mine].mean(1).sum() - 60 * landscape_of(task).best.risk
        assert one.risk[:-1].sum() == pytest.approx(measured, rel=0.05), name
        assert (one.noise_floor, one.followed) == (pytest.approx(one.risk[-1]), 60)


def test_falling_steps_are_extrapolated_beyond_the_followed_rounds(monkeypatch):
    monkeypatch.setattr(curves, "ROUNDS_DECIDED_FIRST", 16)
    given = study(policies=("constant",), rounds=80, seeds=1, eta=1.5, decay=5)
    whole = StudyForecaster.of(problem(given), CONTROL)
    every, some = (one.forecasts()["constant"] for one in (whole, replace(whole, follow_rounds_max=32)))
    assert (every.followed, some.followed) == (80, 32)
    assert some.risk[-1] == pytest.approx(every.risk[-1], rel=0.1)


def assert_as_alone(forecaster, names, rel=1e-6):
    """A policy's forecast does not depend on the policies beside it."""
    found = forecaster.forecasts()
    for name in names:
        own = replace(forecaster.study, policies=(name,))
        one, alone = found[name], replace(forecaster, study=own).forecasts()[name]
        assert (one.settled, one.followed) == (alone.settled, alone.followed)
        assert one.noise_floor == pytest.approx(alone.noise_floor, rel=rel), name
        np.testing.assert_allclose(one.risk, alone.risk, rtol=rel)
    return found


def test_a_forecast_does_not_depend_on_the_policies_beside_it():
    names = ("constant", "burst", "constant@average=equal", "constant@decay=3000")
    given = study(policies=names, rounds=300, seeds=2, steps=1)
    found = assert_as_alone(StudyForecaster.of(problem(given), CONTROL), names[:2])
    assert [one.settled for one in found.values()] == [True, False, False, False]
    assert [one.followed for one in found.values()][1:] == [given.rounds] * 3


class Pausing(Steady):
    """Buys in the first rounds only."""

    def start(self, replicates=1):
        return 0

    def decide(self, state, cost):
        until, *samples = self.samples
        return state + 1, np.tile(samples, (len(cost), 1)) * (state < until)


@pytest.mark.parametrize(
    ("names", "pause", "rounds", "most"),
    [
        (("constant", "pausing"), 32, 512, 512),  # one settles, the other does not
        (("constant@average=equal", "pausing@average=equal"), 32, 300, 128),
        (("burst", "pausing"), 9, 300, 128),  # both have been idle before
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else None,
)
def test_nor_on_a_policy_that_pauses_in_rounds_decided_later(monkeypatch, names, pause, rounds, most):
    monkeypatch.setattr(curves, "ROUNDS_DECIDED_FIRST", 32)
    given = study(policies=names, rounds=rounds, seeds=1, steps=1)
    forecaster = StudyForecaster.of(problem(given), CONTROL, policies={"pausing": Pausing(pause, 1, 1, 2)})
    found = assert_as_alone(replace(forecaster, follow_rounds_max=most), names)
    for name, one in found.items():
        assert (one.lag is None) == (not name.startswith("constant"))


def test_means_of_models_on_one_path_are_as_each_alone():
    learners = ("K=1,eta=1,average=equal", *(f"K=2,eta=2,average={mean}" for mean in MEANS))
    given = study(policies=tuple(f"burst@{own}" for own in learners), rounds=20, seeds=2, steps=2)
    forecaster = StudyForecaster.of(problem(given), CONTROL)
    found = forecaster.forecasts()
    for name, one in found.items():
        alone = replace(forecaster, study=replace(given, policies=(name,))).forecasts()[name]
        np.testing.assert_allclose(one.risk, alone.risk, rtol=1e-4)  # observed in other rounds
        assert (one.rate, one.fitted) == pytest.approx((alone.rate, alone.fitted), rel=1e-9)
    assert len({one.risk[-1] for one in found.values()}) == 3


def test_a_mean_of_models_seen_through_subsamples_is_near_that_of_the_whole_population(monkeypatch):
    given = study(policies=("constant@average=equal",), rounds=6, seeds=1)
    task, found = from_dataset(given, blobs(samples=1200), torch.device("cpu")), []
    for most in (2000, 1000):
        monkeypatch.setattr(loss_landscape, "POPULATION_WHOLE_MAX", most)
        monkeypatch.setattr(loss_landscape, "SUBSAMPLE_SIZE", 150)
        found += StudyForecaster.of(task, CONTROL).forecasts().values()
    assert found[1].sampled
    np.testing.assert_allclose(found[1].risk, found[0].risk, rtol=0.02)


def test_a_policy_that_never_trains_stays_at_its_start():
    never = study(policies=("constant",), rounds=40, budget=0.001)
    (one,) = StudyForecaster.of(problem(never), CONTROL).forecasts().values()
    assert one.noise_floor == one.risk[-1] == pytest.approx(one.risk[0])


def test_a_noise_floor_is_of_the_rounds_that_a_run_has_trained():
    given = study(policies=("constant",))
    land, descent = landscape_of(problem(given)), Descent(STEPS, ETA[0])
    each = [memories(given, bursts(given, every), 1, ETA, np.ones(ROUNDS)) for every in (3, 5)]
    tables = ([table for table in vars(one).values() if table is not None] for one in each)
    both = Memories(*(np.concatenate(pair, axis=1) for pair in zip(*tables, strict=True)))
    found = law_floor(land, descent, both.without_idle(), both.trained.sum(axis=0))
    alone = [law_floor(land, descent, one.without_idle(), one.trained.sum(axis=0)) for one in each]
    np.testing.assert_allclose(found, np.concatenate(alone), rtol=1e-12)


# --- accuracy ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def full():
    learners = [f"eta={eta},average=polynomial,average_by=3" for eta in (1, 2)]
    names = [f"{base},{own}" for own in learners for base in ("constant@K=3", "burst@K=1")]
    given = study(policies=(*names, "burst@eta=2,average=none"), rounds=48, seeds=1)
    forecaster = StudyForecaster.of(problem(given), CONTROL)
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


def test_a_coarse_curve_settles_sooner_and_is_near_the_full_one():
    given = study(policies=("constant",), rounds=300, seeds=1, steps=1)
    full = StudyForecaster.of(problem(given), CONTROL)
    (one,), (other,) = (
        replace(full, accuracy=accuracy).forecasts().values() for accuracy in (Accuracy.COARSE, Accuracy.FULL)
    )
    assert one.settled
    assert one.followed < 300
    assert one.cumulative == pytest.approx(other.cumulative, rel=0.01)
    assert one.risk[-1] == pytest.approx(other.risk[-1], rel=0.02)


@pytest.mark.parametrize("accuracy", [Accuracy.FULL, Accuracy.SEARCH])
@pytest.mark.parametrize("alpha", [None, (0.6, 0.3, 0.1)])
def test_rounds_computed_together_are_as_one_after_the_other(accuracy, alpha, monkeypatch):
    own = {"decay": 9.0, "average": "polynomial", "average_by": 2.0, "momentum": 0.5, "alpha": alpha}
    given = study(policies=("constant", "hybrid"), rounds=24, seeds=1, steps=3, **own)
    forecaster = replace(StudyForecaster.of(problem(given), CONTROL), accuracy=accuracy)
    together = forecaster.forecasts()
    monkeypatch.setattr(moments, "STEP_SIZES_AT_ONCE", 1)
    monkeypatch.setattr(risk_curve, "RISK_CELLS", 1)
    for name, one in forecaster.forecasts().items():
        np.testing.assert_allclose(together[name].risk, one.risk, rtol=1e-9)
