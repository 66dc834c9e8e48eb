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

from empirics.training.sums import FOLDS, TRACE_MIN, Factors, Rows, RowSums, turned

__all__ = ["HALVINGS", "PRIORS", "STATE", "InformationServer"]

PRIORS = tuple(10 ** (k / 2) for k in range(4, -7, -1))  # the strongest first: it is the best of equals
PRIOR_OF_CONSTANT = 0.01  # times λ
STATE = ("curvature", "left", "right", "total", "linear", "models", "scores", "axes", "spectrum", "known")
PARAMETERS_WHOLE = 2000  # most for which dropped samples keep their whole curvature, not a Kronecker product
PARAMETERS_NEWTON = 100  # most for which steps take the whole curvature
STEPS, HALVINGS = 4, 20  # per round (chosen on breast cancer, mixed columns and the digits), and per step
PILOT_STEPS = 2  # for each prior, from the model of the one before (chosen on tables, iris and wine too)
FADING = (
    0.5  # share of what is added to a product by which older sums fade (chosen on MNIST, moved images too)
)
GROWTH = 1.3  # of the features' factor, before its eigenvectors are taken anew
ROOT_STEPS = 20  # of Newton's method for the ball
ROUNDING = 1e-9  # by which an objective may rise


@dataclass(frozen=True)
class _Axes:
    """Eigenvectors of both factors, and the eigenvalues of their product (runs, 1, parameters)."""

    left: Tensor
    right: Tensor
    values: Tensor

    def along(self, models: Tensor) -> Tensor:
        """Models in these axes."""
        return turned(self.left.mT, models, self.right)

    def back(self, models: Tensor) -> Tensor:
        """Models from what they are in these axes."""
        return turned(self.left, models, self.right.mT)


@dataclass(frozen=True)
class _Point:
    """Models, and the sums' curvature times them."""

    models: Tensor
    bent: Tensor

    def toward(self, other: Self, share: Tensor) -> Self:
        """So much of the way to others, (runs, models)."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return type(self)(*(torch.lerp(*each, share[..., None]) for each in pairs))


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

    def begin(self, pilot: Rows | RowSums) -> None:
        """Score the priors by cross-validation of the pilot sample, and fit it."""
        told = self._sums(pilot)
        trials = self._with(lambda own: torch.zeros_like(own.repeat(FOLDS + 1, *[1] * (own.dim() - 1))))
        trials._fit_each(told.folds())
        found = trials.models.view(FOLDS + 1, *self.models.shape)
        for tested in told.left_out(found[:-1]):
            self.scores = self.scores + tested
        self.models = found[-1]

    def _sums(self, samples: Rows | RowSums) -> RowSums:
        return RowSums(samples, self.outputs) if isinstance(samples, Rows) else samples

    def _with(self, change: Callable[[Tensor], Tensor]) -> Self:
        """A server with another state."""
        other = copy(self)
        for name in STATE:
            setattr(other, name, change(getattr(self, name)))
        return other

    def hear(self, fresh: Rows | RowSums) -> None:
        """Add the losses of new samples, which no model has learnt, to the scores."""
        told = self._sums(fresh)
        told.stand(self.models)
        self.scores = self.scores + told.losses()

    def learn(self, held: Rows | RowSums, which: Tensor | None = None, steps: int = STEPS) -> None:
        """Move all models, or those of some runs, with the samples that clients hold."""
        if which is not None and not which.all():
            assert isinstance(held, Rows)
            some = self._with(lambda own: own[which])
            some.learn(Rows(held.x[which], held.y[which], held.counted[which]), steps=steps)
            for name in STATE:
                setattr(self, name, getattr(self, name).index_put((which,), getattr(some, name)))
        else:
            self.models = self._descended(self.models, self.priors, self.best, self._sums(held), steps)

    def forget(self, dropped: Rows | RowSums) -> None:
        """Keep of samples that clients drop what they say at the present model."""
        theta, told, alone = self.theta[:, None], self._sums(dropped), torch.zeros_like(self.best)
        told.stand(theta)
        left, total = told.left(alone)
        if self.outputs > 1 and not self.curvature.numel():
            self._fade(total)
        before = self._bent(theta)
        if self.curvature.numel():
            self.curvature = self.curvature + told.whole(alone)
        more = self.factors + Factors(left, told.right(alone), total)
        self.left, self.right, self.total = more.left, more.right, more.total
        toward = self._bent(theta) - before - told.gradients()
        self.linear = self.linear + toward[:, 0]

    def _fade(self, new: Tensor) -> None:
        """Let older sums fade: a product overstates curvature in some directions, where the first models would stay."""
        share = self.total / (self.total + FADING * new).clamp(min=TRACE_MIN)
        for name in ("left", "right", "total", "linear", "known"):
            sums = getattr(self, name)
            setattr(self, name, sums * share.view(-1, *[1] * (sums.dim() - 1)))

    def _bent(self, models: Tensor) -> Tensor:
        """The curvature of dropped samples times models."""
        return models @ self.curvature if self.curvature.numel() else self.factors @ models

    def _fit_each(self, pilot: RowSums) -> None:
        """Fit every prior on its own, from the strongest to the weakest, each from the model before."""
        last, first = self.models[:, :1], torch.zeros_like(self.best)
        for k in range(len(self.priors)):
            for _ in range(PILOT_STEPS):
                last = self._descended(last, self.priors[k : k + 1], first, pilot, 1)
            self.models[:, k] = last[:, 0]

    def _descended(self, models: Tensor, priors: Tensor, which: Tensor, held: RowSums, steps: int) -> Tensor:
        """Models after steps of Newton's method, with the curvature of one model per run."""
        held.stand(models)
        point, root = _Point(models, self._bent(models)), self.root.repeat(self.outputs)
        axes = self._axes(held, which)
        prior = priors[:, None].expand(len(models), -1, 1)
        for step in range(steps):
            gradient = held.gradients() + point.bent - self.linear[:, None]
            gradient = gradient / root + prior * root * point.models
            bends = axes.values + prior
            toward = bends * axes.along(point.models * root) - axes.along(gradient)
            if self.radius is not None:
                bends = bends + _beyond(bends, toward, self.radius)
            target = axes.back(toward / bends) / root
            held.aim(target, last=step == steps - 1)
            point = self._halved(point, _Point(target, self._bent(target)), prior, held)
        return point.models

    @property
    def steps_by_whole(self) -> bool:
        """Steps take the whole curvature: with many parameters, and with one output, they take its factors."""
        return 0 < self.curvature.shape[1] <= PARAMETERS_NEWTON

    def _axes(self, held: RowSums, which: Tensor) -> _Axes:
        """Eigenvectors of the curvature in units of the prior."""
        if self.steps_by_whole:
            root = self.root.repeat(self.outputs)
            whole = self.curvature + held.whole(which)
            spectrum, axes = torch.linalg.eigh(whole / (root[:, None] * root))
            return _Axes(axes.new_ones(len(axes), 1, 1), axes, spectrum[:, None])
        left, total = held.left(which)
        left, total = self.left + left, self.total + total
        due = total > GROWTH * self.known  # the features' part changes little
        if due.any():
            factors = Factors(left, self.right + held.right(which), total)
            mean = (factors.right / factors.scale)[due] / (self.root[:, None] * self.root)
            spectrum, axes = torch.linalg.eigh(mean)
            self.spectrum = self.spectrum.index_put((due,), spectrum)
            self.axes = self.axes.index_put((due,), axes)
            self.known = torch.where(due, total, self.known)
        low, axes = torch.linalg.eigh(left)
        values = low[:, :, None] * self.spectrum[:, None]
        return _Axes(axes, self.axes, values.view(len(values), 1, -1))

    def _halved(self, point: _Point, target: _Point, prior: Tensor, held: RowSums) -> _Point:
        """As far towards a target as the objective does not rise, by halves."""
        before = held.along() + self._quadratic(point, prior)
        share = torch.ones_like(before)
        for _ in range(HALVINGS):
            now = held.along(share) + self._quadratic(point.toward(target, share), prior)
            worse = ~(now <= before + ROUNDING * before.abs())
            if not worse.any():
                break
            share = torch.where(worse, share / 2, share)
        share = torch.where(worse, 0, share)
        held.move(share)
        return point.toward(target, share)

    def _quadratic(self, point: _Point, prior: Tensor) -> Tensor:
        """What each prior's model is to make least, (runs, priors), without the losses of held samples."""
        pulled = prior * self.root.repeat(self.outputs).square() * point.models
        return (point.models * ((point.bent + pulled) / 2 - self.linear[:, None])).sum(-1)


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
