"""A result's folder by itself: what it holds after each step, and what it refuses."""

import os

import pytest

from empirics.files import writable
from empirics.results import folder as module
from empirics.results.folder import Folder, new_folder, read_result, refuse_existing, refuse_place
from tests.empirics.small import refused, study

SETTINGS = {"study": study().document()}


def test_a_result_that_cannot_begin_leaves_no_new_folder(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "no space left", "the file")

    monkeypatch.setattr(module, "replace_file", full)
    (tmp_path / "old").mkdir()
    for name in ("old", "new"):
        with pytest.raises(OSError, match=r"'the file' \(no space left\): .* begin again"):
            Folder.begin(tmp_path / name, SETTINGS).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    (tmp_path / "file").touch(0o700)
    assert not writable(tmp_path / "file" / "x")
    assert "cannot be made" in refused(Folder.begin(tmp_path / "file" / "x", SETTINGS).__enter__)
    disk = module.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: disk._replace(free=8 * 21 * 1000 * 6))
    several = {"policies": ("constant", "oracle", "hybrid"), "seeds": 2}
    refuse_place(study(**several, rounds=1000), tmp_path / "large")
    large = refused(refuse_place, study(**several, rounds=1001), tmp_path / "large")
    assert "1,001 rounds of 6 runs may take" in large
    assert f"are free for {str(tmp_path / 'large')!r}: make room" in large


def test_a_folder_without_a_result_is_not_even_locked(tmp_path):
    assert "is no result" in refused(Folder.continued(tmp_path).__enter__)
    assert not list(tmp_path.iterdir())


def test_new_folders_are_numbered_from_one(tmp_path):
    place = tmp_path / "results"
    for n in (1, 2, 3):
        assert new_folder(place, "digits") == place / f"digits-{n}"
    assert len([*place.iterdir()]) == 3


def test_a_folder_that_may_not_be_written_to_is_refused_unless_it_is_to_hold_a_new_one(tmp_path, monkeypatch):
    mine, foreign = tmp_path / "foreign" / "mine", tmp_path / "mine" / "foreign"
    for folder in (mine, foreign):
        folder.mkdir(parents=True)
    mode = os.W_OK | os.X_OK
    monkeypatch.setattr("os.access", lambda place, asked: asked == mode and place.name != "foreign")
    for place, within, beside in ((mine, True, False), (foreign, False, True), (mine / "new", True, True)):
        assert (writable(place, within=True), writable(place)) == (within, beside)
    refuse_existing(mine)
    assert "nothing can be written there" in refused(refuse_existing, foreign)


def test_only_the_last_state_is_kept_and_what_a_kill_left_is_cleared_away(tmp_path, monkeypatch):
    forced = []
    monkeypatch.setattr("os.fsync", forced.append)
    with Folder.begin(tmp_path, SETTINGS | {"federation": {}}) as folder:
        assert len(forced) == 2  # the settings, and the folder with their name
        for first, last in ((1, 2), (3, 5)):
            folder.save(first, last, {"round": list(range(first, last + 1))}, {})
        assert [path.name for path in tmp_path.glob("state*")] == ["state-000000000005.npz"]
    left = [tmp_path / name for name in ("state-000000000009.npz", "summary.json.partial", "parts/x.partial")]
    for path in (*left, tmp_path / "notes"):
        path.touch()
    with Folder.continued(tmp_path) as folder:
        assert folder.settings == {"format": 2, **SETTINGS, "federation": {}}
        folder.clear()
    assert [path.exists() for path in (*left, tmp_path / "notes")] == [False, False, False, True]
    assert f"is unfinished: acdpp resume {tmp_path} continues" in refused(read_result, tmp_path)
    stranger = tmp_path / "parts" / "000000000001-000000000001.parquet"
    stranger.touch()
    assert "00001.parquet' does not belong" in refused(Folder.continued(tmp_path).__enter__)
    (tmp_path / "parts" / "000000000003-000000000005.parquet").write_bytes(b"")
    assert "holds rounds 3 to 5, is damaged" in refused(Folder.continued(tmp_path).__enter__)


def test_rows_that_are_damaged_after_the_folder_was_opened_are_refused(tmp_path):
    with Folder.begin(tmp_path, SETTINGS) as folder:
        folder.save(1, 99, {"round": list(range(1, 100))}, {})
        (file,) = (tmp_path / "parts").iterdir()
        content = file.read_bytes()
        file.write_bytes(content[:80] + bytes([content[80] ^ 1]) + content[81:])
        assert "cannot be read" in refused(lambda: [*folder.chunks()])


def test_parts_that_a_kill_left_beside_what_they_were_joined_to_are_cleared_away(tmp_path):
    with Folder.begin(tmp_path, SETTINGS) as folder:
        folder.save(1, 5, {"round": [1, 2, 3, 4, 5]}, {})
        folder.finish({})
    with Folder.continued(tmp_path) as folder:
        folder.reopen()
    with Folder.continued(tmp_path) as folder:  # though a kill came then
        assert not folder.finished
        folder.finish({})
    joined, other = (tmp_path / "parts" / f"000000000003-{last:012d}.parquet" for last in (5, 6))
    joined.parent.mkdir()
    joined.touch()
    with Folder.continued(tmp_path) as folder:
        folder.clear()
    assert not joined.parent.exists()
    other.parent.mkdir()
    other.touch()
    assert "00006.parquet' does not belong" in refused(Folder.continued(tmp_path).__enter__)
