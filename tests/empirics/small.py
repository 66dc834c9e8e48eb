"""Small studies that the tests share."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from empirics.data import Dataset
from empirics.records.folder import read_result
from empirics.run import run_study
from empirics.settings.study import Study
from empirics.training.problem import Problem, from_dataset
from theory.setting import Constants

FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # which last as long as they are known
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


@cache
def blobs_file() -> str:
    """The name under which settings know them, as a file of one's own."""
    folder, data = tempfile.TemporaryDirectory(), blobs()
    FOLDERS.append(folder)
    names = ("train_x", "train_y", "test_x", "test_y")
    np.savez(
        f"{folder.name}/blobs.npz", **{name.removeprefix("train_"): getattr(data, name) for name in names}
    )
    return f"npz:{folder.name}/blobs.npz"


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


class Killed(Exception):
    """Stands in for a loss of power between two rounds."""


def stopped_at(setting: Study, out: Path, after: int, **own: Any) -> Path:
    """The folder of a study that was killed when so many rounds were done."""

    def stop(done: int) -> None:
        if done == after:
            raise Killed

    with pytest.raises(Killed):
        run_study(setting, out, progress=stop, **own)
    return out


def columns(folder: Path) -> dict[str, NDArray[Any]]:
    """The rows of a result, each column in the order of policy, seed and round."""
    rows = read_result(folder).rows
    rows = rows.sort_by([(name, "ascending") for name in ("policy", "seed", "round")])
    return {name: np.array(rows[name].to_pylist()) for name in rows.column_names}


def assert_same_rows(one: Path, other: Path) -> None:
    """Bit for bit."""
    mine, theirs = columns(one), columns(other)
    assert mine.keys() == theirs.keys()
    for name, values in mine.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)  # NaN equals NaN
