r"""The population risk's minimiser over the ball, with a certificate.

F_P is convex. Its minimiser over \(\|\theta\|\le r\) is the minimiser \(\theta(\mu)\) of
\(F_P+\tfrac\mu2\|\theta\|^2\) for some \(\mu\ge0\), and \(\|\theta(\mu)\|\) decreases in μ, from at most r at
\(\mu=\|\nabla F_P(0)\|/r\) (by strong convexity). So μ is a root in one variable, and θ(μ) is found by Newton's method
with conjugate gradients. Of a large population that is done for a sample of it alone: the sample's minimiser is near
that of all, and where both lie on the ball a few steps along the sphere lead there.

The certificate needs none of that: for every θ in the ball, by convexity alone,
\(F_P(\theta)-\min F_P\le\langle\nabla F_P(\theta),\theta\rangle+r\|\nabla F_P(\theta)\|\).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from hashlib import sha256
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq
from torch import Tensor

from empirics.training.linear import Linear
from theory.setting import SettingError

__all__ = ["Least", "Minimiser", "alone", "duality_gap", "least_along", "least_of_each", "least_risk"]
__all__ += ["minimise", "minimise_near", "once", "project", "thinned"]

GAP_MAX, SAMPLE_GAP_MAX = 1e-10, 1e-4  # of a minimum, and of that of a sample which shows the way
NEWTON_STEPS_MAX = 100
RESIDUAL_MAX = 1e-14
HESSIAN_PARAMETERS_MAX = 200  # whose Hessian is made: with more, conjugate gradients are faster
MIXING_NODES, MIXING_NODES_FEW = 65, 33  # mixing weights with a least risk, with few parameters and with more
POPULATION_WALKED_MAX = 10_000  # samples that are walked in every step
SAMPLE_SIZE = 5_000  # of more samples, how many show the way
SPHERE_STEPS_MAX, SPHERE_STEP_SHARE = 20, 0.01  # steps from there, and what each leaves of the gradient
MULTIPLIER_DECADES_MAX = 20  # by which μ is lowered
CACHED_RESULTS, CACHED_NUMBERS_MAX = 32, 10**6  # of populations of at most this many numbers

T = TypeVar("T")


@dataclass(frozen=True)
class Minimiser:
    """θ* in float64, F_P(θ*), and a proved bound on how far that lies above the least value on the ball."""

    theta: Tensor
    risk: float
    gap: float


@dataclass(frozen=True)
class Least:
    """The least population risk on the ball, one per replicate or one for all, and how far above it they may lie."""

    values: tuple[float, ...]
    gap: float
    # of a population that moves: at even steps of the mixing weight, with its slope there, or in every round
    course: tuple[tuple[float, ...], ...] = ()
    slopes: tuple[tuple[float, ...], ...] = ()

    def reaches(self, t: int) -> bool:
        """The least risk is known in round t."""
        return not self.course or bool(self.slopes) or t <= len(self.course[0])

    def of_runs(self, runs: int, weight: NDArray[np.float64], first: int = 1) -> NDArray[np.float64]:
        """For each run; run r is replicate r mod replicates; in rounds from the first on, of these mixing weights,
        (rounds, runs)."""
        if not self.course:
            return np.tile(np.array(self.values), runs // len(self.values))
        if not self.slopes:
            there = np.array(self.course)[:, first - 1 : first - 1 + len(weight)]
            return np.tile(there.T, runs // len(self.values))
        nodes = np.linspace(0, 1, len(self.course[0]))
        each = [CubicHermiteSpline(nodes, *one)(weight) for one in zip(self.course, self.slopes, strict=True)]
        return np.tile(np.stack(each, axis=-1), runs // len(self.values))

    @classmethod
    def from_document(cls, document: Mapping[str, Any] | None) -> Self | None:
        """The inverse of `dataclasses.asdict`."""
        if document is None:
            return None
        course = {name: tuple(map(tuple, document.get(name, ()))) for name in ("course", "slopes")}
        return cls(tuple(document["values"]), document["gap"], **course)


def alone(model: Linear) -> Iterator[Linear]:
    """The model with the population of each replicate that has one of its own."""
    for row in model.population.weights:
        yield Linear(replace(model.population, weights=row[None]))


def once(function: Callable[..., T]) -> Callable[..., T]:
    """What a model's population decides, with the other arguments, is computed once in a process: a study asks for it
    when it measures and when it predicts, and studies of the same data follow each other."""
    known: dict[Any, T] = {}

    @wraps(function)
    def found(model: Linear, *given: float) -> T:
        population = model.population
        if population.x.numel() > CACHED_NUMBERS_MAX:
            return function(model, *given)
        parts = [population.x, population.y, population.weights]
        parts += [] if model.first is None else [model.first]
        data = [(p.dtype, p.shape, sha256(p.cpu().numpy().tobytes()).digest()) for p in parts]
        key = (*data, population.classes, population.x.device, given)
        if key not in known:
            if len(known) == CACHED_RESULTS:
                del known[next(iter(known))]
            known[key] = function(model, *given)
        return known[key]

    return found


def least_risk(model: Linear, radius: float) -> Least:
    """The least risk of every replicate's population."""
    found = [minimise(one, radius) for one in alone(model)]
    return Least(tuple(one.risk for one in found), max(one.gap for one in found))


def least_along(model: Linear, parts: Sequence[Tensor], radius: float, nodes: int | None = None) -> Least:
    r"""The least risk of mixtures of two parts, (1 or replicates, population) each, at even steps of the weight w.

    The least risk is concave in w, and its slope is what the minimiser has more of the second part's risk than of the
    first's. Both are computed at the steps, and in between a cubic with these values and slopes is taken.
    """
    nodes = nodes or (MIXING_NODES if model.size <= HESSIAN_PARAMETERS_MAX else MIXING_NODES_FEW)
    course, slopes, gaps = [], [], []
    for first, second in zip(*parts, strict=True):
        found, slope, thetas = [], [], list[Tensor]()
        turning = Linear(replace(model.population, weights=(second - first)[None]).double())
        for w in np.linspace(0, 1, nodes).tolist():
            mixed = Linear(replace(model.population, weights=((1 - w) * first + w * second)[None]))
            near = 2 * thetas[-1] - thetas[-2] if thetas[1:] else thetas[-1] if thetas else None
            best = minimise_near(mixed, radius, None if near is None else project(near, radius))
            thetas.append(best.theta)
            found.append(best.risk)
            slope.append(float(turning.risk_and_gradient(best.theta)[0]))
            gaps.append(best.gap)
        course.append(tuple(found))
        slopes.append(tuple(slope))
    middle = tuple(one[nodes // 2] for one in course)
    return Least(middle, max(gaps), tuple(course), tuple(slopes))


def least_of_each(
    model: Linear, mixtures: Sequence[Iterable[Tensor]], radius: float, rounds: Sequence[int]
) -> Least:
    """The least risk of some populations, (population,) each, and of the rounds that have them, for every replicate."""
    course, gaps = [], []
    for populations in mixtures:
        found, near = [], None
        for weights in populations:
            mixed = Linear(replace(model.population, weights=weights[None]))
            best = minimise_near(mixed, radius, near)
            near = best.theta
            found.append(best.risk)
            gaps.append(best.gap)
        course.append(tuple(found[k] for k in rounds))
    return Least(tuple(one[len(one) // 2] for one in course), max(gaps), tuple(course))


def project(theta: Tensor, radius: float | None) -> Tensor:
    """The nearest point of the ball, row by row; without a radius all is within."""
    if radius is None:
        return theta
    norm: Tensor = theta.norm(dim=-1, keepdim=True)
    return theta * (radius / norm.clamp(min=radius))


def duality_gap(theta: Tensor, gradient: Tensor, radius: float) -> float:
    """⟨g, θ⟩ + r‖g‖: how far the linearisation at θ falls within the ball. Not negative, except for rounding."""
    return max(float((gradient * theta).sum() + radius * gradient.norm()), 0.0)


@once
def minimise(model: Linear, radius: float, gap: float = GAP_MAX) -> Minimiser:
    """The minimiser of F_P over the ball, to within `gap`; a radius for which that cannot be certified is refused."""
    exact = Linear(model.population.double())
    if len(exact.population.x) > POPULATION_WALKED_MAX:
        nearby = _from_sample(exact, radius, gap)
        if nearby is not None:
            return nearby
    theta = exact.start(1)
    largest = float(exact.risk_and_gradient(theta)[1].norm()) / radius
    if largest == 0:
        return _certified(exact, theta, radius)

    def excess_norm(log_mu: float) -> float:
        nonlocal theta
        theta = _damped_minimiser(exact, theta, math.exp(log_mu), rough * RESIDUAL_MAX)
        return float(theta.norm()) / radius - 1

    rough, high = gap / GAP_MAX, math.log(largest)
    low = high
    while excess_norm(low) < 0:
        found = _certified(exact, project(theta, radius), radius)
        if found.gap <= gap:
            return found  # inside the ball: μ = 0 up to rounding
        if low < high - MULTIPLIER_DECADES_MAX * math.log(10):
            raise _uncertain(found.gap, gap, radius)
        low -= math.log(10)
    if low < high:
        root = brentq(excess_norm, low, low + math.log(10), xtol=1e-14 * rough, rtol=1e-14)
        excess_norm(root)
    found = _certified(exact, project(theta, radius), radius)
    if found.gap > gap:
        raise _uncertain(found.gap, gap, radius)
    return found


def thinned(model: Linear) -> Linear:
    """The model on about `SAMPLE_SIZE` evenly spaced samples of a large population."""
    was = model.population
    some = slice(None, None, len(was.x) // SAMPLE_SIZE)
    weights = was.weights[:, some]
    return Linear(replace(was, x=was.x[some], y=was.y[some], weights=weights / weights.sum(1, keepdim=True)))


def _from_sample(model: Linear, radius: float, gap: float) -> Minimiser | None:
    """The minimiser, from that of a sample, if both lie on the sphere: Newton's method along it. None elsewhere, and
    where a step does not halve what may be left."""
    sample, left = thinned(model), math.inf
    if not bool(sample.population.weights.isfinite().all()):
        return None  # the sample has no weight
    try:
        theta = minimise(sample, radius, SAMPLE_GAP_MAX).theta
    except SettingError:
        return None
    for _ in range(SPHERE_STEPS_MAX):
        value, gradient = model.risk_and_gradient(theta)
        found = Minimiser(theta, float(value), duality_gap(theta, gradient, radius))
        if found.gap <= gap:
            return found
        mu = -float((gradient * theta).sum()) / radius**2
        if mu <= 0 or found.gap > left / 2 or float(theta.norm()) < radius * (1 - 1e-9):
            return None
        off = gradient + mu * theta  # along the sphere: what is left of the gradient
        enough = SPHERE_STEP_SHARE * float(off.norm())
        step = _solve(model, theta, mu, off, tolerance=enough, across=theta / radius)
        theta, left = (theta - step) * (radius / (theta - step).norm()), found.gap
    return None


def minimise_near(model: Linear, radius: float, near: Tensor | None = None) -> Minimiser:
    """The minimiser from parameters near by, or from 0: for one problem after the other.

    Newton's method, with the ball in every step: the quadratic's minimiser on it is known in the Hessian's eigenbasis.
    What has too many parameters for a Hessian, or is not certified so, is left to `minimise`.
    """
    exact = Linear(model.population.double())
    theta = exact.start(1) if near is None else near
    found = _certified(exact, theta, radius)
    for _ in range(NEWTON_STEPS_MAX if model.size <= HESSIAN_PARAMETERS_MAX else 0):
        if found.gap <= GAP_MAX / 10:
            return found
        step = _on_ball(exact, theta, radius) - theta
        length, better = 1.0, None
        while length > 1e-6 and better is None:
            tried = _certified(exact, theta + length * step, radius)
            better = tried if tried.risk < found.risk or tried.gap < found.gap / 2 else None
            length /= 2
        if better is None:
            break
        found, theta = better, better.theta
    return minimise(model, radius)


def _on_ball(model: Linear, theta: Tensor, radius: float) -> Tensor:
    """The minimiser on the ball of the quadratic expansion of F_P at theta."""
    values, axes = torch.linalg.eigh(model.hessian(theta))
    values = values.clamp(min=RESIDUAL_MAX * float(values[-1]))
    target = (values * (theta @ axes) - model.risk_and_gradient(theta)[1] @ axes)[0]

    def beyond(mu: float) -> float:
        return float((target / (values + mu)).norm()) / radius - 1

    high = float(target.norm()) / radius  # there values + μ is at least that, and the norm at most the radius
    mu = 0.0 if beyond(0.0) <= 0 else brentq(beyond, 0.0, high, xtol=1e-16, rtol=1e-14)
    return project((target / (values + mu)) @ axes.T, radius)[None]


def _uncertain(found: float, wanted: float, radius: float) -> SettingError:
    return SettingError(
        f"the least risk on a ball of radius {radius:g} is certified to {found:.1e} only, not to {wanted:.0e}: take a "
        "smaller radius, or leave risk out of the measures"
    )


def _certified(model: Linear, theta: Tensor, radius: float) -> Minimiser:
    value, gradient = model.risk_and_gradient(theta)
    return Minimiser(theta, float(value), duality_gap(theta, gradient, radius))


def _damped_minimiser(model: Linear, theta: Tensor, mu: float, enough: float) -> Tensor:
    """A point where F_P + μ/2‖θ‖² has a gradient this small, by Newton's method with backtracking."""
    value, gradient = _damped(model, theta, mu)
    for _ in range(NEWTON_STEPS_MAX):
        size = float(gradient.norm())
        if size <= enough:
            break
        step = _solve(model, theta, mu, gradient, tolerance=min(0.1, math.sqrt(size)) * size)
        slope, length = float((gradient * step).sum()), 1.0
        # near the end the decrease is below rounding, and a full Newton step is right
        while length > 1e-10:
            moved, turned = _damped(model, theta - length * step, mu)
            if moved <= value - 1e-4 * length * slope or float(turned.norm()) < 0.5 * size:
                break
            length /= 2
        else:
            break
        theta, value, gradient = theta - length * step, moved, turned
    return theta


def _damped(model: Linear, theta: Tensor, mu: float) -> tuple[float, Tensor]:
    value, gradient = model.risk_and_gradient(theta)
    return float(value) + mu / 2 * float(theta.square().sum()), gradient + mu * theta


def _solve(
    model: Linear, theta: Tensor, mu: float, gradient: Tensor, tolerance: float, across: Tensor | None = None
) -> Tensor:
    """(∇²F_P + μ)⁻¹ gradient by conjugate gradients; across a unit vector, to which the gradient is orthogonal, in
    the plane alone."""
    apply = model.curvature(theta)
    solution = torch.zeros_like(gradient)
    residual = direction = gradient
    square = float(residual.square().sum())
    for _ in range(2 * gradient.numel()):
        turned = apply(direction) + mu * direction
        if across is not None:
            turned = turned - (turned * across).sum() * across
        length = square / float((direction * turned).sum())
        solution, residual = solution + length * direction, residual - length * turned
        fresh = float(residual.square().sum())
        if fresh <= tolerance**2:
            break
        residual, direction, square = residual, residual + (fresh / square) * direction, fresh
    return solution
