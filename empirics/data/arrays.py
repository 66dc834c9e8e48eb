"""A data set of the user's own: arrays, tensors, or a torch `Dataset`, for which torch need not be imported here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from empirics.data.dataset import Dataset, HeldOut, Images, Labels
from empirics.draws import Purpose, permutation
from theory.setting import SettingError

__all__ = ["CLIENT", "TIME", "Samples", "from_arrays", "from_mapping", "from_torch", "keys", "real_array"]

TEST_EVERY = 5  # samples
NO_REPLICATE = 2**32 - 1  # no study draws from this address, so the split is independent of all studies
TIME, CLIENT = "time", "client"
SPELLINGS = (("x", "y", "test_x", "test_y"), ("x_train", "y_train", "x_test", "y_test"))


@dataclass(frozen=True, eq=False)
class Samples:
    """Arrays x, y and perhaps test_x, test_y, time and client, as they were read; a refusal names them after `where`.

    Where labels are words, y has their places in `words`.
    """

    arrays: Mapping[str, Any]
    where: str = ""
    words: Sequence[str] | None = None

    def dataset(self, name: str) -> Dataset:
        """The data set of these samples, once they are found to be one."""
        arrays, words = self.arrays, self.words
        x_name, y_name, test_x_name, test_y_name = (f"{self.where}{key}" for key in SPELLINGS[0])
        x, y = _pair(x_name, arrays["x"], y_name, arrays["y"])
        time = _times(f"{self.where}{TIME}", arrays[TIME], len(x)) if TIME in arrays else None
        client = _clients(f"{self.where}{CLIENT}", arrays[CLIENT], len(x)) if CLIENT in arrays else None
        held_out = None
        if "test_x" not in arrays:
            test = _held_out(x_name, len(x))
            held_out = HeldOut(test, time, client)
            test_x, test_y, x, y = x[test], y[test], x[~test], y[~test]
            time = None if time is None else time[~test]
            client = None if client is None else client[~test]
            hint = "all its samples were held out, so give a test set of your own"
        else:
            test_x, test_y = _pair(test_x_name, arrays["test_x"], test_y_name, arrays["test_y"])
            hint = f"{y_name} has no such class"
        if x.shape[1:] != test_x.shape[1:]:
            raise SettingError(
                f"{x_name} and {test_x_name} must have inputs of one shape, got {x.shape[1:]} and {test_x.shape[1:]}"
            )
        classes, train_y = np.unique(y, return_inverse=True)
        names = tuple(one if words is None else words[one] for one in classes.tolist())
        if unseen := set(test_y.tolist()) - set(classes.tolist()):
            what = min(unseen) if words is None else repr(words[min(unseen)])
            raise SettingError(f"the test set has the class {what}, which training never sees: {hint}")
        if len(classes) < 2:
            raise SettingError(f"{y_name} must hold two classes or more, got {names[0]!r} alone")
        return Dataset.of(
            name,
            (x, train_y.astype(np.int64)),
            (test_x, np.searchsorted(classes, test_y).astype(np.int64)),
            len(classes),
            time=time,
            client=client,
            held_out=held_out,
            class_names=names,
            dated=getattr(getattr(arrays.get(TIME), "dtype", None), "kind", None) == "M",
        )


def from_arrays(
    x: ArrayLike,
    y: ArrayLike,
    test_x: ArrayLike | None = None,
    test_y: ArrayLike | None = None,
    *,
    name: str = "arrays",
) -> Dataset:
    """The data set of inputs `x` (N, …) and whole class numbers `y` (N,): arrays, tensors on the CPU, lists.

    Inputs of any real type become float32, otherwise as they are: pixels 0 … 255 stay 0 … 255. The distinct values
    of `y`, in their order, become 0 … classes-1. Without a test set every fifth sample, in a random order that depends
    on N alone and on no seed, is held out as one.

    >>> data = from_arrays([[0.5], [1], [2], [3], [4], [5]], [7, -1, 7, -1, 7, -1])
    >>> data.train_x.shape, data.test_x.shape, data.classes
    ((5, 1), (1, 1), 2)
    """
    if (test_x is None) != (test_y is None):
        raise SettingError(
            "test_x and test_y belong together: give both, or none to hold out every fifth sample"
        )
    test = {} if test_x is None else {"test_x": test_x, "test_y": test_y}
    return Samples({"x": x, "y": y, **test}).dataset(name)


def from_mapping(arrays: Mapping[str, ArrayLike], *, name: str = "arrays") -> Dataset:
    """The data set of arrays by name: x, y and, if there is a test set, test_x, test_y; or as Keras spells them.

    An array `time` has the time of every sample of x, a number or NumPy's datetime64, and `client` its client, a whole
    number.
    """
    found = keys("the mapping", list(arrays))
    return Samples({key: arrays[there] for key, there in found.items()}).dataset(name)


def from_torch(train: Any, test: Any = None, *, name: str = "torch") -> Dataset:
    """The data set of torch's map-style data sets of pairs (input, class number), read at once."""
    splits = {"training": train} if test is None else {"training": train, "test": test}
    read = [array for which, split in splits.items() for array in _read(which, split)]
    return Samples(dict(zip(SPELLINGS[0], read, strict=False))).dataset(name)


def keys(what: str, names: Sequence[Any]) -> dict[str, str]:
    """The given names of x, y and perhaps test_x, test_y, time and client; others are refused."""
    last = [name for name in (TIME, CLIENT) if name in names]
    for spelling in SPELLINGS:
        for count in (4, 2):
            found = dict(zip([*SPELLINGS[0][:count], *last], [*spelling[:count], *last], strict=True))
            if len(names) == len(found) and set(names) == set(found.values()):
                return found
    held = ", ".join(repr(name)[:40] for name in names[:10]) or "nothing"
    raise SettingError(
        f"{what} should hold x and y, or x, y, test_x and test_y, or with the names x_train, y_train, x_test and "
        f"y_test, and perhaps {TIME} and {CLIENT}: it holds {held}"
    )


def real_array(what: str, values: Any) -> NDArray[Any]:
    """`values` as an array of real numbers, of whatever type and without a copy where there need be none.

    >>> real_array("x", ["a", "b"])
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: x must be an array of real numbers, got a list of <U1
    """
    try:
        found = np.asarray(values)
    except Exception as error:  # a user's conversion may raise anything
        why = str(error).split(".")[0].split("\n")[0]
        raise SettingError(
            f"{what} must be an array of real numbers, got a {type(values).__name__} ({why})"
        ) from error
    if found.dtype.kind not in "biuf":
        raise SettingError(
            f"{what} must be an array of real numbers, got a {type(values).__name__} of {found.dtype}"
        )
    if np.ma.is_masked(values):
        raise SettingError(
            f"{what} must be an array of real numbers, got masked entries: fill or leave them out"
        )
    return found


def _seconds_of(moments: NDArray[Any]) -> NDArray[np.float64]:
    """NumPy's datetime64 in seconds.

    >>> _seconds_of(np.array(["1970-01-02", "1970-01-01T00:00:01.5"], "datetime64[ms]")).tolist()
    [86400.0, 1.5]
    """
    found = (moments.astype("datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "s")
    return np.asarray(found, dtype=np.float64)


def _clients(what: str, values: Any, samples: int) -> Labels:
    """Numbered from 0, in the order of their numbers."""
    found = _labels(what, values)
    if found.shape != (samples,):
        raise SettingError(f"{what} must have a whole number for each of the {samples} samples")
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _times(what: str, values: Any, samples: int) -> NDArray[np.float64]:
    moments = getattr(values, "dtype", None)
    if getattr(moments, "kind", None) == "M":
        values = _seconds_of(np.asarray(values))
    found = real_array(what, values).astype(np.float64)
    if found.shape != (samples,) or not np.isfinite(found).all():
        raise SettingError(f"{what} must have a finite number for each of the {samples} samples")
    return found


def _pair(x_name: str, x_values: Any, y_name: str, y_values: Any) -> tuple[Images, Labels]:
    x, y = _inputs(x_name, x_values), _labels(y_name, y_values)
    if len(x) != len(y):
        raise SettingError(f"{x_name} and {y_name} must be of one length, got {len(x)} and {len(y)}")
    return x, y


def _inputs(what: str, values: Any) -> Images:
    """A copy as finite float32, of two axes or more."""
    given = real_array(what, values)
    if given.ndim == 0 or not given.size:
        raise SettingError(f"{what} must have an input for each sample, got an array of shape {given.shape}")
    found = _float32(what, given)
    return found.reshape(-1, 1) if found.ndim == 1 else found


def _float32(what: str, given: Any) -> Images:
    with np.errstate(over="ignore"):
        found: Images = given.astype(np.float32)
    finite = np.isfinite(found)
    if not finite.all():
        raise SettingError(
            f"{what} must hold finite numbers that float32 can hold, got {given[~finite].flat[0]}"
        )
    return found


def _labels(what: str, values: Any) -> Labels:
    given = real_array(what, values)
    if given.ndim != 1 or not given.size:
        raise SettingError(
            f"{what} must have one class number for each sample, got an array of shape {given.shape}"
        )
    with np.errstate(invalid="ignore"):
        found: Labels = given.astype(np.int64)
    if (wrong := given[found != given]).size:
        raise SettingError(f"{what} must hold whole class numbers, such as 0, 1, 2, got {wrong[0]}")
    return found


def _held_out(what: str, samples: int) -> NDArray[np.bool_]:
    if samples < TEST_EVERY:
        raise SettingError(
            f"{what} must have at least {TEST_EVERY} samples to hold out every fifth, got {samples}"
        )
    rank = permutation(samples, 0, Purpose.partition, replicate=NO_REPLICATE)
    return np.equal(rank % TEST_EVERY, TEST_EVERY - 1)


def _read(which: str, split: Any) -> tuple[Images, Any]:
    """All inputs and labels of a map-style data set."""
    refused = SettingError(
        f"the {which} set must be a map-style data set, with a length and items by number, got {type(split).__name__}"
    )
    if not (hasattr(split, "__getitem__") and hasattr(split, "__len__")):
        raise refused
    if not len(split):
        raise SettingError(f"the {which} set must not be empty")
    x: Images = np.empty((), np.float32)
    y: list[Any] = []
    for i in range(len(split)):
        try:
            item = split[i]
        except NotImplementedError:  # an iterable data set of torch with a length
            raise refused from None
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise SettingError(
                f"item {i} of the {which} set must be a pair (input, class number), got a {type(item).__name__}"
            )
        one = _float32(f"input {i} of the {which} set", real_array(f"input {i} of the {which} set", item[0]))
        if not i:
            x = np.empty((len(split), *one.shape), np.float32)
        if one.shape != x.shape[1:]:
            raise SettingError(
                f"the inputs of the {which} set must be of one shape, got {x.shape[1:]} and, as item {i}, {one.shape}"
            )
        x[i] = one
        label = real_array(f"label {i} of the {which} set", item[1])
        if label.ndim:
            raise SettingError(
                f"label {i} of the {which} set must be one class number, got an array {label.shape}"
            )
        y.append(label[()])
    return x, np.array(y)
