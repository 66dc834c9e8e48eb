"""A file is whole or absent, says what made it, and is the same every time."""

import errno
import io
import os
from unittest.mock import Mock

import matplotlib as mpl
import matplotlib.image
import pytest
from matplotlib.figure import Figure

from figures.options import Format, Style
from figures.save import Origin, check_folder, render, save, write
from figures.style import LOOKS, Width
from tests.refused import refused
from theory.setting import SettingError

ORIGIN = Origin("acdpp plot uniformity --K 2", "1.2.3")
LOOK = LOOKS[Style.paper]


def sketch():
    """Lines, a clip and a hatch, whose names in a file could be random."""
    with LOOK.applied():
        figure, grid = LOOK.canvas(Width.double, 1)
        grid[0, 0].plot([1, 2, 4])
        LOOK.zone(grid[0, 0], 0, 1)
    return figure


@pytest.mark.parametrize("form", Format)
def test_a_file_names_the_command_and_the_version_and_no_time(form):
    first, again = (render(sketch(), form, LOOK, "title", ORIGIN, dpi=40) for _ in range(2))
    assert first == again
    for text in (ORIGIN.command, "acdpp 1.2.3"):
        assert text.encode() in first
    assert b"CreationDate" not in first
    assert b"<dc:date>" not in first


def test_a_picture_has_the_background_of_its_look_whatever_matplotlib_is_set_to():
    with mpl.rc_context({"savefig.facecolor": "red"}):
        made = render(sketch(), Format.png, LOOK, "title", ORIGIN, dpi=40)
    assert (mpl.image.imread(io.BytesIO(made))[0, 0, :3] == mpl.colors.to_rgb(LOOK.ground)).all()


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(failure, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    write(path, b"old")
    monkeypatch.setattr(os, "fsync", Mock(side_effect=failure))
    with pytest.raises((SettingError, KeyboardInterrupt)) as caught:
        write(path, b"new")
    if isinstance(failure, OSError):
        assert "No space left" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_bad_folder_is_refused_in_one_line_and_left_alone(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    for folder in (file, file / "below"):
        sentence = refused(check_folder, folder)
        assert "--out" in sentence
        assert str(folder) in sentence
    # root may write anywhere
    monkeypatch.setattr(os, "access", lambda place, mode: place != tmp_path or not mode & os.X_OK)
    assert "Permission denied" in refused(check_folder, tmp_path / "new")
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]


def test_writing_makes_the_folder_and_a_file_with_the_usual_permissions(tmp_path):
    folder = check_folder(tmp_path / "a" / "b")
    broken = Figure()
    broken.text(0.5, 0.5, r"$\notasymbol$")
    with pytest.raises(ValueError, match="notasymbol"):
        save(broken, folder, "figure", form=Format.png, look=LOOK, origin=ORIGIN)
    assert not list(tmp_path.iterdir())
    path = save(sketch(), folder, "figure", form=Format.svg, look=LOOK, origin=ORIGIN)
    (tmp_path / "plain").write_bytes(b"x")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
