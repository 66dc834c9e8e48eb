"""Curvature, noise and leverage at the minimiser, against derivatives taken sample by sample."""

import pytest
import torch
from torch.autograd.functional import hessian, jacobian

from empirics.prediction import landscape as module
from empirics.prediction.forecast import landscape_of
from tests.empirics.small import problem, study

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


def samples(task, theta):
    """Gradient and Hessian of every sample's loss, by differentiation."""
    model, x, y = task.model, task.population.x.double(), task.population.y

    def loss(parameters, i):
        logits = (x[i : i + 1] @ parameters.view(model.outputs, -1).T)[:, None]
        return model.losses(logits, y[i : i + 1])[0, 0]

    each = [lambda parameters, i=i: loss(parameters, i) for i in range(len(x))]
    return [torch.stack([derivative(one, theta) for one in each]) for derivative in (jacobian, hessian)]


def test_the_survey_is_what_derivatives_say(surveyed):
    task, land = surveyed
    p = task.population.weights[0].double()
    gradients, hessians = samples(task, land.best.theta[0])
    mean = p @ gradients
    H = (p[:, None, None] * hessians).sum(0)
    B, size = land.basis, land.basis.shape[1]
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


def test_products_and_leverage_are_those_of_the_logits(surveyed):
    _, land = surveyed
    model, x = land.model, land.model.population.x
    z = torch.stack([model.logits(v[None], x)[:, 0] for v in land.basis.T], -1)  # (samples, O, directions)
    torch.testing.assert_close(land.leverage, z.square().sum(1) / max(model.outputs - 1, 1))
    matrices = torch.randn(len(land.probes), 2, model.outputs, model.outputs, dtype=torch.float64)
    matrices = matrices + matrices.mT
    wanted = torch.einsum("ncoq,nok,nqk->ck", matrices, z[land.probes], z[land.probes])
    torch.testing.assert_close(land.along(matrices), wanted)
    vectors = torch.randn(3, model.size, dtype=torch.float64)
    torch.testing.assert_close(land.squares(vectors), (vectors @ land.basis).square())


def test_lumps_keep_every_sum(monkeypatch):
    task = problem(study(labels="classes"))
    whole = landscape_of(task)
    monkeypatch.setattr(module, "SINGLE", 3)
    monkeypatch.setattr(module, "LUMPS", 4)
    lumped = landscape_of(task)
    assert len(lumped.size) <= 7 < len(whole.size)
    assert lumped.size.sum() == len(whole.size)
    for name in ("noise", "leverage", "products"):
        torch.testing.assert_close(getattr(lumped, name).sum(-1), getattr(whole, name).sum(-1))
    torch.testing.assert_close((lumped.curvature * lumped.size).sum(), whole.curvature.sum())
    vectors = torch.randn(2, whole.model.size, dtype=torch.float64)
    torch.testing.assert_close(lumped.squares(vectors).sum(1), whole.squares(vectors).sum(1))


def test_few_probes_are_taken_from_every_group(monkeypatch):
    monkeypatch.setitem(module.PROBES, "cpu", 30 * 16)
    task = problem(study(labels="classes", partition="two-class"))
    land = landscape_of(task)
    assert 10 <= len(land.probes) <= 30
    assert ((land.groups[:, land.probes] > 0).sum(1) >= 5).all()
    torch.testing.assert_close(land.of_probes.sum(0), torch.ones(3, dtype=torch.float64))
