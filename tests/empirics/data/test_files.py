"""Files that are no data set are refused in one sentence that names what is wrong, and do no harm."""

import hashlib
import io
import lzma
import struct
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empirics.data import cifar10, imagenette, load
from tests.empirics.data import made_data as made
from tests.empirics.data.made_data import BIN, INSIDE, PICTURES, gzipped, packed, put, refusal, tar, under
from theory.setting import SettingError

CORRUPT = "is truncated or corrupt"


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place:][1:]


def without(files, part):
    return {name: content for name, content in files.items() if part not in name}


# --- MNIST -------------------------------------------------------------------------------------------------

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
DIGITS = made.MNIST[IMAGES]
IDX = {
    "empty": (IMAGES, b"", "begin like an IDX file"),
    "labels for images": (IMAGES, made.MNIST[LABELS], "begin like an IDX file"),
    "floats": (IMAGES, b"\0\0\x0d\3" + DIGITS[4:], "begin like an IDX file"),
    "cut off": (IMAGES, DIGITS[:-1], "12 × 28 × 28"),
    "longer": (IMAGES, DIGITS + b"\0", "12 × 28 × 28"),
    "other side": (IMAGES, made.idx(made.TRAIN_DIGITS[:, 1:]), "12 × 27 × 28"),
    "no image": (IMAGES, made.idx(made.TRAIN_DIGITS[:0]), "0 × 28 × 28"),
    "impossibly many": (IMAGES, b"\0\0\x08\3" + b"\xff" * 12, "4294967295"),
    "fewer labels": (LABELS, made.idx(np.zeros(11, np.uint8)), "12 images"),
    "no digit": (LABELS, made.idx(np.full(12, 10, np.uint8)), "it has a 10"),
}
ZIPPED = packed(made.MNIST)[f"{IMAGES}.gz"]
GZIP = {
    "cut off": ZIPPED[:-9],
    "half a checksum": ZIPPED[:-4],
    "another checksum": flipped(ZIPPED, -6 + len(ZIPPED)),
    "no gzip": DIGITS,
    "more behind": ZIPPED + b"more",
}
OTHERS = {
    "t10k-images-idx3-ubyte": made.idx(np.zeros((10_000, 28, 28), np.uint8)),
    "t10k-labels-idx1-ubyte": made.idx(np.zeros(10_000, np.uint8)),
}
WRONG = {  # of which data set, the files, what is wrong and with which file
    "mnist in part": ("mnist", without(made.MNIST, LABELS), "should be in it too", f"{LABELS}.gz"),
    "another mnist": ("mnist", made.MNIST | OTHERS, "Fashion-MNIST", "t10k"),
}
for case, (name, content, why) in IDX.items():
    WRONG[f"idx {case}"] = "mnist", made.MNIST | {name: content}, why, name
    WRONG[f"gz {case}"] = "mnist", packed(made.MNIST | {name: content}), why, name
for case, content in GZIP.items():
    name = f"{IMAGES}.gz"
    WRONG[f"gzip {case}"] = "mnist", packed(made.MNIST) | {name: content}, CORRUPT, name

# --- CIFAR-10 ----------------------------------------------------------------------------------------------

ARCHIVE, XZ = "cifar-10-binary.tar.gz", made.CIFAR10["records, xz"]
FIRST = made.BINARY["data_batch_1.bin"]
RECORDS = {
    "empty": (b"", "0 bytes"),
    "cut off": (FIRST[:-1], "records of 3073 bytes"),
    "a label of 10": (b"\x0a" + FIRST[1:], "it has a 10"),
}
BLANK = np.zeros((cifar10.RECORDS, cifar10.RECORD_BYTES), np.uint8)
BOMB = lzma.compress(bytes(BLANK.size // 100), preset=0) * 101
FOREIGN = "as long as CIFAR-10's test_batch but has other content"
WHOLE = tar(under(BIN, made.BINARY))
END = len(WHOLE.rstrip(b"\0")) // 512 * 512 + 512  # of the last member
THIRD = WHOLE.index(f"{BIN}/data_batch_3.bin".encode())


def archived(files):
    return {ARCHIVE: gzipped(tar(under(BIN, files)))}


for case, (content, why) in RECORDS.items():
    batch = made.BINARY | {"data_batch_1.bin": content}
    WRONG[f"folder {case}"] = "cifar10", under(BIN, batch), why, "data_batch_1.bin"
    WRONG[f"archive {case}"] = "cifar10", archived(batch), why, "data_batch_1.bin"
    WRONG[f"records {case}"] = "cifar10", made.RECORDS | {"train.bin": content}, why, "train.bin"
PART = without(made.BINARY, "data_batch_1")
CIFAR = {
    "folder in part": (under(BIN, PART), "should be in it too", "data_batch_1.bin"),
    "archive in part": (archived(without(made.BINARY, "test")), "should be in it too", "test_batch.bin"),
    "a test without records": (without(made.RECORDS, "train"), "belong together", ""),
    "records without a test": (without(made.RECORDS, "test"), "belong together", ""),
    "archive of nothing": ({ARCHIVE: gzipped(bytes(512))}, "should be in it too", "data_batch_1.bin"),
    "archive cut off": ({ARCHIVE: gzipped(WHOLE)[:-999]}, CORRUPT, ""),
    "archive without checksum": ({ARCHIVE: gzipped(WHOLE)[:-8]}, CORRUPT, ""),
    "xz cut off": (XZ | {"test.bin.xz": XZ["test.bin.xz"][:-12]}, CORRUPT, "test.bin.xz"),
    "xz flipped": (XZ | {"train.bin.xz": flipped(XZ["train.bin.xz"], 9999)}, CORRUPT, "train.bin.xz"),
    "no xz": (XZ | {"train.bin.xz": made.RECORDS["train.bin"]}, CORRUPT, "train.bin.xz"),
    "other records": (made.RECORDS | {"test.bin": BLANK.tobytes()}, FOREIGN, ""),
    "other batch": (under(BIN, made.BINARY | {"test_batch.bin": BLANK.tobytes()}), FOREIGN, ""),
    "other pickle": (under(made.PY, made.PYTHON | {"test_batch": made.batch_pickle(BLANK)}), FOREIGN, ""),
    "a bomb": (XZ | {"test.bin.xz": BOMB}, "holds more than 30730000 bytes", ""),
    # inside a good compression; tarfile takes a header with a wrong checksum for the end of the archive
    **{
        f"tar of {len(content)} bytes": ({ARCHIVE: gzipped(content)}, CORRUPT, "")
        for content in (b"", WHOLE[:END], WHOLE[:THIRD], WHOLE[: THIRD + 100], WHOLE[: THIRD + 600])
    },
    "tar flipped": ({ARCHIVE: gzipped(flipped(WHOLE, THIRD + 148))}, CORRUPT, ""),
}
WRONG |= {f"cifar10 {case}": ("cifar10", *wrong) for case, wrong in CIFAR.items()}

# --- Imagenette --------------------------------------------------------------------------------------------

TGZ, LATER, FIRST_PICTURE = "imagenette2-160.tgz", "val/n02979186/1.JPEG", "train/n01440764/0.JPEG"
TAR = tar(INSIDE)
LAST = TAR.rindex(f"{imagenette.FOLDER}/val/n03888257/1.JPEG".encode())


def with_sides(content, side):
    """A JPEG whose header claims another size."""
    start = content.index(b"\xff\xc0") + 5
    return content[:start] + struct.pack(">HH", side, side) + content[start + 4 :]


JPEGS = {
    "cut off": PICTURES[LATER][:-40],
    "empty": b"",
    "png": made.image(made.RNG.integers(0, 256, (8, 8, 3), np.uint8), "PNG"),
    "ten thousand million pixels": with_sides(PICTURES[LATER], 65_000),
    "many pixels": with_sides(PICTURES[LATER], 11_000),
}
NETTE = {
    **{case: (PICTURES | {LATER: content}, "no whole JPEG", LATER) for case, content in JPEGS.items()},
    "all empty": (dict.fromkeys(PICTURES, b""), "no whole JPEG", FIRST_PICTURE),
    "a class less": (without(PICTURES, "val/n03028079"), "has no *.JPEG of n03028079", "val"),
    "a class more": (PICTURES | {"train/n02085620/0.JPEG": PICTURES[LATER]}, "a class 'n02085620'", ""),
    "half a folder": (without(PICTURES, "val"), "there is no Imagenette", ""),
    "no images": ({"train/x": b"", "val/x": b""}, "train has no *.JPEG of n01440764", ""),
    "an empty archive": ({"imagenette2-160.tar.xz": b""}, CORRUPT, ""),
    # a subset of images would not be missed, so the end of the archive has to show that some are missing
    "tar cut off": ({TGZ: gzipped(TAR[:LAST])}, "the archive breaks off", TGZ),
    "tar flipped": ({TGZ: gzipped(flipped(TAR, LAST))}, "the archive breaks off", TGZ),
}
WRONG |= {f"imagenette {case}": ("imagenette", *wrong) for case, wrong in NETTE.items()}


@pytest.mark.parametrize(("name", "files", "why", "where"), WRONG.values(), ids=WRONG)
def test_files_that_are_no_data_set_are_refused(name, files, why, where, tmp_path):
    sentence = refusal(name, put(tmp_path, files), size=8 if name == "imagenette" else None)
    assert why in sentence
    assert where in sentence


@pytest.mark.parametrize("size", [0, 161, 8.0, True, "8"])
def test_a_size_is_a_whole_number_of_pixels_the_images_have(size, tmp_path):
    assert "from 1 to 160" in refusal("imagenette", tmp_path, size=size)


def test_a_complete_archive_with_other_content_is_not_the_published_one(tmp_path, monkeypatch):
    monkeypatch.setattr(imagenette, "COMPLETE", len(PICTURES))
    put(tmp_path, made.IMAGENETTE["tgz"])
    assert "as many images as the published archive" in refusal("imagenette", tmp_path, size=4)


def test_all_records_are_those_published(tmp_path, monkeypatch):
    """Files of records are compared batch by batch."""
    monkeypatch.setattr(cifar10, "RECORDS", 1)
    test, *batches = (bytes([label]) + bytes(cifar10.RECORD_BYTES - 1) for label in range(6))
    for name, batch in zip(cifar10.BATCHES, (*batches, test), strict=True):
        monkeypatch.setitem(cifar10.BINARY.digests, name, hashlib.sha256(batch).hexdigest())
    put(tmp_path, {"train.bin": b"".join(batches), "test.bin": test})
    assert load("cifar10", tmp_path).train_y.tolist() == [1, 2, 3, 4, 5]
    put(tmp_path, {"train.bin": b"".join(reversed(batches))})
    assert "CIFAR-10's data_batch_1" in refusal("cifar10", tmp_path)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_an_image_of_too_many_pixels_is_refused_where_pillow_only_warns(tmp_path, monkeypatch):
    monkeypatch.setattr(imagenette.Image, "MAX_IMAGE_PIXELS", 100)  # of 80 or 120; Pillow refuses 200
    assert "1.JPEG' is truncated" in refusal("imagenette", put(tmp_path, PICTURES), size=4)


def member(name, kind=tarfile.REGTYPE, target="", size=0):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


WITHIN = f"{imagenette.FOLDER}/train/n01440764"
HOSTILE_MEMBERS = {
    "above": member("../escaped.JPEG"),
    "above, inside": member(f"{imagenette.FOLDER}/train/../../../escaped.JPEG"),
    "absolute": member("/tmp/escaped.JPEG"),
    "symbolic link": member(f"{WITHIN}/link.JPEG", tarfile.SYMTYPE, "/etc/passwd"),
    "hard link": member(f"{WITHIN}/link.JPEG", tarfile.LNKTYPE, "/etc/passwd"),
    "device": member(f"{WITHIN}/zero.JPEG", tarfile.CHRTYPE),
    "pipe": member(f"{WITHIN}/pipe.JPEG", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("attack", HOSTILE_MEMBERS)
def test_members_that_lead_out_of_an_archive_are_refused(attack, tmp_path):
    for name, kind, inside in (("imagenette", TGZ, INSIDE), ("cifar10", ARCHIVE, under(BIN, made.BINARY))):
        put(tmp_path / "data", {kind: gzipped(tar(inside, HOSTILE_MEMBERS[attack]))})
        assert "is refused: its member" in refusal(name, tmp_path / "data")
    assert not list(tmp_path.rglob("escaped*"))


def test_a_member_twice_or_too_large_is_refused(tmp_path):
    again = member(f"{BIN}/data_batch_1.bin", size=cifar10.RECORD_BYTES)
    put(tmp_path, {ARCHIVE: gzipped(tar(under(BIN, made.BINARY), again))})
    assert "twice" in refusal("cifar10", tmp_path)
    large = member(f"{imagenette.FOLDER}/val/n03888257/large.JPEG", size=imagenette.IMAGE_BYTES_MAX + 1)
    put(tmp_path, {TGZ: gzipped(tar(INSIDE, large))})
    assert "more than" in refusal("imagenette", tmp_path)


def arrays(save):
    written = io.BytesIO()
    save(written, x=np.arange(60.0).reshape(12, 5), y=np.arange(12) % 3)
    return written.getvalue()


ONE_OF_EACH = {
    "idx": ("mnist", made.MNIST, bytes),
    "idx.gz": ("mnist", packed(made.MNIST), bytes),
    "records.xz": ("cifar10", XZ, bytes),
    "pickle": ("cifar10", under(made.PY, made.PYTHON), bytes),
    "tar": ("cifar10", {ARCHIVE: WHOLE}, gzipped),
    "tar of images": ("imagenette", {TGZ: TAR}, gzipped),
    "jpeg": ("imagenette", PICTURES, bytes),
    "npz": ("npz:{}/own", {"own": arrays(np.savez)}, bytes),
    "packed npz": ("npz:{}/own", {"own": arrays(np.savez_compressed)}, bytes),
}


@pytest.mark.parametrize("kind", ONE_OF_EACH)
@settings(max_examples=40)
@given(data=st.data())
def test_any_damage_is_survived_or_refused_in_one_sentence(kind, tmp_path_factory, data):
    name, files, finish = ONE_OF_EACH[kind]
    victim = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[victim])
    for _ in range(data.draw(st.integers(1, 3))):
        # headers are at the front, or, in an archive, everywhere
        furthest = len(content) - 1 if data.draw(st.booleans()) else min(600, len(content) - 1)
        content[data.draw(st.integers(0, furthest))] = data.draw(st.integers(0, 255))
    if data.draw(st.integers(0, 3)) == 0:
        del content[data.draw(st.integers(0, len(content))) :]
    folder, said = tmp_path_factory.mktemp("damaged"), ""
    put(folder, {other: finish(whole) for other, whole in files.items()} | {victim: finish(bytes(content))})
    try:
        load(name.format(folder), folder, size=4 if name == "imagenette" else None)
    except SettingError as error:
        said = str(error)
    assert "\n" not in said
