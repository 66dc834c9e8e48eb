"""Forecasts of whole studies: who is followed, for how long, and with what settings."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from empirics.control.prices import Trace
from empirics.prediction import curves as module
from empirics.prediction import moments as closure
from empirics.prediction.cohorts import Memories
from empirics.prediction.curves import Outlook
from empirics.prediction.decided_rounds import Part, Played
from empirics.prediction.survey import landscape_of
from empirics.settings.costs import CostProcess
from empirics.settings.drift import Drift
from tests.empirics.small import CONTROL, problem, study


def forecasts(given):
    return Outlook.of(problem(given), CONTROL).forecasts()


def test_variants_are_predicted_with_their_own_steps_and_sizes():
    given = study(rounds=15, policies=("constant@eta=0.1", "constant", "constant@steps=1", "constant@K=2"))
    found = forecasts(given)
    for name in given.policies:
        own = given.of_policy(name)
        alone = forecasts(replace(own, policies=("constant",)))["constant"]
        np.testing.assert_allclose(found[name].risk, alone.risk, rtol=1e-9, err_msg=name)
    assert len({round(one.cumulative, 6) for one in found.values()}) == 4


def test_a_forecast_begins_at_the_mean_over_all_starts():
    task = problem(study(policies=("constant",), per_seed=("start",), seeds=5, rounds=1))
    risks = [float(task.model.risk_and_gradient(start[None])[0]) for start in task.model.start(5)]
    found = Outlook.of(task, CONTROL).forecasts()["constant"]
    assert found.risk[0] == pytest.approx(np.mean(risks) - float(landscape_of(task).best.risk), rel=1e-5)


def test_of_runs_that_prices_do_not_change_one_is_followed():
    runs = np.array([[[1], [1], [1], [2], [2], [3]]])
    rounds = SimpleNamespace(study=study(), admissions=runs)
    assert [module._distinct(rounds, policy, 3) for policy in (0, 1)] == [[0], [3, 4, 5]]


def test_many_paths_of_prices_are_followed_where_they_are_cheap():
    given = study(seeds=40, rounds=12)
    counts = [module.replicates(replace(given, steps=E), "constant", 120) for E in (1, 6000, 10**6)]
    assert counts == [module.MOST_PATHS, 9, module.FEWEST_PATHS]
    assert module.replicates(replace(given, seeds=1), "constant", 120) == 1
    assert module.replicates(replace(given, per_seed=("start",)), "constant", 1e9) == module.STARTS


def test_many_paths_of_prices_tell_their_error(monkeypatch):
    given = study(policies=("buy-cheap-online", "constant"), seeds=40, rounds=12)
    found = forecasts(given)
    alone = [forecasts(replace(given, seeds=n))["buy-cheap-online"] for n in (1, 2)]
    assert (found["constant"].errors, alone[0].errors) == (None, None)
    other = 2 * alone[1].cumulative - alone[0].cumulative
    error = abs(alone[0].cumulative - other) / 2
    assert alone[1].errors["cumulative_excess_risk"] == pytest.approx(error, rel=1e-6)
    many = found["buy-cheap-online"]
    assert 0 < many.errors["cumulative_excess_risk"] < many.cumulative / 10
    monkeypatch.setattr(module, "WORK", 120 * 12 * 9)  # 120 samples, 12 rounds, 3 steps and 3 paths
    found = forecasts(replace(given, policies=("buy-cheap-online", "buy-cheap-online@steps=1")))
    for (name, one), count in zip(found.items(), (3, 9), strict=True):
        alone = forecasts(replace(given, policies=(name,), seeds=count))[name]
        assert one.cumulative == pytest.approx(alone.cumulative)


def test_idle_rounds_are_followed_where_the_population_moves():
    held = np.array([1, 0, 2])[:, np.newaxis, np.newaxis]
    memories = Memories(held, 0 * held, held, held.astype(float))
    for mix, rounds in ((None, 2), (held.astype(float), 3)):
        played = SimpleNamespace(memories=lambda chunks, mix=mix: [replace(memories, mix=mix)])
        assert Part(played, [0], decays=False).followed(1).rounds == rounds


def test_a_forecast_does_not_depend_on_how_many_rounds_are_decided_at_once(monkeypatch):
    given = study(policies=("constant", "acdpp@steps=1"), rounds=7)
    whole = forecasts(given)
    monkeypatch.setattr(module, "PLAYED", 2)
    parted = forecasts(given)
    for name in given.policies:
        np.testing.assert_allclose(parted[name].risk, whole[name].risk, rtol=1e-12)
        assert parted[name].rate == pytest.approx(whole[name].rate)


def test_rounds_are_decided_when_they_are_asked_for_with_what_the_learner_makes_of_them():
    given = study(policies=("constant@decay=5,average=equal",), seeds=1, rounds=7)
    played = Played(given, CONTROL, None, None, 2)
    learning, plain = Part(played, [0], decays=True, means=[0]), Part(played, [0], decays=False)
    for chunks, rounds in ((1, 2), (2, 4), (3, 7), (2, 4)):
        found, without = learning.memories(chunks), plain.memories(chunks)
        assert (found.rounds, len(found.eta), len(found.share)) == (rounds,) * 3
        assert (without.rounds, without.eta, without.share, without.mix) == (rounds, None, None, None)
    assert played.last == played.reaches(3) == 7


def test_where_the_population_moves_all_rounds_are_followed():
    asked = []

    def memories(chunks):
        assert chunks not in asked
        asked.append(chunks)
        return chunks

    played = SimpleNamespace(reaches={1: 2, 2: 4, 3: 7}.get)
    closure = SimpleNamespace(
        follow=lambda every: asked.append(f"follow {every}"),
        play=lambda until, progress: np.ones((2, until + 1, 1)),
    )
    outlook = SimpleNamespace(study=study(rounds=7, drift=Drift(kind="abrupt", start=2)))
    part = SimpleNamespace(memories=memories, played=played)
    followed, (floor, risk, path) = Outlook._curves(outlook, closure, part, None)
    assert (followed, floor.tolist(), len(risk), len(path)) == (7, [1], 8, 8)
    assert asked == [1, 2, 3, "follow 3"]


def test_as_many_trainings_are_followed_as_all_runs_have_and_at_the_end_as_any_has():
    one = SimpleNamespace(trained=np.array([[True, False], [True, True]]))
    assert [module._common(one, whole) for whole in (False, True)] == [1, 2]


def test_long_horizons_are_foretold_from_fewer_rounds():
    given = study(rounds=10**5, policies=("constant",), seeds=1)
    forecast = forecasts(given)["constant"]
    assert forecast.risk.shape == (10**5 + 1,)
    assert forecast.risk[-1] == pytest.approx(forecast.noise_floor, rel=1e-3)
    short = forecasts(replace(given, rounds=800))["constant"]
    np.testing.assert_allclose(forecast.risk[:800], short.risk[:800], rtol=2e-3)


def test_what_falls_as_a_power_goes_on_so_and_few_rounds_tell_no_power():
    t, later = np.arange(40).clip(1)[:, np.newaxis], np.array([50, 900])
    np.testing.assert_allclose(module._falling(3 * t**-0.7, later)[:, 0], 3 * later**-0.7)
    assert (module._falling(3 * t[:3] ** -0.7, later) == 3 * 2**-0.7).all()


def test_a_noise_floor_does_not_depend_on_how_long_it_is_waited_for():
    given = study(policies=("constant", "oracle", "hybrid"), buffers=(40, 50, 70), budget=220.0)
    short, long = (forecasts(replace(given, rounds=T)) for T in (12, 600))
    for name in short:
        assert not short[name].settled
        assert long[name].settled
        assert short[name].noise_floor == pytest.approx(long[name].noise_floor, rel=0.15), name


def test_a_slow_descent_is_not_taken_for_its_end(monkeypatch):
    """After 64 rounds it hardly moves, and what half as many foretold is right: yet most is still to come."""
    monkeypatch.setattr(closure, "FEWEST", 64)
    task = problem(study(policies=("constant",), seeds=1, eta=0.04, steps=1, radius=20.0, rounds=600))
    found = Outlook.of(task, CONTROL).forecasts()["constant"]
    land, path, noiseless = landscape_of(task), task.model.start(1), []
    for _ in range(600):
        risk, slope = task.model.risk_and_gradient(path)
        noiseless.append(float(risk) - land.best.risk)
        path = path - 0.04 * slope
    assert noiseless[-1] < noiseless[64] / 1.3
    np.testing.assert_allclose(found.path[:600:50], noiseless[::50], rtol=0.05)
    assert found.cumulative == pytest.approx(sum(noiseless), rel=0.05)
    assert (found.risk >= found.path - 1e-9).all()


def test_prices_stay_those_that_were_given_where_the_study_has_the_same():
    given, prices = study(), Trace([1.0, 2.0])
    outlook = Outlook(given, None, CONTROL, None, prices=prices)
    assert outlook.asking(replace(given, eta=0.1)).prices is prices
    assert outlook.asking(replace(given, cost=CostProcess(process="integer"))).prices is not prices
