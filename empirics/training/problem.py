"""From a data set and a study to tensors on a device: features, labels, pools, and the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.data import Dataset, load
from empirics.settings.study import Study
from empirics.training.model import Linear, Population
from empirics.training.streams import Streams, make_pools
from theory.setting import SettingError

__all__ = ["Problem", "choose_device", "make_problem"]


@dataclass(frozen=True)
class Problem:
    """A study's learning problem: who may draw what, and the model over the population."""

    study: Study
    streams: Streams
    model: Linear
    digest: str

    @property
    def population(self) -> Population:
        return self.model.population


def choose_device(name: str) -> torch.device:
    """cpu, cuda, cuda:1, … if it is there."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SettingError(f"the device must be cpu or cuda, such as --device cuda, got {name!r}") from None
    if device.type not in ("cpu", "cuda"):
        raise SettingError(f"the device must be cpu or cuda, got {name!r}")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SettingError("no CUDA device is available: use --device cpu")
    if device.index is not None and device.type == "cuda":
        if device.index >= torch.cuda.device_count():
            raise SettingError(
                f"there are {torch.cuda.device_count()} CUDA devices, counted from 0, got {name!r}"
            )
        torch.cuda.set_device(device)  # graphs are recorded on the current device
    return device


def make_problem(study: Study, device: str = "cpu", data_dir: Path | None = None) -> Problem:
    """The problem of a study; digits need no `data_dir`."""
    place = choose_device(device)
    return from_dataset(study, load(study.dataset, data_dir), place)


def from_dataset(study: Study, data: Dataset, device: torch.device) -> Problem:
    """The same, from a data set already loaded."""
    streams = make_pools(data.train_y, study)
    train_x, test_x = _features(data.train_x, data.test_x, study)
    binary = study.labels == "parity"
    train_y, test_y = (labels % 2 if binary else labels for labels in (data.train_y, data.test_y))

    def tensor(values: NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device, dtype)

    real = getattr(torch, study.dtype)
    population = Population(
        x=tensor(train_x, real),
        y=tensor(train_y, torch.int64),
        weights=tensor(streams.weights, real),
        test_x=tensor(test_x, real),
        test_y=tensor(test_y, torch.int64),
        classes=2 if binary else data.classes,
    )
    return Problem(study, streams, Linear(population), data.digest)


def _features(train: NDArray[Any], test: NDArray[Any], study: Study) -> tuple[NDArray[Any], NDArray[Any]]:
    """Flat inputs with a constant 1 for the bias; `unit` scales them to norm at most 1, (x/‖x‖_max, 1)/√2."""
    flat = [part.reshape(len(part), -1).astype(study.dtype) for part in (train, test)]
    if study.scale == "unit":
        largest = np.linalg.norm(flat[0], axis=1).max()
        flat = [part / largest for part in flat]
    together = [np.concatenate([part, np.ones((len(part), 1), part.dtype)], axis=1) for part in flat]
    if study.scale == "unit":
        together = [part / np.sqrt(np.array(2, part.dtype)) for part in together]
    return together[0], together[1]
