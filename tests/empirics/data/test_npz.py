"""An npz file is the arrays in it; what is damaged, foreign, pickled or too large is refused in one sentence."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest

from empirics.data import as_dataset, files, from_arrays, load
from tests.empirics.data.made_data import Calls, refusal

X = np.arange(60, dtype=np.float64).reshape(12, 5)
Y = np.arange(12) % 3
FOUR = {"x": X, "y": Y, "test_x": X[:6] + 1, "test_y": Y[:6]}


def saved(path, *, packed=False, **arrays):
    (np.savez_compressed if packed else np.savez)(path, **arrays)
    return path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("keras", [False, True])
@pytest.mark.parametrize("test", [False, True])
def test_the_arrays_of_a_file_are_the_data_set(packed, keras, test, tmp_path):
    arrays = dict(FOUR if test else list(FOUR.items())[:2])
    expected = from_arrays(*arrays.values())
    if keras:
        names = dict(zip(FOUR, ("x_train", "y_train", "x_test", "y_test"), strict=True))
        arrays = {names[key]: array for key, array in arrays.items()}
    path = saved(tmp_path / "mine.npz", packed=packed, **arrays)
    assert load(f"npz:{path}").digest == expected.digest
    assert as_dataset(f"npz:{path}").name == f"npz:{path}"
    with np.load(path) as opened:
        assert as_dataset(opened).digest == expected.digest


def test_a_relative_file_lies_in_the_working_directory(tmp_path, monkeypatch):
    """Arrays may be of other types, and by columns."""
    saved(tmp_path / "mine.npz", x=np.asfortranarray(X.astype(">i2")), y=Y.astype(np.float32))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load("npz:mine.npz", tmp_path / "elsewhere").digest == from_arrays(X, Y).digest
    assert "No such file" in refusal("npz:nowhere.npz", tmp_path)


def sentence(path):
    found = refusal(f"npz:{path}", None)
    assert str(path) in found
    return found


def test_pickled_arrays_are_refused_and_do_nothing(tmp_path):
    canary, bare = tmp_path / "executed", tmp_path / "b.npz"
    weapon = Calls(os.mkdir, str(canary))
    said = sentence(saved(tmp_path / "a.npz", x=np.array([weapon] * 12, object), y=Y))
    assert "x must be an array of real numbers, got object" in said
    bare.write_bytes(pickle.dumps(weapon))
    assert "not a whole npz file" in sentence(bare)
    assert not canary.exists()


def npy(array):
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize("shape", ["(10, 5)", "(13, 5)", "(-3,-20)", "(9**9,5)", "(12,'5')", "(((((("])
def test_a_header_that_lies_about_the_shape_is_refused(shape, tmp_path):
    whole, known = npy(X), str(X.shape).encode()
    x = whole[:10] + whole[10:].replace(known, shape.ljust(len(known)).encode(), 1)
    sentence(zipped(tmp_path / "mine.npz", x=x, y=npy(Y)))


def test_a_shape_that_does_not_fit_into_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = saved(tmp_path / "mine.npz", packed=True, x=X, y=Y)
    needed = X.nbytes + 4 * X.size + Y.nbytes + 4 * Y.size
    monkeypatch.setattr(files, "memory", lambda: needed)
    assert load(f"npz:{path}").classes == 3
    monkeypatch.setattr(files, "memory", lambda: needed - 1)
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("it was read"))
    assert "bytes of memory" in sentence(path)


@pytest.mark.parametrize("thorough", [False, True])
def test_a_bomb_is_refused_before_it_goes_off(thorough, tmp_path):
    """An array claims an exabyte, in its header alone or, `thorough`, in the archive's directory too."""
    written = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (2**57,)}
    np.lib.format.write_array_header_1_0(written, claim)
    path = tmp_path / "mine.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", written.getvalue())
        archive.writestr("y.npy", npy(Y))
        if thorough:
            archive.filelist[0].file_size += 2**60
    assert ("bytes of memory" if thorough else "it says that it has the shape") in sentence(path)


def test_what_is_no_npz_file_and_places_that_cannot_be_read_are_refused(tmp_path):
    own = tmp_path / "mine.npz"
    nothing = b"PK\5\6" + bytes(18)
    for content, part in {b"": "not a whole", npy(X): "not a whole", nothing: "holds nothing"}.items():
        own.write_bytes(content)
        assert part in sentence(own)
    assert "needs the name of a file" in refusal("npz:", None)
    assert "not a plain file" in sentence(tmp_path)
    assert "cannot be read (No such file" in sentence(tmp_path / "nowhere.npz")
    assert "not a plain file" in refusal(f"npz:{os.devnull}", None)
    refusal("npz:a\0b", None)
    refusal(f"npz:{'long' * 100}", None)
    own.chmod(0)
    if not os.access(own, os.R_OK):  # root may read anything
        assert "Permission denied" in sentence(own)


def test_truncated_files_and_changed_numbers_are_refused(tmp_path):
    whole = saved(tmp_path / "whole.npz", **FOUR).read_bytes()
    path = tmp_path / "mine.npz"
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        sentence(path)
    changed = bytearray(whole)
    changed[whole.index(X.tobytes()) + 64] ^= 1  # a number, which only the checksum can tell
    path.write_bytes(changed)
    assert "CRC" in sentence(path)


def test_an_array_twice_or_behind_a_password_is_refused(tmp_path):
    path = zipped(tmp_path / "mine.npz", x=npy(X), y=npy(Y))
    locked = bytearray(path.read_bytes())
    locked[6] |= 1  # the flag of encryption, in the file's own header and in the directory
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(locked)
    assert "encrypted" in sentence(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("x.npy", "y.npy", "x"):  # np.load would find either under the name x
            archive.writestr(name, npy(X))
    assert "it has an array twice" in sentence(path)


def test_an_array_of_times_goes_with_the_samples_that_are_not_held_out(tmp_path):
    """Inputs are the numbers of the samples."""
    x, y = np.arange(20.0), np.arange(20) % 2
    path = saved(tmp_path / "timed.npz", x=x, y=y, time=-x)
    data = load(f"npz:{path}")
    assert data.time.tolist() == (-data.train_x[:, 0]).tolist()
    assert data.digest != from_arrays(x, y).digest
    own = as_dataset({"x": x, "y": y, "test_x": x, "test_y": y, "time": x})
    assert own.time.tolist() == x.tolist()
    when = np.datetime64("2026-03-29T12:00:00") + x.astype("timedelta64[m]")
    moments = load(f"npz:{saved(tmp_path / 'dated.npz', x=x, y=y, time=when)}").time
    assert np.diff(moments).tolist() == (60 * np.diff(data.train_x[:, 0])).tolist()
    for wrong in (x[1:], x[:, np.newaxis], np.where(x > 3, np.nan, x)):
        path = saved(tmp_path / "wrong.npz", x=x, y=y, time=wrong)
        assert "time must have a finite number for each of the 20 samples" in sentence(path)
