"""From a figure to a file that says where it comes from, whole or not at all.

A file is rendered in memory, written beside its place and then moved there. It names the command and the version
that made it and no time, so the same command gives the same bytes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from errno import EACCES, ENOTDIR
from io import BytesIO
from os import strerror
from pathlib import Path

from matplotlib.figure import Figure

from figures.choices import Format
from figures.style import Look
from theory.setting import SettingError

__all__ = ["Origin", "check_folder", "render", "save", "write"]


@dataclass(frozen=True)
class Origin:
    """What made a figure: the command, and the version of acdpp."""

    command: str
    version: str

    def metadata(self, form: Format, title: str) -> dict[str, str | None]:
        """The entries of a file's own kind; None takes out what matplotlib would put there, the time above all."""
        software = f"acdpp {self.version}"
        if form is Format.png:
            return {"Title": title, "Description": self.command, "Software": software}
        if form is Format.svg:
            return {"Title": title, "Description": self.command, "Creator": software, "Date": None}
        return {"Title": title, "Subject": self.command, "Creator": software, "CreationDate": None}


def render(
    figure: Figure, form: Format, look: Look, title: str, origin: Origin, dpi: int | None = None
) -> bytes:
    """The bytes of the file."""
    content = BytesIO()
    with look.applied():
        figure.savefig(content, format=form.value, dpi=dpi or look.dpi, metadata=origin.metadata(form, title))
    return content.getvalue()


def _refuse(folder: Path, error: OSError) -> SettingError:
    reason = error.strerror or type(error).__name__
    return SettingError(f"cannot write into {str(folder)!r} ({reason}): choose another folder with --out")


def check_folder(path: Path) -> Path:
    """The folder, refused before anything is computed if it could not be made or written to. Makes nothing yet."""
    if path.suffix.lower() in {f".{form.value}" for form in Format} and not path.is_dir():
        raise SettingError(
            f"--out is the folder for the file, and {path.name!r} is named like a file: give --out {path.parent} "
            f"--format {path.suffix[1:].lower()}"
        )
    existing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise _refuse(path, NotADirectoryError(ENOTDIR, strerror(ENOTDIR)))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise _refuse(path, PermissionError(EACCES, strerror(EACCES)))
    return path


def write(path: Path, content: bytes) -> None:
    """The file, whole; where that fails, what was there before stays and nothing else does."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("xb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _refuse(path.parent, error) from None
        raise


def save(
    figure: Figure,
    folder: Path,
    name: str,
    *,
    form: Format,
    look: Look,
    origin: Origin,
    dpi: int | None = None,
) -> Path:
    """Render, write, and say where."""
    path = folder / f"{name}.{form.value}"
    write(path, render(figure, form, look, f"acdpp: {name}", origin, dpi))
    return path
