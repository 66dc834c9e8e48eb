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

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["PRIORS", "InformationServer", "Rows", "information", "losses", "scores"]

PRIORS = tuple(10 ** (k / 2) for k in range(-6, 5))
PRIOR_OF_CONSTANT = 0.01  # times λ
FOLDS = 5
NEWTON_STEPS, HALVINGS = 2, 20  # per round, and per step
PILOT_STEPS = 8
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
    chances, apart = (part[..., -outputs:] * rows.counted[..., None] for part in (chances, apart))
    curvature = theta.new_zeros(runs, outputs, features, outputs, features)
    for k in range(outputs):
        curvature[:, k, :, k] = (rows.x * chances[..., k, None]).mT @ rows.x
    spread = (chances[..., None] * rows.x[:, :, None]).view(runs, count, size)
    gradient = (apart.mT @ rows.x).view(runs, size)
    return gradient, curvature.view(runs, size, size) - spread.mT @ spread


class InformationServer:
    """The sums and the models of all runs, a model for each prior."""

    def __init__(
        self,
        runs: int,
        features: int,
        classes: int,
        *,
        priors: tuple[float, ...] = PRIORS,
        device: torch.device | str = "cpu",
    ) -> None:
        self.outputs = 1 if classes == 2 else classes
        size = self.outputs * features

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(runs, *shape, dtype=torch.float64, device=device)

        self.curvature, self.linear = zeros(size, size), zeros(size)
        self.models, self.scores = zeros(len(priors), size), zeros(len(priors))
        shape = torch.ones(self.outputs, features, dtype=torch.float64, device=device)
        shape[:, -1] = PRIOR_OF_CONSTANT
        self.priors = torch.tensor(priors, dtype=torch.float64, device=device)[:, None] * shape.view(-1)

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
        fold = torch.arange(pilot.y.shape[1]) % FOLDS
        for k in range(FOLDS):
            self._fit_each(pilot.part(fold != k))
            self.hear(pilot.part(fold == k))
        self._fit_each(pilot)

    def hear(self, fresh: Rows) -> None:
        """Add the losses of new samples, which no model has learnt, to the scores."""
        self.scores += losses(self.models, fresh)

    def learn(self, held: Rows, steps: int = NEWTON_STEPS) -> None:
        """Move all models, with the samples that clients hold."""
        best, theta = self.best, self._descended(self.theta, self.priors[self.best], held, steps)
        curvature, linear = self._with(theta, held)
        for k, prior in enumerate(self.priors):
            self.models[:, k] = _solved(curvature, linear, prior)
        self.models[torch.arange(len(theta)), best] = theta

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
        theta = torch.zeros_like(self.models[:, 0])
        for k in reversed(range(len(self.priors))):
            theta = self._descended(theta, self.priors[k].expand_as(theta), rows, PILOT_STEPS)
            self.models[:, k] = theta

    def _descended(self, theta: Tensor, prior: Tensor, held: Rows, steps: int) -> Tensor:
        """Newton steps, halved until the objective does not rise."""
        for _ in range(steps):
            target, before = _solved(*self._with(theta, held), prior), self._objective(theta, prior, held)
            share = torch.ones_like(before)
            for _ in range(HALVINGS):
                moved = torch.lerp(theta, target, share[:, None])
                worse = ~(self._objective(moved, prior, held) <= before + ROUNDING * before.abs())
                if not worse.any():
                    break
                share = torch.where(worse, share / 2, share)
            theta = torch.where(worse[:, None], theta, moved)
        return theta

    def _objective(self, theta: Tensor, prior: Tensor, held: Rows) -> Tensor:
        bent = (self.curvature @ theta[..., None])[..., 0]
        quadratic = (theta * (bent / 2 - self.linear + prior * theta / 2)).sum(-1)
        return losses(theta[:, None], held)[:, 0] + quadratic


def _solved(curvature: Tensor, linear: Tensor, prior: Tensor) -> Tensor:
    """The minimiser of the quadratic objective with this prior."""
    found: Tensor = torch.linalg.solve(curvature + torch.diag_embed(prior.expand_as(linear)), linear)
    return found
