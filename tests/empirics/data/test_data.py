"""Loaders: every layout of a data set gives the same numbers, and anything else gives one clear sentence.

What all data sets have in common, and the digits that need no file. The files of the others are small and made in
`made_data`. Where real ones are at hand, in `$ACDPP_DATA` or in `../shared/data` beside the repository (folders mnist,
cifar10, imagenette), they are read too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from empirics.data import NAMES, Dataset, load
from empirics.data.dataset import digest
from tests.empirics.data.made_data import put, refusal
from theory.setting import SettingError

# --- what is common ----------------------------------------------------------------------------------------

WANTED = {
    "mnist": "train-images-idx3-ubyte.gz",
    "cifar10": "cifar-10-python.tar.gz",
    "imagenette": "imagenette2-160.tgz",
}


@pytest.mark.parametrize("name", WANTED)
def test_missing_data_says_what_to_get_and_where_to_put_it(name: str, tmp_path: Path) -> None:
    assert WANTED[name] in refusal(name, None)
    assert WANTED[name] in refusal(name, tmp_path)
    assert str(tmp_path) in refusal(name, tmp_path)
    assert "does not exist" in refusal(name, tmp_path / "nowhere")
    refusal(name, tmp_path / ("long" * 100))
    put(tmp_path, {"file": b""})
    assert "give the directory that holds it" in refusal(name, tmp_path / "file")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    assert ", ".join(NAMES) in refusal("svhn", None)
    assert "imagenette alone" in refusal("digits", None, size=32)


def test_the_digest_tells_values_shapes_and_types_apart() -> None:
    x, y = np.zeros((2, 1, 2, 3), np.float32), np.zeros(2, np.int64)
    digests = {digest(x, y), digest(x.reshape(2, 1, 3, 2), y), digest(x + 1, y), digest(y, x)}
    assert len(digests) == 4
    assert digest(x[:, :, ::-1], y) == digest(np.ascontiguousarray(x[:, :, ::-1]), y)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.zeros((2, 4), np.float64), np.zeros(2, np.int64)),
        (np.zeros((2, 4), np.float32), np.zeros(3, np.int64)),
        (np.zeros((0, 4), np.float32), np.zeros(0, np.int64)),
        (np.zeros((2, 4), np.float32), np.array([0, 2], np.int64)),
    ],
)
def test_a_dataset_refuses_arrays_that_do_not_fit(x: Any, y: Any) -> None:
    right = np.zeros((1, 4), np.float32), np.zeros(1, np.int64)
    for train, test in (((x, y), right), (right, (x, y))):
        with pytest.raises(SettingError):
            Dataset.of("made up", train, test, classes=2)


# --- digits ------------------------------------------------------------------------------------------------


def test_digits_are_split_into_every_fifth_of_a_class_and_the_rest() -> None:
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, unused-ignore]

    bundled = load_digits()
    data = load("digits")
    assert data.classes == 10
    for label in range(10):
        images = bundled.images[bundled.target == label].astype(np.float32)[:, None] / 16
        is_test = np.arange(len(images)) % 5 == 4
        np.testing.assert_array_equal(data.test_x[data.test_y == label], images[is_test])
        np.testing.assert_array_equal(data.train_x[data.train_y == label], images[~is_test])
    assert data.digest == "88d9d7deac8ece7a1fc17930e4efc11b87eaf0546b9cb1a7dd6c2848bc986b92"
