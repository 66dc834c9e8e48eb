r"""A server that adds up information: gradient and curvature of samples, in place of models that clients moved.

For samples that clients still hold, both are taken at the newest model, exchange by exchange; when a client drops a
sample, its share at the model of that time joins the sums,

\[ A=\sum H_i(\theta_i),\quad b=\sum H_i(\theta_i)\theta_i-g_i(\theta_i),\quad
   \theta=\arg\min_\theta\ \sum_{\text{held}}\ell_i(\theta)+\tfrac12\theta^\top A\theta-b^\top\theta
   +\tfrac\lambda2|\theta|^2 . \]

So no sample is forgotten, and none has to be kept. The prior λ is chosen by progressive validation: there is a model
for each λ, all from the same sums, and the one with the least loss on new samples, before they are learnt, is the
server's. Scores begin with a cross-validation of the pilot sample.

All runs are a batch, (runs, …). Parameters are a row of weights per output, as in `empirics.training.linear`; the last
feature is constant.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["PRIORS", "STATE", "InformationServer", "Rows", "curvature", "gradients", "losses", "scores"]

PRIORS = tuple(10 ** (k / 2) for k in range(4, -7, -1))  # the strongest first: it is the best of equals
PRIOR_OF_CONSTANT = 0.01  # times λ
STATE = ("curvature", "left", "right", "total", "linear", "models", "scores", "axes", "spectrum", "known")
PARAMETERS_WHOLE = 2000  # most for which dropped samples keep their whole curvature, not a Kronecker product
PARAMETERS_NEWTON = 100  # most for which steps take the whole curvature
FOLDS = 5
STEPS, HALVINGS = 4, 20  # per round (chosen on breast cancer, mixed columns and the digits), and per step
GROWTH = 1.3  # of the features' factor, before its eigenvectors are taken anew
PILOT_STEPS = 4  # for each prior, from the model of the one before
ROOT_STEPS = 20  # of Newton's method for the ball
ROUNDING = 1e-9  # by which an objective may rise
TRACE_MIN = 1e-300  # a divisor of factors that are 0


@dataclass(frozen=True)
class Rows:
    """Samples of all runs: inputs (runs, rows, features), labels, and 1 where a row counts, else 0."""

    x: Tensor
    y: Tensor
    counted: Tensor

    @classmethod
    def of(cls, x: Tensor, y: Tensor) -> Self:
        """Rows that all count."""
        return cls(x, y, x.new_ones(y.shape))

    def with_rows(self, *others: "Rows") -> "Rows":
        """These rows and others behind them."""
        every = (self, *others)
        return Rows(
            torch.cat([one.x for one in every], dim=1),
            torch.cat([one.y for one in every], dim=1),
            torch.cat([one.counted for one in every], dim=1),
        )

    def weighted(self, weights: Tensor) -> "Rows":
        """These rows, each counted so much more, (runs or 1, rows)."""
        return Rows(self.x, self.y, self.counted * weights)

    def part(self, which: Tensor | slice) -> "Rows":
        """Some of the rows, the same of every run."""
        return Rows(self.x[:, which], self.y[:, which], self.counted[:, which])


def scores(theta: Tensor, x: Tensor) -> Tensor:
    """Logits of all classes, (runs, models, rows, classes); with one output the first class has logit 0."""
    runs, models, size = theta.shape
    rows = theta.view(runs, models, size // x.shape[-1], x.shape[-1])
    logits = torch.einsum("rmod,rnd->rmno", rows, x)
    return F.pad(logits, (1, 0)) if logits.shape[-1] == 1 else logits


def losses(theta: Tensor, rows: Rows) -> Tensor:
    """Summed losses, (runs, models), of models (runs, models, parameters)."""
    return _summed(scores(theta, rows.x), rows)


def _summed(scored: Tensor, rows: Rows) -> Tensor:
    """Summed losses, (runs, models), by the scores of rows."""
    own = scored.gather(-1, rows.y[:, None, :, None].expand(-1, scored.shape[1], -1, 1))[..., 0]
    return ((scored.logsumexp(-1) - own) * rows.counted[:, None]).sum(-1)


def gradients(scored: Tensor, rows: Rows, outputs: int) -> Tensor:
    """Summed gradients, (runs, models, parameters), by the scores of rows."""
    apart = scored.softmax(-1) - F.one_hot(rows.y, scored.shape[-1])[:, None]
    apart = apart[..., -outputs:] * rows.counted[:, None, :, None]
    return (apart.mT @ rows.x[:, None]).flatten(2)


def curvature(scored: Tensor, rows: Rows, outputs: int) -> Tensor:
    """Summed curvature (runs, parameters, parameters), by the scores of one model per run."""
    chances, share = scored.softmax(-1)[..., -outputs:], rows.counted[..., None]
    runs, count, features = rows.x.shape
    found = rows.x.new_zeros(runs, outputs, features, outputs, features)
    for k in range(outputs):
        found[:, k, :, k] = (rows.x * (share * chances)[..., k, None]).mT @ rows.x
    spread = ((share.sqrt() * chances)[..., None] * rows.x[:, :, None]).view(runs, count, outputs * features)
    return found.view(runs, outputs * features, -1) - spread.mT @ spread


@dataclass(frozen=True)
class Factors:
    """Curvature as a Kronecker product, of outputs and of features, over `total`; with one output it is exact."""

    left: Tensor
    right: Tensor
    total: Tensor

    @classmethod
    def of(cls, scored: Tensor, rows: Rows, outputs: int) -> Self:
        """Of rows with these scores at one model per run, (runs, rows, classes): each counts by its trace."""
        chances = scored.softmax(-1)[..., -outputs:]
        counted = rows.counted[..., None] * chances
        trace = (counted * (1 - chances)).sum(-1)
        left = torch.diag_embed(counted.sum(1)) - counted.mT @ chances
        return cls(left, (rows.x * trace[..., None]).mT @ rows.x, trace.sum(1))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.left + other.left, self.right + other.right, self.total + other.total)

    @property
    def scale(self) -> Tensor:
        """What both factors multiplied are to be divided by, (runs, 1, 1)."""
        return self.total.clamp(min=TRACE_MIN)[:, None, None]

    def __matmul__(self, models: Tensor) -> Tensor:
        return _turned(self.left, models, self.right) / self.scale


@dataclass(frozen=True)
class _Axes:
    """Eigenvectors of both factors, and the eigenvalues of their product (runs, 1, parameters)."""

    left: Tensor
    right: Tensor
    values: Tensor

    def along(self, models: Tensor) -> Tensor:
        """Models in these axes."""
        return _turned(self.left.mT, models, self.right)

    def back(self, models: Tensor) -> Tensor:
        """Models from what they are in these axes."""
        return _turned(self.left, models, self.right.mT)


def _turned(left: Tensor, models: Tensor, right: Tensor) -> Tensor:
    """Models, (runs, models, parameters), as matrices of outputs and features between two others."""
    turned = models.reshape(len(models), -1, right.shape[-1]) @ right  # a product with right[:, None] would copy it
    return (left[:, None] @ turned.view(*models.shape[:2], left.shape[-1], -1)).flatten(2)


@dataclass(frozen=True)
class _Point:
    """Models, their scores on held samples, and the sums' curvature times them: each is linear in the first."""

    models: Tensor
    scores: Tensor
    bent: Tensor

    def toward(self, other: Self, share: Tensor) -> Self:
        """So much of the way to others, (runs, models)."""
        weights = share[..., None], share[..., None, None], share[..., None]
        pairs = zip(vars(self).values(), vars(other).values(), weights, strict=True)
        return type(self)(*(torch.lerp(*each) for each in pairs))


class InformationServer:
    """The sums and the models of all runs, a model for each prior; with a radius, on the ball."""

    def __init__(
        self,
        runs: int,
        features: int,
        classes: int,
        *,
        priors: tuple[float, ...] = PRIORS,
        radius: float | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.outputs, self.radius = 1 if classes == 2 else classes, radius
        size = self.outputs * features
        whole = size if self.outputs > 1 and size <= PARAMETERS_WHOLE else 0

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(runs, *shape, dtype=torch.float64, device=device)

        self.curvature, self.linear = zeros(whole, whole), zeros(size)
        self.left, self.right, self.total = (
            zeros(self.outputs, self.outputs),
            zeros(features, features),
            zeros(),
        )
        self.models, self.scores = zeros(len(priors), size), zeros(len(priors))
        self.axes, self.spectrum, self.known = zeros(features, features), zeros(features), zeros()
        self.priors = torch.tensor(priors, dtype=torch.float64, device=device)
        self.root = torch.ones(features, dtype=torch.float64, device=device)
        if radius is None:
            self.root[-1] = PRIOR_OF_CONSTANT**0.5

    @property
    def best(self) -> Tensor:
        """The prior with the least loss so far, for each run."""
        return self.scores.argmin(1)

    @property
    def theta(self) -> Tensor:
        """The model of the best prior, (runs, parameters)."""
        return self.models[torch.arange(len(self.models)), self.best]

    @property
    def factors(self) -> Factors:
        """The curvature of dropped samples as a product."""
        return Factors(self.left, self.right, self.total)

    def begin(self, pilot: Rows) -> None:
        """Score the priors by cross-validation of the pilot sample, and fit it."""
        fold = (pilot.counted > 0).cumsum(1) % FOLDS
        learnt = torch.stack([*(fold != k for k in range(FOLDS)), fold >= 0])
        trials = self._with(lambda own: torch.zeros_like(own.repeat(len(learnt), *[1] * (own.dim() - 1))))
        many = (len(learnt), 1)
        trials._fit_each(
            Rows(pilot.x.repeat(*many, 1), pilot.y.repeat(many), (pilot.counted * learnt).flatten(0, 1))
        )
        *folds, self.models = trials.models.view(len(learnt), *self.models.shape)
        for k, models in enumerate(folds):
            self.scores += losses(models, pilot.weighted(fold == k))

    def _with(self, change: Callable[[Tensor], Tensor]) -> Self:
        """A server with another state."""
        other = copy(self)
        for name in STATE:
            setattr(other, name, change(getattr(self, name)))
        return other

    def hear(self, fresh: Rows) -> None:
        """Add the losses of new samples, which no model has learnt, to the scores."""
        self.scores += losses(self.models, fresh)

    def learn(self, held: Rows, which: Tensor | None = None, steps: int = STEPS) -> None:
        """Move all models, or those of some runs, with the samples that clients hold."""
        if which is not None and not which.all():
            some = self._with(lambda own: own[which])
            some.learn(Rows(held.x[which], held.y[which], held.counted[which]), steps=steps)
            for name in STATE:
                setattr(self, name, getattr(self, name).index_put((which,), getattr(some, name)))
        else:
            self.models = self._descended(self.models, self.priors, self.best, held, steps)

    def forget(self, dropped: Rows) -> None:
        """Keep of samples that clients drop what they say at the present model."""
        theta = self.theta[:, None]
        scored, before = scores(theta, dropped.x), self._bent(theta)
        if self.curvature.numel():
            self.curvature = self.curvature + curvature(scored[:, 0], dropped, self.outputs)
        more = self.factors + Factors.of(scored[:, 0], dropped, self.outputs)
        self.left, self.right, self.total = more.left, more.right, more.total
        toward = self._bent(theta) - before - gradients(scored, dropped, self.outputs)
        self.linear = self.linear + toward[:, 0]

    def _bent(self, models: Tensor) -> Tensor:
        """The curvature of dropped samples times models."""
        return models @ self.curvature if self.curvature.numel() else self.factors @ models

    def _fit_each(self, rows: Rows) -> None:
        """Fit every prior on its own, from the strongest to the weakest."""
        last, first = self.models[:, :1], torch.zeros_like(self.best)
        for k in range(len(self.priors)):
            for _ in range(PILOT_STEPS):
                last = self._descended(last, self.priors[k : k + 1], first, rows, 1)
            self.models[:, k] = last[:, 0]

    def _descended(self, models: Tensor, priors: Tensor, which: Tensor, held: Rows, steps: int) -> Tensor:
        """Models after steps of Newton's method, with the curvature of one model per run."""
        runs, root = torch.arange(len(which), device=which.device), self.root.repeat(self.outputs)
        point = self._point(models, held)
        axes = self._axes(point.scores[runs, which], held)
        prior = priors[:, None].expand(len(models), -1, 1)
        for _ in range(steps):
            gradient = gradients(point.scores, held, self.outputs) + point.bent - self.linear[:, None]
            gradient = gradient / root + prior * root * point.models
            bends = axes.values + prior
            toward = bends * axes.along(point.models * root) - axes.along(gradient)
            if self.radius is not None:
                bends = bends + _beyond(bends, toward, self.radius)
            target = self._point(axes.back(toward / bends) / root, held)
            point = self._halved(point, target, prior, held)
        return point.models

    def _axes(self, scored: Tensor, held: Rows) -> _Axes:
        """Eigenvectors of the curvature in units of the prior; with many parameters, of its factors."""
        if 0 < self.curvature.shape[1] <= PARAMETERS_NEWTON:
            root = self.root.repeat(self.outputs)
            whole = self.curvature + curvature(scored, held, self.outputs)
            spectrum, axes = torch.linalg.eigh(whole / (root[:, None] * root))
            return _Axes(axes.new_ones(len(axes), 1, 1), axes, spectrum[:, None])
        factors = self.factors + Factors.of(scored, held, self.outputs)
        due = factors.total > GROWTH * self.known  # the features' part changes little
        if due.any():
            mean = (factors.right / factors.scale)[due] / (self.root[:, None] * self.root)
            spectrum, axes = torch.linalg.eigh(mean)
            self.spectrum = self.spectrum.index_put((due,), spectrum)
            self.axes = self.axes.index_put((due,), axes)
            self.known = torch.where(due, factors.total, self.known)
        low, left = torch.linalg.eigh(factors.left)
        values = low[:, :, None] * self.spectrum[:, None]
        return _Axes(left, self.axes, values.view(len(values), 1, -1))

    def _point(self, models: Tensor, held: Rows) -> _Point:
        return _Point(models, scores(models, held.x), self._bent(models))

    def _halved(self, point: _Point, target: _Point, prior: Tensor, held: Rows) -> _Point:
        """As far towards a target as the objective does not rise, by halves."""
        before = self._objectives(point, prior, held)
        share = torch.ones_like(before)
        for _ in range(HALVINGS):
            worse = ~(
                self._objectives(point.toward(target, share), prior, held) <= before + ROUNDING * before.abs()
            )
            if not worse.any():
                break
            share = torch.where(worse, share / 2, share)
        return point.toward(target, torch.where(worse, 0, share))

    def _objectives(self, point: _Point, prior: Tensor, held: Rows) -> Tensor:
        """What each prior's model is to make least, (runs, priors)."""
        pulled = prior * self.root.repeat(self.outputs).square() * point.models
        quadratic = (point.models * ((point.bent + pulled) / 2 - self.linear[:, None])).sum(-1)
        return _summed(point.scores, held) + quadratic


def _beyond(values: Tensor, along: Tensor, radius: float) -> Tensor:
    """The least μ ≥ 0 for which |along / (values + μ)| is at most the radius: Newton's method on its inverse, which
    rises to the root of a concave function and never beyond."""
    mu = along.new_zeros(*values.shape[:-1], 1)
    for _ in range(ROOT_STEPS):
        point = along / (values + mu)
        length = point.norm(dim=-1, keepdim=True)
        outside = length > radius * (1 + ROUNDING)
        if not outside.any():
            break
        slope = (point.square() / (values + mu)).sum(-1, keepdim=True)
        mu = mu + torch.where(outside, length.square() / slope * (length / radius - 1), 0)
    return mu
