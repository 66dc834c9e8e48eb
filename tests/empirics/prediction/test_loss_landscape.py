"""Curvature, noise and leverage at the minimiser, against derivatives; probes and lumps; and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.autograd import grad

from empirics.prediction import loss_landscape as module
from empirics.prediction.loss_landscape import landscape_of, survey
from empirics.prediction.observation import Observer, ProbeCalibration
from empirics.prediction.predictable import refusal
from empirics.settings.drift import Drift
from empirics.training.linear import Linear
from empirics.training.model import Population
from tests.empirics.small import problem, refused, study

PROBLEMS = {
    "binary, on the ball": {},
    "binary, inside": {"radius": 300.0},
    "classes": {"labels": "classes"},
    "clients that differ": {"labels": "classes", "partition": "two-class"},
    "weights that differ": {"alpha": (0.6, 0.3, 0.1), "partition": "dirichlet"},
}


@pytest.fixture(params=PROBLEMS, scope="module")
def surveyed(request):
    task = problem(study(**PROBLEMS[request.param]))
    return task, landscape_of(task)


def differentiated(task, theta):
    """Samples' weights, and the gradients of their losses and the Hessian of the risk, by differentiation."""
    model, x, y = task.model, task.population.x.double(), task.population.y
    p = task.population.weights[0].double()
    each = theta.repeat(len(x), 1).requires_grad_()  # parameters of its own for every sample
    logits = torch.einsum("nof,nf->no", each.view(len(x), model.outputs, -1), x)
    (gradients,) = grad(model.losses(logits[:, None], y).sum(), each, create_graph=True)
    rows = [grad(column.sum(), each, retain_graph=True)[0] for column in gradients.T]
    return p, gradients.detach(), (p[:, None, None] * torch.stack(rows, 1)).sum(0)


def test_the_survey_is_what_derivatives_at_the_minimiser_and_at_the_start_say(surveyed):
    task, land = surveyed
    p, gradients, H = differentiated(task, land.best.theta[0])
    mean = p @ gradients
    B, size = land.basis.onto(torch.eye(land.model.size, dtype=torch.float64)), len(land.basis)
    torch.testing.assert_close(B.T @ B, torch.eye(size, dtype=torch.float64), atol=1e-9, rtol=0)
    torch.testing.assert_close(land.curvature, (B.T @ H @ B).diagonal(), atol=1e-10, rtol=1e-7)
    noise = (p[:, None] * (gradients @ B).square()).sum(0) - (mean @ B).square()
    torch.testing.assert_close(land.noise, noise, atol=1e-10, rtol=1e-7)
    first = int(land.on_the_ball)
    inner = (B.T @ H @ B)[first:, first:]
    torch.testing.assert_close(inner, torch.diag(inner.diagonal()), atol=1e-9, rtol=0)
    if land.on_the_ball:
        torch.testing.assert_close(mean, -land.multiplier * land.best.theta[0], atol=1e-6, rtol=0)
        torch.testing.assert_close(B[:, 0], land.best.theta[0] / land.best.theta.norm())
    else:
        assert float(mean.norm()) < 1e-4
    logits = land.model.logits(land.best.theta, land.model.population.x)  # without scatter
    found = Observer(land, 1).risk_curvature(logits, torch.zeros(1, len(land.size), dtype=torch.float64))
    torch.testing.assert_close(found[0], land.curvature)
    *_, H = differentiated(task, torch.zeros_like(land.best.theta[0]))
    assert land.steepness == pytest.approx(float(torch.linalg.eigvalsh(H)[-1]), rel=1e-9)


def test_products_and_leverage_are_those_of_the_logits(surveyed):
    _, land = surveyed
    model, x = land.model, land.model.population.x
    basis = land.basis.onto(torch.eye(model.size, dtype=torch.float64))
    z = torch.stack([model.logits(v[None], x)[:, 0] for v in basis.T], -1)  # (samples, O, directions)
    torch.testing.assert_close(land.leverage[0], z.square().sum(1) / max(model.outputs - 1, 1))
    matrices = torch.randn(len(land.probes), 2, model.outputs, model.outputs, dtype=torch.float64)
    matrices = matrices + matrices.mT
    wanted = torch.einsum("ncoq,nok,nqk->ck", matrices, z[land.probes], z[land.probes])
    torch.testing.assert_close(land.along(matrices), wanted)
    vectors = torch.randn(3, model.size, dtype=torch.float64)
    torch.testing.assert_close(land.squares(vectors), (vectors @ basis).square())


@pytest.mark.parametrize("radius", [50.0, 1.0])
def test_the_lower_bound_is_the_trace_of_noise_over_curvature(radius):
    """On the ball nothing moves along the radius, and the multiplier bends the sphere."""
    task = problem(study(radius=radius))
    land = landscape_of(task)
    theta = land.best.theta[0]
    p, gradients, H = differentiated(task, theta)
    H, mean = H.numpy(), (p @ gradients).numpy()
    noise = ((p[:, None] * gradients).T @ gradients).numpy() - np.outer(mean, mean)
    tangent = np.eye(len(theta))
    if land.on_the_ball:
        H = H + land.multiplier * np.eye(len(theta))
        tangent = np.linalg.svd(theta.numpy()[None])[2][1:]
    assert land.on_the_ball is (radius == 1)
    by_hand = np.trace(np.linalg.solve(tangent @ H @ tangent.T, tangent @ noise @ tangent.T)) / (2 * 30)
    assert land.least_final_risk(30.0) == pytest.approx(by_hand, rel=1e-6)


def test_lumps_keep_every_sum(monkeypatch):
    task = problem(study(labels="classes"))
    monkeypatch.setattr(module, "DIRECTIONS_ALONE", 3)
    monkeypatch.setattr(module, "DIRECTION_LUMPS", 24)
    whole = landscape_of(task)
    assert whole.size.tolist() == [1] * 27  # as many as may be
    monkeypatch.setattr(module, "DIRECTION_LUMPS", 4)
    monkeypatch.setattr(module, "CHUNK_CELLS", 1)  # samples one by one
    lumped = landscape_of(task)
    assert len(lumped.size) <= 7 < len(whole.size)
    assert (lumped.size[:3] == 1).all()
    assert lumped.size.sum() == len(whole.size)
    for name in ("noise", "leverage", "products"):
        torch.testing.assert_close(getattr(lumped, name).sum(-1), getattr(whole, name).sum(-1))
    torch.testing.assert_close((lumped.curvature * lumped.size).sum(), whole.curvature.sum())
    vectors = torch.randn(2, whole.model.size, dtype=torch.float64)
    torch.testing.assert_close(lumped.squares(vectors).sum(1), whole.squares(vectors).sum(1))
    x, y, p = torch.eye(10).repeat(2, 1), torch.arange(20) // 10, torch.full((1, 20), 1 / 20)
    alike = survey(Linear(Population(x, y, p, x, y, classes=2)), p, radius=5.0)
    assert alike.size.tolist() == [1, 1, 1, 7]  # one curvature in all directions


def test_few_probes_are_taken_from_every_group(monkeypatch):
    task = problem(study(labels="classes", partition="two-class"))
    for most, count in ((120, 120), (2, 3)):  # all, which fit; and no group without
        monkeypatch.setitem(module.PROBE_CELLS_MAX, "cpu", most * 16)
        assert len(landscape_of(task).probes) == count
    monkeypatch.setitem(module.PROBE_CELLS_MAX, "cpu", 30 * 16)
    land = landscape_of(task)
    assert 10 <= len(land.probes) <= 30
    assert ((land.groups[:, land.probes] > 0).sum(1) >= 5).all()
    torch.testing.assert_close(land.of_probes(land.groups).sum(0), torch.ones(3, dtype=torch.float64))


def test_lumps_that_no_probe_covers_change_like_all_that_probes_cover():
    exact, probed = (torch.tensor(one, dtype=torch.float64) for one in ([1, 2, 1.5, 1], [[1, 4, 0.5, 3]]))
    convert = ProbeCalibration(exact, probed)  # the last two are three times off
    torch.testing.assert_close(convert(probed), exact[None])
    found = convert(torch.tensor([[3, 4, 7, 8], [0, 2, 7, 8]], dtype=torch.float64))
    wanted = [[3, 2, 2.5, 5 / 3], [0, 1, 0.5, 1 / 3]]
    torch.testing.assert_close(found, torch.tensor(wanted, dtype=torch.float64))


ABRUPT, STILL = Drift(kind="abrupt", start=9), Drift(kind="periodic", length=10**12)


@pytest.mark.parametrize(
    "given", [{}, {"partition": "dirichlet", "labels": "classes", "per_seed": ("partition",)}]
)
def test_each_part_of_a_drifting_population_draws_from_its_own_pools(given):
    task = problem(study(drift=replace(STILL, parts="inputs") if given else STILL, **given))
    land, streams = landscape_of(task), task.streams
    for k, groups in enumerate(land.parts.groups):
        pools = streams.later[0] if k and streams.later is not None else streams.pools[0]
        pools = pools if given else pools[:1]
        assert groups.shape == (len(pools), streams.population)
        for row, pool in zip(groups, pools, strict=True):
            np.testing.assert_allclose(row[pool], 1 / len(pool))
            assert float(row.sum()) == pytest.approx(1)
        torch.testing.assert_close(
            land.of_probes(groups).sum(0), groups.sum(1)
        )  # also of a part not drawn from
        torch.testing.assert_close(land.parts.everyone[k], torch.from_numpy(streams.of_part(k)[0]))


def test_clients_with_weights_of_their_own_are_groups_of_their_own():
    unequal, partitions = {"alpha": (0.5, 0.25, 0.25)}, {"per_seed": ("partition",), "per_class": 9}
    cases = ({"alpha": (1 / 3,) * 3}, 1), (unequal, 3), (unequal | {"weights": "samples"}, 1)
    for given, groups in (*cases, (partitions | {"buffers": (16,)}, 1)):  # that of the first replicate
        assert len(landscape_of(problem(study(**given))).groups) == groups


def test_problems_without_a_minimiser_to_follow_are_refused():
    for given, reason in (
        ({"radius": None}, "radius"),
        ({"drift": Drift(kind="order")}, "in their own order"),
        ({"drift": replace(ABRUPT, parts="labels", apart=2), "partition": "two-class"}, "drift apart"),
        ({"drift": ABRUPT, "rounds": 40_000}, "at most 32,768 rounds"),
    ):
        task = problem(study(**({"rounds": 20} | given)))
        assert reason in refusal(task)
        assert reason in refused(landscape_of, task)


def test_other_models_and_a_single_sample_are_refused():
    network = problem(study(), model=torch.nn.Linear(8, 2))
    assert "logistic" in refusal(network)
    assert "nothing can be predicted" in refused(landscape_of, network)
    task = problem(study())
    assert refusal(task) is None
    for count, reason in ((1, "single sample"), (2, "None")):
        weights = (torch.arange(120) < count) / count
        few = replace(task, population=replace(task.population, weights=weights[None]))
        assert reason in str(refusal(few))
