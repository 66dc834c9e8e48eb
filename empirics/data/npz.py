"""Arrays of the user's own in an npz file, as `np.savez(FILE, x=x, y=y)` writes it.

An npz file is a zip archive of npy files. What each says about its shape and type is compared with its length, and
with the memory there is, before anything is allocated; nothing is unpickled, and checksums are verified.
"""

import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.data.arrays import TIME, Samples, keys
from empirics.data.files import brief, corrupt, refuse_flood, refuse_special
from empirics.settings.dataset_name import NPZ
from theory.setting import SettingError

__all__ = ["read_npz"]

WANTED = (
    "it should hold the arrays x and y, and perhaps test_x and test_y, time and client, as np.savez(FILE, x=x, y=y) "
    "writes them"
)
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_npz(name: str) -> Samples:
    """The samples of `npz:FILE`; a relative FILE is looked for in the working directory."""
    if not name.removeprefix(NPZ):
        raise SettingError(f"{NPZ} needs the name of a file, such as {NPZ}mine.npz: {WANTED}")
    path = Path(os.path.expanduser(name.removeprefix(NPZ)))
    try:
        refuse_special(path, WANTED)
        with zipfile.ZipFile(path) as archive:
            arrays = _arrays(path, archive)
    except SettingError:
        raise
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror or error}): {WANTED}") from error
    except Exception as error:  # zipfile and the decompressors may raise anything on a damaged file
        raise SettingError(f"{path} is not a whole npz file ({brief(error)}): {WANTED}") from error
    return Samples(arrays, where=f"{path}: ")


def _arrays(path: Path, archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
    if len(members) < len(archive.infolist()):
        raise corrupt(path, "it has an array twice")
    wanted = keys(str(path), list(members))
    needed = sum(_size(f"{path}: {key}", archive, members[key]) for key in wanted.values())
    refuse_flood(path, needed)
    return {name: _array(archive, members[key]) for name, key in wanted.items()}


def _size(what: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Bytes of an array and of its copy as float32; refused unless it is as long as its header says.

    So reading the array reads the member to its end, where zipfile compares the checksum.
    """
    if member.flag_bits & 1:
        raise SettingError(f"{what} is encrypted: save it with np.savez")
    with archive.open(member) as stream:
        header = HEADERS.get(np.lib.format.read_magic(stream))
        if header is None:
            raise SettingError(f"{what} is an npy file of a version that is not read: save it with np.savez")
        shape, _, dtype = header(stream)
        length = member.file_size - stream.tell()
    if dtype.kind not in ("biufM" if what.endswith(f": {TIME}") else "biuf"):
        raise SettingError(f"{what} must be an array of real numbers, got {brief(dtype)}")
    items = math.prod(shape)
    if items * dtype.itemsize != length:
        raise corrupt(
            what, f"it says that it has the shape {brief(shape)} of {dtype}, and has {length} bytes"
        )
    return items * (dtype.itemsize + 4)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return found
