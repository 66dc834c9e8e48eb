"""Predictions of a population that moves, against training that is measured."""

from dataclasses import replace

import numpy as np
import pytest

from empirics.control.schedule import Schedule
from empirics.prediction.decided_rounds import DecidedRounds
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.moments import MomentRecursion
from empirics.prediction.risk_curve import RiskCurve
from empirics.results.measures import with_excess
from empirics.settings.drift import Drift
from empirics.training.engine import Engine
from empirics.training.model import Descent
from tests.empirics.small import CONTROL, forecaster_of, problem, study

POLICIES = ("constant", "constant@K=8", "constant@average=exponential,average_by=0.8", "burst")
POLICIES += ("buy-cheap-online",)
DRIFTS = {
    "abrupt": (Drift(kind="abrupt", start=14, parts="labels"), {}),
    "gradual": (Drift(kind="gradual", start=8, length=20), {}),
    "periodic, clients apart": (Drift(kind="periodic", length=16, parts="labels", apart=2), {"seeds": 200}),
    "clients that differ": (Drift(kind="abrupt", start=16, parts="inputs"), {"partition": "two-class"}),
}
SLOW = (pytest.param(name, marks=pytest.mark.slow) for name in DRIFTS if name != "abrupt")


@pytest.mark.parametrize("name", ["abrupt", *SLOW])
def test_predictions_of_a_drifting_population_are_what_training_measures(name):
    """Cumulatively, and in the rounds of the last third; to 5 % and 10 %, where standard errors are 1 % and 2 %."""
    drift, own = DRIFTS[name]
    learner = {"eta": 0.5, "measures": ("risk",), "seeds": 150}
    given = study(policies=POLICIES, rounds=36, drift=drift, **(learner | own))
    task, schedule = problem(given), Schedule(given, CONTROL)
    found = forecaster_of(task).forecasts()
    log = Engine(task.model, replace(given, checkpoint=36), task.streams).play(schedule.advance(36))
    measured = with_excess(given, log, task.least, 1)["excess_risk"]
    measured = measured.reshape(36, len(POLICIES), given.seeds).mean(2)
    for p, policy in enumerate(POLICIES):
        risk = found[policy].risk[:-1]
        assert risk.sum() == pytest.approx(measured[:, p].sum(), rel=0.05), policy
        assert risk[24:].sum() == pytest.approx(measured[24:, p].sum(), rel=0.1), policy


def test_samples_are_observed_again_before_their_mixture_has_moved_by_a_fifth(monkeypatch):
    given = study(
        policies=("constant",), seeds=1, steps=1, rounds=48, drift=Drift(kind="periodic", length=24)
    )
    task, held = problem(given), DecidedRounds(given, CONTROL, None, None, 48).memories(1)[0]
    path = MomentRecursion(landscape_of(task), Descent(1, 0.5), held, task.model.start(1))
    observed, step = [], path.step
    monkeypatch.setattr(path, "step", lambda *, observe: observed.append(observe) or step(observe=observe))
    RiskCurve(path).play(48)
    w, seen = given.mixing(1, 48), np.flatnonzero(observed)
    last = seen[np.searchsorted(seen, np.arange(48), side="right") - 1]
    assert np.abs(w - w[last]).max() < 0.2
    assert len(seen) < 36


def test_a_change_that_is_still_to_come_changes_nothing():
    given = study(policies=("constant", "burst"), rounds=30)
    later = replace(given, drift=Drift(kind="abrupt", start=30, parts="labels"))
    still, moving = (forecaster_of(problem(one)).forecasts() for one in (given, later))
    for policy in given.policies:
        assert moving[policy].risk[:29] == pytest.approx(still[policy].risk[:29], rel=0.01)
    alone = forecaster_of(problem(replace(later, seeds=1))).forecasts()["burst"]
    idle = Schedule(replace(later, seeds=1), CONTROL).advance(28).track.n[:, 1] == 0
    assert idle.any()
    assert alone.path[1:29][idle] == pytest.approx(alone.path[:28][idle], rel=1e-12)
