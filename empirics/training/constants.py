r"""The constants of the theory for a study's own problem, so that the bound has no free parameter.

**Binary logistic regression on the ball** \(\|\theta\|\le r\), features of norm at most R, the largest of the
population, \(\ell=\log(1+e^{-s\,x\cdot\theta})\) with \(s=\pm1\):

* D = 2r, the diameter of the ball.
* G = R: \(\nabla\ell=-s\,x\,\varsigma(-s\,x\cdot\theta)\) and the logistic function ς stays below 1, on all of
  space, so the bound also covers local iterates that have left the ball.
* L = R²/4: the Hessian is \(\varsigma(1-\varsigma)xx^\top\), for every loss and so for their averages.
* B = log(1 + e^{rR}): the loss increases in \(-s\,x\cdot\theta\le rR\), and is positive.
* Pdim = rank of the features: the class is the increasing function log(1+e^u) of the linear functions
  \(u=-s\,x\cdot\theta\) of the vectors sx, increasing functions don't raise the pseudo-dimension, and that of a
  vector space of functions is its dimension (here on the population). The ball can only lower it.
* σ² is the largest variance of ∇ℓ under P that projected gradient ascent finds on the ball, from several
  starts: a measured supremum, so from below. From above it is at most Σ P_i‖x_i‖² ≤ R². Of more than 10,000 samples
  5,000 show the way, and the variance is then that of all: for MNIST, odd against even, a σ that is 0.3 % smaller.

**Softmax regression** (Frobenius ball): D, G = √2R, L = R²/2, B = log(1+(C-1)e^{√2rR}) by the same arguments; Pdim is
the number of parameters and labelled nominal. **Without a ball** nothing is bounded: all but G and L are nominal,
the numbers of the released code. A model that is not linear has nominal ones alone.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import torch
from torch import Tensor

from empirics.control.released import CONSTANTS as RELEASED
from empirics.training.linear import Linear
from empirics.training.problem import Problem
from empirics.training.risk import POPULATION_WALKED_MAX, SAMPLE_SIZE, alone, once, project, thinned
from theory.setting import Constants

__all__ = ["Calibration", "calibrate", "largest_variance", "smoothness"]

ASCENT_STEPS = 100
RANDOM_STARTS = 5
FIRST_STEPS, STARTS_KEPT = 20, 2  # of a large population: steps that rank the starts, and starts that go on
LAST_STEPS, LAST_STEP_MIN = 8, 0.01  # over all of a large population; least length in radii


@dataclass(frozen=True)
class Calibration:
    """Constants with their grounds: `nominal` ones are only labels, `variance_limit` bounds σ² from above.

    Of a model that is not linear nothing is known: all is nominal, and G and L are missing.
    """

    constants: Constants
    nominal: tuple[str, ...]
    variance_limit: float | None
    largest_norm: float | None

    def document(self) -> dict[str, Any]:
        return asdict(self) | {"nominal": list(self.nominal)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        own = {"constants": Constants(**document["constants"]), "nominal": tuple(document["nominal"])}
        return cls(**{**document, **own})


def calibrate(problem: Problem) -> Calibration:
    """The constants of the study's problem."""
    study, model = problem.study, problem.model
    nominal = {name: getattr(RELEASED, name) for name in ("D", "sigma", "B", "Pdim")}
    if not isinstance(model, Linear):
        return Calibration(Constants(eta=study.eta, E=study.steps, **nominal), tuple(nominal), None, None)
    used, squares = problem.population.support, model.square_norms.double()
    R = math.sqrt(float(squares[used].max()))
    factor = 1.0 if model.outputs == 1 else math.sqrt(2)
    L = smoothness(problem, model)
    steps: dict[str, Any] = {"eta": study.eta, "E": study.steps, "G": factor * R, "L": L}
    limit = float(factor**2 * (problem.population.weights.double() @ squares).max())
    if study.radius is None:
        return Calibration(Constants(**nominal, **steps), tuple(nominal), limit, R)
    binary = model.outputs == 1
    reach = factor * study.radius * R
    constants = Constants(
        D=2 * study.radius,
        sigma=math.sqrt(max(largest_variance(one, study.radius) for one in alone(model))),
        B=reach + math.log(math.exp(-reach) + max(model.outputs - 1, 1)),
        Pdim=float(_rank(problem.population.x[used].double()) if binary else model.size),
        **steps,
    )
    return Calibration(constants, () if binary else ("Pdim",), limit, R)


def smoothness(problem: Problem, model: Linear) -> float:
    """L of every sample's loss."""
    R = math.sqrt(float(model.square_norms.double()[problem.population.support].max()))
    return ((1.0 if model.outputs == 1 else math.sqrt(2)) * R / 2) ** 2


@once
def largest_variance(model: Linear, radius: float) -> float:
    """The largest gradient variance found on the ball, by ascent from 0, ±∇F_P(0) and random directions.

    Of a large population a sample shows the way, and all of it is walked at the end alone: the variance is its own.
    """
    generator = torch.Generator().manual_seed(0)
    random = torch.randn(RANDOM_STARTS, model.size, generator=generator, dtype=torch.float64)
    _, slope = model.risk_and_gradient(model.start(1))
    starts = torch.cat([model.start(1), 1e9 * slope, -1e9 * slope, 1e9 * random.to(slope)])
    theta, step = project(starts, radius), torch.full_like(starts[:, :1], radius / 4)
    if len(model.population.x) <= POPULATION_WALKED_MAX:
        return float(_ascended(model, theta, step, radius, ASCENT_STEPS)[0].max())
    sample = thinned(model)
    value, theta, step = _ascended(sample, theta, step, radius, FIRST_STEPS)
    ahead = value.topk(STARTS_KEPT).indices
    value, theta, step = _ascended(sample, theta[ahead], step[ahead], radius, ASCENT_STEPS - FIRST_STEPS)
    best = int(value.argmax())
    last = step[[best]].clamp(min=LAST_STEP_MIN * radius)
    return float(_ascended(model, theta[[best]], last, radius, LAST_STEPS)[0])


def _ascended(
    model: Linear, theta: Tensor, step: Tensor, radius: float, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The variance after `count` steps up, its place, and the last lengths of a step."""
    best, slope = model.variance_and_slope(theta)
    for _ in range(count):
        moved = project(theta + step * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-300), radius)
        value, turned = model.variance_and_slope(moved)
        better = value > best
        theta, slope = torch.where(better[:, None], moved, theta), torch.where(better[:, None], turned, slope)
        best = torch.where(better, value, best)
        step = torch.where(better[:, None], 1.3 * step, step / 2)
    return best, theta, step


def _rank(x: Tensor) -> int:
    """The rank of inputs, (samples, features), as `torch.linalg.matrix_rank` counts; of many inputs, the rank of some,
    and of the others' components orthogonal to these."""
    if len(x) <= POPULATION_WALKED_MAX:
        return int(torch.linalg.matrix_rank(x))
    some = torch.linalg.qr(x[:: len(x) // SAMPLE_SIZE], mode="r").R
    values, axes = torch.linalg.svd(some)[1:]
    least = float(values[0]) * math.sqrt(len(x) / SAMPLE_SIZE) * len(x) * torch.finfo(x.dtype).eps
    known = int((values > least).sum())
    beyond = torch.linalg.svdvals(x @ axes[known:].T)
    return known + int((beyond > least).sum())
