"""Imagenette: JPEGs in folders or in an archive, cropped to squares, and nothing else."""

from __future__ import annotations

import io
import itertools
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from empirics.data import imagenette, load
from empirics.data.dataset import Pixels
from empirics.data.files import members
from tests.empirics.data.made_data import (
    IMAGENETTE,
    INSIDE,
    PICTURES,
    RNG,
    gzipped,
    jpeg,
    put,
    real,
    refusal,
    tar,
    under,
)


def square(content: bytes, side: int) -> Pixels:
    """The centred square of a picture `side` pixels high, as channels first."""
    whole = np.asarray(Image.open(io.BytesIO(content)))
    left = (whole.shape[1] - side) // 2
    return whole[:, left : left + side].transpose(2, 0, 1)


@pytest.mark.parametrize("layout", IMAGENETTE)
def test_imagenette_is_the_same_in_every_layout(layout: str, tmp_path: Path) -> None:
    data = load("imagenette", put(tmp_path, IMAGENETTE[layout]), size=8)
    assert data.classes == 10
    np.testing.assert_array_equal(data.train_y, np.repeat(np.arange(10), 2))
    np.testing.assert_array_equal(data.train_y, data.test_y)
    assert data.train_x.shape == data.test_x.shape == (20, 3, 8, 8)
    reference = load("imagenette", put(tmp_path / "reference", PICTURES), size=8)
    assert data.digest == reference.digest


def test_images_are_cropped_in_the_middle_and_otherwise_left_alone(tmp_path: Path) -> None:
    wide, name = jpeg(RNG.integers(0, 256, (10, 14, 3), np.uint8)), "val/n03888257/1.JPEG"
    data = load("imagenette", put(tmp_path, PICTURES | {name: wide}), size=10)
    np.testing.assert_array_equal(data.test_x[-1], square(wide, 10) / np.float32(255))


def test_grey_images_get_three_equal_channels_and_shrinking_keeps_a_flat_colour(tmp_path: Path) -> None:
    grey = jpeg(np.full((40, 60), 100, np.uint8))
    data = load("imagenette", put(tmp_path, PICTURES | {"train/n01440764/0.JPEG": grey}), size=8)
    np.testing.assert_array_equal(data.train_x[0], np.full((3, 8, 8), np.float32(100) / np.float32(255)))


def test_hidden_and_other_files_are_left_out(tmp_path: Path) -> None:
    litter = {
        "train/n01440764/._0.JPEG": b"x",
        "train/n01440764/notes.txt": b"x",
        "train/.DS_Store": b"x",
        "a.csv": b"x",
    }
    data = load("imagenette", put(tmp_path, PICTURES | litter), size=4)
    assert len(data.train_y) == 20
    put(tmp_path / "packed", {"imagenette2-160.tgz": gzipped(tar(INSIDE | under(imagenette.FOLDER, litter)))})
    assert load("imagenette", tmp_path / "packed", size=4).digest == data.digest


def test_a_linked_image_is_read_and_a_dangling_link_refused(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", {"0.JPEG": PICTURES["train/n01440764/0.JPEG"]})
    folder = put(tmp_path / "data", PICTURES)
    expected = load("imagenette", folder, size=8).digest
    (folder / "train/n01440764/0.JPEG").unlink()
    (folder / "train/n01440764/0.JPEG").symlink_to(tmp_path / "elsewhere/0.JPEG")
    (tmp_path / "link").symlink_to(folder)
    assert load("imagenette", tmp_path / "link", size=8).digest == expected
    (tmp_path / "elsewhere/0.JPEG").unlink()
    assert "cannot be read" in refusal("imagenette", folder, size=8)


def with_sides(content: bytes, side: int) -> bytes:
    """The same JPEG, claiming to be of another size."""
    start = content.index(b"\xff\xc0") + 5
    return content[:start] + struct.pack(">HH", side, side) + content[start + 4 :]


@pytest.mark.parametrize(
    "case", ["cut off", "empty", "text", "png", "ten thousand million pixels", "many pixels"]
)
def test_what_is_not_a_whole_jpeg_is_refused(case: str, tmp_path: Path) -> None:
    name = "val/n02979186/1.JPEG"
    png = io.BytesIO()
    Image.new("RGB", (8, 8)).save(png, "PNG")
    content = {
        "cut off": PICTURES[name][:-40],
        "empty": b"",
        "text": b"<html>",
        "png": png.getvalue(),
        "ten thousand million pixels": with_sides(PICTURES[name], 65_000),
        "many pixels": with_sides(PICTURES[name], 11_000),
    }[case]
    sentence = refusal("imagenette", put(tmp_path, PICTURES | {name: content}), size=8)
    assert "no whole JPEG" in sentence
    assert name in sentence


def test_folders_that_are_not_imagenette_are_refused(tmp_path: Path) -> None:
    lacking = {name: content for name, content in PICTURES.items() if "val/n03028079" not in name}
    assert "val has no *.JPEG of n03028079" in refusal("imagenette", put(tmp_path / "a", lacking))
    more = PICTURES | {"train/n02085620/0.JPEG": PICTURES["train/n01440764/0.JPEG"]}
    assert "it has a class 'n02085620'" in refusal("imagenette", put(tmp_path / "b", more))
    bare = put(tmp_path / "c", {"train/x": b"", "val/x": b""})
    assert "train has no *.JPEG of n01440764" in refusal("imagenette", bare)
    assert "is truncated or corrupt" in refusal(
        "imagenette", put(tmp_path / "d", {"imagenette2-160.tar.xz": b""})
    )


@pytest.mark.parametrize("size", [0, -1, 161, 8.0, True, "8"])
def test_a_size_is_a_whole_number_of_pixels_the_images_have(size: Any, tmp_path: Path) -> None:
    assert "from 1 to 160" in refusal("imagenette", tmp_path, size=size)


def test_a_complete_archive_with_other_content_is_not_the_published_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imagenette, "COMPLETE", len(PICTURES))
    put(tmp_path, IMAGENETTE["tgz"])
    assert "as many images as the published archive" in refusal("imagenette", tmp_path, size=4)


def test_real_imagenette_images_have_the_side_that_the_name_says() -> None:
    folder = real("imagenette")
    archive = next((folder / name for name in imagenette.ARCHIVES if (folder / name).is_file()), None)
    if archive is None:
        pytest.skip("no archive of Imagenette in $ACDPP_DATA")
    images = members(archive, lambda name: name.endswith(".JPEG"), imagenette.LIMIT)
    for name, content in itertools.islice(images, 50):
        assert name.split("/")[0] == imagenette.FOLDER
        assert min(Image.open(io.BytesIO(content)).size) == imagenette.SIDE
