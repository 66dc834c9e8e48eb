"""Files as they come: found, decompressed, read up to a limit, with one sentence when that fails.

Archives are read member by member into memory. No member is ever written to disk, so no name in an archive
can reach a file; archives with links, devices or names that lead out of them are refused all the same: no
published data set has them.
"""

import gzip
import io
import lzma
import os
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from theory.setting import SettingError

__all__ = [
    "brief",
    "content",
    "corrupt",
    "first_file",
    "members",
    "memory",
    "opened",
    "places",
    "refuse_flood",
]
__all__ += ["refuse_special"]

# what decompression and, on headers that it can't make sense of, tarfile raise
DAMAGED = (gzip.BadGzipFile, lzma.LZMAError, zlib.error, tarfile.TarError, EOFError, LookupError, ValueError)
LETTERS_MAX = 80  # letters of something from a file in a sentence
OPENERS: dict[str, Callable[..., io.BufferedIOBase]] = {".gz": gzip.open, ".tgz": gzip.open, ".xz": lzma.open}
BLOCK_BYTES = 512  # bytes; a tar archive is a sequence of these, closed by blocks of zeros


def places(name: str, wanted: str, data_dir: str | os.PathLike[str] | None, *below: str) -> list[Path]:
    """The data directory and the folders `below` it, which need not exist; `wanted` says what belongs there."""
    if data_dir is None:
        raise SettingError(f"{name} needs a data directory: {wanted}")
    root = Path(os.path.expanduser(data_dir))
    if root.is_file():
        raise SettingError(f"the data directory {root} is a file: give the directory that holds it")
    if not root.is_dir():
        raise SettingError(f"the data directory {root} does not exist: make it, and {wanted}")
    return [root, *(root / folder for folder in below)]


def corrupt(path: object, why: object) -> SettingError:
    """The sentence about a file that is not what it should be."""
    return SettingError(f"{path} is truncated or corrupt ({why}): get it again")


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """The bytes of a file, decompressed by its suffix; reading to the end verifies their checksum."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as stream:
            yield stream
    except SettingError:
        raise
    except DAMAGED as error:
        raise corrupt(path, error) from error
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror or error})") from error


def first_file(place: Path, name: str, *suffixes: str) -> Path | None:
    """The first of these files that exists, as it is or with a suffix."""
    paths = (place / f"{name}{suffix}" for suffix in ("", *suffixes))
    return next((path for path in paths if path.is_file()), None)


def content(path: Path, limit: int) -> bytes:
    """All bytes of a file, decompressed, which must not be more than `limit`."""
    with opened(path) as stream:
        found = stream.read(limit + 1)
    if len(found) > limit:
        raise corrupt(path, f"it holds more than {limit} bytes")
    return found


class _Watched(io.BufferedIOBase):
    """A stream that knows how many bytes were read and where the last one that is not zero ended."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self.stream, self.length, self.last = stream, 0, 0

    def read(self, size: int | None = -1, /) -> bytes:
        block = self.stream.read(size)
        if used := len(block.rstrip(b"\0")):
            self.last = self.length + used
        self.length += len(block)
        return block


def members(path: Path, wanted: Callable[[str], bool], limit: int) -> Iterator[tuple[str, bytes]]:
    """Name and content of the wanted files of a compressed tar archive, each of at most `limit` bytes.

    `tarfile` takes a damaged header for the end of the archive. So what follows the last member must be the
    zeros that close an archive, up to the end of a stream whose checksum holds.
    """
    with opened(path) as stream:
        watched, end, seen = _Watched(stream), 0, set()
        with tarfile.open(fileobj=watched, mode="r|") as archive:
            for member in archive:
                name = _harmless(path, member)
                end = member.offset_data + -(-member.size // BLOCK_BYTES) * BLOCK_BYTES
                if not member.isreg() or not wanted(name):
                    continue
                if name in seen:
                    raise corrupt(path, f"{brief(name)!r} is in it twice")
                seen.add(name)
                if member.size > limit:
                    raise corrupt(path, f"{brief(name)!r} has more than {limit} bytes")
                file = archive.extractfile(member)
                assert file is not None  # it is for a regular file
                yield name, file.read()
        while watched.read(1 << 20):
            pass
        if watched.last > end or watched.length < end + BLOCK_BYTES:
            raise corrupt(path, "the archive breaks off")


def _harmless(path: Path, member: tarfile.TarInfo) -> str:
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise SettingError(f"{path} is refused: its member {brief(member.name)!r} points out of the archive")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise SettingError(
            f"{path} is refused: its member {brief(member.name)!r} is neither a plain file nor a folder"
        )
    return str(name)


def brief(thing: object) -> str:
    """Something from a file, which may be long and hold anything, as part of a sentence.

    >>> brief(80 * "a") == 80 * "a", brief(" a \\n" + 80 * "b") == "a " + 78 * "b" + "…"
    (True, True)
    """
    words = " ".join(str(thing).split())
    return words if len(words) <= LETTERS_MAX else f"{words[:LETTERS_MAX]}…"


def refuse_flood(path: Path, needed: int) -> None:
    """Refuse a file that takes more memory than this machine has."""
    if needed > memory():
        raise SettingError(
            f"{path} needs {needed:.2g} bytes of memory, and there are {memory():.2g}: take a part of it"
        )


def refuse_special(path: Path, wanted: str) -> None:
    """Refuse a folder, pipe or device, which may have no end; `wanted` says what the file should be."""
    if path.exists() and not path.is_file():
        raise SettingError(f"{path} is not a plain file: {wanted}")


def memory() -> int:
    """Bytes of this machine's memory, where the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
