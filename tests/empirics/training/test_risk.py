"""The population risk, its certified minimiser, and the calibrated constants."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from empirics.data import as_dataset
from empirics.training import constants, risk
from empirics.training.constants import calibrate, largest_variance
from empirics.training.device import choose_device
from empirics.training.linear import Linear
from empirics.training.risk import duality_gap, least_risk, minimise, minimise_near, project
from tests.empirics.small import blobs, problem, refused, study

BALLS = [("parity", 0.01), ("parity", 2.0), ("parity", 500.0), ("classes", 0.01), ("classes", 2.0)]
BALLS += [pytest.param("classes", 500.0, marks=pytest.mark.slow)]  # no ball helps the other solver


@pytest.fixture(scope="module", params=["parity", "classes"])
def task(request):
    return problem(study(labels=request.param, partition="two-class"))


def points(task, count=40, radius=2.0):
    generator = torch.Generator().manual_seed(1)
    return project(torch.randn(count, task.model.size, generator=generator, dtype=torch.float64), radius)


@pytest.mark.parametrize(("task", "radius"), BALLS, indirect=["task"])
def test_the_minimiser_is_certified_and_no_other_solver_beats_it(task, radius):
    found = minimise(task.model, radius)
    assert 0 <= found.gap <= 1e-10
    assert float(found.theta.norm()) <= radius * (1 + 1e-12)

    def value(flat):
        risk, gradient = task.model.risk_and_gradient(torch.from_numpy(flat)[None])
        return float(risk), gradient[0].numpy()

    ball = {"type": "ineq", "fun": lambda flat: radius**2 - flat @ flat, "jac": lambda flat: -2 * flat}
    options = {"method": "SLSQP", "constraints": [ball], "tol": 1e-13, "options": {"maxiter": 2000}}
    other = minimize(value, np.zeros(task.model.size), jac=True, **options)
    assert found.risk <= other.fun + 1e-9
    assert other.fun - found.risk < 1e-5


def test_the_certificate_bounds_the_excess_risk_at_every_point_of_the_ball(task):
    least = minimise(task.model, 2.0)
    for theta in points(task):
        risk, gradient = task.model.risk_and_gradient(theta[None])
        assert -1e-10 <= float(risk) - least.risk <= duality_gap(theta[None], gradient, 2.0) + 1e-12


def test_on_the_ball_too_and_without_another_solver(task, monkeypatch):
    for radius in (2.0, 500.0):
        least = minimise(task.model, radius).risk
        with monkeypatch.context() as alone:
            alone.setattr("empirics.training.risk.minimise", None)
            found = minimise_near(task.model, radius, project(30 * points(task, 1), radius))
        assert found.gap <= 1e-11
        assert found.risk == pytest.approx(least, abs=1e-10)


def test_gap_and_variance_bound_every_replicates_own():
    task = problem(study(partition="dirichlet", per_seed=("partition",), seeds=3))
    alone = list(risk.alone(task.model))
    found, each = least_risk(task.model, 2.0), [minimise(one, 2.0) for one in alone]
    assert found.values == tuple(one.risk for one in each)
    assert found.gap == max(one.gap for one in each)
    variance = max(largest_variance(one, 2.0) for one in alone)
    for weights in (task.population.weights, task.population.weights.flip(0)):
        turned = Linear(replace(task.population, weights=weights))
        assert calibrate(replace(task, model=turned)).constants.sigma ** 2 == pytest.approx(variance)


def test_what_a_population_decides_is_computed_once_and_anew_for_any_other(monkeypatch):
    computed = []
    asked = risk.once(lambda model, radius: computed.append((model, radius)) or len(computed))
    model = problem(study()).model
    same, moving = (replace(model.population, weights=model.population.weights.clone()) for _ in range(2))
    assert asked(model, 2.0) == asked(Linear(same), 2.0) == asked(Linear(moving), 2.0) == 1
    moving.weights.copy_(moving.weights.flip(1) * torch.arange(len(moving.y)))
    other = replace(same, x=same.x + 1e-9), replace(same, y=1 - same.y), moving
    starts = Linear(same, same.x.new_ones(1, model.size))
    assert [asked(one, 2.0) for one in [*map(Linear, other), starts]] == [2, 3, 4, 5]
    assert [asked(model, radius) for radius in (3.0, 2.0, 3.0)] == [6, 1, 6]
    monkeypatch.setattr("empirics.training.risk.CACHED_RESULTS", 6)
    assert (asked(model, 4.0), asked(model, 4.0), asked(model, 2.0)) == (7, 7, 8)  # which was the oldest
    for fewer, known in ((0, (7, 7)), (1, (9, 10))):
        monkeypatch.setattr(risk, "CACHED_NUMBERS_MAX", model.population.x.numel() - fewer)
        assert (asked(model, 4.0), asked(model, 4.0)) == known


def test_gradient_curvature_and_the_slope_of_the_variance_are_derivatives(task):
    theta = points(task, 1).requires_grad_(True)
    risk, gradient = task.model.risk_and_gradient(theta)
    (expected,) = torch.autograd.grad(risk.sum(), theta, create_graph=True)
    assert torch.allclose(gradient, expected)
    direction = points(task, 3)[2:]
    (turned,) = torch.autograd.grad((expected * direction).sum(), theta)
    assert torch.allclose(task.model.curvature(theta.detach())(direction), turned)
    value, slope = task.model.variance_and_slope(theta)
    (expected,) = torch.autograd.grad(value.sum(), theta)
    assert torch.allclose(slope, expected, rtol=1e-9, atol=1e-12)
    two = points(task, 2)
    each = task.model.hessians(
        task.population.weights.T.expand(-1, 2), task.model.chances(task.model.logits(two, task.population.x))
    )
    torch.testing.assert_close(each, torch.stack([task.model.hessian(one[None]) for one in two]))
    torch.testing.assert_close(each[0] @ direction[0], task.model.curvature(two[:1])(direction)[0])


def test_the_constants_hold_at_every_point_of_the_ball(task):
    found = calibrate(task)
    c = found.constants
    (p,) = task.population.weights
    assert c.D == 4.0
    last = None
    for theta in points(task, 6):
        at = theta[None].requires_grad_(True)
        losses = task.model.losses(task.model.logits(at, task.population.x), task.population.y)[:, 0]
        gradients = torch.stack([torch.autograd.grad(one, at, retain_graph=True)[0][0] for one in losses])
        assert losses.min() >= 0
        assert losses.max() <= c.B
        assert gradients.norm(dim=1).max() <= c.G
        mean = p @ gradients
        variance = float(p @ (gradients - mean).square().sum(1))
        assert float(task.model.variance_and_slope(theta[None])[0]) == pytest.approx(variance, rel=1e-9)
        assert variance <= c.sigma**2 * (1 + 1e-9)
        assert variance <= found.variance_limit
        if last is not None:
            assert (gradients - last[1]).norm(dim=1).max() <= c.L * float((theta - last[0]).norm())
        last = theta, gradients


def test_the_largest_variance_and_the_rank_of_features_are_known_and_without_a_ball_nothing_is():
    found = calibrate(task := problem(study()))
    assert found.nominal == ()
    assert found.constants.Pdim == np.linalg.matrix_rank(task.population.x.numpy()) == 9
    search, _ = task.model.variance_and_slope(points(task, 4000))
    assert search.max() <= largest_variance(task.model, 2.0) + 1e-9
    two = replace(task.population, weights=torch.eye(len(task.population.y), dtype=torch.float64)[:2])
    assert calibrate(replace(task, population=two)).constants.Pdim == 2
    found = calibrate(problem(study(radius=None)))
    assert found.nominal == ("D", "sigma", "B", "Pdim")
    assert calibrate(problem(study(labels="classes"))).nominal == ("Pdim",)
    assert found.constants.B == 1000
    assert math.isfinite(found.constants.G)


@pytest.mark.parametrize(("radius", "length"), [(None, 1), (0.5, 0.5), (2.0, 1)])
def test_starts_that_differ_are_as_long_as_1_or_the_radius(radius, length):
    starts = problem(study(per_seed=("start",), radius=radius, seeds=3)).model.start(3)
    assert starts.norm(dim=1).tolist() == pytest.approx([length] * 3)


def test_a_device_that_is_not_there_is_refused_and_one_of_several_is_made_the_current_one(monkeypatch):
    for name in ("gpu", "cuda" if not torch.cuda.is_available() else "tpu", "meta"):
        assert "device" in refused(choose_device, name)
    current = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    assert "there are 2 CUDA devices" in refused(choose_device, "cuda:2")
    assert [choose_device("cuda:1")] == current == [torch.device("cuda:1")]


@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_a_sample_shows_the_way_to_largest_variance_and_minimiser_of_a_large_population(labels, monkeypatch):
    model = problem(study(labels=labels), data=blobs(samples=1500)).model
    largest, anew = largest_variance.__wrapped__, minimise.__wrapped__  # computed each time
    whole, wanted = largest(model, 2.0), minimise(model, 0.5)
    for module in (constants, risk):
        monkeypatch.setattr(module, "POPULATION_WALKED_MAX", 1000)
    monkeypatch.setattr(risk, "SAMPLE_SIZE", 300)
    assert whole * (1 - 1e-3) < largest(model, 2.0) <= whole * (1 + 1e-6)
    walked, evaluated = [], Linear.risk_and_gradient

    def counted(one, theta):
        walked.append(len(one.population.x))
        return evaluated(one, theta)

    monkeypatch.setattr(Linear, "risk_and_gradient", counted)
    found = anew(model, 0.5)
    assert walked.count(1500) <= 4
    assert found.gap <= 1e-10
    assert found.risk == pytest.approx(wanted.risk, abs=2e-10)
    torch.testing.assert_close(found.theta, wanted.theta, rtol=0, atol=1e-4)
    some = torch.zeros(1500, dtype=torch.float64)
    some[1::5] = 1 / 300  # none of which is taken
    assert anew(Linear(replace(model.population, weights=some[None])), 0.5).gap <= 1e-10


def test_a_large_population_is_walked_from_where_a_sample_leads(monkeypatch):
    """One feature. Of the sample ten times as many inputs are long, and its variance is the largest elsewhere."""
    monkeypatch.setattr(constants, "POPULATION_WALKED_MAX", 100)
    monkeypatch.setattr(risk, "SAMPLE_SIZE", 20)
    number = np.arange(200)
    y = number // 10 % 2
    x = y + 10 * (number == 0)
    model = of_samples(x[:, np.newaxis].tolist(), y.tolist(), [1 / 200] * 200)
    places = torch.linspace(-2, 2, 4001, dtype=torch.float64)
    whole, sample = (one.variance_and_slope(places[:, None])[0] for one in (model, risk.thinned(model)))
    near = (places - places[sample.argmax()]).abs() <= constants.LAST_STEP_MIN * 2.0
    assert whole[sample.argmax()] < whole[near].max() <= largest_variance(model, 2.0)


RNG = np.random.default_rng(0)
THREE = RNG.integers(-5, 6, (400, 3)) @ RNG.integers(-5, 6, (3, 9))
FEATURES = {
    "three directions": THREE,
    "a fourth of a single sample": np.insert(THREE, 7, np.arange(9), axis=0),  # not looked at first
    "a small one": RNG.normal(size=(400, 2)) * [1, 1e-12],
    "one that is too small": RNG.normal(size=(400, 2)) * [1, 1e-13],
}


@pytest.mark.parametrize("x", FEATURES.values(), ids=FEATURES)
def test_pdim_of_many_samples_is_the_rank_of_all(x, monkeypatch):
    monkeypatch.setattr(constants, "POPULATION_WALKED_MAX", 100)
    for module in (constants, risk):
        monkeypatch.setattr(module, "SAMPLE_SIZE", 20)
    y = np.arange(len(x)) % 2
    task = problem(study(), data=as_dataset((x, y, x, y)))
    assert calibrate(task).constants.Pdim == np.linalg.matrix_rank(task.population.x.numpy())


def test_of_a_larger_ball_the_largest_variance_is_no_smaller():
    model = problem(study(labels="classes")).model
    found = [largest_variance(model, radius) for radius in (2.0, 20.0, 200.0, 2000.0)]
    assert found == sorted(found)


def of_samples(x, y, p):
    """A linear model of these samples."""
    given = {"x": torch.tensor(x).double(), "y": torch.tensor(y), "weights": torch.tensor([p]).double()}
    return Linear(replace(problem(study()).population, **given))


def test_a_minimiser_is_found_where_long_inputs_make_losses_straight_and_the_risk_curves_in_one_direction():
    """Newton's method shortens its steps."""
    population = problem(study()).population
    assert minimise(Linear(replace(population, x=3000 * population.x)), 0.05).gap <= 1e-10
    found = minimise_near(of_samples([[0, 0, 1]] * 4, [0, 1, 1, 1], [0.25] * 4), 5.0)
    assert found.theta.tolist() == [[0, 0, pytest.approx(math.log(3))]]
    assert found.gap <= 1e-10


def test_along_a_mixture_the_largest_gap_counts():
    model = of_samples([[1, 1], [1, 1], [0, 1], [3, 1]], [0, 1, 1, 1], [0.25] * 4)
    first, second = torch.tensor([[[0.5, 0.5, 0, 0]], [[0, 0, 0.3, 0.7]]]).double()
    assert minimise_near(Linear(replace(model.population, weights=first)), 2.0).gap == 0  # which 0 minimises
    assert 0 < risk.least_along(model, [first, second], 2.0, 5).gap <= 1e-10
    assert 0 < risk.least_of_each(model, [[first[0], second[0]]], 2.0, [0, 1]).gap <= 1e-10
    both = [torch.cat([first, second]), torch.cat([second, first])]  # two replicates
    assert len(risk.least_along(model, both, 2.0, 3).values) == 2
