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

from copy import copy
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["PRIORS", "STATE", "InformationServer", "Rows", "information", "losses", "scores"]

PRIORS = tuple(10 ** (k / 2) for k in range(4, -7, -1))  # the strongest first: it is the best of equals
PRIOR_OF_CONSTANT = 0.01  # times λ
STATE = ("curvature", "linear", "models", "scores")  # of a server, by run
FOLDS = 5
NEWTON_STEPS, HALVINGS, HALVINGS_OF_OTHERS = 2, 20, 2  # per round, and per step
PILOT_STEPS = 3  # for each prior, from the model of the one before
ROOT_STEPS = 20  # of Newton's method for the ball
ROUNDING = 1e-9  # by which an objective may rise


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
    found = scores(theta, rows.x)
    own = found.gather(-1, rows.y[:, None, :, None].expand(-1, found.shape[1], -1, 1))[..., 0]
    return ((found.logsumexp(-1) - own) * rows.counted[:, None]).sum(-1)


def information(theta: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
    """Summed gradient (runs, parameters) and curvature (runs, parameters, parameters) at one model per run."""
    runs, size = theta.shape
    count, features = rows.x.shape[1:]
    outputs = size // features
    chances = scores(theta[:, None], rows.x)[:, 0].softmax(-1)
    apart = chances - F.one_hot(rows.y, chances.shape[-1])
    chances, apart, share = chances[..., -outputs:], apart[..., -outputs:], rows.counted[..., None]
    curvature = theta.new_zeros(runs, outputs, features, outputs, features)
    for k in range(outputs):
        curvature[:, k, :, k] = (rows.x * (share * chances)[..., k, None]).mT @ rows.x
    spread = ((share.sqrt() * chances)[..., None] * rows.x[:, :, None]).view(runs, count, size)
    gradient = ((share * apart).mT @ rows.x).view(runs, size)
    return gradient, curvature.view(runs, size, size) - spread.mT @ spread


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

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(runs, *shape, dtype=torch.float64, device=device)

        self.curvature, self.linear = zeros(size, size), zeros(size)
        self.models, self.scores = zeros(len(priors), size), zeros(len(priors))
        self.priors = torch.tensor(priors, dtype=torch.float64, device=device)
        shape = torch.ones(self.outputs, features, dtype=torch.float64, device=device)
        if radius is None:
            shape[:, -1] = PRIOR_OF_CONSTANT
        self.shape = shape.view(-1)

    @property
    def best(self) -> Tensor:
        """The prior with the least loss so far, for each run."""
        return self.scores.argmin(1)

    @property
    def theta(self) -> Tensor:
        """The model of the best prior, (runs, parameters)."""
        return self.models[torch.arange(len(self.models)), self.best]

    def begin(self, pilot: Rows) -> None:
        """Score the priors by cross-validation of the pilot sample, and fit it."""
        fold = (pilot.counted > 0).cumsum(1) % FOLDS
        learnt = torch.stack([*(fold != k for k in range(FOLDS)), fold >= 0])
        trials = self._empty(learnt.shape[0] * learnt.shape[1])
        many = (len(learnt), 1)
        trials._fit_each(
            Rows(pilot.x.repeat(*many, 1), pilot.y.repeat(many), (pilot.counted * learnt).flatten(0, 1))
        )
        *folds, self.models = trials.models.view(len(learnt), *self.models.shape)
        for k, models in enumerate(folds):
            self.scores += losses(models, pilot.weighted(fold == k))

    def _empty(self, runs: int) -> Self:
        """So many runs that have learnt nothing."""
        other = copy(self)
        for name in STATE:
            own = getattr(self, name)
            setattr(other, name, own.new_zeros(runs, *own.shape[1:]))
        return other

    def hear(self, fresh: Rows) -> None:
        """Add the losses of new samples, which no model has learnt, to the scores."""
        self.scores += losses(self.models, fresh)

    def learn(self, held: Rows, steps: int = NEWTON_STEPS) -> None:
        """Move all models, with the samples that clients hold."""
        self._descend(self.best, held, steps)

    def forget(self, dropped: Rows) -> None:
        """Keep of samples that clients drop what they say at the present model."""
        self.curvature, self.linear = self._with(self.theta, dropped)

    def _with(self, theta: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        """The sums, with the information of more rows at a model."""
        gradient, curvature = information(theta, rows)
        toward = (curvature @ theta[..., None])[..., 0] - gradient
        return self.curvature + curvature, self.linear + toward

    def _fit_each(self, rows: Rows) -> None:
        """Fit every prior on its own, from the strongest to the weakest."""
        for k in range(len(self.priors)):
            self._descend(torch.full_like(self.best, k), rows, PILOT_STEPS)
            self.models[:, k:] = self.models[:, k, None]

    def _descend(self, which: Tensor, held: Rows, steps: int) -> None:
        """Newton steps from one model per run, whose curvature serves all, halved until no objective rises."""
        runs = torch.arange(len(which), device=which.device)
        for _ in range(steps):
            targets = self._solved(*self._with(self.models[runs, which], held))
            before = self._objectives(self.models, held)
            share = torch.ones_like(before)
            for halvings in range(HALVINGS):
                moved = torch.lerp(self.models, targets, share[..., None])
                worse = ~(self._objectives(moved, held) <= before + ROUNDING * before.abs())
                again = worse & (worse[runs, which, None] | (halvings < HALVINGS_OF_OTHERS))
                if not again.any():
                    break
                share = torch.where(again, share / 2, share)
            self.models = torch.where(worse[..., None], self.models, moved)

    def _objectives(self, models: Tensor, held: Rows) -> Tensor:
        """What each prior's model is to make least, (runs, priors)."""
        bent = models @ self.curvature
        pulled = self.priors[:, None] * self.shape * models
        quadratic = (models * ((bent + pulled) / 2 - self.linear[:, None])).sum(-1)
        return losses(models, held) + quadratic

    def _solved(self, curvature: Tensor, linear: Tensor) -> Tensor:
        """The minimisers of the quadratic objective with each prior, on the ball, (runs, priors, parameters)."""
        root = self.shape.sqrt()
        values, axes = torch.linalg.eigh(curvature / (root[:, None] * root))
        values = values[:, None]
        along = (linear / root)[:, None] @ axes
        prior = self.priors[:, None].expand(len(linear), -1, 1)
        if self.radius is not None:
            prior = prior + _beyond(values + prior, along, self.radius)
        found: Tensor = (along / (values + prior)) @ axes.mT / root
        return found


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
