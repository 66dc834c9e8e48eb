"""The 1,797 handwritten digits of 8 × 8 pixels that come with scikit-learn: no file to get."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from empirics.data.dataset import Dataset, scaled

__all__ = ["load"]

CLASSES = 10
TEST_EVERY = 5  # one in five is a test sample


def load() -> Dataset:
    """The bundled digits, split without a seed: of each class, in the bundled order, every fifth is a test.

    So both parts hold the classes in the same proportions, and samples from the whole length of the file.
    """
    home = find_spec("sklearn")  # found, not imported: that takes longer than most commands
    if home is None or home.origin is None:
        raise ModuleNotFoundError("the digits come with scikit-learn, which is not installed", name="sklearn")
    table = np.loadtxt(
        Path(home.origin).with_name("datasets") / "data" / "digits.csv.gz", np.int64, delimiter=","
    )
    pixels, labels = table[:, :-1].astype(np.uint8).reshape(-1, 1, 8, 8), table[:, -1]  # pixels of 0 … 16
    rank = np.empty_like(labels)
    for label in range(CLASSES):
        of_class = labels == label
        rank[of_class] = np.arange(of_class.sum())
    test = rank % TEST_EVERY == TEST_EVERY - 1
    images = scaled(pixels, 16)
    return Dataset.of("digits", (images[~test], labels[~test]), (images[test], labels[test]), CLASSES)
