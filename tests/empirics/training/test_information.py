"""The server that adds up information: against a slow twin, scikit-learn, and what theory says of quadratic sums."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.autograd.functional import hessian, jacobian

from empirics.training.information import STATE, InformationServer
from empirics.training.sums import Factors, Rows, curvature, gradients, losses, scores

SHARES = torch.tensor([1, 1, 1, 0.01], dtype=torch.float64)  # of the prior


def made(classes, rows, runs=3, features=4, seed=0):
    """Rows of some runs by a logistic model; the last feature is constant."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(runs, rows, features))
    x[..., -1] = 1
    logits = x @ rng.normal(size=(features, classes)) + rng.gumbel(size=(runs, rows, classes))
    return Rows.of(torch.from_numpy(x), torch.from_numpy(logits.argmax(-1)))


def information(theta, rows):
    """Gradient and curvature at one model per run."""
    outputs = theta.shape[1] // rows.x.shape[2]
    scored = scores(theta[:, None], rows.x)
    return gradients(scored, rows, outputs)[:, 0], curvature(scored[:, 0], rows, outputs)


def random_models(runs, size, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(runs, size)))


def twin_loss(theta, x, y, classes):
    """The loss of one sample, with one output for two classes."""
    scores = theta.view(-1, len(x)) @ x
    return torch.nn.functional.cross_entropy(torch.cat([x.new_zeros(classes - len(scores)), scores]), y)


@pytest.mark.parametrize(("classes", "outputs"), [(2, 1), (3, 3)])
def test_gradient_and_curvature_are_the_sums_of_every_sample_s_derivatives(classes, outputs):
    rows = made(classes, 5)
    counted = torch.tensor([[1.0, 0, 1, 0.3, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1.7]], dtype=torch.float64)
    rows, theta = Rows(rows.x, rows.y, counted), random_models(3, 4 * outputs)
    rows = rows.part(slice(2)).with_rows(rows.part(slice(2, None)))
    gradient, bends = information(theta, rows)
    for run in range(3):
        used = [k for k in range(5) if counted[run, k]]

        def total(model, run=run, used=used):
            return sum(
                counted[run, k] * twin_loss(model, rows.x[run, k], rows.y[run, k], classes) for k in used
            )

        for found, derivative in zip((gradient[run], bends[run]), (jacobian, hessian), strict=True):
            torch.testing.assert_close(found, derivative(total, theta[run]))
        torch.testing.assert_close(losses(theta[:, None], rows)[run, 0], total(theta[run]))


def test_a_product_has_the_trace_of_the_curvature_and_is_it_where_samples_are_alike():
    rows = made(3, 5)
    theta = random_models(3, 12)
    scored = scores(theta[:, None], rows.x)[:, 0]
    parts = [Factors.of(scored[:, part], rows.part(part), 3) for part in (slice(2), slice(2, None))]
    both, whole = parts[0] + parts[1], curvature(scored, rows, 3)
    every = torch.eye(12, dtype=torch.float64).expand(3, -1, -1)
    torch.testing.assert_close(
        (both @ every).diagonal(dim1=1, dim2=2).sum(1), whole.diagonal(dim1=1, dim2=2).sum(1)
    )
    for run in range(3):
        product = torch.kron(both.left[run], both.right[run]) / both.total[run]
        torch.testing.assert_close((both @ theta[:, None])[run, 0], product @ theta[run])
    alike = Rows(rows.x[:, :1].expand(-1, 5, -1), rows.y, rows.counted)
    scored = scores(theta[:, None], alike.x)[:, 0]
    torch.testing.assert_close(Factors.of(scored, alike, 3) @ every, curvature(scored, alike, 3))
    binary = scores(theta[:, None, :4], rows.x)[:, 0]
    torch.testing.assert_close(Factors.of(binary, rows, 1) @ every[:, :4, :4], curvature(binary, rows, 1))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_message_about_one_sample_gives_it_away(classes):
    """Inputs are a gradient's row over its constant part, and the label is the one class that is pulled up."""
    rows = made(classes, 1)
    gradient, _ = information(random_models(3, 4 * (1 if classes == 2 else 3)), rows)
    for run, message in enumerate(gradient.view(3, -1, 4)):
        torch.testing.assert_close(message[0] / message[0, -1], rows.x[run, 0])
        pulled = message[:, -1] < 0
        assert int(pulled.nonzero()[0, 0] if classes == 3 else pulled[0]) == int(rows.y[run, 0])


def fitted(rows, priors=(1.0,), classes=3):
    server = InformationServer(len(rows.y), rows.x.shape[2], classes, priors=priors)
    return settled(server, rows)


def settled(server, rows, times=30):
    """The server at its minimiser."""
    for _ in range(times):
        server.learn(rows)
    return server


def test_samples_that_are_all_held_are_fitted_as_scikit_learn_does():
    rows = made(3, 60)
    rows.x[..., -1] = 0  # the constant has a prior of its own
    server = fitted(rows, priors=(0.5,))
    for run, theta in enumerate(server.theta):
        model = LogisticRegression(C=2, fit_intercept=False, tol=1e-10, max_iter=1000)
        model.fit(rows.x[run].numpy(), rows.y[run].numpy())
        np.testing.assert_allclose(theta.view(3, 4).numpy(), model.coef_, atol=1e-5)


def test_the_prior_of_the_constant_is_a_hundredth():
    rows = made(3, 60)
    theta = fitted(rows, priors=(2.0,)).theta
    gradient, _ = information(theta, rows)
    torch.testing.assert_close(gradient, -2 * SHARES.repeat(3) * theta, atol=1e-7, rtol=0)


@pytest.mark.parametrize("features", [4, 30, 700])
def test_what_is_dropped_at_the_minimiser_leaves_it_there(features):
    """Above 2,000 parameters too, where curvature is kept as a product."""
    rows = made(3, 60, runs=1, features=features)
    rows.x[..., -1] = 0  # without a constant, whose prior is weak, it is soon there
    server = fitted(rows)
    before = server.theta
    server.forget(rows.part(slice(20)))
    settled(server, rows.part(slice(20, None)))
    torch.testing.assert_close(server.theta, before, atol=1e-6, rtol=0)


def test_what_was_dropped_goes_on_pulling_as_the_quadratic_of_its_time():
    """The slow twin: sums of every dropped sample."""
    pilot, first, then = (made(3, 30, seed=seed) for seed in (0, 1, 2))
    server = fitted(pilot)
    at = server.theta
    for rows in (pilot, first):
        server.forget(rows)
    for run in range(3):
        bends, linear = torch.zeros(12, 12).double(), torch.zeros(12).double()
        for rows in (pilot, first):
            for x, y in zip(rows.x[run], rows.y[run], strict=True):
                g, h = (of(lambda m, x=x, y=y: twin_loss(m, x, y, 3), at[run]) for of in (jacobian, hessian))
                bends, linear = bends + h, linear + h @ at[run] - g
        torch.testing.assert_close(server.curvature[run], bends)
        torch.testing.assert_close(server.linear[run], linear)
    held = then.part(slice(3))
    settled(server, held)
    gradient, _ = information(server.theta, held)
    pulled = (server.curvature @ server.theta[..., None])[..., 0] - server.linear
    pulled += SHARES.repeat(3) * server.theta
    torch.testing.assert_close(gradient, -pulled, atol=1e-9, rtol=0)


@pytest.mark.parametrize(("features", "fading"), [(700, 0.5), (4, 0)])
def test_where_curvature_is_a_product_half_of_what_is_new_fades_of_the_older(features, fading):
    rows = made(3, 40, runs=1, features=features)
    parts = [rows.part(slice(k, k + 10)) for k in range(0, 40, 10)]
    server = InformationServer(1, features, 3)
    shares, total = [], 0.0
    for part in parts:  # at the model 0, where all samples have one trace
        server.forget(part)
        share = total / (total + fading * 10) if total else 0.0
        shares, total = [share * one for one in shares] + [1.0], share * total + 10
    pulls = [information(torch.zeros(1, 3 * features).double(), part)[0][0] for part in parts]
    torch.testing.assert_close(
        server.linear[0], -sum(a * b for a, b in zip(shares, pulls, strict=True)), atol=1e-9, rtol=1e-9
    )


def test_each_run_takes_the_prior_with_the_least_loss_on_what_it_had_not_learnt():
    """Two runs have labels that features tell, the last has labels that they do not."""
    rows = made(3, 90)
    noise = torch.randint(0, 3, (30,), generator=torch.Generator().manual_seed(0))
    rows.y[2, :30] = noise
    server = InformationServer(3, 4, 3, priors=(0.1, 1000.0))
    settled(server, rows.part(slice(30)))
    fresh = rows.part(slice(30, None))
    each = losses(server.models, fresh)
    server.hear(fresh)
    torch.testing.assert_close(server.scores, each)
    assert server.best.tolist() == each.argmin(1).tolist() == [0, 0, 1]
    torch.testing.assert_close(server.theta[2], server.models[2, 1])


def test_the_pilot_scores_each_prior_on_folds_that_its_fit_has_not_seen():
    """A fit is two steps for each prior, from the model of the stronger one."""
    pilot, priors = made(3, 25), (3.0, 1.0)
    server, expected = InformationServer(3, 4, 3, priors=priors), torch.zeros(3, 2).double()
    server.begin(pilot)
    for fold in range(6):  # the last is of all rows
        out, last = torch.arange(25) % 5 == fold, torch.zeros(3, 1, 12).double()
        for k, prior in enumerate(priors):
            one = InformationServer(3, 4, 3, priors=(prior,))
            one.models = last
            for _ in "12":  # each with the curvature of its model
                one.learn(pilot.part(~out), steps=1)
            last = one.models
            if fold < 5:
                expected[:, k] += losses(last, pilot.part(out))[:, 0]
            else:
                torch.testing.assert_close(server.models[:, k], last[:, 0])
    torch.testing.assert_close(server.scores, expected)


def test_rows_that_do_not_count_are_in_no_fold():
    pilot = made(3, 25)
    counts = torch.arange(25) % 3 > 0
    both = [InformationServer(3, 4, 3, priors=(3.0, 1.0)) for _ in range(2)]
    both[0].begin(pilot.weighted(counts[None].double()))
    both[1].begin(pilot.part(counts))
    torch.testing.assert_close(both[0].scores, both[1].scores)
    torch.testing.assert_close(both[0].models, both[1].models)


def test_some_of_the_runs_learn_as_they_would_among_all():
    rows, which = made(3, 60, features=40), torch.tensor([True, False, True])
    some, every, fresh = (InformationServer(3, 40, 3) for _ in range(3))
    some.learn(rows, which)
    every.learn(rows)
    for name in STATE:
        of_some, of_all, of_none = (getattr(one, name) for one in (some, every, fresh))
        assert torch.equal(of_some[which], of_all[which])
        assert torch.equal(of_some[1], of_none[1])


def test_steps_that_would_overshoot_are_halved():
    """Labels that a steep model gets wrong: an undamped Newton step from there goes off."""
    rows = made(2, 40)
    server = InformationServer(3, 4, 2, priors=(1e-3,))
    server.models += 4 * torch.sign(random_models(3, 4))[:, None]
    risks, before = [losses(server.models, rows)], server.theta
    gradient, bends = information(before, rows)
    prior = 1e-3 * SHARES
    whole = torch.linalg.solve(bends + torch.diag(prior), -gradient - prior * before)
    server.learn(rows, steps=1)
    halvings = torch.log2(whole / (server.theta - before))
    torch.testing.assert_close(halvings, halvings.round())
    assert halvings.max() > 0
    for _ in range(12):
        server.learn(rows, steps=1)
        risks.append(losses(server.models, rows))
        assert (risks[-1] <= risks[-2] + 1e-2).all()
    other = fitted(rows, priors=(1e-3,), classes=2)
    torch.testing.assert_close(risks[-1], losses(other.models, rows), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("strange", ["separable", "rank-deficient", "one sample", "one class", "huge"])
def test_odd_samples_give_finite_models(strange):
    rows = made(3, 1 if strange == "one sample" else 30)
    if strange == "separable":
        rows.x[..., :3] = 5 * torch.nn.functional.one_hot(rows.y, 3)
    if strange == "rank-deficient":
        rows.x[..., 1] = rows.x[..., 0]
    if strange == "one class":
        rows.y[:] = 2
    if strange == "huge":
        rows.x[..., 0] *= 1e4
    server = InformationServer(3, 4, 3)
    server.begin(rows)
    for _ in range(3):
        server.hear(rows)
        server.learn(rows)
        server.forget(rows)
    assert torch.isfinite(server.theta).all()
    assert torch.isfinite(losses(server.theta[:, None], rows)).all()
