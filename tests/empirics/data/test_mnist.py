"""MNIST: IDX files, plain or packed, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from empirics.data import load
from empirics.data.dataset import digest
from tests.empirics.data.made_data import (
    MNIST,
    TEST_DIGITS,
    TRAIN_DIGITS,
    Files,
    idx,
    packed,
    put,
    real,
    refusal,
    under,
)


@pytest.mark.parametrize(
    "files",
    [MNIST, packed(MNIST), under("MNIST/raw", MNIST | packed(MNIST)), under("mnist", packed(MNIST))],
    ids=["flat", "gz", "torchvision", "below"],
)
def test_mnist_is_the_same_in_every_layout(files: Files, tmp_path: Path) -> None:
    data = load("mnist", put(tmp_path, files))
    assert data.train_x.dtype == np.float32
    np.testing.assert_array_equal(data.train_x, (TRAIN_DIGITS / np.float32(255))[:, None])
    np.testing.assert_array_equal(data.test_x, (TEST_DIGITS / np.float32(255))[:, None])
    np.testing.assert_array_equal(data.train_y, np.arange(12) % 10)
    np.testing.assert_array_equal(data.test_y, [9, 0, 3, 3, 1])
    assert data.digest == digest(data.train_x, data.train_y, data.test_x, data.test_y)


IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
WRONG_MNIST = {
    "empty": (IMAGES, b"", "begin like an IDX file"),
    "labels for images": (IMAGES, MNIST[LABELS], "begin like an IDX file"),
    "floats": (IMAGES, b"\0\0\x0d\3" + MNIST[IMAGES][4:], "begin like an IDX file"),
    "cut off": (IMAGES, MNIST[IMAGES][:-1], "12 × 28 × 28"),
    "longer": (IMAGES, MNIST[IMAGES] + b"\0", "12 × 28 × 28"),
    "other side": (IMAGES, idx(TRAIN_DIGITS[:, 1:]), "12 × 27 × 28"),
    "no image": (IMAGES, idx(TRAIN_DIGITS[:0]), "0 × 28 × 28"),
    "impossibly many": (IMAGES, b"\0\0\x08\3" + b"\xff" * 12, "4294967295"),
    "fewer labels": (LABELS, idx(np.zeros(11, np.uint8)), "12 images"),
    "no digit": (LABELS, idx(np.full(12, 10, np.uint8)), "it has a 10"),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("case", WRONG_MNIST)
def test_mnist_refuses_what_is_not_an_idx_file_of_its_shape(case: str, zipped: bool, tmp_path: Path) -> None:
    name, content, reason = WRONG_MNIST[case]
    files = MNIST | {name: content}
    sentence = refusal("mnist", put(tmp_path, packed(files) if zipped else files))
    assert reason in sentence
    assert name in sentence


def test_mnist_refuses_damaged_gzip(tmp_path: Path) -> None:
    whole = packed(MNIST)
    name = f"{IMAGES}.gz"
    flipped = bytearray(whole[name])
    flipped[-6] ^= 1  # in the checksum
    for damaged in (whole[name][:-9], whole[name][:-4], bytes(flipped), MNIST[IMAGES], whole[name] + b"more"):
        sentence = refusal("mnist", put(tmp_path, whole | {name: damaged}))
        assert f"{tmp_path / name} is truncated or corrupt" in sentence


def test_mnist_refuses_a_part_of_the_files(tmp_path: Path) -> None:
    put(tmp_path, {name: content for name, content in MNIST.items() if name != LABELS})
    assert f"{LABELS}.gz should be in it too" in refusal("mnist", tmp_path)


def test_a_complete_file_with_other_content_is_not_mnist(tmp_path: Path) -> None:
    others = {
        "t10k-images-idx3-ubyte": idx(np.zeros((10_000, 28, 28), np.uint8)),
        "t10k-labels-idx1-ubyte": idx(np.zeros(10_000, np.uint8)),
    }
    assert "Fashion-MNIST" in refusal("mnist", put(tmp_path, MNIST | others))


def test_the_real_mnist_has_its_published_counts() -> None:
    data = load("mnist", real("mnist"))
    assert data.train_x.shape == (60_000, 1, 28, 28)
    assert data.test_x.shape == (10_000, 1, 28, 28)
    assert np.bincount(data.test_y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert data.digest == "b4e7e403d7fe89182be9443f6de19f82882118a11ac66734e19c67758273d46c"
