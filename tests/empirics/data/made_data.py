"""Small data sets in every layout, made here; and where the real ones are, if they are at hand."""

import gzip
import io
import lzma
import os
import struct
import tarfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from empirics.data import cifar10, imagenette, load
from tests.empirics.small import refused

RNG = np.random.default_rng(7)
gzipped = partial(gzip.compress, compresslevel=1)
refusal = partial(refused, load)


def idx(array):
    return bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def short_string(text):
    return b"U" + bytes([len(text)]) + text


def batch_pickle(records, by_column=False):
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
        short_string(b"filenames") + b"]r\x2c\x01\x00\x00(",
        short_string(b"leptodactylus_s_000004.png") + b"eu.",
    ]
    return b"".join(parts)


def image(pixels, kind="JPEG"):
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, kind, quality=95)
    return written.getvalue()


def tar(files, *extra):
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in extra:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return written.getvalue()


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def packed(files):
    return {f"{name}.gz": gzipped(content) for name, content in files.items()}


def under(folder, files):
    return {f"{folder}/{name}": content for name, content in files.items()}


class Calls:
    """Pickles to a call of `function` with `arguments`."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


# --- small data sets ---------------------------------------------------------------------------------------

TRAIN_DIGITS = RNG.integers(0, 256, (12, 28, 28), np.uint8)
TEST_DIGITS = RNG.integers(0, 256, (5, 28, 28), np.uint8)
MNIST = {
    "train-images-idx3-ubyte": idx(TRAIN_DIGITS),
    "train-labels-idx1-ubyte": idx((np.arange(12) % 10).astype(np.uint8)),
    "t10k-images-idx3-ubyte": idx(TEST_DIGITS),
    "t10k-labels-idx1-ubyte": idx(np.array([9, 0, 3, 3, 1], np.uint8)),
}
MNIST_LAYOUTS = {
    "flat": MNIST,
    "gz": packed(MNIST),
    "torchvision": under("MNIST/raw", MNIST | packed(MNIST)),
    "below": under("mnist", packed(MNIST)),
}


def bright_squares():
    """MNIST's files with 20 training and 5 test images a class: a bright square in a place of its own, and noise."""
    drawn, files = np.random.default_rng(5), {}
    for split, count in (("train", 200), ("t10k", 50)):
        labels = (np.arange(count) % 10).astype(np.uint8)
        images = drawn.integers(0, 80, (count, 28, 28), np.uint8)
        for image, label in zip(images, labels, strict=True):
            row, column = divmod(int(label), 4)
            image[2 + 8 * row : 8 + 8 * row, 1 + 7 * column : 7 + 7 * column] += 170
        files |= {f"{split}-images-idx3-ubyte": idx(images), f"{split}-labels-idx1-ubyte": idx(labels)}
    return files


BATCHES = {
    name: np.column_stack(
        [RNG.integers(0, 10, n, np.uint8), RNG.integers(0, 256, (n, cifar10.RECORD_BYTES - 1), np.uint8)]
    )
    for n, name in enumerate(cifar10.BATCHES, start=2)
}
BINARY = {f"{name}.bin": batch.tobytes() for name, batch in BATCHES.items()}
PYTHON = {name: batch_pickle(batch) for name, batch in BATCHES.items()}
RECORDS = {"train.bin": b"".join(BINARY[f"{name}.bin"] for name in cifar10.TRAIN)}
RECORDS["test.bin"] = BINARY["test_batch.bin"]
BIN, PY = cifar10.BINARY.folder, cifar10.PYTHON.folder
CIFAR10 = {
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

PICTURES = {
    f"{split}/{wnid}/{i}.JPEG": image(RNG.integers(0, 256, (10, 8 + 4 * i, 3), np.uint8))
    for split in ("train", "val")
    for wnid in imagenette.CLASSES
    for i in range(2)
}
INSIDE = under(imagenette.FOLDER, PICTURES)
FIRST = "train/n01440764"
LITTER = dict.fromkeys([f"{FIRST}/._0.JPEG", f"{FIRST}/notes.txt", "train/.DS_Store", "a.csv"], b"x")
IMAGENETTE = {
    "folder": INSIDE,
    "its inside": PICTURES,
    "tgz": {"imagenette2-160.tgz": gzipped(tar(INSIDE))},
    "tar.xz, another order": {
        "imagenette2-160.tar.xz": lzma.compress(tar(dict(reversed(INSIDE.items()))), preset=0)
    },
    "tgz with others": {"imagenette2-160.tgz": gzipped(tar(INSIDE | under("imagenette2-320", PICTURES)))},
    "below": under("imagenette", INSIDE),
    "with hidden and other files": PICTURES | LITTER,
    "tgz with them": {"imagenette2-160.tgz": gzipped(tar(INSIDE | under(imagenette.FOLDER, LITTER)))},
}


# --- the real files ----------------------------------------------------------------------------------------

REAL = Path(os.environ.get("ACDPP_DATA", Path(__file__).parents[4] / "shared" / "data"))


def real(name):
    if not (REAL / name).is_dir():
        pytest.skip(f"no {name} in $ACDPP_DATA")
    return REAL / name
