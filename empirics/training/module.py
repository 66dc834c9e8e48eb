"""Any `torch.nn.Module` as a model: torch differentiates, every client of every run has parameters of its own."""

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from empirics.training.model import Descent, Memory, Population, inverse_counts, per_run
from empirics.users_code import users_code
from theory.setting import SettingError

__all__ = ["Module", "answers"]

GRADIENTS_AT_ONCE = 256  # whose gradients are held at a time


def answers(scores: Tensor) -> Tensor:
    """The class of the highest score; none, -1, where a score is no number, of which `argmax` would make a class."""
    return torch.where(scores.isnan().any(-1), -1, scores.argmax(-1))


class Module:
    """A module that maps a batch of inputs to class scores (one score per class, softmax cross-entropy).

    Given one module, every run starts from its parameters; given one per replicate, run r starts from those of module
    r mod replicates. Parameters that need no gradient stay as they are. Buffers, such as running means, are not
    averaged by a federation: modules with any are refused.
    """

    def __init__(self, module: torch.nn.Module | Sequence[torch.nn.Module], population: Population) -> None:
        modules = [module] if isinstance(module, torch.nn.Module) else list(module)
        self.module = copy.deepcopy(modules[0]).to(population.x.device, population.x.dtype)
        self.population = population
        kind = type(self.module).__name__
        if any(True for _ in self.module.buffers()):
            raise SettingError(
                f"model {kind} has buffers, such as the running means of BatchNorm, which a federation does not "
                "average: use GroupNorm or LayerNorm"
            )
        self.shapes = {name: p.shape for name, p in self.module.named_parameters() if p.requires_grad}
        self.size = sum(shape.numel() for shape in self.shapes.values())
        if not self.size:
            raise SettingError(f"model {kind} has no parameters to train")
        flat = [
            torch.cat([p.detach().reshape(-1) for name, p in one.named_parameters() if name in self.shapes])
            for one in modules
        ]
        self.first = torch.stack(flat).to(population.x)
        fixed = [[p for p in one.parameters() if not p.requires_grad] for one in modules]
        if not all(torch.equal(p, q) for one in fixed for p, q in zip(one, fixed[0], strict=True)):
            raise SettingError(
                f"parameters of model {kind} that need no gradient differ from seed to seed: make them the same in all"
            )
        self._try_out(kind)

    def _try_out(self, kind: str) -> None:
        """Two inputs through the module, so that what does not fit is known before anything is trained."""
        x = self.population.x[:2]
        with users_code(f"model {kind} does not take inputs of shape {tuple(x.shape)}"), torch.no_grad():
            scores = self._scores(self.first[0], x)
        wanted = (len(x), self.population.classes)
        if not isinstance(scores, Tensor) or tuple(scores.shape) != wanted:
            got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
            raise SettingError(
                f"model {kind} must give one score per class, shape {wanted} for two inputs, got {got}"
            )

    def start(self, runs: int) -> Tensor:
        return self.first.repeat(runs // len(self.first), 1)

    def _scores(self, theta: Tensor, x: Tensor) -> Any:
        pieces = torch.split(theta, [shape.numel() for shape in self.shapes.values()])
        named = {
            name: piece.view(shape) for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)
        }
        return functional_call(self.module, named, (x,))

    def _loss(self, theta: Tensor, x: Tensor, y: Tensor, share: Tensor) -> Tensor:
        return share @ F.cross_entropy(self._scores(theta, x), y, reduction="none")

    @per_run
    def update(self, theta: Tensor, memory: Memory, descent: Descent) -> Tensor:
        x, y = self.population.x[memory.index], self.population.y[memory.index]
        share = inverse_counts(memory.mask.to(theta.dtype))
        gradient = vmap(vmap(grad(self._loss)))
        local = theta[:, None].expand(-1, memory.index.shape[1], -1)
        velocity = torch.zeros_like(local)
        for step in range(descent.steps):
            velocity = descent.velocity(step, velocity, gradient(local, x, y, share))
            local = local - descent.scaled(velocity)
        return torch.einsum("rm,rmp->rp", memory.weights, local - theta[:, None])

    def mean_loss(self, theta: Tensor, memory: Memory) -> Tensor:
        """Over all samples that clients hold, (runs,); NaN without any."""
        index, mask = memory.index.flatten(1), memory.mask.flatten(1)
        each = [
            self._loss(one, self.population.x[i], self.population.y[i], p)
            for one, i, p in zip(theta, index, mask.to(theta.dtype), strict=True)
        ]
        return torch.stack(each) / mask.sum(1)

    def measure(self, theta: Tensor, tilt: Tensor | None) -> dict[str, Tensor]:
        x, y, p = self.population.x, self.population.y, self.population.of_runs(len(theta)).T
        p = p.expand(len(theta), -1)
        found = {"risk": torch.stack([self._loss(one, x, y, q) for one, q in zip(theta, p, strict=True)])}
        if tilt is not None:
            tilted = [grad(self._loss)(one, x, y, weights) for one, weights in zip(theta, tilt, strict=True)]
            found["mismatch"] = torch.stack(tilted).square().sum(1)
            found["variance"] = torch.stack([self._variance(one, q) for one, q in zip(theta, p, strict=True)])
        return found

    def _variance(self, theta: Tensor, p: Tensor) -> Tensor:
        """E‖∇ℓ - ∇F_P‖² under P at one θ, from the gradients of all samples, some at a time."""
        x, y = self.population.x, self.population.y
        one = p.new_ones(1)
        each = vmap(lambda a, b: grad(self._loss)(theta, a[None], b[None], one))
        second, mean = p.new_zeros(()), torch.zeros_like(theta)
        for part in torch.split(torch.arange(len(y), device=y.device), GRADIENTS_AT_ONCE):
            gradients = each(x[part], y[part])
            second = second + p[part] @ gradients.square().sum(1)
            mean = mean + p[part] @ gradients
        return second - mean.square().sum()

    def log_loss(self, theta: Tensor) -> Tensor:
        test_x, test_y = self.population.test_x, self.population.test_y
        losses = [F.cross_entropy(self._scores(one, test_x), test_y, reduction="none") for one in theta]
        return self.population.tested(torch.stack(losses, 1))

    def accuracy(self, theta: Tensor) -> Tensor:
        test_x, test_y = self.population.test_x, self.population.test_y
        hits = [(answers(self._scores(one, test_x)) == test_y).to(theta.dtype) for one in theta]
        return self.population.tested(torch.stack(hits, 1))
