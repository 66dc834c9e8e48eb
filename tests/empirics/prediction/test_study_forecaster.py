"""Forecasts of whole studies: which runs are followed, for how long, and with what settings."""

from dataclasses import replace

import numpy as np
import pytest

from empirics import CostProcess, Trace
from empirics.control.schedule import plan
from empirics.prediction import loss_landscape, risk_curve, study_forecaster
from empirics.prediction.best_constant import SEARCH_ROUNDS_MAX, best_constant
from empirics.prediction.decided_rounds import ROUNDS_FOLLOWED_MAX
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.result import finite_forecasts
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.drift import Drift
from tests.empirics.small import CONTROL, Steady, forecaster_of, problem, study


def forecasts(given):
    return forecaster_of(problem(given)).forecasts()


@pytest.mark.parametrize("other", [{}, {"partition": "two-class", "labels": "classes", "rounds": 6}])
def test_variants_are_predicted_with_their_own_settings(other):
    names = ("constant@eta=0.1", "constant", "constant@steps=1", "constant@K=2", "constant@decay=5")
    given = study(**({"rounds": 15, "policies": names} | other))
    found = forecasts(given)
    for name in given.policies:
        own = given.of_policy(name)
        alone = forecasts(replace(own, policies=("constant",)))["constant"]
        np.testing.assert_allclose(found[name].risk, alone.risk, rtol=1e-9, err_msg=name)
    assert len({round(one.cumulative, 6) for one in found.values()}) == len(names)


def test_a_client_without_samples_changes_nothing():
    found = []
    for alpha, samples in (((0.5, 0.25, 0.25), (2, 1, 0)), ((2 / 3, 1 / 3), (2, 1))):
        given = study(policies=("own",), rounds=5, seeds=1, alpha=alpha, buffers=(4, 5, 7)[: len(alpha)])
        found += forecaster_of(problem(given), policies={"own": Steady(*samples)}).forecasts().values()
    np.testing.assert_allclose(found[0].risk, found[1].risk, rtol=1e-12)
    assert found[0].fitted == pytest.approx(found[1].fitted)


def test_a_single_probe_of_each_client_is_enough(monkeypatch):
    """Its own noise is 0, up to rounding."""
    monkeypatch.setitem(loss_landscape.PROBE_CELLS_MAX, "cpu", 3 * 4**2)
    given = study(policies=("constant",), rounds=3, labels="classes", partition="two-class")
    forecaster = forecaster_of(problem(given))
    assert len(forecaster.landscape.probes) == 3
    assert np.isfinite(forecaster.forecasts()["constant"].risk).all()


def test_a_forecast_begins_at_the_mean_over_eight_starts():
    given = study(policies=("constant", "oracle"), per_seed=("start",), seeds=10, rounds=1)
    task = problem(given)
    risks = [float(task.model.risk_and_gradient(start[None])[0]) for start in task.model.start(10)[:8]]
    begin = np.mean(risks) - float(landscape_of(task).best.risk)
    same = forecasts(replace(given, per_seed=(), seeds=1))
    for name, found in forecasts(given).items():
        assert found.risk[0] == pytest.approx(begin, rel=1e-5)
        assert found.rate == same[name].rate


def test_price_paths_that_differ_give_a_standard_error(monkeypatch):
    given = study(policies=("buy-cheap-online", "constant"), seeds=40, rounds=12)
    found, rounds = forecasts(given), plan(given, CONTROL)
    mine, many, few = replace(given, policies=("mine",), rounds=5), (4, 5, 7), (1, 1, 2)
    one, other, both = (
        forecaster_of(problem(replace(mine, seeds=seeds)), policies={"mine": policy}).forecasts()["mine"]
        for policy, seeds in ((Steady(*many), 1), (Steady(*few), 1), (Steady(many, few), 2))
    )
    assert (found["constant"].errors, one.errors) == (None, None)
    for name, value in one.document().items():
        assert both.errors[name] == pytest.approx(abs(value - other.document()[name]) / 2)
    np.testing.assert_allclose(both.risk_error, abs(one.risk - other.risk) / 2)
    assert (both.rate, both.fitted) == (10, pytest.approx(other.fitted))
    assert one.fitted < other.fitted
    bought = found["buy-cheap-online"]
    assert 0 < bought.errors["cumulative_excess_risk"] < bought.cumulative / 10
    for (name, paths), runs in zip(found.items(), (slice(16), slice(40, 80)), strict=True):
        assert paths.rate == pytest.approx(rounds.admissions[:, runs].sum(axis=2).mean()), name
    # 120 samples, 12 rounds, 3 steps, 3 paths
    monkeypatch.setattr(study_forecaster, "PRICE_PATH_WORK", 120 * 12 * 9)
    found = forecasts(replace(given, policies=("buy-cheap-online", "buy-cheap-online@steps=1")))
    for (name, one), count in zip(found.items(), (3, 9), strict=True):
        alone = forecasts(replace(given, policies=(name,), seeds=count))[name]
        assert one.cumulative == pytest.approx(alone.cumulative)


@pytest.mark.parametrize("drift", [Drift(), Drift(kind="abrupt", start=5)], ids=lambda drift: drift.kind)
def test_a_forecast_does_not_depend_on_how_many_rounds_are_decided_at_once(monkeypatch, drift):
    """Runs of `burst` train in 1 or 2 of the first 4 rounds, and in 2 or 3 of all."""
    names = ("constant", "acdpp@steps=1", "constant@decay=5,average=equal", "burst")
    given = study(policies=names, rounds=8, drift=drift)
    whole = forecasts(given)
    monkeypatch.setattr(study_forecaster, "ROUNDS_DECIDED_FIRST", 4)
    parted = forecasts(given)
    for name in names:
        np.testing.assert_allclose(parted[name].risk, whole[name].risk, rtol=1e-12)
        assert parted[name].rate == pytest.approx(whole[name].rate)


@pytest.mark.parametrize("rounds", [10, 11, 14])
def test_a_longer_study_has_the_same_bits_in_its_first_rounds(rounds):
    given = study(policies=("constant", "oracle"), seeds=2)
    short, long = (forecasts(replace(given, rounds=T)) for T in (rounds, 20))
    for name in short:
        np.testing.assert_array_equal(short[name].risk[:-1], long[name].risk[:rounds])


def test_long_horizons_are_predicted_from_fewer_rounds():
    given, of = study(rounds=10**5, policies=("constant",), seeds=1), set()
    forecast = finite_forecasts(forecaster_of(problem(given)), lambda *told: of.add(told[2]))["constant"]
    assert of == {ROUNDS_FOLLOWED_MAX}
    assert forecast.risk.shape == (10**5 + 1,)
    assert forecast.risk[-1] == pytest.approx(forecast.noise_floor, rel=1e-3)
    short = forecasts(replace(given, rounds=800))["constant"]
    np.testing.assert_allclose(forecast.risk[:800], short.risk[:800], rtol=2e-3)


def test_a_noise_floor_does_not_depend_on_how_long_it_is_waited_for():
    given = study(policies=("constant", "oracle", "hybrid"), buffers=(40, 50, 70), budget=220.0)
    short, long = (forecasts(replace(given, rounds=T)) for T in (12, 600))
    for name in short:
        assert not short[name].settled
        assert long[name].settled
        assert short[name].noise_floor == pytest.approx(long[name].noise_floor, rel=0.15), name


def test_a_slow_descent_is_not_taken_for_its_end(monkeypatch):
    """After 64 rounds it hardly moves, and half as many predicted that: yet most is still to come."""
    monkeypatch.setattr(risk_curve, "ROUNDS_MIN", 64)
    task = problem(study(policies=("constant",), seeds=1, eta=0.04, steps=1, radius=20.0, rounds=600))
    found = forecaster_of(task).forecasts()["constant"]
    land, path, noiseless = landscape_of(task), task.model.start(1), []
    for _ in range(600):
        risk, slope = task.model.risk_and_gradient(path)
        noiseless.append(float(risk) - land.best.risk)
        path = path - 0.04 * slope
    assert noiseless[-1] < noiseless[64] / 1.3
    np.testing.assert_allclose(found.path[:600:50], noiseless[::50], rtol=0.05)
    assert found.cumulative == pytest.approx(sum(noiseless), rel=0.05)
    assert (found.risk >= found.path - 1e-9).all()


class Until(Steady):
    """Buys these samples in the first rounds, and `later` from every client in each round after that."""

    def __init__(self, until, *samples, later=0):
        super().__init__(*samples)
        self.until, self.later = until, later

    def start(self, replicates=1):
        return 0

    def decide(self, state, cost):
        samples = self.samples if state < self.until else [self.later] * len(self.samples)
        return state + 1, np.tile(samples, (len(cost), 1))


def test_a_risk_that_rises_against_its_forecast_has_not_settled(monkeypatch):
    given = study(policies=("thinning",), seeds=1, steps=1, eta=2.0, rounds=200, buffers=(40, 50, 70))
    found, thinning = [], Until(40, 10, 15, 20, later=1)
    for most in (64, 10**6):
        monkeypatch.setattr(risk_curve, "ROUNDS_MIN", most)
        found += forecaster_of(problem(given), policies={"thinning": thinning}).forecasts().values()
    np.testing.assert_allclose(found[0].risk[-1], found[1].risk[-1], rtol=0.1)
    assert found[1].risk[-1] > 2 * found[1].risk[39]


def assert_as_alone(forecaster, rel=1e-6):
    """A policy's forecast does not depend on the policies beside it."""
    found = forecaster.forecasts()
    for name, one in found.items():
        alone = replace(forecaster, study=replace(forecaster.study, policies=(name,))).forecasts()[name]
        assert (one.settled, one.followed) == (alone.settled, alone.followed)
        numbers = ((own.noise_floor, own.rate, own.fitted) for own in (one, alone))
        assert next(numbers) == pytest.approx(next(numbers), rel=rel), name
        np.testing.assert_allclose(one.risk, alone.risk, rtol=rel)
    return found


def test_a_forecast_does_not_depend_on_the_policies_beside_it():
    given = study(policies=("constant", "burst", "constant@decay=3000"), rounds=300, seeds=2, steps=1)
    found = assert_as_alone(forecaster_of(problem(given))).values()
    assert [one.settled for one in found] == [True, False, False]
    assert [one.followed for one in found][1:] == [given.rounds] * 2


def test_means_of_models_on_one_path_are_as_each_alone():
    learners = ("1,eta=1,average=equal", "2,eta=2,average=equal", "2,eta=2,average=polynomial,average_by=3")
    given = study(policies=tuple(f"burst@K={own}" for own in learners), rounds=20, seeds=2, steps=2)
    found = assert_as_alone(forecaster_of(problem(given)), rel=1e-4)  # observed in other rounds
    assert len({one.risk[-1] for one in found.values()}) == 3


@pytest.mark.parametrize(
    ("names", "pause", "rounds", "most"),
    [
        (("constant", "pausing"), 32, 512, 512),  # one settles, the other does not
        (("constant@average=equal", "pausing@average=equal"), 32, 300, 128),
        (("burst", "pausing"), 9, 300, 128),  # both have been idle before
        (("burst", "pausing"), 0, 200, 64),  # one never trains
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else None,
)
def test_nor_on_a_policy_that_pauses_in_rounds_decided_later(monkeypatch, names, pause, rounds, most):
    monkeypatch.setattr(study_forecaster, "ROUNDS_DECIDED_FIRST", 32)
    given = study(policies=names, rounds=rounds, seeds=1, steps=1)
    forecaster = forecaster_of(problem(given), policies={"pausing": Until(pause, 1, 1, 2)})
    for name, one in assert_as_alone(replace(forecaster, follow_rounds_max=most)).items():
        assert (one.lag is None) == (not name.startswith("constant"))


def test_a_search_follows_few_rounds_and_its_result_all_that_may_be(monkeypatch):
    followed, other = [], StudyForecaster.for_policies
    monkeypatch.setattr(
        StudyForecaster,
        "for_policies",
        lambda *args, **given: followed.append(given["follow_rounds_max"]) or other(*args, **given),
    )
    forecaster = replace(forecaster_of(problem(study(rounds=2, seeds=1))), follow_rounds_max=10**5)
    best_constant(forecaster, eta=False)
    assert (set(followed[:-1]), followed[-1]) == ({SEARCH_ROUNDS_MAX}, 10**5)


def test_given_prices_stay_as_long_as_the_study_has_the_same_cost():
    given, prices = study(rounds=2), Trace([1.0, 2.0])
    forecaster = forecaster_of(problem(given), prices=prices)
    assert forecaster.for_study(replace(given, eta=0.1)).prices is prices
    assert forecaster.for_study(replace(given, cost=CostProcess(process="integer"))).prices is not prices
