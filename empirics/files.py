"""Atomic writes: files that are whole or absent, and known by their digest."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["PARTIAL", "replace_file", "sha256_of", "writable"]

PARTIAL = ".partial"  # ends the name of a file that is being written


def replace_file(path: Path, write: Callable[[Path], object]) -> str:
    """Write a file beside its place, force it to disk, and move it there in one step; returns its SHA-256.

    Others may write other files of the folder at the same time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = replace_file(Path(folder) / "a.txt", lambda beside: beside.write_text(beside.name))
    ...     (Path(folder) / "a.txt").read_text()
    'a.txt.partial'
    """
    beside = path.with_name(path.name + PARTIAL)
    beside.unlink(missing_ok=True)  # a link would be followed
    try:
        write(beside)
        with beside.open("rb") as handle:
            os.fsync(handle.fileno())
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # some systems cannot force a folder to disk
        place = os.open(path.parent, os.O_RDONLY)
        os.fsync(place)
        os.close(place)
    return digest


def sha256_of(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def writable(path: Path, *, within: bool = False) -> bool:
    """Tell, without trying, whether a file or folder can be made at `path`, or `within` the folder there.

    >>> writable(Path("a/new/folder")), writable(Path(__file__) / "below")
    (True, False)
    """
    path = path.absolute()
    place = next((one for one in ((path,) if within else ()) + tuple(path.parents) if one.exists()), path)
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)
