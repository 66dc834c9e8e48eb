"""The protocol of models: parameters of all runs in one tensor of shape (runs, parameters), local training from
one memory a client, and measurements over the population."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import torch
from torch import Tensor

from theory.setting import SettingError

__all__ = ["Descent", "Memory", "Model", "Population", "each", "inverse_counts", "listening", "per_run"]
__all__ += ["Scoring", "row_by_row"]

VECTOR_BYTES_MAX = 128  # bytes of numbers that a processor takes at a time at most
Update = TypeVar("Update", bound=Callable[..., Any])


@dataclass(frozen=True)
class Population:
    """The finite population and the test set, on the device: inputs, labels, and P of each sample.

    `weights` has shape (1, population), or (replicates, population) where replicates have partitions of their `own`;
    run r is replicate r mod replicates. Where the population moves, it is written anew before every measurement, and so
    is `test_weights`, what each test sample counts for; `test_later` are those of the second part.
    """

    x: Tensor
    y: Tensor
    weights: Tensor
    test_x: Tensor
    test_y: Tensor
    classes: int
    test_weights: Tensor | None = None
    test_later: Tensor | None = None
    own: bool = False  # also of a single replicate, as in a part of a study

    def double(self) -> Self:
        reals = {name: getattr(self, name).double() for name in ("x", "weights", "test_x")}
        return replace(self, **reals)

    def tested(self, values: Tensor) -> Tensor:
        """The mean of each run, as the accuracy from what it gets right, (test samples, runs)."""
        if self.test_weights is None:
            return _summed(values) / len(values)
        return _summed(_for_runs(self.test_weights, values.shape[1]) * values)

    @property
    def support(self) -> Tensor:
        """Samples that some replicate can draw."""
        return (self.weights > 0).any(0)

    def expected(self, values: Tensor) -> Tensor:
        """Means under P, run by run, of values of shape (population, runs)."""
        if len(self.weights) == 1 and not self.own:
            return self.weights[0] @ values
        return _summed(self.of_runs(values.shape[1]) * values)

    def of_runs(self, runs: int) -> Tensor:
        """P for each run, (population, runs) or, where all are alike, (population, 1)."""
        return self.weights.T if len(self.weights) == 1 else _for_runs(self.weights, runs)


def _for_runs(weights: Tensor, runs: int) -> Tensor:
    if runs % len(weights):
        raise ValueError(f"{runs} runs are no whole number of {len(weights)} replicates")
    return weights.T.repeat(1, runs // len(weights))


def _summed(values: Tensor) -> Tensor:
    """The sum of each column, in an order that does not depend on how many there are."""
    return values.new_ones(len(values)) @ values


@dataclass(frozen=True)
class Memory:
    """The clients' memories: sample indices and a mask, (runs, clients, width), and aggregation weights
    w_m, (runs, clients), which are 0 where a client holds nothing."""

    index: Tensor
    mask: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Descent:
    """E full-batch steps of size η, with momentum that starts anew in every round.

    Where runs differ in η, `eta` has the shape (runs,); where they differ in E, `own_steps` has, and `steps` is the
    largest. Only an `update` marked `@per_run` is given such a one; others are called once for all runs that agree.
    """

    steps: int
    eta: float | Tensor
    momentum: float = 0.0
    own_steps: Tensor | None = None

    def velocity(self, step: int, before: Tensor, gradient: Tensor) -> Tensor:
        """The velocity of a step, counted from 0: none for runs that have taken all of theirs."""
        velocity = self.momentum * before + gradient if self.momentum else gradient
        if self.own_steps is None:
            return velocity
        return velocity.masked_fill(_along(self.own_steps, velocity) <= step, 0)

    def scaled(self, values: Tensor) -> Tensor:
        """η times values, whose first axis is the runs."""
        return (_along(self.eta, values) if isinstance(self.eta, Tensor) else self.eta) * values


def _along(numbers: Tensor, values: Tensor) -> Tensor:
    """One number per run, to meet values whose first axis is the runs."""
    return numbers.view(-1, *(1,) * (values.ndim - 1))


def per_run(update: Update) -> Update:
    """Marks the `update` of a model that takes a `Descent` in which runs differ; one that overrides it is not."""
    update.per_run = True  # type: ignore[attr-defined]
    return update


@runtime_checkable
class Model(Protocol):
    """The parts of a model that the engine uses. `size` is the number of parameters."""

    size: int

    def start(self, runs: int) -> Tensor:
        """Initial parameters, (runs, parameters)."""

    def update(self, theta: Tensor, memory: Memory, descent: Descent) -> Tensor:
        """Σ_m w_m Δ_m, (runs, parameters): every client trains from theta on its own memory."""

    def measure(self, theta: Tensor, tilt: Tensor | None) -> dict[str, Tensor]:
        """Population risk and, given `tilt`, (runs, population), the squared norm of Σ_i tilt_i ∇ℓ_i and the
        variance of ∇ℓ under P, at theta; each of shape (runs,)."""

    def accuracy(self, theta: Tensor) -> Tensor:
        """Test accuracy, (runs,)."""


@runtime_checkable
class Scoring(Protocol):
    """A model that tells the log-loss of its chances too, as ours do; of a user's own this is not asked."""

    def log_loss(self, theta: Tensor) -> Tensor:
        """Mean log-loss on test samples, (runs,)."""


def listening(model: Model) -> Any:
    """The model, if it tells the losses of samples, which a policy that listens needs."""
    if not hasattr(model, "mean_loss"):
        raise SettingError(
            "a policy listens to losses: the model must have mean_loss(theta, memory), of each run, NaN without "
            "a sample"
        )
    return model


def each(function: Callable[..., Tensor], values: Tensor) -> Tensor:
    """A function of each number, whose digits do not depend on where the number stands, with one thread.

    A processor takes numbers by the vector, and those left over one by one, by a routine whose last digit is now and
    then another: so the last ones are computed once more, as whole vectors.
    """
    found = function(values.contiguous())
    vector = VECTOR_BYTES_MAX // values.itemsize
    if values.numel() % vector and not values.is_cuda and not values.requires_grad:
        last = values.reshape(-1)[-vector:]
        short = vector - len(last)
        whole = torch.cat([last.new_zeros(short), last]) if short else last
        found.view(-1)[-vector:] = function(whole)[short:]
    return found


def row_by_row(like: Tensor) -> Tensor:
    """Memory to write such a function of many numbers into (`out=`), which is quicker: rows of the first axis
    with a gap between them are taken one after the other."""
    rows = like.flatten(1)
    return rows.new_empty(len(rows), rows.shape[1] + 1)[:, :-1].view_as(like)


def inverse_counts(mask: Tensor) -> Tensor:
    """mask / n_m: the weight of each sample in its client's empirical risk."""
    return mask / mask.sum(-1, keepdim=True).clamp(min=1)
