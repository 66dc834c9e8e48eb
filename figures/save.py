"""Figure files that name their origin, written whole or not at all.

A file names the command and the version that made it but no time, so that a command always gives the same bytes.
"""

import os
from dataclasses import dataclass
from errno import EACCES, ENOTDIR
from io import BytesIO
from os import strerror
from pathlib import Path

from matplotlib.figure import Figure

from empirics.files import replace_file
from figures.options import Format
from figures.style import Look
from theory.setting import SettingError

__all__ = ["Origin", "check_folder", "render", "save", "write"]


@dataclass(frozen=True)
class Origin:
    """Origin of a figure: the command, and the version of acdpp."""

    command: str
    version: str

    def metadata(self, form: Format, title: str) -> dict[str, str | None]:
        """Metadata as the format names them; None removes matplotlib's timestamp."""
        software = f"acdpp {self.version}"
        entries: dict[Format, dict[str, str | None]] = {
            Format.png: {"Description": self.command, "Software": software},
            Format.svg: {"Description": self.command, "Creator": software, "Date": None},
            Format.pdf: {"Subject": self.command, "Creator": software, "CreationDate": None},
        }
        return {"Title": title} | entries[form]


def render(
    figure: Figure, form: Format, look: Look, title: str, origin: Origin, dpi: int | None = None
) -> bytes:
    """The bytes of a figure's file."""
    content = BytesIO()
    with look.applied():
        figure.savefig(content, format=form.value, dpi=dpi or look.dpi, metadata=origin.metadata(form, title))
    return content.getvalue()


def _refuse(folder: Path, error: OSError) -> SettingError:
    reason = error.strerror or type(error).__name__
    return SettingError(f"cannot write into {str(folder)!r} ({reason}): choose another folder with --out")


def check_folder(path: Path) -> Path:
    """The folder, unless it cannot be made or written to; it is not made yet."""
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
    """Write a file whole; on failure an earlier file stays and nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, lambda beside: beside.write_bytes(content))
    except OSError as error:
        raise _refuse(path.parent, error) from None


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
    """Render and write a figure; returns its path."""
    path = folder / f"{name}.{form.value}"
    write(path, render(figure, form, look, f"acdpp: {name}", origin, dpi))
    return path
