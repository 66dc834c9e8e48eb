"""A large population seen through samples of it: what they stand for, and how far they miss."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from empirics.prediction import curves as outlook
from empirics.prediction import loss_landscape as module
from empirics.prediction import time_estimate as effort
from empirics.prediction.curves import Outlook
from empirics.prediction.expected_risk import Gauge
from empirics.prediction.forecast import caveats
from empirics.prediction.observation import Observer
from empirics.prediction.subsample import Anchor, Whole, principal_axes
from empirics.prediction.survey import landscape_of
from empirics.prediction.time_estimate import seconds, training_seconds
from empirics.settings.drift import Drift
from empirics.settings.presets import PRESETS
from empirics.training.linear import Linear
from empirics.training.problem import from_dataset
from tests.empirics.small import CONTROL, blobs, study

CASES = {
    "binary": {},
    "clients that differ": {"labels": "classes", "partition": "two-class"},
    "inputs that change": {"drift": Drift(kind="gradual", start=3, length=12, parts="inputs")},
    "weights that differ": {"alpha": (0.6, 0.3, 0.1), "partition": "dirichlet"},
}


def task_of(case):
    policies = ("constant",) if case == "clients that differ" else ("constant", "oracle")
    given = study(policies=policies, rounds=20, **CASES[case])
    return from_dataset(given, blobs(samples=1200), torch.device("cpu"))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1000)
    monkeypatch.setattr(module, "PART", 150)


@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=[pytest.mark.slow] * (one != "weights that differ")) for one in CASES]
)
def test_samples_foretell_what_the_whole_does_within_the_error_that_they_tell(case, request):
    task = task_of(case)
    whole = Outlook.of(task, CONTROL).forecasts()
    request.getfixturevalue("few")
    found = Outlook.of(task, CONTROL).forecasts()
    assert "4 samples of about 15" in caveats(task.study, CONTROL, found)[0]
    assert caveats(task.study, CONTROL, whole) == []
    for name, one in found.items():
        error = one.errors["cumulative_excess_risk"]
        assert 0 < error < 0.05 * one.cumulative
        assert abs(one.cumulative - whole[name].cumulative) < 4 * error + 0.01 * one.cumulative, name
        np.testing.assert_allclose(one.risk, whole[name].risk, rtol=0.15)
        assert one.risk[0] == pytest.approx(whole[name].risk[0], rel=1e-2)  # the anchor's


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


def test_estimate_and_forecast_ask_for_paths_of_prices_alike(few, monkeypatch):
    given, asked = study(policies=("constant",), rounds=1), []
    task = from_dataset(given, blobs(samples=1200), torch.device("cpu"))
    for where in (effort, outlook):
        monkeypatch.setattr(where, "replicates", lambda study, name, cells: asked.append(cells) or 1)
    seconds(task), Outlook.of(task, CONTROL).forecasts()
    assert asked == 2 * [1200]


def test_as_many_as_are_seen_as_a_whole_are(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1200)
    assert landscape_of(task_of("binary")).whole is None


def test_an_anchor_is_exact_where_it_looked_and_right_to_first_order_near_it(few):
    land = landscape_of(task_of("clients that differ"))
    sample, whole = Whole(land.model, land.groups), land.whole
    anchor = Anchor(whole, sample)
    generator = torch.Generator().manual_seed(0)
    theta, step = torch.randn(2, 2, land.model.size, dtype=torch.float64, generator=generator)
    step = 1e-3 * step
    anchor.look(torch.cat([theta, *3 * [-theta]]))  # at where the first sample is
    for there, off in ((theta, 1e-12), (theta + step, 1e-5)):
        every = there.repeat(4, 1)
        pairs = zip(whole.measured(every), sample.measured(every), strict=True)
        risk, _, slopes = (a - b for a, b in pairs)
        torch.testing.assert_close(anchor.risk(every), risk, atol=off, rtol=0)
        torch.testing.assert_close(anchor.slopes, slopes, atol=1e4 * off, rtol=0)
    assert float(anchor.missed.abs().min()) > 1e-3
    assert anchor.slopes.shape == (4 * 2 * len(land.groups), land.model.size)
    theta = theta.repeat(4, 1)
    alike = Whole(
        land.model, torch.cat([land.model.population.weights, land.groups])
    )  # the first is like all
    torch.testing.assert_close(
        alike.measured(theta)[2].view(8, -1, land.model.size)[:, 1:].flatten(0, 1), sample.measured(theta)[2]
    )


@pytest.mark.parametrize(
    ("case", "radius"), [("binary", 2.0), ("clients that differ", 2.0), ("binary", 50.0)]
)
def test_what_paths_have_too_much_for_straying_is_taken_off(case, radius, few, monkeypatch):
    given = study(policies=("constant",), radius=radius, **CASES[case])
    land = landscape_of(from_dataset(given, blobs(samples=1200), torch.device("cpu")))
    assert land.on_the_ball == (radius == 2)
    rows, generator = 3, torch.Generator().manual_seed(0)
    gauge, best = Gauge(Observer(land, 4 * rows)), land.best.theta
    size = (2, 4, rows, land.model.outputs, land.model.features)  # of two rounds
    apart = 1e-3 * torch.randn(size, dtype=torch.float64, generator=generator)
    if land.model.outputs > 1:  # what all have in common changes no chances
        apart = apart - apart.mean(-2, keepdim=True)
    apart = apart.flatten(-2)
    taken = gauge._strayed((best + apart).flatten(1, 2)).view(2, 4, rows)
    H = land.whole.model.hessian(best) + land.multiplier * torch.eye(len(best[0]), dtype=torch.float64)
    if land.on_the_ball:  # whose radius is no way to stray
        apart = apart - (apart @ best[0])[..., None] * best[0] / best.square().sum()
    away = apart - apart.mean(1, keepdim=True)
    wanted = 0.5 * torch.einsum("tkri,ij,tkrj->tkr", away, H, away)
    torch.testing.assert_close(taken, wanted.sum(1, keepdim=True).expand_as(wanted) / 3, rtol=0.02, atol=0)
    assert torch.equal(gauge._strayed(best.repeat(4 * rows, 1)), torch.zeros(4 * rows, dtype=torch.float64))
    here = {"theta": (best + apart[0]).flatten(0, 1), "observe": True, "least": 0.1}
    here["scatter"] = torch.zeros(4 * rows, len(land.size), dtype=torch.float64)
    found = gauge(**here)
    monkeypatch.setattr(Gauge, "_strayed", lambda gauge, theta: 0.0)
    for less, plain in zip(found, gauge(**here), strict=True):
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


def test_a_population_many_times_as_large_takes_hardly_longer(monkeypatch):
    small, large = (from_dataset(study(), blobs(samples=n), torch.device("cpu")) for n in (3000, 60_000))
    found = []
    for most in (1000, 10**9):
        monkeypatch.setattr("empirics.prediction.time_estimate.MOST", most)
        found.append(seconds(large) / seconds(small))
    assert found[0] < 2 < found[1]


def test_estimates_for_mnist_are_within_a_factor_of_two_of_what_the_page_says():
    """The table of docs/predict.md: labels, policies, measures, prediction and its estimate, constants, training and
    its own, and the ratio."""
    page = (Path(__file__).parents[3] / "docs" / "predict.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (odd|ten) .*\| (six|constant) .*?\| (all|risk alone) "
        r"\| (.*?) \| (.*?) \| .*? \| (.*?) \| (.*?) \| (.*) % \|",
        page,
        re.M,
    )
    assert len(rows) == 6
    for labels, policies, measures, *told in rows:
        given = replace(PRESETS["digits"], rounds=300, seeds=10)
        if policies == "constant":
            given = replace(given, policies=("constant",))
        if measures == "risk alone":
            given = replace(given, measures=("risk",))
        x = torch.zeros(1, 1).expand(60_000, 785)
        model = SimpleNamespace(size=785 * (10 if labels == "ten" else 1))
        streams = SimpleNamespace(pools=[[x] * given.clients])
        task = SimpleNamespace(study=given, model=model, population=SimpleNamespace(x=x), streams=streams)
        predicted, estimate, trained, estimated, part = (float(one.replace(",", "")) for one in told)
        assert predicted / trained == pytest.approx(part / 100, rel=0.03)
        assert [seconds(task), training_seconds(task)] == pytest.approx([estimate, estimated], rel=0.02)
        assert 0.5 < estimate / predicted < 2
        assert 0.5 < estimated / trained < 2
