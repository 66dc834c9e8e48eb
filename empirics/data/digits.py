"""The 1,797 handwritten digits of 8 × 8 pixels that come with scikit-learn: no file to get."""

from __future__ import annotations

import numpy as np

from empirics.data.dataset import Dataset, scaled

__all__ = ["load"]

CLASSES = 10
EVERY = 5  # one in five is a test sample


def load() -> Dataset:
    """The bundled digits, split without a seed: of each class, in the bundled order, every fifth is a test.

    So both parts hold the classes in the same proportions, and samples from the whole length of the file.
    """
    # imported late: scikit-learn takes longer to import than most commands to run
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    bundled = load_digits()
    pixels = bundled.images.astype(np.uint8)[:, None]  # 0 … 16
    labels = bundled.target.astype(np.int64)
    rank = np.empty_like(labels)
    for label in range(CLASSES):
        of_class = labels == label
        rank[of_class] = np.arange(of_class.sum())
    test = rank % EVERY == EVERY - 1
    images = scaled(pixels, 16)
    return Dataset.of("digits", (images[~test], labels[~test]), (images[test], labels[test]), CLASSES)
