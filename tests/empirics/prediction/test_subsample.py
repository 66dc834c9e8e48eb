"""A large population seen through subsamples: what they stand for, and how far they miss."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.control.schedule import plan
from empirics.prediction import loss_landscape as module
from empirics.prediction import study_forecaster
from empirics.prediction.decided_rounds import DecidedRounds
from empirics.prediction.forecast import caveats
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.moments import ExpectedRisk, MomentRecursion
from empirics.prediction.observation import Observer
from empirics.prediction.risk_curve import RiskCurve
from empirics.prediction.subsample import GroupedPopulation, SampleCorrection, principal_axes
from empirics.settings.drift import Drift
from empirics.training.linear import Linear
from empirics.training.model import Descent
from empirics.training.risk import minimise
from tests.empirics.small import CONTROL, blobs, forecaster_of, problem, study

CASES = {
    "binary": {},
    "clients that differ": {"labels": "classes", "partition": "two-class"},
    "inputs that change": {"drift": Drift(kind="gradual", start=3, length=12, parts="inputs")},
    "weights that differ": {"alpha": (0.6, 0.3, 0.1), "partition": "dirichlet"},
}


def task_of(case, **other):
    policies = ("constant",) if case == "clients that differ" else ("constant", "oracle@average=equal")
    given = study(**({"policies": policies, "rounds": 20} | CASES[case] | other))
    return problem(given, data=blobs(samples=1200))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(module, "POPULATION_WHOLE_MAX", 1000)
    monkeypatch.setattr(module, "SUBSAMPLE_SIZE", 150)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in list(CASES)[:-1]]


@pytest.mark.parametrize("case", [*SLOW, "weights that differ"])
def test_subsamples_predict_what_the_whole_does_within_their_error(case, request):
    task = task_of(case)
    complete = forecaster_of(task)
    whole, steepness = complete.forecasts(), complete.landscape.steepness
    request.getfixturevalue("few")
    seen = forecaster_of(task)
    found = seen.forecasts()
    assert seen.landscape.steepness == pytest.approx(steepness, rel=1e-3)
    assert "4 samples of about 15" in caveats(task.study, 0.0, found)[0]
    assert caveats(task.study, 0.0, whole) == []
    for name, one in found.items():
        error = one.errors["cumulative_excess_risk"]
        assert 0 < error < 0.05 * one.cumulative
        assert abs(one.cumulative - whole[name].cumulative) < 4 * error + 0.01 * one.cumulative, name
        np.testing.assert_allclose(one.risk, whole[name].risk, rtol=0.15)
        assert one.risk[0] == pytest.approx(whole[name].risk[0], rel=1e-2)  # corrected


def test_a_server_that_adds_up_information_is_predicted_from_all_samples(request):
    task = task_of("binary", learner="information", per_seed=("start",), policies=("constant", "oracle"))
    complete = forecaster_of(task).forecasts()
    request.getfixturevalue("few")
    for name, one in forecaster_of(task).forecasts().items():
        np.testing.assert_allclose(one.risk, complete[name].risk, rtol=1e-2)


@pytest.mark.parametrize("case", CASES)
def test_samples_weigh_what_they_stand_for(case, few):
    land = landscape_of(task_of(case))
    population, whole = land.model.population, land.whole
    assert land.samples == len(population.x) == 4
    assert 150 <= population.x.shape[1] == len(population.y) < 200
    torch.testing.assert_close(land.groups.sum(1), torch.ones(len(land.groups), dtype=torch.float64))
    assert float(population.weights.sum()) == pytest.approx(1)
    for label in range(4):
        wanted = whole.groups[:, whole.model.population.y == label].sum(1)
        torch.testing.assert_close(land.groups[:, population.y == label].sum(1), wanted)
    rows = {tuple(row) for row in population.x.flatten(0, 1).tolist()}
    assert len(rows) == 4 * len(population.y)  # none twice
    place = {tuple(row): i for i, row in enumerate(whole.model.population.x.tolist())}
    for one in population.x:  # of the kinds that are told of the first
        index = [place[tuple(row)] for row in one.tolist()]
        assert torch.equal(whole.model.population.y[index], population.y)
        assert torch.equal(whole.groups[:, index] > 0, land.groups > 0)


def test_a_population_of_the_largest_size_is_seen_as_a_whole(monkeypatch):
    monkeypatch.setattr(module, "POPULATION_WHOLE_MAX", 1200)
    assert landscape_of(task_of("binary")).whole is None


def test_a_correction_is_exact_where_it_was_computed_and_to_first_order_near_it(few):
    land = landscape_of(task_of("clients that differ"))
    sample, whole = GroupedPopulation(land.model, land.groups), land.whole
    correction = SampleCorrection(whole, sample)
    generator = torch.Generator().manual_seed(0)
    theta, step = torch.randn(2, 2, land.model.size, dtype=torch.float64, generator=generator)
    step = 1e-3 * step
    correction.look(torch.cat([theta, *3 * [-theta]]))  # at where the first sample is
    for there, off in ((theta, 1e-12), (theta + step, 1e-5)):
        every = there.repeat(4, 1)
        pairs = zip(whole.measured(every), sample.measured(every), strict=True)
        risk, _, slopes = (a - b for a, b in pairs)
        torch.testing.assert_close(correction.risk(every), risk, atol=off, rtol=0)
        torch.testing.assert_close(correction.slopes, slopes, atol=1e4 * off, rtol=0)
    assert float(correction.missed.abs().min()) > 1e-3
    assert correction.slopes.shape == (4 * 2 * len(land.groups), land.model.size)
    theta = theta.repeat(4, 1)
    alike = GroupedPopulation(land.model, torch.cat([land.model.population.weights, land.groups]))
    slopes = alike.measured(theta)[2].view(8, -1, land.model.size)[:, 1:]  # the first group is like all
    torch.testing.assert_close(slopes.flatten(0, 1), sample.measured(theta)[2])


@pytest.mark.parametrize(("case", "radius"), [("binary", 2), ("clients that differ", 2), ("binary", 50)])
def test_the_risk_that_paths_of_subsamples_add_by_straying_is_subtracted(case, radius, few, monkeypatch):
    land = landscape_of(task_of(case, radius=radius))
    assert land.on_the_ball == (radius == 2)
    rows, generator = 3, torch.Generator().manual_seed(0)
    expected, best = ExpectedRisk(Observer(land, 4 * rows)), land.best.theta
    size = (2, 4, rows, land.model.outputs, land.model.features)  # of two rounds
    apart = 1e-3 * torch.randn(size, dtype=torch.float64, generator=generator)
    if land.model.outputs > 1:  # what all have in common changes no chances
        apart = apart - apart.mean(-2, keepdim=True)
    apart = apart.flatten(-2)
    taken = expected.spread_bias((best + apart).flatten(1, 2)).view(2, 4, rows)
    H = land.whole.model.hessian(best) + land.multiplier * torch.eye(len(best[0]), dtype=torch.float64)
    if land.on_the_ball:  # whose radius is no way to stray
        apart = apart - (apart @ best[0])[..., None] * best[0] / best.square().sum()
    away = apart - apart.mean(1, keepdim=True)
    wanted = 0.5 * torch.einsum("tkri,ij,tkrj->tkr", away, H, away)
    torch.testing.assert_close(taken, wanted.sum(1, keepdim=True).expand_as(wanted) / 3, rtol=0.02, atol=0)
    assert not expected.spread_bias(best.repeat(4 * rows, 1)).any()
    here = {"theta": (best + apart[0]).flatten(0, 1), "observe": True, "least": 0.1}
    here["scatter"] = torch.zeros(4 * rows, len(land.size), dtype=torch.float64)
    found = expected(**here)
    monkeypatch.setattr(ExpectedRisk, "spread_bias", lambda expected, theta: 0.0)
    for less, plain in zip(found, expected(**here), strict=True):
        torch.testing.assert_close(plain - less, taken[0].flatten(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("case", ["binary", "clients that differ"])
def test_side_by_side_a_sample_is_what_it_is_alone(case, few):
    land, rows = landscape_of(task_of(case)), 2
    generator, model, population = torch.Generator().manual_seed(0), land.model, land.model.population
    theta = torch.randn(3, 4 * rows, model.size, dtype=torch.float64, generator=generator)  # of three rounds
    logits = model.logits(theta, population.x).view(-1, 3, 4, rows, model.outputs)
    slopes = model.weighted_inputs(model.logits(theta[0], population.x)).view(4, rows, -1)
    q = model.chances(model.logits(theta[0], population.x))
    p = land.groups[:1].T.expand(q.shape[:2])
    hessians = model.hessians(p, q).view(4, rows, model.size, model.size)
    matrices = torch.randn(len(land.probes), 8, model.outputs, model.outputs, dtype=torch.float64)
    matrices, values = matrices + matrices.mT, torch.rand(8, len(land.size), dtype=torch.float64)
    probed = Observer(land, 8).to_noise(values)
    for k, x in enumerate(population.x):
        alone, mine = Linear(replace(population, x=x)), slice(rows * k, rows * (k + 1))
        torch.testing.assert_close(logits[:, 1, k], alone.logits(theta[1, mine], x))
        torch.testing.assert_close(slopes[k], alone.weighted_inputs(alone.logits(theta[0, mine], x)))
        torch.testing.assert_close(hessians[k], alone.hessians(p[:, mine], q[:, mine]))
        single = replace(land, model=alone, leverage=land.leverage[[k]], products=land.products[[k]])
        torch.testing.assert_close(land.levered(values)[:, mine], single.levered(values[mine]))
        torch.testing.assert_close(land.along(matrices)[mine], single.along(matrices[:, mine]))
        torch.testing.assert_close(probed[mine], Observer(single, rows).to_noise(values[mine]))


def test_price_paths_are_as_many_as_the_whole_population_makes_cheap(few, monkeypatch):
    # four rounds of three paths, of four outputs and three groups
    monkeypatch.setattr(study_forecaster, "PRICE_PATH_WORK", 3 * 1200 * 4 * 4 * 3)
    task = task_of("clients that differ", policies=("buy-cheap-online",), rounds=4, steps=1, seeds=8)
    (found,) = forecaster_of(task).forecasts().values()
    assert found.rate == pytest.approx(plan(task.study, CONTROL).admissions[:, :3].sum(2).mean())


def test_axes_keep_what_carries_the_inputs():
    x = torch.randn(400, 6, dtype=torch.float64) * torch.tensor([30, 3, 2, 1, 0.1, 0.01])
    axes, followed = principal_axes(x)
    assert axes.shape == (6, 4)
    assert followed == 3
    torch.testing.assert_close(axes.T @ axes, torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close((x @ axes).square().sum(), x.square().sum(), rtol=1e-3, atol=0)
    only, followed = principal_axes(x * (torch.arange(6) == 0))
    assert only.shape == (6, 1)
    assert followed == 1


def test_the_least_risk_of_a_drifting_population_is_that_along_the_axes(few):
    land = landscape_of(task_of("binary", drift=Drift(kind="gradual", start=3, length=12)))
    assert (float(land.parts.mixing[0]), float(land.parts.mixing[-1])) == (0, 1)
    for part, t in ((0, 0), (1, -1)):
        least = minimise(land.whole.of_part(part).model, land.radius).risk
        assert float(land.parts.least[t]) == pytest.approx(float(least), abs=1e-6)


def test_a_path_is_the_same_beside_a_mean_of_its_models(few):
    """The whole population is looked at from either."""
    task = task_of("binary", policies=("constant@average=equal",), seeds=1, rounds=8)
    land, start, found = landscape_of(task), task.model.start(1), []
    held = DecidedRounds(task.study, CONTROL, None, None, 8).memories(1)[0].of([0] * 4)
    for share in (held.share, None):
        path = MomentRecursion(land, Descent(3, 0.5), replace(held, share=share), start)
        RiskCurve(path).play(8)
        found.append(path.theta)
    torch.testing.assert_close(*found)


def test_a_mean_of_models_takes_one_more_look_at_the_whole_population_per_observation(few, monkeypatch):
    looks, look = [], SampleCorrection.look
    monkeypatch.setattr(SampleCorrection, "look", lambda own, theta: looks.append(theta) or look(own, theta))
    counts = []
    for name in ("constant", "constant@average=equal"):
        task = task_of("inputs that change", policies=(name,), seeds=1, rounds=14, steps=1)
        forecaster_of(task).forecasts()
        counts.append(len(looks) - sum(counts))
    assert 2 * 10 < counts[0] < 2 * 15  # of two parts; not in every round
    assert counts[1] == 2 * counts[0]
