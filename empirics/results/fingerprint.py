"""The fingerprint of a model that a user handed over: its risk and a step at the saved parameters."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.training.linear import Linear
from empirics.training.model import Descent, Memory
from empirics.training.problem import Problem

__all__ = ["fingerprint", "fingerprint_of", "probe", "same_model", "traits"]

RELATIVE_TOLERANCE = 1e-3  # for other versions, devices and precisions
PROBED_SAMPLES = 4


def probe(problem: Problem, theta: Tensor) -> tuple[Tensor, Tensor]:
    """The risk of each run at these parameters, and one step on a few samples."""
    study, samples = problem.study, min(PROBED_SAMPLES, len(problem.population.y))
    shape = (len(theta), study.clients, samples)
    index = torch.arange(samples, device=theta.device).expand(shape)
    weights = theta.new_full(shape[:2], 1 / study.clients)
    memory = Memory(index, torch.ones(shape, dtype=torch.bool, device=theta.device), weights)
    with torch.no_grad():
        risk = problem.model.measure(theta, None)["risk"]
        return risk, problem.model.update(theta, memory, Descent(1, study.eta))


def fingerprint(problem: Problem, theta: Tensor) -> NDArray[np.float64]:
    """Numbers that distinguish a user's model from another at the same parameters; none for built-in models."""
    return fingerprint_of(traits(problem, theta))


def traits(problem: Problem, theta: Tensor) -> NDArray[np.float64]:
    """The risk of each run and the length of a step, (2, runs), from which a fingerprint is made; none if built in."""
    if isinstance(problem.model, Linear) or _is_network(problem.study.model):
        return np.zeros((2, 0))  # settings and data determine it
    risk, step = probe(problem, theta)
    return torch.stack([risk.double(), step.double().norm(dim=1)]).cpu().numpy()


def fingerprint_of(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """The fingerprint with these traits: mean risk and total length of steps, over runs that did not diverge."""
    if not found.size:
        return found.ravel()
    risk, step = (torch.from_numpy(one[np.isfinite(one)]) for one in found)
    return np.array([float(risk.mean()), float(step.norm())])


def _is_network(name: str) -> bool:
    from empirics.training.networks import NETWORKS  # not loaded for logistic regression

    return name in NETWORKS


def same_model(before: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    """Tell whether two fingerprints belong to one model."""
    return before.shape == now.shape and np.allclose(
        before, now, rtol=RELATIVE_TOLERANCE, atol=0, equal_nan=True
    )
