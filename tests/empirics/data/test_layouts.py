"""Every layout of a data set gives the same numbers, and missing files one clear sentence.

Real files in `$ACDPP_DATA` or in `../shared/data` beside the repository are read too."""

import io

import numpy as np
import pytest
from PIL import Image

from empirics.data import Dataset, cifar10, load
from empirics.data.dataset import digest
from tests.empirics.data import made_data as made
from tests.empirics.data.made_data import put, refusal
from tests.empirics.small import refused

BYTE = np.float32(255)
WANTED = {"mnist": "train-images-idx3-ubyte.gz", "cifar10": "cifar-10-python", "imagenette": "160.tgz"}


@pytest.mark.parametrize(("name", "file"), WANTED.items())
def test_missing_data_says_what_to_get_and_where_to_put_it(name, file, tmp_path):
    assert file in refusal(name, None)
    assert file in refusal(name, tmp_path)
    assert str(tmp_path) in refusal(name, tmp_path)
    assert "does not exist" in refusal(name, tmp_path / "nowhere")
    refusal(name, tmp_path / ("long" * 100))
    put(tmp_path, {"file": b""})
    assert "give the directory that holds it" in refusal(name, tmp_path / "file")
    assert name == "imagenette" or "imagenette alone" in refusal(name, tmp_path, size=32)


def test_the_digest_tells_values_shapes_and_types_apart():
    x, y = np.zeros((2, 1, 2, 3), np.float32), np.zeros(2, np.int64)
    digests = {digest(x, y), digest(x.reshape(2, 1, 3, 2), y), digest(x + 1, y), digest(y, x)}
    assert len(digests) == 4
    assert digest(x[:, :, ::-1], y) == digest(np.ascontiguousarray(x[:, :, ::-1]), y)


def test_a_dataset_refuses_arrays_that_do_not_fit():
    x, y = right = np.zeros((2, 4), np.float32), np.array([0, 1])
    for wrong in ((x.astype(float), y), (x, y[:1]), (x[:0], y[:0]), (x, 2 * y)):
        for train, test in ((wrong, right), (right, wrong)):
            refused(Dataset.of, "made up", train, test, classes=2)


def test_digits_are_split_into_every_fifth_of_a_class_and_the_rest():
    from sklearn.datasets import load_digits

    bundled, data = load_digits(), load("digits")
    assert data.classes == 10
    for label in range(10):
        images = bundled.images[bundled.target == label].astype(np.float32)[:, None] / 16
        is_test = np.arange(len(images)) % 5 == 4
        np.testing.assert_array_equal(data.test_x[data.test_y == label], images[is_test])
        np.testing.assert_array_equal(data.train_x[data.train_y == label], images[~is_test])
    assert data.digest == "88d9d7deac8ece7a1fc17930e4efc11b87eaf0546b9cb1a7dd6c2848bc986b92"


@pytest.mark.parametrize("layout", made.MNIST_LAYOUTS)
def test_mnist_is_the_same_in_every_layout(layout, tmp_path):
    data = load("mnist", put(tmp_path, made.MNIST_LAYOUTS[layout]))
    assert data.train_x.dtype == np.float32
    np.testing.assert_array_equal(data.train_x, (made.TRAIN_DIGITS / BYTE)[:, None])
    np.testing.assert_array_equal(data.test_x, (made.TEST_DIGITS / BYTE)[:, None])
    np.testing.assert_array_equal(data.train_y, np.arange(12) % 10)
    np.testing.assert_array_equal(data.test_y, [9, 0, 3, 3, 1])
    assert data.digest == digest(data.train_x, data.train_y, data.test_x, data.test_y)


def test_the_real_mnist_has_its_published_counts():
    data = load("mnist", made.real("mnist"))
    assert data.train_x.shape == (60_000, 1, 28, 28)
    assert data.test_x.shape == (10_000, 1, 28, 28)
    assert np.bincount(data.test_y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert data.digest == "b4e7e403d7fe89182be9443f6de19f82882118a11ac66734e19c67758273d46c"


@pytest.mark.parametrize("layout", made.CIFAR10)
def test_cifar10_is_the_same_in_every_layout(layout, tmp_path):
    folder = put(tmp_path, made.CIFAR10[layout])
    before = sorted(folder.rglob("*"))
    data = load("cifar10", folder)
    assert sorted(folder.rglob("*")) == before  # reading an archive writes nothing
    train = np.concatenate([made.BATCHES[name] for name in cifar10.TRAIN])
    np.testing.assert_array_equal(data.train_y, train[:, 0])
    np.testing.assert_array_equal(data.test_y, made.BATCHES["test_batch"][:, 0])
    np.testing.assert_array_equal(data.train_x.reshape(len(train), -1), train[:, 1:] / BYTE)
    assert data.test_x.shape == (7, 3, 32, 32)
    red, second_row = data.train_x[0, 0], train[0, 1 + 32 : 1 + 64]
    np.testing.assert_array_equal(red[1], second_row / BYTE)


@pytest.mark.slow
def test_real_cifar10_records_look_like_photographs():
    data = load("cifar10", made.real("cifar10"))
    counts = np.bincount(data.train_y)
    assert (counts == counts[0]).all()
    # in a photograph the pixel below, to the right and of the next colour are alike; read in a wrong order
    # they would differ as much as pixels of two photographs do
    chance = np.abs(data.test_x - np.roll(data.test_x, 1, axis=0)).mean()
    for axis in (1, 2, 3):
        assert np.abs(np.diff(data.test_x, axis=axis)).mean() < chance / 2


@pytest.mark.parametrize("layout", made.IMAGENETTE)
def test_imagenette_is_the_same_in_every_layout_whatever_lies_beside_it(layout, tmp_path):
    folder = put(tmp_path, made.IMAGENETTE[layout])
    before = sorted(folder.rglob("*"))
    data = load("imagenette", folder, size=8)
    assert sorted(folder.rglob("*")) == before
    assert data.classes == 10
    np.testing.assert_array_equal(data.train_y, np.repeat(np.arange(10), 2))
    np.testing.assert_array_equal(data.train_y, data.test_y)
    assert data.train_x.shape == data.test_x.shape == (20, 3, 8, 8)
    reference = load("imagenette", put(tmp_path / "reference", made.PICTURES), size=8)
    assert data.digest == reference.digest


def test_images_are_cropped_in_the_middle_and_grey_ones_get_three_equal_channels(tmp_path):
    wide = made.image(made.RNG.integers(0, 256, (10, 14, 3), np.uint8))
    grey = np.full((40, 60), 100, np.uint8)
    ours = {"val/n03888257/1.JPEG": wide, "train/n01440764/0.JPEG": made.image(grey)}
    data = load("imagenette", put(tmp_path, made.PICTURES | ours), size=10)
    middle = np.asarray(Image.open(io.BytesIO(wide)))[:, 2:12].transpose(2, 0, 1)
    np.testing.assert_array_equal(data.test_x[-1], middle / BYTE)
    np.testing.assert_array_equal(data.train_x[0], np.full((3, 10, 10), np.float32(100) / BYTE))


def test_a_linked_image_is_read_and_a_dangling_link_refused(tmp_path):
    put(tmp_path / "elsewhere", {"0.JPEG": made.PICTURES["train/n01440764/0.JPEG"]})
    folder = put(tmp_path / "data", made.PICTURES)
    expected = load("imagenette", folder, size=8).digest
    (folder / "train/n01440764/0.JPEG").unlink()
    (folder / "train/n01440764/0.JPEG").symlink_to(tmp_path / "elsewhere/0.JPEG")
    (tmp_path / "link").symlink_to(folder)
    assert load("imagenette", tmp_path / "link", size=8).digest == expected
    (tmp_path / "elsewhere/0.JPEG").unlink()
    assert "cannot be read" in refusal("imagenette", folder, size=8)
