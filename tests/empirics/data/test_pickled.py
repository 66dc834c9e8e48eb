"""The pickles of CIFAR-10's python version are read, and no pickle can make the reader do anything."""

import copyreg
import os
import pickle
import sys

import numpy as np
import pytest

from empirics.data import pickled
from tests.empirics.data import made_data as made
from tests.empirics.small import refused


def test_a_batch_stored_by_columns_or_by_todays_numpy_is_read_too():
    records = made.BATCHES["data_batch_1"]
    batch = {"labels": records[:, 0].tolist(), "data": np.ascontiguousarray(records[:, 1:])}
    today = (pickle.dumps(batch, protocol) for protocol in (3, 4))
    for content in (made.batch_pickle(records, by_column=True), *today):
        labels, pixels = pickled.labels_and_pixels("batch", content)
        np.testing.assert_array_equal(np.column_stack([labels, pixels]), records)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_malicious_pickle_is_refused_and_does_nothing(protocol, hidden, tmp_path):
    canary = tmp_path / "executed"
    for weapon in (
        made.Calls(os.mkdir, str(canary)),
        made.Calls(os.system, f"mkdir {canary}"),
        made.Calls(eval, f"__import__('os').mkdir({str(canary)!r})"),
        made.Calls(__import__, "this"),
    ):
        payload = pickle.dumps({"labels": [1], "data": weapon} if hidden else weapon, protocol)
        folder = made.put(tmp_path / "data", made.under(made.PY, made.PYTHON | {"data_batch_2": payload}))
        sentence = made.refusal("cifar10", folder)
        assert "data_batch_2" in sentence
        assert "refused" in sentence
        assert not canary.exists()
        assert "this" not in sys.modules


ONE = np.zeros((1, 3072), np.uint8)
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n"
HOSTILE = {
    "another function of numpy": (b"\x80\x02cnumpy\nload\n(U\x01xtR.", "asks for 'numpy.load'"),
    "a name beside an allowed one": (b"\x80\x02cnumpy.core.multiarray\nscalar\n.", "asks for"),
    "a dotted name": (b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93.", "asks for"),
    "an extension code": (b"\x80\x02\x82\x01.", "opcode EXT1"),
    "a persistent id": (b"\x80\x02U\x01xQ.", "opcode BINPERSID"),
    "an instance": (b"\x80\x02(iposix\nsystem\n.", "opcode INST"),
    "a new object": (b"\x80\x02cnumpy\nndarray\n)\x81.", "opcode NEWOBJ"),
    "an object built on the stack": (b"\x80\x02(cnumpy\nndarray\no.", "opcode OBJ"),
    "state on a stand-in's class": (b"\x80\x02cnumpy\nndarray\n}U\x09argumentsK\x01sb.", "refused"),
    "a call of a call": (b"\x80\x02" + ARRAY + b")R)R.", "not callable"),
    "four thousand million memo slots": (b"\x80\x02Nr\xff\xff\xff\xff.", "memo index"),
    "a string longer than the file": (b"\x80\x02T\xff\xff\xff\x7fx.", "refused"),
    "nothing": (b"", "refused"),
    "no end": (b"\x80\x02}", "refused"),
    "only a number": (b"\x80\x02K\x01.", "is a dict"),
}


@pytest.mark.parametrize(("content", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_opcodes_are_refused_and_leave_the_reader_as_it_was(content, reason):
    known = {base for one in pickled.KNOWN.values() for base in one.__mro__}
    before = {cls: dict(vars(cls)) for cls in known}
    assert reason in refused(pickled.labels_and_pixels, "batch", content)
    assert before == {cls: dict(vars(cls)) for cls in before}


def test_an_extension_code_that_another_unpickler_has_used_is_refused_too(tmp_path):
    code, canary = 0xF0, tmp_path / "executed"
    copyreg.add_extension(os.mkdir.__module__, "mkdir", code)
    try:
        extension = b"\x82" + bytes([code])
        assert pickle.loads(b"\x80\x02" + extension + b".") is os.mkdir  # cached from here on: no find_class
        armed = b"\x80\x02" + extension + made.short_string(bytes(canary)) + b"\x85R."
        assert "opcode EXT1" in refused(pickled.labels_and_pixels, "batch", armed)
        assert not canary.exists()
    finally:
        copyreg.remove_extension(os.mkdir.__module__, "mkdir", code)
        copyreg.clear_extension_cache()


def test_a_harmless_pickle_of_something_else_is_refused():
    for batch in (
        *({"labels": [1], "data": ONE.astype(kind)} for kind in (np.int8, object)),
        *({"labels": [1], "data": data} for data in (ONE[0], ONE[:, 1:], ONE.repeat(2, 0), bytes(3072))),
        *({"labels": labels, "data": ONE} for labels in ([10], [-1], [True], "1")),
        {"labels": [], "data": ONE[:0]},
        {"labels": [1]},
        {"data": ONE},
        [1, 2],
    ):
        assert "batch" in refused(pickled.labels_and_pixels, "batch", pickle.dumps(batch, 4))
