"""Residuals and curvatures of single samples, against integrals, inverses and fixed points."""

import numpy as np
import pytest
import torch

from empirics.prediction import residuals
from empirics.prediction.residuals import View, at_rest, chances, mean_damping, resolved, scattered, view

GENERATOR = torch.Generator().manual_seed(4)
each_outputs = pytest.mark.parametrize("outputs", [1, 2, 3, 10])


def logits_of(outputs, scale=1.5):
    return scale * torch.randn(7, 2, outputs, generator=GENERATOR, dtype=torch.float64)


def first_class(logits):
    targets = torch.zeros_like(logits)
    targets[..., 0] = 1
    return targets


def full(q):
    """W, entry by entry."""
    if q.shape[-1] == 1:
        return (q * (1 - q))[..., None]
    return torch.diag_embed(q) - q[..., :, None] * q[..., None, :]


@each_outputs
def test_points_have_the_moments_of_the_gaussian(outputs):
    variance = torch.tensor([[0.7], [0.0]], dtype=torch.float64)
    points, weights = scattered(variance, outputs)
    free = torch.eye(outputs, dtype=torch.float64) - (1 / outputs if outputs > 1 else 0)
    assert weights.sum() == pytest.approx(1)
    weighted = weights[:, None] * points
    torch.testing.assert_close(weighted.sum(-2), torch.zeros(2, 1, outputs, dtype=torch.float64))
    torch.testing.assert_close(weighted.mT @ points, variance[..., None, None] * free)


def test_a_scattered_sigmoid_is_averaged_like_its_integral():
    logits, variance = logits_of(1), torch.full((7, 2), 0.3, dtype=torch.float64)
    nodes, weights = map(torch.from_numpy, np.polynomial.hermite_e.hermegauss(60))
    seen, q = view(logits, variance), (logits + nodes * 0.3**0.5).sigmoid()
    exact, steep, second = (values @ (weights / weights.sum()) for values in (q, q * (1 - q), q.square()))
    torch.testing.assert_close(seen.chances[..., 0], exact, atol=2e-4, rtol=0)
    torch.testing.assert_close(seen.steepness, steep, atol=3e-4, rtol=0)
    spread = residuals.covariance(logits, variance, torch.full((7, 2, 1, 1), 3.0, dtype=torch.float64))
    torch.testing.assert_close(spread[..., 0, 0], 9 * (second - exact.square()), atol=3e-3, rtol=0)


@each_outputs
def test_a_covariance_is_that_of_the_responses_to_scattered_probabilities(outputs):
    logits, variance = logits_of(outputs), torch.full((7, 2), 0.3, dtype=torch.float64)
    response = torch.randn(7, 2, outputs, outputs, generator=GENERATOR, dtype=torch.float64)
    moves, weights = scattered(variance, outputs)
    turned = torch.einsum("...ij,...kj->...ki", response, chances(logits[..., None, :] + moves))
    apart = turned - (weights[:, None] * turned).sum(-2, keepdim=True)
    wanted = torch.einsum("k,...ki,...kj->...ij", weights, apart, apart)
    torch.testing.assert_close(residuals.covariance(logits, variance, response), wanted)


def test_mean_damping_weighs_samples_by_their_share_and_the_square_of_their_residual():
    p, residual = torch.tensor([[0.25], [0.75]]), torch.tensor([[[2.0]], [[1.0]]])
    assert mean_damping(p, residual, torch.ones(2, 1, 1)).item() == pytest.approx(1.25 / 1.75)
    assert mean_damping(p, 0 * residual, 0 * residual).isfinite()  # of samples without any


@each_outputs
def test_without_scatter_nothing_is_averaged(outputs):
    logits = logits_of(outputs)
    seen = view(logits, torch.zeros(7, 2, dtype=torch.float64))
    q = logits.sigmoid() if outputs == 1 else logits.softmax(-1)
    torch.testing.assert_close(seen.chances, q)
    torch.testing.assert_close(seen.bend, torch.ones_like(seen.bend))
    torch.testing.assert_close(seen.curvature, full(q))
    assert (view(1e9 * logits, torch.zeros(7, 2, dtype=torch.float64)).steepness == 0).all()
    torch.testing.assert_close(chances(logits + 700), q if outputs > 1 else torch.ones_like(q))


@each_outputs
def test_damping_is_the_inverse_that_it_stands_for(outputs):
    seen = View(chances(logits_of(outputs)), torch.full((7, 2), 0.8, dtype=torch.float64))
    pull, vector = torch.rand(7, 2, generator=GENERATOR, dtype=torch.float64) * 5, logits_of(outputs)
    one = torch.eye(outputs, dtype=torch.float64)
    inverse = torch.linalg.inv(one + pull[..., None, None] * seen.curvature)
    torch.testing.assert_close(residuals.damped(seen, pull, vector[..., None]), inverse @ vector[..., None])
    torch.testing.assert_close(resolved(seen, pull, 0), inverse)
    before = full(chances(logits_of(outputs)))
    torch.testing.assert_close(resolved(seen, pull, before), inverse @ (one - seen.curvature @ before))


@each_outputs
@pytest.mark.parametrize("pull", [0.0, 0.3, 3.0])
def test_samples_come_to_rest_where_their_pull_has_put_them(outputs, pull):
    """Each column on its own: one exactly, one by three quarters at least where steps without bound overshoot."""
    logits = logits_of(outputs)
    logits[:, 1, 0] = -4
    strength = torch.tensor([pull, 20.0], dtype=torch.float64).expand(7, 2)
    q, targets, nothing = chances(logits), first_class(logits), torch.zeros_like(logits)
    here, seen = at_rest(logits, targets, strength, View(q, torch.ones(7, 2, dtype=torch.float64)), nothing)
    torch.testing.assert_close(seen.chances, chances(here))
    off = here - logits + strength[..., None] * (chances(here) - targets)
    assert (off.abs().amax((0, 2)) < torch.tensor([1e-5, 20 / 4])).all()
    here, q, targets = (one[:, 0] for one in (here, q, targets))
    loss, before = (-(targets * one.clamp(min=1e-12).log()).sum(-1) for one in (chances(here), q))
    assert (loss <= before + 1e-12).all()


@each_outputs
def test_saturation_is_the_damping_that_it_causes(outputs):
    logits, p = logits_of(outputs), torch.full((7, 2), 1 / 7, dtype=torch.float64)
    seen, nothing = View(chances(logits), torch.ones_like(p)), torch.zeros_like(logits)
    targets, pull = first_class(logits), torch.tensor([0.0, 0.8], dtype=torch.float64).expand(7, 2)
    d = residuals.saturation(p, logits, targets, pull, seen, nothing)
    assert d[0] == pytest.approx(1)
    assert 0.3 < d[1] < 0.97
    _, rest = at_rest(logits, targets, pull / d, seen, nothing)
    found = mean_damping(p, seen.chances - targets, rest.chances - targets)
    torch.testing.assert_close(found, d, atol=2e-3, rtol=0)


@each_outputs
def test_shifted_probabilities_stay_probabilities(outputs):
    """Also far from where the shift was computed: a negative one would have negative curvature."""
    logits, by = logits_of(outputs, scale=6.0), logits_of(outputs, scale=0.3)
    by = by - by.mean(-1, keepdim=True) if outputs > 1 else by
    found = residuals.shifted(logits, by)
    assert ((found >= 0) & (found <= 1)).all()
    if outputs > 1:
        torch.testing.assert_close(found.sum(-1), torch.ones(7, 2, dtype=torch.float64))
    torch.testing.assert_close(residuals.shifted(logits, 0 * by), chances(logits))
