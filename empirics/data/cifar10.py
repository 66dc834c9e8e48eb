"""CIFAR-10 from its binary or its python version, unpacked or as published, or from two files of records."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from empirics.data.dataset import Dataset, Images, Labels, Pixels, scaled
from empirics.data.files import content, corrupt, first_file, members, places
from empirics.data.pickled import labels_and_pixels
from theory.setting import SettingError

__all__ = ["load"]

CLASSES = 10
RECORD_BYTES = 1 + 3 * 32 * 32  # bytes: the label, then the red, green and blue planes
RECORDS = 10_000  # of a batch
BYTES_MAX = 1 << 25  # bytes of a batch; the published ones have 31 million
TEST = "test_batch"


@dataclass(frozen=True)
class Version:
    """One of the published versions: its names, how its batches are written, and their digests."""

    archive: str
    folder: str
    suffix: str
    algorithm: str
    digests: dict[str, str]

    def batch(self, source: object, name: str, written: bytes) -> Pixels:
        """The records `(N, 3073)` of a batch; one of the full length must be the published one."""
        if self.suffix == ".bin":
            records = _records(source, written)
        else:
            records = np.column_stack(labels_and_pixels(source, written))
        if len(records) == RECORDS:
            self.confirm(source, name, written)
        return records

    def confirm(self, source: object, name: str, written: bytes) -> None:
        """Refuses a complete batch that differs from the published one."""
        if hashlib.new(self.algorithm, written, usedforsecurity=False).hexdigest() != self.digests[name]:
            raise corrupt(source, f"it is as long as CIFAR-10's {name} but has other content")


# the batches' SHA-256 digests that torchvision for Ruby checks
BINARY = Version(
    archive="cifar-10-binary.tar.gz",
    folder="cifar-10-batches-bin",
    suffix=".bin",
    algorithm="sha256",
    digests={
        "data_batch_1": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
        "data_batch_2": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
        "data_batch_3": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
        "data_batch_4": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
        "data_batch_5": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
        TEST: "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    },
)
# the batches' MD5 digests that torchvision checks: good against damage, and safety does not rest on them
PYTHON = Version(
    archive="cifar-10-python.tar.gz",
    folder="cifar-10-batches-py",
    suffix="",
    algorithm="md5",
    digests={
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        TEST: "40351d587109b95175f43aff81a1287e",
    },
)
BATCHES = tuple(BINARY.digests)
TRAIN = BATCHES[:-1]
WANTED = (
    f"put {BINARY.archive} or {PYTHON.archive} from the CIFAR-10 home page into it, or the folder "
    f"{BINARY.folder} or {PYTHON.folder} that they unpack to"
)


def load(data_dir: str | os.PathLike[str] | None) -> Dataset:
    """CIFAR-10; of several versions side by side: a folder first, then files of records, then an archive."""
    for place in places("cifar10", WANTED, data_dir, "cifar10", "CIFAR10"):
        for version in (BINARY, PYTHON):
            for folder in (place / version.folder, place):
                paths = {name: folder / f"{name}{version.suffix}" for name in BATCHES}
                if any(path.is_file() for path in paths.values()):
                    return _from_folder(version, folder, paths)
        train, test = (first_file(place, f"{split}.bin", ".xz", ".gz") for split in ("train", "test"))
        if train and test:
            return _dataset(_from_records(train, TRAIN), _from_records(test, (TEST,)))
        if train or test:
            raise SettingError(f"{place} holds {train or test} alone: train.bin and test.bin belong together")
        for version in (BINARY, PYTHON):
            if (place / version.archive).is_file():
                return _from_archive(version, place / version.archive)
    raise SettingError(f"there is no CIFAR-10 in {data_dir}: {WANTED}")


def _from_folder(version: Version, folder: Path, paths: dict[str, Path]) -> Dataset:
    there = {name: path for name, path in paths.items() if path.is_file()}
    _all_there(folder, version, there)
    batches = {name: version.batch(path, name, content(path, BYTES_MAX)) for name, path in there.items()}
    return _assembled(batches)


def _from_archive(version: Version, archive: Path) -> Dataset:
    names = {f"{version.folder}/{name}{version.suffix}": name for name in BATCHES}
    batches = {
        names[member]: version.batch(f"{archive}'s {PurePosixPath(member).name}", names[member], written)
        for member, written in members(archive, names.__contains__, BYTES_MAX)
    }
    _all_there(archive, version, batches)
    return _assembled(batches)


def _all_there(where: Path, version: Version, found: Iterable[str]) -> None:
    if missing := [f"{name}{version.suffix}" for name in BATCHES if name not in set(found)]:
        raise SettingError(f"{where} holds a part of CIFAR-10 only: {', '.join(missing)} should be in it too")


def _from_records(path: Path, names: tuple[str, ...]) -> Pixels:
    """The records of a file that may hold these batches one after the other, or a part of them."""
    whole = RECORDS * RECORD_BYTES
    written = content(path, len(names) * whole)
    records = _records(path, written)
    if len(written) == len(names) * whole:
        for i, name in enumerate(names):
            BINARY.confirm(path, name, written[i * whole : (i + 1) * whole])
    return records


def _records(source: object, written: bytes) -> Pixels:
    if not written or len(written) % RECORD_BYTES:
        raise corrupt(source, f"{len(written)} bytes are no whole number of records of {RECORD_BYTES} bytes")
    records = np.frombuffer(written, np.uint8).reshape(len(written) // RECORD_BYTES, RECORD_BYTES)
    if (largest := records[:, 0].max()) >= CLASSES:
        raise corrupt(source, f"CIFAR-10's labels are 0 … 9, it has a {largest}")
    return records


def _assembled(batches: dict[str, Pixels]) -> Dataset:
    return _dataset(np.concatenate([batches[name] for name in TRAIN]), batches[TEST])


def _dataset(train: Pixels, test: Pixels) -> Dataset:
    return Dataset.of("cifar10", _split(train), _split(test), CLASSES)


def _split(records: Pixels) -> tuple[Images, Labels]:
    return scaled(records[:, 1:].reshape(-1, 3, 32, 32)), records[:, 0].astype(np.int64)
