"""Small studies that the tests share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch

from empirics.data import Dataset
from empirics.settings.study import Study
from empirics.training.problem import Problem, from_dataset
from theory.setting import Constants

CONTROL = Constants(D=20.0, sigma=0.6, eta=5.0, B=10.0, Pdim=9.0)


@cache
def blobs(classes: int = 4, features: int = 8, samples: int = 120) -> Dataset:
    """Overlapping Gaussian classes, in the data sets' format."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(classes, features))
    parts = []
    for count in (samples, samples // 4):
        y = np.arange(count) % classes
        x = centres[y] + 1.5 * rng.normal(size=(count, features))
        parts.append((x.astype(np.float32), y.astype(np.int64)))
    return Dataset.of("blobs", parts[0], parts[1], classes)


def study(**given: Any) -> Study:
    """A study of 3 clients that takes milliseconds."""
    start = {
        "buffers": (4, 5, 7),
        "budget": 22.0,
        "rounds": 30,
        "seeds": 3,
        "checkpoint": 8,
        "steps": 3,
        "radius": 2.0,
        "labels": "parity",
    }
    return Study(**(start | given))


def problem(setting: Study, device: str = "cpu") -> Problem:
    """Its problem over the blobs."""
    return from_dataset(setting, blobs(), torch.device(device))
