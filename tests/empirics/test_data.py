"""Loaders: every layout of a data set gives the same numbers, and anything else gives one clear sentence.

The files are small and made here. Where real ones are at hand, in `$ACDPP_DATA` or in `../shared/data` beside
the repository (folders mnist, cifar10, imagenette), they are read too.
"""

from __future__ import annotations

import copyreg
import gzip
import io
import itertools
import lzma
import os
import pickle
import struct
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from empirics.data import NAMES, Dataset, cifar10, imagenette, load, pickled
from empirics.data.dataset import Pixels, digest
from empirics.data.files import members
from theory.setting import SettingError

RNG = np.random.default_rng(7)
Files = dict[str, bytes]


# --- writers -----------------------------------------------------------------------------------------------


def idx(array: Pixels) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def short_string(text: bytes) -> bytes:
    return b"U" + bytes([len(text)]) + text


def batch_pickle(records: Pixels, by_column: bool = False) -> bytes:
    """A batch as Python 2 wrote CIFAR-10's: protocol 2, `str` for text and for the array's bytes."""
    labels, pixels = records[:, 0], records[:, 1:]
    parts = [
        b"\x80\x02}q\x01(" + short_string(b"batch_label") + b"q\x02" + short_string(b"training batch 1 of 5"),
        short_string(b"labels") + b"]q\x05(" + b"".join(b"K" + bytes([label]) for label in labels) + b"e",
        short_string(b"data") + b"cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08",
        b"K\x00\x85U\x01b\x87Rq\x09(K\x01J" + struct.pack("<i", len(pixels)) + b"M\x00\x0c\x86",
        b"cnumpy\ndtype\nq\nU\x02u1K\x00K\x01\x87Rq\x0b",
        b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb" + (b"\x88" if by_column else b"\x89"),
        b"T" + struct.pack("<i", pixels.size) + pixels.tobytes("F" if by_column else "C") + b"tb",
        short_string(b"filenames")
        + b"]r\x2c\x01\x00\x00("
        + short_string(b"leptodactylus_s_000004.png")
        + b"eu.",
    ]
    return b"".join(parts)


def jpeg(pixels: Pixels) -> bytes:
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "JPEG", quality=95)
    return written.getvalue()


def tar(files: Files, *extra: tarfile.TarInfo) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in extra:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return written.getvalue()


def put(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, 1)


def packed(files: Files) -> Files:
    return {f"{name}.gz": gzipped(content) for name, content in files.items()}


def under(folder: str, files: Files) -> Files:
    return {f"{folder}/{name}": content for name, content in files.items()}


# --- small data sets ---------------------------------------------------------------------------------------

TRAIN_DIGITS = RNG.integers(0, 256, (12, 28, 28), np.uint8)
TEST_DIGITS = RNG.integers(0, 256, (5, 28, 28), np.uint8)
MNIST: Files = {
    "train-images-idx3-ubyte": idx(TRAIN_DIGITS),
    "train-labels-idx1-ubyte": idx((np.arange(12) % 10).astype(np.uint8)),
    "t10k-images-idx3-ubyte": idx(TEST_DIGITS),
    "t10k-labels-idx1-ubyte": idx(np.array([9, 0, 3, 3, 1], np.uint8)),
}

BATCHES: dict[str, Pixels] = {
    name: np.column_stack(
        [RNG.integers(0, 10, n, np.uint8), RNG.integers(0, 256, (n, cifar10.RECORD - 1), np.uint8)]
    )
    for n, name in enumerate(cifar10.BATCHES, start=2)
}
BINARY: Files = {f"{name}.bin": batch.tobytes() for name, batch in BATCHES.items()}
PYTHON: Files = {name: batch_pickle(batch) for name, batch in BATCHES.items()}
RECORDS: Files = {
    "train.bin": b"".join(BINARY[f"{name}.bin"] for name in cifar10.TRAIN),
    "test.bin": BINARY["test_batch.bin"],
}
BIN, PY = cifar10.BINARY.folder, cifar10.PYTHON.folder
CIFAR10: dict[str, Files] = {
    "binary folder": under(BIN, BINARY),
    "binary, flat": BINARY,
    "binary archive": {"cifar-10-binary.tar.gz": gzipped(tar(under(BIN, BINARY)))},
    "python folder": under(PY, PYTHON),
    "python archive": {
        "cifar-10-python.tar.gz": gzipped(tar(under(f"./{PY}", PYTHON | {"readme.html": b"<p>"})))
    },
    "records": RECORDS,
    "records, xz": {f"{name}.xz": lzma.compress(content, preset=0) for name, content in RECORDS.items()},
    "records below": under("cifar10", RECORDS),
}

PICTURES: Files = {
    f"{split}/{wnid}/{i}.JPEG": jpeg(RNG.integers(0, 256, (10, 8 + 4 * i, 3), np.uint8))
    for split in ("train", "val")
    for wnid in imagenette.CLASSES
    for i in range(2)
}
INSIDE = under(imagenette.FOLDER, PICTURES)
IMAGENETTE: dict[str, Files] = {
    "folder": INSIDE,
    "its inside": PICTURES,
    "tgz": {"imagenette2-160.tgz": gzipped(tar(INSIDE))},
    "tar.xz, another order": {
        "imagenette2-160.tar.xz": lzma.compress(tar(dict(reversed(INSIDE.items()))), preset=0)
    },
    "below": under("imagenette", INSIDE),
}


def refusal(name: str, folder: Path | None, **options: Any) -> str:
    """The one sentence with which the files in `folder` are refused."""
    with pytest.raises(SettingError) as caught:
        load(name, folder, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "://" not in sentence
    return sentence


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


# --- MNIST -------------------------------------------------------------------------------------------------


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


# --- CIFAR-10 ----------------------------------------------------------------------------------------------


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


# --- the pickles of CIFAR-10's python version --------------------------------------------------------------


def test_an_array_stored_by_columns_is_the_same_array(tmp_path: Path) -> None:
    records = BATCHES["data_batch_1"]
    labels, pixels = pickled.labels_and_pixels("batch", batch_pickle(records, by_column=True))
    np.testing.assert_array_equal(np.column_stack([labels, pixels]), records)


@pytest.mark.parametrize("protocol", [3, 4])
def test_a_batch_pickled_by_todays_numpy_is_read_too(protocol: int) -> None:
    records = BATCHES["data_batch_1"]
    batch = {"labels": records[:, 0].tolist(), "data": np.ascontiguousarray(records[:, 1:])}
    labels, pixels = pickled.labels_and_pixels("batch", pickle.dumps(batch, protocol))
    np.testing.assert_array_equal(np.column_stack([labels, pixels]), records)


class Calls:
    """Pickles to a call of `function` with `arguments`."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_malicious_pickle_is_refused_and_does_nothing(protocol: int, hidden: bool, tmp_path: Path) -> None:
    canary = tmp_path / "executed"
    for weapon in (
        Calls(os.mkdir, str(canary)),
        Calls(os.system, f"mkdir {canary}"),
        Calls(eval, f"__import__('os').mkdir({str(canary)!r})"),
        Calls(__import__, "this"),
    ):
        payload = pickle.dumps({"labels": [1], "data": weapon} if hidden else weapon, protocol)
        folder = put(tmp_path / "data", under(PY, PYTHON | {"data_batch_2": payload}))
        sentence = refusal("cifar10", folder)
        assert "data_batch_2" in sentence
        assert "refused" in sentence
        assert not canary.exists()
        assert "this" not in sys.modules


ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n"
HOSTILE = {
    "another function of numpy": (b"\x80\x02cnumpy\nload\n(U\x01xtR.", "asks for 'numpy.load'"),
    "a name beside an allowed one": (b"\x80\x02cnumpy.core.multiarray\nscalar\n.", "asks for"),
    "a dotted name": (b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93.", "asks for"),
    "an extension code": (b"\x80\x02\x82\x01.", "opcode EXT1"),
    "a persistent id": (b"\x80\x02U\x01xQ.", "opcode BINPERSID"),
    "an instance": (b"\x80\x02(iposix\nsystem\n.", "opcode INST"),
    "a new object": (b"\x80\x02cnumpy\nndarray\n)\x81.", "opcode NEWOBJ"),
    "an object built on the stack": (b"\x80\x02(cnumpy\nndarray\no.", "opcode OBJ"),
    "state on a stand-in's class": (b"\x80\x02cnumpy\nndarray\n}U\x09argumentsK\x01sb.", "refused"),
    "a call of a call": (b"\x80\x02" + ARRAY + b")R)R.", "not callable"),
    "four thousand million memo slots": (b"\x80\x02Nr\xff\xff\xff\xff.", "memo index"),
    "a string longer than the file": (b"\x80\x02T\xff\xff\xff\x7fx.", "refused"),
    "nothing": (b"", "refused"),
    "no end": (b"\x80\x02}", "refused"),
    "only a number": (b"\x80\x02K\x01.", "is a dict"),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_opcodes_are_refused_and_leave_the_reader_as_it_was(attack: str) -> None:
    content, reason = HOSTILE[attack]
    before = {cls: dict(vars(cls)) for cls in {*pickled.KNOWN.values(), pickled._Inert}}
    with pytest.raises(SettingError, match=reason):
        pickled.labels_and_pixels("batch", content)
    assert before == {cls: dict(vars(cls)) for cls in before}


def test_an_extension_code_that_another_unpickler_has_used_is_no_way_around_the_names(tmp_path: Path) -> None:
    code, canary = 0xF0, tmp_path / "executed"
    copyreg.add_extension(os.mkdir.__module__, "mkdir", code)
    try:
        extension = b"\x82" + bytes([code])
        assert pickle.loads(b"\x80\x02" + extension + b".") is os.mkdir  # cached from here on: no find_class
        with pytest.raises(SettingError, match="opcode EXT1"):
            pickled.labels_and_pixels(
                "batch", b"\x80\x02" + extension + short_string(bytes(canary)) + b"\x85R."
            )
        assert not canary.exists()
    finally:
        copyreg.remove_extension(os.mkdir.__module__, "mkdir", code)
        copyreg.clear_extension_cache()  # type: ignore[attr-defined, unused-ignore]


@pytest.mark.parametrize(
    "batch",
    [
        {"labels": [1], "data": np.zeros((1, 3072), np.int8)},
        {"labels": [1], "data": np.zeros((1, 3072), object)},
        {"labels": [1], "data": np.zeros((3072,), np.uint8)},
        {"labels": [1], "data": np.zeros((1, 3071), np.uint8)},
        {"labels": [1], "data": np.zeros((2, 3072), np.uint8)},
        {"labels": [1], "data": bytes(3072)},
        {"labels": [1]},
        {"labels": [10], "data": np.zeros((1, 3072), np.uint8)},
        {"labels": [-1], "data": np.zeros((1, 3072), np.uint8)},
        {"labels": [True], "data": np.zeros((1, 3072), np.uint8)},
        {"labels": [], "data": np.zeros((0, 3072), np.uint8)},
        {"labels": "1", "data": np.zeros((1, 3072), np.uint8)},
        {"data": np.zeros((1, 3072), np.uint8)},
        [1, 2],
    ],
)
def test_a_harmless_pickle_of_something_else_is_refused(batch: Any) -> None:
    with pytest.raises(SettingError, match="batch"):
        pickled.labels_and_pixels("batch", pickle.dumps(batch, 4))


# --- archives ----------------------------------------------------------------------------------------------


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


HOSTILE_MEMBERS = {
    "above": member("../escaped.JPEG"),
    "above, inside": member(f"{imagenette.FOLDER}/train/../../../escaped.JPEG"),
    "absolute": member("/tmp/escaped.JPEG"),
    "symbolic link": member(f"{imagenette.FOLDER}/train/n01440764/link.JPEG", tarfile.SYMTYPE, "/etc/passwd"),
    "hard link": member(f"{imagenette.FOLDER}/train/n01440764/link.JPEG", tarfile.LNKTYPE, "/etc/passwd"),
    "device": member(f"{imagenette.FOLDER}/train/n01440764/zero.JPEG", tarfile.CHRTYPE),
    "pipe": member(f"{imagenette.FOLDER}/train/n01440764/pipe.JPEG", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("attack", HOSTILE_MEMBERS)
def test_members_that_lead_out_of_an_archive_are_refused(attack: str, tmp_path: Path) -> None:
    for name, kind in (("imagenette", "imagenette2-160.tgz"), ("cifar10", "cifar-10-binary.tar.gz")):
        inside = INSIDE if name == "imagenette" else under(BIN, BINARY)
        put(tmp_path / "data", {kind: gzipped(tar(inside, HOSTILE_MEMBERS[attack]))})
        assert "is refused: its member" in refusal(name, tmp_path / "data")
    assert not list(tmp_path.rglob("escaped*"))


def test_reading_an_archive_writes_nothing(tmp_path: Path) -> None:
    put(tmp_path, IMAGENETTE["tgz"] | CIFAR10["python archive"])
    before = sorted(tmp_path.rglob("*"))
    load("imagenette", tmp_path, size=8)
    load("cifar10", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_that_breaks_off_inside_a_good_compression_is_refused(tmp_path: Path) -> None:
    whole = tar(under(BIN, BINARY))
    end = len(whole.rstrip(b"\0")) // 512 * 512 + 512  # of the last member
    damaged = bytearray(whole)
    third = whole.index(f"{BIN}/data_batch_3.bin".encode())
    damaged[third + 148] ^= 0xFF  # its header's checksum, which tarfile takes for the end of the archive
    for case in (whole[:end], whole[:third], whole[: third + 100], whole[: third + 600], bytes(damaged), b""):
        files = {"cifar-10-binary.tar.gz": gzipped(case)}
        assert "is truncated or corrupt" in refusal("cifar10", put(tmp_path, files))
    # a subset of images would not be missed, so the end of the archive has to show that some are missing
    pictures = tar(INSIDE)
    last = pictures.rindex(f"{imagenette.FOLDER}/val/n03888257/1.JPEG".encode())
    for case in (pictures[:last], pictures[:last] + b"x" + pictures[last + 1 :]):
        put(tmp_path, {"imagenette2-160.tgz": gzipped(case)})
        assert "the archive breaks off" in refusal("imagenette", tmp_path, size=8)


def test_a_member_twice_or_too_large_is_refused(tmp_path: Path) -> None:
    again = member(f"{BIN}/data_batch_1.bin", size=cifar10.RECORD)
    put(tmp_path, {"cifar-10-binary.tar.gz": gzipped(tar(under(BIN, BINARY), again))})
    assert "twice" in refusal("cifar10", tmp_path)
    large = member(f"{imagenette.FOLDER}/val/n03888257/large.JPEG", size=imagenette.LIMIT + 1)
    put(tmp_path, {"imagenette2-160.tgz": gzipped(tar(INSIDE, large))})
    assert "more than" in refusal("imagenette", tmp_path)


# --- Imagenette --------------------------------------------------------------------------------------------


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


# --- any damage --------------------------------------------------------------------------------------------

ONE_OF_EACH: dict[str, tuple[str, Files, Callable[[bytes], bytes]]] = {
    "idx": ("mnist", MNIST, bytes),
    "idx.gz": ("mnist", packed(MNIST), bytes),
    "records.xz": ("cifar10", CIFAR10["records, xz"], bytes),
    "pickle": ("cifar10", under(PY, PYTHON), bytes),
    "tar": ("cifar10", {"cifar-10-binary.tar.gz": tar(under(BIN, BINARY))}, gzipped),
    "tar of images": ("imagenette", {"imagenette2-160.tgz": tar(INSIDE)}, gzipped),
    "jpeg": ("imagenette", PICTURES, bytes),
}


@pytest.mark.parametrize("kind", ONE_OF_EACH)
@settings(max_examples=40)
@given(data=st.data())
def test_any_damage_is_survived_or_refused_in_one_sentence(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name, files, finish = ONE_OF_EACH[kind]
    victim = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[victim])
    for _ in range(data.draw(st.integers(1, 3))):
        # headers are at the front, or, in an archive, everywhere
        furthest = len(content) - 1 if data.draw(st.booleans()) else min(600, len(content) - 1)
        content[data.draw(st.integers(0, furthest))] = data.draw(st.integers(0, 255))
    if data.draw(st.integers(0, 3)) == 0:
        del content[data.draw(st.integers(0, len(content))) :]
    folder = tmp_path_factory.mktemp("damaged")
    put(folder, {other: finish(whole) for other, whole in files.items()} | {victim: finish(bytes(content))})
    try:
        load(name, folder, size=4 if name == "imagenette" else None)
    except SettingError as error:
        sentence = str(error)
    else:
        sentence = "loaded"
    assert "\n" not in sentence


# --- the real files ----------------------------------------------------------------------------------------

REAL = Path(os.environ.get("ACDPP_DATA", Path(__file__).parents[3] / "shared" / "data"))


def real(name: str) -> Path:
    if not (REAL / name).is_dir():
        pytest.skip(f"no {name} in $ACDPP_DATA")
    return REAL / name


def test_the_real_mnist_has_its_published_counts() -> None:
    data = load("mnist", real("mnist"))
    assert data.train_x.shape == (60_000, 1, 28, 28)
    assert data.test_x.shape == (10_000, 1, 28, 28)
    assert np.bincount(data.test_y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert data.digest == "b4e7e403d7fe89182be9443f6de19f82882118a11ac66734e19c67758273d46c"


def test_real_cifar10_records_look_like_photographs() -> None:
    data = load("cifar10", real("cifar10"))
    counts = np.bincount(data.train_y)
    assert (counts == counts[0]).all()
    # in a photograph the pixel below, to the right and of the next colour are alike; read in a wrong order
    # they would differ as much as pixels of two photographs do
    chance = np.abs(data.test_x - np.roll(data.test_x, 1, axis=0)).mean()
    for axis in (1, 2, 3):
        assert np.abs(np.diff(data.test_x, axis=axis)).mean() < chance / 2


def test_real_imagenette_images_have_the_side_that_the_name_says() -> None:
    folder = real("imagenette")
    archive = next((folder / name for name in imagenette.ARCHIVES if (folder / name).is_file()), None)
    if archive is None:
        pytest.skip("no archive of Imagenette in $ACDPP_DATA")
    images = members(archive, lambda name: name.endswith(".JPEG"), imagenette.LIMIT)
    for name, content in itertools.islice(images, 50):
        assert name.split("/")[0] == imagenette.FOLDER
        assert min(Image.open(io.BytesIO(content)).size) == imagenette.SIDE
