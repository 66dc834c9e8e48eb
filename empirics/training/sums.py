"""Sums over samples at models: losses, gradients and curvature, and losses on the way from models to others.

All runs are a batch, (runs, …). Parameters are a row of weights per output, as in `empirics.training.linear`.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["FOLDS", "TRACE_MIN", "Factors", "RowSums", "Rows", "curvature", "gradients", "losses", "scores"]
__all__ += ["of_features", "of_outputs", "turned"]

FOLDS = 5  # of the pilot sample
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


def of_outputs(scored: Tensor, rows: Rows, outputs: int) -> tuple[Tensor, Tensor]:
    """The outputs' factor of the curvature (runs, outputs, outputs), and its trace (runs,)."""
    chances = scored.softmax(-1)[..., -outputs:]
    counted = rows.counted[..., None] * chances
    left = torch.diag_embed(counted.sum(1)) - counted.mT @ chances
    return left, (counted * (1 - chances)).sum(-1).sum(1)


def of_features(scored: Tensor, rows: Rows, outputs: int) -> Tensor:
    """The features' factor of the curvature (runs, features, features): each row counts by its trace."""
    chances = scored.softmax(-1)[..., -outputs:]
    trace = (rows.counted[..., None] * chances * (1 - chances)).sum(-1)
    return (rows.x * trace[..., None]).mT @ rows.x


@dataclass(frozen=True)
class Factors:
    """Curvature as a Kronecker product, of outputs and of features, over `total`; with one output it is exact."""

    left: Tensor
    right: Tensor
    total: Tensor

    @classmethod
    def of(cls, scored: Tensor, rows: Rows, outputs: int) -> Self:
        """Of rows with these scores at one model per run, (runs, rows, classes)."""
        left, total = of_outputs(scored, rows, outputs)
        return cls(left, of_features(scored, rows, outputs), total)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.left + other.left, self.right + other.right, self.total + other.total)

    @property
    def scale(self) -> Tensor:
        """What both factors multiplied are to be divided by, (runs, 1, 1)."""
        return self.total.clamp(min=TRACE_MIN)[:, None, None]

    def __matmul__(self, models: Tensor) -> Tensor:
        return turned(self.left, models, self.right) / self.scale


def turned(left: Tensor, models: Tensor, right: Tensor) -> Tensor:
    """Models, (runs, models, parameters), as matrices of outputs and features between two others."""
    turned = (
        models.reshape(len(models), -1, right.shape[-1]) @ right
    )  # a product with right[:, None] would copy it
    return (left[:, None] @ turned.view(*models.shape[:2], left.shape[-1], -1)).flatten(2)


class RowSums:
    """Sums over rows at models (runs, models, parameters); scores are linear in models, and computed once.

    `stand` says at which models; `aim` looks to others, `along` tells the losses a share of the way there, and `move`
    goes there. Curvature is that of one model per run, `which`.
    """

    def __init__(self, rows: Rows, outputs: int, first: int = 0) -> None:
        self.rows, self.outputs, self.first = rows, outputs, first
        self.count = rows.counted.sum(1)

    def stand(self, models: Tensor) -> None:
        """Sums are at these models from now on."""
        self.here = scores(models, self.rows.x)

    def losses(self) -> Tensor:
        """Of all models, (runs, models)."""
        return _summed(self.here, self.rows)

    def gradients(self) -> Tensor:
        """Of all models, (runs, models, parameters)."""
        return gradients(self.here, self.rows, self.outputs)

    def whole(self, which: Tensor) -> Tensor:
        """The curvature of a model per run."""
        return curvature(*self._of(which))

    def left(self, which: Tensor) -> tuple[Tensor, Tensor]:
        """The outputs' factor of it, and its trace."""
        return of_outputs(*self._of(which))

    def right(self, which: Tensor) -> Tensor:
        """The features' factor of it."""
        return of_features(*self._of(which))

    def _of(self, which: Tensor) -> tuple[Tensor, Rows, int]:
        return self.here[torch.arange(len(which), device=which.device), which], self.rows, self.outputs

    def aim(self, models: Tensor, *, last: bool = True) -> None:
        """The models to look to; after the `last`, no sums are asked for there."""
        self.there = scores(models, self.rows.x)

    def along(self, share: Tensor | None = None) -> Tensor:
        """Losses so much of the way there, (runs, models)."""
        return self.losses() if share is None else _summed(self._at(share), self.rows)

    def move(self, share: Tensor) -> None:
        """Stand so much of the way there."""
        self.here = self._at(share)

    def _at(self, share: Tensor) -> Tensor:
        return torch.lerp(self.here, self.there, share[..., None, None])

    def _fold(self) -> Tensor:
        return ((self.rows.counted > 0).cumsum(1) + self.first) % FOLDS

    def folds(self) -> "RowSums":
        """The rows without each fold, and all of them: a run each."""
        rows, fold = self.rows, self._fold()
        learnt = torch.stack([*(fold != k for k in range(FOLDS)), fold >= 0])
        many = (len(learnt), 1)
        counted = (rows.counted * learnt).flatten(0, 1)
        return RowSums(Rows(rows.x.repeat(*many, 1), rows.y.repeat(many), counted), self.outputs)

    def left_out(self, models: Tensor) -> Tensor:
        """Losses of models without a fold on that fold, both (folds, runs, models, …)."""
        fold = self._fold()
        return torch.stack([losses(own, self.rows.weighted(fold == k)) for k, own in enumerate(models)])
