"""Small studies for tests, and how they are stopped and read."""

import platform
import tempfile
import time
from functools import cache

import numpy as np
import pytest
import torch

from empirics import Dataset, Policy, Study, predict_study, read_result, run_study
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.training.problem import from_dataset
from tests.refused import refused as refused
from theory.setting import Constants

FOLDERS = []  # which last as long as they are known
FEW = {"policies": ("constant", "oracle"), "rounds": 5, "seeds": 1}
orderly = pytest.mark.skipif(
    torch.version.cuda is not None and platform.machine() == "aarch64",
    reason="with this build of torch, sums depend on the number of columns: the last bits differ",
)
GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
CONTROL = Constants(D=20.0, sigma=0.6, eta=5.0, B=10.0, Pdim=9.0)


@cache
def blobs(classes=4, features=8, samples=120):
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
def blobs_file(*size):
    """The name under which settings know them, as a file of one's own."""
    folder, data = tempfile.TemporaryDirectory(), blobs(*size)
    FOLDERS.append(folder)
    test = {"test_x": data.test_x, "test_y": data.test_y}
    np.savez(f"{folder.name}/blobs.npz", x=data.train_x, y=data.train_y, **test)
    return f"npz:{folder.name}/blobs.npz"


def study(**given):
    """A study of 3 clients that takes milliseconds."""
    few = {"rounds": 30, "seeds": 3, "checkpoint": 8, "steps": 3}
    return Study(**({"buffers": (4, 5, 7), "budget": 22.0, "radius": 2.0, "labels": "parity"} | few | given))


def predict(out=None, *, given=None, **options):
    """The prediction of a few rounds, or of others that are given."""
    return predict_study(study(**(FEW | (given or {}))), out, dataset=blobs(), **options)


def problem(setting, device="cpu", *, data=None, model=None):
    """The learning problem of a study, with the blobs unless other data are given."""
    return from_dataset(setting, blobs() if data is None else data, torch.device(device), model)


def forecaster_of(task, **own):
    """A forecaster of a problem, with the constants of these tests."""
    return StudyForecaster.of(task, CONTROL, **own)


class Steady(Policy):
    """These numbers of samples of the clients, or a row of them for each replicate, in every round."""

    def __init__(self, *samples, retention=3):
        self.samples, self.retention = samples, retention

    def decide(self, state, cost):
        return state, np.broadcast_to(self.samples, (len(cost), np.shape(self.samples)[-1]))


class Periodic(Steady):
    """These numbers of samples of the clients, round by round, and again from the first."""

    def start(self, replicates):
        return 0

    def decide(self, state, cost):
        now = self.samples[state % len(self.samples)]
        return state + 1, np.broadcast_to(now, (len(cost), len(now)))


class Pulled:
    """A user's model: two numbers, pulled towards the number of samples held."""

    size, towards = 2, 0.01

    def __init__(self, population):
        self.population = population

    def start(self, runs):
        return torch.zeros(runs, self.size, dtype=torch.float64)

    def update(self, theta, memory, descent):
        return descent.eta * (self.towards * memory.mask.sum((1, 2))[:, None] - theta)

    def measure(self, theta, tilt):
        return {"risk": 1 + self.towards * theta.sum(1)}

    def accuracy(self, theta):
        return theta[:, 0]


class Killed(Exception):
    """Stands in for a loss of power between two rounds."""


def stopped_at(setting, out, after, train=run_study, **own):
    """The folder of a study that was killed when `after` rounds were done."""

    def stop(done):
        if done == after:
            raise Killed

    with pytest.raises(Killed):
        train(setting, out, progress=stop, **own)
    return out


def columns(folder):
    """The rows of a result, each column in the order of policy, seed and round."""
    rows = read_result(folder).rows
    rows = rows.sort_by([(name, "ascending") for name in ("policy", "seed", "round")])
    return {name: np.array(rows[name].to_pylist()) for name in rows.column_names}


def assert_same_rows(one, other):
    """Bit for bit."""
    mine, theirs = columns(one), columns(other)
    assert mine.keys() == theirs.keys()
    for name, values in mine.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)  # NaN equals NaN


def until(what, limit=300):
    """Wait until something is true, for `limit` seconds at most."""
    end = time.monotonic() + limit
    while not (found := what()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)
    return found
