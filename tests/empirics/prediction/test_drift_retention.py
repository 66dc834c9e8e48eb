"""How long to keep samples of a drifting population, as a study is set; and a sweep confirms it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import moving as streams
from empirics import predict_study
from empirics.data import from_mapping
from empirics.data.dataset import Arrivals
from empirics.prediction import drift_retention, study_forecaster
from empirics.prediction.drift_retention import ConstantBehindWalk, RetentionChoice, best_retention
from empirics.prediction.drift_speed import DriftSpeed
from empirics.settings.drift import Drift
from tests.empirics.small import forecaster_of, problem, refused, study
from theory.drift.moving_optimum import walk_lag
from theory.law.averaging import contractions, equal, latest, over_rounds
from theory.law.quadratic import by_age
from theory.numbers.student import half_width


def walks(land, drift=0.0, low=0.0, high=0.0):
    """As if every direction walked, each faster than the one before it."""
    count = len(land.size)
    h, variance, lumps = land.curvature.tolist(), range(1, count + 1), range(count)
    return DriftSpeed(drift, low, high, 100, 8, tuple(h), tuple(variance), (0.5,) * count, tuple(lumps), 1.0)


@pytest.fixture(scope="module")
def forecaster():
    given = study(steps=1, eta=0.4, rounds=8, radius=50.0, buffers=(4, 4, 4), budget=16.5)
    return forecaster_of(problem(replace(given, per_seed=("start",))))


@pytest.mark.parametrize(("average", "share"), [("none", latest), ("equal", equal)])
def test_a_walk_costs_its_lag(forecaster, average, share):
    """With large memories contractions are those of the theory; costs are in proportion to q."""
    scale, T = 10_000, 8
    own = replace(forecaster.study, average=average, buffers=(4 * scale,) * 3, budget=16.5 * scale, eta=0.02)
    land = replace(forecaster.landscape, leverage=0 * forecaster.landscape.leverage)
    at_rest = replace(forecaster, study=own, landscape=land, start=land.best.theta)
    found = best_retention(at_rest, walks(land, 0.01, 0.0, 0.03), 1e9)
    h = land.curvature.numpy()
    assert [one.K for one in found.tried] == [1, 2, 3, 4]
    assert found.best is None
    for one in found.tried:
        assert (one.eta, one.rate) == (0.02, 3 * scale)
        left = contractions(h, np.full(T, 0.02), 1)
        lag = walk_lag(by_age(np.ones(T), one.K), T, left, over_rounds(share, T))[:-1].mean(axis=0)
        cost = 0.5 * (h * 0.005 * np.arange(1, len(h) + 1) * lag).sum()
        assert one.risk - one.ends[0] == pytest.approx(cost, rel=0.02)
        assert one.ends[1] - one.ends[0] == pytest.approx(3 * (one.risk - one.ends[0]))


def test_rounds_that_are_not_followed_lag_like_the_last_one(forecaster, monkeypatch):
    monkeypatch.setattr(study_forecaster, "ROUNDS_DECIDED_FIRST", 16)
    own = replace(forecaster.study, policies=("constant@K=3",), seeds=1)
    total = {}
    for rounds, most in ((32, 32), (33, 33), (100, 32)):
        one = replace(forecaster, study=replace(own, rounds=rounds), follow_rounds_max=most, follow_lag=True)
        (found,) = one.forecasts().values()
        total[rounds] = rounds * found.lag
    np.testing.assert_allclose(total[100], total[32] + 68 * (total[33] - total[32]))
    long = replace(forecaster, study=replace(own, rounds=9000))
    walk = ConstantBehindWalk(long, walks(forecaster.landscape), 8.0, 1)
    assert walk.forecaster.follow_rounds_max == 9000  # since a lag may grow for as long


def test_samples_drawn_from_few_are_noisier(forecaster):
    """The variance of a mean of r that are drawn from n is (1 + (r - 1)/n)/r of one's; one replicate is followed."""
    crowd = [ConstantBehindWalk(forecaster, walks(forecaster.landscape), come, 1) for come in (1e9, 6.0)]
    (many,), (few,) = (one.risks([(2, 0.4)]) for one in crowd)
    asked = replace(forecaster.study, policies=("constant@K=2,eta=0.4",), seeds=1)
    [alone] = replace(crowd[0].forecaster, study=asked).forecasts().values()
    assert many.risk == pytest.approx(alone.cumulative / 8)
    assert few.risk - many.risk == pytest.approx((alone.cumulative - alone.path[:-1].sum()) / 3 / 8)


def test_samples_drawn_twice_add_noise(forecaster):
    for replacement, pools, arriving, more in (
        (True, 1, 8.0, 5 / 8),
        (True, 3, 8.0, 3 / 8),
        (False, 1, 8.0, 4 / 8),
        (False, 3, 8.0, 0),
        (True, 4, 8.0, 1 / 4),
        (True, 12, 8.0, 0),
        (True, 1, 0.5, 5),  # fewer arrive than are drawn
    ):
        own = replace(forecaster, study=replace(forecaster.study, replacement=replacement))
        found = ConstantBehindWalk(own, walks(forecaster.landscape), arriving, pools).repeated_noise(6.0)
        assert found == pytest.approx(more)


def test_a_retention_that_leaves_rounds_without_samples_is_left_out(forecaster):
    speed = walks(forecaster.landscape, 0.01)
    studies = (replace(forecaster.study, budget=budget) for budget in (3.0, 1.5))
    scarce, none = (replace(forecaster, study=one) for one in studies)
    assert [one.K for one in best_retention(scarce, speed, 1e9).tried] == [2, 3, 4, 5, 6, 7, 8]
    assert "larger budget" in refused(best_retention, none, speed, 1e9)


def risk_of(K, *risks, eta=0.5):
    return drift_retention.RetentionRisk(K, eta, 10, risks[0], risks[1:])


def test_the_best_retention_and_those_at_the_ends_of_the_drifts_interval():
    found = RetentionChoice((risk_of(1, 3, 4, 1), risk_of(2, 1, 2, 2), risk_of(3, 2, 1, 3)))
    assert (found.own.K, found.interval) == (2, (1, 3))
    short = RetentionChoice((risk_of(1, 1, 4, 4), risk_of(2, 2, 1, 2), risk_of(3, 3, 3, 1)))
    assert (short.own.K, short.interval) == (1, (1, 3))


@pytest.mark.parametrize(
    ("risks", "filled", "named"), [((1, 2), True, 2), ((1, 2), False, 1), ((2, 1), True, 1)]
)
def test_corollary_2s_retention_is_named_if_it_was_tried_and_differs(forecaster, risks, filled, named):
    """And K is given in time, however unevenly the samples came."""
    come = Arrivals(np.r_[np.arange(100.0), 99 + np.arange(200) / 1000], dated=False)
    every = RetentionChoice(tuple(risk_of(K + 1, *[risks[K]] * 3) for K in range(2)), filled=filled)
    speed = replace(walks(forecaster.landscape), rounds=30)
    found = drift_retention.DriftAdvice(speed, every, come).document()
    assert [one["name"] for one in found["choices"]] == ["this step", "Corollary 2's K"][:named]
    assert found["takes"] == pytest.approx([every.own.K * 99.199 / 30] * 3)
    assert found["takes_by_count"] < 0.1


def test_other_step_sizes_are_tried_that_do_not_overshoot(forecaster, monkeypatch):
    asked, best = [], 0.0

    def risks(_, settings):
        asked.append(list(settings))
        return [risk_of(K, abs(K - 2) + abs(eta - best), 0.0, 0.0, eta=eta) for K, eta in asked[-1]]

    monkeypatch.setattr(ConstantBehindWalk, "risks", risks)
    speed = replace(walks(forecaster.landscape), h=(0.1, 0.8, 0.3))
    largest = 1 / max(speed.h)
    best = largest / 4
    found = best_retention(forecaster, speed, 10.0, steps=True)
    assert asked[0] == [(K, 0.4) for K in (1, 2, 3, 4)]
    assert {K for K, _ in asked[1]} == {1, 2, 3, 4}
    assert sorted({eta for _, eta in asked[1]}) == pytest.approx([largest / 2**k for k in range(7)][::-1])
    assert (found.best.K, found.best.eta) == (2, largest / 4)
    best = 0.4  # none is better than the study's own
    assert best_retention(forecaster, speed, 10.0, steps=True).best.eta == 0.4
    long = replace(forecaster.study, buffers=(45, 45, 45), rounds=99)
    assert best_retention(replace(forecaster, study=long), speed, 10.0, steps=True).filled
    assert [K for K, _ in asked[-2]] == [*range(1, 11), 13, 17, 22, 28, 35, 44, 45]
    assert sorted({K for K, _ in asked[-1]}) == [1, 6, 17, 45]
    for rounds, filled in ((45, True), (3, False)):
        own = replace(forecaster, study=replace(long, rounds=rounds))
        assert best_retention(own, speed, 10.0).filled is filled
    assert [K for K, _ in asked[-1]] == [1, 2, 3]


@pytest.mark.parametrize(("partition", "pools"), [("iid", 1), ("two-class", 3)])
def test_all_samples_of_a_file_arrive_and_clients_share_them_or_not(monkeypatch, partition, pools):
    x, y = np.arange(40.0), np.arange(40) % 4
    given = study(partition=partition, labels="classes", rounds=5)
    task = problem(given, data=from_mapping({"x": x, "y": y, "time": x}))
    assert (len(task.time), len(task.arrivals.time), task.arrivals.dated) == (32, 40, False)
    forecaster, told = forecaster_of(task), []
    monkeypatch.setattr(drift_retention, "measure_drift", lambda land, time, rounds: (len(time), rounds))
    monkeypatch.setattr(drift_retention, "best_retention", lambda _, *given, **more: (*given, more))
    found = drift_retention.drift_advice(forecaster, task, progress=lambda *one: told.append(one))
    assert found.retention == ((32, 5), 8, pools, {"steps": False})
    assert told == [("how long to keep samples", 0, None)]
    split = from_mapping({"x": x, "y": y, "time": x, "test_x": x, "test_y": y})
    moving = problem(replace(given, drift=Drift(kind="abrupt", start=3, parts="labels")), data=split)
    assert moving.arrivals is None
    assert drift_retention.drift_advice(forecaster, moving) is None


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.02, 0.05, 0.1, 0.2])
def test_a_sweep_confirms_how_long_samples_are_to_be_kept(step):
    """Ten local steps, five streams at each speed: the advised K does not differ significantly from the best of
    the sweep, or costs less than a tenth of what keeping nothing does."""
    base = replace(streams.BASE, steps=10, eta=0.5)
    told, lost = [], []
    for seed in range(200, 205):
        data = streams.stream(step, seed)
        found = predict_study(base, dataset=data, pilot=1000, best=False)
        told.append(found.document()["drift"]["K"])
        lost.append(streams.losses(base, data, range(1, 11)))
    mean, (lost, told) = np.mean(lost, axis=0), (np.array(lost), np.array(told))
    apart = lost[range(5), told - 1] - lost[:, mean.argmin()]
    assert apart.mean() < max(0.1 * (mean[0] - mean.min()), half_width(apart, 0.95) if apart.any() else 0)
