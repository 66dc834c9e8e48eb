"""Arrays that a user hands over: anything NumPy can read as real numbers, or one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.setting import SettingError

__all__ = ["real_array"]


def real_array(what: str, values: Any) -> NDArray[Any]:
    """`values` as an array of real numbers, of whatever type and without a copy where there need be none.

    >>> real_array("x", ["a", "b"])
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: x must be an array of real numbers, got a list of <U1
    """
    try:
        found = np.asarray(values)
    except Exception as error:  # somebody else's conversion may raise anything
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
