"""Binary or multinomial logistic regression in closed form: the loss that theory knows best, and the fastest."""

from collections.abc import Callable
from itertools import product

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from empirics.draws import Purpose, uniform
from empirics.settings.study import Study
from empirics.training.model import Descent, Memory, Population, each, inverse_counts, per_run, row_by_row

__all__ = ["Linear", "first_parameters"]

PASSING_RATIO_MIN = 4  # times as many samples are there as are looked at


class Linear:
    """Logistic regression on the population's inputs as they are (a bias is a constant input), started at 0, or from
    given parameters, one row per replicate.

    Parameters are one row of weights per output: for two classes a single one, with ℓ = log(1 + e^(-s x·θ)), s = ±1;
    for more, one per class, with softmax cross-entropy.
    """

    def __init__(self, population: Population, first: Tensor | None = None) -> None:
        self.population, self.first = population, first
        self.outputs = 1 if population.classes == 2 else population.classes
        self.features = population.x.shape[-1]
        self.size = self.features * self.outputs
        one_hot = population.y[:, None] if self.outputs == 1 else F.one_hot(population.y, self.outputs)
        self.targets = one_hot.to(population.x.dtype)
        self.square_norms = (population.x * population.x).sum(-1)

    def start(self, runs: int) -> Tensor:
        if self.first is None:
            return self.population.x.new_zeros(runs, self.size)
        return self.first.to(self.population.x).repeat(runs // len(self.first), 1)

    def chances(self, logits: Tensor) -> Tensor:
        return each(torch.sigmoid, logits) if self.outputs == 1 else logits.softmax(-1)

    def residual(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The derivative of the loss in the logits."""
        return self.chances(logits) - targets

    def _local(self, y: Tensor) -> Callable[[Tensor], Tensor]:
        """The update of memories with these targets, (runs, clients, width, outputs)."""
        if self.outputs > 1 or y.is_cuda:
            return lambda logits: self.residual(logits, y)
        found = row_by_row(y)
        return lambda logits: torch.sigmoid(logits, out=found) - y

    def _bend(self, chances: Tensor, direction: Tensor) -> Tensor:
        """The second derivative of the loss in the logits, applied to a direction."""
        inner = chances * direction
        return inner - chances * inner.sum(-1, keepdim=True)

    @per_run
    def update(self, theta: Tensor, memory: Memory, descent: Descent) -> Tensor:
        x, y = self.population.x[memory.index], self.targets[memory.index]
        share = inverse_counts(memory.mask.to(theta.dtype))[..., None]
        rows = theta.view(-1, 1, self.outputs, self.features)
        train = self._in_sample_space if x.shape[2] < self.features else self._in_parameter_space
        moves = memory.weights[..., None, None] * train(x, y, share, rows, descent)
        moved = moves.flatten(1, 2).mT @ x.flatten(1, 2)  # all clients of a run in one product
        return -descent.scaled(moved.reshape(theta.shape))

    def _in_sample_space(self, x: Tensor, y: Tensor, share: Tensor, rows: Tensor, descent: Descent) -> Tensor:
        """Every step moves θ in the span of the memory, so E steps need the inputs twice and else their Gram matrix.

        Returns the coefficients of the samples in -Δ/η.
        """
        # the copy pays: batched products with a transposed operand are several times slower on some processors
        gram = x @ x.mT.contiguous()
        logits = (x.flatten(1, 2) @ rows[:, 0].mT).view_as(y)
        moves = velocity = torch.zeros_like(logits)
        residual = self._local(y)
        for step in range(descent.steps):
            velocity = descent.velocity(step, velocity, share * residual(logits))
            moves = moves + velocity
            logits = logits - descent.scaled(gram @ velocity)
        return moves

    def _in_parameter_space(
        self, x: Tensor, y: Tensor, share: Tensor, rows: Tensor, descent: Descent
    ) -> Tensor:
        """The update for memories of more samples than there are features."""
        moves = velocity = x.new_zeros(*x.shape[:3], self.outputs)
        residual = self._local(y)
        for step in range(descent.steps):
            velocity = descent.velocity(step, velocity, share * residual(x @ rows.mT))
            moves = moves + velocity
            rows = rows - descent.scaled(velocity.mT @ x)
        return moves

    def mean_loss(self, theta: Tensor, memory: Memory) -> Tensor:
        """Over all samples that clients hold, (runs,); NaN without any."""
        x, y = (values[memory.index].flatten(1, 2) for values in (self.population.x, self.population.y))
        logits = x @ theta.view(-1, self.outputs, self.features).mT
        each = self.losses(logits.flatten(0, 1)[:, None], y.flatten()).view_as(y)
        mask = memory.mask.flatten(1)
        return each.masked_fill(~mask, 0).sum(1) / mask.sum(1)

    # --- measurements over the population ------------------------------------------------------------------

    def logits(self, theta: Tensor, x: Tensor) -> Tensor:
        """(samples, runs, outputs), one matrix product."""
        return (x @ theta.reshape(-1, self.features).T).view(len(x), -1, self.outputs)

    def losses(self, logits: Tensor, y: Tensor) -> Tensor:
        """ℓ of each sample and run, (samples, runs)."""
        if self.outputs == 1:
            return each(F.softplus, (1 - 2 * y.to(logits.dtype))[:, None] * logits[..., 0])
        own = logits.gather(-1, y[:, None, None].expand(-1, logits.shape[1], 1))[..., 0]
        return logits.logsumexp(-1) - own

    def _p(self, theta: Tensor) -> Tensor:
        return self.population.of_runs(len(theta))[..., None]

    def weighted_inputs(self, scaled: Tensor) -> Tensor:
        """Σ_i x_i scaled_i: (samples, runs, outputs) to (runs, parameters)."""
        return (scaled.flatten(1).T @ self.population.x).view(-1, self.size)

    def risk_and_gradient(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """F_P and its gradient."""
        p, logits = self._p(theta), self.logits(theta, self.population.x)
        residual = self.residual(logits, self.targets[:, None])
        risk = self.population.expected(self.losses(logits, self.population.y))
        return risk, self.weighted_inputs(p * residual)

    def curvature(self, theta: Tensor) -> Callable[[Tensor], Tensor]:
        """The Hessian of F_P at theta, as a map on (runs, parameters)."""
        p, x = self._p(theta), self.population.x
        q = self.chances(self.logits(theta, x))
        return lambda direction: self.weighted_inputs(p * self._bend(q, self.logits(direction, x)))

    def hessian(self, theta: Tensor) -> Tensor:
        """∇²F_P at one theta."""
        q = self.chances(self.logits(theta, self.population.x))
        return self.hessians(self.population.weights[:1].T, q)[0]

    def hessians(self, p: Tensor, q: Tensor) -> Tensor:
        """∇²Σ pℓ of every run, from p, (samples, runs), and chances, (samples, runs, outputs): a block for each pair of
        outputs."""
        x, D = self.population.x, self.features
        full = x.new_empty(q.shape[1], self.size, self.size)
        for run, i in product(range(q.shape[1]), range(self.outputs)):
            for j in range(i + 1):
                bend = q[:, run, i] * (int(i == j) - q[:, run, j])
                block = x.T @ ((p[:, run] * bend)[:, None] * x)
                full[run, i * D : (i + 1) * D, j * D : (j + 1) * D] = block
                full[run, j * D : (j + 1) * D, i * D : (i + 1) * D] = block.T
        return full

    def measure(self, theta: Tensor, tilt: Tensor | None) -> dict[str, Tensor]:
        if len(theta) == 1:  # a product with one column is summed in another order than with several
            found = self.measure(theta.repeat(2, 1), None if tilt is None else tilt.repeat(2, 1))
            return {name: values[:1] for name, values in found.items()}
        few = passing(self.population.weights) if tilt is None and not self.population.own else None
        if few is not None:
            losses = self.losses(self.logits(theta, self.population.x[few]), self.population.y[few])
            return {"risk": self.population.weights[0, few] @ losses}
        logits = self.logits(theta, self.population.x)
        found = {"risk": self.population.expected(self.losses(logits, self.population.y))}
        if tilt is not None:
            residual = self.residual(logits, self.targets[:, None])
            found["mismatch"] = self.weighted_inputs(tilt.T[..., None] * residual).square().sum(1)
            gradient = self.weighted_inputs(self._p(theta) * residual)
            second = self.population.expected(self.square_norms[:, None] * residual.square().sum(-1))
            found["variance"] = second - gradient.square().sum(1)
        return found

    def variance_and_slope(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """v = E‖∇ℓ - ∇F_P‖² under P, (runs,), and its gradient in θ.

        With ∇ℓ = x ⊗ r: v = E‖x‖²‖r‖² - ‖∇F_P‖², so ∇v/2 = E[‖x‖² x ⊗ r'r] - ∇²F_P ∇F_P.
        """
        p, q = self._p(theta), self.chances(self.logits(theta, self.population.x))
        residual, weight = q - self.targets[:, None], p * self.square_norms[:, None, None]
        gradient = self.weighted_inputs(p * residual)
        value = (weight * residual.square()).sum((0, 2)) - gradient.square().sum(1)
        turned = self.weighted_inputs(p * self._bend(q, self.logits(gradient, self.population.x)))
        return value, 2 * (self.weighted_inputs(weight * self._bend(q, residual)) - turned)

    def log_loss(self, theta: Tensor) -> Tensor:
        if len(theta) == 1:  # as in measure
            return self.log_loss(theta.repeat(2, 1))[:1]
        logits = self.logits(theta, self.population.test_x)
        return self.population.tested(self.losses(logits, self.population.test_y))

    def accuracy(self, theta: Tensor) -> Tensor:
        if len(theta) == 1:  # as in measure
            return self.accuracy(theta.repeat(2, 1))[:1]
        tested, x, y = self.population.test_weights, self.population.test_x, self.population.test_y
        few = None if tested is None or self.population.own else passing(tested)
        if few is not None:
            x, y = x[few], y[few]
        logits = self.logits(theta, x)
        guess = (logits[..., 0] > 0).long() if self.outputs == 1 else logits.argmax(-1)
        hits = (guess == y[:, None]).to(theta.dtype)
        return self.population.tested(hits) if few is None or tested is None else tested[0, few] @ hits


def passing(weights: Tensor) -> Tensor | None:
    """The samples that count, where they are few, as of a stream that goes by: the others need not be looked at. None
    where most do, where replicates differ, and on a GPU, whose graphs have one shape for all rounds."""
    if len(weights) > 1 or weights.device.type != "cpu":
        return None
    (only,) = weights
    there = only.nonzero()[:, 0]
    return there if PASSING_RATIO_MIN * len(there) < weights.shape[1] else None


def first_parameters(study: Study, population: Population, first: int) -> torch.Tensor | None:
    """θ(1) of the linear model: 0, or each replicate's own direction, as long as 1 or the ball's radius."""
    if "start" not in study.per_seed:
        return None
    size = population.x.shape[1] * (1 if population.classes == 2 else population.classes)
    replicates = np.arange(first, first + study.seeds)[:, np.newaxis]
    address = {"replicate": replicates, "slot": np.arange(size)}
    drawn = 2 * uniform(study.seed, Purpose.start, **address) - 1
    length = min(1.0, study.radius or 1.0)
    return torch.from_numpy(length * drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
