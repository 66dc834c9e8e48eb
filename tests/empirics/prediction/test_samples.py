"""What samples show, against integrals, inverses and roots computed in the open."""

import numpy as np
import pytest
import torch

from empirics.prediction import samples
from empirics.prediction.samples import View, at_rest, chances, mean_damping, resolved, view

GENERATOR = torch.Generator().manual_seed(4)
OUTPUTS = [1, 3, 10]


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
    spread = samples.covariance(logits, variance)[..., 0, 0]
    torch.testing.assert_close(spread, second - exact.square(), atol=3e-4, rtol=0)


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
    torch.testing.assert_close(samples.damped(seen, pull, vector), (inverse @ vector[..., None])[..., 0])
    torch.testing.assert_close(resolved(seen.curvature, pull, 0), inverse)
    before = full(chances(logits_of(outputs)))
    wanted = inverse @ (one - seen.curvature @ before)
    torch.testing.assert_close(resolved(seen.curvature, pull, before), wanted)
    torch.testing.assert_close(samples.product(inverse, before), inverse @ before)


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
