"""How long to keep samples of a population that moves, as a study is set; and a sweep confirms it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchmarks import moving as streams
from empirics import predict
from empirics.data import from_mapping
from empirics.data.dataset import Arrivals
from empirics.prediction import drift_retention as keeping
from empirics.prediction import moments as closure
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.drift_retention import (
    DriftAdvice,
    RetentionChoice,
    RetentionRisk,
    _ConstantBehindWalk,
    best_retention,
)
from empirics.prediction.drift_speed import DriftSpeed
from empirics.prediction.memory import WalkLag
from empirics.settings.drift import Drift
from empirics.training.problem import from_dataset
from tests.empirics.small import CONTROL, problem, refused, study
from theory.drift.moving_optimum import walk_lag
from theory.law.averaging import equal, latest, over_rounds
from theory.law.quadratic import by_age
from theory.numbers.student import half_width


def followed(admissions, K, left, shares):
    """The lag of rows that keep samples for these K, round by round: of the model, and of the mean of models."""
    lag, found = WalkLag(len(K), left.shape[2]), []
    for t in range(len(admissions)):
        ages = range(min(t + 1, max(K)))[::-1]
        entered = np.array([t - age for age in ages])
        counts = np.array([[admissions[t - age] * (age < kept) for kept in K] for age in ages], float)
        there = counts.any(axis=1)
        lag.follow(t, entered[there], (counts / counts.sum(0))[there], left[t])
        lag.average(np.array(shares[t])[:, np.newaxis])
        found.append([lag.squares(mean=False), lag.squares(mean=True)])
        assert len(lag._before) < max(K)  # the others fade together
    return np.array(found)


def test_the_lag_is_that_of_the_theory_for_any_admissions_steps_and_means():
    rng, T, K = np.random.default_rng(0), 14, (1, 3, 5)
    admissions = rng.integers(1, 4, T)
    left, shares = rng.random((T, len(K), 2)), rng.random((T, len(K)))
    found = followed(admissions, K, left, shares)
    for row, kept in enumerate(K):
        memory = by_age(admissions, kept)
        last, mean = (
            walk_lag(memory, T, left[:, row], [1, *one])[1:] for one in (np.ones(T), shares[:, row])
        )
        assert found[:, 0, row] == pytest.approx(last)
        assert found[:, 1, row] == pytest.approx(mean)


def test_a_round_that_brings_nothing_lets_the_optimum_go_on():
    admissions, left = np.array([2, 0, 0, 3, 1]), np.full((5, 1, 1), 0.4)
    found = followed(admissions, (3,), left, np.ones((5, 1)))
    expected = walk_lag(by_age(admissions, 3), 5, 0.4, np.ones(6))[1:]
    assert found[:, 0, 0] == pytest.approx(expected)


def moves(land, drift=0.0, low=0.0, high=0.0):
    """As if every direction walked, each faster than the one before it."""
    count = len(land.size)
    h, variance, lumps = land.curvature.tolist(), range(1, count + 1), range(count)
    return DriftSpeed(drift, low, high, 100, 8, tuple(h), tuple(variance), (0.5,) * count, tuple(lumps), 1.0)


@pytest.fixture(scope="module")
def forecaster():
    return StudyForecaster.of(
        problem(study(steps=1, eta=0.4, rounds=8, radius=50.0, buffers=(4, 4, 4), budget=16.5)), CONTROL
    )


@pytest.mark.parametrize(("average", "share"), [("none", latest), ("equal", equal)])
def test_a_walk_costs_its_lag_where_rounds_leave_what_they_do(forecaster, monkeypatch, average, share):
    left, T = [], 8

    class Seen(WalkLag):
        def follow(self, t, entered, held, now):
            left.append(now)
            super().follow(t, entered, held, now)

    monkeypatch.setattr(closure, "WalkLag", Seen)
    own = replace(forecaster, study=replace(forecaster.study, average=average))
    found = best_retention(own, moves(forecaster.landscape, 0.01, 0.0, 0.03), 1e9)
    h = forecaster.landscape.curvature.numpy()
    assert [one.K for one in found.tried] == [1, 2, 3, 4]
    assert found.best is None
    for row, one in enumerate(found.tried):
        assert (one.eta, one.rate) == (0.4, 3)
        a = np.array(left)[:, row]
        lag = walk_lag(by_age(np.ones(T), one.K), T, a, over_rounds(share, T))[:-1].mean(axis=0)
        cost = 0.5 * (h * 0.005 * np.arange(1, len(h) + 1) * lag).sum()
        assert one.risk - one.ends[0] == pytest.approx(cost)
        assert one.ends[1] - one.ends[0] == pytest.approx(3 * cost)


def test_samples_that_are_drawn_from_few_are_noisier(forecaster):
    """The variance of a mean of r that are drawn from n is (1 + (r - 1)/n)/r of one's."""
    crowd = [_ConstantBehindWalk(forecaster, moves(forecaster.landscape), come, 1) for come in (1e9, 6.0)]
    (many,), (few,) = (one.with_settings([(2, 0.4)]) for one in crowd)
    asked = replace(forecaster.study, policies=("constant@K=2,eta=0.4",), seeds=1)
    [alone] = replace(crowd[0].forecaster, study=asked).forecasts().values()
    assert many.risk == pytest.approx(alone.cumulative / 8)
    assert few.risk - many.risk == pytest.approx((alone.cumulative - alone.path[:-1].sum()) / 3 / 8)


def test_of_all_starts_and_prices_one_is_followed(forecaster, monkeypatch):
    one, seeds = SimpleNamespace(cumulative=4.0, path=np.ones(9), rate=3.0, lag=np.zeros(9)), []
    monkeypatch.setattr(
        StudyForecaster, "forecasts", lambda self: seeds.append(self.study.seeds) or {"one": one}
    )
    (found,) = _ConstantBehindWalk(forecaster, moves(forecaster.landscape), 1e9, 1).with_settings([(2, 0.4)])
    assert seeds == [1] < [forecaster.study.seeds]
    assert (found.K, found.eta, found.rate, found.risk) == (2, 0.4, 3.0, pytest.approx(4 / 8))


@pytest.mark.parametrize(
    ("replacement", "pools", "more"),
    [(True, 1, 5 / 8), (True, 3, 3 / 8), (False, 1, 4 / 8), (False, 3, 0), (True, 4, 1 / 4), (True, 12, 0)],
)
def test_whose_samples_are_drawn_twice(forecaster, replacement, pools, more):
    own = replace(forecaster, study=replace(forecaster.study, replacement=replacement))
    assert _ConstantBehindWalk(own, moves(forecaster.landscape), 8.0, pools)._more_noise(
        6.0
    ) == pytest.approx(more)


def test_where_fewer_come_by_than_are_drawn_one_is_all_of_them(forecaster):
    assert _ConstantBehindWalk(forecaster, moves(forecaster.landscape), 0.5, 1)._more_noise(6.0) == 5


def test_a_k_that_leaves_rounds_without_samples_is_not_told(forecaster):
    moving = moves(forecaster.landscape, 0.01)
    scarce, none = (
        replace(forecaster, study=replace(forecaster.study, budget=budget)) for budget in (3.0, 1.5)
    )
    assert [one.K for one in best_retention(scarce, moving, 1e9).tried] == [2, 3, 4, 5, 6, 7, 8]
    assert "in some rounds there are none" in refused(best_retention, none, moving, 1e9)


def test_a_lag_is_followed_for_as_long_as_it_may_grow(forecaster):
    long = replace(forecaster, study=replace(forecaster.study, rounds=9000))
    assert _ConstantBehindWalk(long, moves(forecaster.landscape), 8.0, 1).forecaster.follow_rounds_max == 9000


def test_the_best_k_and_those_at_the_ends_of_the_drift_s_interval():
    def kept(K, *risks):
        return RetentionRisk(K, 0.5, 10, risks[0], risks[1:])

    found = RetentionChoice((kept(1, 3, 4, 1), kept(2, 1, 2, 2), kept(3, 2, 1, 3)))
    assert (found.own.K, found.interval) == (2, (1, 3))
    short = RetentionChoice((kept(1, 1, 4, 4), kept(2, 2, 1, 2), kept(3, 3, 3, 1)))
    assert (short.own.K, short.interval) == (1, (1, 3))


def test_corollary_2_s_k_is_named_where_it_was_tried_and_is_another(forecaster):
    """And K is told in time as q is, whenever the samples came."""
    come = Arrivals(np.r_[np.arange(100.0), 99 + np.arange(200) / 1000], dated=False)
    for risks, filled, names in (
        ((1, 2), True, ["this step", "Corollary 2's K"]),
        ((1, 2), False, ["this step"]),
        ((2, 1), True, ["this step"]),
    ):
        every = RetentionChoice(
            tuple(RetentionRisk(K + 1, 0.5, 10, risks[K], (risks[K],) * 2) for K in range(2)), filled=filled
        )
        found = DriftAdvice(replace(moves(forecaster.landscape), rounds=30), every, come).document()
        assert [one["name"] for one in found["choices"]] == names
        assert found["takes"] == pytest.approx([every.own.K * 99.199 / 30] * 3)
        assert found["takes_by_count"] < 0.1


def test_steps_of_other_sizes_are_tried_that_do_not_overshoot(forecaster, monkeypatch):
    asked, best = [], 0.0

    def with_settings(_, settings):
        asked.append(list(settings))
        return [RetentionRisk(K, eta, 10, abs(K - 2) + abs(eta - best), (0.0, 0.0)) for K, eta in asked[-1]]

    monkeypatch.setattr(_ConstantBehindWalk, "with_settings", with_settings)
    moving = moves(forecaster.landscape)
    largest = 1 / max(moving.h)
    best = largest / 4
    found = best_retention(forecaster, moving, 10.0, steps=True)
    assert asked[0] == [(K, 0.4) for K in (1, 2, 3, 4)]
    assert {K for K, _ in asked[1]} == {1, 2, 3, 4}
    assert sorted({eta for _, eta in asked[1]}) == pytest.approx([largest / 2**k for k in range(7)][::-1])
    assert (found.best.K, found.best.eta) == (2, largest / 4)
    best = 0.4  # none is better than the study's own
    assert best_retention(forecaster, moving, 10.0, steps=True).best == RetentionRisk(
        2, 0.4, 10, 0.0, (0.0, 0.0)
    )
    long = replace(forecaster.study, buffers=(45, 45, 45), rounds=99)
    assert best_retention(replace(forecaster, study=long), moving, 10.0, steps=True).filled
    assert [K for K, _ in asked[-2]] == [*range(1, 11), 13, 17, 22, 28, 35, 44, 45]
    assert sorted({K for K, _ in asked[-1]}) == [1, 6, 17, 45]
    assert best_retention(replace(forecaster, study=replace(long, rounds=45)), moving, 10.0).filled
    assert not best_retention(replace(forecaster, study=replace(long, rounds=3)), moving, 10.0).filled
    assert [K for K, _ in asked[-1]] == [1, 2, 3]


@pytest.mark.parametrize(("partition", "pools"), [("iid", 1), ("two-class", 3)])
def test_all_samples_of_a_file_come_by_and_clients_share_them_or_not(monkeypatch, partition, pools):
    x, y = np.arange(40.0), np.arange(40) % 4
    given = study(partition=partition, labels="classes", rounds=5)
    task = from_dataset(given, from_mapping({"x": x, "y": y, "time": x}), torch.device("cpu"))
    assert (len(task.time), len(task.arrivals.time), task.arrivals.dated) == (32, 40, False)
    monkeypatch.setattr(keeping, "measure_drift", lambda land, time, rounds: (len(time), rounds))
    monkeypatch.setattr(keeping, "best_retention", lambda *given, **more: (*given[1:], more))
    told = []
    found = keeping.drift_advice(
        SimpleNamespace(study=given, landscape=None), task, progress=lambda *one: told.append(one)
    )
    assert found.keeping == ((32, 5), 8, pools, {"steps": False})
    assert told == [("how long to keep samples", 0, None)]
    moving = from_dataset(
        replace(given, drift=Drift(kind="abrupt", start=3, parts="labels")),
        from_mapping({"x": x, "y": y, "time": x, "test_x": x, "test_y": y}),
        torch.device("cpu"),
    )
    assert moving.arrivals is None
    assert keeping.drift_advice(SimpleNamespace(study=given, landscape=None), moving) is None


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.02, 0.05, 0.1, 0.2])
def test_a_sweep_confirms_how_long_samples_are_to_be_kept(step):
    """Ten local steps, five streams at each speed: the K that is told is not told from the best of the sweep, or costs
    less than a tenth of what keeping nothing does."""
    base = replace(streams.BASE, steps=10, eta=0.5)
    told, lost = [], []
    for seed in range(200, 205):
        data = streams.stream(step, seed)
        told.append(
            predict.predict_study(base, dataset=data, pilot=1000, best=False).document()["drift"]["K"]
        )
        lost.append(streams.losses(base, data, range(1, 11)))
    mean, (lost, told) = np.mean(lost, axis=0), (np.array(lost), np.array(told))
    apart = lost[range(5), told - 1] - lost[:, mean.argmin()]
    assert apart.mean() < max(0.1 * (mean[0] - mean.min()), half_width(apart, 0.95) if apart.any() else 0)
