"""Curvature, noise and leverage at the minimiser, and what samples show, against derivatives and inverses."""

import numpy as np
import pytest
import torch
from torch.autograd import grad

from empirics.prediction import loss_landscape as module
from empirics.prediction import residuals as samples
from empirics.prediction.observation import Observer, _FromProbes
from empirics.prediction.residuals import View, at_rest, chances, mean_damping, resolved, view
from empirics.prediction.survey import landscape_of
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


def differentiated(task, theta):
    """Gradient and Hessian of every sample's loss, by differentiation."""
    model, x, y = task.model, task.population.x.double(), task.population.y
    each = theta.repeat(len(x), 1).requires_grad_()  # parameters of its own for every sample
    logits = torch.einsum("nof,nf->no", each.view(len(x), model.outputs, -1), x)
    (gradients,) = grad(model.losses(logits[:, None], y).sum(), each, create_graph=True)
    rows = [grad(column.sum(), each, retain_graph=True)[0] for column in gradients.T]
    return gradients.detach(), torch.stack(rows, 1)


def test_the_survey_is_what_derivatives_say(surveyed):
    task, land = surveyed
    p = task.population.weights[0].double()
    gradients, hessians = differentiated(task, land.best.theta[0])
    mean = p @ gradients
    H = (p[:, None, None] * hessians).sum(0)
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


def test_as_many_directions_as_lumps_are_each_on_their_own():
    lump, size = module._lumps(torch.linspace(2, 1, module.SINGLE + module.LUMPS))
    assert lump.tolist() == list(range(len(size)))
    assert (size == 1).all()


def test_few_probes_are_taken_from_every_group(monkeypatch):
    task = problem(study(labels="classes", partition="two-class"))
    monkeypatch.setitem(module.PROBES, "cpu", 120 * 16)
    assert len(landscape_of(task).probes) == 120  # all, which fit
    monkeypatch.setitem(module.PROBES, "cpu", 30 * 16)
    land = landscape_of(task)
    assert 10 <= len(land.probes) <= 30
    assert ((land.groups[:, land.probes] > 0).sum(1) >= 5).all()
    torch.testing.assert_close(land.of_probes(land.groups).sum(0), torch.ones(3, dtype=torch.float64))


def test_at_the_minimiser_without_scatter_the_risk_has_the_curvature_of_the_population(surveyed):
    _, land = surveyed
    logits = land.model.logits(land.best.theta, land.model.population.x)
    found = Observer(land, 1).risk_curvature(logits, torch.zeros(1, len(land.size), dtype=torch.float64))
    torch.testing.assert_close(found[0], land.curvature)


def test_what_no_probe_knows_changes_like_all_that_they_know():
    exact, probed = (torch.tensor(one, dtype=torch.float64) for one in ([1, 2, 1.5, 1], [[1, 4, 0.5, 3]]))
    convert = _FromProbes(exact, probed)  # the last two are three times off
    torch.testing.assert_close(convert(probed), exact[None])
    found = convert(torch.tensor([[3, 4, 7, 8], [0, 2, 7, 8]], dtype=torch.float64))
    wanted = [[3, 2, 2.5, 5 / 3], [0, 1, 0.5, 1 / 3]]
    torch.testing.assert_close(found, torch.tensor(wanted, dtype=torch.float64))


GENERATOR = torch.Generator().manual_seed(4)
OUTPUTS = [1, 2, 3, 10]


def logits_of(outputs, scale=1.5):
    return scale * torch.randn(7, 2, outputs, generator=GENERATOR, dtype=torch.float64)


def full(q):
    """W, entry by entry."""
    if q.shape[-1] == 1:
        return (q * (1 - q))[..., None]
    return torch.diag_embed(q) - q[..., :, None] * q[..., None, :]


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_points_have_the_moments_of_the_gaussian(outputs):
    variance = torch.tensor([[0.7], [0.0]], dtype=torch.float64)
    points, weights = samples.scattered(variance, outputs)
    free = torch.eye(outputs, dtype=torch.float64) - (1 / outputs if outputs > 1 else 0)
    assert weights.sum() == pytest.approx(1)
    weighted = weights[:, None] * points
    torch.testing.assert_close(weighted.sum(-2), torch.zeros(2, 1, outputs, dtype=torch.float64))
    second = weighted.mT @ points
    torch.testing.assert_close(second, variance[..., None, None] * free)


def test_a_scattered_sigmoid_is_averaged_like_its_integral():
    logits, variance = logits_of(1), torch.full((7, 2), 0.3, dtype=torch.float64)
    nodes, weights = map(torch.from_numpy, np.polynomial.hermite_e.hermegauss(60))
    seen, q = view(logits, variance), (logits + nodes * 0.3**0.5).sigmoid()
    exact, steep, second = (values @ (weights / weights.sum()) for values in (q, q * (1 - q), q.square()))
    torch.testing.assert_close(seen.chances[..., 0], exact, atol=2e-4, rtol=0)
    torch.testing.assert_close(seen.steepness, steep, atol=3e-4, rtol=0)
    spread = samples.covariance(logits, variance, torch.full((7, 2, 1, 1), 3.0, dtype=torch.float64))
    torch.testing.assert_close(spread[..., 0, 0], 9 * (second - exact.square()), atol=3e-3, rtol=0)


@pytest.mark.parametrize("outputs", OUTPUTS[1:])
def test_what_scatters_is_turned_by_the_response(outputs):
    logits, variance = logits_of(outputs), torch.full((7, 2), 0.3, dtype=torch.float64)
    one = torch.eye(outputs, dtype=torch.float64).expand(7, 2, outputs, outputs)
    response = torch.rand(7, 2, outputs, outputs, generator=GENERATOR, dtype=torch.float64)
    plain = samples.covariance(logits, variance, one)
    moves, weights = samples.scattered(variance, outputs)
    points = chances(logits[..., None, :] + moves)
    mean = (weights[:, None] * points).sum(-2)
    second = (weights[:, None] * points).mT @ points
    torch.testing.assert_close(plain, second - mean[..., None] * mean[..., None, :])
    turned = samples.covariance(logits, variance, response)
    torch.testing.assert_close(turned, response @ plain @ response.mT)


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_without_scatter_nothing_is_averaged(outputs):
    logits = logits_of(outputs)
    seen = view(logits, torch.zeros(7, 2, dtype=torch.float64))
    q = logits.sigmoid() if outputs == 1 else logits.softmax(-1)
    torch.testing.assert_close(seen.chances, q)
    torch.testing.assert_close(seen.bend, torch.ones_like(seen.bend))
    torch.testing.assert_close(seen.curvature, full(q))
    torch.testing.assert_close(chances(logits + 700), q if outputs > 1 else torch.ones_like(q))


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_damping_is_the_inverse_that_it_stands_for(outputs):
    seen = View(chances(logits_of(outputs)), torch.full((7, 2), 0.8, dtype=torch.float64))
    pull, vector = torch.rand(7, 2, generator=GENERATOR, dtype=torch.float64) * 5, logits_of(outputs)
    one = torch.eye(outputs, dtype=torch.float64)
    inverse = torch.linalg.inv(one + pull[..., None, None] * seen.curvature)
    torch.testing.assert_close(samples.damped(seen, pull, vector[..., None]), inverse @ vector[..., None])
    torch.testing.assert_close(resolved(seen, pull, 0), inverse)
    before = full(chances(logits_of(outputs)))
    wanted = inverse @ (one - seen.curvature @ before)
    torch.testing.assert_close(resolved(seen, pull, before), wanted)


@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("pull", [0.0, 0.3, 3.0])
def test_samples_come_to_rest_where_their_pull_has_put_them(outputs, pull):
    logits, strength = logits_of(outputs), torch.full((7, 2), pull, dtype=torch.float64)
    q = chances(logits)
    targets = torch.zeros_like(q)
    targets[..., 0] = 1
    nothing = torch.zeros_like(q)
    here, seen = at_rest(logits, targets, strength, View(q, torch.ones(7, 2, dtype=torch.float64)), nothing)
    torch.testing.assert_close(here, logits - pull * (chances(here) - targets), atol=1e-5, rtol=0)
    torch.testing.assert_close(seen.chances, chances(here))
    loss = -(targets * chances(here).clamp(min=1e-12).log()).sum(-1)
    before = -(targets * q.clamp(min=1e-12).log()).sum(-1)
    assert (loss <= before + 1e-12).all()


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_columns_come_to_rest_each_on_its_own(outputs):
    logits = logits_of(outputs)
    seen, nothing = View(chances(logits), torch.ones_like(logits[..., 0])), torch.zeros_like(logits)
    pulls = (torch.tensor([0.1, other], dtype=torch.float64).expand(7, 2) for other in (0.1, 40.0))
    here, there = (at_rest(logits, nothing, pull, seen, nothing)[0][:, 0] for pull in pulls)
    torch.testing.assert_close(here, there)


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_saturation_is_the_damping_that_it_causes(outputs):
    logits, p = logits_of(outputs), torch.full((7, 2), 1 / 7, dtype=torch.float64)
    targets = torch.zeros_like(logits)
    targets[..., 0] = 1
    seen, nothing = View(chances(logits), torch.ones_like(p)), torch.zeros_like(logits)
    pull = torch.tensor([0.0, 0.8], dtype=torch.float64).expand(7, 2)
    d = samples.saturation(p, logits, targets, pull, seen, nothing)
    assert d[0] == pytest.approx(1)
    assert 0.3 < d[1] < 0.97
    _, rest = at_rest(logits, targets, pull / d, seen, nothing)
    found = mean_damping(p, seen.chances - targets, rest.chances - targets)
    torch.testing.assert_close(found, d, atol=2e-3, rtol=0)


def test_mean_damping_weighs_by_the_square():
    p = torch.full((2, 1), 0.5, dtype=torch.float64)
    residual = torch.tensor([[[1.0]], [[3.0]]], dtype=torch.float64)
    shown = torch.tensor([[[0.5]], [[0.0]]], dtype=torch.float64)
    assert mean_damping(p, residual, shown).item() == pytest.approx(0.05)


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_what_scatter_adds_leaves_chances_chances(outputs):
    """Far from where it was seen, too: a negative chance would be a negative curvature, and predictions blow up."""
    logits = logits_of(outputs, scale=6.0)
    by = logits_of(outputs, scale=0.3)
    by = by - by.mean(-1, keepdim=True) if outputs > 1 else by
    found = samples.shifted(logits, by)
    assert ((found >= 0) & (found <= 1)).all()
    if outputs > 1:
        torch.testing.assert_close(found.sum(-1), torch.ones(7, 2, dtype=torch.float64))
    small = 1e-6 * by
    near = samples.shifted(logits_of(outputs, scale=0.5), small)
    assert ((near > 0) & (near < 1)).all()


def test_directions_that_are_all_alike_are_one_lump_behind_the_first():
    lump, size = module._lumps(torch.full((module.SINGLE + module.LUMPS + 5,), 0.3, dtype=torch.float64))
    assert lump.tolist() == [*range(module.SINGLE), *[module.SINGLE] * (module.LUMPS + 5)]
    assert size.tolist() == [1] * module.SINGLE + [module.LUMPS + 5]
