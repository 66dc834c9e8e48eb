"""Archives that lead astray or break off are refused, and any damage is survived or refused in one sentence."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empirics.data import cifar10, imagenette, load
from tests.empirics.data.made_data import (
    BIN,
    BINARY,
    CIFAR10,
    IMAGENETTE,
    INSIDE,
    MNIST,
    PICTURES,
    PY,
    PYTHON,
    Files,
    gzipped,
    packed,
    put,
    refusal,
    tar,
    under,
)
from theory.setting import SettingError

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
