"""CIFAR-10: its binary version, its python version, or bare records, and nothing else."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from empirics.data import cifar10, load
from tests.empirics.data.made_data import (
    BATCHES,
    BIN,
    BINARY,
    CIFAR10,
    PY,
    PYTHON,
    RECORDS,
    batch_pickle,
    gzipped,
    put,
    real,
    refusal,
    tar,
    under,
)


@pytest.mark.parametrize("layout", CIFAR10)
def test_cifar10_is_the_same_in_every_layout(layout: str, tmp_path: Path) -> None:
    data = load("cifar10", put(tmp_path, CIFAR10[layout]))
    train = np.concatenate([BATCHES[name] for name in cifar10.TRAIN])
    np.testing.assert_array_equal(data.train_y, train[:, 0])
    np.testing.assert_array_equal(data.test_y, BATCHES["test_batch"][:, 0])
    np.testing.assert_array_equal(data.train_x.reshape(len(train), -1), train[:, 1:] / np.float32(255))
    assert data.test_x.shape == (7, 3, 32, 32)
    red, second_row = data.train_x[0, 0], train[0, 1 + 32 : 1 + 64]
    np.testing.assert_array_equal(red[1], second_row / np.float32(255))


WRONG_RECORDS = {
    "empty": (b"", "0 bytes"),
    "cut off": (BINARY["data_batch_1.bin"][:-1], "records of 3073 bytes"),
    "a label of 10": (b"\x0a" + BINARY["data_batch_1.bin"][1:], "it has a 10"),
}


@pytest.mark.parametrize("case", WRONG_RECORDS)
def test_cifar10_refuses_what_is_not_a_row_of_records(case: str, tmp_path: Path) -> None:
    content, reason = WRONG_RECORDS[case]
    wrong = BINARY | {"data_batch_1.bin": content}
    layouts = {
        "folder": under(BIN, wrong),
        "archive": {"cifar-10-binary.tar.gz": gzipped(tar(under(BIN, wrong)))},
        "records": RECORDS | {"train.bin": content},
    }
    for layout, files in layouts.items():
        sentence = refusal("cifar10", put(tmp_path / layout, files))
        assert reason in sentence
        assert ("train.bin" if layout == "records" else "data_batch_1.bin") in sentence


def test_cifar10_refuses_a_part_of_the_files(tmp_path: Path) -> None:
    part = {name: content for name, content in BINARY.items() if name != "data_batch_3.bin"}
    for layout, files in {
        "folder": under(BIN, part),
        "archive": {"cifar-10-binary.tar.gz": gzipped(tar(under(BIN, part)))},
    }.items():
        assert "data_batch_3.bin should be in it too" in refusal("cifar10", put(tmp_path / layout, files))
    put(tmp_path / "records", {"train.bin": RECORDS["train.bin"]})
    assert "belong together" in refusal("cifar10", tmp_path / "records")


def test_cifar10_refuses_damaged_compression(tmp_path: Path) -> None:
    archive, xz = CIFAR10["binary archive"]["cifar-10-binary.tar.gz"], CIFAR10["records, xz"]
    flipped = bytearray(xz["train.bin.xz"])
    flipped[len(flipped) // 2] ^= 1
    damaged = {
        "archive cut off": {"cifar-10-binary.tar.gz": archive[: len(archive) // 2]},
        "archive without checksum": {"cifar-10-binary.tar.gz": archive[:-8]},
        "xz cut off": xz | {"test.bin.xz": xz["test.bin.xz"][:-12]},
        "xz flipped": xz | {"train.bin.xz": bytes(flipped)},
        "no xz": xz | {"train.bin.xz": RECORDS["train.bin"]},
    }
    for case, files in damaged.items():
        assert "is truncated or corrupt" in refusal("cifar10", put(tmp_path / case, files)), case


def test_complete_batches_with_other_content_are_not_cifar10(tmp_path: Path) -> None:
    blank = np.zeros((cifar10.BATCH, cifar10.RECORD), np.uint8)
    for files in (
        RECORDS | {"test.bin": blank.tobytes()},
        under(BIN, BINARY | {"test_batch.bin": blank.tobytes()}),
        under(PY, PYTHON | {"test_batch": batch_pickle(blank)}),
    ):
        folder = put(tmp_path / str(len(files)) / next(iter(files))[:20], files)
        assert "as long as CIFAR-10's test_batch but has other content" in refusal("cifar10", folder)


def test_more_records_than_cifar10_has_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    bomb = lzma.compress(bytes((cifar10.BATCH + 1) * cifar10.RECORD), preset=0)
    files = CIFAR10["records, xz"] | {"test.bin.xz": bomb}
    assert "holds more than 30730000 bytes" in refusal("cifar10", put(tmp_path, files))


def test_real_cifar10_records_look_like_photographs() -> None:
    data = load("cifar10", real("cifar10"))
    counts = np.bincount(data.train_y)
    assert (counts == counts[0]).all()
    # in a photograph the pixel below, to the right and of the next colour are alike; read in a wrong order
    # they would differ as much as pixels of two photographs do
    chance = np.abs(data.test_x - np.roll(data.test_x, 1, axis=0)).mean()
    for axis in (1, 2, 3):
        assert np.abs(np.diff(data.test_x, axis=axis)).mean() < chance / 2
