"""Every layout of a data set gives the same numbers; and what the real files look like, where they are at hand."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from empirics.data import cifar10, imagenette, load
from empirics.data.dataset import digest
from empirics.data.files import members
from tests.empirics.data import made_data as made
from tests.empirics.data.made_data import put, refusal

BYTE = np.float32(255)


# --- MNIST -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", made.MNIST_LAYOUTS)
def test_mnist_is_the_same_in_every_layout(layout: str, tmp_path: Path) -> None:
    data = load("mnist", put(tmp_path, made.MNIST_LAYOUTS[layout]))
    assert data.train_x.dtype == np.float32
    np.testing.assert_array_equal(data.train_x, (made.TRAIN_DIGITS / BYTE)[:, None])
    np.testing.assert_array_equal(data.test_x, (made.TEST_DIGITS / BYTE)[:, None])
    np.testing.assert_array_equal(data.train_y, np.arange(12) % 10)
    np.testing.assert_array_equal(data.test_y, [9, 0, 3, 3, 1])
    assert data.digest == digest(data.train_x, data.train_y, data.test_x, data.test_y)


def test_the_real_mnist_has_its_published_counts() -> None:
    data = load("mnist", made.real("mnist"))
    assert data.train_x.shape == (60_000, 1, 28, 28)
    assert data.test_x.shape == (10_000, 1, 28, 28)
    assert np.bincount(data.test_y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert data.digest == "b4e7e403d7fe89182be9443f6de19f82882118a11ac66734e19c67758273d46c"


# --- CIFAR-10 ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", made.CIFAR10)
def test_cifar10_is_the_same_in_every_layout(layout: str, tmp_path: Path) -> None:
    data = load("cifar10", put(tmp_path, made.CIFAR10[layout]))
    train = np.concatenate([made.BATCHES[name] for name in cifar10.TRAIN])
    np.testing.assert_array_equal(data.train_y, train[:, 0])
    np.testing.assert_array_equal(data.test_y, made.BATCHES["test_batch"][:, 0])
    np.testing.assert_array_equal(data.train_x.reshape(len(train), -1), train[:, 1:] / BYTE)
    assert data.test_x.shape == (7, 3, 32, 32)
    red, second_row = data.train_x[0, 0], train[0, 1 + 32 : 1 + 64]
    np.testing.assert_array_equal(red[1], second_row / BYTE)


def test_real_cifar10_records_look_like_photographs() -> None:
    data = load("cifar10", made.real("cifar10"))
    counts = np.bincount(data.train_y)
    assert (counts == counts[0]).all()
    # in a photograph the pixel below, to the right and of the next colour are alike; read in a wrong order
    # they would differ as much as pixels of two photographs do
    chance = np.abs(data.test_x - np.roll(data.test_x, 1, axis=0)).mean()
    for axis in (1, 2, 3):
        assert np.abs(np.diff(data.test_x, axis=axis)).mean() < chance / 2


# --- Imagenette --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", made.IMAGENETTE)
def test_imagenette_is_the_same_in_every_layout_whatever_lies_beside_it(layout: str, tmp_path: Path) -> None:
    data = load("imagenette", put(tmp_path, made.IMAGENETTE[layout]), size=8)
    assert data.classes == 10
    np.testing.assert_array_equal(data.train_y, np.repeat(np.arange(10), 2))
    np.testing.assert_array_equal(data.train_y, data.test_y)
    assert data.train_x.shape == data.test_x.shape == (20, 3, 8, 8)
    reference = load("imagenette", put(tmp_path / "reference", made.PICTURES), size=8)
    assert data.digest == reference.digest


def test_images_are_cropped_in_the_middle_and_grey_ones_get_three_equal_channels(tmp_path: Path) -> None:
    wide, grey = made.jpeg(made.RNG.integers(0, 256, (10, 14, 3), np.uint8)), np.full((40, 60), 100, np.uint8)
    ours = {"val/n03888257/1.JPEG": wide, "train/n01440764/0.JPEG": made.jpeg(grey)}
    data = load("imagenette", put(tmp_path, made.PICTURES | ours), size=10)
    middle = np.asarray(Image.open(io.BytesIO(wide)))[:, 2:12].transpose(2, 0, 1)
    np.testing.assert_array_equal(data.test_x[-1], middle / BYTE)
    np.testing.assert_array_equal(data.train_x[0], np.full((3, 10, 10), np.float32(100) / BYTE))


def test_a_linked_image_is_read_and_a_dangling_link_refused(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", {"0.JPEG": made.PICTURES["train/n01440764/0.JPEG"]})
    folder = put(tmp_path / "data", made.PICTURES)
    expected = load("imagenette", folder, size=8).digest
    (folder / "train/n01440764/0.JPEG").unlink()
    (folder / "train/n01440764/0.JPEG").symlink_to(tmp_path / "elsewhere/0.JPEG")
    (tmp_path / "link").symlink_to(folder)
    assert load("imagenette", tmp_path / "link", size=8).digest == expected
    (tmp_path / "elsewhere/0.JPEG").unlink()
    assert "cannot be read" in refusal("imagenette", folder, size=8)


def test_reading_an_archive_writes_nothing(tmp_path: Path) -> None:
    put(tmp_path, made.IMAGENETTE["tgz"] | made.CIFAR10["python archive"])
    before = sorted(tmp_path.rglob("*"))
    load("imagenette", tmp_path, size=8)
    load("cifar10", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_real_imagenette_images_have_the_side_that_the_name_says() -> None:
    folder = made.real("imagenette")
    archive = next((folder / name for name in imagenette.ARCHIVES if (folder / name).is_file()), None)
    if archive is None:
        pytest.skip("no archive of Imagenette in $ACDPP_DATA")
    images = members(archive, lambda name: name.endswith(".JPEG"), imagenette.LIMIT)
    for name, content in itertools.islice(images, 50):
        assert name.split("/")[0] == imagenette.FOLDER
        assert min(Image.open(io.BytesIO(content)).size) == imagenette.SIDE
