"""A large population seen through samples of it: what they stand for, and how far they miss."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from empirics.prediction import effort, forecast
from empirics.prediction import landscape as module
from empirics.prediction.effort import seconds, training_seconds
from empirics.prediction.forecast import Outlook, caveats, landscape_of
from empirics.prediction.gauge import Gauge
from empirics.prediction.observation import Observer
from empirics.prediction.sampling import Anchor, Whole, principal_axes
from empirics.settings.drift import Drift
from empirics.settings.presets import PRESETS
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
    first = landscape_of(task_of(case))
    parts = (first, *first.others)
    for part in parts:
        assert 150 <= len(part.model.population.x) < 200
        torch.testing.assert_close(part.groups.sum(1), torch.ones(len(part.groups), dtype=torch.float64))
        assert float(part.model.population.weights.sum()) == pytest.approx(1)
        y, whole = part.model.population.y, first.whole
        for label in range(4):
            wanted = whole.groups[:, whole.model.population.y == label].sum(1)
            torch.testing.assert_close(part.groups[:, y == label].sum(1), wanted)
    rows = {tuple(row) for part in parts for row in part.model.population.x.tolist()}
    assert len(rows) == sum(len(part.model.population.x) for part in parts)  # none twice


def test_estimate_and_forecast_ask_for_paths_of_prices_alike(few, monkeypatch):
    given, asked = study(policies=("constant",), rounds=1), []
    task = from_dataset(given, blobs(samples=1200), torch.device("cpu"))
    for where in (effort, forecast):
        monkeypatch.setattr(where, "replicates", lambda study, name, cells: asked.append(cells) or 1)
    seconds(task), Outlook.of(task, CONTROL).forecasts()
    assert asked == 2 * [1200]


def test_as_many_as_are_seen_as_a_whole_are(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1200)
    assert landscape_of(task_of("binary")).others == ()


def test_an_anchor_is_exact_where_it_looked_and_right_to_first_order_near_it(few):
    land = landscape_of(task_of("clients that differ"))
    sample, whole = Whole(land.model, land.groups), land.whole
    looks = []
    anchor, other = Anchor(whole, sample, looks), Anchor(whole, sample, looks)
    generator = torch.Generator().manual_seed(0)
    theta, step = torch.randn(2, 2, land.model.size, dtype=torch.float64, generator=generator)
    step = 1e-3 * step
    anchor.look(theta)
    for there, off in ((theta, 1e-12), (theta + step, 1e-5)):
        risk, _, slopes = (a - b for a, b in zip(whole.measured(there), sample.measured(there), strict=True))
        torch.testing.assert_close(anchor.risk(there), risk, atol=off, rtol=0)
        torch.testing.assert_close(anchor.slopes, slopes, atol=1e4 * off, rtol=0)
    assert float(anchor.missed.abs().min()) > 1e-3
    assert anchor.slopes.shape == (2 * len(land.groups), land.model.size)
    other.look(theta + step)  # another sample's, at where the first one looked
    assert len(looks) == 1
    torch.testing.assert_close(other.risk(theta + step), anchor.risk(theta + step), atol=0, rtol=0)
    alike = Whole(
        land.model, torch.cat([land.model.population.weights, land.groups])
    )  # the first is like all
    torch.testing.assert_close(
        alike.measured(theta)[2].view(2, -1, land.model.size)[:, 1:].flatten(0, 1), sample.measured(theta)[2]
    )
    shared = [], []
    [only] = Gauge(Observer(land, 2), shared).anchors
    assert only.looks is shared[0]


def test_axes_keep_what_carries_the_inputs():
    x = torch.randn(400, 6, dtype=torch.float64) * torch.tensor([30, 3, 2, 1, 0.1, 0.01])
    axes = principal_axes(x)
    assert axes.shape == (6, 4)
    torch.testing.assert_close(axes.T @ axes, torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close((x @ axes).square().sum(), x.square().sum(), rtol=1e-3, atol=0)
    assert principal_axes(x * (torch.arange(6) == 0)).shape == (6, 1)


def test_a_population_many_times_as_large_takes_hardly_longer(monkeypatch):
    small, large = (from_dataset(study(), blobs(samples=n), torch.device("cpu")) for n in (3000, 60_000))
    found = []
    for most in (1000, 10**9):
        monkeypatch.setattr("empirics.prediction.effort.MOST", most)
        found.append(seconds(large) / seconds(small))
    assert found[0] < 2 < found[1]


def test_estimates_for_mnist_are_within_a_factor_of_two_of_what_the_page_says():
    """The table of docs/predict.md: labels, policies, prediction and its estimate, constants, training and its own."""
    page = (Path(__file__).parents[3] / "docs" / "predict.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (odd|ten) .*\| (six|constant) .*?\| (.*?) \| (.*?) \| .*? \| (.*?) \| (.*?) \|", page, re.M
    )
    assert len(rows) == 4
    for labels, policies, *told in rows:
        given = replace(PRESETS["digits"], rounds=300, seeds=10)
        if policies == "constant":
            given = replace(given, policies=("constant",), measures=("risk",))
        x = torch.zeros(1, 1).expand(60_000, 785)
        model = SimpleNamespace(size=785 * (10 if labels == "ten" else 1))
        streams = SimpleNamespace(pools=[[x] * given.clients])
        task = SimpleNamespace(study=given, model=model, population=SimpleNamespace(x=x), streams=streams)
        predicted, estimate, trained, estimated = map(float, told)
        assert [seconds(task), training_seconds(task)] == pytest.approx([estimate, estimated], rel=0.02)
        assert 0.5 < estimate / predicted < 2
        assert 0.5 < estimated / trained < 2
