"""Tables of different kinds. Settings were chosen on those marked `chosen`; the others report."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification

from empirics import as_dataset

Arrays = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Table:
    """A table, whether settings were chosen on it, and whether a linear model separates its classes."""

    load: Callable[[Path], Arrays]
    chosen: bool = False
    separable: bool = False


def _labels(rng: np.random.Generator, scores: NDArray[Any]) -> NDArray[Any]:
    """Labels by the multinomial logistic model; scores of one column are those of the second class of two."""
    scores = np.c_[np.zeros(len(scores)), scores] if scores.shape[1] == 1 else scores
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def _made(seed: int, rows: int, features: int, classes: int, steepness: float = 1.0) -> Arrays:
    """Gaussian features, labels by a logistic model."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features))
    weights = steepness * rng.normal(size=(features, 1 if classes == 2 else classes))
    return x, _labels(rng, x @ weights)


def heavy_tails(_: Path) -> Arrays:
    """Student's distribution of 2.5 degrees of freedom."""
    rng = np.random.default_rng(3)
    x = rng.standard_t(2.5, (4000, 10))
    return x, _labels(rng, x @ rng.normal(size=(10, 1)))


def mixed_columns(_: Path) -> Arrays:
    """Columns that depend on each other, seven classes."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=(2310, 18)) @ rng.normal(size=(18, 18)) / 3
    return x, _labels(rng, 1.2 * x @ rng.normal(size=(18, 7)))


def rare(_: Path) -> Arrays:
    """One sample in fifty is of the second class."""
    rng = np.random.default_rng(12)
    x = rng.normal(size=(6000, 12))
    return x, _labels(rng, x @ rng.normal(size=(12, 1)) / 2 - 4.5)


def scales(_: Path) -> Arrays:
    """Columns from a thousandth to ten thousand, far from 0."""
    rng = np.random.default_rng(13)
    x = rng.normal(size=(4000, 12))
    y = _labels(rng, x @ rng.normal(size=(12, 3)))
    return (x + rng.uniform(-3, 3, 12)) * 10.0 ** rng.uniform(-3, 4, 12), y


def counts(_: Path) -> Arrays:
    """Sparse counts, as of words."""
    rng = np.random.default_rng(14)
    x = rng.poisson(rng.gamma(0.3, 1.0, 100), (4000, 100)).astype(float)
    return x, _labels(rng, np.log1p(x) @ rng.normal(size=(100, 4)))


def flipped(_: Path) -> Arrays:
    """A fifth of the labels is drawn anew."""
    x, y = _made(15, 3000, 15, 5, 2.0)
    rng = np.random.default_rng(16)
    return x, np.where(rng.random(len(y)) < 0.2, rng.integers(0, 5, len(y)), y)


def bent(_: Path) -> Arrays:
    """Clusters that no linear model tells apart well."""
    given = {"n_informative": 8, "n_classes": 4, "n_clusters_per_class": 3, "random_state": 17}
    return make_classification(4000, 20, **given)


def repeated(_: Path) -> Arrays:
    """Every column stands twice: rank-deficient."""
    x, y = _made(18, 2000, 10, 2)
    return np.c_[x, x], y


def mnist(classes: int) -> Callable[[Path], Arrays]:
    """The first 6,000 images, every second row and column, odd against even or all ten digits."""

    def load(data_dir: Path) -> Arrays:
        data = as_dataset("mnist", data_dir)
        x = data.train_x[:6000].reshape(-1, 28, 28)[:, ::2, ::2].reshape(6000, -1)
        return x.astype(float), data.train_y[:6000] % classes

    return load


TABLES = {
    "breast cancer": Table(lambda _: load_breast_cancer(return_X_y=True), chosen=True),
    "heavy tails": Table(heavy_tails, chosen=True),
    "digits": Table(lambda _: load_digits(return_X_y=True), chosen=True),
    "mixed columns": Table(mixed_columns, chosen=True),
    "wine": Table(lambda _: load_wine(return_X_y=True), separable=True),
    "iris": Table(lambda _: load_iris(return_X_y=True)),
    "rare class": Table(rare),
    "scales": Table(scales),
    "counts": Table(counts),
    "flipped labels": Table(flipped),
    "bent": Table(bent),
    "rank-deficient": Table(repeated),
    "thirty classes": Table(lambda _: _made(19, 4000, 10, 30)),
    "nearly noise": Table(lambda _: _made(20, 3000, 40, 2, 0.05)),
    "MNIST odd against even": Table(mnist(2)),
    "MNIST": Table(mnist(10)),
}
