"""The learning problem of a study: its data set as tensors on a device, the clients' pools, and the model.

A model of the user's own is a `torch.nn.Module`, or a function that takes the `Population` and returns a module or
anything with the `Model` protocol; it enters by the same door as the built-in one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.data import Dataset, data_of
from empirics.data.dataset import Arrivals
from empirics.settings.study import Study
from empirics.training.device import choose_device
from empirics.training.informed import refuse_wide
from empirics.training.linear import Linear, first_parameters
from empirics.training.model import Model, Population
from empirics.training.partition import Streams, make_pools
from empirics.training.risk import HESSIAN_PARAMETERS_MAX, Least, least_along, least_of_each, least_risk
from empirics.training.scaling import AS_THEY_ARE, Scaling, scaled_inputs, scaling_of
from empirics.training.world import both_parts, in_order, parted, second_part
from theory.setting import SettingError

__all__ = ["Problem", "from_dataset", "make_model", "make_problem"]

POPULATIONS_MAX, ROUNDS_MAX = 2000, 10**5  # of clients that drift apart, to know the least risk of each round


@dataclass(frozen=True)
class Problem:
    """A study's learning problem: who may draw what, and the model over the population."""

    study: Study
    streams: Streams
    model: Model
    population: Population
    digest: str
    time: NDArray[np.float64] | None = None  # of each sample, where it is known
    arrivals: Arrivals | None = None  # of all samples, likewise
    scaling: Scaling = AS_THEY_ARE  # of the inputs, before anything else

    @cached_property
    def least(self) -> Least | None:
        """The least risk on the ball, if there is one and the model is linear; None where no P(t) has one."""
        study, model, streams = self.study, self.model, self.streams
        if study.radius is None or not isinstance(model, Linear):
            return None
        if study.drift.kind == "none":
            return least_risk(model, study.radius)
        if not study.drift.mixes:
            return None
        if not streams.moves_as_one(study):
            return self._least_apart(model, study.radius)
        parts = [torch.from_numpy(streams.of_part(k)).to(model.population.x.device) for k in range(2)]
        ends = study.drift.kind == "abrupt" and study.drift.apart == 0  # P is one part or the other
        return least_along(model, parts, study.radius, *([2] if ends else []))

    def _least_apart(self, model: Linear, radius: float) -> Least | None:
        """The least risk of clients that differ and drift apart, if there are few different populations."""
        study, streams = self.study, self.streams
        w = study.drift.weights(1, study.rounds + 1, study.clients)
        distinct, rounds = np.unique(w, axis=0, return_inverse=True)
        if model.size > HESSIAN_PARAMETERS_MAX or len(distinct) > POPULATIONS_MAX or len(w) > ROUNDS_MAX:
            return None
        # (clients, parts, replicates, population)
        both = np.stack([streams.of_client(m) for m in range(study.clients)])
        shares = np.stack([1 - distinct, distinct], axis=2)

        def of_replicate(r: int) -> Iterator[torch.Tensor]:
            for share in shares:
                yield torch.from_numpy(np.tensordot(share, both[:, :, r], 2)).to(model.population.x.device)

        mixtures = [of_replicate(r) for r in range(both.shape[2])]
        return least_of_each(model, mixtures, radius, rounds.ravel().tolist())


def make_problem(
    study: Study, device: str = "cpu", data_dir: Path | None = None, *, dataset: Any = None, model: Any = None
) -> Problem:
    """The problem of a study, on its own data set and model or on those given; digits need no `data_dir`."""
    place = choose_device(device)
    return from_dataset(study, data_of(study, data_dir, dataset), place, model)


def from_dataset(
    study: Study, data: Dataset, device: torch.device, model: Any = None, first: int = 0
) -> Problem:
    """The problem on a data set already loaded; of a part of a study, `first` is the number of its first replicate."""
    streams, data, later = _placed(study, data, first)
    linear = _is_linear(study, model)
    scaling = scaling_of(data.train_x, study)
    inputs = (data.train_x, data.test_x)
    train_x, test_x = (scaled_inputs(part, scaling, study, flat=linear) for part in inputs)
    binary = study.labels == "parity"
    train_y, test_y = (labels % 2 if binary else labels for labels in (data.train_y, data.test_y))

    def tensor(values: NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device, dtype)

    real = getattr(torch, study.dtype)
    moving: dict[str, torch.Tensor] = {}
    if later is not None:
        rows = 1 if study.drift.mixes else len(streams.pools)
        moving["test_weights"] = torch.zeros((rows, len(test_y)), dtype=real, device=device)
        moving["test_later"] = tensor(later, torch.bool)
    population = Population(
        x=tensor(train_x, real),
        y=tensor(train_y, torch.int64),
        weights=tensor(streams.weights, real),
        test_x=tensor(test_x, real),
        test_y=tensor(test_y, torch.int64),
        classes=2 if binary else data.classes,
        own="partition" in study.per_seed,
        **moving,
    )
    time, came = (None, None) if study.drift.mixes else (data.time, data.arrivals)
    if study.learner == "information":
        refuse_wide(population.x.shape[-1])
    made = make_model(study, population, model, first)
    return Problem(study, streams, made, population, data.digest, time, came, scaling)


def _placed(study: Study, data: Dataset, first: int) -> tuple[Streams, Dataset, NDArray[np.bool_] | None]:
    """The pools of clients, the data with both parts of a drifting population, and the test samples of the second part
    where the population moves; a stream is its own test set."""
    data = data.as_stream() if study.drift.kind == "order" else data
    streams = make_pools(data.train_y, study, data.client, first)
    if study.drift.kind == "none":
        return streams, data, None
    if study.drift.kind == "order":
        return in_order(streams, data, study), data, second_part(study, data)
    both = both_parts(data, study.drift.parts)
    streams, later = parted(streams, both, study.drift.parts), second_part(study, both)
    if "accuracy" in study.measures and later.all() | ~later.any():
        raise SettingError(
            "the test set has samples of one half of the classes alone, and no accuracy in a population that "
            'drifts: give one with both, or measures = ["risk"]'
        )
    return streams, both, later


def _is_linear(study: Study, model: Any) -> bool:
    return model is None and study.model == "logistic"


def make_model(study: Study, population: Population, model: Any = None, first: int = 0) -> Model:
    """The study's model over a population, or the one given, for replicates from number `first` on."""
    if _is_linear(study, model):
        return Linear(population, first_parameters(study, population, first))
    from empirics.training.other_models import other_model  # logistic regression needs no networks

    return other_model(study, population, model, first)
