"""Arrays and torch's data sets become the same data set by whatever door, or are refused in one sentence."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset, TensorDataset

from empirics.data import Dataset, as_dataset, from_arrays, from_mapping, from_torch, load
from tests.empirics.small import refused

RNG = np.random.default_rng(3)
X, TEST_X = RNG.normal(size=(12, 2, 3)), RNG.normal(size=(6, 2, 3))
Y, TEST_Y = np.arange(12) % 3, np.arange(6) % 3
HELD_OUT = [0, 8, 12, 14]  # of 23: pinned, so that nobody's test set changes unnoticed


class Items:
    """A map-style data set, as torch means it."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


TRAIN, TEST = (TensorDataset(torch.tensor(x), torch.tensor(y)) for x, y in ((X, Y), (TEST_X, TEST_Y)))
FORMS = {
    "four": (X, Y, TEST_X, TEST_Y),
    "pairs": ((X, Y), (TEST_X, TEST_Y)),
    "pairs of lists": [[X.tolist(), Y.tolist()], [TEST_X.tolist(), TEST_Y.tolist()]],
    "float32, by columns": (np.asfortranarray(X, np.float32), Y, TEST_X, TEST_Y.astype(float)),
    "four in a list": [X, Y, TEST_X, TEST_Y],
    "tensors": tuple(torch.tensor(array) for array in (X, Y, TEST_X, TEST_Y)),
    "mapping": {"y": Y, "x": X, "test_x": TEST_X, "test_y": TEST_Y},
    "mapping, as Keras": {"x_train": X, "y_train": Y, "x_test": TEST_X, "y_test": TEST_Y},
    "torch": (TRAIN, TEST),
    "items": (Items(*zip(X, Y.tolist(), strict=True)), Items(*zip(TEST_X, TEST_Y, strict=True))),
    "other class numbers": (X, Y * 10 - 7, TEST_X, TEST_Y * 10 - 7),
    "ready": from_arrays(X, Y, TEST_X, TEST_Y),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_data_set_is_the_same_by_every_door(form):
    data = as_dataset(FORMS[form])
    np.testing.assert_array_equal(data.train_x, X.astype(np.float32))
    np.testing.assert_array_equal(data.test_x, TEST_X.astype(np.float32))
    np.testing.assert_array_equal(data.train_y, Y)
    np.testing.assert_array_equal(data.test_y, TEST_Y)
    assert data.classes == 3
    assert data.digest == from_arrays(X, Y, TEST_X, TEST_Y).digest


def test_names_and_ready_data_sets_pass_the_same_door_and_all_else_is_told_what_would_do():
    ready = from_arrays(X, Y)
    assert as_dataset(ready) is ready
    assert as_dataset("digits").digest == load("digits").digest
    assert "choose one of digits" in refused(as_dataset, "svhn")
    assert "data directory" in refused(as_dataset, "mnist")
    arrays = (X, torch.tensor(X), (X, Y, X), (X,), (), (TRAIN, X), (X, TRAIN))
    for thing in (None, 5, object(), iter([1]), *arrays):
        assert "a data set is one of digits" in refused(as_dataset, thing)


def test_every_fifth_of_a_fixed_order_is_held_out():
    x = np.arange(23)
    data = from_arrays(x, x % 2)
    assert data.test_x.tolist() == [[n] for n in HELD_OUT]
    assert sorted([*data.train_x.ravel(), *data.test_x.ravel()]) == x.tolist()
    np.testing.assert_array_equal(data.test_y, data.test_x.ravel() % 2)
    np.testing.assert_array_equal(data.train_y, data.train_x.ravel() % 2)
    assert as_dataset((x, x % 2)).digest == as_dataset({"x": x, "y": x % 2}).digest == data.digest
    owned = from_mapping({"x": x, "y": x % 2, "time": 50 - x, "client": 5 + x // 3})
    assert np.array_equal([owned.time, owned.client], [50 - data.train_x[:, 0], data.train_x[:, 0] // 3])
    other_owners = from_mapping({"x": x, "y": x % 2, "time": 50 - x, "client": 5 + x // 4})
    assert len({data.digest, owned.digest, other_owners.digest}) == 3
    assert from_torch(Items(*zip(x, x % 2, strict=True))).test_x.ravel().tolist() == HELD_OUT


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", ">f8", "longdouble"])
def test_inputs_of_any_real_type_become_float32_and_stay_as_they_are(dtype):
    x = (RNG.integers(0, 200, (6, 4))).astype(dtype)
    data = from_arrays(x, [0, 1] * 3, x, [0, 1] * 3)
    assert data.train_x.dtype == np.float32
    np.testing.assert_array_equal(data.train_x, x.astype(np.float32))


def test_a_data_set_keeps_its_numbers_when_the_array_changes():
    x, y = X.astype(np.float32), Y.astype(np.int64)
    data = from_arrays(x, y, x, y)
    x[:], y[:] = 7, 2
    again = Dataset.of("again", (data.train_x, data.train_y), (data.test_x, data.test_y), data.classes)
    assert again.digest == data.digest == from_arrays(X, Y, X, Y).digest


def test_a_test_set_without_some_class_has_the_numbers_of_training():
    names = np.array([-7, 3, 40])
    data = from_arrays(X, names[Y], TEST_X[:3], [40, 3, 40])
    assert data.test_y.tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    "y", [[False, True] * 3, [2**63 - 1, -(2**63)] * 3, np.array([5, 2**62] * 3, np.uint64), [-0.0, 1e15] * 3]
)
def test_class_numbers_may_be_any_whole_numbers(y):
    data = from_arrays(np.arange(6), y, np.arange(6), y)
    np.testing.assert_array_equal(data.train_y, np.unique(np.array(y), return_inverse=True)[1])


BAD = X.copy()
BAD[3, 1, 2] = np.nan
WRONG = {
    "lengths": ((X, Y[:-1]), "x and y must be of one length, got 12 and 11"),
    "test lengths": ((X, Y, TEST_X, Y), "test_x and test_y must be of one length"),
    "the other half": ((X, Y, None, TEST_Y), "belong together"),
    "nan": ((BAD, Y), "x must hold finite numbers that float32 can hold, got nan"),
    "nan in the test": ((X, Y, BAD[:6], TEST_Y), "test_x must hold finite"),
    "too large for float32": ((X * 1e300, Y), "float32"),
    "complex": ((X * 1j, Y), "x must be an array of real numbers, got a ndarray of complex128"),
    "objects": ((X.astype(object), Y), "got a ndarray of object"),
    "ragged": (([[1, 2], [3]], [0, 1]), "got a list (setting an array element with a sequence)"),
    "masked": ((np.ma.masked_greater(X, 0), Y), "masked"),
    "a tensor that learns": ((torch.tensor(X, requires_grad=True), Y), "real numbers"),
    "no samples": ((X[:0], Y[:0]), "shape (0, 2, 3)"),
    "no features": ((X[:, :0], Y), "shape (12, 0, 3)"),
    "a number": ((5, Y), "shape ()"),
    "one-hot": ((X, np.eye(3)[Y]), "one class number for each sample, got an array of shape (12, 3)"),
    "no labels": ((X, []), "shape (0,)"),
    "halves": ((X, Y + 0.5), "whole class numbers, such as 0, 1, 2, got 0.5"),
    "nan labels": ((X, Y * np.nan), "whole"),
    "huge labels": ((X, Y + 1e300), "whole"),
    "beyond int64": ((X, np.array([0, 2**63 + 5] * 6, np.uint64)), "whole"),
    "one class": ((X, Y * 0 + 4), "two classes or more, got 4 alone"),
    "an unseen class": ((X, Y, TEST_X, TEST_Y + 5), "training never sees: y has no such class"),
    "shapes": ((X, Y, TEST_X[:, :1], TEST_Y), "inputs of one shape, got (2, 3) and (1, 3)"),
    "four samples": ((X[:4], Y[:4]), "at least 5 samples"),
}


@pytest.mark.parametrize(("given", "part"), WRONG.values(), ids=WRONG)
def test_arrays_that_are_no_data_set_are_refused(given, part):
    assert part in refused(from_arrays, *given)


def test_a_class_that_is_all_held_out_is_not_lost_silently():
    y = np.zeros(23)
    y[HELD_OUT[0]] = 9
    sentence = refused(from_arrays, np.arange(23), y)
    assert "the class 9, which training never sees: all its samples were held out" in sentence


@pytest.mark.parametrize(
    "names",
    [(), ("x",), ("x", "y", "test_x"), ("x", "y", "x_test", "y_test"), ("x", "y", "ids"), ("X", "y"), (1, 2)],
)
def test_a_mapping_holds_what_it_should_and_nothing_else(names):
    assert "the mapping should hold x and y" in refused(from_mapping, dict.fromkeys(names, X))


class Stream(IterableDataset[Any]):
    def __iter__(self):
        return iter([(X[0], 1)])


class StreamWithLength(Stream):
    def __len__(self):
        return 1


PAIRS = list(zip(X, Y, strict=True))
WRONG_ITEMS = {
    "a stream": (Stream(), "training set must be a map-style data set"),
    "a stream with a length": (StreamWithLength(), "training set must be a map-style data set"),
    "nothing": (Items(), "must not be empty"),
    "no label": (Items(X[0]), "item 0 of the training set must be a pair"),
    "three": (Items(PAIRS[0], (X[0], 1, 2)), "item 1 of the training set must be a pair"),
    "a dict": (Items({"x": X[0], "y": 1}), "got a dict"),
    "other shapes": (Items(*PAIRS, (X[0, :1], 1)), "(2, 3) and, as item 12, (1, 3)"),
    "nan": (Items(*PAIRS, (BAD[3], 1)), "input 12 of the training set must hold finite"),
    "text": (Items(*PAIRS, ("a", 1)), "input 12 of the training set must be an array of real numbers"),
    "a label of text": (Items(*PAIRS, (X[0], "a")), "label 12 of the training set"),
    "a one-hot label": (Items(*PAIRS, (X[0], [0, 1])), "label 12 of the training set must be one class"),
    "no features": (Items(*[([], i % 2) for i in range(6)]), "shape (6, 0)"),
    "one class": (Items(*PAIRS[:1] * 9), "two classes"),
}


@pytest.mark.parametrize(("given", "part"), WRONG_ITEMS.values(), ids=WRONG_ITEMS)
def test_what_is_no_map_style_data_set_is_refused(given, part):
    assert part in refused(from_torch, given)
    assert part in refused(as_dataset, given)
    if "training" in part:
        assert part.replace("training", "test") in refused(as_dataset, (TRAIN, given))


def test_an_error_of_the_users_own_data_set_stays_what_it_is():
    class Broken(Items):
        def __getitem__(self, i):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        as_dataset(Broken(1))
